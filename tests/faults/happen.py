# SPDX-License-Identifier: MIT
"""The faults, and the programs that they are tried on: the rows of run.py's table."""
import json
import os
import signal
import subprocess
import time
from threading import Timer

from around import Failed, text_of, wait_for

HERE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
O = os.path.join(HERE, os.environ.get("O", "build"))
SUSPENDED_S = 4         # longer than the 2 s after which a silent peer is given up
MOMENT_S = 1.0          # a random moment is at most that long after its reference
ATTACH_S = 0.3          # an attach is over by then
HEARD_S = 20            # tftop has reported by then what happens to a daemon that was hit


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


# ---- programs: how to start one, when it is ready, what it computed ----

class Program:
    exit_status = 0

    def __init__(self, work):
        self.work = work

    def path(self, name):
        return os.path.join(self.work, name)

    def say(self, name):
        open(self.path(name), "w", encoding="ascii").close()

    def drive(self, ended):
        """After the attach and the fault: lets the program run on to its end."""


class Trainer(Program):
    """train_opencl: OpenCL and NVTX from C."""
    label = "trainer"
    steps = 150

    def argv(self):
        return [O + "/train_opencl", "--steps", str(self.steps), "--delay-ms", "15",
                "--batch", "16", "--truth", self.path("truth")]

    def ready(self):
        return "step 3 " in text_of(self.path("out"))

    def result(self):
        def keep(value):
            if isinstance(value, dict):
                return {k: keep(v) for k, v in value.items()
                        if not k.endswith("_ns") and k != "run"}
            return [keep(v) for v in value] if isinstance(value, list) else value
        text = text_of(self.path("truth"))
        return keep(json.loads(text)) if text else None


class Faulty(Program):
    """tests/programs/faulty.c: NVTX; it also does the faults that happen in the program."""
    label = "faulty"

    def __init__(self, work, fault="none"):
        super().__init__(work)
        self.fault = fault

    def argv(self):
        return [O + "/tests/faulty", self.fault, self.work]

    def ready(self):
        return text_of(self.path("ready")).endswith("\n")

    def drive(self, ended):
        self.say("go")

    def result(self):
        return text_of(self.path("truth"))


class Torch(Program):
    """tests/programs/attach_steps.py: PyTorch."""
    label = "PyTorch"

    def argv(self):
        return [os.environ["FAULTS_PYTORCH"], HERE + "/tests/programs/attach_steps.py", self.work]

    def ready(self):
        return os.path.exists(self.path("ready"))

    def drive(self, ended):
        for name, done in (("go", "done"), ("again", "again.done")):
            self.say(name)
            wait_for(60, lambda: os.path.exists(self.path(done)) or ended())
        self.say("end")

    def result(self):
        return text_of(self.path("result"))


def programs():
    if not os.environ.get("FAULTS_PYTORCH"):
        return [Trainer, Faulty]
    return [Trainer, Torch, Faulty]


# ---- faults ----

class Fault:
    """A fault. own: it happens in the program, faulty.c does it."""

    def __init__(self, said, own=None, single=False):
        self.said, self.own, self.single = said, own, single
        self.wrap = []          # put before both commands
        self.options = []       # added to tftop's
        self.unset = []         # variables to remove
        self.failing = None     # tftop's message that goes with its status 125

    def program(self, work, number):
        if self.own:
            return Faulty(work, self.own)
        kinds = programs()
        return kinds[number % len(kinds)](work)

    def prepare(self, run):
        """Before anything runs, in the try's mount namespace."""

    def before(self, run, program):
        """Before tftop attaches. True: do not wait for tftop's attach."""
        return False

    def happen(self, run):
        """While the program runs."""

    def after(self, run):
        """After the program's end, before waiting for tftop's."""


class Signal(Fault):
    """A signal to the processes of that name, at a random moment of tftop's setup or later."""

    def __init__(self, said, names, number, early=False):
        super().__init__(said + (" while tftop sets up" if early else ""))
        self.names, self.number, self.early = names, number, early
        self.hit = []

    def program(self, work, number):
        program = super().program(work, number)
        if self.is_replaced():
            program.steps = 1000
        return program

    def is_replaced(self):
        """The keeper replaces the daemon; the program runs on until that was reported."""
        return self.names[0].startswith("lttng-") and not self.early

    def found(self, run):
        if self.names == ["tftop"]:
            return [run.tftop.pid]
        return [p for p in run.marked() if text_of(f"/proc/{p}/comm").strip() in self.names]

    def happen(self, run):
        wait_for(20, lambda: self.found(run) or run.program_ended())
        if not self.early and not wait_for(60, run.begun_or_over):
            raise Failed("tftop neither starts nor ends")
        time.sleep(run.random.uniform(0, MOMENT_S))
        self.hit = self.found(run)
        if not self.hit:
            raise Failed(f"no {self.names[0]} to hit")
        for pid in self.hit:
            os.kill(pid, self.number)
        if self.is_replaced() and not wait_for(HEARD_S, run.path_is_told):
            raise Failed("tftop does not report the fault")

    def after(self, run):
        if self.names == ["tftop"] and self.number == signal.SIGSTOP:
            os.kill(run.tftop.pid, signal.SIGCONT)


