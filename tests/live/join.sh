#!/bin/bash
# SPDX-License-Identifier: MIT
# tftop --join: a program that was launched by a tftop and left running is watched again, by
# nobody going into it, and computes what it would have computed.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_pytorch join
export PYTHONDONTWRITEBYTECODE=1

# launch [COMMAND…]: the program under tftop, which leaves it running; pid
launch() {
	mkdir -p "$work/steps" && printf '%s\n' 'wait-for sigmoid 60s' 'quit leave' >"$work/script"
	"$tftop" --headless --script "$work/script" -- "$@" "$python" tests/programs/attach_steps.py \
		"$work/steps" >"$work/first" 2>&1
	pid=$(cat "$work/steps/ready") && [ -n "$pid" ] && ! gone "$pid" || fail "not left: $(first_lines "$work/first")"
}
# join NAME OPTION…: returns when it is joined
join() {
	local name=$1
	shift
	"$tftop" --debug "$work/$name.log" --json="$work/$name" --join "$@" >"$work/$name.out" 2>&1 &
	watcher=$!
	wait_for 20 joined "$name" || fail "not joined: $(tail -n 1 "$work/$name.out" "$work/$name.log")"
}
joined() { grep -qs 'PROGRAM is process' "$work/$1.log" || ! kill -0 "$watcher" 2>/dev/null; }
steps() { touch "$work/steps/$1" && wait_for 20 test -e "$work/steps/$2" || fail "$1: no steps"; }
leave() {
	kill -TERM "$watcher"
	wait "$watcher"
	is "tftop's status" $? 0
}
report() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/$1" "$2"; }
# counts NAME N: of the counted steps each op is there N times
counts() {
	is mm "$(report "$1" "sum(o['count'] for o in j['ops'] if o['name'] == 'mm')")" "$2" &&
		is tanh "$(report "$1" "sum(o['count'] for o in j['ops'] if o['name'] == 'tanh')")" "$2" &&
		is lost "$(report "$1" "j['trust']['lost_events']")" 0
}
finish() {
	touch "$work/steps/end"
	wait_for 20 gone "$pid" && is 'what it computed' "$(sort -u "$work/steps/result")" "$(cat "$tmp/alone")"
}
# no_link: what the program looks at is free again
no_link() { ! [ -L "$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^LTTNG_HOME=//p')" ]; }
cleared() { ! grep -q '/control$' "/proc/$pid/maps"; }
one() {
	pid= watcher= holder=
	case_run "$@"
	[ -z "$watcher$pid$holder" ] || { kill -KILL $watcher $pid $holder; wait $watcher $holder; } 2>/dev/null
}

