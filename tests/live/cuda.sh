#!/bin/bash
# SPDX-License-Identifier: MIT
# CUDA programs on the doubles of the driver and of CUPTI, under the whole of tftop: what the
# report says is what the simulated device did, on several releases, at 200 000 kernels a
# second, and where CUPTI's records are late, incomplete or in no order.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
double=$O/tests/cuda
need_programs "$tftop" "$double/cuda_play" "$double/cuda_stress"
unset CUDA_DOUBLE CUPTI_DOUBLE TFTOP_CUPTI TFTOP_CUPTI_SHARED TFTOP_CUDA_GRAPHS TFTOP_CUDA_RECORD TFTOP_NVML CUDA_INJECTION64_PATH

# play RELEASE SCRIPT OPTION…: under tftop, into $work/truth and $work/report
play() {
	local release=$1 script=$2
	shift 2
	TFTOP_CUPTI=$(echo "$double/$release"/libcupti.so.*) CUDA_DOUBLE_TRUTH=$work/truth \
		timeout -k 5 60 "$tftop" --no-config --json="$work/report" "$@" -- \
		"$double/cuda_play" --quiet "tests/data/cuda/$script.play" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors") $(tail -n 1 "$work/said")"
}
# equal OPTION…: the two
equal() {
	python3 tests/live/cuda_compare.py "$@" "$work/truth" "$work/report" >"$work/compared" && return
	head -n 8 "$work/compared"
	fail "$(head -n 1 "$work/compared")"
}
# report EXPRESSION: on j
report() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/report" "$1"; }

script() {
	play "$@" && equal && is "settled" "$(report "j['trust']['settled']")" True &&
		is "warnings" "$(report "[m['text'] for m in j['messages'] if m['level'] != 'info']")" '[]'
}

# CUPTI's behaviour FAULT with a SCRIPT, and the options of the comparison.
fault() {
	local what=$1 script=$2
	shift 2
	export CUPTI_DOUBLE=$what
	play 13.0 "$script"
	local status=$?
	unset CUPTI_DOUBLE
	[ $status = 0 ] && equal "$@"
}

# How the reader got on with so much is not the probe's matter: PROGRAM waits for it, but for the
# one that a clock judges.
rate() {
	play 13.0 rate "$@" && equal && is "all attributed" \
		"$(report "[j['trust']['coverage'][k] for k in ('launched', 'ops')]")" '[1.0, 1.0]'
}

min() {
	play 13.0 train --level min && is "kernels without ops" \
		"$(report "sum(k['count'] for k in j['kernels']), len(j['ops'])")" "(420, 0)"
}

names() {
	play 13.0 streams && is "the default stream" \
		"$(report "'default stream' in [q['name'] for q in j['queues']]")" True &&
		is "one device by its address" "$(report "len({d['address'] for d in j['devices']})")" 2 || return
}

# Held back by CUPTI for over two seconds: what was launched is waited for, and all of it is in
# its slice of time. (What is late all the same: analyses_engine_test.c.)
held() {
	fault hold=3 held && is "late" "$(report "j['trust'].get('late', 0)")" 0
}

# The host is ahead of the device, as in a training, and kernels are few and long: each slice
# of time has its own, and nothing comes late.
ahead() {
	script 13.0 ahead && is "late" "$(report "j['trust'].get('late', 0)")" 0
}
ahead_works() {
	script 13.0 ahead && is "of the steps the device worked" \
		"$(report "j['steps']['breakdown']['compute_ns'] > 0.9 * j['steps']['breakdown']['step_ns']")" True
}

# Two processes share the device, each with streams of its own.
processes() {
	TFTOP_CUPTI=$double/13.0/libcupti.so.13 timeout -k 5 60 "$tftop" --no-config --json="$work/report" -- \
		sh -c '"$1" --quiet tests/data/cuda/train.play & "$1" --quiet tests/data/cuda/graphs.play; wait' \
		sh "$double/cuda_play" >"$work/said" 2>&1 || fail "status $?: $(tail -n 1 "$work/said")" || return
	is "devices" "$(report "[len(d['pids']) for d in j['devices']]")" "[2]" &&
		is "kernels" "$(report "sum(k['count'] for k in j['kernels'])")" 700
}

