#!/bin/bash
# SPDX-License-Identifier: MIT
# JAX with XLA's own plugin for GPUs, which compiles, launches and makes command buffers as on a
# GPU, on the doubles of the CUDA driver, of CUPTI and of NVML. The plugin takes 700 MB, so this
# is a part of make check-versions. CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
double=$O/tests/cuda
need_programs "$tftop" "$double/libcuda.so.1" "$double/libcudnn.so.9"
need_jax jax
version=$("$python" -c 'import jax; print(jax.__version__)')
plugin=$(tests/wheels.sh "jax-cuda13-pjrt==$version" "jax-cuda13-plugin==$version") || exit 1
program=$here/tests/programs/jax_gpu.py
unset XLA_FLAGS CUDA_DOUBLE CUPTI_DOUBLE
exec=

# on_gpu COMMAND…: with XLA's plugin and the doubles; the double's kernels in $work/truth. Without
# autotuning, for which XLA times the device.
on_gpu() {
	$exec env JAX_PLATFORMS=cuda JAX_SKIP_CUDA_CONSTRAINTS_CHECK=1 \
		XLA_FLAGS="${XLA_FLAGS:---xla_gpu_autotune_level=0}" \
		PYTHONPATH="$plugin" CUDA_DOUBLE_TRUTH="$work/truth" TF_CPP_MIN_LOG_LEVEL=3 \
		LD_LIBRARY_PATH="$double:$double/cudart:$double/nvml:$double/13.0" "$@"
}
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval("(" + sys.argv[2] + ")"))' "$work/report" "$1"; }

# COUNT runs of the loop, bare and under tftop
both() {
	on_gpu "$python" "$program" "$1" >"$work/bare" 2>"$work/errors" ||
		fail "bare: $(tail -n 1 "$work/errors")" || return
	on_gpu "$tftop" -b --no-config --json="$work/report" -- "$python" "$program" "$1" \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
	cmp -s "$work/bare" "$work/said" || fail "its output is not the same: $(first_lines "$work/said")"
}

# The double knows neither ops nor XLA's names of streams: what it did without them, into $work/plain.
plain_truth() {
	"$python" -c 'import json, sys
truth = json.load(open(sys.argv[1]))
del truth["ops"]
for kernel in truth["kernels"]:
    del kernel["ops"], kernel["by_queue"]
json.dump(truth, open(sys.argv[2], "w"))' "$work/truth" "$work/plain"
}

# Every kernel of the device, in the run of its program, under an instruction.
ops() {
	both 30 && plain_truth && "$python" tests/live/cuda_compare.py "$work/plain" "$work/report" >"$work/compared" ||
		fail "${why:-$(first_lines "$work/compared")}" || return
	is "coverage" "$(report "j['trust']['coverage']['ops'] > 0.95, j['trust']['lost_events']")" "(True, 0)" &&
		is "kernels of no instruction" "$(report "[(k['name'], k['ops']) for k in j['kernels'] for t in [
			{o['name']: o['type'] for o in j['ops']}] if [(o['how'], t.get(o['name'], 'HLO op'))
			for o in k['ops']] != [('exact', 'HLO op')]]")" '[]' &&
		is "the device" "$(report "[d['name'] for d in j['devices'] if d['api'] == 'cuda']")" "['Double GPU 0']" &&
		is "runs" "$(report "sorted((o['name'], o['count']) for o in j['ops'] if o['type'] == 'XLA run' and o['name'] in ('jit_train', 'jit_evaluate'))")" \
			"[('jit_evaluate', 3), ('jit_train', 30)]" &&
		is "launched by command buffers" "$(report "sum(o['kernels'] for o in j['ops'] if o['type'] == 'XLA command buffer') >= 90")" True
}
steps() {
	both 30 && is "steps" "$(report "j['steps']['count'], j['steps']['source']")" "(30, 'jit_train')" &&
		is "compiled" "$(report "sorted(c['what'] for c in j['compiles'] if c['what'] in ('XLA jit_train', 'XLA jit_evaluate')
			and 'jax_gpu.py:' in c['cause'])")" "['XLA jit_evaluate', 'XLA jit_train']" &&
		is "device time by lines" "$(report "[sum(l['device_ns'] for l in j['lines']) > 0.99 * sum(k['total_ns'] for k in j['kernels'])]")" '[True]' &&
		is "warnings" "$(report "[m['text'] for m in j['messages'] if m['level'] != 'info']")" '[]'
}
# Device time stands at the line that asked for it, inside the function too, whether XLA launches its
# kernels one by one or as a command buffer; what XLA gives no line has that of the call.
lines() {
	local flags
	for flags in '' --xla_gpu_enable_command_buffer=; do
		"$python" -c 'import sys
for n, line in enumerate(open(sys.argv[1]), 1):
    for mark in sys.argv[2:]:
        if mark in line:
            print(n)' "$program" 'jnp.tanh(' 'jnp.sort(' 'return w - 0.1' 'return jnp.max(' >"$work/wanted"
		XLA_FLAGS="--xla_gpu_autotune_level=0 $flags" on_gpu "$tftop" -b --no-config --json="$work/report" -- \
			"$python" "$program" 30 >"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
		is "lines with kernels inside the functions, '$flags'" "$(report "sorted(l['line'] for l in j['lines']
			if l['file'].endswith('jax_gpu.py') and l['kernels'] and l['line'] < 28)" | tr -d '[] ' | tr , '\n')" \
			"$(cat "$work/wanted")" || return
		is "kernels at lines, '$flags'" "$(report "sum(l['kernels'] for l in j['lines']) == sum(k['count'] for k in j['kernels'])")" True || return
	done
}
# Without the ranges that XLA marks it says what is not seen.
without() {
	on_gpu "$tftop" -b --no-config --json="$work/report" --probe -nvtx -- "$python" "$program" 10 \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")" || return
	is "said" "$(report "sum('seen only by the nvtx probe' in m['text'] for m in j['messages'])")" 1 &&
		is "calls" "$(report "[o['count'] for o in j['ops'] if o['name'] == 'train']")" '[10]'
}

# attach NAME: to the program in the middle of its runs, twice; it goes on
attach() {
	local turn
	for turn in first second; do
		"$tftop" -b --no-config --json="$work/report" --for 500ms -p "$running" >"$work/said" 2>&1 ||
			fail "$turn: status $?: $(tail -n 1 "$work/said")" || return
		kill -0 "$running" 2>/dev/null || fail "$turn: the program ended: $(tail -n 1 "$work/errors")" || return
	done
}
# attached PROBES WANTED: with these probes let in, the report has kernels, calls
attached() {
	local running status
	: >"$work/bare"
	exec=exec on_gpu TFTOP_ATTACH_XLA="$1" setpriv --pdeathsig KILL "$python" "$program" 100000000 \
		>"$work/bare" 2>"$work/errors" &
	running=$!
	wait_for 60 runs && attach &&
		is "kernels, calls" "$(report "sum(k['count'] for k in j['kernels']) > 0, any(o['name'] == 'train' for o in j['ops'])")" "$2"
	status=$?
	kill -TERM "$running" 2>/dev/null
	wait "$running"
	is "its end" $? 143 && return "$status"
}
runs() { grep -q . "$work/bare"; }

case_run ops ops
case_run steps steps
case_run lines lines
case_run without without
case_run attached-neither attached '' '(False, False)'
case_run attached-jax attached jax '(False, True)'
case_run attached-cuda attached cuda '(True, False)'
case_run attached-both attached jax,cuda '(True, True)'
suite_end
