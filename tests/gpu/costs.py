# SPDX-License-Identifier: MIT
"""Steps of tests/gpu/run: how late the screen is, and what launches cost at a rate. Runs
without and with tftop alternate; a figure is the median over the rounds."""
import os
import re
import shutil
import statistics

from bench import NotMeasured
from programs import program

LATE_MS = 250
KERNELS = 6
RATES = [(1000, 3000), (10000, 20000), (100000, 200000), (0, 300000)]	# per second, how many
LEVELS = ["min", "default", "full"]
ROUNDS = 3


# ---- the screen ----

def screen(bench):
    """A script that saves the screen as soon as it shows one kernel more; when it did, the
    file's time says."""
    bench.need_tftop()
    ends = os.path.join(bench.work, "ends")
    shots = [os.path.join(bench.work, "screen%d" % (i + 1)) for i in range(KERNELS)]
    script = os.path.join(bench.work, "script")
    with open(script, "w", encoding="ascii") as file:
        for i, shot in enumerate(shots):
            file.write("wait-kernels %d 20s\nsave-screen %s\n" % (i + 1, shot))
        file.write("wait-exit 20s\n")
    command = [program(bench, "rate"), "--count", str(KERNELS), "--pauses", "700", "--ends", ends]
    command, environment = bench.watched_command(
        command, ["--headless", "--size", "160x48", "--quit", "--script", script])
    result = bench.execute(command, environment, 50)
    try:
        with open(ends, encoding="ascii") as file:
            ended = [float(line) for line in file]
        late = [(os.stat(shot).st_mtime - end) * 1000 for shot, end in zip(shots, ended)]
    except OSError as error:
        bench.check("the screen shows each kernel", False, "%s; %s" % (error, result.why()))
        return
    shutil.copy(shots[-1], os.path.join(bench.out, "screen.txt"))
    bench.check("the screen shows each kernel", len(late) == KERNELS and result.status == 0,
                result.why() if result.status else "")
    bench.figure("the median is late by", statistics.median(late), "ms")
    # the first one waits for all that happens once
    worst = max(late[1:])
    bench.figure("the worst but the first is late by", worst, "ms", "<= %d" % LATE_MS,
                 worst <= LATE_MS)


# ---- rates ----

LINE = re.compile(r"kernels (\d+) wall (\d+) cpu (\d+) launch (\d+)")


class Samples:
    def __init__(self):
        self.launch, self.cpu, self.wall = [], [], []

    def take(self, out):
        match = LINE.search(out)
        if not match:
            return False
        count, wall, cpu, launch = map(int, match.groups())
        self.launch.append(launch)
        self.cpu.append(cpu / count)
        self.wall.append(wall)
        return True


def trust(report, kernels):
    """Is what tftop says of this run all of it?"""
    seen = sum(k["count"] for k in report["kernels"] if k["name"] == "tick")
    lost = report["trust"]["lost_events"] + report["trust"]["lost_packets"]
    return seen == kernels and not lost, "%d of %d kernels, %d lost" % (seen, kernels, lost)


def one_rate(bench, per_second, count):
    name = "%d k/s" % (per_second // 1000) if per_second else "as fast as it goes"
    command = [program(bench, "rate"), "--per-second", str(per_second), "--count", str(count),
               "--ranges"]
    samples = {level: Samples() for level in ["bare", *LEVELS]}
    right = {level: [] for level in LEVELS}
    for _ in range(1 if bench.rehearsal else ROUNDS):
        if not samples["bare"].take(bench.bare(command).out):
            raise NotMeasured("the program said nothing")
        for level in LEVELS:
            result = bench.watch(command, "rate", ["--level", level])
            if not samples[level].take(result.out) or not result.report:
                right[level].append((False, result.why()))
                continue
            right[level].append(trust(result.report, count + 1))
    bare = samples["bare"]
    bench.figure("%s: a launch, bare" % name, statistics.median(bare.launch), "ns")
    if not per_second:
        bench.figure("%s: kernels/s, bare" % name,
                     count / (statistics.median(bare.wall) / 1e9), "1/s")
    for level in LEVELS:
        with_it = samples[level]
        if with_it.launch:
            bench.figure("%s at %s: a launch" % (name, level), statistics.median(
                [w - b for w, b in zip(with_it.launch, bare.launch)]), "ns more")
            bench.figure("%s at %s: CPU of the process" % (name, level), statistics.median(
                [w - b for w, b in zip(with_it.cpu, bare.cpu)]), "ns/kernel more")
            slower = statistics.median([w / b - 1 for w, b in zip(with_it.wall, bare.wall)])
            judged = level == "default" and per_second and per_second <= 10000
            bench.figure("%s at %s: slower by" % (name, level), slower * 100, "%",
                         "<= 2" if judged else None, slower <= 0.02 if judged else None)
        wrong = [note for good, note in right[level] if not good]
        bench.check("%s at %s: all of it" % (name, level), not wrong,
                    wrong[0] if wrong else right[level][0][1])


def other_profiler(bench, per_second, count):
    name = "%d k/s under nsys" % (per_second // 1000)
    if not shutil.which("nsys"):
        bench.missing(name, "there is no nsys")
        return
    samples, bare = Samples(), Samples()
    command = [program(bench, "rate"), "--per-second", str(per_second), "--count", str(count),
               "--ranges"]
    for _ in range(ROUNDS):
        bare.take(bench.bare(command).out)
        samples.take(bench.bare(["nsys", "profile", "-t", "cuda,nvtx", "-o",
                                 os.path.join(bench.work, "nsys"), "-f", "true", *command]).out)
    if not samples.launch or len(samples.launch) != len(bare.launch):
        bench.missing(name, "it did not run")
        return
    bench.figure(name + ": a launch", statistics.median(
        [w - b for w, b in zip(samples.launch, bare.launch)]), "ns more")
    bench.figure(name + ": slower by", statistics.median(
        [w / b - 1 for w, b in zip(samples.wall, bare.wall)]) * 100, "%")


def rates(bench):
    todo = [(2000, 2000)] if bench.rehearsal else RATES
    for per_second, count in todo:
        one_rate(bench, per_second, count)
    if not bench.rehearsal:
        other_profiler(bench, 10000, 20000)
