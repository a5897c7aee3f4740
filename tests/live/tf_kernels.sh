#!/bin/bash
# SPDX-License-Identifier: MIT
# What a TensorFlow program does on the processor: oneDNN's primitives against the
# list that oneDNN itself writes, memory, and the case study of max-pooling.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
cnn=$here/examples/train_cnn.py ask=profile_exec
need_tensorflow tf_kernels

# Of the report: an expression on j.
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval("(" + sys.argv[2] + ")"))' "$work/report" "$1"; }

# under ARGUMENTS…: the network into $work/report and $work/said
under() {
	"$tftop" -b --json="$work/report" ${probe:+--probe "$probe"} -- \
		"$python" "$cnn" --steps 8 "$@" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")"
}

# What there is to see: descriptions since 2.20, kinds by ITT since 2.14, but of matrix
# products (gemm_api).
described=$([ "$tf_minor" -ge 20 ] && echo 1) itt=$([ "$tf_minor" -ge 14 ] && echo 1)
[ -n "$itt" ] || ask=1	# of old, only numbers are understood

# Lines of primitives that ran, as "COUNT kind implementation", of what there is to see.
verbose() {
	awk -F, -v described="$described" -v itt="$itt" '/^onednn_verbose/ && itt {
			for (i = 2; i < 5 && $i != "exec"; i++)
				;
			if (i < 5 && (described || $(i + 2) != "gemm_api"))
				n[$(i + 3) == "" || !described ? $(i + 2) : $(i + 2) " " $(i + 3)]++ }
		END { for (k in n) print n[k], k }' "$1" | sort
}

seen() {
	report "'\n'.join('%d %s' % (k['count'], k['name']) for k in j['kernels']
		if not k['name'].endswith(', part') and k['name'] != 'ParallelFor')" | sed '/^$/d' | sort
}

# Each primitive once, by name, in the op that runs it; nothing else is written.
primitives() {
	ONEDNN_VERBOSE=$ask "$python" "$cnn" --steps 8 >"$work/bare" 2>"$work/errors" ||
		{ fail "bare: $(tail -n 1 "$work/errors")"; return; }
	under || return
	verbose "$work/bare" >"$work/truth"
	grep -q '^onednn_verbose' "$work/bare" || { skip "oneDNN runs nothing here"; return; }
	seen >"$work/seen"
	cmp -s "$work/truth" "$work/seen" ||
		{ fail "primitives: $(diff "$work/truth" "$work/seen" | tr '\n' ' ' | cut -c1-160)"; return; }
	cmp -s <(grep -v ^onednn_verbose "$work/bare") "$work/said" ||
		{ fail "its output is not the same: $(first_lines "$work/said")"; return; }
	got=$(report "sorted({(k['name'], o.get('name'), o['how']) for k in j['kernels']
		for o in k['ops'] if not k['name'].endswith(', part') and
		(o['how'] != 'exact' or not o.get('name') or
		 ('pooling' in k['name']) != ('MaxPool' in o['name']))})")
	[ "$got" = "[]" ] || { fail "in the wrong op: $got"; return; }
	got=$(report "[k['name'] for k in j['kernels'] if 'pooling' in k['name'] and
		not any(q['count'] for q in k['by_queue'])]")
	[ "$got" = "[]" ] || { fail "on no thread: $got"; return; }
	got=$(report "sum('oneDNN' in m['text'] for m in j['messages'])")
	[ "$got" = "$([ -n "$described" ] && echo 0 || echo 1)" ] ||
		{ fail "$got messages on what cannot be seen"; return; }
	got=$(report "[q['number'] for q in j['queues'] if q['number'] >= len(j['queues'])]")
	[ "$got" = "[]" ] || { fail "numbers of queues: $got"; return; }
	got=$(report "(j['devices'][0]['api'], j['trust']['lost_events'], 'impossible' in j['trust'])")
	[ "$got" = "('cpu', 0, False)" ] || fail "device, losses: $got"
}

# What the program asked for itself is written as without us, and seen as well.
asked() {
	ONEDNN_VERBOSE=$ask under || return
	verbose "$work/said" >"$work/truth"
	seen >"$work/seen"
	cmp -s "$work/truth" "$work/seen" ||
		{ fail "$(diff "$work/truth" "$work/seen" | tr '\n' ' ' | cut -c1-160)"; return; }
	[ "$(grep -c ',info,' "$work/said")" -ge 2 ] || fail "its first lines are missing"
}

# Kinds from ITT alone.
kinds() {
	local probe=-onednn
	under || return
	[ -n "$itt" ] || { skip "no ITT in this version, as a message says"; return; }
	[ "$(report "sorted(k['name'] for k in j['kernels'] if ':' in k['name'])")" = "[]" ] ||
		{ fail "described, though not asked"; return; }
	[ "$(report "sum(k['count'] for k in j['kernels'] if k['name'] == 'pooling')")" = 32 ] ||
		fail "not 32 poolings: $(seen | tr '\n' ' ')"
}

