# SPDX-License-Identifier: MIT
"""import_compare.py made TRUTH REPORT: tftop's report of a file that
tests/programs/traces.py made has what the file has.
import_compare.py xspace|stats|chrome FILE REPORT ...: the same of a file that TensorFlow
wrote, read with its own proto classes (or, of JSON, with Python's).
Prints what differs; 0: nothing does.
"""
import gzip
import json
import re
import sys
from collections import defaultdict

OP = re.compile(r"^([^ ]*[^: ]):([A-Za-z_][A-Za-z0-9_]*)$")


def load(path):
    with open(path) as f:
        return json.load(f)


def short(name):
    """As tftop writes names with C++ scopes."""
    return name.rsplit("::", 1)[-1] if " " not in name else name


def rows(report, table, *keys):
    found = defaultdict(lambda: [0, 0])
    for row in report.get(table, []):
        entry = found[tuple(row.get(k) for k in keys)]
        entry[0] += row["count"]
        entry[1] += row.get("total_ns", 0)
    return {k: tuple(v) for k, v in found.items()}


def made(truth, report):
    """One line for each thing that is not as it was made."""
    exact = report["trust"]["attribution"]
    runs = sum(k["count"] for k in truth["kernels"]) + sum(c["count"] for c in truth["copies"])
    # what a step does outside of its ops is launched by nobody, in files without a step
    if exact["exact"] != runs or sum(exact.values()) != runs:
        yield f"attribution: {exact}, not {runs} exact"
    for table, key in (("kernels", "name"), ("copies", "direction"), ("ops", "name")):
        there = {row[key]: row for row in report.get(table, [])}
        for row in truth[table]:
            got = there.get(row[key], {})
            for field in ("count", "total_ns", "bytes"):
                if field in row and got.get(field) != row[field]:
                    yield f"{table} {row[key]} {field}: {got.get(field)}, not {row[field]}"
            if "ops" in row:
                ops = {op["name"]: op["count"] for op in got.get("ops", [])}
                if ops != row["ops"]:
                    yield f"{table} {row[key]} ops: {ops}, not {row['ops']}"
        if table != "ops" and len(there) != len(truth[table]):
            yield f"{table}: {sorted(there)}"
    steps = report.get("steps", {})
    if truth["steps"]["count"] and steps.get("series_ns") != truth["steps"]["series_ns"]:
        yield f"steps: {steps.get('series_ns')}, not {truth['steps']['series_ns']}"
    calls = sum(c["count"] for c in report.get("calls", []))
    if calls != truth["calls"]:
        yield f"calls: {calls}, not {truth['calls']}"
    if report["trust"].get("unmet_launches") or report["trust"]["coverage"]["ops"] < 1:
        yield f"trust: {report['trust']}"
    if truth.get("memory"):
        memory = [(m["allocator"], m.get("device"), m["allocations"], m["peak_bytes"], m["live_bytes"])
                  for m in report["memory"]]
        if memory != [tuple(truth["memory"])]:
            yield f"memory: {memory}, not {truth['memory']}"


# ---- what TensorFlow wrote ----

def of_xspace(path):
    from xspace import XSpace
    space = XSpace()
    with open(path, "rb") as f:
        space.ParseFromString(f.read())
    ops, steps, given, taken, messages, ends = defaultdict(list), 0, set(), [], defaultdict(int), {}
    for plane in space.planes:
        if not plane.name.startswith("/host:CPU"):
            continue
        names = {i: m.name if OP.match(m.name) else m.display_name or m.name
                 for i, m in plane.event_metadata.items()}
        stats = {i: m.name for i, m in plane.stat_metadata.items()}
        for line in plane.lines:
            for e in line.events:
                match = OP.match(names[e.metadata_id])
                begin = line.timestamp_ns * 1000 + e.offset_ps
                ns = (begin + e.duration_ps) // 1000 - begin // 1000
                ops[match.groups() if match else (names[e.metadata_id], None)].append(ns)
                said = {stats[s.metadata_id]: stats[s.ref_value] if s.WhichOneof("value") == "ref_value"
                        else getattr(s, s.WhichOneof("value")) for s in e.stats}
                steps += "step_num" in said
                if match and match.group(2) == "_Send" and said.get("key"):
                    messages[said["key"].split(";")[3]] += 1
                end = names[e.metadata_id].removeprefix("ExecutorState::ProcessAsync::")
                if end in ("Start", "Done"):
                    ends.setdefault((said["step_id"], said.get("_p", said.get("_c"))), {})[end] = \
                        said["name"], said["kernel_type"], begin // 1000, (begin + e.duration_ps) // 1000
                    continue
                if "_p" in said and said["_p"] not in (-1, (1 << 64) - 1):
                    given.add((said["_pt"], said["_p"]))
                if "_c" in said:
                    taken.append((said["_ct"], said["_c"]))
    for both in ends.values():
        if len(both) == 2:
            ops[both["Start"][:2]].append(both["Done"][3] - both["Start"][2])
    return ops, steps, sum(t in given for t in taken), dict(messages)


def of_stats(path):
    from tensorflow.core.protobuf import config_pb2
    metadata = config_pb2.RunMetadata()
    with open(path, "rb") as f:
        metadata.ParseFromString(f.read())
    ops = defaultdict(list)
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            match = re.match(r"(.*) = (.*)\(", node.timeline_label)
            ops[(node.node_name, match.group(2))].append(node.all_end_rel_nanos)
    return ops, 0


def of_chrome(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        trace = json.load(f)
    ops = defaultdict(list)
    for e in trace["traceEvents"]:
        if e.get("ph") == "X":
            args = e.get("args", {})
            ops[(args["name"], args["op"]) if "op" in args else (e["name"], None)].append(
                round(e["dur"] * 1000))
    return ops, 0


def wheel(what, path, report):
    ops, steps, *more = {"xspace": of_xspace, "stats": of_stats, "chrome": of_chrome}[what](path)
    merged = defaultdict(list)
    for (name, op_type), ns in ops.items():
        merged[short(name), op_type] += ns
    wanted = {k: (len(v), sum(v)) for k, v in merged.items()}
    got = rows(report, "ops", "name", "type")
    if not wanted:
        yield "there are no ops in the file"
    for key in sorted(set(wanted) | set(got), key=str):
        if wanted.get(key) != got.get(key):
            yield f"op {key}: {got.get(key)}, not {wanted.get(key)}"
    if more:
        edges = sum(f["count"] for f in report["flows"] if "sent" not in f)
        # who takes before the giver has begun is left out
        if not 0 < edges <= more[0] or edges < more[0] * 0.9:
            yield f"edges: {edges}, not {more[0]}"
        messages = {f["key"]: f["sent"] for f in report["flows"] if f.get("sent")}
        wanted = {re.sub(r"^edge_(\d+)_(.+)", r"\2 (edge \1)", t): n for t, n in more[1].items()}
        if messages != wanted or not wanted:
            yield f"messages: {messages}, not {wanted}"
    if steps != report.get("steps", {}).get("count", 0):
        yield f"steps: {report.get('steps', {}).get('count', 0)}, not {steps}"


def main():
    found, words = [], sys.argv[1:]
    for what, path, report in zip(words[::3], words[1::3], words[2::3]):
        found += made(load(path), load(report)) if what == "made" else wheel(what, path, load(report))
    print("\n".join(found[:20]))
    sys.exit(bool(found))


main()
