#!/bin/bash
# SPDX-License-Identifier: MIT
# Files of other profilers: made-up ones against what was put into them, and what
# TensorFlow writes against its own proto classes; damaged and hostile ones.
# CASE=NAME runs the cases with NAME in them.
. "$(dirname "$0")/lib.sh"
need_programs "$tftop"
traces=$here/tests/programs/traces.py differ=$here/tests/live/import_compare.py
command -v python3 >/dev/null || { echo "skip import: python3"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
printf '{}' >"$tmp/json"
case $("$tftop" -b "$tmp/json" 2>&1) in *'built without'*)
	echo "skip import: built without its libraries"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
	;;
esac

# made FORMAT WHAT-IT-IS OPTIONS…: each number of the report
made() {
	local format=$1 what=$2 got
	shift 2
	python3 "$traces" "$format" "$work/file" "$work/truth" "$@" || return
	timeout -k 5 30 "$tftop" -b --json="$work/report" "$work/file" 2>"$work/said" ||
		fail "status $?: $(first_lines "$work/said")" || return
	grep -q "'file' is $what: " "$work/said" || fail "said: $(tail -n 1 "$work/said")" || return
	got=$(python3 "$differ" made "$work/truth" "$work/report") || fail "$(head -n 3 <<<"$got")"
}

# What allocators had given out, as nodes say it, is a counter.
levels() {
	python3 "$traces" step_stats "$work/file" --steps 5 &&
		"$tftop" --export "csv:counters:$work/csv" "$work/file" 2>"$work/said" ||
		fail "$(first_lines "$work/said")" || return
	# 3 ops a step, 1000 bytes more at each
	grep -q '^GPU_0_bfc in use,.*,bytes,15,1000,[0-9]*,15000,15000' "$work/csv" || fail "$(tail -n 2 "$work/csv")"
}

