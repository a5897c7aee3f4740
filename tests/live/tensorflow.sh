#!/bin/bash
# SPDX-License-Identifier: MIT
# TensorFlow programs under tftop, on the wheel: ops against TensorFlow's own
# profiler, steps against what the program did, and nothing of the program changed.
# tests/venv.sh makes the environment; CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
small=$here/tests/programs/tf_small.py tf_compare=$here/tests/live/tf_compare.py
need_tensorflow tensorflow

# Of the report: an expression on j.
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/report" "$1"; }

# under PROGRAM-ARGUMENTS…: into $work/report and $work/said
under() {
	"$tftop" -b --json="$work/report" -- "$python" "$small" "$@" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")"
}

# ops WHAT SOURCE STEPS
ops() {
	local got
	"$python" "$small" "$1" --profile "$work/profile" >"$work/bare" 2>"$work/errors" ||
		{ fail "bare: $(tail -n 1 "$work/errors")"; return; }
	under "$1" || return
	cmp -s "$work/bare" "$work/said" || { fail "its output is not the same"; return; }
	got=$("$python" "$tf_compare" "$work/profile" "$work/report" 2>/dev/null) ||
		{ fail "$(tail -n 1 <<<"$got"): $(head -n 1 <<<"$got")"; return; }
	why=$(tail -n 1 <<<"$got")
	got=$(report "(j['steps']['source'], j['steps']['count'], j['trust']['lost_events'])")
	[ "$got" = "('$2', $3, 0)" ] || fail "steps $got, not ('$2', $3, 0)"
}

# The program numbers its steps itself.
marks() {
	local got
	under loop --marks || return
	got=$(report "(j['steps']['source'], j['steps']['count'])")
	[ "$got" = "('train', 8)" ] || { fail "steps $got"; return; }
	got=$(report "sorted((c['what'], c['cause'], c['count']) for c in j['compiles'])")
	[ "$got" = "[('trace train_step()', 'trace 1', 1)]" ] || fail "traced $got"
}

# The program's own profiler sees what it would have seen.
profiler() {
	local got
	"$python" "$small" loop --profile "$work/bare" >/dev/null 2>&1 || { fail "bare"; return; }
	under loop --profile "$work/watched" || return
	got=$("$python" "$tf_compare" "$work/bare" "$work/watched" 2>/dev/null) ||
		{ fail "$(tail -n 1 <<<"$got"): $(head -n 1 <<<"$got")"; return; }
	[ "$(report "j['steps']['count']")" = 8 ] || fail "the steps were not seen beside it"
}

status() {
	"$tftop" -b -- "$python" -c 'import os, tensorflow as tf
tf.constant(1) + 1
os._exit(7)' >/dev/null 2>&1
	[ $? = 7 ] || { fail "status"; return; }
	"$tftop" -b --json="$work/report" --probe -tensorflow -- "$python" "$small" loop \
		>/dev/null 2>&1 || { fail "without the probe"; return; }
	[ "$(report "len(j['ops'])")" = 0 ] || fail "ops, though the probe was not asked for"
}

case_run fit ops fit multi_step_on_iterator 8
case_run loop ops loop train_step 8
case_run while ops while grow 8
case_run session ops session Session.run 8
case_run marks marks
case_run profiler profiler
case_run status status
suite_end