# stress ARGUMENT…: of cuda_stress
stress() {
	TFTOP_CUPTI=$double/13.0/libcupti.so.13 CUDA_DOUBLE_TRUTH=$work/truth \
		timeout -k 5 60 "$tftop" --no-config --json="$work/report" -- \
		"$double/cuda_stress" "$@" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors") $(tail -n 1 "$work/said")"
}

# Numbers of calls begin anew, while threads launch.
wrap() {
	local status
	export CUDA_DOUBLE=correlation=4294960000
	stress launch 4 4000
	status=$?
	unset CUDA_DOUBLE
	[ $status = 0 ] && equal
}

# More streams than there are places: what runs on the others is seen, on one.
further() {
	stress streams 2 2400 && is "kernels" "$(report "sum(k['count'] for k in j['kernels'])")" 4800 &&
		is "the others" "$(report "[q['kernels'] > 600 for q in j['queues'] if q['name'] == 'further streams']")" '[True]' &&
		is "said" "$(report "sum('more than 4096 streams' in m['text'] for m in j['messages'])")" 1
}

# Threads that launch once each, faster than buffers are asked for by the clock.
threads() {
	stress threads 16 200 && is "kernels" "$(report "sum(k['count'] for k in j['kernels'])")" 3200
}

# Children made while other threads launch and the probe's own are at work.
forks() {
	stress fork 4 4000 && equal && is "of the children" \
		"$(report "sum(o['count'] for o in j['ops'] + j.get('ranges', []) if o['name'] == 'in a child')")" "$(sed -n 's/^children //p' "$work/said")"
}

# What CUPTI still has when the process ends by _exit.
ends() {
	${CC:-cc} -D_GNU_SOURCE -I. -o "$work/cuda_test" tests/probes/cuda_test.c -L"$double" \
		-Wl,-rpath,"$double" -l:libcuda.so.1 -ldl -lpthread 2>"$work/errors" || fail "$(first_lines "$work/errors")" || return
	TFTOP_CUPTI=$double/13.0/libcupti.so.13 timeout -k 5 60 "$tftop" --no-config --json="$work/report" -- \
		"$work/cuda_test" _exit >"$work/said" 2>&1
	is "status" $? 3 && is "the last kernel" "$(report "[(k['name'], k['count']) for k in j['kernels']]")" "[('last', 1)]"
}

# Variables that say what cannot be: each has a message, and nothing is missing.
wishes() {
	mkfifo "$work/pipe" || return
	export TFTOP_CUDA_GRAPHS=some TFTOP_CUDA_RECORD=$work/pipe
	play 13.0 graphs
	local status=$?
	unset TFTOP_CUDA_GRAPHS TFTOP_CUDA_RECORD
	[ $status = 0 ] && equal && is "messages" "$(report "[' '.join(m['text'].split()[:2]) for m in j['messages']]")" \
		"[\"cuda: TFTOP_CUDA_GRAPHS='some'\", \"cuda: TFTOP_CUDA_RECORD='$work/pipe'\"]"
}

# CUPTI is left alone; ops are there.
without() {
	play 13.0 train --probe -cuda && is "no device, but ops" \
		"$(report "len([d for d in j['devices'] if d['api'] == 'cuda']), 'forward' in [o['name'] for o in j['ops'] + j.get('ranges', [])]")" "(0, True)"
}

case_run rate rate --lossless
case_timed rate-unslowed rate
case_timed ahead-works ahead_works
for s in train graphs branches long memory odd streams; do
	case_beside "$s" script 13.0 "$s"
done
for r in 11.4 12.6 12.9 13.4; do
	case_beside "streams $r" script "$r" streams
	case_beside "graphs $r" script "$r" graphs
done
case_beside held held
case_beside ahead ahead
case_beside full script 13.0 train --level full
case_beside min min
for f in disorder half hold=3 future=24 uncorrelated; do
	case_beside "$f" fault "$f" streams
done
case_beside dropped fault drop=7 held --dropped
case_beside names names
case_beside processes processes
case_beside wrap wrap
case_beside further further
case_beside threads threads
case_beside forks forks
case_beside ends ends
case_beside wishes wishes
case_beside without without
suite_end
