#!/bin/bash
# SPDX-License-Identifier: MIT
# What the relay daemon tells tftop comes damaged, cut, late or not at all
# (tests/doubles/wire_faults.c), or babeltrace aborts on it (stuck.c): tftop says what happened,
# ends with PROGRAM's status and a report that can be read, and PROGRAM notices nothing. What
# breaks once is attached to anew, and what came is counted or counted as lost. CASE=part runs
# the cases whose name has it.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$O/tests/burst" "$O/tests/stuck.so"

# broken FAULT RUN…: WIRE_DOUBLE=FAULT under tftop's nose, and burst with these arguments
broken() {
	local fault=$1 status
	shift
	WIRE_DOUBLE=${fault#abort} STUCK=${fault%%,*} LD_PRELOAD="$O/tests/wire_faults.so $O/tests/stuck.so" timeout -k 5 120 "$tftop" --no-config \
		--debug "$work/log" --json="$work/report" -- \
		sh -c '"$@"; exit 3' sh "$O/tests/burst" "$@" >"$work/out" 2>"$work/errors"
	status=$?
	[ $status = 3 ] || fail "status $status: $(first_lines "$work/errors")" || return
	ranges=$(awk '$1 == "ranges" { print $2 }' "$work/out")
	[ "${ranges:-0}" -gt 0 ] || fail "PROGRAM said '$(first_lines "$work/out")'"
}
says() { grep -qE "message [12]: .*($1)" "$work/log" || fail "not '$1': $(tail -n 3 "$work/log" | tr '\n' ';')"; }
# told EXPRESSION: of the report's ranges and losses, and of the ranges that PROGRAM counted
told() {
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
seen = sum(o["count"] for o in j.get("ranges", []) if o["name"][0] == "r")
lost, settled = j["trust"]["lost_events"], j["trust"]["settled"]
made = int(sys.argv[3])
sys.exit(0 if eval(sys.argv[2]) else f"{seen} seen of {made}, {lost} lost, settled {settled}")' \
		"$work/report" "$1" "$ranges" 2>"$work/told" || fail "$(tail -n 1 "$work/told")"
}

# meanwhile COMMAND…: makes the file that PROGRAM waits for, when COMMAND succeeds
meanwhile() {
	{ wait_for 40 "$@"; touch "$work/enough"; } &
	helper=$!
}
# What breaks once costs what it held at most. PROGRAM goes on until tftop has attached anew, as
# the log says, and a moment after that: however slow the machine is, it breaks in PROGRAM's midst.
once() {
	local ranges= helper
	meanwhile grep -qs 'reconnected to the trace' "$work/log"
	broken "$1" --until "$work/enough" 500 1000 || { kill $helper; return 1; }
	wait $helper
	says "reconnected to the trace \($2" && told 'seen + lost >= made and seen > 0'
}
# Whatever is damaged for a while, or to the end: what is not whole is said, or counted.
whole_or_said() {
	told 'seen == made or not settled or lost or j["trust"].get("impossible")' &&
		{ told settled || says 'damaged|stopped|sends no more data|anew|in time|in the future'; } && why=
}
always() {
	local ranges=
	broken "$1,$2,0" 3000 3000 && whole_or_said
}
# Of events something sound has to follow: by its number it is known what is missing before it.
for_a_while() {
	local ranges= helper
	export WIRE_OVER=$work/over
	meanwhile test -e "$WIRE_OVER"
	broken "$1,$2,3" --until "$work/enough" 500 1000 || { kill $helper; return 1; }
	wait $helper
	[ -e "$WIRE_OVER" ] || says 'tracing ended|stopped|sends no more data' || return
	whole_or_said
}
# Nothing sound ever comes: nobody can know how much it was, but tftop and PROGRAM bear it.
survived() {
	local ranges=
	broken "$1,$2,0" 3000 3000 && told 'seen <= made'
}
slow() {
	local ranges=
	broken slow,1,0 60000 10000 && says 'did not arrive in time' && told 'not settled'
}

case_beside slow slow
case_beside stalled once stall,1,1 'the LTTng relay daemon did not answer for 6 s'
case_beside cut once cut,1,1 'the connection to the LTTng relay daemon was lost'
case_beside refused once refused,1,500 'the LTTng relay daemon sends no more data'
case_beside abort once abort 'babeltrace could not read the data'
case_beside huge once huge,2,1 'the LTTng relay daemon announced more data'
case_beside crash survived bytes 128
for fault in bytes times index; do
	case_beside "$fault" for_a_while $fault 6
done
case_beside metadata always metadata 6
suite_end
