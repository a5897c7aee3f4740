#!/bin/bash
# SPDX-License-Identifier: MIT
# What tftop says about its own cost in PyTorch, and --budget: which steps run without callbacks
# around ops, that exactly these are told, and that the program computes the same.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_pytorch torch_cost
export PYTHONDONTWRITEBYTECODE=1

# trains STEPS ARGUMENT… [-- OPTION…]: under tftop; $work/report, $work/truth
trains() {
	local words=()
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	"$tftop" -b --no-config --json="$work/report" "${@:2}" -- "$python" \
		tests/programs/torch_steps.py "$work/truth" "${words[@]}" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/said" "$work/errors")"
}

# holds EXPRESSION…: of the report j, its own cost c, the truth t; cos: how often the op was seen;
# ran: how often it ran, as far as tftop can tell; row(NAME): the op
holds() {
	local got
	got=$(python3 - "$work/report" "$work/truth" "$@" 2>&1 <<'END'
import json, sys
j, t = (json.load(open(name)) for name in sys.argv[1:3])
c = j["trust"].get("own_cost", {})
if "steps" not in j:
    sys.exit("no steps, %d ops: %s %s" % (len(j["ops"]), j["trust"], j["messages"]))
def row(name):
    return next((op for op in j["ops"] if op.get("raw_name", op["name"]).startswith(name)), {"count": 0})
ran = row("aten::cos")["count"]
cos = row("aten::cos").get("seen", ran)
# with a budget one in 32 steps or fewer is looked at, else all but single ones
most = 2 * max(32, c["every"]) if c.get("budget") else 1
given_up = sum(ns >= 10**8 for ns in j["steps"]["series_ns"])  # at most
for expression in sys.argv[3:]:
    if not eval(expression):
        sys.exit("not: %s; own cost %s, cos %d, ran %d" % (expression, c, cos, ran))
END
	) || fail "$got"
}

# Each step is there, and of ops those of the steps that were looked at. These stand for the bare
# ones, but for those at the end; the optimizer is seen in all. A bare step that lasts for 100 ms or more
# is given up (LONG_NS of probes/pytorch/cost.c), and its last ops are seen, and estimated, too.
whole=('j["trust"]["lost_events"] == 0' 'j["trust"].get("impossible", 0) == 0'
	'j["steps"]["count"] == t["steps"]' 'c["steps"] == t["steps"]'
	'0 <= cos - t["calls"] * (c["steps"] - c["bare_steps"]) <= t["calls"] * given_up'
	't["calls"] * (t["steps"] - most) <= ran <= t["calls"] * (t["steps"] + given_up)'
	'row("Optimizer.step")["count"] == t["steps"] and "seen" not in row("Optimizer.step")')

# As it is, with a budget and at level full, each run once.
plain() { trains 600 -- -o "$work/recording"; }
frugal() { trains 1000 -- --budget=1; }
full() { trains 400 -- --level=full; }

same() {
	local how alone=$work/alone
	"$python" tests/programs/torch_steps.py "$alone" 1000 || return
	for how in plain frugal full; do
		made_once $how $how || return
		is "same results with '$how'" "$(python3 -c 'import json, sys
a, b = (json.load(open(f))["results"] for f in sys.argv[1:])
print(len(a) >= 4 and a == b[:len(a)])' "$work/truth" "$alone")" True || return
	done
}

measured() {
	made_once plain plain || return
	holds "${whole[@]}" '2 < c["bare_steps"] < 60' 'c["every"] == 1' 'c["pairs"] >= 6' \
		'c["low_ns"] <= c["ns"] <= c["high_ns"]' 'c["step_ns"] > 0' || return
	holds 'ran > cos' || return
	grep -q '^  own cost .* of a step: ' "$work/errors" || fail "the text has no own cost"
}

first_steps() {
	trains 64 && holds "${whole[@]}" 'c["bare_steps"] == 0' 'c["pairs"] == 0' 'cos == ran' || return
	grep -q '^  own cost      at least ' "$work/errors" || fail "the text does not say 'at least'"
}

