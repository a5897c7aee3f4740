# SPDX-License-Identifier: MIT
"""What tftop saw of one run of a PyTorch program, op by op, against what others saw of
other runs, in which it did the same.

    pytorch_compare.py --told FILE --truth FILE [OPTION…]

    --told FILE      what tests/told prints of the recording
    --truth FILE     what the program wrote in that run; --bare FILE: in a bare one
    --profile FILE   the timeline of torch.profiler (tests/programs/torch_profiled.py): the
                     same ops in the same order, one inside the other; the same backward
                     ops belong to the same forward ops; the same shapes; the same blocks
                     of memory inside of the same ops. When the program has workers: FILE.0
                     of the first, and so on. What comes from them is taken over as it
                     comes: what runs inside of fetching a batch only as often in total.
    --shapes         those of all operators, not only of some, were to be told
    --compiled       the program uses torch.compile, which marks its own parts only where the
                     profiler runs
    --traced FILE    where the program was, in the same run as told
                     (tests/programs/torch_traced.py): the line of each op
    --program FILE   the name of the program, as it was started
    --verbose FILE   what the program printed with ONEDNN_VERBOSE=profile_exec: as many
                     primitives of each kind

Prints what differs, then a line about it; 0: nothing does.
"""
import argparse
import bisect
import glob
import json
import sys
from collections import Counter, defaultdict, namedtuple

Op = namedtuple("Op", "tid start end name depth key")	# key: where its details are
FETCH = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
# of torch.compile: the profiler's own, or one that comes more often under it; tftop's own
MARKED = {"AOTDispatcher Runtime Wrapper Prologue", "Pregraph bytecode", "PythonDispatchMode",
          "torch.compile"}
TOLD_BYTES = 4096		# of a block of memory, from which on it is told
DTYPES = {"float": "f32", "double": "f64", "long int": "i64", "int": "i32", "bool": "bool",
          "c10::BFloat16": "bf16", "unsigned char": "u8", "c10::Half": "f16"}

differences = []
counted = Counter()


def differ(text, *values):
    differences.append(text % values)


# ---- what tftop told ----

class Told:
    """Of each process by itself, in the order of their ids: its own first."""

    def __init__(self):
        self.ops, self.kernels, self.allocs, self.steps = {}, [], [], []

    def take(self, kind, rest):
        if kind == "op":
            self.take_op(*rest)
        elif kind == "kernel":
            self.kernels.append((int(rest[0]), rest[2], int(rest[3]), int(rest[4])))
        elif kind == "alloc":
            self.allocs.append((int(rest[0]), rest[1], int(rest[2])))
        elif kind == "step":
            self.steps.append((int(rest[1]), int(rest[1]) + int(rest[2])))

    def take_op(self, tid, instance, parent, forward, start, dur, depth, _, name, line, shapes):
        self.ops[int(instance)] = {
            "op": Op(int(tid), int(start), int(start) + int(dur), name, int(depth), int(instance)),
            "parent": int(parent), "forward": int(forward), "line": line, "shapes": shapes}

    def threads(self):
        return by_thread(o["op"] for o in self.ops.values())


def read_told(path, pid):
    told = defaultdict(Told)
    with open(path, encoding="utf-8") as file:
        for line in file:
            kind, of, *rest = line.rstrip("\n").split("\t")
            if kind == "lost":
                differ("events were lost")
            elif kind in ("op", "kernel", "alloc", "step"):
                told[int(of)].take(kind, rest)
    return told.pop(pid, Told()), [told[of] for of in sorted(told)]


def by_thread(ops):
    """Lists of ops in the order of their begin, outer ones first; the busiest thread first."""
    threads = defaultdict(list)
    for op in ops:
        threads[op.tid].append(op)
    for ops in threads.values():
        ops.sort(key=lambda o: (o.start, -o.end, o.depth))
    return sorted(threads.values(), key=len, reverse=True)


# ---- what torch.profiler says ----

def part(name):
    """Of torch.compile: it says each twice, plainly and like this."""
    return name.split("_data: ")[0].removesuffix(" (dynamo_timed)")


class Profile:
    def __init__(self, path, compiled):
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        if compiled:
            parts = {part(e["name"]) for e in events if e["name"] != part(e["name"])}
            events = [e for e in events if part(e["name"]) not in parts]
        self.args, self.memory, self.flows = {}, [], defaultdict(dict)
        ops = []
        for number, e in enumerate(events):
            start = round(e["ts"] * 1000) if "ts" in e else 0
            if e["ph"] == "X" and e.get("cat") in ("cpu_op", "user_annotation"):
                self.args[number] = e["args"]
                ops.append(Op(e["tid"], start, start + round(e["dur"] * 1000), e["name"], 0, number))
            elif e["name"] == "[memory]":
                self.memory.append((e["tid"], start, e["args"]["Bytes"]))
            elif e.get("cat") == "fwdbwd":
                self.flows[e["id"]][e["ph"]] = (e["tid"], start)
        # two that begin in the same ns: numbered as they began
        ops.sort(key=lambda o: self.args[o.key]["Ev Idx"])
        self.threads = [with_depths(ops) for ops in by_thread(ops)]


