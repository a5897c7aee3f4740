#!/bin/bash
# SPDX-License-Identifier: MIT
# tftop -p: a program that runs already is watched from then on, let go of, and computes
# what it would have computed.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
[ -e "$O/lib/libtftop-attach.so" ] || skip_suite attach_session 'nothing to attach with on this machine'
need_pytorch attach_session
export PYTHONDONTWRITEBYTECODE=1
root= mine=' of yours'; [ "$(id -u)" = 0 ] && root=yes mine=

# begin [COMMAND…]: the program, in $work/steps; pid
program=
begin() {
	mkdir -p "$work/steps" && chmod 777 "$work/steps"
	"$@" "$python" tests/programs/attach_steps.py "$work/steps" >"$work/out" 2>&1 &
	program=$!
	wait_for 60 test -e "$work/steps/ready" || { fail "no program: $(first_lines "$work/out")"; return; }
	pid=$(cat "$work/steps/ready")
}
# one NAME FUNCTION…: a case; what it did not finish is ended
how=case_run
one() {
	program= watcher= second=
	$how "$@"
	[ -z "$watcher$program$second" ] || { kill -KILL $watcher $program $second; wait $watcher $program $second; } 2>/dev/null
}
# orphan: it ends with who started it, however that ends
orphan() {
	mkdir "$work/steps"
	bash -c '"$0" "$1" "$2" & wait' "$python" tests/programs/attach_steps.py "$work/steps" >"$work/out" 2>&1 &
	program=$!
	wait_for 60 test -e "$work/steps/ready" || { fail "no program: $(first_lines "$work/out")"; return; }
	pid=$(cat "$work/steps/ready")
	kill -KILL "$program"
	wait "$program" 2>/dev/null
	wait_for 10 gone "$pid" || { kill -KILL "$pid"; fail 'it runs on'; }
}
# finish: it ends as it would have, with what it would have computed so many times
finish() {
	touch "$work/steps/end"
	wait "$program"
	is "the program's status" $? 3 && is 'what it computed' "$(sort -u "$work/steps/result")" "$(cat "$tmp/alone")"
}
# attach NAME OPTION…: tftop on it; returns when the probes are in
watcher=
attach() {
	local name=$1
	shift
	"$tftop" --debug "$work/$name.log" --json="$work/$name" -p "$pid" "$@" >"$work/$name.out" 2>&1 &
	watcher=$!
	wait_for 20 attached "$name" || fail "not attached: $(tail -n 1 "$work/$name.out" "$work/$name.log")"
}
attached() { grep -qs 'PROGRAM is process' "$work/$1.log" || ! kill -0 "$watcher" 2>/dev/null; }
steps() { touch "$work/steps/$1" && wait_for 20 test -e "$work/steps/$2" || fail "$1: no steps"; }
# leave STATUS: tftop is asked to
leave() {
	kill -TERM "$watcher"
	wait "$watcher"
	is "tftop's status" $? "${1:-0}"
}
report() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/$1" "$2"; }
# counts NAME N: of the counted steps each op is there N times
counts() {
	is "mm" "$(report "$1" "sum(o['count'] for o in j['ops'] if o['name'] == 'mm')")" "$2" &&
		is "tanh" "$(report "$1" "sum(o['count'] for o in j['ops'] if o['name'] == 'tanh')")" "$2" &&
		is "lost" "$(report "$1" "j['trust']['lost_events']")" 0
}
nothing_left() { ! ls "/proc/$pid/cwd" >/dev/null 2>&1 || ! grep -qs "/control$" "/proc/$pid/maps"; }