# Ops of 60 forward and as many backward ones cost more than 1 %, so few steps are looked at.
budget() {
	made_once frugal frugal || return
	holds "${whole[@]}" 'c["budget"] == 1' 'c["every"] > 4' \
		'64 < c["steps"] - c["bare_steps"] < 64 + (1000 - 64) / 4' || return
	holds 'ran > 4 * cos' 'row("aten::cos")["min_ns"] * ran <= row("aten::cos")["total_ns"]' \
		'any(l["calls"] == ran and l["seen"] == cos for l in j["lines"])' || return
	grep -q '^  ! ops seen .*--budget 1' "$work/errors" || fail "the text does not say which steps" || return
	grep -qE '^  cos .* ≈[0-9]' "$work/errors" || fail "the text does not mark estimates"
}

# Each 50th step pauses in the middle: those that were bare are given up there.
given_up() {
	trains 1000 pause -- --budget=1 || return
	holds "${whole[@]}" 'cos > t["calls"] * (c["steps"] - c["bare_steps"])'
}

# What costs less than the budget is looked at in each step, but for those that measure it.
budget_wide() {
	trains 400 -- --budget 100 && holds "${whole[@]}" 'c["budget"] == 100'
}

control() {
	trains 1000 --budget "$tftop" 1 || return
	holds "${whole[@]}" 'c["budget"] == 1' 'c["bare_steps"] > 400' || return
	grep -q 'the budget was none and is now 1 %' "$work/said" || fail "$(cat "$work/said")"
}

inferred() {
	trains 300 infer && holds 'not c' 'cos == t["calls"] * t["steps"]'
}

levels() {
	trains 300 -- --level min && holds 'not c' 'cos == 0' 'j["steps"]["count"] == t["steps"]' || return
	made_once full full && holds "${whole[@]}" 'c["bare_steps"] > 0'
}

# A recording tells the same as the run that it is of, and so does what is saved of it.
recorded() {
	made_once plain plain || return
	"$tftop" -b --json="$work/again" "$work/recording" 2>"$work/said" || fail "status $?" || return
	is "own cost" "$(python3 -c 'import json, sys
a, b = (json.load(open(f))["trust"]["own_cost"] for f in sys.argv[1:])
print(a == b and a["bare_steps"] > 0 or (a, b))' "$work/report" "$work/again")" True
}

bad_values() {
	local value
	for value in 0 101 -1 1.5 much ''; do
		"$tftop" -b --budget "$value" -- true 2>"$work/errors"
		is "status of '$value'" $? 125 || return
		grep -qF "'$value' is not a budget: --budget takes a percentage, 1 to 100" "$work/errors" ||
			fail "$(cat "$work/errors")" || return
	done
}

# Within 20 %, what is shown is what the program pays: the level is switched in a process that measures itself,
# and another one is only watched.
right() {
	local us
	export MALLOC_TRIM_THRESHOLD_=4000000000 MALLOC_MMAP_THRESHOLD_=4000000000
	read -r _ us _ <<<"$("$tftop" -b -- "$python" tests/programs/torch_cost.py block --pairs 40 2>/dev/null |
		grep -aE '^[0-9.]+( -?[0-9.]+){3}$')"
	"$tftop" -b --no-config --json="$work/report" -- "$python" tests/programs/torch_cost.py block \
		--watched 6000 >"$work/said" 2>&1 || fail "$(tail -n 1 "$work/said")" || return
	echo '{}' >"$work/truth"
	holds "c['pairs'] >= 60" "abs(c['ns'] - 1000 * $us) < 0.2 * 1000 * $us" || return 2
}

case_run same same
case_run measured measured
case_run first-steps first_steps
case_run budget budget
case_run given-up given_up
case_run budget-wide budget_wide
case_run control control
case_run inferred inferred
case_run levels levels
case_run recorded recorded
case_run bad-values bad_values
case_timed right thrice right
suite_end
