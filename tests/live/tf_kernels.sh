#!/bin/bash
# SPDX-License-Identifier: MIT
# What a TensorFlow program does on the processor: oneDNN's primitives against the
# list that oneDNN itself writes, memory, and the case study of max-pooling.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
cnn=$here/examples/train_cnn.py ask=profile_exec
need_tensorflow tf_kernels
# As TensorFlow sets it itself where the processor has AVX-512's or AMX's products of integers.
export TF_ENABLE_ONEDNN_OPTS=1

# Of the report: an expression on j.
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval("(" + sys.argv[2] + ")"))' "$work/report" "$1"; }

# under [PROGRAM] ARGUMENTS…: the network, or that, into $work/report and $work/said
under() {
	[[ ${1:-} = *.py ]] || set -- "$cnn" --steps 8 "$@"
	"$tftop" -b --json="$work/report" ${config:+--config "$config"} ${level:+--level "$level"} \
		${probe:+--probe "$probe"} -- "$python" "$@" >"$work/said" 2>"$work/errors" ||
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

# with_memory: a program that runs another and then says what its allocator has
with_memory() {
	cat >"$work/program.py" <<'END'
import json, os, runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
import tensorflow as tf
print(json.dumps(tf.config.experimental.get_memory_info("CPU:0")), flush=True)
os._exit(0)
END
}

# Each primitive once, by name, in the op that runs it; nothing else is written. They are too few
# for any limit: 400 lines in a tenth of a second are the first that are too many.
primitives() {
	with_memory
	ONEDNN_VERBOSE=$ask "$python" "$work/program.py" "$cnn" --steps 8 >"$work/bare" 2>"$work/errors" ||
		{ fail "bare: $(tail -n 1 "$work/errors")"; return; }
	under "$work/program.py" "$cnn" --steps 8 || return
	cp "$work/report" "$work/said" "$tmp"
	verbose "$work/bare" >"$work/truth"
	got=$(awk '{ n += $1 } END { print n + 0 }' "$work/truth")
	[ "$got" -le 400 ] && [ "$got$itt" != 01 ] || { fail "$got primitives, not 1 to 400"; return; }
	seen >"$work/seen"
	cmp -s "$work/truth" "$work/seen" ||
		{ fail "primitives: $(diff "$work/truth" "$work/seen" | tr '\n' ' ' | cut -c1-160)"; return; }
	# the peak depends on what ran at once
	cmp -s <(grep -vE '^onednn_verbose|^{"current"' "$work/bare") <(grep -v '^{"current"' "$work/said") ||
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
	[ -e "$tmp/report" ] || { with_memory && under "$work/program.py" "$cnn" --steps 8 &&
		cp "$work/report" "$work/said" "$tmp"; } || return
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
assert large["chunks"]["used_bytes"] == large["live_bytes"], large
assert 1 << 20 < large["chunks"]["reserved_bytes"], large
assert small["peak_bytes"] < 1 << 20, small
held = dict(zip(large["peak_ops"], large["peak_op_bytes"]))
assert held["Relu"] == 32 * 64 * 64 * 16 * 4 and sum(held.values()) <= large["peak_bytes"], held
assert j["trust"]["lost_events"] == 0 and not j["trust"].get("dropped"), j["trust"]' \
		"$tmp/report" "$tmp/said" 2>"$work/differ" ||
		fail "$(tail -n 1 "$work/differ" | cut -c1-200)"
}

# More small products than may be told of, by the one of two paths that has them on any processor:
# at level default oneDNN is told to describe no more of them, and a message says so; at level
# full all are there.
many() {
	local -x TF_ENABLE_ONEDNN_OPTS=0
	local level truth
	[ -n "$described" ] || { skip "this version does not describe products of matrices"; return; }
	cat >"$work/products.py" <<'END'
import time
import tensorflow as tf
m = tf.random.stateless_normal([64, 64], [1, 2])

@tf.function
def products(y):
    for _ in tf.range(400):
        y = tf.tanh(tf.matmul(y, m))
    return tf.reduce_sum(y)

for _ in range(8):
    print(float(products(m)).hex(), flush=True)
    time.sleep(0.05)	# tftop counts them a hundred times a second
END
	ONEDNN_VERBOSE=$ask "$python" "$work/products.py" >"$work/bare" 2>"$work/errors" ||
		{ fail "bare: $(tail -n 1 "$work/errors")"; return; }
	truth=$(verbose "$work/bare")
	[[ $truth =~ ^[0-9]{4,}" gemm_api "?$ ]] || { fail "not thousands of products: $truth"; return; }
	under "$work/products.py" || return
	cmp -s <(grep -v ^onednn_verbose "$work/bare") "$work/said" ||
		{ fail "its output is not the same: $(first_lines "$work/said")"; return; }
	got=$(seen)
	[[ $got = *gemm_api* ]] && [ "${got%% *}" -gt 400 ] && [ "${got%% *}" -lt "${truth%% *}" ] ||
		{ fail "seen '$got' of '$truth'"; return; }
	[ "$(report "sum('many oneDNN primitives' in m['text'] for m in j['messages'])")" = 1 ] ||
		{ fail "not said: $(report "j['messages']")"; return; }
	level=full
	under "$work/products.py" || return
	[ "$(seen)" = "${truth% }" ] || { fail "at full '$(seen)', not '$truth'"; return; }
	[ "$(report "[m['text'] for m in j['messages'] if 'many' in m['text']]")" = "[]" ] ||
		fail "said at full: $(report "j['messages']")"
}

# Of the truth that the program wrote: an expression with mean(WHAT), per step
# after the warm-up.
truth() { "$python" -c 'import json, sys
t = json.load(open(sys.argv[1]))
def mean(key):
    later = t[key]["series_ns"][2:]
    return sum(later) / len(later)
print(eval("(" + sys.argv[2] + ")"))' "$work/truth" "$1"; }

pooling="[t for t in j['critical_path']['types'] if 'MaxPool' in t['type']]"
# pools: the network with max-pooling, and what is true of it whatever it costs
pools() {
	local config=$work/tftoprc
	printf 'set costly-op-share = 0\n' >"$config"
	under "$cnn" --steps 12 --truth "$work/truth" --stopwatch || return
	[ "$(report "sorted(t['type'].replace('_MklNative', '') for t in $pooling)")" = "['MaxPool', 'MaxPoolGrad']" ] ||
		{ fail "on the path: $(report "j['critical_path']['types']")"; return; }
	[ "$(report "all(t['ns'] > 0 for t in j['critical_path']['types']) and
		0 < sum(t['ns'] for t in j['critical_path']['types']) <= j['critical_path']['whole_ns']")" \
		= True ] || { fail "more than the step: $(report "j['critical_path']")"; return; }
	[ "$(report "(j['steps']['count'], j['steps']['source'])")" = "(12, 'train_step')" ] ||
		{ fail "steps"; return; }
}

# Max-pooling is on the path and found with it, and is not without it. What a type takes per step
# is rounded down.
maxpool() {
	local config found
	pools || return
	found=$(report "[(0 < f['cost_ns_per_step'] <= sum(t['ns'] + 1 for t in $pooling),
		f['lines'][0].count('MaxPool'), 'MaxPool' in f['evidence']['name'])
		for f in j['findings'] if f['title'].startswith('costly-op: pooling holds ')]")
	[ "$found" = "[(True, 2, True)]" ] ||
		{ fail "found $found of $(report "$pooling"): $(report "j['findings']")"; return; }
	config=$work/tftoprc
	under --all-conv --truth "$work/truth" --stopwatch || return
	[ "$(report "$pooling")" = "[]" ] || { fail "MaxPool in $(report "$pooling")"; return; }
	[ "$(truth "mean('pooling')")" = 0.0 ] || { fail "pooling in the program"; return; }
	found=$(report "[f['title'] for f in j['findings'] if 'pooling' in f['title']]")
	[ "$found" = "[]" ] || fail "found all the same: $found"
}

# What it costs, by the clock in the graph, which has the executor's pauses in it too.
maxpool_cost() {
	local path whole found
	pools || return
	path=$(report "sum(t['ns'] for t in $pooling)")
	[ "$(truth "0.5 * mean('pooling') < $path < 1.05 * mean('pooling')")" = True ] ||
		{ fail "$path ns on the path, not $(truth "mean('pooling')")"; return; }
	whole=$(report "j['critical_path']['whole_ns']")
	[ "$(truth "0.85 * mean('steps') < $whole < 1.05 * mean('steps')")" = True ] ||
		{ fail "a path of $whole ns, a step of $(truth "mean('steps')")"; return; }
	found=$(report "[f['cost_ns_per_step'] > 0.3 * $path for f in j['findings']
		if f['title'].startswith('costly-op: pooling holds ')]")
	[ "$found" = "[True]" ] || { fail "of $path ns: $(report "j['findings']")"; return; }
	under --all-conv || return
	found=$(report "[f['title'] for f in j['findings'] if f['id'] == 'costly-op']")
	[ "$found" = "[]" ] || fail "found all the same: $found"
}

case_run primitives primitives
case_run asked asked
case_run kinds kinds
case_run memory memory
case_run many many
case_run maxpool maxpool
case_timed maxpool-cost maxpool_cost
suite_end