# What the wheel wrote, by its own classes.
wheel() {
	local python got file
	python=$(tests/venv.sh tensorflow 2>"$work/venv") || { skip "$(tail -n 1 "$work/venv")"; return; }
	"$python" tests/programs/tf_recordings.py "$work" >/dev/null 2>"$work/errors" ||
		fail "$(tail -n 1 "$work/errors")" || return
	mv "$work"/profile/plugins/profile/*/*.xplane.pb "$work/xspace" || return
	gzip -c "$work/xspace" >"$work/xspace.gz"
	gzip -c "$work/timeline.json" >"$work/timeline.json.gz"
	# in one folder, so that the wheel is loaded once
	for file in run_metadata.pb step_stats.pb timeline.json timeline.json.gz xspace xspace.gz; do
		timeout -k 5 30 "$tftop" --json="$work/$file.report" "$work/$file" 2>"$work/said" ||
			fail "$file: $(first_lines "$work/said")" || return
	done
	cmp -s "$work/run_metadata.pb.report" "$work/step_stats.pb.report" ||
		diff <(grep -v '"command"\|\.pb' "$work/run_metadata.pb.report") \
			<(grep -v '"command"\|\.pb' "$work/step_stats.pb.report") >"$work/said" ||
		fail "RunMetadata and its StepStats: $(first_lines "$work/said")" || return
	got=$("$python" "$differ" stats "$work/run_metadata.pb" "$work/run_metadata.pb.report" \
		xspace "$work/xspace" "$work/xspace.report" xspace "$work/xspace" "$work/xspace.gz.report" \
		chrome "$work/timeline.json" "$work/timeline.json.report" \
		chrome "$work/timeline.json.gz" "$work/timeline.json.gz.report" 2>/dev/null) ||
		fail "$(head -n 3 <<<"$got")"
}

# Small files whose events stand in odd rows, in odd order or without what belongs to them.
small_cases() {
	local got
	got=$(python3 "$here/tests/live/import_cases.py" "$tftop" "$work") || fail "$(first_lines "$work/errors")" || return
	[ -z "$got" ] || fail "$(head -n 3 <<<"$got")"
}

# The launches of a graph's kernels are one call: a row for the thread's launches, one for the stream.
graph_rows() {
	python3 - "$work/file" <<'END' || return
import json, sys
events = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 5, "tid": 5, "ts": 10,
           "dur": 90, "args": {"correlation": 1}}]
events += [{"ph": "X", "cat": "kernel", "name": f"layer_{i % 12}", "pid": 0, "tid": 7, "ts": 200 + 8 * i,
            "dur": 7, "args": {"device": 0, "stream": 7, "correlation": 1}} for i in range(5000)]
json.dump({"traceEvents": events}, open(sys.argv[1], "w"))
END
	timeout -k 5 30 "$tftop" --export "chrome:$work/out" "$work/file" 2>"$work/said" ||
		fail "status $?: $(first_lines "$work/said")" || return
	python3 - "$work/out" >"$work/rows" <<'END' || fail "$(cat "$work/rows")"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
rows = sorted(e["args"]["name"] for e in events if e["name"] == "thread_name")
arrows = [sum(e["ph"] == phase for e in events) for phase in "sf"]
print(rows, arrows)
sys.exit(rows != ["stream 7", "thread 5 calls", "thread 5 launches"] or arrows != [5000, 5000])
END
}

# A row is what its process and thread are, whatever their hash: 17 threads of each of 8 processes.
many_rows() {
	python3 - "$work/file" <<'END' || return
import json, sys
json.dump([{"ph": phase, "cat": "io", "name": f"p{p}t{t}", "pid": p, "tid": t, "id2": {"local": t}, "ts": at}
           for p in range(8) for t in range(17) for phase, at in (("b", 10), ("e", 20 + p + t))] +
          [{"ph": "X", "name": f"p{p} t{t}", "pid": p, "tid": t, "ts": 1, "dur": 1 + p * 17 + t}
           for p in range(8) for t in range(17)], open(sys.argv[1], "w"))
END
	timeout -k 5 30 "$tftop" --json="$work/report" --export "chrome:$work/out" "$work/file" 2>"$work/said" ||
		fail "status $?: $(first_lines "$work/said")" || return
	python3 - "$work/report" "$work/out" >"$work/rows" <<'END' || fail "$(head -n 3 "$work/rows")"
import json, sys
got = {o["name"]: o["total_ns"] for o in json.load(open(sys.argv[1]))["ops"]}
want = {f"p{p} t{t}": 1000 * (1 + p * 17 + t) for p in range(8) for t in range(17)}
want.update({f"p{p}t{t}": 1000 * (10 + p + t) for p in range(8) for t in range(17)})
where = {e["name"]: (e["pid"], e["tid"]) for e in json.load(open(sys.argv[2]))["traceEvents"]
         if e["ph"] == "X" and " " in e["name"]}
for name in want:
    if got.get(name) != want[name]:
        print(name, got.get(name), want[name])
if len(set(where.values())) != 136:
    print(len(set(where.values())), "rows")
sys.exit(got != want or len(set(where.values())) != 136)
END
}

# JSON that is no trace: one sentence, which says what it is where that is known.
no_trace() {
	local status
	echo '{"a":1}' >"$work/file"
	timeout -k 5 30 "$tftop" -b "$work/file" >"$work/said" 2>&1
	status=$?
	is "status" "$status" 125 && is "$(grep -c "'file'" "$work/said") sentences" \
		"$(grep -c "'file' is JSON, but not a trace: it has no list 'traceEvents'" "$work/said")" 1 &&
		! grep partial "$work/said" >"$work/rest" || fail "$(first_lines "$work/said")" || return
	echo '{"rocprofiler-sdk-tool":[{"metadata":{}}]}' >"$work/file"
	timeout -k 5 30 "$tftop" -b "$work/file" >"$work/said" 2>&1
	grep -q "'file' is the results of rocprofv3 as JSON, which tftop does not read" "$work/said" ||
		fail "$(first_lines "$work/said")"
}

# Counters of Chrome's JSON: in the report as they were written, and out again the same.
counters() {
	python3 - "$work/file" "$work/truth" <<'END' || return
import json, random, sys
events, truth = [{"ph": "X", "pid": 7, "tid": 7, "name": "work", "ts": 0, "dur": 4000}], {}
random.seed(5)
for name in "queue depth", "bytes in use", "balance":
    values = [random.randrange(-50 if name == "balance" else 0, 1000) for _ in range(400)]
    truth[name] = values
    events += [{"ph": "C", "pid": 7, "name": name, "ts": 10 * i, "args": {"value": v}}
               for i, v in enumerate(values)]
random.shuffle(events)
json.dump({"traceEvents": events}, open(sys.argv[1], "w"))
json.dump(truth, open(sys.argv[2], "w"))
END
	timeout -k 5 30 "$tftop" --json="$work/report" --export "chrome:$work/out" "$work/file" \
		2>"$work/said" || fail "status $?: $(first_lines "$work/said")" || return
	python3 - "$work/truth" "$work/report" "$work/out" <<'END' || fail "counters differ"
import json, sys
truth, report, out = (json.load(open(f)) for f in sys.argv[1:])
rows = {c["name"]: c for c in report["counters"]}
seen = {}
for e in out["traceEvents"]:
    if e["ph"] == "C":
        seen.setdefault(e["name"], []).append((e["ts"], *e["args"].values()))
bad = set(rows) != set(truth)
for name, values in truth.items():
    c = rows[name]
    mean = sum(values[:-1]) / (len(values) - 1)
    bad |= [c["count"], c["min"], c["max"], c["last"]] != \
           [len(values), min(values), max(values), values[-1]]
    bad |= abs(c["mean"] - mean) >= 1 or c["unit"] != ("bytes" if "bytes" in name else "")
    bad |= [v for _, v in sorted(seen[name])] != values
sys.exit(bad)
END
}

# cut FORMAT: two thirds of the file. What is there is shown, and what is missing said.
cut_off() {
	local format=$1 size
	python3 "$traces" "$format" "$work/whole" --steps 50 || return
	size=$(stat -c %s "$work/whole")
	head -c $((size * 2 / 3)) "$work/whole" >"$work/file"
	timeout -k 5 30 "$tftop" -b --json="$work/report" "$work/file" 2>"$work/said" ||
		fail "status $?: $(first_lines "$work/said")" || return
	grep -qE '(cut off|beyond its end).*, at byte [0-9]+$' "$work/said" ||
		fail "said: $(tail -n 2 "$work/said")" || return
	grep -q '"settled": false' "$work/report" || fail "called whole" || return
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(not (sum(k["count"] for k in r.get("kernels", [])) + sum(o["count"] for o in r["ops"])) > 100)' \
		"$work/report" || fail "what was before is not there"
}

# refused WHAT COMMAND…: the command's output is no recording: one line, 125
refused() {
	local what=$1 status
	shift
	"$@" >"$work/file" || return
	timeout -k 5 30 "$tftop" --json="$work/report" "$work/file" >"$work/said" 2>&1
	status=$?
	[ "$status" = 125 ] || fail "$what: status $status: $(first_lines "$work/said")" || return
	[ -s "$work/said" ] && ! grep -v '^tftop: ' "$work/said" >"$work/rest" ||
		fail "$what: $(first_lines "$work/rest")" || return
	[ "$(wc -l <"$work/said")" -le 2 ] || fail "$what: $(wc -l <"$work/said") lines"
}

hostile() {
	refused "an empty file" true &&
	refused "an empty object" echo '{}' &&
	refused "nothing but brackets" python3 -c 'print("[" * 100000)' &&
	refused "deep nesting" python3 -c 'print("{\"traceEvents\":" * 100000)' &&
	refused "a length of 2^63" printf '\012\377\377\377\377\377\377\377\377\177' &&
	refused "a length of 2^63 in a plane" printf '\012\022\010\001\032\377\377\377\377\377\377\377\377\177aaaaaaa' &&
	refused "no text" head -c 5000 /dev/zero &&
	refused "gzip of nothing" bash -c 'printf "" | gzip' &&
	refused "half a gzip head" printf '\037\213\010\000' &&
	refused "a bomb" python3 -c 'import gzip, sys
with gzip.GzipFile(fileobj=sys.stdout.buffer, mode="wb", compresslevel=6) as f:
    f.write(b"{\"traceEvents\":[")
    for _ in range(400): f.write(b" " * (1 << 20))' &&
	refused "a bomb that is a protobuf" python3 -c 'import gzip, sys
with gzip.GzipFile(fileobj=sys.stdout.buffer, mode="wb", compresslevel=6) as f:
    f.write(b"\x0a\xff\xff\xff\xff\x7f\x08\x01")
    for _ in range(400): f.write(b"\0" * (1 << 20))' || return
	"$tftop" -b /dev/null >"$work/said" 2>&1
	grep -q "is not a regular file" "$work/said" || fail "/dev/null: $(cat "$work/said")"
}

# A file that is larger than the disk, of holes: read as far as it says something.
holes() {
	python3 "$traces" xspace "$work/file" --steps 20 && truncate -s 200G "$work/file" 2>"$work/said" ||
		{ skip "no file of 200 GB here"; return; }
	timeout -k 5 30 "$tftop" --json="$work/report" "$work/file" 2>"$work/said" ||
		fail "status $?: $(first_lines "$work/said")" || return
	grep -q 'not a protobuf field, at byte' "$work/report" && grep -q cudaLaunchKernel "$work/report" ||
		fail "not read, or not said"
}

# On the screen: rows, progress to the end, and saved as a recording of tftop's own.
screen() {
	local got
	python3 "$traces" xspace "$work/file" "$work/truth" --steps 20 || return
	printf '%s\n' 'wait-settled 20s' 'fit all' 'save-screen screen' 'save own' ri 'save-screen info' quit >"$work/script"
	(cd "$work" && LC_ALL=C.UTF-8 timeout -k 5 60 "$tftop" --headless --no-config --size 120x40 \
		--script script file >out 2>&1) || fail "status $?: $(first_lines "$work/out")" || return
	grep -q 'Stream #14' "$work/screen" && grep -q python "$work/screen" &&
		grep -q train "$work/screen" || fail "screen: $(head -n 12 "$work/screen")" || return
	grep -q '/device:GPU:0, as process 1 set it up' "$work/info" &&
		grep -q 'peak_teraflops_per_second *312.5' "$work/info" ||
		fail "settings: $(head -n 30 "$work/info")" || return
	timeout -k 5 60 "$tftop" --json="$work/report" "$work/own" 2>"$work/said" ||
		fail "saved: $(first_lines "$work/said")" || return
	got=$(python3 "$differ" made "$work/truth" "$work/report") || fail "saved: $(head -n 3 <<<"$got")"
}

case_run made-xspace made xspace 'a TensorFlow XSpace'
case_run made-xspace-gz made xspace 'a TensorFlow XSpace' --gzip
case_run made-tpu made tpu 'a TensorFlow XSpace'
case_run made-kineto made kineto 'a Chrome trace'
case_run made-kineto-gz made kineto 'a Chrome trace' --gzip --steps 300
case_run made-tensorboard made tensorboard 'a Chrome trace'
case_run made-step-stats made step_stats 'a TensorFlow StepStats'
case_run levels levels
case_run made-run-metadata made run_metadata 'a TensorFlow RunMetadata'
case_run wheel wheel
case_run small-cases small_cases
case_run graph-rows graph_rows
case_run many-rows many_rows
case_run no-trace no_trace
case_run counters counters
case_run cut-xspace cut_off xspace
case_run cut-kineto cut_off kineto
case_run cut-step-stats cut_off step_stats
case_run hostile hostile
case_run holes holes
case_run screen screen
suite_end