watched() {
	begin && attach one && steps go done && leave && counts one 100 &&
		is pid "$(report one "j['run']['pid']")" "$pid" &&
		is command "$(report one "j['run']['command'][-1]")" "$work/steps" &&
		wait_for 5 nothing_left || return
	finish
}
# Its end is the end; its status is not tftop's.
ends() {
	begin && attach one && steps go done && finish || return
	wait "$watcher"
	is "tftop's status" $? 0 && counts one 100
}
window() {
	begin || return
	"$tftop" -b --for 500ms -p "$pid" >"$work/one" 2>&1
	is "tftop's status" $? 0 && grep -q '^  sigmoid ' "$work/one" || { fail 'no ops'; return; }
	steps go done && finish
}
# Also when nothing is ever told of it, from when it was attached to.
silent() {
	sleep 600 & program=$!
	wait_for 20 asleep "$program"
	timeout -k 5 20 "$tftop" -b --for 100ms -p "$program" >"$work/one" 2>&1
	is "tftop's status" $? 0 && grep -q 'no events: PROGRAM loaded no runtime' "$work/one" || fail "$(first_lines "$work/one")" || return
	kill "$program"
	wait "$program" 2>/dev/null
	is "the program's status" $? 143
}
again() {
	begin && attach one && steps go done && leave && counts one 100 && attach two && steps again again.done &&
		leave && counts two 100 && finish
}
recording() {
	begin && attach one -o "$work/rec" && steps go done && leave && finish || return
	"$tftop" --json="$work/two" "$work/rec" && counts two 100 && is pid "$(report two "j['run']['pid']")" "$pid"
}
# tftop dies: the program does not notice, and is not written to any more.
killed() {
	begin && attach one && steps go done || return
	kill -KILL "$watcher"
	wait "$watcher" 2>/dev/null
	steps again again.done && finish
}
screen() {
	begin || return
	printf '%s\n' 'wait 1s' 'wait-settled 20s' 'save-screen '"$work/screen" 'quit' >"$work/script"
	"$tftop" --headless --size 160x40 --script "$work/script" -p "$pid" >"$work/one" 2>&1
	is "tftop's status" $? 0 && grep -q "attach_st.* $pid " "$work/screen" && grep -q sigmoid "$work/screen" ||
		{ fail "$(first_lines "$work/one")"; return; }
	printf '%s\n' 'wait-settled 20s' "$1" >"$work/script"
	"$tftop" --headless --script "$work/script" -p "$pid" >"$work/one" 2>&1
	is "tftop's status to '$1'" $? 125 && grep -q 'tftop did not start' "$work/one" ||
		{ fail "'$1': $(first_lines "$work/one")"; return; }
	steps go done && finish
}
# both: a second program of this kind, in $work/other; it has a name of its own
both() {
	named=steps_$$_$BASHPID
	cp tests/programs/attach_steps.py "$work/$named.py" && mkdir "$work/other" && begin || return
	"$python" "$work/$named.py" "$work/other" >"$work/other.out" 2>&1 &
	second=$!
	wait_for 60 test -e "$work/other/ready" || { kill -KILL $second; fail "no other program: $(first_lines "$work/other.out")"; }
}
finish_other() {
	touch "$work/other/end"
	wait "$second"
	is "the other's status" $? 3 && is 'what it computed' "$(sort -u "$work/other/result")" "$(cat "$tmp/alone")"
}
other_steps() { touch "$work/other/$1" && wait_for 20 test -e "$work/other/$2" || fail "$1: no steps of the other"; }
# One session of two programs, one report; the end of one is not the end. Then again.
several() {
	both && attach one -p "$second" && steps go done && other_steps go done && finish_other &&
		steps again again.done && leave && counts one 300 &&
		is processes "$(report one "sorted(p['pid'] for p in j['processes']) == sorted([$pid, $second])")" True &&
		finish
}
# Each is in the report, also one of which nothing is ever told; run.* is the first one.
several_silent() {
	sleep 600 & program=$!
	sleep 700 & second=$!
	wait_for 20 asleep "$program" && wait_for 20 asleep "$second"
	"$tftop" --json="$work/one" --for 100ms -p "$program" -p "$second" >"$work/said" 2>&1
	is "tftop's status" $? 0 &&
		is run "$(report one "j['run']['pid'], j['run']['command']")" "($program, ['sleep', '600'])" &&
		is processes "$(report one "sorted((p['command'], p['pid']) for p in j['processes'])")" \
			"[('sleep 600', $program), ('sleep 700', $second)]"
}
several_again() {
	both && attach one -p "$second" && leave && attach two -p "$named" && steps go done && other_steps go done &&
		leave && counts two 200 && finish_other && finish
}
# By the script's name; where several have it they are listed, and nothing is touched.
by_name() {
	both || return
	local first=$pid
	pid=$second
	"$tftop" -b --for 300ms -p "$named" >"$work/one" 2>&1
	is "tftop's status" $? 0 && grep -q '^  sigmoid ' "$work/one" || { fail "no ops: $(first_lines "$work/one")"; return; }
	"$python" "$work/$named.py" "$work/other" >"$work/third.out" 2>&1 &
	watcher=$!
	wait_for 20 grep -qs "$named" "/proc/$watcher/cmdline" || { fail 'no third'; return; }
	"$tftop" -b -p "$named.py" >"$work/one" 2>&1
	is "status of a name of two" $? 125 && grep -q "^tftop: 2 processes are called '$named.py'" "$work/one" &&
		grep -qE "^ +$second  .*$named.py" "$work/one" && grep -qE "^ +$watcher  .*$named.py" "$work/one" ||
		{ fail "$(first_lines "$work/one")"; return; }
	kill -KILL $watcher
	wait $watcher 2>/dev/null
	watcher= pid=$first
	other_steps go done && finish_other && steps go done && finish
}
# What runs below is watched with --children, and without it is said not to be; so is
# what begins later.
above='import os, subprocess, sys, time
program, late = subprocess.Popen(sys.argv[1:]), None
while program.poll() is None:
    time.sleep(0.02)
    if not late and os.path.exists(sys.argv[-1] + "/late"):
        late = subprocess.Popen(["sleep", "60"])
