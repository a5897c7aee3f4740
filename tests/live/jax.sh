#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs of JAX on the wheel: kernels and calls against JAX's own profiler, which stays
# what it is; nothing of the programs changed. CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
train=$here/examples/train_jax.py loops=$here/tests/programs/jax_loops.py
fresh=$here/tests/programs/jax_fresh.py judge=$here/tests/live/jax_compare.py
need_jax jax

# Of the report: an expression on j; args are the words behind it.
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
args = sys.argv[3:]
print(eval("(" + sys.argv[2] + ")"))' "$work/report" "$@"; }

# under PROGRAM ARGUMENTS…: into $work/report and $work/said; with the options in $options
options=()
under() {
	"$tftop" -b --json="$work/report" --level "${level:-default}" "${options[@]}" -- "$python" "$@" \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")"
}

# bare PROGRAM ARGUMENTS…: under JAX's own profiler, into $plain/bare and $plain/profile
bare() {
	plain=$work
	"$python" "$@" --profile "$plain/profile" >"$plain/bare" 2>"$work/errors" ||
		fail "bare: $(tail -n 1 "$work/errors")"
}
# The loops, once for all cases.
bare_loops() {
	local work
	made_once bare bare "$loops" || return
	plain=$work
}

same() {
	cmp -s "$plain/bare" "$work/said" || fail "its output is not the same: $(first_lines "$work/said")"
}

# compare A B: profiles and reports
compare() {
	local got
	got=$("$python" "$judge" "$@") || { fail "$(tr '\n' ' ' <<<"$got" | cut -c1-200)"; return; }
	why=${why:+$why; }$got
}

# Of every kernel and call its count, and each kernel in the run of its program.
counts() { bare "$@" && under "$@" && counted; }
counts_loops() { bare_loops && made_once watched under "$loops" && counted; }
counted() {
	same && compare "$plain/profile" "$work/report" || return
	[ "$(report "[k['name'] for k in j['kernels'] for o in k['ops'] if o['how'] != 'exact']")" = "[]" ] ||
		{ fail "kernels in no run"; return; }
	[ "$(report "(j['trust']['lost_events'], 'impossible' in j['trust'], j['devices'][0]['api'])")" = \
		"(0, False, 'cpu')" ] || { fail "losses, device: $(report "j['trust']")"; return; }
	# that something of this jaxlib is not known, and costs more
	[ "$(report "[m['text'] for m in j['messages'] if m['text'].startswith('jax: ')]")" = "[]" ] ||
		fail "it says $(report "j['messages']")"
}

# The program's own profiler has what it has without us.
profiler() {
	bare_loops && under "$loops" --profile "$work/ours" && same || return
	compare "$plain/profile" "$work/ours" && compare "$plain/profile" "$work/report"
}

