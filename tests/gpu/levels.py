# SPDX-License-Identifier: MIT
"""Step of tests/gpu/run: what a loop of PyTorch pays, in one process. The level is switched every
second with --control, off between each two others, and every time with tftop is compared with those
without it just before and after: what else the machine does is the same for both."""
import json
import os
import shutil
import statistics
import subprocess
import time

from bench import HERE, TREE, NotMeasured

TURN_S, REHEARSED_S, SWITCHES, SETTLE_NS = 1.0, 0.3, 40, 200_000_000
STEPS_MIN = 3	# in a turn, to judge it by


def turn_s(bench):
    return REHEARSED_S if bench.rehearsal else TURN_S


class Loop:
    """train_levels.py, running."""

    def __init__(self, bench, name, options=(), more=None, watched=True):
        self.bench, self.files = bench, {}
        for part in ("ready", "stop", "truth"):
            self.files[part] = os.path.join(bench.work, "%s-%s" % (name, part))
        command = [bench.python, os.path.join(HERE, "train_levels.py"), "--device",
                   "cpu" if bench.rehearsal else "cuda"]
        for part, path in self.files.items():
            command += ["--" + part, path]
        if watched:
            bench.need_tftop()
            report = os.path.join(bench.reports, "cost-%s.json" % name)
            command, environment = bench.watched_command(
                command, ["-b", "--json=" + report, *options], more)
        else:
            command, environment = command + list(options), bench.for_program(more)
        self.process = bench.start(command, environment)
        self._wait(lambda: os.path.exists(self.files["ready"]))
        with open(self.files["ready"], encoding="ascii") as file:
            self.pid = int(file.read())

    def _wait(self, condition):
        while not condition():
            if self.process.poll() is not None:
                raise NotMeasured("the loop ended: " +
                                  (self.process.communicate()[1].strip().splitlines() or ["?"])[-1])
            time.sleep(0.05)

    def done(self):
        """How many steps, and turns with and without the profiler."""
        try:
            with open(self.files["ready"] + ".at", encoding="ascii") as file:
                return [int(number) for number in file.read().split()] or [0, 0]
        except FileNotFoundError:
            return [0, 0]

    def go_on(self, seconds, turns=0):
        """For so long, until there are enough steps to judge this turn by, or so many turns."""
        until = time.monotonic() + seconds
        time.sleep(SETTLE_NS / 1e9)
        before = self.done()[0]
        self._wait(lambda: time.monotonic() >= until and self.done()[0] > before + STEPS_MIN + 1 and
                   self.done()[1] >= turns)

    def steps(self):
        """Ends it; each step's begin, wall and CPU time, and whether the profiler was on."""
        with open(self.files["stop"], "w", encoding="ascii"):
            pass
        out, err = self.process.communicate(timeout=60)
        print("-- loop: status %s\n%s%s" % (self.process.returncode, out[-2000:], err[-2000:]),
              file=self.bench.log)
        self.bench.check("the loop ends as it should", self.process.returncode == 0,
                         err[-160:] if self.process.returncode else "")
        with open(self.files["truth"], encoding="utf-8") as file:
            return json.load(file)


def windows_of(steps, marks):
    """marks: when which label began, in order; the last one is the end. A label and the medians of
    wall and CPU time of the steps that lie within, for each."""
    windows = []
    for (begin, label), (end, _) in zip(marks, marks[1:]):
        inside = [s for s in steps if s[0] > begin + SETTLE_NS and s[0] + s[1] < end]
        if len(inside) >= STEPS_MIN:
            windows.append((label, statistics.median(s[1] for s in inside),
                            statistics.median(s[2] for s in inside)))
        else:
            windows.append((label, None, None))
    return windows


def slower(windows, label, column):
    """In percent, for each window of that label between two that are off."""
    values = []
    for before, this, after in zip(windows, windows[1:], windows[2:]):
        if this[0] == label and before[0] == after[0] == "off" and \
                None not in (before[column], this[column], after[column]):
            values.append((2 * this[column] / (before[column] + after[column]) - 1) * 100)
    return sorted(values)


