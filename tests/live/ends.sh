#!/bin/bash
# SPDX-License-Identifier: MIT
# What tftop says of ends that it does not see, or of which something is missing: processes that
# PROGRAM leaves running, a process of which tftop is not the parent, SIGKILL; and of processes
# that were started without the probes.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$train"

# get FILE EXPRESSION: of a JSON report, j
get() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2"; }
has_text() { [ -s "$1" ]; }
# one NAME FUNCTION…: a case; the processes of $strays are ended after it
one() {
	strays=()
	case_run "$@"
	[ ${#strays[@]} = 0 ] || { kill -KILL "${strays[@]}"; wait "${strays[@]}"; } 2>/dev/null
}
# leaves OPTION… -- MAPPED COMMAND…: tftop around a shell that leaves COMMAND running once it has
# mapped a file of such a name, and exits with 3. Sets stray.
leaves() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	# shellcheck disable=SC2016
	timeout -k 5 120 "$tftop" -b --json="$work/r.json" "${options[@]}" -- sh -c '
		file=$0 mapped=$1; shift; "$@" & echo $! >"$file"
		until grep -q "$mapped" "/proc/$!/maps"; do sleep 0.02; done; exit 3' \
		"$work/pid" "$@" >"$work/out" 2>"$work/err"
	is "tftop's status" $? 3 && stray=$(cat "$work/pid") && strays+=("$stray")
}

# A process without probes: -p finds it.
left() {
	leaves -- bin/sleep sleep 100 || return
	is left "$(get "$work/r.json" "[(l['pid'], l['command'], l['joins']) for l in j['run']['left']]")" \
		"[($stray, 'sleep 100', False)]" || return
	grep -q "^  left running  pid $stray   sleep 100   (watch it: tftop -p $stray)\$" "$work/err" ||
		{ fail "not in the report: $(first_lines "$work/err")"; return; }
	get "$work/r.json" "[m['text'] for m in j['messages']]" |
		grep -q "PROGRAM left a process running: $stray (sleep 100)" || fail 'no message'
}
# One that is still busy with its own end, as Python's fork server is with what it has loaded, is not
# left: it works for most of a second after the program that it waits for has ended.
ends_slowly='import os, sys, time
parent = os.getppid()
open(sys.argv[1], "w").write(str(os.getpid()))
while os.getppid() == parent:
    time.sleep(0.002)
until = time.monotonic() + 0.9
while time.monotonic() < until:
    pass'
ending() {
	# shellcheck disable=SC2016
	timeout -k 5 120 "$tftop" -b --json="$work/r.json" -- sh -c \
		'python3 -c "$1" "$0" & until [ -s "$0" ]; do sleep 0.02; done; exit 3' "$work/pid" "$ends_slowly" \
		>"$work/out" 2>"$work/err"
	is "tftop's status" $? 3 && is left "$(get "$work/r.json" "j['run'].get('left')")" None &&
		is messages "$(get "$work/r.json" "[m['text'] for m in j['messages'] if 'left' in m['text']]")" '[]' &&
		is 'it has ended' "$(gone "$(cat "$work/pid")" && echo yes)" yes
}
# One with probes: --join watches it, and the kernels are there. A recording says the same.
left_and_joined() {
	leaves -o "$work/rec" -- "/control$" "$train" --steps 4000 --delay-ms 20 --quiet || return
	is joins "$(get "$work/r.json" "[l['joins'] for l in j['run']['left']]")" '[True]' || return
	grep -q "(watch it: tftop --join $stray)" "$work/err" || { fail 'not told how to join it'; return; }
	"$tftop" --json="$work/again.json" "$work/rec" >"$work/out" 2>&1
	is 'left in the recording' "$(get "$work/again.json" "j['run']['left'] == json.load(open('$work/r.json'))['run']['left']")" True || return
	timeout -k 5 120 "$tftop" --json="$work/join.json" --until=kernel --join "$stray" >"$work/out" 2>&1
	is 'status of --join' $? 0 && is 'what it watched' \
		"$(get "$work/join.json" "j['run']['pid'], sum(k['count'] for k in j['kernels']) > 0")" "($stray, True)"
}
# One that loads its probes when tftop has gone: another tftop watches it nevertheless.
left_early() {
	# shellcheck disable=SC2016
	leaves -- libc sh -c 'until [ -e "$0/go" ]; do sleep 0.05; done; exec "$@"' "$work" \
		"$train" --steps 4000 --delay-ms 20 --quiet || return
	touch "$work/go"
	wait_for 20 grep -q libtftop-opencl "/proc/$stray/maps" || { fail 'its probe is not loaded'; return; }
	for option in --join -p --join; do
		timeout -k 5 120 "$tftop" --json="$work/join.json" --until=kernel $option "$stray" >"$work/out" 2>&1
		is "status of $option" $? 0 && is "what $option watched" \
			"$(get "$work/join.json" "j['run']['pid'], sum(k['count'] for k in j['kernels']) > 0")" "($stray, True)" || return
		[ "$(uname -m)" = x86_64 ] || return 0
	done
}
# A tftop below PROGRAM, its launcher, its keeper, its daemons and its program are not PROGRAM's.
left_by_others() {
	mkfifo "$work/in"
	exec {hold}<>"$work/in"
	# shellcheck disable=SC2016
	timeout -k 5 120 "$tftop" -b --json="$work/r.json" -- sh -c '
		("$1" -b -- sh -c "echo \$\$ >$0/inner; exec cat $0/in" >"$0/inner.out" 2>&1 &)
		until [ -s "$0/inner" ]; do sleep 0.05; done
		(sleep 100 & echo $! >"$0/pid"); exit 3' "$work" "$tftop" >"$work/out" 2>"$work/err"
	is "tftop's status" $? 3
	strays+=("$(cat "$work/pid")" "$(cat "$work/inner")")
	exec {hold}>&-
	is left "$(get "$work/r.json" "[l['pid'] for l in j['run'].get('left', [])]")" "[$(cat "$work/pid")]"
}
# Nothing was left: nothing is said.
left_nothing() {
	timeout -k 5 60 "$tftop" -b --json="$work/r.json" -- sh -c 'sleep 0 & wait; exit 3' >"$work/out" 2>"$work/err"
	is "tftop's status" $? 3 && is left "$(get "$work/r.json" "'left' in j['run'], j['run']['ended']")" '(False, True)' &&
		! grep -q 'left' "$work/err" || fail "$why said: $(first_lines "$work/err")"
}
# --join: all that it does is in the report and the recording, and the status is PROGRAM's.
stays() {
	leaves --join -o "$work/rec" -- "/control$" "$train" --steps 12 --quiet || return
	gone "$stray" || { fail 'it still runs'; return; }
	is 'steps, left, status' "$(get "$work/r.json" "j['steps']['count'], 'left' in j['run'], j['run']['exit_status']")" '(12, False, 3)' || return
	get "$work/r.json" "[m['text'] for m in j['messages']]" |
		grep -q "PROGRAM has ended with status 3; tftop stays until .* process $stray " || { fail 'not told'; return; }
	"$tftop" --json="$work/again.json" "$work/rec" >"$work/out" 2>&1
	is 'steps of the recording' "$(get "$work/again.json" "j['steps']['count']")" 12
}
# What the one that was left has started belongs to it; on the screen as well.
stays_on_the_screen() {
	# shellcheck disable=SC2016
	timeout -k 5 120 "$tftop" --headless -q --join -- sh -c \
		'(sh -c "(sleep 1; touch $0/second) & sleep 0.5; touch $0/first" &); exit 3' "$work" >"$work/out" 2>&1
	is "tftop's status" $? 3 && [ -e "$work/first" ] && [ -e "$work/second" ] || fail "$why it did not stay"
}
catches_interrupts() { (( 0x$(sed -n 's/^SigCgt:\t//p' "/proc/$1/status") & 2 )); }
# stays_told SIGNAL: ends staying, not what it stays for; the report is complete
stays_told() {
	local watcher
	rm -f "$work/pid" "$work/log"
	# bash ignores SIGINT in what it starts in the background
	env --default-signal=INT "$tftop" -b --json="$work/r.json" --debug "$work/log" --join -- sh -c \
		'(sleep 100 & echo $! >"$0"); exit 3' "$work/pid" >"$work/out" 2>"$work/err" &
	watcher=$!
	wait_for 20 grep -qs 'tftop stays until' "$work/log" || fail 'it does not stay'
	strays+=("$(cat "$work/pid")")
	wait_for 20 catches_interrupts $watcher || { fail 'Ctrl-C does not end it'; return; }
	kill -"$1" $watcher
	wait $watcher
	is "tftop's status after $1" $? 3 || return
	! gone "${strays[-1]}" || { fail "$1 ended what tftop stayed for"; return; }
	is "left after $1" "$(get "$work/r.json" "[l['pid'] for l in j['run']['left']], j['trust']['settled']")" "([${strays[-1]}], True)"
}
stays_until_told() { stays_told TERM && stays_told INT; }
stays_until_quit() {
	printf '%s\n' 'key 8' 'wait-for tftop.stays.until 20s' 'quit leave' >"$work/script"
	timeout -k 5 120 "$tftop" --headless --script "$work/script" --join -- sh -c \
		'(sleep 100 & echo $! >"$0"); exit 3' "$work/pid" >"$work/out" 2>&1
	is "tftop's status" $? 3 || { fail "$why $(first_lines "$work/out")"; return; }
	strays+=("$(cat "$work/pid")")
	! gone "${strays[-1]}" || fail 'it was ended'
}

# Of a process that tftop attached to it knows that it ended, not how.
attached() {
	[ "$(uname -m)" = x86_64 ] || { skip 'the injector is for x86-64'; return; }
	"$train" --steps 4000 --delay-ms 20 >"$work/out" 2>&1 &
	strays=($!)
	wait_for 20 grep -q '^step 0 ' "$work/out" || { fail 'it does not start'; return; }
	"$tftop" -b --json="$work/r.json" -o "$work/rec" --debug "$work/log" -p "${strays[0]}" >"$work/said" 2>"$work/err" &
	watcher=$!
	wait_for 20 grep -qs 'PROGRAM is process' "$work/log" || { fail 'not attached'; return; }
	kill -KILL "${strays[0]}"
	wait "${strays[0]}" 2>/dev/null
	wait "$watcher"
	is "tftop's status" $? 0 || return
	head -n 1 "$work/err" | grep -q '   ended, exit status unknown$' || { fail "said: $(head -n 1 "$work/err")"; return; }
	is 'run' "$(get "$work/r.json" "j['run']['ended'], 'exit_status' in j['run'], 'signal' in j['run']")" '(True, False, False)' || return
	"$tftop" -b "$work/rec" 2>&1 | head -n 1 | grep -q '   ended, exit status unknown$' || { fail 'not in the recording'; return; }
	printf '%s\n' 'wait-settled 20s' "save-screen $work/screen" quit >"$work/script"
	"$tftop" --headless --size 160x30 --script "$work/script" "$work/rec" >"$work/said" 2>&1
	grep -q 'ended, exit status unknown' "$work/screen" || fail "on the screen: $(head -n 2 "$work/screen")"
}
# One that runs on when tftop detaches has not ended.
attached_and_left() {
	[ "$(uname -m)" = x86_64 ] || { skip 'the injector is for x86-64'; return; }
	"$train" --steps 4000 --delay-ms 20 >"$work/out" 2>&1 &
	strays=($!)
	wait_for 20 grep -q '^step 0 ' "$work/out" || { fail 'it does not start'; return; }
	timeout -k 5 60 "$tftop" -b --json="$work/r.json" --until=kernel -p "${strays[0]}" >"$work/said" 2>"$work/err"
	head -n 1 "$work/err" | grep -q '   not ended$' || { fail "said: $(head -n 1 "$work/err")"; return; }
	is ended "$(get "$work/r.json" "'ended' in j['run']")" False
}

# without PROGRAM…: a process under tftop that has none of tftop's variables; sets said, the message
without() {
	local watcher
	rm -f "$work/pid" "$work/log"
	TFTOP_MARK=w$$ "$tftop" -b --json="$work/r.json" --debug "$work/log" -- "$@" >"$work/out" 2>"$work/err" &
	watcher=$!
	wait_for 20 has_text "$work/pid" && strays+=("$(cat "$work/pid")") || { fail 'it does not start'; return; }
	wait_for 20 grep -qs 'without tftop.s variables' "$work/log"
	kill -KILL "${strays[-1]}"
	wait $watcher
	said=$(get "$work/r.json" "[m['text'] for m in j['messages']]")
	[[ $said == *"(process ${strays[-1]}) uses what the opencl probe is for, but was started without tftop's variables"*"'tftop -p ${strays[-1]}'"* ]] ||
		fail "said: $said"
}
clean=(env -i "PATH=$PATH" "HOME=$HOME")
# shellcheck disable=SC2016
own_pid='echo $$ >"$0"; exec "$@"'
unreached() {
	# PROGRAM itself, then a child
	without "${clean[@]}" sh -c "$own_pid" "$work/pid" "$train" --steps 4000 --delay-ms 20 --quiet || return
	! [[ $said == *'loaded no runtime'* ]] || { fail "also said: $said"; return; }
	without sh -c '"$@"; exit 0' sh "${clean[@]}" sh -c "$own_pid" "$work/pid" "$train" --steps 4000 --delay-ms 20 --quiet
}
# Ordinary children, with tftop's variables or not, use nothing that a probe is for.
unreached_ordinary() {
	timeout -k 5 60 "$tftop" -b --json="$work/r.json" -- sh -c \
		'env -i sleep 1.5 & sleep 1.5 & "$0" --steps 4 --delay-ms 200 --quiet; wait' "$train" >"$work/out" 2>&1
	is "tftop's status" $? 0 && is 'messages' "$(get "$work/r.json" "[m for m in j['messages'] if 'variables' in m['text']]")" '[]'
}

# What a batch of the runtime holds is lost with SIGKILL, up to its size; by exit() nothing is.
killed() {
	local most
	most=$(sed -n 's/^#define TFT_OPS_MAX //p' probes/schema/records.h)
	# shellcheck disable=SC2016
	timeout -k 5 60 "$tftop" -b --json="$work/r.json" -o "$work/rec" -- sh -c '(
		until grep -q "^step 2 " "$0/steps" 2>/dev/null; do sleep 0.05; done; kill -KILL $$) & exec "$1" --steps 4000 >"$0/steps"' \
		"$work" "$train" >"$work/out" 2>"$work/err"
	is "tftop's status" $? 137 || return
	grep -q "^  ! cut off     PROGRAM was killed: up to $most of the last ops of each thread" "$work/err" ||
		{ fail "said: $(grep -A 3 ^trust "$work/err" | tr '\n' ';')"; return; }
	is 'cut off' "$(get "$work/r.json" "j['trust']['cut_off'], j['trust']['lost_events']")" \
		"({'processes': 1, 'ops_per_thread': $most}, 0)" || return
	"$tftop" --json="$work/again.json" "$work/rec" >"$work/out" 2>&1
	is 'in the recording' "$(get "$work/again.json" "j['trust']['cut_off']['ops_per_thread']")" "$most" || return
	timeout -k 5 60 "$tftop" --json="$work/r.json" -- "$train" --steps 2 --quiet >"$work/out" 2>&1
	is 'cut off by exit()' "$(get "$work/r.json" "'cut_off' in j['trust']")" False
}

for c in left ending left_and_joined left_early left_by_others left_nothing stays stays_on_the_screen stays_until_told \
	stays_until_quit attached attached_and_left unreached unreached_ordinary killed; do
	one "$c" "$c"
done
suite_end