# Steps, runs and their call; compilations, and how often a function was traced.
steps() {
	under "$train" --steps 12 --truth "$work/truth" || return
	[ "$(report "(j['steps']['count'], j['steps']['source'])")" = "(12, 'jit_train_step')" ] ||
		{ fail "steps: $(report "(j['steps']['count'], j['steps']['source'])")"; return; }
	[ "$(report "[(o['count'], o['type']) for o in j['ops'] if 'train_step' in o['name']]")" = \
		"[(12, 'XLA run'), (12, 'PjitFunction')]" ] || { fail "ops: $(report "j['ops']")"; return; }
	[ "$(report "[(c['count'], c['cause'][:5]) for c in j['compiles'] if 'train_step' in c['what']]")" \
		!= "[]" ] || { fail "no compilation"; return; }
	[ "$(report "min(j['steps']['series_ns']) > 0")" = True ] || fail "steps of no length"
}
# The runs of the function that the loop calls, each of them, although others took longer at first.
loop_runs() {
	under "$here/tests/programs/jax_runs.py" 300 || return
	[ "$(report "(j['steps']['count'], j['steps']['source'])")" = "(300, 'jit_decode')" ] ||
		fail "steps: $(report "(j['steps']['count'], j['steps']['source'])")"
}
# What the stopwatch in the program says, less what it computes between.
step_times() {
	under "$train" --steps 12 --truth "$work/truth" || return
	got=$(report "j['steps']['series_ns'][4:]" | tr -d '[],' | tr ' ' '\n' | sort -n | sed -n 4p)
	want=$("$python" -c 'import json, sys
print(sorted(json.load(open(sys.argv[1]))["steps"]["series_ns"][4:])[3])' "$work/truth")
	[ "$got" -gt $((want / 2)) ] || fail "a step of $got ns, by the stopwatch $want"
}

# A function that is compiled anew in each step says so.
recompile() {
	local line
	under "$train" --steps 6 --recompile --truth "$work/truth" || return
	got=$(report "sum(c['count'] for c in j['compiles'] if c['what'] == 'XLA jit_train_step')")
	[ "$got" = 6 ] || { fail "compiled: $(report "j['compiles']")"; return; }
	got=$(report "sorted(c['cause'] for c in j['compiles'] if c['what'] == 'trace train_step()')")
	[ "$got" = "['trace 1', 'trace 2', 'trace 3', 'trace 4', 'trace 5', 'trace 6']" ] ||
		{ fail "traced: $got"; return; }
	line=$("$python" -c 'import json, sys
print(json.load(open(sys.argv[1]))["lines"]["recompile"])' "$work/truth")
	[ "$(report "all(c['cause'].split()[0].endswith('train_jax.py:' + args[0])
		for c in j['compiles'] if c['what'] == 'XLA jit_train_step')" "$line")" = True ] ||
		fail "compiled for other lines than $line: $(report "j['compiles']")"
}

# A wait for each result that is fetched, and the line of the call; as they cross the wire.
waits() {
	local line
	"$tftop" -b -o "$work/recording" -- "$python" "$train" --steps 10 --layers 3 --host-sync \
		--truth "$work/truth" >"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	babeltrace2 "$work/recording" >"$work/events" 2>/dev/null
	got=$(grep -c ' tftop:ev_wait: ' "$work/events")
	[ "$got" = 70 ] || { fail "$got waits for 10 losses and 60 norms"; return; }
	line=$("$python" -c 'import json, sys
print(json.load(open(sys.argv[1]))["lines"]["step"])' "$work/truth")
	grep -q " tftop:def_frame: .* line = $line[ ,]" "$work/events" ||
		fail "no call at line $line: $(grep -o 'def_frame.*' "$work/events" | head -n 2 | tr '\n' ' ')"
}

# Each copy of an array of the host, with its bytes and its line; none where there is none.
copies() {
	under "$here/tests/programs/jax_copies.py" "$work/truth" || return
	[ "$(report "(sum(c['count'] for c in j['copies']), sum(c['bytes'] for c in j['copies'])) ==
		tuple(json.load(open(args[0]))[k] for k in ('count', 'bytes'))" "$work/truth")" = True ] ||
		{ fail "of $(cat "$work/truth"): $(report "j['copies']")"; return; }
	[ "$(report "{str(l['line']): l['copies'] for l in j['lines']} ==
		json.load(open(args[0]))['lines']" "$work/truth")" = True ] ||
		{ fail "of $(cat "$work/truth"): $(report "[(l['line'], l['copies']) for l in j['lines']]")"; return; }
	[ "$(report "[sum(c[k] for c in j['copies'] if c['direction'] == 'd2d')
		for k in ('count', 'bytes')] == json.load(open(args[0]))['between']" "$work/truth")" = True ] ||
		{ fail "between devices, of $(cat "$work/truth"): $(report "j['copies']")"; return; }
	[ "$(report "[(m['allocations'], m['peak_bytes'], m['peak_ops'], m['peak_op_bytes'])
		for m in j['memory']] == [(8, n, ['device_put'], [n])
		for n in [json.load(open(args[0]))['memory']]]" "$work/truth")" = True ] ||
		fail "memory: $(report "j['memory']")"
}

# At level off nothing is seen; at min kernels are, and no ops.
levels() {
	local level=off
	bare_loops && under "$loops" && same || return
	[ "$(report "len(j['kernels']) + len(j['ops'])")" = 0 ] || { fail "seen at off"; return; }
	level=min
	under "$loops" && same || return
	[ "$(report "(len(j['kernels']) > 0, sum(o['count'] for o in j['ops']))")" = "(True, 0)" ] || { fail "at min"; return; }
	level=full
	under "$loops" && same || return
	[ "$(report "any(o['name'] == 'ParseArguments' for o in j['ops'])")" = True ] ||
		fail "no parts of calls at full"
}

# Off and on again in the middle, many times, while it computes.
toggled() {
	"$tftop" -b -- "$python" "$here/tests/programs/jax_cost.py" tiny --pairs 6 --steps 20 \
		>"$work/said" 2>"$work/errors" || { fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	grep -qE '^[0-9.]+( -?[0-9.]+){3}$' "$work/said" || fail "it said $(first_lines "$work/said")"
}

# A child of fork has its own.
forked() {
	local both one
	under "$loops" --fork || return
	both=$(report "sum(k['count'] for k in j['kernels'])")
	made_once watched under "$loops" || return
	one=$(report "sum(k['count'] for k in j['kernels'])")
	[ "$both" = $((2 * one)) ] && [ "$one" -gt 0 ] || fail "$one kernels, with a child $both"
}

# without OPTION...: of objcopy; $loops under tftop with such a wheel
without() {
	bare_loops || return
	local lib=${python%/bin/python} part
	lib=$(dirname "$(echo "$lib"/lib/python*/site-packages/jaxlib/libjax_common.so)")
	command -v objcopy >/dev/null || { skip "no objcopy"; return 1; }
	mkdir -p "$work/site/jaxlib"
	for part in "$lib"/*; do
		case $part in
		*/libjax_common.so) objcopy "$@" "$part" "$work/site/jaxlib/libjax_common.so" ;;
		*.so) cp "$part" "$work/site/jaxlib/" ;;
		*) ln -s "$part" "$work/site/jaxlib/" ;;
		esac || { skip "no room for a copy of the library"; return 1; }
	done
	export PYTHONPATH=$work/site
	under "$loops" && same
	part=$?
	unset PYTHONPATH
	return $part
}

# with wildcards: absl's version is in the names, and since 0.12 classes have others
linearize='_ZN3xla*Client23LinearizeHostBufferIntoEPKv*'
raw_copy='_ZN3xla12CpuRawBuffer33CopyRawHostToDeviceAndReturnEventEPKvll*'

# Where single functions are not known the rest is seen, and what is missing is said.
partly() {
	local said
	without -w -N _ZN3xla3cpu9CallThunk7ExecuteERKNS0_5Thunk13ExecuteParamsE \
		-N PjitFunction_tp_dealloc -N "$linearize" -N _ZN3xla12_GLOBAL__N_113AlignedMemoryD0Ev \
		-N "$raw_copy" || return
	compare "$plain/profile" "$work/report" || return
	for said in 'how this jaxlib stores its kernels is unknown' \
		"copies of host arrays to the device: how this jaxlib makes them is unknown" \
		'blocks of memory: how this jaxlib allocates them is unknown' \
		'copies between devices: how this jaxlib makes them is unknown'; do
		[ "$(report "any(args[0] in m['text'] for m in j['messages'])" "$said")" = True ] ||
			{ fail "not said: $said"; return; }
	done
}

# What is not seen of GPUs without NVTX is said when their plug-in is there.
plugin() {
	local options=(--probe -nvtx)
	mkdir -p "$work/lib"
	echo 'void *GetPjrtApi(void) { return 0; }' |
		gcc -shared -fPIC -x c -o "$work/lib/xla_cuda_plugin.so" - || { fail 'not built'; return; }
	under -c 'import ctypes, sys, jax; ctypes.CDLL(sys.argv[1])' "$work/lib/xla_cuda_plugin.so" || return
	is "said" "$(report "sum('on a GPU are seen only by the nvtx probe' in m['text'] for m in j['messages'])")" 1 || return
	options=()
	under -c 'import ctypes, sys, jax; ctypes.CDLL(sys.argv[1])' "$work/lib/xla_cuda_plugin.so" &&
		is "said with NVTX" "$(report "[m['text'] for m in j['messages']]")" '[]'
}

# A wheel without symbols runs as without us, and what is missing is said.
stripped() {
	without --strip-all || return
	[ "$(report "len(j['kernels'])")" = 0 ] || { fail "kernels"; return; }
	[ "$(report "[m['text'] for m in j['messages'] if m['text'].startswith('jax: this wheel is stripped')]")" \
		!= "[]" ] || fail "nothing said: $(report "j['messages']")"
}

case_run train counts "$train" --steps 8
case_run loops counts_loops
case_run fresh counts "$fresh"
case_run profiler profiler
case_run steps steps
case_run loop-runs loop_runs
case_run recompile recompile
case_run waits waits
case_run copies copies
case_run levels levels
case_run toggled toggled
case_run forked forked
case_run partly partly
case_run plugin plugin
case_run stripped stripped
case_timed steps-times step_times
suite_end
