#!/bin/bash
# SPDX-License-Identifier: MIT
# Which op waited for a thread, and how long: a wide graph on a pool of one thread and
# of several, against the clock in the program (tests/programs/tf_pools.py).
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
if [ ! -e "$O/lib/libtftop-tensorflow.so" ]; then
	echo "skip tf_pools: the probe was not built"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
if ! python=$(tests/venv.sh tensorflow 2>"$tmp/venv"); then
	echo "skip tf_pools: $(tail -n 1 "$tmp/venv")"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
fi
export TF_CPP_MIN_LOG_LEVEL=3

# wide OPTIONS…: report, text and truth into $work
wide() {
	"$tftop" -b --json="$work/report" ${record:+-o "$record"} -- "$python" \
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

# The truth leaves out what lies between an op's end and the clock after it, and that
# the clock takes the interpreter's lock.
one_thread() {
	wide --steps 60 || return
	holds 'p["threads"] == 1' \
		'sum(o["count"] for o in b) == runs' \
		't["steps"] * (t["branches"] - 1) <= handed <= runs' \
		'near(waited, t["wait_ns"], 5)' \
		'near(p["op_wait_ns"], sum(o.get("wait_ns", 0) for o in r["ops"]), 0, 10)' \
		'p["ops"] == sum(o.get("handed", 0) for o in r["ops"])' \
		'p["closures"] >= p["closures_with_ops"] and near(p["closures_with_ops"], p["ops"], 2)' \
		'p["wait_ns"] >= p["op_wait_ns"] and p["max_wait_ns"] >= p["op_max_wait_ns"]' \
		'p["busy_ns"] <= p["alive_ns"] and p["op_wait_p50_ns"] <= p["op_wait_p99_ns"]' \
		'near(max(o["max_wait_ns"] for o in b), p["op_max_wait_ns"], 0, 10)' \
		'found and found[0]["evidence"]["name"].startswith("branch_") or cores == 1' \
		'not found or 0.8 * min(means) / 2 <= found[0]["cost_ns_per_step"] <= max(means) * (cores - 1) / cores * 1.05' \
		'all(o["latency_ns"] >= o["wait_ns"] * 0.95 for o in b if "latencies" in o and "wait_ns" in o)'
}

# As many threads as branches: nothing stands in a queue for long, but for the cores,
# which others may have: then another run is to show it.
many_threads() {
	wide --steps 40 --threads 8 || return
	holds 'p["threads"] > 1' 'not found' || return
	holds 'waited < t["wait_ns"] / 2' || return 2
}

# The program's own profiler finds nobody in its way, and we go on behind it.
profiled() {
	TF_CPP_MIN_LOG_LEVEL=1 wide --steps 40 --profile || return
	! grep -qi "threadpool.*already\|already.*threadpool" "$work/text" "$work/said" ||
		{ fail "its profiler complains: $(grep -i already "$work/text" | head -n 1)"; return; }
	holds 'near(waited, t["wait_ns"], 5)' \
		't["steps"] * (t["branches"] - 1) <= handed <= runs' \
		't["pool_events"] > 0'
}

# Recorded, it says the same.
recorded() {
	local record=$work/recording
	wide --steps 20 || return
	"$tftop" -b --json="$work/again" "$record" >"$work/said" 2>"$work/errors" ||
		{ fail "status $?: $(tail -n 1 "$work/errors")"; return; }
	cp "$work/report" "$work/live" && cp "$work/again" "$work/report"
	holds 'r["pools"] == json.load(open(sys.argv[1] + "/live"))["pools"]' \
		'near(waited, t["wait_ns"], 5)'
}

case_run one_thread one_thread
case_run many_threads thrice many_threads
case_run profiled profiled
case_run recorded recorded
suite_end
