#!/bin/bash
# SPDX-License-Identifier: MIT
# Which op waited for a thread, and how long: a wide graph on a pool of one thread and
# of several, against the clock in the program (tests/programs/tf_pools.py).
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_tensorflow tf_pools

# wide OPTIONS…: report, text and truth into $work. What share of a step is held up is a matter
# of the machine: a small one is to be found as well, but where a case says $share.
wide() {
	printf 'set pool-share = %s\n' "${share:-1}" >"$work/tftoprc"
	"$tftop" -b --config "$work/tftoprc" --json="$work/report" ${record:+-o "$record"} -- "$python" \
		tests/programs/tf_pools.py --truth "$work/truth" "$@" >"$work/said" 2>"$work/text" ||
		fail "status $?: $(tail -n 1 "$work/text")"
}

# holds EXPRESSION…: of the report r, the truth t, the pool p and the branches b
holds() {
	local got
	got=$("$python" - "$work" "$@" 2>&1 <<'PY'
import json, re, sys
r, t = (json.load(open(sys.argv[1] + "/" + name)) for name in ("report", "truth"))
pools = {p["name"]: p for p in r.get("pools", [])}
p = pools.get("tf_Compute", {})
b = [o for o in r["ops"] if re.fullmatch("branch_\\d+", o["name"])]
waited = sum(o.get("wait_ns", 0) for o in b)
handed = sum(o.get("handed", 0) for o in b)
runs = t["steps"] * t["branches"]
cores = r["devices"][0]["units"]
found = [f for f in r["findings"] if f["id"] == "pool-bound"]

# The mean without the first steps; how many are warm-up is tftop's to say, up to 5.
means = [sum(t["held_ns"][k:]) / len(t["held_ns"][k:]) for k in range(6)]

def near(got, want, per_cent, slack_ns=0):
    return abs(got - want) <= want * per_cent / 100 + slack_ns

for what in sys.argv[2:]:
    if not eval(what):
        sys.exit("%s: %s waited %d handed %d, %s, %s" % (what, t, waited, handed, pools, found))
PY
	) || fail "${got:0:900}"
}

# The waits against those by the program's own clock, in the same run: it takes the interpreter's
# lock, and where others have the cores, much may lie between an op's end and the clock after it.
about='waited > 0.5 * t["wait_ns"] and waited < 1.5 * t["wait_ns"]'
[ -z "${TIMING:-}" ] || about='near(waited, t["wait_ns"], 5)'

one_thread() {
	local record=$tmp/recording
	wide --steps 30 || return
	cp "$work/report" "$work/truth" "$tmp"
	holds 'p["threads"] == 1' \
		'sum(o["count"] for o in b) == runs' \
		't["steps"] * (t["branches"] - 1) <= handed <= runs' \
		"$about" \
		'near(p["op_wait_ns"], sum(o.get("wait_ns", 0) for o in r["ops"]), 0, 10)' \
		'p["ops"] == sum(o.get("handed", 0) for o in r["ops"])' \
		'p["closures"] >= p["closures_with_ops"] and near(p["closures_with_ops"], p["ops"], 2)' \
		'p["wait_ns"] >= p["op_wait_ns"] and p["max_wait_ns"] >= p["op_max_wait_ns"]' \
		'p["busy_ns"] <= p["alive_ns"] and p["op_wait_p50_ns"] <= p["op_wait_p99_ns"]' \
		'near(max(o["max_wait_ns"] for o in b), p["op_max_wait_ns"], 0, 10)' \
		'found and found[0]["evidence"]["name"].startswith("branch_") or cores == 1' \
		'not found or 0 < found[0]["cost_ns_per_step"] <= max(t["held_ns"])' \
		'all(o["latency_ns"] >= o["wait_ns"] * 0.95 for o in b if "latencies" in o and "wait_ns" in o)'
}

one_thread_cost() {
	local share=10
	wide --steps 60 || return
	holds 'found or cores == 1' \
		'not found or 0.8 * min(means) / 2 <= found[0]["cost_ns_per_step"] <= max(means) * (cores - 1) / cores * 1.05'
}

# As many threads as branches: nothing stands in a queue for long, but for the cores,
# which others may have: then another run is to show it.
many_threads() {
	local share=10
	wide --steps 40 --threads 8 || return
	holds 'p["threads"] > 1' 'sum(o["count"] for o in b) == runs' 'handed <= runs' || return
	[ -z "${TIMING:-}" ] || holds 'not found and waited < t["wait_ns"] / 2' || return 2
}

# The program's own profiler finds nobody in its way, and we go on behind it.
profiled() {
	TF_CPP_MIN_LOG_LEVEL=1 wide --steps 40 --profile || return
	! grep -qi "threadpool.*already\|already.*threadpool" "$work/text" "$work/said" ||
		{ fail "its profiler complains: $(grep -i already "$work/text" | head -n 1)"; return; }
	holds "$about" \
		't["steps"] * (t["branches"] - 1) <= handed <= runs' \
		't["pool_events"] > 0'
}

# Recorded, it says the same.
recorded() {
	[ -e "$tmp/recording" ] || one_thread || return
	"$tftop" -b --json="$work/report" "$tmp/recording" >"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	cp "$tmp/report" "$work/live" && cp "$tmp/truth" "$work/truth"
	holds 'r["pools"] == json.load(open(sys.argv[1] + "/live"))["pools"]' "$about"
}

case_run one_thread one_thread
case_run recorded recorded
case_run many_threads many_threads
case_run profiled profiled
case_timed one_thread-cost one_thread_cost
case_timed one_thread-wait one_thread
case_timed many_threads-wait thrice many_threads
suite_end
