# SPDX-License-Identifier: MIT
"""What tftop saw of a JAX program, against JAX's own profiler.

    jax_compare.py PROFILE REPORT     the folder of one run's profile, tftop's report of another
    jax_compare.py PROFILE PROFILE    two profiles

Kernels (XLA's thunks) by program and name, calls of jitted functions by name: the same, as
often. In the report control flow ("while", "call") is an op, for its kernels are in it.
Prints what differs, then a line about it; 0: nothing does.
"""
import glob
import json
import os
import sys
from collections import Counter

from jax.profiler import ProfileData


def of_profile(folder):
    kernels, calls = Counter(), Counter()
    files = glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True)
    for plane in (p for file in files for p in ProfileData.from_file(file).planes):
        for event in (e for line in plane.lines for e in line.events):
            stats = dict(event.stats)
            if "hlo_op" in stats:
                kernels[stats["hlo_module"], stats["hlo_op"]] += 1
            elif event.name.startswith("PjitFunction("):
                calls[event.name[13:-1]] += 1
    # each call is told twice, one inside of the other
    return kernels, Counter({name: n // 2 for name, n in calls.items()}), None


def of_report(path):
    kernels, calls, control = Counter(), Counter(), Counter()
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    for kernel in report["kernels"]:
        for run in kernel["ops"]:	# named after the program, as its module is
            kernels[run.get("name"), kernel["name"]] += run["count"]
    for op in report["ops"]:
        if op.get("type") == "PjitFunction":
            calls[op["name"]] += op["count"]
        elif op.get("type") == "XLA control flow":
            control[op["name"]] += op["count"]
    return kernels, calls, control


def flow_of(kernels, control):
    """Without those that the other side has as control flow; and these."""
    names = Counter()
    for key in [k for k in kernels if k[1] in control]:
        names[key[1]] += kernels.pop(key)
    return names


def main(first, second):
    sides = [of_profile(p) if os.path.isdir(p) else of_report(p) for p in (first, second)]
    bad, count, names = 0, sum(sides[0][0].values()), len(sides[0][0])
    if sides[1][2] is not None:
        sides[0] = *sides[0][:2], flow_of(sides[0][0], sides[1][2])
    for what, a, b in zip(("kernel", "call", "control flow"), *sides):
        if a is None or b is None:
            continue
        for key in sorted(set(a) | set(b), key=str):
            if a[key] != b[key]:
                print("%s %s: %d and %d" % (what, key, a[key], b[key]))
                bad += 1
    print("%d kernels of %d names, %d calls" % (count, names, sum(sides[0][1].values())))
    return 1 if bad or not count else 0


sys.exit(main(*sys.argv[1:]))
