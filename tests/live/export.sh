#!/bin/bash
# SPDX-License-Identifier: MIT
# --export and `export`: what other programs get. CASE=part runs those whose name
# has it, KEEP=1 keeps their files.
. "$(dirname "$0")/lib.sh"
gen=$O/tftop-gen
need_programs "$tftop" "$gen" "$train"

recording() { "$gen" --spans 3000 --ctf "$work/rec" >"$work/out" 2>&1; }
exports() { timeout -k 5 60 "$tftop" "$@" >"$work/out" 2>"$work/err"; }

# chrome_counts FILE KEY=N…: events by phase and category, as another reader sees them
chrome_counts() {
	python3 - "$@" <<'END' >"$work/why" 2>&1 || fail "$(first_lines "$work/why")"
import collections, gzip, json, sys
path = sys.argv[1]
events = json.load((gzip.open if path.endswith(".gz") else open)(path))["traceEvents"]
seen = collections.Counter(e["ph"] + ":" + e.get("cat", "") for e in events)
named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
seen["moved"] = sum(seen["X:" + kind] for kind in ("copy", "fill", "map", "unmap", "migrate"))
bare = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"} - named
if bare:
    sys.exit(f"lanes without a name: {bare}")
for want in sys.argv[2:]:
    key, n = want.rsplit("=", 1)
    if seen[key] != int(n):
        sys.exit(f"{key}: {seen[key]}, not {n}: {seen}")
END
}

# As many kernels and copies as the program says it launched.
of_run() {
	local kernels copies
	exports -b --export "chrome,memory:$work/t.json" --export "chrome:$work/t.json.gz" \
		--export "perfetto:$work/t.pftrace" --export "csv:kernels:$work/k.csv" -- \
		"$train" --steps 10 --truth "$work/truth.json" || fail "status $?: $(first_lines "$work/err")" || return
	kernels=$(python3 -c "import json,sys; print(sum(k['count'] for k in json.load(open(sys.argv[1]))['kernels']))" "$work/truth.json") &&
		copies=$(python3 -c "import json,sys; print(sum(k['count'] for k in json.load(open(sys.argv[1]))['copies']))" "$work/truth.json") || return
	chrome_counts "$work/t.json" "X:kernel=$kernels" "moved=$copies" || return
	chrome_counts "$work/t.json.gz" "X:kernel=$kernels" "N:Allocation=0" || return
	[ "$(python3 -c "import csv,sys; print(sum(int(r['count']) for r in csv.DictReader(open(sys.argv[1], newline=''))))" "$work/k.csv")" = "$kernels" ] ||
		fail "csv: other counts" || return
	[ "$(grep -c '^tftop: exported' "$work/err")" = 4 ] || fail "not all told"
}

# Without a screen, from a recording; the same as the prompt writes.
of_recording() {
	recording || return
	exports --export "chrome:$work/a.json" "$work/rec" || fail "status $?: $(first_lines "$work/err")" || return
	printf 'wait-settled\nexport chrome %s\nexport chrome %s last 1ms\nexport csv:ops %s\nquit\n' \
		"$work/b.json" "$work/last.json" "$work/ops.csv" >"$work/script"
	exports --no-config --headless --script "$work/script" "$work/rec" ||
		fail "status $?: $(first_lines "$work/err")" || return
	cmp -s "$work/a.json" "$work/b.json" || fail "the prompt writes other things" || return
	[ "$(wc -c <"$work/last.json")" -lt "$(wc -c <"$work/a.json")" ] || fail "the window is not less" || return
	[ -s "$work/ops.csv" ] || fail "no table"
}

# The prompt takes the option's form, and the option the prompt's.
either_form() {
	recording || return
	printf 'wait-settled\nexport csv:ops:%s\nexport chrome:%s last 1ms\nexport csv:ops %s\nquit\n' \
		"$work/a.csv" "$work/last.json" "$work/b.csv" >"$work/script"
	exports --no-config --headless --script "$work/script" "$work/rec" ||
		fail "status $?: $(first_lines "$work/err")" || return
	exports --export "csv:ops $work/c.csv" "$work/rec" ||
		fail "option: status $?: $(first_lines "$work/err")" || return
	[ -s "$work/last.json" ] && cmp -s "$work/a.csv" "$work/b.csv" && cmp -s "$work/b.csv" "$work/c.csv" ||
		fail "the forms write different things"
}

# The script's screen leaves, then the command line's are written.
of_screen() {
	recording || return
	printf 'wait-settled\nquit\n' >"$work/script"
	exports --no-config --headless --script "$work/script" --export "perfetto:$work/a.pftrace" "$work/rec" ||
		fail "status $?: $(first_lines "$work/err")" || return
	[ -s "$work/a.pftrace" ] || fail "nothing written"
}

refuses() {
	local words what
	recording && mkdir "$work/dir" && echo kept >"$work/old" || return
	while IFS='|' read -r what words; do
		exports --export "$what" "$work/rec"
		[ $? = 125 ] || fail "'$what': status not 125" || return
		grep -q "$words" "$work/err" || fail "'$what': said $(first_lines "$work/err")" || return
	done <<-END
		chrome:$work/none/x|No such file
		chrome:$work/dir|Is a directory
		svg:$work/new|use chrome
		csv:$work/new|csv:
		csv:nothing:$work/new|one of ops
		dot:$work/old|no graph
		chrome:/dev/full|No space left
		perfetto:/dev/full|No space left
	END
	[ "$(cat "$work/old")" = kept ] || fail "what was there is gone" || return
	[ -z "$(ls "$work" | grep -E '^(new|old.+)')" ] || fail "something is left: $(ls "$work")"
}

