#!/bin/bash
# SPDX-License-Identifier: MIT
# Into a program that runs, and out of it again.
# G6: what a training step takes of the processor after tftop has let go, beside an equal program
# that it never was in, each as a share of what it took before: blocks of both in turns.
# G16: from the start of tftop -p to its end at the first op that it has seen; and how long a
# thread of the program stood still.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G6.pytorch G6.tensorflow G16.first G16.again G16.stopped'
	exit 0
fi
PAIRS=12 TRIES=9
[ "$(uname -m)" = x86_64 ] && [ -e "$O/lib/libtftop-pytorch.so" ] || exit 0
wanted() {
	[ -z "${ONLY:-}" ] && return 0
	case " $ONLY " in *" ${1%%.*} "*|*" $1 "*) return 0 ;; esac
	return 1
}
record() { local IFS='|'; echo "$*"; }
export PYTHONDONTWRITEBYTECODE=1 TF_CPP_MIN_LOG_LEVEL=3

# training NAME FRAMEWORK: a co-process, NAME_in and NAME_out; pid in $pid
training() {
	coproc { exec "$python" tests/programs/attach_cost.py "$2" 2>/dev/null; }
	eval "exec {$1_out}<&${COPROC[0]}- {$1_in}>&${COPROC[1]}-"
	local out=$1_out
	read -r _ pid <&"${!out}"
}
block() {
	local in=$1_in out=$1_out
	echo >&"${!in}"
	read -r us <&"${!out}"
	echo "$us"
}
blocks() { for ((i = 0; i < PAIRS; i++)); do echo "$1 $(block never) $(block left)"; done; }
let_go() { exec {never_in}>&- {never_out}<&- {left_in}>&- {left_out}<&-; wait; }

# after FRAMEWORK NAME
after() {
	local pid ratio bare us first third
	python=$(tests/venv.sh "$1") || return
	training never "$2" 2>/dev/null
	training left "$2" 2>/dev/null
	{
		blocks before
		echo "line" >&"$left_in" # it works while tftop comes
		timeout 60 "$O/tftop" -b --until 'kind = op' -p "$pid" >/dev/null 2>&1
		read -r _ <&"$left_out"
		blocks after
	} >"$work"
	let_go
	read -r bare us ratio first third <<<"$(python3 - "$work" <<'P'
import statistics, sys
rows = [line.split() for line in open(sys.argv[1])]
at = {w: [(float(a), float(b)) for v, a, b in rows if v == w] for w in ("before", "after")}
own = statistics.median(b / a for a, b in at["before"])
late = sorted(b / a / own for a, b in at["after"])
n = len(late)
print("%.1f %.1f %.4f %.4f %.4f" % (
    statistics.median(b for _, b in at["before"]), statistics.median(b for _, b in at["after"]),
    statistics.median(late), late[n // 4], late[3 * n // 4]))
P
)"
	[ -n "$third" ] || return
	record "G6.$1" "training step after tftop has let go" "$us" us low 'never attached' "$bare" \
		"$ratio" 'within the spread' $PAIRS "$(awk -v a="$first" -v b="$third" 'BEGIN { print b - a }')" \
		"$(awk -v r="$ratio" -v a="$first" -v b="$third" 'BEGIN { print (r - 1 <= b - a) ? "true" : "false" }')"
}

# "median most" of a column of numbers
middle() { sort -n | awk '{ at[NR] = $1 } END { if (NR) print at[int((NR + 1) / 2)], at[NR] }'; }

first_op() {
	local begin
	begin=${EPOCHREALTIME//[.,]/}
	timeout 60 "$O/tftop" -b --until 'kind = op' -p "$1" >/dev/null 2>&1 || return
	echo $(((${EPOCHREALTIME//[.,]/} - begin) / 1000))
}

# A program that computes all the time, and so has no thread that waits: a new one each time,
# or the same again.
busy() {
	"$python" -c 'import sys; sys.path[:0] = ["tests/programs"]; import late
step = late.make_step("torch"); print("ready", flush=True)
while True: step()' >"$work.ready" 2>/dev/null &
	pid=$!
	until [ -s "$work.ready" ]; do read -r -t 0.05 -u "$never_ends"; done
}
attached() {
	local pid ms most
	python=$(tests/venv.sh pytorch) || return
	for ((i = 0; i < TRIES; i++)); do
		: >"$work.ready"
		busy
		first_op "$pid" >>"$work.first"
		[ $i = 0 ] && for ((k = 0; k < TRIES; k++)); do first_op "$pid" >>"$work.again"; done
		kill "$pid"
		wait "$pid" 2>/dev/null
	done
	for what in first again; do
		read -r ms most <<<"$(middle <"$work.$what")"
		[ -n "$ms" ] && record "G16.$what" "tftop -p to the first op and its end, at most $most ms" "$ms" ms \
			low '-' '-' '-' '<= 1000' $TRIES '-' "$([ "$ms" -le 1000 ] && echo true || echo false)"
	done
}

# The figures of the injector's own suite.
stopped() {
	local ms most
	read -r ms most <<<"$(ATTACH_TRIES=100 CASE=python_busy tests/live/attach.sh |
		sed -nE 's/.*stopped ([0-9.]+) ms median, ([0-9.]+) ms at most.*/\1 \2/p')"
	[ -n "$ms" ] && record G16.stopped "a thread of busy Python stands still, at most $most ms" "$ms" ms low \
		'-' '-' '-' '<= 2, at most 50' 100 '-' \
		"$(awk -v m="$ms" -v x="$most" 'BEGIN { print m <= 2 && x <= 50 ? "true" : "false" }')"
}

work=$(mktemp) && exec {never_ends}<> <(:) || exit 1
trap 'rm -f "$work" "$work".*' EXIT
wanted G6.pytorch && after pytorch torch
wanted G6.tensorflow && after tensorflow tensorflow
if wanted G16.first || wanted G16.again; then attached; fi
wanted G16.stopped && stopped
exit 0
