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

# By the name of this library XLA is known to compute on a GPU.
make_xla_plugin() { echo 'int x;' | ${CC:-cc} -shared -fPIC -x c -o "$work/xla_cuda_plugin.so" -; }

# What XLA marks and launches: kernels under their instructions, also those of a command buffer, and
# runs of the program that are steps.
xla() {
	make_xla_plugin || return
	# shellcheck disable=SC2016
	TFTOP_CUPTI=$double/13.0/libcupti.so.13 CUDA_DOUBLE_TRUTH=$work/truth \
		timeout -k 5 60 "$tftop" --no-config --json="$work/report" -- \
		sh -c 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"' "$work/xla_cuda_plugin.so" "$double/cuda_xla" 30 \
		>"$work/said" 2>&1 ||
		fail "status $?: $(tail -n 1 "$work/said")" || return
	equal && is "ops" "$(report "sorted((o['name'], o.get('type', ''), o['framework'], o['count']) for o in j['ops'])")" \
		"[('command_buffer_1', 'XLA command buffer', 'jax', 30), ('input_reduce_fusion', 'HLO op', 'jax', 30), ('jit_train', 'XLA run', 'jax', 30)]" &&
		is "ranges" "$(report "sorted((r['name'], r['framework'], r['count']) for r in j['ranges'])")" \
			"[('XlaCompile', 'jax', 1), ('XlaPass', 'jax', 2), (\"a text of the program's own\", 'nvtx', 1)]" &&
		is "steps" "$(report "j['steps']['count'], j['steps']['source']")" "(30, 'jit_train')"
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

# client_got FILE: without the empty buffers that CUPTI holds, and without what the double of 13.0
# makes of times where a client sets a clock: every so many records have none, as with the real one
client_got() { sed 's/ in [0-9]* ns, [1-9][0-9]* without an end//; s/, [0-9]* buffers out//' "$work/$1"; }
# client VARIANT RELEASE WHAT ROUNDS THREADS [WORD OF CUPTI_DOUBLE]: a program with a profiler of its
# own gets there what it gets alone, and tftop all that is launched while it has the device.
client() {
	local program=$double/$1 library
	library=$(echo "$double/$2"/libcupti.so.*)
	export CUDA_BESIDE_LIB=$library TFTOP_CUPTI=$library CUPTI_DOUBLE=${6:-}
	"$program" "$3" "$4" "$5" >"$work/alone" 2>&1 || fail "alone: $(tail -n 1 "$work/alone")" || return
	CUDA_BESIDE_WAIT=60 timeout -k 5 100 "$tftop" --no-config --json="$work/report" -- \
		"$program" "$3" "$4" "$5" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors") $(tail -n 1 "$work/said")" || return
	unset CUDA_BESIDE_LIB TFTOP_CUPTI CUPTI_DOUBLE
	is "what the program's profiler got" "$(client_got said)" "$(client_got alone)" &&
		client_report "$(($4 + ($([ "$3" = exit ] && echo 0 || echo 1))))"
}
# client_report ROUNDS: how often kernels ran alone
client_report() {
	is "alone, profiled" "$(report "[sum(k['count'] for k in j['kernels'] if k['name'] == n) for n in ('alone', 'profiled')]")" \
		"[$((50 * $1)), 0]" &&
		is "lost" "$(report "j['trust'].get('lost_events', 0), j['trust'].get('vendor_dropped', 0)")" "(0, 0)" &&
		is "the gap, which is not off" "$(report "[(d['taken_ns'] > 0, 'paused_ns' in d) for d in j['devices'] if d['api'] == 'cuda']")" \
			"[(True, False)]" &&
		is "said once" "$(report "sum(\"the program's own profiler has the device\" in m['text'] for m in j['messages'])")" 1
}

# tftop comes to a program that goes on to profile itself.
client_attached() {
	local pid library=$double/13.0/libcupti.so.13
	CUDA_BESIDE_LIB=$library "$double/$1" "$2" 2 0 >"$work/alone" 2>&1
	CUDA_BESIDE_LIB=$library CUDA_BESIDE_WAIT=60 "$double/$1" "$2" 2 0 >"$work/said" 2>&1 &
	pid=$!
	wait_for 10 grep -qsx waiting "/proc/$pid/comm" || fail "it does not begin" || return
	timeout -k 5 60 "$tftop" --no-config --json="$work/report" -p "$pid" >/dev/null 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	wait "$pid" || fail "the program: $? $(tail -n 1 "$work/said")" || return
	is "what the program's profiler got" "$(client_got said)" "$(client_got alone)" && client_report 3
}

# The text of a report and a recording know it, too.
client_shown() {
	CUDA_BESIDE_WAIT=60 timeout -k 5 100 "$tftop" --no-config -b -o "$work/recording" -- \
		"$double/cuda_beside_linked" torch 2 0 >"$work/text" 2>&1 || fail "status $?" || return
	"$tftop" --no-config -b "$work/recording" >"$work/again" 2>&1
	is "the report, the recording" "$(for f in text again; do
		grep -c "excluding .* in which the program's own profiler had the device" "$work/$f"; done)" "$(printf '1\n1')" || return
	"$tftop" --no-config --export "chrome:$work/gap.json" "$work/recording" >"$work/said" 2>&1 || fail "$(tail -n 1 "$work/said")" || return
	"$tftop" --no-config -b "$work/gap.json" >"$work/again" 2>&1
	is "an export of it" "$(grep -c 'not shown: .* of category taken: ' "$work/again")" 1
}

# Where XLA computes on a GPU, tftop does not come back: it may be launching graphs. The program
# waits for it in vain.
client_stays_out() {
	local code
	make_xla_plugin || return
	# shellcheck disable=SC2016
	CUDA_BESIDE_WAIT=4 timeout -k 5 100 "$tftop" --no-config --json="$work/report" -- \
		sh -c 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"' "$work/xla_cuda_plugin.so" \
		"$double/cuda_beside_linked" torch 2 0 >"$work/said" 2>&1
	code=$?
	is "its exit status" "$code" 5 &&
		is "said" "$(report "sum('beginning to use CUPTI while XLA launches CUDA graphs' in m['text'] for m in j['messages'])")" 1 &&
		is "alone, profiled" "$(report "[sum(k['count'] for k in j['kernels'] if k['name'] == n) for n in ('alone', 'profiled')]")" "[50, 0]"
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
case_beside xla xla
case_beside wrap wrap
case_beside further further
case_beside threads threads
case_beside forks forks
case_beside ends ends
case_beside wishes wishes
case_beside without without
case_beside client-linked client cuda_beside_linked 13.0 torch 3 0
case_beside client-threads client cuda_beside_linked 13.0 torch 3 4
for r in 11.8 12.6 13.0 13.4; do
	case_beside "client-torch $r" client cuda_beside "$r" torch 2 0
	case_beside "client-xla $r" client cuda_beside "$r" xla 2 2
done
case_beside client-calls client cuda_beside 13.0 calls 2 0
case_beside client-clings client cuda_beside 13.0 xla 3 0 clings
case_beside client-ends client cuda_beside_linked 13.0 exit 2 2
case_beside client-attached client_attached cuda_beside_linked torch
case_beside client-attached-xla client_attached cuda_beside xla
case_beside client-shown client_shown
case_beside client-stays-out client_stays_out
suite_end
