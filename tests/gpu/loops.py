# SPDX-License-Identifier: MIT
"""Steps of tests/gpu/run: training loops. What tftop sees of a step against what the
framework's own profiler sees of it in another run, and what the loop pays.

Of a run tftop reports all, the profiler the steps after the warm-up. So two runs under tftop
with different numbers of steps are taken: by what they differ is so many steps' work."""
import json
import os
import re
import shutil
import statistics
import subprocess
from collections import Counter

from bench import HERE, NotMeasured

ROUNDS = 3
FEW, MANY = 20, 60	# steps of the runs that are compared
LEAD = 5	# of a loop under its framework's profiler, before those that are timed

# Of jax.profiler's folder, in a Python that has JAX.
JAX_COUNTS = """
import glob, json, sys
from collections import Counter
from jax.profiler import ProfileData
kernels = Counter()
for file in glob.glob(sys.argv[1] + "/**/*.xplane.pb", recursive=True):
    for plane in ProfileData.from_file(file).planes:
        if "GPU" not in plane.name:
            continue
        for line in plane.lines:
            if not line.name.startswith("Stream"):
                continue
            for event in line.events:
                kernels[event.name] += 1
json.dump(kernels, sys.stdout)
"""


def demangled(names):
    """As the frameworks' profilers do; the names themselves where there is no c++filt."""
    names = list(names)
    tool = shutil.which("c++filt")
    if not tool or not names:
        return {n: n for n in names}
    out = subprocess.run([tool], input="\n".join(names), capture_output=True, text=True,
                         check=True).stdout.splitlines()
    return dict(zip(names, out))


def of_report(report):
    """Kernels by name; copies and fills by direction: count and bytes."""
    kernels, copies = Counter(), Counter()
    full = demangled({k.get("raw_name", k["name"]) for k in report["kernels"]})
    for kernel in report["kernels"]:
        kernels[full[kernel.get("raw_name", kernel["name"])]] += kernel["count"]
    for copy in report.get("copies", ()):
        copies[copy["direction"]] += copy["count"]
        copies[copy["direction"] + " bytes"] += copy["bytes"]
    return kernels, copies


def of_steps(many, few):
    return [Counter({k: a[k] - b[k] for k in set(a) | set(b) if a[k] != b[k]})
            for a, b in zip(many, few)]


def of_chrome(path):
    directions = {"HtoD": "h2d", "DtoH": "d2h", "DtoD": "d2d", "PtoP": "p2p", "HtoH": "h2h"}
    kernels, copies = Counter(), Counter()
    with open(path, encoding="utf-8") as file:
        for event in json.load(file)["traceEvents"]:
            kind = event.get("cat")
            if kind == "kernel":
                kernels[event["name"]] += 1
            elif kind in ("gpu_memcpy", "gpu_memset"):
                found = re.search(r"Memcpy (\w+)", event["name"])
                direction = directions.get(found.group(1)) if found else "fill"
                copies[direction] += 1
                copies["%s bytes" % direction] += event.get("args", {}).get("bytes", 0)
    return kernels, copies


