#!/bin/bash
# SPDX-License-Identifier: MIT
# Whole tftop on build/train_opencl in all of its modes: the report says number
# by number what the program did, and the program prints, returns and leaves
# behind what it does without tftop. CASE=part runs those whose name has it,
# KEEP=1 keeps their files.
. "$(dirname "$0")/lib.sh"
many=$O/tests/many_queues
need_programs "$tftop" "$train" "$compare" "$many"
runner=()  # how to run things as somebody else
options=() # of tftop

# same_output BARE TRACED: both streams, byte for byte
same_output() {
	cmp -s "$1.out" "$2.out" || fail "other stdout: $(diff "$1.out" "$2.out" | first_lines -)" || return
	cmp -s "$1.err" "$2.err" || fail "other stderr: $(diff "$1.err" "$2.err" | first_lines -)"
}

# modes ARGS…: bare, then under tftop, then compares
modes() {
	local bare traced begin bare_ms
	begin=$(now_ms)
	"${runner[@]}" timeout -k 5 120 "$train" "$@" --truth "$work/bare.json" \
		>"$work/bare.out" 2>"$work/bare.err"
	bare=$?
	bare_ms=$(($(now_ms) - begin))
	begin=$(now_ms)
	"${runner[@]}" timeout -k 5 120 "$tftop" --json="$work/report.json" \
		"${options[@]}" -- "$train" "$@" --truth "$work/truth.json" >"$work/traced.out" 2>"$work/traced.err"
	traced=$?
	local ms="$bare_ms ms bare, $(($(now_ms) - begin)) ms traced"
	[ "$bare" = "$traced" ] ||
		fail "exit status $traced, bare $bare: $(first_lines "$work/traced.err")" || return
	same_output "$work/bare" "$work/traced" || return
	[ -s "$work/truth.json" ] || fail "no truth was written" || return
	[ -s "$work/report.json" ] || fail "no report was written" || return
	[ -z "${unseen:-}" ] || sed -i "$unseen" "$work/truth.json"
	"$compare" "$work/truth.json" "$work/report.json" >"$work/compare.out" 2>&1 ||
		fail "$(wc -l <"$work/compare.out") differences: $(first_lines "$work/compare.out")" || {
		sed 's/^/    /' "$work/compare.out" | head -n 40
		return 1
	}
	why=$ms
}

# The same as an ordinary user, from a copy that this user can read.
user_modes() {
	make_user_copy || fail "no copy for another user" || return
	local tftop=$user_copy/tftop train=$user_copy/train_opencl runner=(as_user)
	modes "$@"
}

