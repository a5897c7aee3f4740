# SPDX-License-Identifier: MIT
# A program that tftops come to and go from; sourced by run.sh.

late_cases='late_again late_dead late_refused late_home late_home_stays late_home_taken'

# turns_begin, tell COMMAND…, turns_end: the program, without tftop's variables at first
turns_begin() {
	compile late_turns tests/programs/late_turns.c -lpthread -ldl || return
	: >"$work/turns.err"
	coproc turns { exec env -u TFTOP_CONTROL "$build/late_turns" "$lib/libtftop-nvtx.so" 2>>"$work/turns.err"; }
	turns_pid=$!
}
tell() {
	echo "$*" >&"${turns[1]}"
	read -rt 20 answer <&"${turns[0]}" || answer='no answer'
	[ "$answer" = ok ]
}
turns_end() {
	local in=${turns[1]}
	exec {in}>&-
	wait "$turns_pid"
	status=$?
}
# lets_go CONTROL: as tftop does: `closed` of its page
lets_go() { printf '\1' | dd of="$1" bs=1 seek=20 conv=notrunc status=none; }

# turn NAME [again]: attaches, marks 40 ranges twice, lets go
turn() {
	trace_begin "$1" || return
	tell "${2:-attach}" "$control" "$LTTNG_HOME"
	expect "$1" 'attached' "$answer$(cat "$work/turns.err")" ok
	tell mark "of-$1" 40
	lets_go "$control"
	tell off
	expect "$1" 'off' "$answer" ok
	tell mark "after-$1" 10
	trace_end "$1"
	expect "$1" 'its ranges' "$(count "$1" ev_op "name=$(name_id "$1" "of-$1")")" 80
	expect "$1" 'it hears who this is' "$(count "$1" def_process) $(events "$1" def_probe 'name="nvtx"' | wc -l)" '1 1'
	# what is not dropped and not lost: numbers from 1 for each thread, none missing
	expect "$1" 'no gap, nothing dropped' "$(numbers_missing "$1") $(events "$1" ev_beat | tail -n 1 | value dropped)" '0 0'
	expect "$1" 'nothing of others' "$(events "$1" ev_op | wc -l)" \
		"$((80 + $(count "$1" ev_op "name=$(name_id "$1" 'still-on')")))"
}

# Events of numbered kinds whose thread has a number less than theirs missing.
numbers_missing() {
	sed -nE 's/^ev_.* vtid=([0-9]+).* seq=([0-9]+) .*/\1 \2/p' "$work/$1.events" | sort -u |
		awk '{ n[$1]++; if ($2 > max[$1]) max[$1] = $2 } END { for (t in n) missing += max[t] - n[t]; print missing + 0 }'
}

threads_of() { ls "/proc/$1/task" | wc -l; }
# Voluntary switches of the runtime's thread.
switches() {
	local t
	for t in /proc/"$1"/task/*; do
		[ "$(cat "$t/comm")" = tftop-runtime ] && sed -n 's/^voluntary_ctxt_switches:[ \t]*//p' "$t/status"
	done
}

case_late_again() {
	local i before after threads
	turns_begin || return
	tell again - -
	expect late_again 'no probe yet' "$answer $(cat "$work/turns.err")" 'no late: 1: no probe was ever in use in this process'
	: >"$work/turns.err"
	for i in 1 2 3; do turn "late_again$i"; done
	before=$(switches "$turns_pid") threads=$(threads_of "$turns_pid")
	tell mark quiet 100000
	wait_long
	after=$(switches "$turns_pid")
	expect late_again 'between them the runtime sleeps' "$((after - before))" 0
	turn late_again4 again
	expect late_again 'no thread more' "$(threads_of "$turns_pid")" "$threads"
	turns_end
	expect late_again 'status' "$status" 0
}
# 1.5 s, in which a thread that looks each second has looked: that nothing happens has no condition
wait_long() { read -rt 1.5 <> <(:) || :; }

