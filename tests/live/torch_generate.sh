#!/bin/bash
# SPDX-License-Identifier: MIT
# Requests, forward passes and tokens of programs that ask a model for text, against what the
# programs wrote down; what a training and level min have of these.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_pytorch torch_generate
program=tests/programs/torch_generate.py

# Of the report: an expression on j.
report() { "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
s, r = j.get("steps", {}), j.get("requests", [])
print(eval("(" + sys.argv[2] + ")"))' "$work/report" "$1"; }

truth() { "$python" -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2]))' \
	"$work/counts" "$1"; }

# under WHAT OPTION…: runs it under tftop
under() {
	local what=$1
	shift
	"$tftop" -b --json="$work/report" "$@" -- "$python" "$program" "$work/counts" "$what" \
		>"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(tail -n 1 "$work/errors")"; return 1; }
	is "its output" "$(head -n 1 "$work/said")" "done"
}

counted() {
	is "passes" "$(report "s['count'], s['source'], s['passes']")" \
		"($(truth passes), 'calls of $(truth model)', True)"
}

# One line of requests, with as many passes and tokens as the program counted.
answers() {
	counted &&
		is "requests, passes, tokens" \
			"$(report "[(k['requests'], k['passes'], k['tokens']) for k in r]")" \
			"[($(truth requests), $(truth passes), $(truth tokens))]" &&
		is "times in order" "$(report "[0 < k['first_token_p50_ns'] <= k['p50_ns'] and
			0 < k['token_ns'] and k['total_ns'] >= k['requests'] * k['token_ns'] and
			k['span_ns'] >= k['p50_ns'] // 2 for k in r]")" "[True]" &&
		{ grep -q "^forward passes" "$work/errors" && grep -q "^requests" "$work/errors" ||
			fail "the report does not name them"; }
}

# Passes outside of the requests are steps, but in none of them.
ranges() {
	under ranges && counted && is "requests, passes, tokens" \
		"$(report "[(k['name'], k['requests'], k['passes'], k['tokens']) for k in r]")" \
		"[('request', $(truth requests), $(truth in), $(truth tokens))]"
}

# Passes that no function asked for.
passes() {
	under "$1" && counted && is "requests" "$(report "len(r)")" 0
}

trains() {
	under trains && is "steps" "$(report "s['count'], s.get('passes', False), len(r)")" \
		"($(truth steps), False, 0)"
}

# What was there before tftop attached is not counted, all after it is.
attached() {
	local pid watcher
	"$python" "$program" "$work/counts" waits "$work/go" >"$work/out" 2>&1 &
	pid=$!
	wait_for 60 grep -q ready "$work/out" || { fail "$(tail -n 1 "$work/out")"; kill "$pid"; return; }
	"$tftop" -b --debug "$work/log" --json="$work/report" -p "$pid" >"$work/said" 2>&1 &
	watcher=$!
	wait_for 60 grep -qs 'PROGRAM is process' "$work/log" ||
		{ fail "not attached: $(tail -n 1 "$work/said")"; kill "$pid"; wait; return; }
	: >"$work/go"
	wait "$pid" || fail "status $?"
	wait "$watcher"
	is "requests, passes, tokens" "$(report "[(k['requests'], k['passes'], k['tokens']) for k in r]")" \
		"[($(truth requests), $(truth passes), $(truth tokens))]"
}

# Level min sees no ops, and claims neither passes nor requests.
minimum() {
	under own --level min && is "none" "$(report "s.get('passes', False), len(r)")" "(False, 0)"
}

recorded() { under batch -o "$work/recording"; }
batch() { made_once batch recorded && answers; }
# A recording has them too.
kept() {
	made_once batch recorded || return
	"$tftop" -b --json="$work/again" "$work/recording" >"$work/said" 2>&1 ||
		{ fail "$(tail -n 1 "$work/said")"; return; }
	"$python" -c 'import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
sys.exit(a["requests"] != b["requests"] or a["steps"]["count"] != b["steps"]["count"])' \
		"$work/report" "$work/again" || fail "the recording says otherwise"
}

case_run batch batch
for what in same beam early threads own raises agent inside pipe; do
	asked() { under "$what" && answers; }
	case_run "$what" asked
done
for what in loop stream; do
	passed() { passes "$what"; }
	case_run "$what" passed
done
case_run ranges ranges
case_run trains trains
case_run attached attached
case_run minimum minimum
case_run kept kept
suite_end
