# SPDX-License-Identifier: MIT
"""What tftop saw of one run of a TensorFlow program, against what TensorFlow's own
profiler saw in another, op by op and step by step.

    tf_compare.py PROFILE REPORT CHROME TRUTH BARE-TRUTH [around]    one program's two runs
    tf_compare.py PROFILE PROFILE                           two profiles: totals only

around: the steps are marked outside of the program's stopwatch, as Keras 2 does.
REPORT and CHROME are tftop's, TRUTH what examples/train_tf.py wrote meanwhile. With a
type for each op "name:type" of the profile, and with the step id of the
ExecutorState::Process around it:

- ops with the loss's type belong to a training step: as many step ids as steps, and
  in their order each has the same ops as often; each lies in its step;
- all other step ids: the same sets of ops, as often, in any order;
- step id -1: constant folding, on a device of its own, which tftop does not see, and
  graphs of input pipelines being rewritten, which it does: no op more than there;
- eager ops: the same in each step that the program numbers, one after the other, and
  the same in all. Their kernels are in the report only: each has a step id of its own.

Prints what differs, then a line about it; 0: nothing does.
"""
import bisect
import glob
import json
import os
import re
import sys
from collections import Counter, defaultdict

from xspace import XSpace

OP = re.compile(r"^([^:#]+):([A-Za-z_][A-Za-z0-9_]*)$")
LOSS = "SparseSoftmaxCrossEntropyWithLogits"


class Ops:
    """What one side saw: ops by step id, eager ops and marks in their order."""

    def __init__(self):
        self.steps = defaultdict(list)      # step id: (start, end, (name, type))
        self.eager, self.marks = [], []     # (start, end, name)

    def totals(self):
        return Counter(op for n, ops in self.steps.items() if n != -1 for _, _, op in ops)

    def runs(self):
        """Of each step id its start, end and ops: those of training, and the others."""
        training, others = [], []
        for n, ops in self.steps.items():
            if n == -1:
                continue
            run = min(o[0] for o in ops), max(o[1] for o in ops), Counter(o[2] for o in ops)
            (training if any(op[1] == LOSS for op in run[2]) else others).append(run)
        return sorted(training, key=lambda r: r[0]), others

    def eager_in_marks(self):
        return [[name for start, _, name in sorted(self.eager) if begin <= start < end]
                for begin, end, _ in sorted(self.marks)]


def stats_of(plane, event):
    return {plane.stat_metadata[s.metadata_id].name: getattr(s, s.WhichOneof("value"))
            for s in event.stats}


class Around:
    """Which of some intervals of a thread stands around a time: the innermost."""

    def __init__(self, intervals):
        self.intervals = sorted(intervals, key=lambda i: i[:2])
        self.starts, self.ends = zip(*(i[:2] for i in self.intervals)) if intervals else ((), ())

    def find(self, begin, end):
        for i in range(bisect.bisect_right(self.starts, begin) - 1, -1, -1):
            if end <= self.intervals[i][1]:
                return self.intervals[i]
        return None


def of_profile(folder):
    seen = Ops()
    for path in glob.glob(folder + "/**/*.xplane.pb", recursive=True):
        space = XSpace()
        with open(path, "rb") as f:
            space.ParseFromString(f.read())
        for plane in space.planes:
            for line in plane.lines:
                take_line(seen, plane, line)
    return seen


def take_line(seen, plane, line):
    events = [(e.offset_ps, e.offset_ps + e.duration_ps, plane.event_metadata[e.metadata_id].name, e)
              for e in line.events]
    processes = Around([(begin, end, stats_of(plane, e).get("id")) for begin, end, name, e in events
                        if name == "ExecutorState::Process"])
    # one that was still open when the profiler was stopped is not there: then what
    # each op of it did with its outputs tells
    after = sorted((begin, stats_of(plane, e).get("id")) for begin, _, name, e in events
                   if name == "ExecutorPropagateOutputs")
    last = max(processes.ends, default=0)
    for begin, end, name, event in events:
        match = OP.match(name)
        if match:
            around = processes.find(begin, end)
            next_one = bisect.bisect_left(after, (end, -1 << 63))
            if around:
                seen.steps[around[2]].append((begin, end, match.groups()))
            elif begin >= last and next_one < len(after):
                seen.steps[after[next_one][1]].append((begin, end, match.groups()))
        elif name.startswith("EagerLocalExecute: ") and not name.startswith("EagerLocalExecute: __"):
            seen.eager.append((begin, end, name.split(": ", 1)[1]))
        elif "step_num" in (stats := stats_of(plane, event)):
            seen.marks.append((begin, end, stats["step_num"]))


