#!/bin/bash
# SPDX-License-Identifier: MIT
# Case 1, docs/case-input.md: examples/train_triplet.py under tftop, against what it counts
# itself, and, where time alone can tell, the stopwatch in it. CASE=NAME runs the cases with NAME
# in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_tensorflow tf_input

# triplet OPTIONS…: report, text and truth into $work. What share of a step the wait for a batch
# has is a matter of the machine: a small one is to be found as well, but where a case says $shares.
triplet() {
	printf 'set input-share = %s\nset input-share-high = %s\n' ${shares:-1 2} >"$work/tftoprc"
	"$tftop" -b --config "$work/tftoprc" --json="$work/report" -- "$python" examples/train_triplet.py --truth "$work/truth" \
		"$@" >"$work/said" 2>"$work/text" || fail "status $?: $(tail -n 1 "$work/text")"
}

# holds EXPRESSION…: of the report r, the truth t and the finding f on input; the first
# that is not true is the reason to fail
holds() {
	local got
	got=$("$python" - "$work" "$@" 2>&1 <<'PY'
import json, sys
r, t = (json.load(open(sys.argv[1] + "/" + name)) for name in ("report", "truth"))
f = next((f for f in r["findings"] if f["id"] == "input-bound"), None)
stage = {s["path"]: s for s in r.get("input_stages", [])}
root, steps = stage.get("Root", {"wait_ns": 0, "calls": 0}), t["steps"]["count"]
wait = t["input"]["mean_ns"]            # until the batch was there, of one step
cost = f["cost_ns_per_step"] if f else 0
rest = t["steps"]["mean_ns"] - wait
lines = "\n".join(f["lines"] + [f["advice"]]) if f else ""

def near(got, want, per_cent, slack_ns=0):
    return abs(got - want) <= want * per_cent / 100 + slack_ns

for what in sys.argv[2:]:
    if not eval(what):
        sys.exit("%s: wait %d rest %d, found %s, stages %s" % (what, wait, rest, f, list(stage.values())))
PY
	) || fail "${got:0:900}"
}

# One thread makes a batch while the step waits.
slow() {
	triplet --steps 40 --augment 4 || return
	holds 'f and f["severity"] == "warning"' \
		'0 < cost < max(t["steps"]["series_ns"])' \
		'f["evidence"]["row"] == "main"' \
		'cost <= f["evidence"]["end_ns"] - f["evidence"]["start_ns"]' \
		'"Map runs on one thread and accounts for" in f["lines"][0]' \
		'abs(int(f["lines"][0].split("accounts for ")[1].split(" %")[0]) - 100 * stage["Map"]["held_ns"] / root["wait_ns"]) <= 2' \
		'stage["Map"]["held_ns"] > root["wait_ns"] / 2' \
		'"num_parallel_calls=%d" % root["parallelism"] in f["advice"] or root["parallelism"] == 1' \
		'"prefetch(1)" in f["advice"]' \
		'root["calls"] == steps and stage["Map"]["calls"] == steps' \
		'stage["Map"]["what"].startswith("MapDataset") and "parallelism" not in stage["Map"]' \
		'root["bytes"] == steps * 3 * 16 * 32 * 32 * 3 * 4' \
		'stage["Map::Range"]["calls"] == steps' \
		'0 <= stage["Map"]["self_ns"] <= stage["Map"]["total_ns"] <= root["total_ns"]' \
		'near(sum(s["held_ns"] for s in stage.values()), root["wait_ns"], 1)'
}

# What is pointed at lies between two runs of the step's function; what else the machine takes
# from the program there is no wait for a batch, and another run is to show it.
slow_cost() {
	local shares='5 20'
	triplet --steps 40 --augment 4 || return
	holds 'f and f["severity"] == "warning" and near(cost, wait, 10)' \
		'int(f["lines"][0].split("accounts for ")[1].split(" %")[0]) >= 90' \
		'f["evidence"]["end_ns"] - f["evidence"]["start_ns"] <= max(t["steps"]["series_ns"]) + 10**7' || return
	holds 'f["evidence"]["end_ns"] - f["evidence"]["start_ns"] <= max(t["input"]["series_ns"]) + 10**7' ||
		return 2
}

# The pipeline works during the step.
# Of the prefetcher's own time all is waiting, but for calls that the machine interrupts.
fixed() {
	triplet --steps 40 --parallel-calls 2 --prefetch 2 || return
	holds 'root["calls"] == steps' \
		'stage["Prefetch"]["calls"] == steps and stage["Prefetch"]["buffer"] == 2' \
		'steps <= stage["Prefetch::ParallelMapV2"]["calls"] <= steps + 3' \
		'stage["Prefetch::ParallelMapV2"]["parallelism"] == 2' \
		'stage["Prefetch::ParallelMapV2"]["busy_ns"] > 0' \
		'0 < stage["Prefetch"]["wait_ns"] <= stage["Prefetch"]["self_ns"]' \
		'not f or 0 < cost < max(t["steps"]["series_ns"])'
}

# Where the machine has too few cores for both it is waited for all the same: the finding is there
# when the stopwatch says so.
fixed_cost() {
	local shares='5 20'
	triplet --steps 40 --parallel-calls 2 --prefetch 2 || return
	holds 'not f or wait > 0.04 * (wait + rest)' \
		'f or wait < 0.06 * (wait + rest) + 200000' \
		'not f or near(cost, wait, 10, 400000)'
}

# The step's own graph fetches the batch, on a thread of a pool.
inside() {
	triplet --steps 40 --augment 4 --inside --python || return
	holds 'f and "waits for IteratorGetNext" in f["title"]' \
		'0 < cost < max(t["steps"]["series_ns"])' \
		'"Map runs on one thread" in f["lines"][0]' \
		'r["steps"]["count"] == steps and root["calls"] == steps' || return
	[ -z "${TIMING:-}" ] || holds 'near(cost, root["wait_ns"] / steps, 20)'
}

# A generator of Python makes the batches, on a thread that the step waits for: the critical path
# and the classes of a step tell its line.
generator() {
	"$tftop" -b --no-config --json="$work/report" -- "$python" tests/programs/tf_generator.py \
		>"$work/said" 2>"$work/text" || fail "status $?: $(tail -n 1 "$work/text")" || return
	"$python" - "$work/report" "$(tail -n 1 "$work/said")" <<'PY' || fail "$(grep -A 6 'critical path' "$work/text")"
import json, sys
report, line = json.load(open(sys.argv[1])), int(sys.argv[2])
path, step = report["critical_path"], report["steps"]["breakdown"]
def made(rows, of):
    return sum(row["ns"] for row in rows if row[of] == "input" and row["state"] == "sleep"
               and row.get("file", "").endswith("/tf_generator.py") and row["line"] == line)
sys.exit(not (0 < made(path["host"], "kind") <= path["ns"]["input"]
              and 0 < made(step["host"], "class") <= step["input_ns"]
              and path["ns"]["input"] > path["whole_ns"] / 2))
PY
}

case_run slow slow
case_run fixed fixed
case_run inside inside
case_run generator generator
case_timed slow-cost thrice slow_cost
case_timed fixed-cost fixed_cost
case_timed inside-cost thrice inside
suite_end
