#!/bin/bash
# SPDX-License-Identifier: MIT
# What it costs to look at a thread that runs Python 25 calls deep (docs/host.md): G4.host. Within
# one process: the level goes from default to min and back every three seconds, and the program, which
# measures itself, sees whether a thread looks at it. The thread begins anew each time, which costs
# more; what it takes in a program that runs on is measured from the twelfth second of another run on.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G4.host.share G4.host.steady G4.host.program'
	exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
program=$(dirname "$0")/../programs/host_loop.py seconds=30
export PYTHONDONTWRITEBYTECODE=1

median() { sort -n "$1" | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }
spread() { sort -n "$1" | awk '{ a[NR] = $1 } END { m = a[int((NR + 1) / 2)]; printf "%.4f", m ? (a[NR] - a[1]) / m : 0 }'; }
record() { local IFS='|'; echo "$*"; }
within() { awk -v a="$1" -v b="$2" 'BEGIN { print a <= b ? "true" : "false" }'; }

for ((i = 0; i < seconds / 6; i++)); do
	printf 'level min\nwait 3s\nlevel default\nwait 3s\n'
done >"$dir/script"
echo 'wait-exit 30s' >>"$dir/script"
for _ in 1 2 3; do
	"$O/tftop" --no-config --headless --script "$dir/script" -- python3 "$program" $seconds \
		>"$dir/out" 2>/dev/null
	# blocks of both kinds, or nothing was compared
	awk '$1 > 0 && $2 > 0 && $3 > 50 && $4 > 50 { ok = 1 } END { exit !ok }' "$dir/out" || exit 1
	awk '{ print $1 }' "$dir/out" >>"$dir/seen"
	awk '{ print $2 }' "$dir/out" >>"$dir/unseen"
	awk '{ printf "%.4f\n", $1 / $2 }' "$dir/out" >>"$dir/ratio"
	awk '{ print $5 * 100 }' "$dir/out" >>"$dir/share"
	"$O/tftop" --no-config -b --json=/dev/null -- python3 "$program" $seconds 12 >"$dir/out" 2>/dev/null
	awk '$5 > 0 { print $5 * 100; ok = 1 } END { exit !ok }' "$dir/out" >>"$dir/steady" || exit 1
done
# share NAME FILE WHAT
share() {
	local share
	share=$(median "$dir/$2")
	record "$1" "$3" "$share" % low 'all of it' 100 "$(awk -v s="$share" 'BEGIN { printf "%.4f", s / 100 }')" \
		'<= 0.003' 3 "$(spread "$dir/$2")" "$(within "$share" 0.3)"
}
share G4.host.share share 'looking at threads for 3 s each, of one processor'
share G4.host.steady steady 'looking at threads from the 12th second on'
ratio=$(median "$dir/ratio")
record G4.host.program 'Python, 25 calls deep, looked at' "$(median "$dir/seen")" ns low 'not looked at' \
	"$(median "$dir/unseen")" "$ratio" '<= 1.003' 3 "$(spread "$dir/ratio")" "$(within "$ratio" 1.003)"
