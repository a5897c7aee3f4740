#!/bin/bash
# SPDX-License-Identifier: MIT
# However tftop ends, its program ends undisturbed and nothing of tftop's is
# left: 2 s later on a machine that does nothing else. KILL_RUNS runs (10): every second one SIGKILLs tftop at a
# random moment from the very start on, the others end it in the other ways.
# KILL_SEED repeats the moments of an earlier run.
#
# Processes are told by a variable in their environment, never by name.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$train"
runs=${KILL_RUNS:-10}
RANDOM=${KILL_SEED:=$$}
echo "# seed KILL_SEED=$KILL_SEED"
steps=60
program=(--steps "$steps" --delay-ms 20 --batch 16)
# Gets the program's exit status into a file, and hands signals on to it; the
# program is a job of its own, so that it does not get those of the group twice.
# shellcheck disable=SC2016
wrapper='set -m
echo $$ >wrapper.pid
"$@" <&0 &
child=$!
for s in INT TERM HUP; do trap "kill -$s $child" $s; done
until wait $child; status=$?; ! kill -0 $child 2>/dev/null; do :; done
echo $status >rc.new; mv rc.new rc; exit $status'

marked() { pids_marked "TFTOP_KILL_TEST=$mark"; }

# Marked processes that have no business to be there: all but the program, its
# wrapper and, as long as these live, the launcher above them.
strays() {
	local wrapper_pid launcher p parent exe
	wrapper_pid=$(cat wrapper.pid 2>/dev/null)
	launcher=
	[ -n "$wrapper_pid" ] && launcher=$(awk '/^PPid:/ { print $2 }' "/proc/$wrapper_pid/status" 2>/dev/null)
	for p in $(marked); do
		parent=$(awk '/^PPid:/ { print $2 }' "/proc/$p/status" 2>/dev/null) || continue
		[ -n "$wrapper_pid" ] && [ -n "$launcher" ] &&
			[ "$p" = "$wrapper_pid" -o "$p" = "$launcher" -o "$parent" = "$wrapper_pid" ] && continue
		exe=$(readlink "/proc/$p/exe" 2>/dev/null) || continue
		{ echo "$p ${exe##*/} $(tr "\0" " " <"/proc/$p/cmdline" | cut -c1-60)"; } 2>/dev/null
	done
}
no_strays() { [ -z "$(strays)" ]; }
nothing_marked() { [ -z "$(marked)" ]; }

# Folders and sockets: what is in the places that were given to tftop, and what
# its processes named as theirs while they were seen.
remember_places() {
	local p
	for p in $(marked); do
		{ tr '\0' '\n' <"/proc/$p/environ" | sed -n 's/^LTTNG_HOME=//p'; } 2>/dev/null
	done >>places.seen
}
places() {
	find "$work/run" "$work/tmp" -mindepth 1 2>/dev/null
	[ -f places.seen ] && sort -u places.seen | while read -r place; do
		[ -n "$place" ] && [ -e "$place" ] && echo "$place"
	done
	# a folder that nobody holds a lock on belongs to a tftop that is dead
	for place in /run/tftop-?????? /tmp/tftop-?????? /tmp/tftop.*/tftop-??????; do
		[[ $place != "$tmp" && $before != *"|$place|"* ]] && is_unheld "$place" && echo "$place"
	done
	grep -F "$work" /proc/net/unix
}
no_places() { [ -z "$(places)" ]; }

is_running() { ! gone "$tftop_pid"; }
has_daemons() {
	remember_places
	marked | while read -r p; do cat "/proc/$p/comm" 2>/dev/null; done | sort -u | grep -q lttng-relayd
}
has_kernels() { [ -s program.out ]; }

# start MODE: tftop on the program, in the background; sets tftop_pid
start() {
	local mode=$1 command
	command=(bash -c "$wrapper" wrapper "$train" "${program[@]}" --truth truth.json)
	# a shell starts its jobs with SIGINT ignored
	local env=("${runner[@]}" env --default-signal=INT,QUIT TFTOP_KILL_TEST="$mark" XDG_RUNTIME_DIR="$work/run"
		TMPDIR="$work/tmp" TERM=xterm-256color)
	case $mode in
	batch)
		"${env[@]}" setsid bash -c 'echo $$ >tftop.pid; exec "$@"' tftop-starter \
			"$tftop" --json=report.json -- "${command[@]}" >program.out 2>program.err </dev/null &
		;;
	headless)
		printf "%s\n" "${script_lines[@]}" >script
		"${env[@]}" setsid bash -c 'echo $$ >tftop.pid; exec "$@"' tftop-starter \
			"$tftop" --headless --size 120x34 --script script -- "${command[@]}" \
			>tftop.out 2>program.err </dev/null &
		;;
	screen)
		# the shell stays when tftop is gone, and so does the terminal
		mkfifo keys
		printf -v line '%q ' "${env[@]}" bash -c 'echo $$ >tftop.pid; exec "$@"' tftop-starter \
			"$tftop" -- "${command[@]}"
		SHELL=$BASH setsid script -qfec "stty rows 40 cols 120; $line; read _" screen.out \
			<keys >/dev/null 2>&1 &
		exec {keys}>keys
		;;
	esac
	waiter=$!
	wait_for 5 test -s tftop.pid || fail "tftop was not started" || return
	tftop_pid=$(cat tftop.pid)
}