# By its PID, then as the only one; each sees all of its own time and nothing of the other's.
joined_twice() {
	launch && join one "$pid" && steps go done && leave && counts one 100 &&
		is pid "$(report one "j['run']['pid']")" "$pid" &&
		join two "$pid" && steps again again.done && leave && counts two 100 && finish
}
# A tracer is on it, so nobody can go into it (as where kernel.yama.ptrace_scope is 1): -p cannot,
# --join can, and waits for LTTng's own sleep.
holder_is='import ctypes, os, sys
seize = ctypes.CDLL(None, use_errno=True).ptrace(0x4206, int(sys.argv[1]), None, None)
open(sys.argv[2], "w").close() if seize == 0 else sys.exit(1)
sys.stdin.read()'
untouched() {
	launch || return
	exec {hold}<> <(:)
	python3 -c "$holder_is" "$pid" "$work/held" <&$hold & holder=$!
	wait_for 10 test -e "$work/held" || { fail 'no tracer'; return; }
	"$tftop" -b -p "$pid" >"$work/said" 2>&1
	is "status of -p" $? 125 && grep -q 'is tracing the process' "$work/said" || { fail "$(first_lines "$work/said")"; return; }
	join one "$pid" && steps go done && grep -q "^TracerPid:.$holder\$" "/proc/$pid/status" && leave && counts one 100 &&
		join two "$pid" && steps again again.done && leave && counts two 100 || return
	kill $holder
	wait $holder 2>/dev/null
	holder=
	finish
}
# tftop is killed while it has joined: the program runs on and is joined again.
killed() {
	launch && join one "$pid" && steps go done || return
	kill -KILL "$watcher"
	wait "$watcher" 2>/dev/null
	wait_for 5 cleared && no_link || { fail 'the link or the page stays'; return; }
	join two "$pid" && steps again again.done && leave && counts two 100 && wait_for 5 no_link && finish
}
# Its keeper is killed: tftop itself takes the link away.
keeper_killed() {
	launch && join one "$pid" || return
	holder=$(find_in "$watcher" tftop-keeper)
	kill -KILL "$holder" && holder= && kill -TERM "$watcher"
	wait "$watcher"
	no_link || { fail 'the link stays'; return; }
	join two "$pid" && steps go done && leave && counts two 100 && finish
}
says() {
	local pattern=$1
	shift
	"$@" >"$work/said" 2>&1
	is "status of '$pattern'" $? 125 && grep -qE -- "$pattern" "$work/said" || fail "no '$pattern': $(first_lines "$work/said")"
}
# What was never under a tftop, and what is under one.
refused() {
	sleep 100 & holder=$!
	says "^tftop: no tftop left process $holder running: 'tftop -p $holder'" "$tftop" --join "$holder" &&
		says '^tftop: no tftop left process 1 ' "$tftop" --join 1 && launch && join one "$pid" &&
		says "^tftop: a tftop already watches process $pid" "$tftop" --join "$pid" && steps go done && leave && finish
}
# A daemon that is about to end is not a program that was left.
ending() {
	mkfifo "$work/in" && exec {hold}<>"$work/in" || return
	python3 tests/programs/ending_keeper.py "$work" <"$work/in" >"$work/daemon" {hold}>&- & keeper=$!
	wait_for 20 grep -qs . "$work/daemon" || { fail 'it does not start'; return; }
	says "^tftop: no tftop left process $(cat "$work/daemon") running" "$tftop" --join "$(cat "$work/daemon")" || return
	exec {hold}>&-
	wait $keeper
}
# Of an ordinary user's: the only one, then a list of two; another user joins none of them.
users() {
	# two users of whom nothing else runs, not even of the same suite beside this one
	local user=$((20000 + $$ % 20000)) other=$((40000 + $$ % 20000)) mine others
	mine=(setpriv --reuid=$user --regid=$user --clear-groups --reset-env env HOME="$work" LC_ALL=C
		PATH="$PATH" XDG_RUNTIME_DIR="$work/run")
	[ "$(id -u)" = 0 ] || { skip 'needs root'; return; }
	[ -x "$train" ] || { skip 'no OpenCL'; return; }
	make_user_copy && chmod a+rx "$tmp" && mkdir -m 700 "$work/run" && chown $user "$work/run" || return
	others=(setpriv --reuid=$other --regid=$other --clear-groups "$user_copy/tftop" -b --join)
	printf '%s\n' 'wait-kernels 20 60s' 'quit leave' >"$work/script"
	# beside it, commands that come and go: none of these is a program that was left
	# shellcheck disable=SC2016
	local short='(n=0; while [ -e "${0%/*}" ] && [ $n -lt 20000 ]; do sleep 0.003; n=$((n + 1)); done) & '
	left() {
		rm -f "$work/pid"
		"${mine[@]}" "$user_copy/tftop" --headless --script "$work/script" -- \
			sh -c "$short"'echo $$ >"$0" && exec "$@"' "$work/pid" "$user_copy/train_opencl" \
			--steps 30000 --delay-ms 20 --batch 16 >"$work/first" 2>&1
		cat "$work/pid"
	}
	pid=$(left) || { fail "not left: $(first_lines "$work/first")"; return; }
	says "^tftop: no tftop left process $pid running" "${others[@]}" "$pid" &&
		says '^tftop: no tftop left a program of yours running' "${others[@]}" || return
	"${mine[@]}" "$user_copy/tftop" --json=- --join --for 500ms >"$work/one" 2>"$work/one.out"
	is "tftop's status" $? 0 || { fail "$(first_lines "$work/one.out")"; return; }
	is 'pid, kernels' "$(report one "j['run']['pid'], sum(k['count'] for k in j['kernels']) > 3")" "($pid, True)" || return
	holder=$(left) || { fail 'no second'; return; }
	says '^tftop: tftop left 2 programs of yours running: give --join the PID' "${mine[@]}" "$user_copy/tftop" -b --join &&
		grep -qE "^ +$pid  .*train_opencl" "$work/said" && grep -qE "^ +$holder  .*train_opencl" "$work/said" || return
	"$tftop" --json="$work/root" --join "$holder" --for 500ms >"$work/root.out" 2>&1
	is "root's status" $? 0 && is "root's" "$(report root "j['run']['pid'], sum(k['count'] for k in j['kernels']) > 3")" \
		"($holder, True)" || fail "$why $(first_lines "$work/root.out")"
}

mkdir "$tmp/steps" && touch "$tmp/steps/go"
"$python" tests/programs/attach_steps.py "$tmp/steps" & alone=$!
wait_for 60 test -e "$tmp/steps/done"; touch "$tmp/steps/end"; wait $alone; cp "$tmp/steps/result" "$tmp/alone"
for c in joined_twice untouched killed keeper_killed refused ending users; do one "$c" "$c"; done
suite_end
