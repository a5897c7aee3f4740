#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads under the thread sanitizer (O is a build with SAN for it): the unit
# cases that start some, several decoders of a recording while the screen asks,
# the live reader while the screen asks; a program's own that launch on the double
# of CUDA, under the probe.
. "$(dirname "$0")/live/lib.sh"
need_programs "$tftop" "$O/tests/unit" "$O/tftop-gen" "$O/tests/burst" "$O/tests/cuda/cuda_stress"
# The keeper and the launcher are forks. (No program that forks beside its threads is here: the
# sanitizer's own locks are then held in the child by whom it has not; cuda.sh has one.)
export TSAN_OPTIONS=exitcode=66:halt_on_error=1:die_after_fork=0:suppressions=$here/tests/tsan.supp
unset CUDA_DOUBLE CUPTI_DOUBLE TFTOP_CUPTI_SHARED TFTOP_CUDA_GRAPHS CUDA_INJECTION64_PATH
export TFTOP_CUPTI=$O/tests/cuda/13.0/libcupti.so.13 PYTHONDONTWRITEBYTECODE=1

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

# cuda PROGRAM ARGS…: of the doubles; the report is what the device did.
cuda() {
	CUDA_DOUBLE_TRUTH=$work/truth timeout -k 5 100 "$tftop" --no-config --json="$work/report" -- \
		"$O/tests/cuda/$1" "${@:2}" >"$work/out" 2>&1 && ! grep -q 'WARNING: ThreadSanitizer' "$work/out" || {
		grep -v '^ ' "$work/out" | head -n 60
		fail "$(grep -h SUMMARY "$work/out" || first_lines "$work/out")" || return
	}
	python3 tests/live/cuda_compare.py "$work/truth" "$work/report" >"$work/compared" ||
		fail "$(first_lines "$work/compared")"
}

# silent NAME… -- PROGRAM ARGS…: with these settings, of the doubles, nothing is compared.
silent() {
	local settings=()
	while [ "$1" != -- ]; do settings+=("$1"); shift; done
	env "${settings[@]}" timeout -k 5 100 "$tftop" --no-config --json="$work/report" -- \
		"$O/tests/cuda/$2" "${@:3}" >"$work/out" 2>&1 &&
		! grep -q 'WARNING: ThreadSanitizer' "$work/out" && return
	grep -v '^ ' "$work/out" | head -n 60
	fail "$(grep -h SUMMARY "$work/out" || first_lines "$work/out")"
}
sensors() {
	printf '%s\n' 'stream s' 'kernel k dur=1us stream=s' sync 'wait 1100ms' >"$work/sensors.play"
	silent LD_LIBRARY_PATH="$O/tests/cuda/nvml" NVML_DOUBLE=hot=2 -- cuda_play --quiet "$work/sensors.play"
}

# Threads launch while the level goes up and down: when it is over all is seen again.
levels() {
	for level in min full off default; do
		printf 'wait 150ms\nkey :level<Space>%s<Enter>\n' $level
	done >"$work/script"
	printf 'wait-exit 100s\nwait-settled 100s\nassert-screen "some op"\n' >>"$work/script"
	timeout -k 5 200 "$tftop" --no-config --headless --script "$work/script" -- \
		"$O/tests/cuda/cuda_stress" launch 4 15000 >"$work/out" 2>&1 </dev/null &&
		! grep -q 'WARNING: ThreadSanitizer' "$work/out" && return
	head -n 60 "$work/out"
	fail "$(grep -h SUMMARY "$work/out" || first_lines "$work/out")"
}

case_run unit units graph_threads guard_lost while_fed lets_others_ask save_ ctf_writer
case_run recording recording
case_run live live
case_run cuda-launch cuda cuda_stress launch 6 2000
case_run cuda-streams cuda cuda_stress streams 4 200
case_run cuda-graphs cuda cuda_play --quiet tests/data/cuda/graphs.play
case_run cuda-levels levels
case_run cuda-exit silent -- cuda_stress exit 3 100
case_run cuda-sensors sensors
suite_end
