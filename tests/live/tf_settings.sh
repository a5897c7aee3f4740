#!/bin/bash
# SPDX-License-Identifier: MIT
# Settings of TensorFlow's that cost, found where they are set and nowhere else.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_tensorflow tf_settings
program=tests/programs/tf_settings.py cnn=examples/train_cnn.py
unset TF_ENABLE_ONEDNN_OPTS TF_NUM_INTRAOP_THREADS TF_NUM_INTEROP_THREADS

# under [NAME=VALUE…] PROGRAM ARGUMENTS…: $work/report, and what it said
under() {
	# how much of a step a setting costs is the machine's matter: a little is found as well
	printf 'set settings-share = %s\n' "${share:-1}" >"$work/tftoprc"
	timeout -k 5 200 env "${set[@]}" "$tftop" -b --config "$work/tftoprc" --json="$work/report" -- "$python" "$@" \
		>"$work/said" 2>"$work/errors" || fail "status $?: $(tail -n 1 "$work/errors")"
}

# holds EXPRESSION…: of the report r, the findings f on settings, the truth t
holds() {
	local got
	got=$("$python" - "$work" "$@" 2>&1 <<'PY'
import json, os, re, statistics, sys
def read(name):
    path = os.path.join(sys.argv[1], name)
    last = open(path).read().splitlines()[-1] if os.path.exists(path) else ""
    return json.loads(last) if last.startswith("{") else {}
r = json.load(open(os.path.join(sys.argv[1], "report")))
f = [x for x in r["findings"] if x["id"] == "settings"]
t, bare = read("truth") or read("said"), read("bare")
for what in sys.argv[2:]:
    if not eval(what):
        sys.exit("%s: %s, %s" % (what, f, r.get("steps", {}).get("mean_ns")))
PY
	) || fail "${got:0:600}"
}

# Ops as many as the program runs.
eager() {
	local set=()
	under "$program" --eager || return
	holds 'len(f) == 1' \
		't["ops"] <= float(re.search("settings: ([0-9.]+) ops are run eagerly per step", f[0]["title"])[1]) <= t["ops"] + 2' \
		'0 < f[0]["cost_ns_per_step"] < max(t["times"])' \
		'f[0]["evidence"]["kind"] == "time"' || return
	under "$program" || return
	holds 'not f'
}

# What it costs is no less than half of what the same function wins as a graph, by the program's
# clock, and less than the step.
eager_cost() {
	local set=()
	"$python" "$program" >"$work/bare" 2>"$work/errors" ||
		fail "bare: $(tail -n 1 "$work/errors")" || return
	under "$program" --eager || return
	holds 'f[0]["cost_ns_per_step"] >= 0.5 * (statistics.median(t["times"]) - statistics.median(bare["times"]))' \
		'f[0]["cost_ns_per_step"] < statistics.fmean(t["times"])'
}

# Keras's own way to say so.
keras() {
	local set=()
	under "$program" --keras --eager || return
	holds 'len(f) == 1 and "run eagerly" in f[0]["title"] and "run_eagerly=False" in f[0]["advice"]'
}

onednn() {
	local set=(TF_ENABLE_ONEDNN_OPTS=0)
	under "$cnn" --steps 10 --truth "$work/truth" || return
	holds 'len(f) == 1 and f[0]["title"].startswith("settings: oneDNN is off, and convolutions take ")' \
		'any("Conv2D" in o["type"] for o in r["ops"] if o["name"] == f[0]["evidence"]["name"])' \
		'0 < f[0]["cost_ns_per_step"] < max(t["steps"]["series_ns"])'
}

threads() {
	local set=(TF_NUM_INTRAOP_THREADS=1)
	under "$cnn" --steps 10 --truth "$work/truth" || return
	# where there is one core, one thread is no setting to be changed
	[ "$(nproc)" -gt 1 ] || { holds 'not f'; return; }
	holds 'len(f) == 1 and f[0]["title"].startswith("settings: ops may use 1 of %d cores" % r["devices"][0]["units"])' \
		'0 < f[0]["cost_ns_per_step"] < max(t["steps"]["series_ns"])'
}

# As they come, the examples have nothing to be set.
clean() {
	local set=()
	under "$cnn" --steps 10 || return
	holds 'not f' || return
	under examples/train_tf.py --model data --steps 20 || return
	holds 'not f'
}

case_run eager eager
case_run keras keras
case_run onednn onednn
case_run threads threads
case_run clean clean
case_timed eager-cost eager_cost
suite_end
