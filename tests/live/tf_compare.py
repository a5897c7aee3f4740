# SPDX-License-Identifier: MIT
"""tf_compare.py PROFILE REPORT: whether tftop's report of one run has the ops that
TensorFlow's own profiler saw in another, name by name and type by type. With a
folder for REPORT: whether two profiles have the same ops.

An op of the profile is an event "name:type", but not one inside of an
ExecutorState::Process whose step id is -1 (that is constant folding, on a device of
its own). Kernels of eager ops are in the report only: each has its type for a name,
and its results come as "..._retval_RetVal".
Prints what differs; 0: nothing does.
"""
import glob
import json
import os
import re
import sys
from collections import Counter

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
try:
    from tensorflow.tsl.profiler.protobuf import xplane_pb2
except ImportError:
    from tensorflow.core.profiler.protobuf import xplane_pb2

OP = re.compile(r"^([^:#]+):([A-Za-z_][A-Za-z0-9_]*)$")


def number(plane, event, key):
    for stat in event.stats:
        if plane.stat_metadata[stat.metadata_id].name == key:
            return getattr(stat, stat.WhichOneof("value"))
    return None


def of_profile(folder):
    ops = Counter()
    for path in glob.glob(folder + "/**/*.xplane.pb", recursive=True):
        space = xplane_pb2.XSpace()
        with open(path, "rb") as f:
            space.ParseFromString(f.read())
        for plane in space.planes:
            for line in plane.lines:
                events = [(e.offset_ps, e.offset_ps + e.duration_ps,
                           plane.event_metadata[e.metadata_id].name, e) for e in line.events]
                runs = [(b, e, number(plane, event, "id")) for b, e, name, event in events
                        if name == "ExecutorState::Process"]
                for begin, end, name, _ in events:
                    match = OP.match(name)
                    if match and not any(b <= begin and end <= e and n == -1 for b, e, n in runs):
                        ops[match.groups()] += 1
    return ops


def of_report(path):
    with open(path) as f:
        report = json.load(f)
    return Counter({(op["name"], op["type"]): op["count"] for op in report["ops"]
                    if op["framework"] == "tensorflow"
                    and op["type"] not in ("eager", "function", "session")})


def is_eager(name, kind):
    return name == kind or name.endswith("_retval_RetVal")


profile = of_profile(sys.argv[1])
report = of_profile(sys.argv[2]) if os.path.isdir(sys.argv[2]) else of_report(sys.argv[2])
differs = 0
for op in sorted(profile | report):
    if profile[op] != report[op] and (profile[op] > report[op] or not is_eager(*op)):
        differs += 1
        print("%s:%s: %d in the profile, %d in the report" % (*op, profile[op], report[op]))
print("%d ops in the profile, %d in the report, %d names differ" % (
    sum(profile.values()), sum(report.values()), differs))
sys.exit(differs != 0 or not profile)
