#!/bin/bash
# SPDX-License-Identifier: MIT
# What the relay daemon tells tftop comes damaged, cut, late or not at all
# (tests/doubles/wire_faults.c), or babeltrace aborts on it (stuck.c): tftop says what happened,
# ends with PROGRAM's status and a report that can be read, and PROGRAM notices nothing. What
# breaks once is attached to anew, and what came is counted or counted as lost. CASE=part runs
# the cases whose name has it.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$O/tests/burst" "$O/tests/stuck.so"
RANGES=3000 PACE=3000

# broken FAULT [RANGES]: WIRE_DOUBLE=FAULT under tftop's nose
broken() {
	local ranges=${2:-$RANGES} status
	WIRE_DOUBLE=${1#abort} STUCK=${1%%,*} LD_PRELOAD="$O/tests/wire_faults.so $O/tests/stuck.so" timeout -k 5 60 "$tftop" --no-config \
		--debug "$work/log" --json="$work/report" -- \
		sh -c '"$@"; exit 3' sh "$O/tests/burst" "$ranges" $PACE >"$work/out" 2>"$work/errors"
	status=$?
	[ $status = 3 ] || fail "status $status: $(first_lines "$work/errors")" || return
	grep -q "^ranges $ranges ns" "$work/out" || fail "PROGRAM said '$(first_lines "$work/out")'"
}
says() { grep -qE "message [12]: .*($1)" "$work/log" || fail "not '$1': $(tail -n 3 "$work/log" | tr '\n' ';')"; }
# told EXPRESSION: of the report's ranges and losses
told() {
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
seen = sum(o["count"] for o in j.get("ranges", []) if o["name"][0] == "r")
lost, settled = j["trust"]["lost_events"], j["trust"]["settled"]
sys.exit(0 if eval(sys.argv[2]) else f"{seen} seen, {lost} lost, settled {settled}")' \
		"$work/report" "$1" 2>"$work/told" || fail "$(tail -n 1 "$work/told")"
}

# What breaks once costs what it held at most.
once() {
	broken "$1" "${4:-$RANGES}" && says "attached to the trace anew \($2" && told "$3"
}
# Whatever of it is damaged: what is not whole is said, or counted.
always() {
	broken "$1,$2,0" && told 'seen == 3000 or not settled or lost or j["trust"].get("impossible")' &&
		{ told settled || says 'damaged|stopped|sends no more data|anew|in time|in the future'; } && why=
}
slow() { broken slow,1,0 60000 && says 'did not arrive in time' && told 'not settled'; }

all='seen + lost >= 3000 and seen > 0'
PACE=10000 case_beside slow slow
PACE=400 case_beside stalled once stall,1,1 'the LTTng relay daemon did not answer for 6 s' "seen + lost >= 9000 and seen > 0" 9000
case_beside cut once cut,1,1 'the connection to the LTTng relay daemon was lost' "$all"
case_beside abort once abort 'babeltrace could not read the data' "$all"
case_beside huge once huge,2,1 'the LTTng relay daemon announced more data' 'seen + lost >= 3000'
case_beside crash always bytes 128
for fault in bytes times metadata index; do
	case_beside "$fault" always $fault 6
done
suite_end
