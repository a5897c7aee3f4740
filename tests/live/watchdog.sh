#!/bin/bash
# SPDX-License-Identifier: MIT
# A daemon of LTTng's dies or is stopped under a program that tftop watches: others take its
# place, what comes then is there with right counts, what lies between is told and drawn, and
# the program computes what it would have. CASE=part runs the cases whose name has it.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$O/tests/burst"
need_pytorch watchdog
export PYTHONDONTWRITEBYTECODE=1

program= watcher= pid=
steps_of=tests/programs/attach_steps.py kind=
logged() { grep -qsE -- "$1" "$work/log"; }
log_tail() { tail -n 3 "$work/log" "$work/said" | tr '\n' ';'; }
# tidy FUNCTION…: what it did not finish is ended
tidy() {
	local status
	"$@"
	status=$?
	[ -z "$watcher$program" ] || { kill -KILL $watcher $program; wait $watcher $program; } 2>/dev/null
	return $status
}
one() { case_beside "$1" tidy "${@:2}"; }
in_steps() { [ -e "$work/steps/$1" ]; }
steps() { touch "$work/steps/$1" && wait_for 20 in_steps "$2" || fail "$1: no steps: $(log_tail)"; }
began() { logged 'PROGRAM is process' || ! kill -0 "$watcher" 2>/dev/null; }

# ends PID WHOSE STATUS: it ends, with that status
ends() {
	wait_for 30 gone "$1" || { fail "$2 does not end: $(log_tail)"; return; }
	wait "$1"
	is "$2's status" $? "$3"
}

# begin HOW [OPTION…]: the program under tftop, its first counted steps taken. HOW: -p, launch
begin() {
	local how=$1
	shift
	mkdir "$work/steps"
	if [ "$how" = -p ]; then
		"$python" $steps_of "$work/steps" $kind >"$work/out" 2>&1 &
		program=$!
		wait_for 60 in_steps ready || { fail "no program: $(first_lines "$work/out")"; return; }
		set -- "$@" -p "$program"
	else
		set -- "$@" -- "$python" $steps_of "$work/steps" $kind
	fi
	[ "$1" = --headless ] || set -- --json="$work/report" "$@"
	"$tftop" --debug "$work/log" "$@" >"$work/said" 2>&1 &
	watcher=$!
	wait_for 60 in_steps ready && wait_for 20 began && steps go done
}
# finish HOW: the program is asked to end; tftop sees that and leaves as it should
finish() {
	touch "$work/steps/end"
	if [ -n "$program" ]; then
		ends "$program" 'the program' 3 || return
		program=
		ends "$watcher" tftop 0 || return
	else
		ends "$watcher" tftop 3 || return
	fi
	watcher=
	is 'what it computed' "$(sort -u "$work/steps/result")" "$(cat "$tmp/alone$kind$framework")"
}
report() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
n = {o["name"]: o["count"] for o in j["ops"]}
print(eval(sys.argv[2]))' "${2:-$work/report}" "$1"; }

# daemon NAME: its process
daemon() { find_in "$(find_in "$watcher" tftop-keeper)" "$1"; }
# strike NAME SIGNAL: and the path is back, so many times in all
times=0
backs() { [ "$(grep -sc 'the LTTng daemons are back: events between' "$work/log")" -ge "$times" ]; }
strike() {
	local p
	p=$(daemon "$1") || { fail "no $1: $(log_tail)"; return; }
	times=$((times + 1))
	kill -"$2" "$p"
	wait_for 40 backs || fail "not back: $(log_tail)"
}
# All of what came after is there, and of what came before what had been read: the rest is
# counted as lost. Each counted time has 100 of both.
whole() {
	report "'ok' if 100 <= min(n['mm'], n['tanh']) and max(n['mm'], n['tanh']) <= 200 and 400 - n['mm'] - n['tanh'] <= j['trust']['lost_events'] else (n, j['trust'])" "${1:-}" \
		>"$work/counts" 2>&1
	is counts "$(cat "$work/counts")" ok
}
replaced() {
	local how=$1 name=$2 signal=$3 words=$4
	times=0
	begin "$how" && strike "$name" "$signal" || return
	logged "'$name' $words.*tftop restarts the LTTng daemons, PROGRAM keeps running" || fail "$(log_tail)" || return
	! logged 'tracing ended' || fail 'told as its end' || return
	steps again again.done && finish && whole
}
# The screen has it drawn, a recording has both sessions.
recorded() {
	times=0
	begin launch -o "$work/rec" && strike lttng-relayd KILL && steps again again.done && finish && whole || return
	"$tftop" -b --json="$work/again" "$work/rec" >"$work/said" 2>&1 && whole "$work/again" || return
	tr -s ' \n' ' ' <"$work/said" | grep -q "daemons were replaced: what PROGRAM did between .* and .* of the run is missing" ||
		fail "not told: $(first_lines "$work/said")"
}
drawn() {
	times=0
	# what was never read has no place on the axis: the daemon is killed after that
	printf '%s\n' 'wait-for tanh 30s' "save-screen $work/seen" 'wait-exit 90s' 'wait-settled 20s' "save-screen $work/screen" quit >"$work/script"
	begin launch --headless -o "$work/rec" --size 120x30 --script "$work/script" &&
		wait_for 40 test -e "$work/seen" && strike lttng-sessiond KILL && steps again again.done || return
	touch "$work/steps/end"
	ends "$watcher" tftop 3 || return
	watcher=
	grep -q '▒▒▒' "$work/screen" || fail "no gap: $(first_lines "$work/screen")" || return
	# the recording has it too, when it is read, and not the cache of what was seen
	rm -f "$work/rec/cache"
	printf '%s\n' 'wait-settled 20s' "save-screen $work/again" quit >"$work/script"
	"$tftop" --no-config --headless --size 120x30 --script "$work/script" "$work/rec" >"$work/said" 2>&1 &&
		grep -q '▒▒▒' "$work/again" || fail "no gap in the recording: $(first_lines "$work/again")"
}
# A path that dies again and again is given up, and told as dead.
given_up() {
	times=0
	begin -p && strike lttng-relayd KILL && strike lttng-relayd KILL && strike lttng-relayd KILL || return
	kill -KILL "$(daemon lttng-relayd)"
	wait_for 20 logged "tracing ended: 'lttng-relayd' was killed by signal 9" || fail "$(log_tail)" || return
	steps again again.done && finish
}
# early FUNCTION: the consumer daemon dies as soon as that holds: in setting up it is an error as
# ever and says what died; where tftop has attached meanwhile, the path is back.
early() {
	local p
	mkdir "$work/steps"
	"$python" $steps_of "$work/steps" >"$work/out" 2>&1 &
	program=$!
	wait_for 60 in_steps ready || { fail "no program: $(first_lines "$work/out")"; return; }
	"$tftop" -b --debug "$work/log" --json="$work/report" -p "$program" >"$work/said" 2>&1 &
	watcher=$!
	wait_for 20 "$1" && p=$(daemon lttng-consumerd) && kill -KILL "$p" || { fail 'no consumerd'; return; }
	times=1
	wait_for 40 decided || fail "neither an error nor back: $(log_tail)" || return
	! logged 'tracing ended' || fail "$(log_tail)" || return
	if backs; then
		steps go done && finish
		return
	fi
	ends "$watcher" tftop 125 || return
	watcher=
	grep -qE "LTTng|lttng-" "$work/said" && ! grep -q 'probes did not start' "$work/said" ||
		fail "$(first_lines "$work/said")" || return
	touch "$work/steps/end"
	ends "$program" 'the program' 3
	program=
}
lives() { daemon lttng-consumerd >"$work/pid"; }
is_ready() { logged 'the daemons and the reader are ready'; }
decided() { backs || ! kill -0 "$watcher" 2>/dev/null; }