if late:
    late.kill()
sys.exit(program.returncode)'
late_told() { report "$1" "[m['text'][:10] for m in j['messages'] if 'was started after tftop attached' in m['text']]"; }
below() {
	begin "$python" -c "$above" || return
	local inner=$pid
	pid=$program
	attach one && leave && is 'what is said' "$(report one "[m['text'] for m in j['messages'] if 'child process' in m['text']]")" \
		"['1 child process is not observed; --children attaches to child processes too']" || return
	attach two --children && steps go done && touch "$work/steps/late" &&
		wait_for 20 grep -q 'process .*: sleep 60' "$work/two.log" && leave && counts two 100 &&
		is 'of the late one' "$(late_told two)" '[]' &&
		is processes "$(report two "$inner in [p['pid'] for p in j['processes']]")" True && finish
}
# starter [refused]: a program that starts others when it is told to; pid
starter() {
	mkdir "$work/steps" && "$python" tests/programs/attach_children.py "$work/steps" "$@" >"$work/out" 2>&1 &
	program=$!
	wait_for 20 test -e "$work/steps/ready" || { fail "no program: $(first_lines "$work/out")"; return; }
	pid=$(cat "$work/steps/ready")
}
# end_starter: it ends as it would have, tftop with it
end_starter() {
	touch "$work/steps/end"
	wait "$program"
	is "the program's status" $? 3 || return
	wait "$watcher"
	is "tftop's status" $? 0
}
# What is started later is watched whole where the variables reach it; else it is entered once it has
# loaded PyTorch, also where a shell is between, or a child begins another program late.
follows() {
	starter && attach one --children && touch "$work/steps/go" || return
	for c in cos tan sinh; do
		wait_for 30 test -e "$work/steps/$c.done" || { fail "$c is not seen: $(tail -n 3 "$work/one.log")"; return; }
	done
	end_starter || return
	for c in cos tan sinh; do
		is "$c" "$(report one "sum(o['count'] for o in j['ops'] if o['name'] == '$c')")" 100 || return
	done
	is 'said' "$(report one "[m['text'] for m in j['messages'] if 'cannot attach' in m['text'] or 'was started after' in m['text']]")" '[]' &&
		is processes "$(report one "len(j['processes']), all(p.get('parent', 1) > 1 for p in j['processes'] if p['pid'] != $pid)")" \
			'(4, True)' && is 'children of it' "$(report one "sum(p.get('parent') == $pid for p in j['processes'])")" 2
}
# A program that becomes another one.
becomes() {
	starter becomes && attach one --children && touch "$work/steps/go" && becomes_seen
}
becomes_seen() {
	wait_for 30 test -e "$work/steps/tan.done" || { fail "not seen: $(tail -n 3 "$work/one.log")"; return; }
	touch "$work/steps/end"
	wait "$program"
	is "the program's status" $? 0 || return
	wait "$watcher"
	is "tftop's status" $? 0 && is tan "$(report one "sum(o['count'] for o in j['ops'] if o['name'] == 'tan')")" 100 &&
		is said "$(report one "[m['text'] for m in j['messages'] if 'attach to' in m['text']]")" "[]"
}
# LTTng is slow to come: its daemon stands still while the probes come in, for longer than a program
# that tftop starts would wait. Nothing may tell the program that it is observed before it is.
slow_lttng() {
	local -x LTTNG_UST_REGISTER_TIMEOUT=0
	local daemon
	starter becomes && attach one --children && daemon=$(find_in "$watcher" lttng-sessiond) || return
	touch "$work/steps/go"
	wait_for 30 grep -qs libtorch_cpu "/proc/$pid/maps" || { fail 'it does not become another one'; return; }
	kill -STOP "$daemon"
	wait_for 10 grep -qs libtftop-pytorch "/proc/$pid/maps"
	pause 1.5
	kill -CONT "$daemon"
	becomes_seen
}
# What cannot be entered is said once for each reason.
follow_refused() {
	starter refused && attach one --children && touch "$work/steps/go" && wait_for 20 grep -q 'is stopped' "$work/one.log" &&
		end_starter && is 'said' "$(report one "[sum(m['text'].startswith('cannot attach') and c in m['text']
			for m in j['messages']) for c in ('may open 64 files', 'is stopped', '')]")" '[1, 1, 2]'
}
# A thousand that come and go; they cost tftop little: 0.02 s of a processor alone on a machine.
follow_many() {
	starter many && attach one --children && touch "$work/steps/go" && wait_for 60 test -e "$work/steps/many.done" || return
	local spent
	spent=$(awk '{ print $14 + $15 }' "/proc/$watcher/stat")
	[ -z "${TIMING:-}" ] || [ "$spent" -lt 50 ] || { fail "it took $spent/100 s of a processor"; return; }
	end_starter && is 'said' "$(report one "sum('cannot attach' in m['text'] for m in j['messages'])")" 0
}
# Without --children they are not, which is said once.
not_followed() {
	starter refused && attach one && touch "$work/steps/go" && wait_for 20 grep -q 'was started after tftop attached' "$work/one.log" &&
		end_starter && is 'of late ones' "$(report one "sum('use --children for those' in m['text'] for m in j['messages'])")" 1
}
# control STATUS PATTERN COMMAND…: what --control says of $pid
control() {
	local status=$1 pattern=$2
	shift 2
	"$@" >"$work/said" 2>&1
	is "status for '$pattern'" $? "$status" && is 'what it said' "$(sed "s|'/.*/control'|'PAGE'|" "$work/said")" "$pattern"
}
# Off from outside: what is computed then is not seen; and on again. When a probe has looked
# at the page nothing shows it but PyTorch, which is asked for its callbacks.
steered() {
	begin && control 125 "tftop: no tftop$mine watches process $pid: 'tftop -p $pid' attaches to it" "$tftop" --control "$pid" level=off &&
		attach one && control 0 "process $pid: the level was default and is now off" "$tftop" --control "$pid" level=off &&
		steps quiet quiet.done && steps go done &&
		control 0 "process $pid: the level was off and is now full" "$tftop" --control "$pid" level=full || return
	if [ -n "$root" ]; then
		make_user_copy && control 125 "tftop: cannot look at process $pid: Permission denied: only its user and root can" \
			as_user "$user_copy/tftop" --control "$pid" level=off || return
	fi
	leave && is mm "$(report one "sum(o['count'] for o in j['ops'] if o['name'] == 'mm')")" 0 &&
		control 125 "tftop: the tftop that watched process $pid has gone: 'tftop -p $pid' watches it again" \
			"$tftop" --control "$pid" level=off && finish || return
	control 125 "tftop: there is no process $pid: --control takes the PID of one that tftop watches" \
		"$tftop" --control "$pid" level=off
}
# A program that is just starting: the loader waits for a pipe before it has mapped the C library.
starting() {
	[ -x "$train" ] || { skip 'no OpenCL'; return; }
	mkfifo "$work/preload"
	LD_PRELOAD=$work/preload "$train" --steps 100000 --quiet >"$work/out" 2>&1 &
	program=$! pid=$!
	"$tftop" --debug "$work/log" -b --until=kernel -p "$pid" >"$work/one" 2>&1 &
	watcher=$!
	wait_for 20 sleeps $watcher || { fail 'it does not wait'; return; }
	: >"$work/preload"
	wait "$watcher"
	is "tftop's status" $? 0 || { fail "$why $(first_lines "$work/one")"; return; }
	watcher=
	grep -q "process $pid has no C library yet" "$work/log" || fail 'it is not told'
}
# sleeps PID: it is in clock_nanosleep(), by its number on x86-64
sleeps() { grep -qs '^230 ' "/proc/$1/syscall"; }
# Where no probe is in use yet, whichever way it was begun.
steered_early() {
	program=$(sleep 600 >/dev/null & echo $!)
	pid=$program
	wait_for 20 asleep "$pid"
	control 125 "tftop: no tftop$mine watches process $pid: 'tftop -p $pid' attaches to it" "$tftop" --control "$pid" level=off &&
		attach one && control 0 "process $pid: the level was default and is now off" "$tftop" --control "$pid" level=off &&
		control 0 "process $pid: the level was off and is now min" "$tftop" --control "$pid" level=min && leave || return
	kill "$pid"
	if [ -n "$root" ]; then
		make_user_copy && pid=$(as_user sh -c 'sleep 600 >/dev/null & echo $!') && wait_for 20 asleep "$pid" && attach three && control 125 \
			"tftop: no tftop of yours watches process $pid: 'tftop -p $pid' attaches to it" \
			as_user "$user_copy/tftop" --control "$pid" level=off && leave || return
		kill "$pid"
	fi
	"$tftop" --debug "$work/two.log" --json="$work/two" -- sh -c 'sleep 600 & echo $! >"$0"; wait' "$work/pid" &
	watcher=$!
	wait_for 20 test -s "$work/pid" && pid=$(cat "$work/pid") && wait_for 20 asleep "$pid" || { fail 'nothing was started'; return; }
	control 0 "process $pid: the level was default and is now off" "$tftop" --control "$pid" level=off
	local status=$?
	kill "$pid"
	wait "$watcher" && [ $status = 0 ]
}
# Root's tftop on an ordinary user's program, and that user's own.
trainer() {
	local who=$1 status
	shift
	[ -n "$root" ] || { skip 'needs root'; return; }
	[ -x "$train" ] || { skip 'no OpenCL'; return; }
	make_user_copy && chmod a+rx "$tmp" || return
	as_user env --default-signal=INT "$user_copy/train_opencl" --steps 30000 --delay-ms 20 --batch 16 >"$work/out" 2>&1 &
	program=$!
	wait_for 20 find_trainer || { fail "no trainer: $(first_lines "$work/out")"; [ -z "$pid" ] || kill "$pid"; return 1; }
	"$who" "$user_copy/tftop" --json=- -p "$pid" --for 1s >"$work/one" 2>"$work/one.out"
	status=$?
	kill -INT "$pid"
	wait "$program"
	is "tftop's status" $status 0 || { fail "$why: $(first_lines "$work/one.out")"; return; }
	is 'kernels, owner' "$(report one "sum(k['count'] for k in j['kernels']) > 10, j['trust']['lost_events']")" '(True, 0)'
}
find_trainer() { pid=$(find_in "$program" train_opencl) && grep -q '^step 3 ' "$work/out"; }

