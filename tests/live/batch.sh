#!/bin/bash
# SPDX-License-Identifier: MIT
# tftop without a screen, around ordinary programs: exit statuses, descriptors,
# signals, windows, the report's shape. CASE=part runs those whose name has it.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$train"

# status_of WANT COMMAND…: tftop -b around it leaves with WANT
status_of() {
	local want=$1 got
	shift
	timeout -k 5 60 "$tftop" -b -- "$@" >"$work/out" 2>"$work/err"
	got=$?
	[ $got = "$want" ] || fail "'$*': status $got, not $want: $(first_lines "$work/err")"
}

statuses() {
	status_of 0 true && status_of 1 false && status_of 3 sh -c 'exit 3' &&
		status_of 255 sh -c 'exit 255' && status_of 127 no-such-program-here &&
		status_of 127 /no/such/program && status_of 126 /etc/passwd &&
		status_of 126 / && status_of 137 sh -c 'kill -9 $$' &&
		status_of 134 sh -c 'kill -ABRT $$' && status_of 143 sh -c 'kill -TERM $$'
}

# refuses WORD OPTION…: one line with WORD, 125, and nothing was started
refuses() {
	local word=$1
	shift
	"$tftop" "$@" -- touch "$work/started" >"$work/out" 2>"$work/err"
	[ $? = 125 ] || fail "'$*': status not 125" || return
	[ ! -e "$work/started" ] || fail "'$*': the program was started" || return
	[ "$(wc -l <"$work/err")" = 1 ] && [ ! -s "$work/out" ] ||
		fail "'$*': not one line" || return
	grep -q -- "$word" "$work/err" || fail "'$*': $(first_lines "$work/err")"
}

wrong_options() {
	refuses "did you mean" --bathc && refuses "off, min" --level=loud &&
		refuses "not in this version" -b --live=net://h && refuses "starts nothing" -b --check &&
		refuses "at 7: 'dur' is a time, not '1'; without a space: 1ms" -b "--until=dur > 1 ms" &&
		refuses "not a format" -b --export=nothing:f &&
		refuses "WxH" --headless --size=big && refuses "cannot read" -b --config=/no/such &&
		 refuses "not a time" -b --for=soon
}

# PROGRAM's three descriptors are its own.
descriptors() {
	printf 'in\0put\n' >"$work/in"
	timeout -k 5 60 "$tftop" -b -- sh -c 'cat; echo err >&2; exec >&-; exit 5' \
		<"$work/in" >"$work/out" 2>"$work/err"
	[ $? = 5 ] || fail "status $?" || return
	cmp -s "$work/in" "$work/out" || fail "other stdout" || return
	grep -qx err "$work/err" || fail "stderr is lost" || return
	timeout -k 5 60 "$tftop" --json=/dev/null -- sh -c 'echo err >&2' >"$work/out" 2>"$work/err"
	[ "$(cat "$work/err")" = err ] || fail "something was added to stderr" || return
	timeout -k 5 60 "$tftop" --json="$work/r.json" -- sh -c '[ ! -e /proc/$$/fd/0 ]' <&- ||
		fail "a closed stdin was opened"
}

# Closed ones stay closed for PROGRAM, and nothing of ours gets their numbers.
closed_descriptors() {
	local closed
	for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- >&- 2>&-'; do
		rm -f "$work/under" "$work/bare"
		eval 'timeout -k 5 60 "$tftop" -b --json="$work/r.json" -- sh -c "ls /proc/\$\$/fd >$work/under; exit 4"' \
			'</dev/null >/dev/null 2>&1' "$closed"
		[ $? = 4 ] || fail "with $closed: not status 4" || return
		eval 'sh -c "ls /proc/\$\$/fd >$work/bare"' '</dev/null >/dev/null 2>&1' "$closed"
		cmp -s "$work/bare" "$work/under" || fail "with $closed PROGRAM has other descriptors" || return
		grep -q '"settled": true' "$work/r.json" || fail "with $closed: no whole report" || return
	done
	"$tftop" --json=- -- true 2>"$work/err" >&-
	[ $? = 125 ] && grep -q 'report to stdout' "$work/err" || fail "a report to nowhere is not told"
}