def compare(bench, name, ours, theirs, steps):
    """Both as so many steps' work; theirs is the truth."""
    bad = []
    for what in sorted(set(ours) | set(theirs), key=str):
        if ours[what] != theirs[what]:
            bad.append("%s: %g, not %g a step" %
                       (what[:80], ours[what] / steps, theirs[what] / steps))
    for line in bad:
        print("differs: " + line, file=bench.log)
    bench.check(name, not bad and bool(theirs), bad[0] if bad else
                "%d a step, %d names" % (sum(theirs.values()) // steps, len(theirs)))


class Loop:
    def __init__(self, bench, script, has):
        self.bench, self.script = bench, os.path.join(HERE, script)
        found = bench.bare([bench.python, "-c", has], limit=60)
        if found.status:
            raise NotMeasured(found.err.strip().splitlines()[-1] if found.err.strip() else
                              "no GPU for it")
        self.options = ["--device", "cpu"] if bench.rehearsal else []
        self.times = os.path.join(bench.work, "loop")

    def command(self, *arguments):
        return [self.bench.python, self.script, *self.options, *map(str, arguments),
                "--truth", self.times]

    def took(self, result):
        if result.status or not os.path.exists(self.times):
            raise NotMeasured("the loop failed: " + result.why())
        with open(self.times, encoding="utf-8") as file:
            took = json.load(file)
        os.unlink(self.times)
        return took["wall_ns"] / took["steps"]

    def bare(self, *arguments):
        return self.took(self.bench.bare(self.command(*arguments), limit=90))

    def watched(self, level, *arguments):
        result = self.bench.watch(self.command(*arguments), os.path.basename(self.script),
                                  ["--level", level], limit=90)
        return self.took(result), result.report

    def two_runs(self, *arguments):
        """What FEW and MANY steps differ by."""
        few, many = (of_report(self.watched("default", "--steps", n, *arguments)[1])
                     for n in (FEW, MANY))
        return of_steps(many, few)

    def slowdown(self, name, steps, profile, *arguments):
        """Alternating; the medians of what is slower."""
        slower = {"default": [], "full": [], "the framework's profiler": []}
        rate = bare = 0.0
        for _ in range(1 if self.bench.rehearsal else ROUNDS):
            bare = self.bare("--steps", steps, *arguments)
            for level in ("default", "full"):
                took, report = self.watched(level, "--steps", steps, *arguments)
                slower[level].append(took / bare - 1)
                kernels = sum(k["count"] for k in report["kernels"])
                rate = kernels / (steps + 10) / (bare / 1e9)
            took = self.bare("--steps", steps, "--profile", profile, *arguments)
            slower["the framework's profiler"].append(took / bare - 1)
            shutil.rmtree(profile, ignore_errors=True)
        self.bench.figure("%s: a step, bare" % name, bare / 1e3, "us")
        self.bench.figure("%s: kernels/s" % name, rate, "1/s")
        for what, values in slower.items():
            value = statistics.median(values)
            judged = what == "default" and rate <= 10000
            self.bench.figure("%s: slower at %s by" % (name, what) if what in ("default", "full")
                              else "%s: slower under %s by" % (name, what), value * 100, "%",
                              "<= 2" if judged else None, value <= 0.02 if judged else None)


def torch_loop(bench):
    return Loop(bench, "train_torch.py", "import sys, torch; sys.exit(not %s)" %
                ("True" if bench.rehearsal else "torch.cuda.is_available()"))


def torch(bench):
    loop = torch_loop(bench)
    trace, steps = os.path.join(bench.work, "trace.json"), MANY - FEW
    for name, arguments in (("eager", []), ("with .item()", ["--item"]), ("graph", ["--graph"])):
        if bench.rehearsal and name == "graph":
            continue
        loop.bare("--steps", steps - LEAD, "--profile", trace, *arguments)
        kernels, copies = loop.two_runs(*arguments)
        if bench.rehearsal:
            bench.missing("%s: kernels, copies" % name, "PyTorch has no GPU here")
            continue
        theirs = of_chrome(trace)
        compare(bench, "%s: kernels as torch.profiler" % name, kernels, theirs[0], steps)
        compare(bench, "%s: copies, fills, bytes" % name, copies, theirs[1], steps)
        if name == "eager":
            both_profilers(bench, loop, trace, theirs[0])


def both_profilers(bench, loop, trace, theirs):
    """torch.profiler inside of tftop: with CUPTI for itself, and without."""
    arguments = ("--steps", MANY - FEW - LEAD, "--profile", trace)
    for name, options in (("--probe -cuda", ["--probe", "-cuda"]), ("CUPTI taken", [])):
        result = bench.watch(loop.command(*arguments), "torch-profiler", options, limit=90)
        loop.took(result)
        kernels = of_chrome(trace)[0]
        if options:
            bench.check("torch.profiler with tftop %s" % name, kernels == theirs,
                        "%d kernels" % sum(kernels.values()))
        else:
            bench.fact("torch.profiler while tftop has CUPTI",
                       "%d of %d kernels" % (sum(kernels.values()), sum(theirs.values())))


def torch_cost(bench):
    loop, trace = torch_loop(bench), os.path.join(bench.work, "trace.json")
    if bench.rehearsal:
        loop.slowdown("rehearsed", 20, trace)
        return
    loop.slowdown("large steps", 60, trace, "--batch", 4096, "--width", 128)
    loop.slowdown("small steps", 400, trace, "--batch", 16)


def jax_loop(bench):
    return Loop(bench, "train_jax.py",
                "import os; os.environ['JAX_PLATFORMS'] = '%s'; import jax; jax.devices()" %
                ("cpu" if bench.rehearsal else "cuda"))


def jax(bench):
    loop, folder = jax_loop(bench), os.path.join(bench.work, "jax-profile")
    loop.bare("--steps", MANY - FEW - LEAD, "--profile", folder)
    kernels, _ = loop.two_runs()
    counted = bench.bare([bench.python, "-c", JAX_COUNTS, folder], limit=60)
    theirs = Counter(json.loads(counted.out)) if counted.status == 0 else Counter()
    if bench.rehearsal:
        bench.missing("kernels", "JAX has no GPU here")
        return
    names = Counter({k: v for k, v in theirs.items() if not re.match("mem(cpy|set)", k, re.I)})
    compare(bench, "kernels as jax.profiler", kernels, names, MANY - FEW)


def jax_cost(bench):
    loop, folder = jax_loop(bench), os.path.join(bench.work, "jax-profile")
    if bench.rehearsal:
        loop.slowdown("rehearsed", 20, folder)
        return
    loop.slowdown("large steps", 60, folder, "--batch", 16384, "--width", 4096)
    loop.slowdown("small steps", 400, folder, "--batch", 16)