def tell(bench, name, windows, label, bar=None):
    for column, what in ((1, "wall"), (2, "CPU")):
        values = slower(windows, label, column)
        if not values:
            bench.missing("%s: %s time of a step" % (name, what), "no pair of turns is complete")
            continue
        middle, few = statistics.median(values), len(values) // 4
        judged = bar is not None and column == 1
        bench.figure("%s: %s time of a step" % (name, what), middle, "% more",
                     "<= %g" % bar if judged else None, middle <= bar if judged else None,
                     "%.1f to %.1f in the middle half of %d turns" %
                     (values[few], values[-1 - few], len(values)))


def switched(bench, name, options, levels, switches):
    loop, marks = Loop(bench, name, options), []
    sequence = [level for other in levels for level in ("off", other)]
    for i in range(switches + 1):
        level = sequence[i % len(sequence)] if i < switches else "off"
        done = bench.run_beside([bench.tftop, "--control", str(loop.pid), "level=" + level])
        if done.returncode:
            raise NotMeasured("the level cannot be changed: " + done.stderr.strip())
        marks.append((time.monotonic_ns(), level))
        loop.go_on(turn_s(bench))
    marks.append((time.monotonic_ns(), "end"))
    windows = windows_of(loop.steps(), marks)
    bare = [w[1] for w in windows if w[0] == "off" and w[1]]
    if bare:
        bench.figure("%s: a step at off" % name, statistics.median(bare) / 1e3, "us")
    for level in levels:
        tell(bench, "%s at %s" % (name, level), windows, level,
             2 if name == "all probes" and level == "default" else None)


def of_profiler(bench):
    loop = Loop(bench, "profiler", ["--profile-turns", str(turn_s(bench))], watched=False)
    loop.go_on(0, 5 if bench.rehearsal else 9)
    steps, marks = loop.steps(), []
    for begin, _, _, on in steps:
        label = "profiler" if on else "off"
        if not marks or marks[-1][1] != label:
            marks.append((begin, label))
    marks.append((steps[-1][0] + steps[-1][1], "end"))
    tell(bench, "torch.profiler", windows_of(steps, marks), "profiler")


def least_client(bench):
    """The least client of CUPTI, built here without CUDA's headers."""
    library, path = bench.machine.get("cupti used"), os.path.join(bench.work, "libtftop-least.so")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not library or not compiler:
        raise NotMeasured("no libcupti was found" if compiler else "there is no C compiler")
    built = subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-I" + TREE, "-o", path,
                            os.path.join(HERE, "least.c"), "-lpthread", "-ldl"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if built.returncode:
        raise NotMeasured("it cannot be built: " + built.stderr.strip()[-160:])
    return {"CUDA_INJECTION64_PATH": path, "CUDA_CLIENT_CUPTI": library}


def beside_least(bench):
    """Processes in turns, as that client cannot be switched."""
    more, times = least_client(bench), {"alone": [], "least": []}
    for turn in range(1 if bench.rehearsal else 2):
        for what in times:
            loop = Loop(bench, "%s%d" % (what, turn), (), more if what == "least" else None,
                        watched=False)
            loop.go_on(2 * turn_s(bench))
            times[what].append(statistics.median(s[1] for s in loop.steps()))
    bench.figure("the least client of CUPTI: wall time of a step", statistics.median(
        [(b / a - 1) * 100 for a, b in zip(times["alone"], times["least"])]), "% more",
        note="processes in turns")


def cost(bench):
    found = bench.bare([bench.python, "-c", "import torch, sys; sys.exit(not %s)" %
                        ("True" if bench.rehearsal else "torch.cuda.is_available()")], limit=60)
    if found.status:
        raise NotMeasured("PyTorch has no GPU here" if not found.err.strip() else
                          found.err.strip().splitlines()[-1])
    some = 6 if bench.rehearsal else SWITCHES
    for what, run in (
            ("all probes", lambda: switched(bench, "all probes", [], ["default", "min", "full"],
                                            some)),
            ("torch.profiler", lambda: of_profiler(bench)),
            ("without the CUDA probe", lambda: switched(
                bench, "without the CUDA probe", ["--probe", "-cuda"], ["default"],
                2 if bench.rehearsal else some // 4)),
            ("the least client", lambda: beside_least(bench))):
        try:
            run()
        except (NotMeasured, subprocess.TimeoutExpired, OSError, ValueError) as why:
            bench.missing(what, str(why))
        finally:
            bench.stop()