case_late_dead() {
	turns_begin || return
	trace_begin late_dead || return
	tell attach "$control" "$LTTNG_HOME"
	expect late_dead 'attached' "$answer" ok
	# its sign of life is from the time when this machine began
	printf '\1' | dd of="$control" bs=1 seek=24 conv=notrunc status=none
	tell off
	expect late_dead 'off' "$answer" ok
	trace_end late_dead
	turn late_dead_then
	turns_end
}

# What cannot be is said by name, and nothing is changed.
case_late_refused() {
	turns_begin || return
	tell attach /nowhere "$LTTNG_HOME"
	expect late_refused 'no tftop' "$answer $(cat "$work/turns.err")" \
		"no late: -1: no tftop is running behind TFTOP_CONTROL='/nowhere'"
	: >"$work/turns.err"
	turn late_refused1
	trace_begin late_refused2 || return
	tell attach "$control" "$LTTNG_HOME"
	"$build/rt_test" control "$work/other.control" 2
	tell attach "$work/other.control" "$LTTNG_HOME"
	expect late_refused 'another is there' "$answer $(cat "$work/turns.err")" \
		'no late: -1: another tftop is watching this process; end that one first'
	tell mark still 5
	lets_go "$work/late_refused2.control"
	tell off
	trace_end late_refused2
	expect late_refused 'which goes on' "$(count late_refused2 ev_op "name=$(name_id late_refused2 still)")" 10
	turns_end
}

# Another tftop has its daemon in another folder: LTTng is led there.
case_late_home() {
	local LTTNG_HOME=$work/first first
	daemon_begin || return
	first=$daemon_pid
	turns_begin || return
	turn late_home1
	daemon_end "$first"
	rm -rf "$work/first"
	LTTNG_HOME=$work/second
	daemon_begin || return
	turn late_home2
	expect late_home 'no link is left' "$(ls "$work" | grep -cx first)" 0
	turns_end
	expect late_home 'status' "$status" 0
	daemon_end "$daemon_pid"
}

# Not of one that is only stopped, and not with a process: others may have this home, too.
case_late_home_stays() {
	local LTTNG_HOME=$work/first first
	daemon_begin || return
	first=$daemon_pid
	turns_begin || return
	turn late_stays1
	daemon_end "$first"
	rm -rf "$work/first"
	LTTNG_HOME=$work/second
	daemon_begin || return
	trace_begin late_stays2 || return
	tell attach "$control" "$LTTNG_HOME"
	printf '\1' | dd of="$control" bs=1 seek=24 conv=notrunc status=none
	tell off
	expect late_stays 'off' "$answer" ok
	wait_long
	expect late_stays 'stopped: the link stays' "$(readlink "$work/first")" "$work/second"
	printf '\0' | dd of="$control" bs=1 seek=24 conv=notrunc status=none
	wait_long
	tell mark back 5
	turns_end
	trace_end late_stays2
	expect late_stays 'it goes on' "$(count late_stays2 ev_op "name=$(name_id late_stays2 back)")" 10
	expect late_stays 'ended: the link stays' "$(readlink "$work/first")" "$work/second"
	rm "$work/first"
	daemon_end "$daemon_pid"
}

case_late_home_taken() {
	local LTTNG_HOME=$work/first first
	daemon_begin || return
	first=$daemon_pid
	turns_begin || return
	turn late_taken1
	daemon_end "$first"
	LTTNG_HOME=$work/second
	daemon_begin || return
	trace_begin late_taken2
	tell attach "$control" "$LTTNG_HOME"
	expect late_taken 'said by name' "$answer $(cat "$work/turns.err")" \
		"no late: -1: LTTng in this process looks for its daemon in '$work/first', as it was told when it was loaded; it cannot be told '$work/second' while that is there"
	trace_end late_taken2
	turns_end
	daemon_end "$daemon_pid"
	rm -rf "$work/first"
}
