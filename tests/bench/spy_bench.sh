#!/bin/bash
# SPDX-License-Identifier: MIT
# What one look at a thread costs, beside a sample of py-spy, and whether both see the same lines
# (docs/host.md): G4.spy. Both look at the same program in the same run, which runs Python 25 calls
# deep and measures what tftop's thread takes.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G4.spy.look G4.spy.native G4.spy.lines'
	exit 0
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
here=$(cd "$(dirname "$0")/../.." && pwd)
spy=$("$here/tests/venv.sh" py-spy) || exit 1
spy=${spy%/*}/py-spy
export PYTHONDONTWRITEBYTECODE=1

# watched NAME SECONDS: the program under tftop; writes what tftop saw
watched() {
	"$O/tftop" --no-config -b --export "csv:host:$dir/$1.csv" --json=/dev/null -- \
		sh -c 'echo $$ >"$0" && exec python3 "$@"' "$dir/pid" \
		"$here/tests/programs/host_loop.py" "$2" >"$dir/$1.out" 2>/dev/null
}
# one NAME OPTION…: a run; writes the report, py-spy's stacks and what each took
one() {
	local name=$1
	shift
	watched "$name" 20 &
	local tftop=$!
	sleep 3			# the program's start, and the sampler's first second, which costs more
	TIMEFORMAT='%U %S'
	{ time "$spy" record "$@" -r "$rate" -d 14 -f raw -o "$dir/$name.raw" -p "$(cat "$dir/pid")" >/dev/null 2>&1; } \
		2>"$dir/$name.time"
	wait "$tftop"
}
# as often as tftop looks here: what is looked at rarely is in no cache any more
watched alone 10 || exit 1
rate=$(python3 "$here/tests/bench/spy_judge.py" --rate "$dir/alone.csv" 10) || exit 1
for i in 1 2 3; do
	one "look$i" || exit 1
	one "native$i" --native || exit 1
	one "lines$i" --nonblocking || exit 1	# neither stops the program
done
python3 "$here/tests/bench/spy_judge.py" "$dir" 3