# The large tensors are chunks of the allocator's, live and peak as it says itself; the
# small ones are the system's, and none is told as both: regions have 1 MiB and more.
memory() {
	"$tftop" -b --json="$work/report" -- "$python" -c 'import json, os, runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
import tensorflow as tf
print(json.dumps(tf.config.experimental.get_memory_info("CPU:0")), flush=True)
os._exit(0)' "$cnn" --steps 8 >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	"$python" -c 'import json, sys
j, said = json.load(open(sys.argv[1])), json.loads(open(sys.argv[2]).read().splitlines()[-1])
m = {a["allocator"]: a for a in j["memory"]}
assert set(m) == {"mklcpu", "cpu"}, set(m)
for a in m.values():
    assert a["allocations"] > 50, a
    assert a["allocations"] >= a["frees"] > 0, a
    assert 0 <= a["live_bytes"] <= a["peak_bytes"] <= a["allocated_bytes"], a
    assert "unknown_frees" not in a and "missed_frees" not in a, a
large, small = m["mklcpu"], m["cpu"]
assert (large["live_bytes"], large["peak_bytes"]) == (said["current"], said["peak"]), (large, said)
assert large["chunks"]["used"] == large["allocations"] - large["frees"], large
assert 1 << 20 < large["chunks"]["reserved_bytes"], large
assert small["peak_bytes"] < 1 << 20, small
held = dict(zip(large["peak_ops"], large["peak_op_bytes"]))
assert held["Relu"] == 32 * 64 * 64 * 16 * 4 and sum(held.values()) <= large["peak_bytes"], held
assert j["trust"]["lost_events"] == 0 and not j["trust"].get("dropped"), j["trust"]' \
		"$work/report" "$work/said" 2>"$work/differ" ||
		fail "$(tail -n 1 "$work/differ" | cut -c1-200)"
}

# Of the truth that the program wrote: an expression with mean(WHAT), per step
# after the warm-up.
truth() { "$python" -c 'import json, sys
t = json.load(open(sys.argv[1]))
def mean(key):
    later = t[key]["series_ns"][2:]
    return sum(later) / len(later)
print(eval("(" + sys.argv[2] + ")"))' "$work/truth" "$1"; }

# Max-pooling is on the path with its cost and found with it, and is not without it.
maxpool() {
	local types="[t['type'] for t in j['critical_path']['types']]" found path whole
	under --steps 30 --truth "$work/truth" --stopwatch || return
	[ "$(report "sum('MaxPool' in t for t in $types)")" = 2 ] ||
		{ fail "not MaxPool and MaxPoolGrad: $(report "$types")"; return; }
	[ "$(report "all(t['ns'] > 0 for t in j['critical_path']['types']) and
		0 < sum(t['ns'] for t in j['critical_path']['types']) <= j['critical_path']['whole_ns']")" \
		= True ] || { fail "more than the step: $(report "j['critical_path']")"; return; }
	[ "$(report "(j['steps']['count'], j['steps']['source'])")" = "(30, 'train_step')" ] ||
		{ fail "steps"; return; }
	# by the clock in the graph, which has the executor's pauses in it too
	path=$(report "sum(t['ns'] for t in j['critical_path']['types'] if 'MaxPool' in t['type'])")
	[ "$(truth "0.5 * mean('pooling') < $path < 1.05 * mean('pooling')")" = True ] ||
		{ fail "$path ns on the path, not $(truth "mean('pooling')")"; return; }
	whole=$(report "j['critical_path']['whole_ns']")
	[ "$(truth "0.85 * mean('steps') < $whole < 1.05 * mean('steps')")" = True ] ||
		{ fail "a path of $whole ns, a step of $(truth "mean('steps')")"; return; }
	found=$(report "[(f['title'][:29], 0.3 * $path < f['cost_ns_per_step'] <= $path,
		f['lines'][0].count('MaxPool'), 'MaxPool' in f['evidence']['name'])
		for f in j['findings'] if f['id'] == 'costly-op']")
	[[ $found = "[('costly-op: pooling holds "*"', True, 2, True)]" ]] ||
		{ fail "found $found of $path: $(report "j['findings']")"; return; }
	under --all-conv --truth "$work/truth" --stopwatch || return
	[ "$(report "sum('MaxPool' in t for t in $types)")" = 0 ] ||
		{ fail "MaxPool in $(report "$types")"; return; }
	[ "$(truth "mean('pooling')")" = 0.0 ] || { fail "pooling in the program"; return; }
	found=$(report "[f['title'] for f in j['findings'] if f['id'] == 'costly-op']")
	[ "$found" = "[]" ] || fail "found all the same: $found"
}

case_run primitives primitives
case_run asked asked
case_run kinds kinds
case_run memory memory
case_run maxpool maxpool
suite_end
