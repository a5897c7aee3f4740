#!/bin/bash
# SPDX-License-Identifier: MIT
# tftop in real terminals: sizes, resizing, kinds of terminals, suspending,
# crashing, leaving, and what is typed to PROGRAM.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
tftop=$(realpath "$tftop")
unset NO_COLOR TFTOP_CONFIG TFTOP_LEVEL TFTOP_PROBE
synth=("$tftop" --no-config --synth 1)

starts_at() {
	start "$1" "${synth[@]}" && until_screen "$2" && press q && ends_with 0
}

resize_storm() {
	local i
	start 120x34 "${synth[@]}" && until_screen 'queue 0' || return 1
	for ((i = 0; i < 60; i++)); do
		tm resize-window -x $((1 + RANDOM % 200)) -y $((1 + RANDOM % 60))
	done
	tm resize-window -x 100 -y 30
	until_screen 'q quit' && until_screen '^ *1 ops +2 kernels' && until_screen 'queue 0' || return 1
	[ "$(screen | wc -l)" -le 30 ] && press q && ends_with 0
}

# Sizes in the environment are somebody else's.
size_is_asked_for() {
	start 90x30 env LINES=9 COLUMNS=40 "${synth[@]}" && until_screen 'queue 0' || return 1
	tm resize-window -x 150 -y 34
	until_true 15 wide && press q && ends_with 0
}

wide() {
	[ "$(screen | awk 'length > w { w = length } END { print w }')" -gt 120 ]
}

# Without colours a bar of many full blocks is no row of blanks.
bars_without_colours() {
	start 120x34 "$tftop" --no-config --synth 1,gpu --theme mono &&
		until_screen '^ +main +│█{16}' && press q && ends_with 0
}

# An env command sets TERM for tftop alone: tmux itself stays what it is.
in_term() {
	local term=$1 expect=$2
	start 80x24 env TERM="$term" "${@:3}" "${synth[@]}" && until_screen "$expect" &&
		press '?' && until_screen 'how to read this screen' && press q && press q && ends_with 0
}

# The picture as lines: all of it is there, also the first.
in_dumb_terminal() {
	start 80x16 env TERM=dumb "${synth[@]}" && until_screen "gpu0" && press Space &&
		until_true 15 first_line_says ' frozen .* lost ' && press q && ends_with 0
}

first_line_says() {
	screen | head -n 1 | grep -qE -- "$1"
}

only_ascii() {
	start 80x24 env LC_ALL=C "$@" "${synth[@]}" && until_screen 'queue 0' || return 1
	! screen | LC_ALL=C grep -q '[^ -~]' && press q && ends_with 0
}

no_colour() {
	start 80x24 env "$@" "${synth[@]}" && until_screen 'queue 0' || return 1
	! tm capture-pane -p -e | grep -q $'\033\\[[0-9;]*[34][0-8]' && press q && ends_with 0
}

wrong_term() {
	# ncurses itself loses its screen there
	start 80x24 sh -c "ASAN_OPTIONS=detect_leaks=0 TERM=no-such-terminal ${synth[*]}; echo status \$?; read x" &&
		until_screen "unknown terminal type in TERM: 'no-such-terminal'" &&
		until_screen '^status 125'
}

# A shell with a prompt of its own in the terminal, as a user has it.
shell_in() {
	start "$1" env PS1='ready> ' bash --norc --noprofile -i && until_screen 'ready>'
}

suspends_and_resumes() {
	shell_in 100x30 || return 1
	type_text "${synth[*]}"; press Enter
	until_screen 'queue 0' && press C-z && until_screen 'Stopped' &&
		until_screen 'ready> *$' || return 1
	type_text 'echo still $((20+3))'; press Enter
	until_screen 'still 23' || return 1
	type_text fg; press Enter
	until_screen 'queue 0' && press Space && until_screen 'frozen' && press q &&
		until_screen 'ready> *$'
}

# after KILL: the shell is back, its modes are what they were, echo works.
# paste TEXT: as a terminal does that was asked to tell pasted text from keys
paste() {
	tm set-buffer -- "$1" && tm paste-buffer -p
}