# refuses STATUS PATTERN ARGUMENT…
refuses() {
	local pattern=$1
	shift
	${filter:-} "$tftop" "$@" >"$work/said" 2>&1
	is 'status' $? 125 && { grep -qE "$pattern" "$work/said" || fail "no '$pattern': $(first_lines "$work/said")"; } &&
		is lines "$(wc -l <"$work/said")" 1
}
# A filter that gives an error for socket(): LTTng reaches nobody, and all probes together wait
# for it no longer than one.
unreached() {
	local begun
	${CC:-cc} -O1 -o "$work/odd" tests/programs/odd_process.c -lpthread 2>"$work/cc" || fail "$(first_lines "$work/cc")" || return
	begin "$work/odd" denied socket && begun=$SECONDS &&
		filter="$work/odd denied none" refuses "^tftop: cannot attach to $pid: LTTng in this process does not reach tftop's daemon" -b -p "$pid" &&
		steps go done && finish && { [ -z "${TIMING:-}" ] || [ $((SECONDS - begun)) -lt 15 ] || fail "it took $((SECONDS - begun)) s"; }
}
# An ordinary user's program in which no probe is in use yet, again and again.
unused_again() {
	local i
	[ -n "$root" ] || { skip 'needs root'; return; }
	make_user_copy && chmod 777 "$work" || return
	as_user sh -c 'echo $$ >"$1" && exec sleep 60' sh "$work/pid" & program=$!
	wait_for 10 test -s "$work/pid" || { fail 'no program'; return; }
	for i in 1 2; do
		as_user "$user_copy/tftop" -b --for 200ms -p "$(cat "$work/pid")" >"$work/said" 2>&1 ||
			{ fail "time $i: $(first_lines "$work/said")"; break; }
	done
	kill "$(cat "$work/pid")"
	[ -z "$why" ]
}
# A main thread that waits for others runs no Python, and lines cannot be read: said after 2 s.
waiting_main() {
	"$python" -c 'import sys, threading, time, torch
def work():
    a, end = torch.ones(32, 32), time.time() + 60
    open(sys.argv[1], "w").close()
    while time.time() < end:
        torch.mm(a, a)
        time.sleep(0.002)
thread = threading.Thread(target=work, daemon=True)
thread.start()
thread.join()' "$work/works" >"$work/out" 2>&1 &
	program=$!
	wait_for 60 test -e "$work/works" || { fail "no program: $(first_lines "$work/out")"; return; }
	"$tftop" -b --json="$work/one" --for 3s -p "$program" >"$work/said" 2>&1 &&
		is said "$(report one "any('main thread runs no Python' in m['text'] for m in j['messages'])")" True
}
refused() {
	local none
	none=$(cat /proc/sys/kernel/pid_max)
	refuses "^tftop: cannot attach to $none: there is no process" -b -p "$none" &&
		refuses '^tftop: cannot attach to 1: 1 is the init' -b -p 1 &&
		refuses "^tftop: no process is called 'no-such-program'" -p no-such-program && refuses 'is not a PID' -p 0 && refuses 'is not a PID' -p -1 &&
		refuses '^tftop: -p watches a running program' -p 1 -- true &&
		refuses '^tftop: -p watches a running program' -p 1 "$work"
}

"$python" -c 'import torch' 2>/dev/null
mkdir "$tmp/steps" && touch "$tmp/steps/go"
"$python" tests/programs/attach_steps.py "$tmp/steps" & alone=$!
wait_for 60 test -e "$tmp/steps/done"; touch "$tmp/steps/end"; wait $alone; cp "$tmp/steps/result" "$tmp/alone"

for c in orphan refused unreached waiting_main unused_again watched ends window silent again recording killed several \
	several_silent several_again by_name below follows becomes slow_lttng follow_refused follow_many not_followed starting steered steered_early; do
	one "$c" "$c"
done
how=case_timed
one unreached-soon unreached
one follow_many-cheaply follow_many
how=case_run
one screen screen 'quit stop'
one screen-interrupt screen interrupt
one trainer-root trainer env
one trainer-user trainer as_user
suite_end
