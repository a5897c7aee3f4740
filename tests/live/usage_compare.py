# SPDX-License-Identifier: MIT
"""What tftop says that a process took of its machine, against what tests/programs/host_usage.py says of itself.

usage_compare.py measured TIMELINE REPORT SAID: a timeline in Chrome's format
usage_compare.py forks TIMELINE REPORT SAID
usage_compare.py threads REPORT SAID
usage_compare.py same REPORT REPORT: of a run and of its recording
Prints what is wrong; exit status 1 if anything is.
"""
import json
import sys

NEAR = 0.1      # of what the program says
RATES = {"processor": 1000, "system time": 1000, "processor of children": 1000, "thread": 1000}      # value of one each second
NAMES = ["processor", "resident memory", "minor page faults", "major page faults", "voluntary switches",
         "involuntary switches"]
wrong = []


def check(true, what):
    if not true:
        wrong.append(what)


def rows_of(report, pid=None):
    return {row["name"]: row for row in json.load(open(report))["counters"]
            if "device" not in row and pid in (None, row["pid"])}


def values_of(timeline):
    """{group: {name: [(ns, value)]}}"""
    events = json.load(open(timeline))
    found = {}
    for event in events["traceEvents"] if isinstance(events, dict) else events:
        if event.get("ph") == "C" and event["cat"] == "Counter":
            of = found.setdefault(event["pid"], {}).setdefault(event["name"], [])
            of.append((int(event["ts"] * 1000), event["args"][event["name"]]))
    return found


def took(values, begin_ns, end_ns, unit):
    """What a rate adds up to, over all looks that lie in that time in part: it is quiet around it."""
    total = 0.
    for (at_ns, value), (until_ns, _) in zip(values, values[1:]):
        if until_ns > begin_ns and at_ns < end_ns:
            total += value / unit * (until_ns - at_ns) / 1e9
    return total


def measured(timeline, report, said):
    said = json.load(open(said))
    rows, groups = rows_of(report, said["pid"]), list(values_of(timeline).values())
    check(len(groups) == 1, f"{len(groups)} processes have counters")
    for name, expected in said["took"].items():
        if name == "disk written" and not said["io"]:
            check(name not in rows, "disks without a count of the kernel's")
            continue
        found = [n for n in groups[0] if n == name or (name.startswith("thread ") and n.startswith(name))]
        check(len(found) == 1, f"{name}: {found}")
        # a thread has a series from its first look on
        unit = RATES.get(name.split()[0] if name.startswith("thread") else name, 1)
        got = took(groups[0][found[0]], said["begin_ns"], said["end_ns"], unit) if found else 0
        check(abs(got - expected) <= NEAR * expected, f"{name}: {got} instead of {expected}")
    for name in NAMES:
        check(name in rows, f"no {name}")
    resident = groups[0].get("resident memory", [])
    first = [value for at_ns, value in resident if at_ns < said["begin_ns"]]
    last = [value for at_ns, value in resident if said["end_ns"] < at_ns < said["quiet_ns"]]
    check(first and last and abs(last[0] - said["resident"]) <= NEAR * said["resident"],
          f"resident memory: {last} instead of {said['resident']}")
    check(first and last and last[0] - first[-1] >= said["memory"],
          f"resident memory grew from {first} to {last}")
    check(("network sent (machine)" in rows) == said["network"], "network")
    # those of touching MEMORY: an estimate, of the time of the kernel
    faults = took(groups[0].get("fault time (est.)", []), said["begin_ns"], said["end_ns"], 1000)
    check(0 < faults <= said["took"]["system time"] * (1 + NEAR), f"{faults} s in faults")
    check(rows["memory of children"]["max"] > 0, "memory of children")


def forks(timeline, report, said):
    """The child has series of its own, which begin with it."""
    said = [json.loads(line) for line in open(said)]
    groups = values_of(timeline).values()
    for one in said:
        rows = rows_of(report, one["pid"])
        forked = one["parent"] in [other["pid"] for other in said]
        for name in NAMES:
            check(name in rows, f"{one['pid']}: no {name}")
        of_worker = any(name.startswith(f"thread {one['tid']} ") for name in rows)
        check(of_worker != forked, f"{one['pid']}: the parent's thread: {of_worker}")
        if forked and "processor" in rows:
            row = rows["processor"]
            mine = [g["processor"] for g in groups if len(g.get("processor", [])) == row["count"]
                    and [v for _, v in g["processor"]][-1] == row["last"]]
            total = took(mine[0], 0, 1 << 62, 1000) if mine else -1
            check(0 < total <= one["used"] * (1 + NEAR), f"the child: {total} of {one['used']}")


def threads(report, said):
    said = json.load(open(said))
    rows = [name for name in rows_of(report, said["pid"]) if name.startswith("thread ")]
    check(0 < len(rows) <= 32, f"{len(rows)} series of threads")


def same(report, other):
    check(rows_of(report) == rows_of(other), "the recording has others")
    check(rows_of(report), "there are none")


globals()[sys.argv[1]](*sys.argv[2:])
if wrong:
    print("; ".join(wrong))
    sys.exit(1)
