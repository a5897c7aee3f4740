# SPDX-License-Identifier: MIT
"""Steps of tests/gpu/run: CUDA programs that know their own truth, at each level; one that
is a profiler itself; CUPTI's buffers as they come."""
import concurrent.futures
import glob
import importlib.util
import json
import os
import re
import shutil
import subprocess

from bench import HERE, TREE, NotMeasured

# program: its source, flags of nvcc besides
PROGRAMS = {
    "work": ("work.cu", []),
    "work-threads": ("work.cu", ["--default-stream", "per-thread"]),
    "graphs": ("graphs.cu", []),
    "odd": ("odd.cu", []),
    "rate": ("rate.cu", []),
    "client": ("client.cu", []),
}

# name, program, arguments, level, environment; most is left to the level that people use
CASES = [
    ("work", "work", [], "default", {}),
    ("work at min", "work", [], "min", {}),
    ("work at full", "work", [], "full", {}),
    ("16 streams, 200 turns", "work", ["--streams", "16", "--turns", "200"], "default", {}),
    ("8 threads", "work", ["--threads", "8", "--turns", "50"], "default", {}),
    ("per-thread default streams", "work-threads", ["--threads", "8", "--turns", "50"], "default",
     {}),
    ("8 processes", "work", ["--processes", "8"], "default", {}),
    ("graphs", "graphs", [], "default", {}),
    ("graphs at full", "graphs", [], "full", {}),
    ("all of 400 nodes, 1000 times", "graphs", ["--layers", "200", "--launches", "1000"],
     "default", {"TFTOP_CUDA_GRAPHS": "nodes"}),
    ("whole graphs", "graphs", ["--layers", "200", "--launches", "1000"], "default",
     {"TFTOP_CUDA_GRAPHS": "whole"}),
    ("a kernel of 3 s", "odd", ["long"], "default", {}),
    ("refused launches", "odd", ["fail"], "default", {}),
    ("modules", "odd", ["module"], "default", {}),
    ("leaves without waiting", "odd", ["leave"], "default", {}),
    ("two devices", "odd", ["peer"], "default", {}),
]
REHEARSED = ("work", "graphs", "refused launches", "modules")


def compile_one(bench, name):
    """None, or what nvcc says."""
    source, flags = PROGRAMS[name]
    # over the double of the runtime when rehearsed, else as nvcc links by itself
    flags = flags + (["-cudart", "shared", "-arch=sm_75"] if bench.rehearsal
                     else ["-arch=native"])
    done = subprocess.run(["nvcc", "-O1", "-o", os.path.join(bench.work, name),
                           os.path.join(HERE, source)] + flags,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, file=bench.log)
    return done.stderr.strip()[-200:] or "status %d" % done.returncode if done.returncode else None


def build(bench):
    """All of them at once; in a rehearsal each when it is wanted."""
    if not shutil.which("nvcc"):
        raise NotMeasured("there is no nvcc")
    if bench.rehearsal:
        return
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, wrong in zip(PROGRAMS, pool.map(lambda n: compile_one(bench, n), PROGRAMS)):
            bench.check("nvcc makes %s" % name, not wrong, wrong or "")


def program(bench, name):
    path = os.path.join(bench.work, name)
    if bench.rehearsal and not os.path.exists(path) and shutil.which("nvcc"):
        wrong = compile_one(bench, name)
        bench.check("nvcc makes %s" % name, not wrong, wrong or "")
    if not os.access(path, os.X_OK):
        raise NotMeasured("'%s' was not built" % name)
    return path


# ---- truth ----