ended() { [ -s rc ] || nothing_marked; }

# The program went its way: status, and all that it did.
program_ended() {
	local status=$1
	wait_for 60 ended || fail "the program did not end" || return
	wait_for 1 test -s rc || fail "the program was killed, or never started" || return
	[ "$(cat rc)" = "$status" ] || fail "the program ended with $(cat rc), not $status" || return
	[ -s truth.json ] || fail "no truth was written" || return
	if [ "$status" = 0 ]; then
		grep -q "\"steps\": { *\"count\": $steps[ ,]" truth.json || fail "not all steps were made" || return
		[ ! -f program.out ] || cmp -s program.out "$tmp/bare.out" || fail "other output" || return
	fi
}

# After tftop's end: 2 s, then nothing but the program and its launcher; after
# the program's: nothing at all.
clean_after() {
	local status=$1
	wait_for 2 no_strays || fail "left after 2 s: $(strays | tr '\n' ';')" || return
	program_ended "$status" || return
	wait_for 2 nothing_marked || fail "left after the program: $(marked | xargs -I{} cat /proc/{}/comm 2>/dev/null | tr '\n' ' ')" || return
	wait_for 2 no_places || fail "left on disk: $(places | head -n 3 | tr '\n' ' ')"
}

prepare() {
	cd "$work" || return
	mkdir -p run tmp && chmod 700 run && rm -f keys
	mark=$$.$RANDOM.$1
	before=$(printf '|%s|' /run/tftop-?????? /tmp/tftop-?????? /tmp/tftop.*/tftop-??????)
	tftop_pid= keys= waiter=
	[ ${#runner[@]} = 0 ] || chown -R nobody:nogroup "$work"
}

# Nothing of a failed case may live on into the next.
end_case() {
	local status=$1 p
	[ -n "$keys" ] && exec {keys}>&- && kill "$waiter" 2>/dev/null
	for p in $(marked); do kill -KILL "$p" 2>/dev/null; done
	[ -n "$waiter" ] && { wait "$waiter"; } 2>/dev/null
	cd "$here" || exit 1
	return "$status"
}

killed_at() {
	local delay company=
	# half of them while tftop is still starting
	if [ $((RANDOM % 2)) = 0 ]; then delay=$((RANDOM % 400)); else delay=$((RANDOM % 2500)); fi
	printf -v delay '%d.%03d' $((delay / 1000)) $((delay % 1000))
	pause "$delay"
	remember_places
	# alone: the launcher was not there yet, and nothing can start the program
	[ "$(marked | wc -l)" -gt 1 ] && company=1
	kill -KILL "$tftop_pid" 2>/dev/null
	[ -n "$keys" ] || { wait "$waiter"; } 2>/dev/null
	why="after $delay s"
	wait_for 2 gone "$tftop_pid" || fail "SIGKILL did not end it" || return
	local said=$why
	if [ -z "$company" ] && ! wait_for 2 test -e wrapper.pid && nothing_marked; then
		why="$said, before anything was started"
		return
	fi
	clean_after 0 || fail "$said: $why" || return
	why=$said
}

tftop_ends_with() {
	wait "$waiter"
	local status=$?
	[ "$status" = "$1" ] || fail "tftop ended with $status, not $1: $(first_lines program.err)"
}

# In the midst of its steps, on a terminal: it computes what it would have.
tensorflow_killed() {
	wait_for 60 screen_shows train_step || fail "no step on the screen" || return
	remember_places
	kill -KILL "$tftop_pid"
	[ ! -e rc ] || fail "the program was over before tftop was killed" || return
	wait_for 2 gone "$tftop_pid" || fail "SIGKILL did not end it" || return
	clean_after 0 || return
	losses truth.json | cmp -s - "$tmp/losses" || fail "it computed something else"
}
losses() { grep -o '"losses": [^]]*' "$1"; }

# The program's own end, and the proof that strays() sees tftop's processes.
normal_end() {
	wait_for 10 has_daemons || fail "no daemon of tftop's carries the mark" || return
	tftop_ends_with 0 || return
	clean_after 0
}

signalled() {
	local signal=$1 number=$2
	wait_for 20 has_kernels || fail "no output of the program" || return
	remember_places
	kill -"$signal" "$tftop_pid"
	tftop_ends_with $((128 + number)) || return
	clean_after $((128 + number))
}

# Ctrl-C at a terminal: the whole group gets it; tftop stays for its program.
interrupted() {
	wait_for 20 has_kernels || fail "no output of the program" || return
	kill -INT -- -"$tftop_pid"
	tftop_ends_with 130 || return
	clean_after 130
}

interrupt_ignored() {
	wait_for 20 has_kernels || fail "no output of the program" || return
	kill -INT "$tftop_pid"
	tftop_ends_with 0 || return
	clean_after 0
}

program_killed() {
	wait_for 20 has_kernels || fail "no output of the program" || return
	remember_places
	local child
	child=$(awk '{ print $1 }' "/proc/$(cat wrapper.pid)/task/$(cat wrapper.pid)/children")
	kill -KILL "$child"
	tftop_ends_with 137 || return
	wait_for 2 test -s rc || fail "the wrapper did not end" || return
	wait_for 2 nothing_marked || fail "left: $(strays | tr '\n' ';')" || return
	wait_for 2 no_places || fail "left on disk: $(places | head -n 3 | tr '\n' ' ')"
}

# A script that ends leaves the program running.
script_quits() {
	wait "$waiter" 2>/dev/null
	clean_after 0
}

screen_shows() { grep -qa "$1" screen.out 2>/dev/null; }
quit_by_key() {
	wait_for 20 screen_shows conv || fail "no kernel on the screen" || return
	remember_places
	printf q >&"$keys"
	wait_for 5 screen_shows eave || fail "q asks nothing" || return
	printf l >&"$keys"
	wait_for 5 gone "$tftop_pid" || fail "l did not leave" || return
	clean_after 0
}

# one NUMBER HOW: one run
one() {
	local number=$1 how=$2 mode=batch script_lines=()
	prepare "$number" || return
	case $how in
	kill-headless) mode=headless script_lines=('wait-exit 60s') ;;
	quit) mode=headless script_lines=('wait-kernels 100 20s' quit) ;;
	kill-screen | key-q | tensorflow) mode=screen ;;
	esac
	start "$mode" || { end_case 1; return 1; }
	case $how in
	kill-*) killed_at ;;
	tensorflow) tensorflow_killed ;;
	normal) normal_end ;;
	term) signalled TERM 15 ;;
	hup) signalled HUP 1 ;;
	ctrl-c) interrupted ;;
	int) interrupt_ignored ;;
	program-killed) program_killed ;;
	quit) script_quits ;;
	key-q) quit_by_key ;;
	esac
	end_case $?
}