# A thousand queues at once: each with its three kernels, none is lost, the program's count is right.
counted() {
	local got
	got=$(python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(len(j["queues"]), [(k["name"], k["count"]) for k in j["kernels"]], j["trust"]["lost_events"])' "$work/report")
	[ "$got" = "1000 [('count_up', 3000)] 0" ] || fail "$got"
}
many_queues() {
	"$tftop" --no-config --json="$work/report" -- "$many" 1000 </dev/null >/dev/null 2>"$work/err" ||
		fail "status $?: $(first_lines "$work/err")" || return
	counted
}
attached() { grep -qs 'PROGRAM is process' "$work/log"; }
many_queues_attached() {
	local program watcher
	mkfifo "$work/go"
	"$many" 1000 <"$work/go" >"$work/out" &
	program=$!
	exec {go}>"$work/go"
	wait_for 20 grep -qs ready "$work/out" || fail "it does not start" || return
	"$tftop" --no-config --debug "$work/log" --json="$work/report" -p "$program" 2>"$work/err" &
	watcher=$!
	wait_for 20 attached || fail "not attached: $(first_lines "$work/err")" || return
	echo >&"$go"	# tftop has it open as well: it would have no end
	exec {go}>&-
	wait "$program" || fail "the program: status $?" || return
	wait "$watcher" || fail "status $?: $(first_lines "$work/err")" || return
	counted
}

# level LEVEL ARGS…: another amount of detail, the same counts
level() {
	local options=(--level "$1")
	# calls and allocations are not looked at then
	[ "$1" = min ] && local unseen='/"calls": \[/,/\],/d; /"memory": \[/d'
	shift
	modes "$@"
}

# A device that has run a command when its enqueue returns. Without --fail:
# there PoCL waits in clFlush for the user event, bare as well.
synchronous() {
	local -x POCL_DEVICES=basic
	timeout -k 5 60 "$train" --steps 2 --quiet 2>/dev/null || { skip "PoCL's basic device"; return; }
	modes "$@"
}

# Two at once do not see each other.
two_at_once() {
	local first second
	timeout -k 5 120 "$tftop" --json="$work/a.json" -- "$train" --steps 30 \
		--truth "$work/a.truth" >"$work/a.out" 2>&1 &
	first=$!
	timeout -k 5 120 "$tftop" --json="$work/b.json" -- "$train" --steps 20 --fuse --exit 3 \
		--truth "$work/b.truth" >"$work/b.out" 2>&1 &
	second=$!
	wait "$first" || fail "the first ended with $?: $(tail -n 1 "$work/a.out")" || { wait "$second"; return 1; }
	wait "$second"
	[ $? = 3 ] || fail "the second did not end with 3: $(tail -n 1 "$work/b.out")" || return
	"$compare" "$work/a.truth" "$work/a.json" >"$work/c" || fail "first: $(first_lines "$work/c")" || return
	"$compare" "$work/b.truth" "$work/b.json" >"$work/c" || fail "second: $(first_lines "$work/c")"
}

# Children and their children are followed, one after the other and at once.
several_processes() {
	# shellcheck disable=SC2016
	timeout -k 5 120 "$tftop" --json="$work/report.json" -- sh -c '
		"$0" --steps 10 --quiet --truth "$1/a.truth"
		(exec "$0" --steps 15 --quiet --fuse --queues 2 --truth "$1/b.truth") &
		sh -c "\"$0\" --steps 12 --quiet --fail --truth \"$1/c.truth\"; exit 0"
		wait' "$train" "$work" >"$work/out" 2>&1 ||
		fail "exit status $?: $(tail -n 1 "$work/out")" || return
	"$compare" --sum "$work"/[abc].truth "$work/report.json" >"$work/compare.out" ||
		fail "$(wc -l <"$work/compare.out") differences: $(first_lines "$work/compare.out")"
}

# A comparer that lets everything pass would make all of the above worthless.
compare_notices() {
	timeout -k 5 120 "$train" --steps 3 --quiet --truth "$work/truth.json" || return
	# the truth as a report: what it lacks is said of everything
	sed -e 's/{ "schema": 1,/{ "schema": 1, "trust": { "lost_events": 0, "lost_packets": 0,\
		"settled": true, "attribution": { "exact": 100000 } },/' \
		-e 's/\("name": "[a-z0-9\/]*", "count": [0-9]*\) }/\1, "how": "exact" }/g' \
		"$work/truth.json" >"$work/report.json"
	"$compare" "$work/truth.json" "$work/report.json" >"$work/out" ||
		fail "equal ones differ: $(first_lines "$work/out")" || return
	local change
	for change in 's/"sgd_update", "count": 9/"sgd_update", "count": 10/' \
		's/"direction": "h2d", "queue": 0/"direction": "h2d", "queue": 1/' \
		's/"bytes": \([0-9]\)/"bytes": 9\1/' 's/"name": "loss"/"name": "lass"/' \
		's/"lost_events": 0/"lost_events": 1/' 's/"how": "exact"/"how": "fifo"/' \
		's/"steps": { "count": 3/"steps": { "count": 4/' 's/"softmax_loss"/"softmax"/' \
		's/"exit_status": 0/"exit_status": 1/' 's/"peak_bytes": /&9/' 's/"frees": /&1/' \
		's/"peak_ops": \["init"/"peak_ops": ["other"/' 's/"settled": true/"settled": false/'; do
		sed "$change" "$work/report.json" >"$work/other.json"
		cmp -s "$work/report.json" "$work/other.json" && { fail "nothing to change: $change"; return; }
		"$compare" "$work/truth.json" "$work/other.json" >/dev/null
		[ $? = 1 ] || fail "not noticed: $change" || return
	done
	"$compare" --sum "$work/truth.json" "$work/report.json" >"$work/out" ||
		fail "equal sums differ: $(first_lines "$work/out")" || return
	"$compare" --sum "$work/truth.json" "$work/truth.json" "$work/report.json" >"$work/out"
	[ $? = 1 ] || fail "twice as much was not noticed" || return
	"$compare" "$work/truth.json" /dev/null 2>/dev/null
	[ $? = 2 ] || fail "an empty report is no bad input"
}

# The kernels are compiled once, outside any measured or compared run.
"$train" --steps 10 --quiet >/dev/null 2>&1
"$train" --steps 10 --quiet --fuse --fail >/dev/null 2>&1

case_run compare compare_notices
# What is compared are counts and bytes, so that few images a step do.
few=(--steps 20 --batch 16)
case_run default modes
case_run fail modes "${few[@]}" --fail
case_run two-queues modes "${few[@]}" --queues 2
case_run out-of-order modes "${few[@]}" --queue out-of-order
case_run out-of-order-two-queues modes "${few[@]}" --queue out-of-order --queues 2 --prefetch 2
case_run fuse modes "${few[@]}" --fuse
case_run pinned modes "${few[@]}" --pinned
case_run pinned-prefetch modes "${few[@]}" --pinned --prefetch 2 --queues 2
case_run threads modes "${few[@]}" --input-threads 3 --prefetch 3
case_run itt modes "${few[@]}" --ranges itt
case_run no-ranges modes "${few[@]}" --ranges none
case_run leak modes "${few[@]}" --leak 300
case_run exit-status modes --steps 5 --exit 7
case_run small-steps modes --steps 300 --size 8 --batch 4 --quiet
case_run everything modes "${few[@]}" --fail --queue out-of-order --queues 2 --prefetch 2 \
	--input-threads 2 --pinned --fuse --ranges itt
case_run synchronous synchronous --steps 10
case_run synchronous-out-of-order synchronous --steps 10 --queues 2 --queue out-of-order
case_run level-full level full "${few[@]}" --fail
case_run level-min level min "${few[@]}" --ranges none
case_run two-at-once two_at_once
case_run many-queues many_queues
case_run many-queues-attached many_queues_attached
case_run several-processes several_processes
# an ordinary user has run as one already
if [ "$(id -u)" = 0 ]; then
	case_run user-default user_modes "${few[@]}"
	case_run user-fail user_modes "${few[@]}" --fail --queues 2
fi
suite_end