def with_depths(ops):
    open_ops, result = [], []
    for op in ops:
        while open_ops and open_ops[-1].end < op.end:
            open_ops.pop()
        result.append(op._replace(depth=len(open_ops)))
        open_ops.append(op)
    return result


def innermost(ops, at):
    """The innermost of a thread's ops around a time, None: there is none."""
    i = bisect.bisect_right(ops, at, key=lambda o: o.start) - 1
    depth = None
    while i >= 0:
        if ops[i].end >= at and (depth is None or ops[i].depth < depth):
            return ops[i]
        depth = ops[i].depth if depth is None else min(depth, ops[i].depth)
        if depth == 0:
            return None
        i -= 1
    return None


# ---- comparisons ----

def apart(ops):
    """Without what workers' batches are made of, and how often which of that ran."""
    left, fetched, until = [], Counter(), 0
    for op in ops:
        if op.start < until:
            fetched[op.name] += 1
        else:
            left.append(op)
            until = op.end if op.name == FETCH else 0
    return left, fetched


def same_ops(told, profile, is_worker, compiled):
    """Pairs of the profile's op and tftop's. Of a worker the profiler sees one thread, not
    that which sends the batches."""
    pairs, ours = [], told.threads()
    if len(ours) != len(profile.threads) + is_worker:
        differ("%d threads ran ops, %d in the profile", len(ours), len(profile.threads))
    for mine, theirs in zip(ours, profile.threads):
        if compiled:
            mine, theirs = (with_depths([o for o in ops if o.name not in MARKED])
                            for ops in (mine, theirs))
        (mine, fetched), (theirs, other) = apart(mine), apart(theirs)
        same_counts(fetched, other)
        for n, (a, b) in enumerate(zip(mine, theirs)):
            if (a.name, a.depth) != (b.name, b.depth):
                differ("op %d: %s at depth %d, %s at depth %d in the profile", n, a.name, a.depth,
                       b.name, b.depth)
                break
            pairs.append((b, told.ops[a.key]))
        same_counts(Counter(o.name for o in mine), Counter(o.name for o in theirs))
        counted["ops"] += sum(fetched.values())
    counted["ops"] += len(pairs)
    for op in told.ops.values():
        parent = told.ops.get(op["parent"])
        if parent and not (parent["op"].start <= op["op"].start and op["op"].end <= parent["op"].end):
            differ("%s does not lie in %s", op["op"].name, parent["op"].name)
        if (parent["op"].depth + 1 if parent else 0) != op["op"].depth:
            differ("%s at depth %d has another parent", op["op"].name, op["op"].depth)
    return pairs


def same_counts(ours, theirs):
    for name in sorted(ours | theirs):
        if ours[name] != theirs[name]:
            differ("%s: %d, %d in the profile", name, ours[name], theirs[name])


def same_links(pairs, profile):
    """A link of the profile names one of the ops around the one that autograd ran for."""
    at = {(b.tid, b.start): op for b, op in pairs}
    linked = 0
    for ends in profile.flows.values():
        if len(ends) != 2:
            continue
        forward, backward = at.get(ends["s"]), at.get(ends["f"])
        if not forward or not backward:
            differ("a link of the profile is not between ops")
            continue
        linked += 1
        if not backward["forward"]:
            differ("%s: no forward op, %s in the profile", backward["op"].name, forward["op"].name)
        elif backward["forward"] != forward["op"].key:
            differ("%s: belongs to op %d, %s %d in the profile", backward["op"].name,
                   backward["forward"], forward["op"].name, forward["op"].key)
    counted["links"] += linked + links_not_drawn(pairs, profile)


def links_not_drawn(pairs, profile):
    """The profile draws one for each forward op; of a node that runs twice it says the other
    in numbers."""
    drawn = {flow["f"] for flow in profile.flows.values() if len(flow) == 2}
    number = {op["op"].key: profile.args[b.key].get("Sequence number") for b, op in pairs}
    ours = [op for b, op in pairs if op["forward"] and (b.tid, b.start) not in drawn]
    for op in ours:
        if number[op["op"].key] is None or number[op["op"].key] != number.get(op["forward"]):
            differ("%s: belongs to an op with another number", op["op"].name)
    return len(ours)


