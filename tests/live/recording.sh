#!/bin/bash
# SPDX-License-Identifier: MIT
# -o DIR and opening it again; reports that cannot be written. CASE=part runs
# those whose name has it, KEEP=1 keeps their files.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$train" "$compare"

# tables REPORT: what must be the same in the run's report and the recording's
tables() {
	python3 - "$1" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
keys = ["kernels", "copies", "ops", "ranges", "queues", "devices", "calls", "steps", "memory",
	"compiles", "processes"]
for key in keys:
    value = report.get(key)
    rows = value if isinstance(value, list) else [value]
    for row in sorted(json.dumps(row, sort_keys=True) for row in rows):
        print(key, row)
run = report["run"]
print("run", json.dumps(run, sort_keys=True))
trust = report["trust"]
print("trust", trust["lost_events"], trust["lost_packets"], trust["settled"],
      json.dumps(trust["attribution"], sort_keys=True))
END
}

# record ARGS…: runs the example with -o, then opens it
record() {
	timeout -k 5 120 "$tftop" -o "$work/rec" --json="$work/run.json" -- "$train" "$@" \
		--truth "$work/truth.json" >"$work/run.out" 2>"$work/run.err" ||
		fail "status $?: $(first_lines "$work/run.err")" || return
	timeout -k 5 60 "$tftop" --json="$work/open.json" "$work/rec" >"$work/open.out" \
		2>"$work/open.err" || fail "opening: status $?: $(first_lines "$work/open.err")"
}

same_report() {
	command -v python3 >/dev/null || { skip python3; return; }
	record "$@" || return
	"$compare" "$work/truth.json" "$work/open.json" >"$work/compare.out" 2>&1 ||
		fail "opened: $(first_lines "$work/compare.out")" || return
	! grep -E 'such events are skipped|version .* of the schema' "$work/run.json" ||
		fail "the decoder does not know an event of the probes" || return
	tables "$work/run.json" >"$work/run.tables" || fail "no report of the run" || return
	tables "$work/open.json" >"$work/open.tables" || fail "no report of the recording" || return
	cmp -s "$work/run.tables" "$work/open.tables" ||
		fail "$(diff "$work/run.tables" "$work/open.tables" | first_lines -)"
}

all_ours() { [ -z "$(find "$work/rec" ! -user "$(id -u)")" ]; }

# The daemons' files are given back when the last daemon has ended.
owned_by_user() {
	record --steps 3 || return
	[ -s "$work/rec/tftop.json" ] && [ -d "$work/rec/trace" ] || fail "incomplete" || return
	wait_for 5 all_ours ||
		fail "'$(find "$work/rec" ! -user "$(id -u)" | head -n 1)' is not the user's"
}

has_text() { [ -s "$1" ]; }

# tftop dies in the middle: what had arrived can be opened.
after_a_kill() {
	"$tftop" -o "$work/rec" --json="$work/run.json" -- "$train" --steps 100000 \
		>"$work/run.out" 2>&1 &
	local pid=$! program
	wait_for 20 has_text "$work/run.out" || { kill -9 $pid; fail "no step within 20 s"; return; }
	pause 0.5
	program=$(pgrep -f "^$train --steps 100000" | head -n 1)
	kill -9 $pid
	wait $pid 2>/dev/null
	[ -n "$program" ] && kill -9 "$program" 2>/dev/null
	timeout -k 5 60 "$tftop" --json="$work/open.json" "$work/rec" >"$work/open.out" \
		2>"$work/open.err" || fail "status $?: $(first_lines "$work/open.err")" || return
	grep -q '"settled": false' "$work/open.json" || fail "not said to be partial" || return
	grep -q '"kernels": \[$' "$work/open.json" || fail "no kernels"
}

refuses_full_folder() {
	mkdir "$work/rec" && touch "$work/rec/mine" || return
	"$tftop" -b -o "$work/rec" -- touch "$work/started" >"$work/out" 2>&1
	[ $? = 125 ] || fail "not refused" || return
	[ ! -e "$work/started" ] || fail "the program was started" || return
	[ "$(ls "$work/rec")" = mine ] || fail "the folder was touched" || return
	grep -q "not empty" "$work/out" || fail "said: $(first_lines "$work/out")"
}