def comparer():
    """tests/live/cuda_compare.py, which the live suites use too."""
    path = os.path.join(TREE, "tests/live/cuda_compare.py")
    spec = importlib.util.spec_from_file_location("cuda_compare", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def add_rows(total, more, keys):
    """Rows of a table that are about the same, as one."""
    for row in more:
        same = [r for r in total if all(r.get(k) == row.get(k) for k in keys)]
        if not same:
            total.append(row)
            continue
        for key, value in row.items():
            if isinstance(value, int) and key not in keys:
                same[0][key] = same[0].get(key, 0) + value
            elif isinstance(value, list):
                add_rows(same[0].setdefault(key, []), value, ("name", "queue_name"))


def read_truth(path):
    """Of all processes: FILE, or FILE.0, FILE.1, …"""
    files = [path] if os.path.exists(path) else sorted(glob.glob(path + ".[0-9]*"))
    total = None
    for file in files:
        with open(file, encoding="utf-8") as f:
            truth = json.load(f)
        if total is None:
            total = truth
            continue
        for table, keys in (("kernels", ("name", "raw_name")), ("copies", ("direction",)),
                            ("memory", ("allocator",)), ("calls", ("name",))):
            add_rows(total.setdefault(table, []), truth.get(table, []), keys)
        for row in total.get("memory", ()):	# they need not have met
            row.pop("peak_bytes", None)
    return total


def of_level(truth, level, more):
    """What is told at that level, with that environment."""
    truth = dict(truth)
    if more.get("TFTOP_CUDA_GRAPHS") == "whole":	# what is in them is not
        del truth["kernels"], truth["copies"]
    if level != "full":
        truth.pop("calls", None)
    if level == "min":	# no launches, and so no ops
        truth.pop("memory", None)
        truth["kernels"] = [{k: v for k, v in row.items() if k != "ops"}
                            for row in truth.get("kernels", [])]
    return truth


def launches_of_graphs(truth, report):
    """How often graphs were launched, as the comparer does not know it; None: equal."""
    told = sum(row.get("count", 0) for row in report.get("graph_launches", ()))
    want = truth.get("cuda", {}).get("graph_launches", told)
    return None if told == want else "graphs were launched %d times, reported %d" % (want, told)


def compare_run(bench, name, result, path, level="default", more=None):
    if result.status == 77:
        bench.missing(name, result.out.strip() or "not here")
        return
    if result.status or not result.report:
        bench.check(name, False, result.why())
        return
    truth = read_truth(path)
    if not truth:
        bench.check(name, False, "the program wrote no truth")
        return
    # "leave" does not wait for that one: it ran or not
    kernels = [k for k in result.report["kernels"] if k["name"] != "hold" or
               any(row.get("name") == "hold" for row in truth["kernels"])]
    graphs = launches_of_graphs(truth, result.report) if level != "min" else None
    try:
        equal, different = comparer().compare(of_level(truth, level, more or {}),
                                              dict(result.report, kernels=kernels))
        different += [graphs] if graphs else []
    except (KeyError, TypeError, ValueError) as error:	# the other cases are still to come
        bench.check(name, False, "cannot be compared: %s %s" % (type(error).__name__, error))
        return
    for line in different:
        print("differs: %s" % line, file=bench.log)
    bench.check(name, equal and not different,
                "%d figures equal" % equal if not different else
                "%d of %d differ: %s" % (len(different), equal + len(different), different[0]))


def truth(bench):
    for number, case in enumerate(CASES):
        if bench.rehearsal and case[0] not in REHEARSED:
            continue
        try:
            one_truth(bench, os.path.join(bench.work, "truth%d" % number), *case)
        except NotMeasured as why:	# the others are still to come
            bench.missing(case[0], str(why))


def one_truth(bench, path, name, binary, arguments, level, more):
    command = [program(bench, binary), *arguments, "--truth", path]
    # a double's device computes nothing
    command += ["--unchecked"] if bench.rehearsal and binary != "odd" else []
    result = bench.watch(command, re.sub(r"\W+", "-", name), ["--level", level], limit=60,
                         more=more)
    compare_run(bench, name, result, path, level, more)
    if binary == "odd" and arguments[0] == "long":
        look_at_long(bench, result)


def look_at_long(bench, result):
    """The short ones had ended long before the long one, and so says the report."""
    if not result.report:
        return
    longest = max((k["max_ns"] for k in result.report["kernels"] if k["name"] == "hold"), default=0)
    bench.check("a kernel of 3 s takes that", 2.9e9 < longest < 3.3e9, "%.3f s" % (longest / 1e9))


# ---- a second profiler ----

def libcupti(bench):
    path = bench.machine.get("cupti used")
    if not path:
        raise NotMeasured("no libcupti was found")
    return path


def client(bench):
    """The program's own profiler gets its records, with tftop as without, and tftop shows the
    gap; with --probe -cuda tftop leaves CUPTI alone."""
    library = libcupti(bench)
    path = os.path.join(bench.work, "client-truth")
    command = [program(bench, "client"), library, "--truth", path]
    alone = bench.bare(command)
    bench.check("alone it gets its records", "kernels 1000 records 1000" in alone.out,
                alone.out.strip().replace("\n", "; ") or alone.why())
    out = bench.watch(command, "client-out", ["--probe", "-cuda"])
    bench.check("with --probe -cuda too", "kernels 1000 records 1000" in out.out and
                not (out.report or {}).get("kernels"), out.out.strip().replace("\n", "; "))
    both = bench.watch(command, "client")
    bench.check("with tftop it ends as it should", both.status == 0,
                both.why() if both.status else "")
    bench.check("with tftop it gets its records", "kernels 1000 records 1000" in both.out,
                both.out.strip().replace("\n", "; "))
    devices = [d for d in (both.report or {}).get("devices", []) if d.get("api") == "cuda"]
    messages = [m["text"] for m in (both.report or {}).get("messages", [])]
    bench.check("tftop says that the program's own profiler has the device",
                any("own profiler has the device" in text for text in messages) and
                not (both.report or {}).get("kernels"),
                "; ".join(messages) or "no message")
    bench.fact("time that the program's profiler had the device",
               sum(d.get("taken_ns", 0) for d in devices))


# ---- buffers ----

def record(bench):
    """For tests/data/cupti, and at once for the decoder's unit test."""
    recorded = 0
    for name, binary, arguments in (
            ("work", "work", ["--turns", "3"]), ("graphs", "graphs", ["--launches", "3"]),
            ("refused", "odd", ["fail"]), ("modules", "odd", ["module"])):
        command = [program(bench, binary), *arguments]
        command += ["--unchecked"] if bench.rehearsal and binary != "odd" else []
        path = os.path.join(bench.buffers, name + ".buf")
        result = bench.watch(command, "record-" + name, ["--level", "full"],
                             more={"TFTOP_CUDA_RECORD": path})
        size = os.path.getsize(path) if os.path.exists(path) else 0
        recorded += size > 0
        if result.status:
            bench.check("buffers of %s" % name, False, result.why())
        elif not size:
            bench.missing("buffers of %s" % name, "the probe wrote none")
        else:
            bench.figure("buffers of %s" % name, size, "bytes")
    unit = os.path.join(bench.root, "tests/unit")
    if not recorded or not os.access(unit, os.X_OK):
        bench.missing("our decoder on them", "no buffers" if not recorded else "no unit test")
        return
    result = bench.execute([unit, "cuda"], bench.for_program(
        {"TFTOP_TEST_BUFFERS": bench.buffers,
         "LD_LIBRARY_PATH": bench.environment.get("LD_LIBRARY_PATH", "")}), 30)
    bench.check("our decoder on them", result.status == 0, result.why() if result.status else
                result.out.strip().splitlines()[-1])
