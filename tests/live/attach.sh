#!/bin/bash
# SPDX-License-Identifier: MIT
# The injector and its stage (probes/attach) on programs that notice when they are disturbed.
# ATTACH_TRIES=1000: so many injections a program, with their figures.
. "$(dirname "$0")/lib.sh"
driver=$O/tests/inject_driver target=$O/tests/attach_target library=$O/tests/injected.so
stage=$O/lib/libtftop-attach.so probe=$O/tests/late_probe.so slow=$O/tests/slow_load.so
faulty=$O/tests/faulty
need_programs "$driver" "$target" "$library" "$stage" "$probe" "$slow" "$tftop" "$faulty"
[ "$(uname -m)" = x86_64 ] || skip_suite attach "the injector is for x86-64"
tries=${ATTACH_TRIES:-20}

# start MODE [COMMAND…]: a target, pid in $pid, its standard input on $input
start() {
	local mode=$1
	shift
	mkfifo "$work/input" && exec {input}<>"$work/input" && : >"$work/said" || return
	"$@" "$target" "$mode" <"$work/input" >"$work/said" 2>&1 {input}>&- &
	pid=$!
	wait_for 20 grep -q ready "$work/said" || fail "it does not start: $(cat "$work/said")"
}

# one NAME FUNCTION…: a case; a target that it did not finish is killed
how=case_run
one() {
	pid=
	$how "$@"
	[ -z "$pid" ] || { kill -9 "$pid"; wait "$pid"; } 2>/dev/null
}

# finish: the target's input ends; it must not have been disturbed
finish() {
	local status
	echo >&"$input"
	wait_for 20 grep -q rounds "$work/said" || { kill -9 "$pid"; fail "it hangs: $(tail -n 1 "$work/said")"; return; }
	wait "$pid"
	status=$?
	pid=
	exec {input}>&-
	[ "$status" = 0 ] || fail "status $status: $(tail -n 1 "$work/said")"
}

# inject WORD N ARGUMENT…: the driver N times; each outcome must match WORD
inject() {
	local word=$1 n=$2 bad
	shift 2
	timeout -k 5 $((60 + n)) "$driver" -n "$n" "$@" >"$work/outcomes"
	[ "$(wc -l <"$work/outcomes")" = "$n" ] || { fail "the injector hangs"; return; }
	bad=$(grep -vE "^($word) " "$work/outcomes") && fail "not $word: $(head -n 1 <<<"$bad")"
	[ -z "$bad" ]
}