full_disk() {
	recording && echo kept >"$work/old" || return
	(ulimit -f 100; exports --export "chrome:$work/old" --export "perfetto:$work/p.gz" "$work/rec")
	[ $? = 125 ] || fail "status not 125" || return
	grep -q "File too large" "$work/err" || fail "said $(first_lines "$work/err")" || return
	[ "$(cat "$work/old")" = kept ] || fail "what was there is gone" || return
	[ -z "$(ls "$work" | grep 'old\.')" ] || fail "something is left"
}

# Perfetto's own declarations read it; they come with its Python package.
perfetto_reads() {
	local python
	python=$(tests/venv.sh perfetto 2>"$work/err") || skip "perfetto: $(first_lines "$work/err")" || return
	recording && exports --export "perfetto:$work/a.pftrace" --export "chrome:$work/a.json" "$work/rec" ||
		fail "$(first_lines "$work/err")" || return
	"$python" - "$work/a.pftrace" "$work/a.json" <<'END' >"$work/why" 2>&1 || fail "$(first_lines "$work/why")"
import collections, json, sys
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb
trace = pb.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
tracks, names, open_, seen = {}, {}, collections.defaultdict(list), collections.Counter()
begun, cleared, flows = [], set(), collections.Counter()
E, P = pb.TrackEvent, pb.TracePacket
# The rules of perfetto.dev/docs/reference/synthetic-track-event and of trace_packet.proto.
for p in trace.packet:
    sequence = p.trusted_packet_sequence_id
    if p.sequence_flags & P.SEQ_INCREMENTAL_STATE_CLEARED:
        cleared.add(sequence)
    for n in p.interned_data.event_names:
        assert n.iid and sequence in cleared, "interned before the state is cleared, or as 0"
        assert names.setdefault((sequence, n.iid), n.name) == n.name, "an id of two names"
    if p.HasField("track_descriptor"):
        d = p.track_descriptor
        assert d.uuid and d.uuid not in tracks, "a track without a number, or told twice"
        assert not d.parent_uuid or d.parent_uuid in tracks, "a track before its parent"
        assert not d.HasField("thread") or (d.thread.pid and d.thread.tid), "a thread of nobody"
        tracks[d.uuid] = d
    if p.HasField("track_event"):
        e = p.track_event
        assert sequence, "an event of no sequence"
        assert p.HasField("timestamp") and e.track_uuid in tracks, "a track that was not told"
        assert not e.name_iid or (sequence, e.name_iid) in names, "a name that was not told"
        assert not e.name_iid or p.sequence_flags & P.SEQ_NEEDS_INCREMENTAL_STATE, "names without their state"
        assert (e.type == E.TYPE_COUNTER) == tracks[e.track_uuid].HasField("counter"), "a value on no counter"
        assert e.type != E.TYPE_COUNTER or e.HasField("counter_value") or e.HasField("double_counter_value")
        flows.update(list(e.flow_ids) + list(e.terminating_flow_ids))
        if p.track_event.type in (1, 2):
            begun.append((p.timestamp, p.track_event.type, p.track_event.track_uuid,
                          names.get((sequence, e.name_iid)) or e.name))
for at, kind, track, name in sorted(begun, key=lambda b: b[0]):
    if kind == 1:
        open_[track].append((name, at))
    else:
        assert open_[track], "an end without a begin"
        name, start = open_[track].pop()
        seen[name, start, at - start] += 1
assert not any(open_.values()), "a slice without its end"
assert flows and all(n > 1 for n in flows.values()), "an arrow with one end"
want = collections.Counter((e["name"], round(e["ts"] * 1000), round(e["dur"] * 1000))
                           for e in json.load(open(sys.argv[2]))["traceEvents"] if e["ph"] == "X")
assert seen == want, (list((seen - want).items())[:3], list((want - seen).items())[:3])
END
}

# What TensorFlow's own timeline makes of the same file, event by event.
timeline() {
	local python seed=${TEST_SEED:-$RANDOM}
	python=$(tests/venv.sh tensorflow 2>"$work/err") || skip "tensorflow: $(first_lines "$work/err")" || return
	mkdir "$work/t" && timeout -k 5 100 "$python" tests/programs/tf_timeline.py "$work/t" "$seed" >"$work/out" 2>&1 ||
		fail "the program: $(tail -n 2 "$work/out" | tr '\n' ';')" || return
	python3 tests/live/timeline_compare.py "$tftop" "$work/t" >"$work/why" 2>&1 ||
		fail "seed $seed: $(first_lines "$work/why")" || return
	why=$(cat "$work/why")
}

case_run of_run of_run
case_run of_recording of_recording
case_run 'either form' either_form
case_run of_screen of_screen
case_run refuses refuses
case_run full_disk full_disk
case_run perfetto_reads perfetto_reads
case_run timeline timeline
suite_end
