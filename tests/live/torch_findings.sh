#!/bin/bash
# SPDX-License-Identifier: MIT
# The mistakes of examples/train_torch.py: each is found, with its line and the number that a
# counter in the program has, and without one there is none of them. That it is the first finding
# and costs what a stopwatch in the program says are cases of their own, as others on the machine
# change that.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_pytorch torch_findings
example=(examples/train_torch.py --threads 1)

# What is counted and not measured is there or is not.
clean() {
	looks --steps 30 "$@" || return
	holds '{"recompiles", "same-data", "memory-growth"}.isdisjoint(x["id"] for x in f)' || return
	costs 'not f' || return 2
}

# The line is told if half of the looks at the loader found it there: so many that they do.
slow_loader() {
	looks --steps 50 --slow-loader || return
	found input-bound input || return
	holds 'first["severity"] == "warning"' '0 < cost < max(noted["series_ns"])' \
		'"of it, train_torch.py:'"$(grep -n 'time\.sleep' "${example[0]}" | cut -d: -f1)"' in " in text' ||
		return
	costs 'abs(cost - mean("input_ns")) < 0.05 * mean("input_ns")'
}

# Most of the batches are there when a worker has made them; it cannot keep up, however slowly
# the program computes: each sample takes 20 ms.
slow_worker() {
	local example=(tests/programs/sleeps.py 10 "${example[@]}")
	looks --steps 12 --batch 8 --slow-loader --workers 1 || return
	found input-bound input || return
	holds '"1 worker cannot keep up" in text' '0 < cost < max(noted["series_ns"])' \
		'"of the workers'"'"' time, sleeps.py:" in text' || return
	costs 'abs(cost - mean("input_ns")) < 0.1 * mean("input_ns")'
}

# The workers of a DataLoader, however they are started: which processes they are, where they spend
# their time, and that the program computes the same. Two epochs have two each. The finding names a
# place that has half of the time, which it has unless other programs take the processors.
of_workers() {
	local got
	got=$(python3 - "$work/report" "$work/truth" "$tmp/made.alone/truth" "$1" "$work/host" 2>&1 <<'END'
import csv, json, sys
j, t, alone = (json.load(open(name)) for name in sys.argv[1:4])
rows = [r for r in csv.DictReader(open(sys.argv[5])) if int(r["pid"]) in t["workers"]]
slept = {r["pid"]: int(r["total"]) for r in rows if r["state"] == "sleep" and
         r["file"].endswith("torch_workers.py") and int(r["line"]) == t["line"]}
others = sum(int(r["total"]) for r in rows if r["function"] == "Condition.wait")  # that hand over
share = sum(slept.values()) / (sum(int(r["total"]) for r in rows) - others)
seen = {p["pid"] for p in j["processes"] if p["probes"]}
text = [line for f in j["findings"] if f["id"] == "input-bound" for line in f["lines"]]
assert len(t["workers"]) == int(sys.argv[4]) and set(t["workers"]) <= seen, (seen, t)
assert t["tracker"] not in seen, (seen, t)
assert any(line.startswith("2 workers cannot keep up: ") for line in text), text
assert {str(pid) for pid in t["workers"]} == slept.keys(), (slept, t)
assert share < 0.6 or any(
    "of the workers' time, torch_workers.py:%d in Samples.__getitem__ sleeps" % t["line"] in line
    for line in text), (share, text)
assert t["losses"] == alone["losses"], "other losses"
END
	) || fail "${got##*$'\n'}"
}
alone() { "$python" tests/programs/torch_workers.py "$work/truth" fork; }
# their losses without tftop
workers_alone() {
	(flock 9 && made_once alone alone) 9>"$tmp/workers" || fail "without tftop"
}
workers() {
	workers_alone || return
	"$tftop" -b --no-config --json="$work/report" --export "csv:host:$work/host" -- "$python" \
		tests/programs/torch_workers.py "$work/truth" "$@" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/said" "$work/errors")" || return
	of_workers 4
}
# In the server, too, PyTorch is seen, and its workers have the probes from it.
workers_preload() {
	workers forkserver preload || return
	is "the server is seen" "$(python3 -c 'import json, sys
j, t = (json.load(open(name)) for name in sys.argv[1:])
print(t["server"] in {p["pid"] for p in j["processes"] if p["probes"]})' \
		"$work/report" "$work/truth")" True
}