def of_timeline(path):
    seen, threads = Ops(), defaultdict(list)
    steps = []
    with open(path) as f:
        for e in json.load(f)["traceEvents"]:
            if e["ph"] != "X" or e["cat"] not in ("op", "step"):
                continue
            begin = round(e["ts"] * 1000)
            threads[e["tid"]].append((begin, begin + round(e["dur"] * 1000), e))
    for events in threads.values():
        eager = Around([(b, t, e["name"].split(" ", 1)[1]) for b, t, e in events
                        if e["args"].get("type") == "eager"])
        seen.eager += eager.intervals
        for begin, end, e in events:
            args = e["args"]
            if e["cat"] == "step":
                steps.append((begin, end, e["name"]))
            elif args.get("framework") == "tensorflow" and args["type"] not in (
                    "eager", "function", "session"):
                seen.steps[args.get("step", -1)].append(
                    (begin, end, (e["name"], args["type"]), eager.find(begin, end)))
    for n, ops in list(seen.steps.items()):
        # the kernel of an eager op, which has its type for a name, and its results
        if n != -1 and all(o[3] and (o[2][0] in (o[3][2], "_Mkl" + o[3][2]) or
                                     o[2][1] in ("_Retval", "_DeviceRetval")) for o in ops):
            del seen.steps[n]
        else:
            seen.steps[n] = [o[:3] for o in ops]
    return seen, sorted(steps)


differences = []


def differ(text, *values):
    differences.append(text % values)


def same_ops(where, profile, report):
    for op in sorted(profile | report):
        if profile[op] != report[op]:
            differ("%s: %s:%s: %d in the profile, %d in the report", where, *op, profile[op],
                   report[op])


def same_totals(profile, report):
    """In tables, where names of eager kernels may be those of other ops too."""
    for op in sorted(profile | report):
        if profile[op] > report[op]:
            differ("%s:%s: %d in the profile, %d in the table", *op, profile[op], report[op])


def two_profiles(first, second):
    same_ops("totals", first.totals(), second.totals())
    return sum(first.totals().values())


def steps_of(report, timeline, truth):
    """The steps are counted, and none lasts longer than the stopwatch says."""
    count, source = report["steps"]["count"], report["steps"]["source"]
    if count != truth["steps"]["count"]:
        differ("%d steps, not %d", count, truth["steps"]["count"])
    series = defaultdict(list)
    for step in timeline:
        series[step[2]].append(step)
    steps = next((s for name, s in series.items() if name.split("(")[0] == source and
                  [b - a for a, b, _ in s] == report["steps"]["series_ns"]), [])
    if not steps:
        differ("no series of the timeline is that of the report: %s",
               {name: len(s) for name, s in series.items()})
    longer = [n for n, (ours, own) in enumerate(zip(report["steps"]["series_ns"],
                                                     truth["steps"]["series_ns"])) if ours > own]
    if longer and "around" not in sys.argv[6:]:
        differ("steps %s are longer than the stopwatch says", longer)
    return steps


def same_runs(profile, seen, steps):
    (training, others), (our_training, our_others) = profile.runs(), seen.runs()
    if not (profile.marks and not training) and not len(training) == len(our_training) == len(steps):
        differ("%d runs with a loss in the profile, %d in the report, %d steps", len(training),
               len(our_training), len(steps))
    for n, (theirs, ours) in enumerate(zip(training, our_training)):
        same_ops("step %d" % n, theirs[2], ours[2])
        if n < len(steps) and not (steps[n][0] <= ours[0] and ours[1] <= steps[n][1]):
            differ("the ops of step %d do not lie in it", n)
    theirs, ours = (Counter(frozenset(r[2].items()) for r in runs) for runs in (others, our_others))
    for ops, count in (theirs - ours).items():
        differ("a run of %s: %d times more in the profile", sorted(ops)[:4], count)
    for ops, count in (ours - theirs).items():
        differ("a run of %s: %d times more in the report", sorted(ops)[:4], count)
    folding, our_folding = (Counter(o[2] for o in s.steps[-1]) for s in (profile, seen))
    for op, count in (our_folding - folding).items():
        differ("%s:%s: %d times more without a step id", *op, count)
    return len(training) + len(others)


def two_runs(profile, report, timeline, truth, bare):
    if truth["losses"] != bare["losses"]:
        differ("other losses")
    if report["trust"]["lost_events"]:
        differ("%d events lost", report["trust"]["lost_events"])
    seen, steps = timeline
    steps = steps_of(report, steps, truth)
    runs = same_runs(profile, seen, steps)
    same_totals(profile.totals(), Counter({(o["name"], o["type"]): o["count"]
                                           for o in report["ops"]}))
    theirs, ours = (Counter(name for _, _, name in s.eager) for s in (profile, seen))
    for name, count in ((theirs - ours) + (ours - theirs)).items():
        differ("eager %s: %d times more or less", name, count)
    seen.marks = steps if profile.marks else []
    for n, (a, b) in enumerate(zip(profile.eager_in_marks(), seen.eager_in_marks())):
        if a != b:
            differ("step %d: other eager ops: %s, %s", n, a, b)
    return runs


def load(path):
    with open(path) as f:
        return json.load(f)


first = of_profile(sys.argv[1])
if len(sys.argv) == 3:
    ran = two_profiles(first, of_profile(sys.argv[2]))
    print("%d ops" % ran)
else:
    ran = two_runs(first, load(sys.argv[2]), of_timeline(sys.argv[3]), load(sys.argv[4]),
                   load(sys.argv[5]))
    print("%d ops in %d runs, %d eager ops in %d marked steps, %d steps" % (
        sum(first.totals().values()), ran, len(first.eager), len(first.marks),
        load(sys.argv[4])["steps"]["count"]))
print("\n".join(differences[:20]))
sys.exit(bool(differences) or not ran + len(first.eager))