def shapes_of(args):
    """Of the profile, as tftop writes them: tensors only."""
    return ["[%s] %s" % (", ".join(map(str, dims)), DTYPES.get(kind, kind))
            for dims, kind in zip(args.get("Input Dims", []), args.get("Input type", []))
            if kind in DTYPES and not (dims and isinstance(dims[0], list))]


def same_shapes(pairs, profile, of_all):
    for theirs, op in pairs:
        expected = ", ".join(shapes_of(profile.args[theirs.key]))
        if not op["shapes"] and not (of_all and expected and op["op"].name.startswith("aten::")):
            continue
        counted["shapes"] += 1
        if op["shapes"] != expected:
            differ("%s: shapes %s, %s in the profile", op["op"].name, op["shapes"], expected)


def same_memory(told, profile):
    """But for the shared memory that batches of workers come in, which no allocator gives."""
    theirs = Counter()
    for tid, at, size in profile.memory:
        ops = next((t for t in profile.threads if t[0].tid == tid), [])
        inside = innermost(ops, at)
        if size >= TOLD_BYTES and inside and inside.name != FETCH:
            theirs[inside.name, size] += 1
    ours = Counter((name, size) for _, name, size in told.allocs
                   if name and name not in MARKED)
    for key in sorted(theirs | ours):
        if theirs[key] != ours[key]:
            differ("%s: %d blocks of %d bytes, %d in the profile", key[0], ours[key],
                   key[1], theirs[key])
    counted["blocks"] += sum(theirs.values())


def right_lines(told, path, program):
    places = defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            tid, at, number, function = line.rstrip("\n").split("\t")
            places[int(tid)].append((int(at), int(number), function))
    for op in (o for o in told.ops.values() if o["op"].tid in places):
        seen = places[op["op"].tid]
        at = bisect.bisect_right(seen, (op["op"].start, 1 << 60)) - 1
        if at < 0 or not seen[at][1]:
            continue
        counted["lines"] += 1
        expected = "%s:%d:%s" % (program, *seen[at][1:])
        if op["line"] != expected and not op["line"].endswith("/" + expected):
            differ("%s: at %s, not at %s", op["op"].name, op["line"] or "no line", expected)
    if not counted["lines"]:
        differ("no op was traced")


def right_kernels(told, path):
    """As many of each kind as oneDNN says itself, each inside of an op."""
    theirs, ours = Counter(), Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            parts = line.split(",")
            if parts[0].endswith("dnn_verbose") and "exec" in parts[:5]:
                at = parts.index("exec")
                theirs[parts[at + 2]] += 1
    for instance, name, start, end in told.kernels:
        if name.endswith(", part"):
            continue
        ours[name.split()[0]] += 1
        op = told.ops.get(instance)
        if not op or not (op["op"].start <= start and end <= op["op"].end):
            differ("%s ran outside of its op %s", name, op["op"].name if op else "")
        elif any(o["parent"] == instance and o["op"].start <= start and end <= o["op"].end
                 for o in told.ops.values()):
            differ("%s belongs to an op inside of %s", name, op["op"].name)
    for kind in sorted(theirs | ours):
        if theirs[kind] != ours[kind]:
            differ("oneDNN's %s: %d, %d by its own count", kind, ours[kind], theirs[kind])
    counted["primitives"] = sum(theirs.values())


def same_run(told, profile, args, is_worker):
    pairs = same_ops(told, profile, is_worker, args.compiled)
    same_links(pairs, profile)
    same_shapes(pairs, profile, args.shapes)
    same_memory(told, profile)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser()
    for name in ("told", "truth", "bare", "profile", "traced", "program", "verbose"):
        parser.add_argument("--" + name, required=name in ("told", "truth"))
    for name in ("compiled", "shapes"):
        parser.add_argument("--" + name, action="store_true")
    args = parser.parse_args()
    truth = load(args.truth)
    told, workers = read_told(args.told, truth["run"]["pid"])
    if len(told.steps) != truth["steps"]["count"]:
        differ("%d steps, not %d", len(told.steps), truth["steps"]["count"])
    if args.bare and load(args.bare)["losses"] != truth["losses"]:
        differ("other losses")
    if args.profile:
        files = sorted(glob.glob(glob.escape(args.profile) + ".*"))
        if len(files) != len(workers):
            differ("%d workers, %d in the profile", len(workers), len(files))
        same_run(told, Profile(args.profile, args.compiled), args, False)
        for worker, file in zip(workers, files):
            same_run(worker, Profile(file, False), args, True)
    if args.traced:
        right_lines(told, args.traced, args.program)
    if args.verbose:
        right_kernels(told, args.verbose)
    print(", ".join("%d %s" % (n, what) for what, n in counted.items()))
    print("\n".join(differences[:20]))
    sys.exit(bool(differences) or not counted)


main()