# What is not there is said to be missing, not to have been nothing.
without_trace() {
	"$tftop" -b -o "$work/rec" -- true >"$work/out" 2>&1 || fail "status $?" || return
	rm -r "$work/rec/trace"
	"$tftop" -b "$work/rec" >"$work/out" 2>&1 || fail "opening: status $?" || return
	grep -q "no trace in the recording" "$work/out" || fail "said: $(first_lines "$work/out")"
}

refuses_foreign_folder() {
	mkdir "$work/dir" || return
	"$tftop" -b "$work/dir" >"$work/out" 2>&1
	[ $? = 125 ] || fail "status not 125" || return
	grep -q "tftop.json" "$work/out" || fail "said: $(first_lines "$work/out")" || return
	echo '{ "recording": 99 }' >"$work/dir/tftop.json"
	"$tftop" -b "$work/dir" >"$work/out" 2>&1
	[ $? = 125 ] || fail "version 99: status not 125" || return
	grep -q "version 99" "$work/out" || fail "said: $(first_lines "$work/out")" || return
	echo '{ "recording": ' >"$work/dir/tftop.json"
	"$tftop" -b "$work/dir" >"$work/out" 2>&1
	[ $? = 125 ] || fail "half a file: status not 125" || return
	grep -q "not JSON" "$work/out" || fail "said: $(first_lines "$work/out")"
}

# opens_somehow WHAT: an end with a sentence, never a crash or a hang
opens_somehow() {
	timeout -k 5 30 "$tftop" --json="$work/open.json" "$work/rec" >"$work/open.out" \
		2>"$work/open.err"
	local status=$?
	[ $status = 0 ] || [ $status = 125 ] || fail "$1: status $status" || return
	[ $status = 0 ] || grep -q '^tftop: ' "$work/open.err" || fail "$1: nothing said"
}

# Damaged streams, indexes and metadata.
damaged() {
	local file
	record --steps 3 || return
	for file in $(find "$work/rec/trace" -type f -size +0); do
		cp "$file" "$work/whole"
		head -c $(($(stat -c %s "$work/whole") / 2 + 3)) "$work/whole" >"$file"
		opens_somehow "half of ${file##*/}" || return
		: >"$file"
		opens_somehow "nothing of ${file##*/}" || return
		tr '\000' '\377' <"$work/whole" >"$file"
		opens_somehow "ones in ${file##*/}" || return
		rm "$file"
		opens_somehow "no ${file##*/}" || return
		cp "$work/whole" "$file"
	done
}

# The report cannot be written: told, 125, and the program had its run.
# It could be written when PROGRAM started (else: batch.sh, report_checked_first).
unwritable_report() {
	mkdir "$work/none"
	"$tftop" --json="$work/none/report.json" -- sh -c "touch $work/ran; rmdir $work/none" >"$work/out" 2>&1
	[ $? = 125 ] || fail "status not 125" || return
	[ -e "$work/ran" ] || fail "the program did not run" || return
	grep -q "cannot write '$work/none/report.json'" "$work/out" ||
		fail "said: $(first_lines "$work/out")"
}

full_disk() {
	[ -e /dev/full ] || { skip /dev/full; return; }
	"$tftop" --json=/dev/full -- sh -c "touch $work/ran; exit 7" >"$work/out" 2>&1
	[ $? = 125 ] || fail "status not 125" || return
	[ -e "$work/ran" ] || fail "the program did not run" || return
	grep -q "No space left" "$work/out" || fail "said: $(first_lines "$work/out")"
}

# An old report stays until the new one is whole.
keeps_old_report() {
	echo old >"$work/report.json"
	chmod 640 "$work/report.json"
	"$tftop" --json="$work/report.json" -- true >"$work/out" 2>&1 ||
		fail "status $?" || return
	grep -q '"exit_status": 0' "$work/report.json" || fail "no report" || return
	[ "$(ls "$work" | grep -c report.json)" = 1 ] || fail "something is left beside it"
}

case_run same_report same_report --steps 12 --queues 2
case_run same_report_failing same_report --steps 6 --fail
case_run owned_by_user owned_by_user
case_run after_a_kill after_a_kill
case_run refuses_full_folder refuses_full_folder
case_run without_trace without_trace
case_run refuses_foreign_folder refuses_foreign_folder
case_run damaged damaged
case_run unwritable_report unwritable_report
case_run full_disk full_disk
case_run keeps_old_report keeps_old_report
suite_end
