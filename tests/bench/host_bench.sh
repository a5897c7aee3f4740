#!/bin/bash
# SPDX-License-Identifier: MIT
# What it costs to look at a thread that runs Python 25 calls deep (docs/host.md): G4.host. Within
# one process: the level goes from default to min and back every three seconds, and the program, which
# measures itself, sees whether a thread looks at it. The thread's own share is measured from the
# twelfth second on, when it has paid for its beginning.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G4.host.share G4.host.program'
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
	"$O/tftop" --no-config -b --json=/dev/null -- python3 "$program" $seconds 12 >"$dir/out" 2>/dev/null
	awk '$5 > 0 { print $5 * 100; ok = 1 } END { exit !ok }' "$dir/out" >>"$dir/share" || exit 1
done
share=$(median "$dir/share") ratio=$(median "$dir/ratio")
record G4.host.share 'looking at threads, of one processor' "$share" % low 'all of it' 100 \
	"$(awk -v s="$share" 'BEGIN { printf "%.4f", s / 100 }')" '<= 0.003' 3 "$(spread "$dir/share")" \
	"$(within "$share" 0.3)"
record G4.host.program 'Python, 25 calls deep, looked at' "$(median "$dir/seen")" ns low 'not looked at' \
	"$(median "$dir/unseen")" "$ratio" '<= 1.003' 3 "$(spread "$dir/ratio")" "$(within "$ratio" 1.003)"
