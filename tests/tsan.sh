#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads under the thread sanitizer (O is a build with SAN for it): the unit
# cases that start some, several decoders of a recording while the screen asks,
# the live reader while the screen asks.
. "$(dirname "$0")/live/lib.sh"
need_programs "$tftop" "$O/tests/unit" "$O/tftop-gen" "$O/tests/burst"
export TSAN_OPTIONS=exitcode=66:halt_on_error=1:suppressions=$here/tests/tsan.supp

units() {
	"$O/tests/unit" "$@" >"$work/out" 2>&1 && return
	grep -v '^#' "$work/out" | head -n 60
	fail "status $?"
}

# screen REGEX ARGS…: the whole program under a script that asks all the time
# (pane 7 takes keys for PROGRAM); at the end the screen has what was fed.
screen() {
	local pane
	for pane in {1..6} 8 {1..6} 8; do
		printf 'key %s<Down>w\nwait 20ms\nkey s.\n' "$pane"
	done >"$work/script"
	printf 'wait-exit 100s\nwait-settled 100s\nassert-screen "%s"\n' "$1" >>"$work/script"
	shift
	timeout -k 5 200 "$tftop" --no-config --headless --script "$work/script" "$@" \
		>"$work/out" 2>&1 </dev/null && ! grep -q 'WARNING: ThreadSanitizer' "$work/out" && return
	head -n 60 "$work/out"
	fail "$(grep -h SUMMARY "$work/out" || first_lines "$work/out")"
}

recording() {
	"$O/tftop-gen" --ctf "$work/rec" --spans 60000 >"$work/gen" 2>&1 || fail "$(first_lines "$work/gen")" || return
	screen "queue 1 .*h2d" "$work/rec"
}

live() { screen " r[0-9]+ .* at " -- "$O/tests/burst" 20000 20000 3; }

case_run unit units graph_threads guard_lost while_fed lets_others_ask save_ ctf_writer
case_run recording recording
case_run live live
suite_end
