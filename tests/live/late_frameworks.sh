#!/bin/bash
# SPDX-License-Identifier: MIT
# Probes of frameworks that come into a program in the midst of its training: each step
# from then on is seen whole, and the training goes on as it would have.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
export PYTHONDONTWRITEBYTECODE=1 TF_CPP_MIN_LOG_LEVEL=3

report() { python3 -c 'import json, sys
j, t = (json.load(open(f)) for f in sys.argv[1:3])
print(eval(sys.argv[3]))' "$work/report" "$work/truth" "$1"; }

is() { [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"; }

# late FRAMEWORK HOW [STATUS]: all that tftop sets for PROGRAM is taken from it; what an attached
# one gets comes late
late() {
	"$tftop" -b --json="$work/report" -- bash -c '
		LATE_ENVIRONMENT=$(env | grep -E "^(TFTOP_|LTTNG_)") LATE_LIBRARY=${LD_PRELOAD%%:*}
		export LATE_ENVIRONMENT LATE_LIBRARY
		unset LD_PRELOAD OPENCL_LAYERS CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH \
			INTEL_LIBITTNOTIFY64 $(compgen -e TFTOP_) $(compgen -e LTTNG_)
		exec "$@"' bash "$python" tests/programs/late.py "$1" "$work/truth" "$2" >"$work/said" 2>&1
	is status $? "${3:-0}" || fail "$why: $(tail -n 1 "$work/said")" || return
	is "tftop_probe_attach()" "$(report "t['attached']")" 0
}

# said WORDS: of what it cannot see
said() { is "said" "$(report "any('$1' in m['text'] for m in j['messages'])")" True; }

# The losses are those of a run without tftop, bit for bit.
unharmed() {
	"$python" tests/programs/late.py "$1" "$work/alone" still >"$work/said" 2>&1 ||
		fail "alone: $(tail -n 1 "$work/said")" || return
	is "same losses" "$(python3 -c 'import json, sys
a, b = (json.load(open(f))["losses"] for f in sys.argv[1:3])
n = min(len(a), len(b))
print(n > 100 and a[:n] == b[:n])' "$work/truth" "$work/alone")" True
}

# counts NAME…: each of these ops ran once a step
counts() {
	local name
	for name; do
		is "$name" "$(report "(lambda n: t['after'] <= n <= t['after'] + t['during'] + (t['during'] > 0) or n)(
			sum(o['count'] for o in j['ops'] if o['name'] == '$name'))")" True || return
	done
}

declare -A once=([torch]="addmm convolution_backward SGD.step"
	[tensorflow]="sequential_1/conv2d_1/Relu sequential_1/dense_1/BiasAdd
		gradient_tape/sequential_1/conv2d_1/convolution/Conv2DBackpropFilter")
# The lines that an op's calls come from, and the steps.
seen() {
	counts ${once[$1]} &&
		is "steps" "$(report "(lambda n: t['after'] - 1 <= n <= t['after'] + t['during'] + 1 or n)(j['steps']['count'])")" True &&
		is "lines" "$(report "any(l['file'].endswith('late.py') for l in j['lines'])")" True &&
		is "lost" "$(report "j['trust']['lost_events']")" 0
}

midst() { late "$1" "$2" && seen "$1" && said "was in use before tftop came" && unharmed "$1"; }
first() { late "$1" first && seen "$1"; }
closing() { late "$1" closing 3 && seen "$1" && is "its end" "$(report "[p['exit_status'] for p in j['processes']]")" "[3]"; }

for framework in torch tensorflow; do
	if [ $framework = torch ]; then need_pytorch late_frameworks; else need_tensorflow late_frameworks; fi
	case_beside "$framework-racing" midst $framework racing
	case_beside "$framework-first" first $framework
	case_beside "$framework-closing" closing $framework
	case_together
done
suite_end