# "N done, stopped median/max ms, tries at most"
figures() {
	why=$(awk '{ print $2, $3 }' "$work/outcomes" | sort -n | awk '{ at[NR] = $1; if ($2 > m) m = $2 }
		END { printf "%d, stopped %.2f ms median, %.2f ms at most, %d tries at most", NR,
			at[int((NR + 1) / 2)] / 1e6, at[NR] / 1e6, m }')
}

# exit() while the probes are loaded: as alone. Without care LTTng's constructors run twice then.
exits_loading() {
	local watcher status=0 ms
	for ms in 000 002 005 010 015 030; do
		rm -rf "$work/f" && mkdir "$work/f" && touch "$work/f/go" || return
		"$faulty" leave-told "$work/f" >"$work/f/out" 2>&1 &
		pid=$!
		wait_for 20 test -e "$work/f/ready" || { fail 'it does not start'; return; }
		"$tftop" --no-config -b -p "$pid" >"$work/f/tftop" 2>&1 &
		watcher=$!
		wait_for 20 stage_works "$watcher" || fail 'tftop neither comes nor ends'
		sleep "0.$ms" && touch "$work/f/leave"
		wait_for 10 gone "$pid" || { fail "it hangs, after $ms ms"; kill -KILL "$pid"; }
		wait "$pid" || status=$?
		wait "$watcher"
		[ "$status" = 7 ] && [ ! -s "$work/f/out" ] || { fail "after $ms ms: status $status: $(tail -n 1 "$work/f/out")"; return; }
	done
	pid=
}
# tftop and its daemons with few descriptors, with little memory: one line, and the program as alone.
starved() {
	local limit words
	for limit in nofile=6 nofile=20 as=160000000 as=300000000; do
		rm -rf "$work/f" && mkdir "$work/f" && touch "$work/f/go" || return
		"$faulty" none "$work/f" >"$work/f/out" 2>&1 &
		pid=$!
		wait_for 20 test -e "$work/f/ready" || { fail 'it does not start'; return; }
		timeout -k 5 30 prlimit "--$limit" "$tftop" --no-config -b -p "$pid" >"$work/f/tftop" 2>"$work/f/said"
		[ $? = 125 ] || fail "$limit: tftop's status: $?"
		words=$(grep -c '^tftop: ' "$work/f/said")
		[ "$words" = 1 ] || fail "$limit: said: $(first_lines "$work/f/said")"
		wait "$pid" && [ ! -s "$work/f/out" ] || fail "$limit: status $?: $(tail -n 1 "$work/f/out")"
	done
	pid=
}
stage_works() { grep -qs tftop-attach "/proc/$pid/task/"*/comm || gone "$1"; }

undisturbed() {
	start "$1" || return
	: >"$work/calls" && mkdir "$work/fresh" || return
	inject done "$tries" -u "$work/fresh" "$pid" "$library" "$work/calls" && finish || return
	[ "$(wc -l <"$work/calls")" = "$tries" ] || { fail "$(wc -l <"$work/calls") calls"; return; }
	figures
}

# tftop's death, at any moment and in the midst of the call: the thread finds its way
# back alone
killed() {
	start "$1" || return
	timeout -k 5 120 "$driver" -n "$tries" -k 3000 "$pid" "$library" >"$work/outcomes" &&
		grep -qv '^killed 0 ' "$work/outcomes" || { fail "the driver: $(cat "$work/outcomes")"; return; }
	timeout -k 5 120 "$driver" -n "$tries" -k 1 "$pid" "$library" die >"$work/outcomes" &&
		grep -qx "killed $tries of $tries" "$work/outcomes" || { fail "in the call: $(cat "$work/outcomes")"; return; }
	finish
}

# With one processor for all, what tftop lent the thread is gone with it, although the program
# never sleeps.
killed_alone() {
	local cpu
	cpu=$(awk '/^Cpus_allowed_list/ { split($2, first, /[-,]/); print first[1] }' /proc/self/status)
	start heap taskset -c "$cpu" || return
	timeout -k 5 120 taskset -c "$cpu" "$driver" -n "$tries" -k 1 "$pid" "$library" die >"$work/outcomes" &&
		grep -qx "killed $tries of $tries" "$work/outcomes" || { fail "in the call: $(cat "$work/outcomes")"; return; }
	# its priority as stat has it, where real-time ones are negative
	is "its priority" "$(cut -d' ' -f18 "/proc/$pid/stat")" 20 && finish
}

# A signal that comes while the thread is away interrupts the call it waits in.
signalled() {
	local i
	start reads || return
	for ((i = 1; i <= tries; i++)); do
		inject done 1 "$pid" "$library" signal || return
		wait_for 10 grep -qx "interrupted $i" "$work/said" || { fail "signal $i did not interrupt: $(tail -n 1 "$work/said")"; return; }
	done
	# the one that the injector itself uses, from somebody else
	inject done "$tries" "$pid" "$library" urgent && finish
}

# The dynamic linker's lock is held: the thread is let go in its call and comes back.
left() {
	local ATTACH_TARGET_LOADS=$slow
	export ATTACH_TARGET_LOADS
	: >"$work/calls"
	start loads || return
	inject left 1 -c 50 "$pid" "$library" "$work/calls" || return
	grep -q "did not return from dlopen() in time" "$work/outcomes" || { fail "$(cat "$work/outcomes")"; return; }
	wait_for 20 grep -q loaded "$work/said" && wait_for 20 grep -qF "$library" "/proc/$pid/maps" ||
		{ fail "the thread has not come back"; return; }
	inject done 1 "$pid" "$library" "$work/calls" && finish
}

# A dozen others want the processors: who stands still for tftop goes before them (how soon is
# for a clock), and after it, or after tftop's death, is what it was.
hurried() {
	local others=() i at
	[ "$(id -u)" = 0 ] && chrt -f 1 true 2>/dev/null || { skip "no priorities to be had"; return; }
	start vectors || return
	for ((i = 0; i < 12; i++)); do
		setsid bash -c 'while :; do :; done' &
		others+=($!)
	done
	inject done 20 "$pid" "$library" && figures &&
		timeout -k 5 60 "$driver" -n 20 -k 1000 "$pid" "$library" >"$work/killed"
	at=$(awk '{ print $18 }' "/proc/$pid/stat")
	{ kill "${others[@]}"; wait "${others[@]}"; } 2>/dev/null
	[ "$at" = 20 ] || { fail "its priority is $at"; return; }
	awk '{ print $2 }' "$work/outcomes" | sort -n | awk -v timing="${TIMING:-}" '{ at[NR] = $1 }
		END { exit !(NR == 20 && (!timing || at[10] < 5e6 && at[20] < 50e6)) }' || { fail "$why"; return; }
	at=$why
	finish && why=$at
}

# One thread that computes in Python, as a training does; it knows its own sum.
python_busy() {
	local python
	python=$(command -v python3) || { skip "no python3"; return; }
	mkfifo "$work/input" && exec {input}<>"$work/input" && : >"$work/said" || return
	"$python" -c '
import select, sys
print("ready", flush=True)
rounds = bad = 0
while not select.select([0], [], [], 0)[0]:
    bad += sum({i: str(i) for i in range(20000)}.keys()) != 199990000
    rounds += 1
print(rounds, "rounds,", bad, "disturbances")
sys.exit(bad != 0 or rounds == 0)' <"$work/input" >"$work/said" 2>&1 {input}>&- &
	pid=$!
	wait_for 20 grep -q ready "$work/said" || { fail "python does not start"; return; }
	mkdir "$work/fresh" && inject done "$tries" -u "$work/fresh" "$pid" "$library" && finish && figures
}

# Ends of all kinds in the midst of it: the outcome is one with a reason, and in time.
execs() {
	start execs || return
	inject 'done|gone|refused|no-moment' "$tries" -f 100 "$pid" "$library" && finish
}
exits() {
	local i
	for i in $(seq "$tries"); do
		start sleep || return
		"$driver" -n 3 -f 50 "$pid" "$library" >"$work/outcomes" &
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		wait $! 2>/dev/null
		pid=
		exec {input}>&-
		grep -vE '^(done|gone|refused|no-moment) ' "$work/outcomes" && { fail "$(cat "$work/outcomes")"; return; }
		rm "$work/input"
	done
	true
}

# refused TEXT ARGUMENT…: the driver's reason has this text
refused() {
	local text=$1
	shift
	inject refused 1 "$@" && { grep -qF -- "$text" "$work/outcomes" || fail "$(cat "$work/outcomes")"; }
}
failed() {
	local text=$1
	shift
	inject failed 1 "$@" && { grep -qF -- "$text" "$work/outcomes" || fail "$(cat "$work/outcomes")"; }
}

refused_pids() {
	refused "'0' is not a PID" 0 "$library" && refused "'-3' is not a PID" -- -3 "$library" &&
		refused "there is no process '4190000'" 4190000 "$library" || return
	start heaps || return
	local task
	for task in /proc/"$pid"/task/*; do task=${task##*/}; [ "$task" != "$pid" ] && break; done
	refused "'$task' is a thread of process $pid" "$task" "$library" && finish
}
refused_zombie() {
	local zombie status
	mkfifo "$work/input" && exec {input}<>"$work/input" && : >"$work/zombie" || return
	# its parent does not wait for it
	"$(command -v python3)" -c '
import os, sys
p = os.fork()
p or os._exit(0)
print(p, flush=True)
sys.stdin.readline()' <"$work/input" >"$work/zombie" {input}>&- &
	wait_for 20 [ -s "$work/zombie" ] || { fail "no zombie"; return; }
	zombie=$(cat "$work/zombie")
	wait_for 20 grep -q '^State:.Z' "/proc/$zombie/status" && refused "has already ended" "$zombie" "$library"
	status=$?
	echo >&"$input"
	wait $!
	exec {input}>&-
	return "$status"
}
refused_kernel() {
	[ "$(sed -n 's/^Kthread:\t//p' /proc/2/status 2>/dev/null)" = 1 ] || [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ] ||
		{ skip "no kernel thread to be seen"; return; }
	refused "a kernel thread" 2 "$library"
}
refused_traced() {
	start sleep || return
	mkfifo "$work/tracer" && exec {tracer}<>"$work/tracer"
	: >"$work/traced"
	"$driver" -t "$pid" <"$work/tracer" >"$work/traced" {tracer}>&- &
	local tracing=$!
	wait_for 20 grep -q ready "$work/traced" || { fail "no tracer"; return; }
	refused "is already traced by process $tracing (inject_driver)" "$pid" "$library" || return
	echo >&"$tracer"
	wait $tracing
	exec {tracer}>&-
	inject done 1 "$pid" "$library" && finish
}
refused_stopped() {
	start sleep || return
	kill -STOP "$pid"
	wait_for 20 grep -q '^State:.T' "/proc/$pid/status" &&
		refused "is stopped: continue it first (kill -CONT $pid)" "$pid" "$library" || return
	kill -CONT "$pid"
	inject done 1 "$pid" "$library" && finish
}
refused_foreign() {
	[ "$(id -u)" = 0 ] || { skip "not root"; return; }
	start sleep || return
	mkdir "$work/own" && install "$driver" "$library" "$work/own" || return
	as_user "$work/own/inject_driver" "$pid" "$work/own/injected.so" >"$work/outcomes"
	grep -q "^refused .*belongs to uid 0, and tftop runs as uid" "$work/outcomes" || { fail "$(cat "$work/outcomes")"; return; }
	finish
}
# an ordinary user's program, by the user and by root
ordinary_user() {
	[ "$(id -u)" = 0 ] || { skip "not root"; return; }
	mkdir "$work/own" && install "$driver" "$target" "$library" "$work/own" || return
	local target=$work/own/attach_target
	mkdir -p "$tmp/home" && chmod 777 "$tmp/home"
	start waits setpriv --reuid=nobody --regid=nogroup --clear-groups || return
	inject done 2 "$pid" "$work/own/injected.so" || return
	as_user "$work/own/inject_driver" -n 2 "$pid" "$work/own/injected.so" >"$work/outcomes" ||
		[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" != 0 ] || { fail "$(cat "$work/outcomes")"; return; }
	finish
}
# Built here: not every machine can.
refused_static() {
	cc -static -o "$work/static" tests/programs/attach_target.c -include model/banned.h -I. -D_GNU_SOURCE -std=gnu11 -lpthread 2>/dev/null ||
		{ skip "no static libc"; return; }
	local target=$work/static
	start sleep && refused "a static program" "$pid" "$library" && finish
}
refused_32() {
	# without a libc: it says ready, waits for its input, says rounds
	printf '%s\n' '.globl _start' '.bss' 'byte: .skip 1' '.data' 'ready: .ascii "ready\n"' \
		'rounds: .ascii "rounds\n"' '.text' \
		'_start: mov $4, %eax; mov $1, %ebx; mov $ready, %ecx; mov $6, %edx; int $0x80' \
		'mov $3, %eax; xor %ebx, %ebx; mov $byte, %ecx; mov $1, %edx; int $0x80' \
		'mov $4, %eax; mov $1, %ebx; mov $rounds, %ecx; mov $7, %edx; int $0x80' \
		'mov $1, %eax; xor %ebx, %ebx; int $0x80' >"$work/narrow.s"
	gcc -m32 -nostdlib -static -o "$work/narrow" "$work/narrow.s" 2>"$work/gcc" ||
		fail "$(first_lines "$work/gcc")" || return
	local target=$work/narrow
	start sleep && refused "is not a 64-bit x86 program" "$pid" "$library" && finish
}
libraries() {
	start sleep || return
	local open=$work work=$work/own	# the case's folder is everybody's
	mkdir "$work"
	echo text >"$work/text.so"
	cp "$library" "$open/" && cp "$library" "$work/open.so" && chmod 666 "$work/open.so"
	cc -shared -fPIC -o "$work/empty.so" -x c /dev/null || return
	refused "cannot reach the library '$work/none.so': No such file" "$pid" "$work/none.so" &&
		refused "is not an absolute path" "$pid" none.so &&
		refused "could come from another user" "$pid" "$work/open.so" &&
		refused "could come from another user" "$pid" "$open/injected.so" &&
		refused "the argument has 4096 bytes" "$pid" "$library" "$(printf '%04096d' 1)" &&
		failed "$work/text.so: file too short" "$pid" "$work/text.so" &&
		failed "has no function 'tftop_injected'" "$pid" "$work/empty.so" &&
		failed "could not start: Input/output error" "$pid" "$library" "$work/none/at/all" &&
		inject done 1 "$pid" "$library" "" || return
	work=$open
	finish
}

# ---- the stage ----

# staged LINE…: the stage with these lines; what it reported is in $work/outcomes
staged() {
	mkdir -p "$work/run" && chmod 755 "$work/run" && : >"$work/late" && chmod 666 "$work/late" &&
		timeout -k 5 60 "$driver" -s "$work/run" "${copies[@]}" "$pid" "$stage" "$@" >"$work/outcomes"
}
copies=()
reported() {
	diff <(tail -n +2 "$work/outcomes") <(printf '%s\n' "$@") >"$work/diff" || fail "$(cat "$work/outcomes" "$work/diff")"
}
late() { [ "$(cat "$work/late")" = "$1" ] || fail "the probe saw: $(cat "$work/late")"; }
nothing_left() { [ -z "$(ls -A "$work/run")" ] || fail "left: $(ls -A "$work/run")"; }

stage_reports() {
	start waits || return
	mkdir "$work/own"
	echo text >"$work/own/text.so"
	staged "set LATE_OUT=$work/late" 'set LATE_SET=a=b c' 'lend LATE_LENT=x' "load $work/own/text.so" \
		"load $probe" "load $library" &&
		reported 'stage 2 ' "load 3 0 $work/own/text.so: file too short" 'load 5 0 ' 'load 4 0 ' &&
		late 'set a=b c lent x blocked 1' || return
	# again: what was lent is gone, what was set stays, the probe is asked again
	staged 'set LATE_RESULT=-3' "load $probe" && reported 'stage 2 ' 'load 5 -3 it was told so' &&
		late 'set a=b c lent none blocked 1' && nothing_left && finish
}
stage_refuses() {
	start sleep || return
	staged "load $probe" 'set NOTHING' && { fail "a line without a value was taken"; return; }
	reported 'stage 3 set NOTHING' || return
	staged "load relative.so" && { fail "a relative path was taken"; return; }
	reported 'stage 3 load relative.so' || return
	staged "set A=$(printf '%05000d' 1)" && { fail "an argument that does not fit was taken"; return; }
	failed "could not start: Invalid argument" "$pid" "$stage" "none" &&
		failed "could not start: Bad file descriptor" "$pid" "$stage" "report $work/none
" && nothing_left && finish
}
# A program with files of its own: in a container, say.
stage_copies() {
	[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { skip "no mount namespace to be had"; return; }
	local copies=(-C) target=$work/target
	cp "$O/tests/attach_target" "$target"
	start sleep unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$O" || return
	refused "cannot reach the library" "$pid" "$stage" "none" || return
	staged "set LATE_OUT=$work/late" "load $probe" && reported 'stage 2 ' 'load 5 0 ' &&
		late 'set none lent none blocked 1' && nothing_left || return
	[ -z "$(ls -d /tmp/tftop-[0-9a-f]* 2>/dev/null | grep -E '/tftop-[0-9a-f]{16}$')" ] || { fail "left a folder in /tmp"; return; }
	finish
}
# The stage is at work for an earlier tftop: the next one waits for it.
stage_busy() {
	local first second early=
	start sleep && mkfifo -m 666 "$work/gate" || return
	staged "set LATE_OUT=$work/late" "lend LATE_GATE=$work/gate" "load $probe" &
	first=$!
	wait_for 20 grep -qs blocked "$work/late" && inject busy 3 "$pid" "$stage" none ||
		{ kill "$first"; fail "the stage is not busy: $(cat "$work/outcomes")"; return; }
	"$tftop" --no-config -b --for 100ms -p "$pid" >"$work/tftop" 2>&1 &
	second=$!
	pause 1
	gone "$second" && early="it did not wait: $(first_lines "$work/tftop")"
	echo >"$work/gate"
	wait "$first" "$second"
	is "tftop's status" $? 0 && is 'before the gate was open' "$early" '' && finish
}
# Others use and change the environment meanwhile: no value of theirs is lost.
stage_environment() {
	local i
	start environment || return
	for ((i = 0; i < tries; i++)); do
		staged "set LATE_OUT=$work/late" "set LATE_SET=$i" "load $probe" &&
			late "set $i lent none blocked 1" || return
	done
	finish
}

# LTTng's thread, asleep: its sleep is over as if its time were; no other's is.
awake() {
	start naps || return
	wait_for 20 grep -qE '^(230|35|219) ' "/proc/$pid/syscall" || fail "it does not sleep" || return
	[ "$("$driver" -w $$)" = 0 ] || fail "another's thread was woken" || return
	[ "$("$driver" -w "$pid")" = 1 ] || fail "it was not woken" || return
	finish
}

for mode in heap heaps sleep waits vectors signals mixed; do
	one "undisturbed_$mode" undisturbed "$mode"
done
one hurried hurried
how=case_timed
one hurried-soon hurried
how=case_run
one python_busy python_busy
for mode in heap sleep waits vectors signals mixed; do
	one "killed_$mode" killed "$mode"
done
one killed_alone killed_alone
one signalled signalled
one left left
one execs execs
one exits exits
one exits_loading exits_loading
one starved starved
one refused_pids refused_pids
one refused_zombie refused_zombie
one refused_kernel refused_kernel
one refused_traced refused_traced
one refused_stopped refused_stopped
one refused_foreign refused_foreign
one refused_static refused_static
one refused_32 refused_32
one ordinary_user ordinary_user
one libraries libraries
one awake awake
for name in reports refuses copies busy environment; do
	one "stage_$name" "stage_$name"
done
suite_end