class Moment(Fault):
    """A fault in the program at the moment of the attach."""

    def before(self, run, program):
        # the fault happens some 0.25 s after drive()
        after = run.random.uniform(-0.15, ATTACH_S)
        Timer(max(after, 0), program.drive, [run.program_ended]).start()
        time.sleep(max(-after, 0))
        return True


class Standstill(Fault):
    """As in a suspend: all processes stop at once and continue together after SUSPENDED_S."""

    def happen(self, run):
        time.sleep(run.random.uniform(0, MOMENT_S))
        all_of_them = run.marked()
        for number, pause in ((signal.SIGSTOP, SUSPENDED_S), (signal.SIGCONT, 0)):
            for pid in all_of_them:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    pass
            time.sleep(pause)
        if len(all_of_them) < 2:
            raise Failed("nothing to stop")


class Place(Fault):
    """A file system that is full or read-only."""

    def __init__(self, said, place, options="", fill=False, late=False):
        super().__init__(said)
        self.place, self.mount, self.fill, self.late = place, options, fill, late

    def fill_up(self):
        with open(self.place + "/fill", "wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                pass

    def prepare(self, run):
        os.makedirs(self.place, exist_ok=True)
        mount("-t", "tmpfs", "-o", self.mount, "none", self.place)
        if self.fill and not self.late:
            self.fill_up()

    def happen(self, run):
        if self.late:
            time.sleep(run.random.uniform(0, MOMENT_S))
            self.fill_up()


class Home(Place):
    def __init__(self):
        super().__init__("a home that is not writable", None, "ro")

    def prepare(self, run):
        self.place = run.path("home")
        super().prepare(run)


class Recording(Place):
    def __init__(self):
        super().__init__("`-o` on a full disk", None, "size=128k")
        self.failing = "the disk is full"       # the requested recording is incomplete

    def prepare(self, run):
        self.place = run.path("small")
        self.options = ["-o", self.place + "/rec"]
        super().prepare(run)


def bare(said, unset=(), wrap=()):
    fault = Fault(said)
    fault.unset, fault.wrap = list(unset), list(wrap)
    return fault


def limited(said, limits):
    return bare(said, wrap=["sh", "-c", f'ulimit {limits}; exec "$@"', "sh"])


def faults():
    kill, stop = signal.SIGKILL, signal.SIGSTOP
    rows = [bare("none")]
    for name in ("sessiond", "consumerd", "relayd"):
        for word, number in (("killed", kill), ("stopped", stop)):
            rows += [Signal(f"{name} {word}", ["lttng-" + name], number, early)
                     for early in (True, False)]
    rows += [
        *(Signal(f"keeper {word}", ["tftop-keeper"], number, early)
          for word, number in (("killed", kill), ("stopped", stop)) for early in (True, False)),
        Signal("tftop killed", ["tftop"], kill),
        Signal("tftop stopped, continued after the program's end", ["tftop"], stop),
        Fault("program: SIGSEGV", "crash"), Fault("program: abort()", "abort"),
        Fault("program: SIGKILL", "die"), Fault("program: exec() of itself", "exec"),
        *(Moment(f"program: {word} while tftop attaches", own) for word, own in
          (("SIGSEGV", "crash"), ("SIGKILL", "die"), ("exit()", "leave"),
           ("exec() of itself", "exec"))),
        Fault("program: closes all descriptors", "close"),
        Fault("program: chdir(\"/\")", "chdir"), Fault("program: chroot()", "chroot"),
        Fault("program: setuid() to nobody", "setuid"),
        Fault("program: 1000 children", "forks"),
        Fault("program: blocks all signals, one pending", "signals"),
        Fault("program: no memory left (RLIMIT_AS)", "memory"),
        Fault("program: no descriptors left", "descriptors"),
        Fault("program: RLIMIT_FSIZE of 4 KiB", "files"),
        Fault("program: no more threads (RLIMIT_NPROC)", "nproc"),
        Fault("program: 1000 threads at once", "threads-1000"),
        Fault("program: 10 000 threads at once", "threads-10000", single=True),
        Fault("program: names of 1 MiB", "long-name"),
        Fault("program: a million names", "many-names"),
        bare("the wall clock jumps by hours every 100 ms",
             wrap=["env", f"LD_PRELOAD={O}/tests/clock_steps.so"]),
        Standstill("all processes stop for 4 s, as in a suspend"),
        limited("`ulimit -n 48` for both", "-n 48"),
        limited("`ulimit -c 0 -s 256` for both", "-c 0 -s 256"),
        Place("/dev/shm full", "/dev/shm", "size=8m", fill=True),
        Place("/dev/shm read-only", "/dev/shm", "ro"),
        Place("/run full", "/run", "size=1m", fill=True),
        Place("/run fills up during the run", "/run", "size=24m", fill=True, late=True),
        Place("/run read-only", "/run", "ro"),
        Recording(), Home(), bare("no HOME", unset=["HOME"]),
        bare("no /proc", wrap=["unshare", "-m", "sh", "-c", 'umount -l /proc; exec "$@"', "sh"]),
    ]
    return rows
