#!/bin/bash
# SPDX-License-Identifier: MIT
# Several TensorFlow processes under tftop, on the wheel: tensors from worker to
# worker against what examples/train_split.py wrote down, and input workers that are
# forked and spawned, a parameter server. CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
split=$here/examples/train_split.py workers=$here/tests/programs/tf_workers.py
need_tensorflow tf_flow

# Of the report and the truth: an expression on j and t.
report() { "$python" -c 'import json, sys
j, t = (json.load(open(f)) for f in sys.argv[1:3])
row = [f for f in j.get("flows", []) if f.get("bytes") == t.get("tensor_bytes", 0) * len(t.get("steps_s", []))
       and f.get("source") == "job:a/task:0"]
row = row[0] if len(row) == 1 else {}
say = [f for f in j["findings"] if f["id"] == "wire-bound" and f["title"].startswith("wire-bound: " + row.get("key", "?"))]
print(eval(sys.argv[3]))' "$work/report" "$work/truth" "$1"; }

# is EXPRESSION VALUE
is() {
	local got
	got=$(report "$1" 2>&1 | tail -n 1)
	[ "$got" = "$2" ] || { fail "$1 is $got, not $2"; return; }
}

# cut WHERE TENSOR BYTES BETTER: BETTER "" when there is none. What share of a step the wire has is
# the machine's matter: any is told.
cut() {
	printf 'set wire-share = 0\n' >"$work/tftoprc"
	"$tftop" --config "$work/tftoprc" -b --json="$work/report" -- "$python" "$split" --cut "$1" \
		--batch 512 --steps 8 --truth "$work/truth" >"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(first_lines "$work/errors")"; return; }
	is "t['worker_status'], j['run']['exit_status'], j['trust']['lost_events']" "(0, 0, 0)" || return
	is "sorted(p['exit_status'] for p in j['processes'] if 'tensorflow' in p['probes'])" "[0, 0]" || return
	is "t['tensor_bytes']" "$3" || return
	is "row['key'].split()[0], row['destination'], row['local']" \
		"('$2', 'job:b/task:0', False)" || return
	is "row['sent'], row['received'], row['joined'], row['encoded'], row['decoded']" \
		"(8, 8, 8, 8, 8)" || return
	is "row['bytes_per_step'], row['bytes']" "($3, $((8 * $3)))" || return
	# the gradient is as large and comes back
	is "sorted(f['destination'] for f in j['flows'] if f.get('bytes_per_step') == $3)" \
		"['job:a/task:0', 'job:b/task:0']" || return
	is "0 < row['wire_ns'] and row['latency_p99_ns'] * 1e-9 < max(t['steps_s'])" True || return
	is "any('cut after' in f['advice'] for f in say)" "$([ -n "$4" ] && echo True || echo False)" || return
	if [ -n "$4" ]; then
		is "say[0]['advice']" "$4" || return
	fi
	[ -z "${TIMING:-}" ] || on_the_wire
}
# made and there are two ops of the program's: about when it was sent and received
on_the_wire() {
	local truth wire
	truth=$(report "round(1e3 * sum(b - a for a, b in zip(t['made_s'], t['there_s'])))")
	wire=$(report "round(row['wire_ns'] / 1e6)")
	why="$wire ms on the wire, the program says $truth"
	[ "$((wire * 2))" -ge "$truth" ] && [ "$wire" -le "$((truth * 2 + 100))" ] || fail "$why"
}

# Forked and spawned: each a process of its own, nothing lost, its status kept.
workers() {
	"$tftop" -b --json="$work/report" -- "$python" "$workers" >"$work/said" 2>"$work/errors"
	[ $? = 5 ] || { fail "status: $(first_lines "$work/errors")"; return; }
	# twice 1 to 10, twice 1 to 20, 1 to 5
	[ "$(cat "$work/said")" = "110.0 420.0 15.0" ] || { fail "it computed $(first_lines "$work/said")"; return; }
	echo '{}' >"$work/truth"
	is "sorted(p['exit_status'] for p in j['processes'] if 'tensorflow' in p['probes'])" \
		"[0, 0, 0, 0, 5]" || return
	is "[o['count'] for o in j['ops'] if o['name'] == 'AddV2']" "[65]" || return
	is "j['trust']['lost_events'], j['trust']['lost_packets'], j['trust']['settled']" "(0, 0, True)"
}

# A parameter server: what a worker fetches and sends back, in each step.
servers() {
	"$tftop" -b --json="$work/report" -- "$python" "$here/tests/programs/tf_servers.py" \
		>"$work/said" 2>"$work/errors"
	[ $? = 3 ] || { fail "status: $(first_lines "$work/errors")"; return; }
	echo '{}' >"$work/truth"
	is "sorted(p['exit_status'] for p in j['processes'] if 'tensorflow' in p['probes'])" \
		"[0, 0, 3]" || return
	is "sorted((f['source'], f['destination'], f['joined']) for f in j['flows'] if f['bytes'] == 10 << 20)" \
		"[('job:ps/task:0', 'job:worker/task:0', 10), ('job:worker/task:0', 'job:ps/task:0', 10)]" ||
		return
	is "[o['count'] for o in j['ops'] if o['name'] == 'MatMul'], j['trust']['lost_events']" "([10], 0)"
}

case_run pool1 cut pool1 pool1 12845056 \
	"cut after pool2 instead: 6 422 528 bytes per step on the wire instead of 12 845 056 bytes"
case_run pool2 cut pool2 pool2 6422528 ""
case_run workers workers
case_run servers servers
case_timed pool1-wire cut pool1 pool1 12845056 \
	"cut after pool2 instead: 6 422 528 bytes per step on the wire instead of 12 845 056 bytes"
case_timed pool2-wire cut pool2 pool2 6422528 ""
suite_end