# workers_with PART: both of them have a file with this in its name mapped
workers_with() {
	local file n=0
	for file in "$work"/truth.*; do
		grep -qs "$1" "/proc/${file##*.}/maps" || return
		n=$((n + 1))
	done
	[ $n = 2 ]
}
workers_attached() {
	local pid watcher status
	workers_alone || return
	mkdir "$work/steps"
	"$python" tests/programs/torch_workers.py "$work/truth" "$1" "$work/steps" >"$work/out" 2>&1 &
	pid=$!
	wait_for 60 workers_with libtorch_python || why="no workers"
	"$tftop" -b --no-config --children --json="$work/report" --export "csv:host:$work/host" -p $pid \
		>"$work/said" 2>"$work/errors" &
	watcher=$!
	[ -n "$why" ] || wait_for 60 workers_with libtftop-runtime || why="the workers have no probes"
	touch "$work/steps/go"
	wait $pid
	status=$?
	wait $watcher
	[ -z "$why" ] || fail "$why: $(tail -n 1 "$work/out" "$work/errors")" || return
	is "the program's status" $status 0 || return
	of_workers 2
}

# A thousand times select, select, mul, sub_, select and copy_.
tiny_ops() {
	looks --steps 12 --tiny-ops || return
	found framework-overhead tiny-ops || return
	holds '6000 <= number("is spent around ops; ", " of them") < 6200' \
		'0 < cost < max(noted["series_ns"])' || return
	costs '0.5 * mean("tiny_ops_ns") < cost < mean("tiny_ops_ns") + 0.25 * mean("series_ns")'
}

# Those of the warm-up are the start of the program.
recompile() {
	looks --steps 12 --compile aot_eager --recompile || return
	found recompiles model || return
	holds 'number("recompiled ", " times") == noted["compiled"][-1] - noted["compiled"][1] > 0' \
		'cost * steps["count"] < sum(noted["series_ns"])'
}

# The stopwatch is around the whole call.
same_data() {
	looks --steps 30 --same-data || return
	found same-data same-data || return
	holds '"1.0 copy per step of 1 tensor" in text' '0 < cost < max(noted["series_ns"])' || return
	costs '0.6 * mean("same_data_ns") < cost < 1.05 * mean("same_data_ns")'
}

# To the byte, with who holds it.
leak() {
	looks --steps 40 --leak || return
	found memory-growth input || return
	holds 'number("memory grows: ", " bytes more") == noted["leak_bytes"][0] == mean("leak_bytes")' \
		'"is held by" in text'
}

# New memory in each step, or the same again. An estimate, by what one fault takes; the kernel's own
# time is the most that it can be, and has some of its ends in other seconds.
new_memory() {
	local got
	"$tftop" -b --no-config --json="$work/report" -- "$python" tests/programs/torch_memory.py \
		"$work/truth" "$1" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	got=$(python3 - "$work/report" "$work/truth" "$1" 2>&1 <<'END'
import json, sys
j, t = (json.load(open(name)) for name in sys.argv[1:3])
told = [f for f in j["findings"] if f["id"] == "page-faults"]
assert len(told) == (sys.argv[3] == "new"), told
for f in told:
    of_step = "cost_ns_per_step" in f
    cost, whole = (f["cost_ns_per_step"], f["of_ns"]) if of_step else (f["cost_ns_per_second"], 1e9)
    # without steps the finding is about the time that it opens, from the import of torch on
    evidence = f["evidence"]
    seconds = t["s"] if of_step else (evidence["end_ns"] - evidence["start_ns"]) / 1e9
    share, most = cost / whole, t["system_s"] / seconds
    assert 0.2 * most < share < 1.15 * most, (share, most)
    assert "by add at torch_memory.py:%d" % t["line"] in f["lines"][1], f["lines"]
    number = int(f["lines"][0].split(" page faults per second")[0].replace(" ", ""))
    assert abs(number - t["faults"] / seconds) < 0.2 * number, (number, seconds, t)
END
	) || fail "${got##*$'\n'}"
}

# The program shares one processor with others that compute all the time: what it lacks by its own
# clocks, as near as so many looks can tell.
no_processor() {
	local got hogs=() i
	for i in 1 2; do
		taskset -c "$1" sh -c 'while :; do :; done' &
		hogs+=($!)
	done
	"$tftop" -b --no-config --json="$work/report" --export "csv:host:$work/host" -- \
		taskset -c "$1" "$python" tests/programs/torch_busy.py "$work/truth" 12 \
		>"$work/said" 2>"$work/errors" || why="status $?: $(tail -n 1 "$work/errors")"
	kill "${hogs[@]}"
	wait "${hogs[@]}" 2>/dev/null
	[ -z "$why" ] || fail "$why" || return
	got=$(python3 - "$work/report" "$work/truth" "$work/host" 2>&1 <<'END'
import csv, json, sys
j, t = (json.load(open(name)) for name in sys.argv[1:3])
looks = sum(int(row["looks"]) for row in csv.DictReader(open(sys.argv[3])))
told = [f for f in j["findings"] if f["id"] == "no-processor"]
share = 1 - t["had_s"] / t["s"]
got = told[0]["cost_ns_per_step"] / told[0]["of_ns"] if told else 0
near = 4 * (share * (1 - share) / looks) ** 0.5 + 0.05
assert told and abs(got - share) < near, f"{got} instead of {share} in {looks} looks"
assert told[0]["lines"][1].startswith("the program itself used 0."), told
END
	) || fail "${got##*$'\n'}"
}