# A report that cannot be written is told before hours of training, not after.
report_checked_first() {
	local path
	for path in "$work/none/r.json" "$work" ; do
		refuses "cannot write" --json="$path" || return
	done
	[ -z "$(ls "$work" | grep -vx -e out -e err)" ] || fail "something was left behind"
}

file_size_limit() {
	local status
	(
		ulimit -f 0
		timeout -k 5 60 "$tftop" -b -- sh -c 'exit 3' 2>&1 >/dev/null | cat >/dev/null
		exit "${PIPESTATUS[0]}"
	)
	status=$?
	[ $status = 3 ] || fail "status $status, not 3"
}

# To the end of a process nothing has to be loaded: it may be unable to.
ends_as_alone() {
	local fault
	need_programs "$O/tests/faulty"
	for fault in "$@"; do
		rm -rf "$work/root" && mkdir "$work/root" && touch "$work/root/go" || return
		(cd "$work/root" && timeout -k 5 60 "$tftop" --json="$work/r.json" -- \
			"$O/tests/faulty" "$fault" "$work/root") >"$work/out" 2>"$work/err"
		[ $? = 0 ] && grep -q '^sum ' "$work/root/truth" || fail "$fault: $(first_lines "$work/err")" || return
		has_line '"name": "compute"' "$work/r.json" || fail "$fault: nothing was seen of it" || return
	done
}
cut_off() { [ "$(id -u)" = 0 ] || skip root && ends_as_alone chroot; }

no_more_environment() {
	timeout -k 5 60 "$tftop" --json=/dev/null -- env -0 >"$work/under"
	env -0 >"$work/bare"
	local added
	added=$(tr '\0' '\n' <"$work/under" | grep -oE '^[A-Za-z_0-9]+=' | sort |
		comm -23 - <(tr '\0' '\n' <"$work/bare" | grep -oE '^[A-Za-z_0-9]+=' | sort) |
		grep -vE '^(TFTOP_CONTROL|LTTNG_[A-Z_]+|LD_PRELOAD|OPENCL_LAYERS|CUDA_INJECTION64_PATH|NVTX_INJECTION64_PATH|INTEL_LIBITTNOTIFY64|TFTOP_TENSORFLOW|TFTOP_PYTORCH|TFTOP_JAX|TFTOP_ONEDNN|ASAN_OPTIONS)=')
	[ -z "$added" ] || fail "added: $added"
}

# A child that has another uid than the one before it.
another_user() {
	[ "$(id -u)" = 0 ] || { skip "root"; return; }
	make_user_copy || return
	# it runs until tftop has come to it, and a second more, in which it says again who it is
	# shellcheck disable=SC2016
	timeout -k 5 100 "$user_copy/tftop" --debug "$work/log" --json="$work/r.json" -- sh -c '
		"$0" --steps 2 --quiet
		HOME=$1 setpriv --reuid=nobody --regid=nogroup --clear-groups "$0" --steps 10000 --quiet &
		until grep -q reconnected "$2" || ! kill -0 $!; do sleep 0.05; done
		sleep 1
		kill $!
		exit 8' "$user_copy/train_opencl" "$tmp/home" "$work/log" >"$work/out" 2>&1
	[ $? = 8 ] || fail "status $?: $(first_lines "$work/out")" || return
	has_line 'a process of another user started' "$work/r.json" || fail "it is not told" || return
	# two processes of sh, setpriv being the second: each with its probes
	[ "$(grep -c '"probes": \[.*"opencl"' "$work/r.json")" = 2 ] ||
		fail "not both were seen: $(grep -o '"probes".*' "$work/r.json" | tr '\n' ' ')" || return
	has_line '"settled": true' "$work/r.json" || fail "the end is missing" || return
	# one that is over before it can be attached to is missed, and that is said
	timeout -k 5 60 "$user_copy/tftop" --json="$work/r.json" -- sh -c '
		"$0" --steps 2 --quiet
		HOME=$1 exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$0" --steps 1 --quiet' \
		"$user_copy/train_opencl" "$tmp/home" >"$work/out" 2>&1 || fail "status $?" || return
	[ "$(grep -c '"probes": \[.*"opencl"' "$work/r.json")" = 2 ] ||
		has_line '"settled": false' "$work/r.json" || fail "it is missing and nothing is said"
}

