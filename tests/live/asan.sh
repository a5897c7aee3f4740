#!/bin/bash
# SPDX-License-Identifier: MIT
# tftop, its probes and a C client of theirs, all built with the address and
# undefined-behaviour sanitizers (O): the example in the modes that touch most, and
# programs on the doubles of CUDA.
# Leaks of the program's own libraries (PoCL, LTTng) are not ours to judge.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop" "$train" "$compare" "$O/tests/cuda/cuda_stress"
unset CUDA_DOUBLE CUPTI_DOUBLE TFTOP_CUPTI_SHARED TFTOP_CUDA_GRAPHS CUDA_INJECTION64_PATH
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

# cuda RELEASE FAULT PROGRAM ARGS…: of the doubles; without a fault the report is what the
# device did.
cuda() {
	local release=$1 fault=$2 status
	CUPTI_DOUBLE=$fault TFTOP_CUPTI=$(echo "$O/tests/cuda/$release"/libcupti.so.*) \
		CUDA_DOUBLE_TRUTH=$work/truth timeout -k 5 100 "$tftop" --no-config \
		--json="$work/report.json" "${level[@]}" -- "$O/tests/cuda/$3" "${@:4}" >"$work/out" 2>&1
	status=$?
	! grep -qE 'AddressSanitizer|runtime error' "$work/out" ||
		fail "$(grep -hE 'AddressSanitizer|runtime error' "$work/out" | head -n 1)" || {
		grep -hE -A 12 'AddressSanitizer|runtime error' "$work/out" | sed 's/^/    /' | head -n 30
		return 1
	}
	[ $status = 0 ] || fail "exit status $status: $(first_lines "$work/out")" || return
	[ -n "$fault" ] || python3 tests/live/cuda_compare.py "$work/truth" "$work/report.json" \
		>"$work/compared" || fail "$(first_lines "$work/compared")"
}
export PYTHONDONTWRITEBYTECODE=1
level=()
case_run asan-default clean --steps 4 --size 8 --batch 4
case_run asan-fail clean --steps 4 --size 8 --batch 4 --fail --queue out-of-order --queues 2 --prefetch 2 --input-threads 2
case_run asan-itt clean --steps 4 --size 8 --batch 4 --ranges itt --pinned
level=(--level full)
case_run asan-full clean --steps 4 --size 8 --batch 4 --fuse
for script in streams graphs memory odd; do
	case_run "asan-cuda-$script" cuda 13.0 "" cuda_play --quiet tests/data/cuda/$script.play
done
case_run asan-cuda-old cuda 11.4 "" cuda_play --quiet tests/data/cuda/odd.play
case_run asan-cuda-new cuda 13.4 "" cuda_play --quiet tests/data/cuda/odd.play
case_run asan-cuda-faults cuda 13.0 disorder,half,unknown=3,future=24,zero=5,drop=7 \
	cuda_play --quiet tests/data/cuda/streams.play
case_run asan-cuda-launch cuda 13.0 "" cuda_stress launch 8 4000
case_run asan-cuda-streams cuda 13.0 "" cuda_stress streams 4 500
# No program that forks beside its threads: of gcc's runtime the allocator's locks are then held in the
# child by whom it has not; cuda.sh has one.
suite_end
