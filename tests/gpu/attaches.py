# SPDX-License-Identifier: MIT
"""Step of tests/gpu/run: tftop attaches to running programs, ten times each, and they go on. Where
one dies, its core's backtrace is kept, and the probes are let in one by one."""
import glob
import os
import resource
import shutil
import signal
import subprocess
import time

from bench import HERE, NotMeasured
from programs import program

TIMES = 10
# which probes come to a program in which XLA computes on a GPU: probes/schema/attach.h
LET_IN = ("", "jax", "cuda", "jax,cuda")


class Running:
    """A program that goes on until `stop` exists."""

    def __init__(self, bench, name, command, more=None):
        self.bench, self.name = bench, name
        self.folder = os.path.join(bench.work, "attach-" + name.replace(" ", "-"))
        os.makedirs(self.folder)
        self.stop_file = os.path.join(self.folder, "stop")
        ready = os.path.join(self.folder, "ready")
        command = [part.replace("READY", ready).replace("STOP", self.stop_file)
                   .replace("TRUTH", os.path.join(self.folder, "truth")) for part in command]
        self.command = command
        self.error = open(os.path.join(self.folder, "err"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            command, cwd=self.folder, env=bench.for_program(more), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.error, start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
        bench.others.append(self.process)
        while any(ready in part for part in command) and not os.path.exists(ready):
            if self.process.poll() is not None:
                raise NotMeasured("%s does not start: %s" % (name, self.last_words()))
            time.sleep(0.05)

    def last_words(self):
        self.error.flush()
        with open(self.error.name, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.strip()]
        return lines[-1][:160] if lines else "status %s" % self.process.returncode

    def alive(self):
        return self.process.poll() is None

    def end(self):
        """How it ends when it is told to."""
        with open(self.stop_file, "w", encoding="ascii"):
            pass
        try:
            return self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return self.process.wait()

    def backtrace(self):
        """Of its core, into the results; its first lines of code."""
        cores = glob.glob(os.path.join(self.folder, "core*"))
        debugger = shutil.which("cuda-gdb") or shutil.which("gdb")
        if not cores or not debugger:
            return "no core was left" if not cores else "there is no gdb"
        done = subprocess.run(
            [debugger, "-batch", "-nx", "-ex", "bt 40", "-ex", "x/8i $pc", "-ex", "info registers",
             "-ex", "thread apply all bt 12", self.command[0], cores[0]], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=60, check=False)
        path = os.path.join(self.bench.out, "backtrace-%s.txt" % self.name.replace(" ", "-"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(done.stdout[-60000:])
        frames = [line for line in done.stdout.splitlines() if line.startswith("#")]
        return "; ".join(frames[:3])[:300]


def attach_once(bench, running, number):
    report = os.path.join(bench.reports, "attach-%s-%d.json" % (running.name, number))
    try:
        done = bench.run_beside([bench.tftop, "-b", "--json=" + report, "--for", "500ms", "-p",
                                 str(running.process.pid)], 40)
    except subprocess.TimeoutExpired:
        return "tftop did not end within 40 s"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    if not running.alive():
        return "the program died"
    if done.returncode or not os.path.exists(report):
        return "tftop's status %d: %s" % (done.returncode, lines[-1][:160] if lines else "")
    return None


def many(bench, name, command, more=None, times=TIMES):
    """False: the program died."""
    running, wrong = Running(bench, name, command, more), []
    for number in range(2 if bench.rehearsal else times):
        why = attach_once(bench, running, number)
        if why:
            wrong.append("attach %d: %s" % (number + 1, why))
        if not running.alive():
            break
    if not running.alive():
        bench.check("%s: attached to" % name, False, "%s, status %s; %s" % (
            wrong[0], running.process.returncode, running.backtrace()))
        return False
    status = running.end()
    bench.check("%s: attached to" % name, not wrong and status == 0, wrong[0] if wrong else
                "%d times, then status %d %s" % (number + 1, status,
                                                  running.last_words() if status else ""))
    return True


def attach(bench):
    bench.need_tftop()
    device = ["--device", "cpu" if bench.rehearsal else "cuda"]
    torch = [bench.python, os.path.join(HERE, "train_levels.py"), *device, "--ready", "READY",
             "--stop", "STOP", "--truth", "TRUTH"]
    jax = [bench.python, os.path.join(HERE, "train_jax.py"), *device, "--ready", "READY",
           "--until", "STOP"]
    for name, command in (("C", None), ("PyTorch", torch)):
        try:
            many(bench, name, command or [program(bench, "rate"), "--pauses", "1", "--ready",
                                          "READY", "--until", "STOP"])
        except NotMeasured as why:
            bench.missing("%s: attached to" % name, str(why))
    for let_in in LET_IN:
        name = "JAX with " + (let_in or "neither probe")
        try:
            many(bench, name, jax, {"TFTOP_ATTACH_XLA": let_in}, TIMES if not let_in else 3)
        except NotMeasured as why:
            bench.missing(name, str(why))
            break