# Text in which each letter is a key, with lines that would be commands.
pastes() {
	start 100x30 "${synth[@]}" && until_screen 'queue 0' || return 1
	paste $'7?zq\n:quit leave\nqq' && until_screen 'pasted text is no keys' &&
		until_screen 'queue 0' || return 1
	press : && until_screen '^:' && paste $'goto 1s\nquit' && until_screen '^:goto 1s quit *$' &&
		press Escape && press Escape && until_screen 'q quit' && press q && ends_with 0
}

terminal_is_restored_after() {
	local before after
	shell_in 90x30 || return 1
	type_text 'clear; stty -a | tr -d "\n" | cksum > '"$pty_work/before"; press Enter
	until_true 10 test -s "$pty_work/before" || return 1
	type_text "${synth[*]}"; press Enter
	until_screen 'queue 0' || return 1
	local pid
	pid=$(find_in "$(terminal_pid)" tftop) || return 1
	kill "-$1" "$pid" || return 1
	until_screen 'ready> *$' || return 1
	rm -f "$pty_work/after"
	type_text 'stty -a | tr -d "\n" | cksum > '"$pty_work/after"; press Enter
	until_true 10 test -s "$pty_work/after" || return 1
	before=$(cat "$pty_work/before") after=$(cat "$pty_work/after")
	rm -f "$pty_work/before"
	[ "$before" = "$after" ] || fail 'the modes differ' || return
	type_text 'echo status $?'; press Enter
	until_screen '^status [0-9]'
}

status_after_signal() {
	start 90x30 "${synth[@]}" && until_screen 'queue 0' || return 1
	kill "-$1" "$(started_pid)" && ends_with "$2"
}

closed_terminal() {
	start 90x30 "${synth[@]}" && until_screen 'queue 0' || return 1
	local pid
	pid=$(started_pid)
	tm kill-server
	until_true 10 gone "$pid"
}

# ---- with a program ----

live() {
	start "$1" "$tftop" --no-config -- "${@:2}"
}

asks_before_leaving() {
	live 100x30 tail -f /dev/null && until_screen 'q quit' && press q &&
		until_screen 'tail runs: +l leave it.*s stop it.*<Esc> back' &&
		press Escape && until_screen 'q quit'
}

leaves_it_running() {
	local pid
	asks_before_leaving || return 1
	pid=$(programs tail) && [ -n "$pid" ] || return 1
	press q && press l && ends_with 0 || return 1
	[ -d "/proc/$pid" ] || fail 'tail is gone' || return
	kill "$pid" && until_true 10 gone "$pid"
}

# With the screen gone, tftop says how to come back.
says_what_it_leaves() {
	local pid
	start 100x30 sh -c "exec '$tftop' --no-config -- tail -f /dev/null 2>'$pty_work/err'" &&
		until_screen 'q quit' && press q && until_screen 'tail runs:' || return 1
	pid=$(programs tail) && [ -n "$pid" ] || return 1
	press l && ends_with 0 || return 1
	kill "$pid"
	is 'said' "$(cat "$pty_work/err")" \
		"tftop: tail runs on as process $pid; 'tftop --join $pid' watches it again"
}

stops_it() {
	asks_before_leaving && press C-c && until_screen 'tail runs' && press s && ends_with 130
}

stops_a_stubborn_one() {
	live 100x30 sh -c 'trap "" INT; echo deaf; tail -f /dev/null' &&
		until_screen '7 output: deaf' && press q s && ends_with 143
}

types_to_program() {
	live 100x34 cat && until_screen 'q quit' && press 7 &&
		until_screen 'keys go to cat' || return 1
	type_text 'hello q'; press Enter
	until_true 15 two_hellos || { screen; return 1; }
	press C-] && until_screen 'q quit' && press 7 && until_screen 'keys go to cat' &&
		press C-d && until_screen '7 output' && until_screen 'q quit' && press q && ends_with 0
}

two_hellos() {
	[ "$(screen | grep -c '^ *hello q')" = 2 ]
}