# A process begins while the daemon stands still: it waits for a second, goes on, and says what
# of it is missing.
unheard() {
	local p
	printf '%s\n' 'key 8' 'wait-for in.time,.which.started.without.it 60s' "save-screen $work/enough" 'wait-exit 60s' quit >"$work/script"
	"$tftop" --debug "$work/log" --headless --size 160x30 --script "$work/script" -- sh -c 'echo >"$1"
		until [ -e "$2" ]; do sleep 0.02; done; exec "$3" --steps 6000 10 "$4" >"$5"' \
		sh "$work/begun" "$work/go" "$O/tests/burst" "$work/enough" "$work/out" >"$work/said" 2>&1 &
	watcher=$!
	wait_for 20 test -e "$work/begun" && wait_for 20 began && p=$(daemon lttng-sessiond) ||
		{ fail "no daemon: $(log_tail)"; return; }
	kill -STOP "$p"
	touch "$work/go"
	wait_for 20 grep -qs '^step 1 ' "$work/out" || fail 'it does not go on' || return
	kill -CONT "$p"
	wait "$watcher"
	is "tftop's status" $? 0 || return
	watcher=
	grep -qE 'LTTng did not answer process [0-9]+ in time, which started without it: its first [0-9]+ ms' "$work/enough" ||
		fail "not told: $(first_lines "$work/enough")"
}

# what it computes alone, for finish()
framework=
alone() {
	local folder=$tmp/steps$kind$framework
	mkdir "$folder" && touch "$folder/go" && "$python" $steps_of "$folder" $kind >"$folder/out" 2>&1 &
	alone=$!
	wait_for 60 test -e "$folder/done" && touch "$folder/end"
	wait $alone
	sort -u "$folder/result" >"$tmp/alone$kind$framework"
}
# Of a framework's counted steps all that came after the daemons were back.
other() {
	times=0
	begin -p && strike lttng-relayd KILL && steps again again.done && finish || return
	report "(lambda lost, *c: 'ok' if all(100 <= i <= 200 for i in c) and sum(200 - i for i in c) <= lost else (c, lost))(j['trust']['lost_events'], $counted)" >"$work/counts" 2>&1
	is counts "$(tail -n 1 "$work/counts")" ok
}
alone
for how in launch -p; do
	for name in sessiond consumerd relayd; do
		words='was killed by signal 9'
		[ $name = consumerd ] && words=died
		one "killed-$name-${how#-}" replaced $how lttng-$name KILL "$words"
	done
done
one stopped-sessiond-p replaced -p lttng-sessiond STOP 'was stopped for 5 s'
one stopped-consumerd-launch replaced launch lttng-consumerd STOP 'was stopped for 5 s'
one stopped-relayd-launch replaced launch lttng-relayd STOP 'was stopped for 5 s'
one recorded recorded
one drawn drawn
one given-up given_up
one early early lives
one crossing early is_ready
one unheard unheard

need_tensorflow watchdog
kind=tensorflow counted="n['eager MatMul'], n['eager Tanh']"
alone
one tensorflow other
need_jax watchdog
# its calls (jit_…) are seen again a moment after its runs are
steps_of=tests/programs/attach_jax.py kind= framework=jax counted="n['counted_step'],"
alone
one jax other
suite_end
