#!/bin/bash
# SPDX-License-Identifier: MIT
# tftop, its probes and a C client of theirs, all built with the address and
# undefined-behaviour sanitizers (O): the example in the modes that touch most.
# Leaks of the program's own libraries (PoCL, LTTng) are not ours to judge.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$train" "$compare"
# Preloaded before the sanitizer's own library, on purpose.
export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0:abort_on_error=0:exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1

clean() {
	timeout -k 5 300 "$tftop" --json="$work/report.json" "${level[@]}" -- \
		"$train" "$@" --truth "$work/truth.json" >"$work/out" 2>"$work/err"
	local status=$?
	! grep -qE 'AddressSanitizer|runtime error' "$work/out" "$work/err" ||
		fail "$(grep -hE 'AddressSanitizer|runtime error' "$work/out" "$work/err" | head -n 1)" || {
		grep -hE -A 12 'AddressSanitizer|runtime error' "$work/out" "$work/err" | sed 's/^/    /' | head -n 30
		return 1
	}
	[ $status = 0 ] || fail "exit status $status: $(first_lines "$work/err")" || return
	"$compare" "$work/truth.json" "$work/report.json" >"$work/compare.out" 2>&1 ||
		fail "$(first_lines "$work/compare.out")"
}
level=()
case_run asan-default clean --steps 4 --size 8 --batch 4
case_run asan-fail clean --steps 4 --size 8 --batch 4 --fail --queue out-of-order --queues 2 --prefetch 2 --input-threads 2
case_run asan-itt clean --steps 4 --size 8 --batch 4 --ranges itt --pinned
level=(--level full)
case_run asan-full clean --steps 4 --size 8 --batch 4 --fuse
suite_end
