#!/bin/bash
# SPDX-License-Identifier: MIT
# TensorFlow's best-fit allocator on the wheel: its peak against tf.config, its chunks,
# bins and free memory against what it writes down itself when it is full.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
need_tensorflow tf_memory

# The allocator waits for 10 s before it says that it is full.
bins() {
	TF_CPP_MIN_LOG_LEVEL=0 timeout -k 5 120 "$tftop" -b --json="$work/report" -- \
		"$python" "$here/tests/programs/tf_bfc.py" >"$work/said" 2>"$work/errors" ||
		fail "status $?: $(tail -n 1 "$work/errors")" || return
	python3 - "$work/report" "$work/said" "$work/errors" >"$work/differ" <<'END' ||
import json, re, sys
report, said = (json.load(open(f)) for f in sys.argv[1:3])
log = open(sys.argv[3], errors="replace").read()
row = next(m for m in report["memory"] if m["allocator"] == "bfc_cpu_allocator_for_gpu")
chunks = row["chunks"]
pieces = [(kind, int(size)) for kind, size in re.findall(r"\] (InUse|Free) +at \w+ of size (\d+)", log)]
free = [size for kind, size in pieces if kind == "Free"]
want = {int(size): (int(used), int(all_) - int(used)) for size, all_, used in re.findall(
    r"Bin \((\d+)\): \tTotal Chunks: (\d+), Chunks in use: (\d+)\.", log) if int(all_)}
got = {b["from_bytes"]: (b["used"], b["free"]) for b in chunks["bins"]}
counters = {c["name"].partition(" ")[2]: c for c in report["counters"]
            if c["name"].startswith(row["allocator"])}
checks = {
    "the allocator wrote its bins": len(want) > 5 and len(free) > 5,
    "bins": (got, want),
    "in use": (chunks["used_bytes"], sum(s for k, s in pieces if k == "InUse")),
    "free": (chunks["free_bytes"], sum(free)),
    "largest": (chunks["largest_free_bytes"], max(free)),
    "live": (row["live_bytes"], said["current"]),
    "peak": (row["peak_bytes"], said["peak"]),
    "fragmentation": (int(chunks["fragmentation"] * 1000 + .5),
                      (sum(free) - max(free)) * 1000 // sum(free)),
    "counters": set(counters) == {"in use", "reserved", "fragmentation", "largest free chunk"},
    "reserved": (counters["reserved"]["max"], chunks["reserved_bytes"]),
    "nothing lost": (report["trust"]["lost_events"], report["trust"].get("dropped", 0)) == (0, 0),
}
bad = [k for k, v in checks.items() if not v or isinstance(v, tuple) and v[0] != v[1]]
for k in bad[:3]:
    print(k, checks[k])
sys.exit(bool(bad))
END
		fail "$(first_lines "$work/differ")"
}

# While nobody looks chunks come and go: then it says that it does not know them.
unseen() {
	# the level is looked at 40 times a second, and nothing on the screen says that it was
	printf '%s\n' 'wait-step 100 60s' 'level off' 'wait 1s' 'level default' \
		'wait-step 1000 60s' "allocator bfc > $work/page" 'quit stop' >"$work/script"
	TF_CPU_ALLOCATOR_USE_BFC=1 timeout -k 5 150 "$tftop" --headless --no-config --size 100x30 \
		--script "$work/script" -- "$python" -c 'import itertools, time, tensorflow as tf
held, end = [], time.monotonic() + 200	# tftop stops it; where that is killed, it goes on
for i in itertools.takewhile(lambda i: time.monotonic() < end, itertools.count()):
    with tf.profiler.experimental.Trace("hold", step_num=i):
        held.append(tf.random.normal([30000]))
        if len(held) > 50: del held[len(held) // 2]' >"$work/said" 2>&1
	[ -s "$work/page" ] || fail "status $?: $(first_lines "$work/said")" || return
	grep -q "chunks are unknown" "$work/page" || fail "$(first_lines "$work/page")"
}

case_run bins bins
case_run unseen unseen
suite_end