interrupts_program() {
	live 100x34 cat && until_screen 'q quit' && press 7 &&
		until_screen 'keys go to cat' && press C-c && until_screen 'q quit' &&
		press q && ends_with 130
}

# What PROGRAM prints to its terminal is as wide as ours.
program_sees_the_size() {
	live 93x31 sh -c 'stty size; read x; stty size; read x' && until_screen 'q quit' &&
		press 7 && until_screen '^ *31 93' || return 1
	tm resize-window -x 101 -y 33
	until_screen 'C-] back' && press Enter && until_screen '^ *33 101' && press Enter &&
		until_screen 'q quit' && press q && ends_with 0
}

redirected_descriptors_stay() {
	start 90x30 sh -c "printf 'a b' | '$tftop' --no-config -q -- cat >'$pty_work/out'; echo status \$?" &&
		until_screen 'status 0' && [ "$(cat "$pty_work/out")" = 'a b' ]
}

prompt_and_errors() {
	start 100x30 "${synth[@]}" && until_screen 'q quit' && press : || return 1
	type_text 'set splitt = 1é'
	until_screen '^:set splitt = 1é' && press BSpace && press Enter &&
		until_screen "unknown option 'splitt'" && press : &&
		type_text 'help zoom-in' && press Enter && until_screen 'less time per column' &&
		press q && press q && ends_with 0
}

configuration() {
	printf 'bind generic Q quit\nbad line\nset split = 30\n' >"$pty_work/rc"
	start 100x30 "$tftop" --config "$pty_work/rc" --synth 1 &&
		until_screen "1 error in '$pty_work/rc'" && press 8 &&
		until_screen "rc:2: unknown command 'bad'" && press Q && ends_with 0
}

# What a library prints becomes a message, and is on the terminal afterwards.
stderr_is_kept() {
	# something stays after it: tmux loses what a command says as it ends
	start 90x30 sh -c "${synth[*]}; read x" && until_screen 'queue 0' || return 1
	echo 'noise of a library' >>"/proc/$(children "$(started_pid)")/fd/2"
	press 8 && until_screen 'noise of a library' || return 1
	[ "$(screen | grep -c 'noise of a library')" = 1 ] && press q &&
		until_screen '^noise of a library'
}

# ---- a recording ----

# reads HOW ARGS…: a recording, with a babeltrace that hangs or aborts in the midst.
reads() {
	[ -d "$pty_work/rec" ] ||
		"${tftop%/*}/tftop-gen" --spans 50000 --ctf "$pty_work/rec" >/dev/null || return 1
	rm -f "$pty_work/rec/cache" "$pty_work/stuck"
	start 100x30 env STUCK="$1" STUCK_HERE="$pty_work/stuck" LD_PRELOAD="${tftop%/*}/tests/stuck.so" "$tftop" --no-config \
		"${@:2}" "$pty_work/rec"
}

leaves_while_reading() {
	reads hang && until_screen 'reading the recording' && press "$1" && ends_with 0
}

# The shell around it gets the Ctrl-C too: there is no status.
interrupts_reading() {
	reads hang -b && until_screen 'reading the recording' &&
		until_true 15 test -e "$pty_work/stuck" && press C-c &&
		until_screen 'in time and was abandoned' && until_true 15 gone "$(started_pid)"
}

screen_outlives_an_abort() {
	reads abort && until_screen 'queue 0' && press 8 &&
		until_screen 'babeltrace could not read part of it' && press 1 &&
		until_screen 'q quit' && press q && ends_with 0
}

# diff reads DIR beside what is shown: with a babeltrace that hangs it never ends, Esc ends it.
stops_reading_for_diff() {
	local child
	reads_beside STUCK=hang || return 1
	type_text ":diff $pty_work/rec" && press Enter && until_screen 'reading .*Esc stops it' &&
		press j && until_screen 'reading .*, 0:00:[0-9.]+; Esc stops it' || return 1
	child=$(children "$(started_pid)")
	[ -n "$child" ] && press Escape && until_screen 'stopped reading' &&
		until_true 15 gone "$child" && press q && ends_with 0
}