# as_other HOW…: one run as an ordinary user
as_other() {
	local runner=(setpriv --reuid=nobody --regid=nogroup --clear-groups --reset-env
		env HOME="$tmp/home" PATH="$PATH")
	local tftop=$user_copy/tftop train=$user_copy/train_opencl
	one "$@"
}

# with_tensorflow: one run of a program of TensorFlow's
with_tensorflow() {
	local steps=1500 train program
	[ -e "$O/lib/libtftop-tensorflow.so" ] || skip "the probe was not built" || return
	train=$(tests/venv.sh "${TENSORFLOW:-tensorflow}" 2>"$work/venv") ||
		skip "$(tail -n 1 "$work/venv")" || return
	program=("$here/examples/train_tf.py" --model loop --steps "$steps" --batch 8)
	"$train" "${program[@]}" --truth "$tmp/bare" >/dev/null 2>"$work/errors" ||
		fail "the program: $(tail -n 1 "$work/errors")" || return
	losses "$tmp/bare" >"$tmp/losses"
	# what AutoGraph writes is compiled beside it
	PYTHONDONTWRITEBYTECODE=1 one tensorflow tensorflow
}

runner=()
"$train" "${program[@]}" >"$tmp/bare.out" 2>/dev/null
# every third run as an ordinary user, when this one is root
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && make_user_copy; then
	as_user "$user_copy/train_opencl" "${program[@]}" --quiet >/dev/null 2>&1
else
	user_copy=
fi
kills=(kill-batch kill-batch kill-headless kill-screen)
others=(normal term program-killed ctrl-c key-q hup int quit)
for ((i = 0; i < runs; i++)); do
	if [ $((i % 2)) = 0 ]; then how=${kills[i / 2 % 4]}; else how=${others[i / 2 % 8]}; fi
	if [ -n "$user_copy" ] && [ $((i % 3)) = 2 ]; then
		case_run "$i-$how-user" as_other "$i" "$how"
	else
		case_run "$i-$how" one "$i" "$how"
	fi
done
case_run tensorflow with_tensorflow
for how in kill-batch kill-screen normal term; do
	case_timed "$how-soon" one 0 "$how"
done
suite_end
