#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [ID...]: figures of speed and cost, each as a ratio to what runs beside it.
# Every bench (a program or script in bench/) prints one record a figure:
#   ID|name|value|unit|low or high|yardstick|its value|ratio|bar|runs|spread|true, false or null
# which is shown as a line and written to build/bench.json.
set -u
cd "$(dirname "$0")/../.." || exit 1
export O=${O:-build}
records=$(mktemp) || exit 1
trap 'rm -f "$records"' EXIT
want=" $* "
export ONLY="$*"
for bench in "$O"/tests/bench/*_bench tests/bench/*_bench.sh; do
	[ -x "$bench" ] || continue
	if [ $# -gt 0 ]; then
		# A bench names its figures with --list, so that ONLY= costs nothing.
		ids=$("$bench" --list) run=
		for id in $ids; do
			case $want in *" ${id%%.*} "*|*" $id "*) run=y ;; esac
		done
		[ -n "$run" ] || continue
	fi
	"$bench" | grep -E '^G[0-9]' >>"$records" || echo "bench: '$bench' gave no figure" >&2
done
awk -F'|' '{
	printf "%-44s %10s %-10s | %s %s | %s | %s | %s\n", $1 " " $2, $3, $4, $6, $7, $8, $9,
		($12 == "true" ? "ok" : $12 == "false" ? "short" : "-")
}' "$records"
awk -F'|' 'function num(s) { return s ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ ? s : "null" }
function str(s) { gsub(/["\\]/, "\\\\&", s); return "\"" s "\"" }
BEGIN { print "[" }
{ printf "%s{\"id\":%s,\"name\":%s,\"value\":%s,\"unit\":%s,\"better\":%s,\"yardstick\":%s,\"yardstick_value\":%s,\"ratio\":%s,\"bar\":%s,\"runs\":%s,\"spread\":%s,\"ok\":%s}",
	(NR > 1 ? ",\n" : ""), str($1), str($2), num($3), str($4), str($5), str($6), num($7), num($8), str($9), num($10), num($11), $12 }
END { print "\n]" }' "$records" >"$O/bench.json.new" && mv "$O/bench.json.new" "$O/bench.json"
[ -s "$records" ] || { echo "bench: no figure has the name '$*': a whole one (G3.cuda.min) or a bar's (G3)" >&2; exit 1; }