# One that is under way when tftop is left ends with it.
leaves_reading_for_diff() {
	local child
	reads_beside STUCK=hang || return 1
	type_text ":diff $pty_work/rec" && press Enter && until_screen 'reading .*Esc stops it' || return 1
	child=$(children "$(started_pid)")
	[ -n "$child" ] && press q && ends_with 0 && until_true 15 gone "$child"
}

# ... and when tftop could say no word to it.
killed_reading_for_diff() {
	local child
	reads_beside STUCK=hang || return 1
	type_text ":diff $pty_work/rec" && press Enter && until_screen 'reading .*Esc stops it' || return 1
	child=$(children "$(started_pid)")
	[ -n "$child" ] && kill -KILL "$(started_pid)" && until_true 15 gone "$child" && ends_with 137
}

reads_for_diff() {
	reads_beside || return 1
	type_text ":diff $pty_work/rec" && press Enter && until_screen 'diff rec, this run' &&
		press q && ends_with 0
}

reads_beside() {
	[ -d "$pty_work/rec" ] ||
		"${tftop%/*}/tftop-gen" --spans 50000 --ctf "$pty_work/rec" >/dev/null || return 1
	rm -f "$pty_work/rec/cache"
	start 100x30 env LD_PRELOAD="${tftop%/*}/tests/stuck.so" "$@" "${synth[@]}" &&
		until_screen 'queue 0'
}

for size in 160x48 120x34 80x24 60x12; do
	case_run "starts at $size" starts_at $size 'q quit'
done
case_run "says that 59x11 is too small" starts_at 59x11 'tftop needs 60x12'
case_run "lives at 20x5" starts_at 20x5 'needs 60x12'
case_run "lives at 1x1" starts_at 1x1 '^n'
case_run "resize storm" resize_storm
case_run "LINES and COLUMNS do not count" size_is_asked_for
for term in xterm-256color screen-256color tmux-256color xterm vt100 linux; do
	case_run "TERM=$term" in_term $term 'queue 0'
done
case_run "TERM=dumb" in_term dumb 'queue 0'
case_run "TERM=dumb shows the first line too" in_dumb_terminal
case_run "TERM unknown" wrong_term
case_run "C locale" only_ascii
case_run "C locale, vt100" only_ascii TERM=vt100
case_run "bars without colours" bars_without_colours
case_run "NO_COLOR" no_colour NO_COLOR=1
case_run "TERM=vt100 has no colour" no_colour TERM=vt100
case_run "pasted text is no keys" pastes
case_run "suspend and resume" suspends_and_resumes
for signal in SEGV ABRT BUS TERM; do
	case_run "terminal restored after SIG$signal" terminal_is_restored_after $signal
done
case_run "SIGTERM" status_after_signal TERM 143
case_run "SIGHUP" status_after_signal HUP 129
case_run "closed terminal" closed_terminal
case_run "standard error is kept" stderr_is_kept
case_run "prompt and errors" prompt_and_errors
case_run "configuration with an error" configuration
case_run "asks, and leaves the program running" leaves_it_running
case_run "says what it leaves running" says_what_it_leaves
case_run "stops the program" stops_it
case_run "stops a program that ignores SIGINT" stops_a_stubborn_one
case_run "keys go to the program" types_to_program
case_run "Ctrl-C goes to the program" interrupts_program
case_run "the program sees the size" program_sees_the_size
case_run "redirected descriptors stay the program's" redirected_descriptors_stay
case_run "q while a recording is read" leaves_while_reading q
case_run "Ctrl-C while a recording is read" leaves_while_reading C-c
case_run "Ctrl-C while a report reads" interrupts_reading
case_run "a decoder that aborts leaves the screen alone" screen_outlives_an_abort
case_run "diff reads another recording" reads_for_diff
case_run "Esc while diff reads a recording" stops_reading_for_diff
case_run "q while diff reads a recording" leaves_reading_for_diff
case_run "SIGKILL while diff reads a recording" killed_reading_for_diff
suite_end