# Workers that rest are not too few.
handover() {
	printf 'set %s\n' "${low[@]}" >"$work/tftoprc"
	"$tftop" -b --config "$work/tftoprc" --json="$work/report" -- "$python" \
		tests/programs/torch_handover.py >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	python3 - "$work/report" 2>"$work/errors" <<'END' || fail "$(tail -n 1 "$work/errors")"
import json, re, sys
told = [f for f in json.load(open(sys.argv[1]))["findings"] if f["id"] == "input-bound"]
assert len(told) == 1, told
rest = re.match(r"2 workers rest for (\d+) % of the time: ", told[0]["lines"][0])
assert rest and int(rest[1]) >= 50, told
assert told[0]["advice"].endswith("more workers would not help"), told
END
}

# A queue has no holder: what the thread does that fills it is told with the wait.
from_queue() {
	"$tftop" -b --no-config --json="$work/report" -- "$python" tests/programs/torch_queue.py \
		"$work/truth" 8 >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	python3 - "$work/report" "$work/truth" 2>"$work/errors" <<'END' || fail "$(tail -n 1 "$work/errors")"
import json, re, sys
j, t = (json.load(open(name)) for name in sys.argv[1:3])
told = [f for f in j["findings"] if f["id"] == "host-wait"]
assert len(told) == 1, j["findings"]
assert f"torch_queue.py:{t['waits']} waits for another thread" in told[0]["title"], told
assert any(re.match(rf"meanwhile, for \d+ % of it, thread \d+ \S+ sleeps at torch_queue.py:{t['sleeps']} in load$", line)
           for line in told[0]["lines"]), told
END
}

# Printing, saving and logging in the loop: each is told with its line and what it takes by the
# program's own clock, as near as so many looks can tell (four standard deviations, and what the
# clock itself takes).
chores() {
	local got
	"$tftop" -b --no-config --json="$work/report" --export "csv:host:$work/host" -- "$python" \
		tests/programs/torch_chores.py "$work/truth" 12 >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	got=$(python3 - "$work/report" "$work/truth" "$work/host" 2>&1 <<'END'
import csv, json, sys
j, t = (json.load(open(name)) for name in sys.argv[1:3])
# a look that also saw how long the thread had no processor counts in a second row
looks = sum(int(row["looks"]) for row in csv.DictReader(open(sys.argv[3])) if row["state"] != "no CPU")
told = {f["id"]: f for f in j["findings"]}
for name, ns in t["took"].items():
    share = ns / t["all_ns"]
    near = 4 * (share * (1 - share) / looks) ** 0.5 + 0.03
    got = told[name]["cost_ns_per_step"] / told[name]["of_ns"] if name in told else 0
    assert abs(got - share) < near, f"{name}: {got} instead of {share} in {looks} looks"
    assert not got or told[name]["title"].endswith("at torch_chores.py:%d" % t["lines"][name]), told
assert len(told.keys() & t["took"].keys()) >= 2, told.keys()
END
	) || fail "${got##*$'\n'}"
}

case_run clean clean
case_run clean-transformer clean --model transformer
case_run slow-loader slow_loader
case_run slow-worker slow_worker
case_beside workers-fork workers fork
case_beside workers-spawn workers spawn
case_beside workers-forkserver workers forkserver
case_beside workers-preload workers_preload
case_beside workers-attached-spawn workers_attached spawn
case_beside workers-attached-forkserver workers_attached forkserver
case_beside chores chores
case_beside no-processor no_processor "$(taskset -cp $$ | sed 's/.*: //; s/[^0-9].*//')"
case_beside handover handover
case_beside from-queue from_queue
case_beside new-memory new_memory new
case_beside same-memory new_memory again
case_together
case_run tiny-ops tiny_ops
case_run recompile recompile
case_run same-data same_data
case_run leak leak
case_timed clean-first strictly clean
case_timed clean-transformer-first strictly clean --model transformer
case_timed slow-loader-first strictly slow_loader
case_timed slow-worker-first strictly slow_worker
case_timed tiny-ops-first strictly tiny_ops
case_timed recompile-first strictly recompile
case_timed same-data-first strictly same_data
case_timed leak-first strictly leak
suite_end