has_line() { grep -q "$1" "$2" 2>/dev/null; }

# passes_on SIGNAL: PROGRAM gets it, tftop leaves with a partial or whole report.
# (bash looks at its traps only between two reads: short ones.)
passes_on() {
	local pid status
	rm -f "$work/out"
	"$tftop" -b --json="$work/r.json" -- \
		bash -c 'trap "echo got; exit 9" '"$1"'; exec 3<> <(:); echo ready; while :; do read -t 0.05 -u 3; done' \
		>"$work/out" 2>"$work/err" &
	pid=$!
	wait_for 20 has_line ready "$work/out" || { kill -9 $pid; fail "not ready"; return; }
	kill -"$1" $pid
	wait $pid
	status=$?
	[ $status = 9 ] || fail "$1: status $status" || return
	grep -qx got "$work/out" || fail "$1 did not reach the program" || return
	has_line '"exit_status": 9' "$work/r.json" || fail "$1: no report"
}

signals() { passes_on TERM && passes_on HUP; }

# From the very start on: PROGRAM gets it or was never started, and does not run
# on alone and unseen.
signalled_early() {
	local delay mark pid status comm
	for delay in 000 002 004 006 008 010 012 015 020 030; do
		mark=early$$.$delay
		TFTOP_MARK=$mark "$tftop" -b -- sleep 20 >"$work/out" 2>&1 &
		pid=$! comm=
		until [ "$comm" = tftop ]; do read -r comm <"/proc/$pid/comm" || break; done
		pause "0.$delay"
		kill -TERM $pid
		wait $pid
		status=$?
		[ $status = 143 ] || fail "status $status, after $delay ms" || return
		wait_for 3 nobody_marked "$mark" || fail "something runs on, after $delay ms" || return
	done
}
nobody_marked() { [ -z "$(pids_marked "TFTOP_MARK=$1")" ]; }

# What nohup has ignored stays so.
under_nohup() {
	local pid status
	(trap '' HUP; exec "$tftop" -b -- bash -c 'echo ready; read -t 1 -u 3 3<> <(:); exit 6') \
		>"$work/out" 2>"$work/err" &
	pid=$!
	wait_for 20 has_line ready "$work/out" || { kill -9 $pid; fail "not ready"; return; }
	kill -HUP $pid
	wait $pid
	status=$?
	[ $status = 6 ] || fail "status $status"
}

# A program that ignores it goes on without tftop.
leaves_a_stubborn_program() {
	local pid status program
	"$tftop" -b --json="$work/r.json" -- \
		bash -c 'trap "" TERM; echo $$; for i in {1..40}; do read -t 0.1 -u 3 3<> <(:); done; echo end' \
		>"$work/out" 2>"$work/err" &
	pid=$!
	wait_for 20 has_text "$work/out" || { kill -9 $pid; fail "not started"; return; }
	program=$(head -n 1 "$work/out")
	kill -TERM $pid
	wait $pid
	status=$?
	[ $status = 143 ] || fail "status $status" || return
	has_line '"settled": false' "$work/r.json" || fail "not said to be partial" || return
	kill -0 "$program" || fail "the program was ended" || return
	wait_for 20 has_line end "$work/out" || fail "the program did not go on"
}
has_text() { [ -s "$1" ]; }

# Ctrl-C is PROGRAM's alone: tftop waits for it and reports.
ignores_interrupt() {
	local pid
	"$tftop" -b -- bash -c 'echo ready; read -t 1 -u 3 3<> <(:); exit 4' >"$work/out" 2>"$work/err" &
	pid=$!
	wait_for 20 has_line ready "$work/out" || { kill -9 $pid; fail "not ready"; return; }
	kill -INT $pid
	kill -QUIT $pid
	wait $pid
	[ $? = 4 ] || fail "status $?" || return
	has_line '^trust' "$work/err" || fail "no report"
}

text_report() {
	timeout -k 5 120 "$tftop" -b -- "$train" --steps 4 >/dev/null 2>"$work/err" ||
		fail "status $?" || return
	local section
	for section in '^tftop ' '^trust' '^devices' '^steps' '^ops ' '^kernels ' '^copies '; do
		has_line "$section" "$work/err" || fail "no section '$section'" || return
	done
	! LC_ALL=C.UTF-8 grep -nE '^.{101}' "$work/err" || fail "wider than 100 columns" || return
	! grep -nE ' $' "$work/err" || fail "blanks at a line's end"
}

both_reports() {
	timeout -k 5 60 "$tftop" -b --json=- -- true >"$work/out" 2>"$work/err" || fail "status $?" || return
	has_line '^{' "$work/out" || fail "no JSON on stdout" || return
	has_line '^trust' "$work/err" || fail "no text on stderr" || return
	! has_line '^trust' "$work/out" || fail "text on stdout"
}

# window WANT OPTION…: so many steps are in the report, and all of the run's output
window() {
	local want=$1 count
	shift
	timeout -k 5 120 "$tftop" --json="$work/r.json" "$@" -- "$train" --steps 12 >"$work/out" 2>&1 ||
		fail "status $?: $(first_lines "$work/out")" || return
	has_line '^step 11 ' "$work/out" || fail "the program was cut short" || return
	count=$(sed -n '/"steps": {/,/}/s/.*"count": \([0-9]*\).*/\1/p' "$work/r.json")
	[ "$count" = "$want" ] || fail "$*: ${count:-no} steps, not $want"
}

windows() {
	window 12 --steps 100 && window 4 --steps 4 && window 3 --from-step 5 --steps 3 &&
		window 8 --from-step 5
}
# A program of which nothing is ever told: --for counts from its start, and it runs on.
window_without_events() {
	local watcher status
	mkfifo "$work/in"
	"$tftop" -b --for 100ms --debug "$work/log" -- cat "$work/in" >"$work/out" 2>"$work/err" &
	watcher=$!
	wait_for 20 grep -qs 'everything is read' "$work/log"
	status=$?
	echo runs on >"$work/in"
	wait "$watcher" || fail "tftop's status is $?" || return
	[ $status = 0 ] || fail 'collecting does not end before the program' || return
	[ "$(cat "$work/out")" = 'runs on' ] || fail "it printed: $(first_lines "$work/out")"
}

# Collecting ends with the first kernel, the program does not; what never comes is told.
until_an_event() {
	timeout -k 5 120 "$tftop" -b --until='kernel & dur > 0' -- "$train" --steps 12 \
		>"$work/out" 2>"$work/err" || fail "status $?: $(first_lines "$work/err")" || return
	has_line '^step 11 ' "$work/out" || fail "the program was cut short" || return
	grep -q 'collecting ended at .*: kernel & dur > 0' "$work/err" ||
		fail "it does not say why it ended" || return
	timeout -k 5 120 "$tftop" -b --until='kernel & dur > 1h' -- "$train" --steps 2 \
		>"$work/out" 2>"$work/err"
	[ $? = 124 ] || fail "it never matched, and the status is not 124" || return
	timeout -k 5 120 "$tftop" -b --until='dur > 1h' -- sh -c 'exit 3' >"$work/out" 2>"$work/err"
	[ $? = 3 ] || fail "the program's status is lost"
}

case_run statuses statuses
case_run wrong_options wrong_options
case_run descriptors descriptors
case_run closed_descriptors closed_descriptors
case_run report_checked_first report_checked_first
case_run file_size_limit file_size_limit
case_run no_descriptors ends_as_alone descriptors
case_run cut_off cut_off
case_run no_more_environment no_more_environment
case_run another_user another_user
case_run signals signals
case_run signalled_early signalled_early
case_run under_nohup under_nohup
case_run leaves_a_stubborn_program leaves_a_stubborn_program
case_run ignores_interrupt ignores_interrupt
case_run text_report text_report
case_run both_reports both_reports
case_run windows windows
case_run window_without_events window_without_events
case_run until_an_event until_an_event
suite_end
