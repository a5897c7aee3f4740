# SPDX-License-Identifier: MIT
"""The programs that soak.py attaches to: each runs until it is asked to end, and then says whether
it was disturbed."""
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path[:0] = [HERE + "/tests", HERE + "/tests/faults"]
from around import Failed, text_of, wait_for  # pylint: disable=wrong-import-position

O = os.path.join(HERE, os.environ.get("O", "build"))
MARK = "TFTOP_SOAK_TEST"
PR_SET_PDEATHSIG = 1
END_S = 60              # until a tftop that is asked to end, or a program, has ended

BUSY = """
import select
print("ready", flush=True)
rounds = bad = 0
while not select.select([0], [], [], 0)[0]:
    bad += sum({i: str(i) for i in range(20000)}.keys()) != 199990000
    rounds += 1
print(rounds, "rounds,", bad, "disturbances")
raise SystemExit(bad != 0 or rounds == 0)
"""


def end_with_us():
    signal.signal(signal.SIGINT, signal.SIG_DFL)    # what runs in the background has it ignored
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def takes(pid):
    """Bytes, descriptors, threads of a process."""
    rollup = text_of(f"/proc/{pid}/smaps_rollup")
    private = re.findall(r"^Private_(?:Dirty|Clean): +(\d+)", rollup, re.M)
    return (sum(map(int, private)) << 10,
            len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task")))


class Program:
    """Runs until it is asked to end, and then says whether it was disturbed."""
    until = None            # the first event of it
    status = 0

    def __init__(self, work):
        self.work = tempfile.mkdtemp(dir=work)
        with open(self.path("out"), "wb") as out:
            self.process = subprocess.Popen(self.argv(), stdin=subprocess.PIPE, stdout=out,
                                            stderr=subprocess.STDOUT, env=self.environment(),
                                            preexec_fn=end_with_us)
        self.pid = self.process.pid
        if not wait_for(END_S, lambda: self.ready() or self.ended()):
            raise Failed(f"{self.label}: it does not begin")

    def path(self, name):
        return os.path.join(self.work, name)

    def environment(self):
        env = {k: v for k, v in os.environ.items() if k != MARK}
        return dict(env, PYTHONDONTWRITEBYTECODE="1", TF_CPP_MIN_LOG_LEVEL="3")

    def ready(self):
        return "ready" in text_of(self.path("out"))

    def ended(self):
        return self.process.poll() is not None

    def ask(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.close()

    def right(self):
        """Of what it says at its end."""
        return ", 0 disturbances" in text_of(self.path("out"))

    def finish(self):
        if self.ended():
            raise Failed(f"{self.label}: it has ended by itself, status {self.process.returncode}: "
                         f"{text_of(self.path('out'))[-200:]!r}")
        self.ask()
        try:
            status = self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.label}: it does not end") from None
        if status != self.status or not self.right():
            raise Failed(f"{self.label}: status {status}, {text_of(self.path('out'))[-200:]!r}")


class Target(Program):
    """tests/programs/attach_target.c, in one of its modes."""

    def argv(self):
        return [O + "/tests/attach_target", self.mode]


class Heaps(Target):
    label, mode = "C, three threads in malloc and free", "heaps"


class Sleep(Target):
    label, mode = "C, sleeping", "sleep"


class Mixed(Target):
    label, mode = "C, waits, signals, vectors, malloc at once", "mixed"


class Busy(Program):
    label = "busy Python"

    def argv(self):
        return [sys.executable, "-c", BUSY]


class Training(Program):
    """tests/programs/attach_steps.py: what it computes in the counted steps is always the same."""
    status, until, computed = 3, "kind = op", {}

    def argv(self):
        return [self.python, HERE + "/tests/programs/attach_steps.py", self.work, *self.framework]

    def ready(self):
        return os.path.exists(self.path("ready"))

    def ask(self):
        for name, done in (("go", "done"), ("again", "again.done"), ("end", "result")):
            open(self.path(name), "w", encoding="ascii").close()
            wait_for(END_S, lambda: os.path.exists(self.path(done)) or self.ended())
        self.process.stdin.close()

    def right(self):
        got = set(text_of(self.path("result")).split())
        return len(got) == 1 and got == self.computed.setdefault(self.framework, got)


class Torch(Training):
    label, framework = "PyTorch", ()


class TensorFlow(Training):
    label, framework = "TensorFlow", ("tensorflow",)


class Trainer(Program):
    """train_opencl: ended by SIGINT, after which its truth is as whole as ever."""
    label, until = "OpenCL trainer", "kind = kernel"

    def argv(self):
        return [O + "/train_opencl", "--steps", "1000000", "--delay-ms", "10", "--batch", "16",
                "--cached", "4"]

    def ready(self):
        return "step 3 " in text_of(self.path("out"))

    def ask(self):
        self.process.stdin.close()
        self.process.send_signal(signal.SIGINT)

    status = -signal.SIGINT

    def losses(self):
        return re.findall(r"^step (\d+) .*loss ([0-9.]+)", text_of(self.path("out")), re.M)

    def right(self):
        """Each step in its turn, and what was computed before any tftop came: the same."""
        got = self.losses()
        same = Training.computed.setdefault("trainer", {})
        return all(int(n) == int(got[0][0]) + i and same.setdefault(n, loss) == loss
                   for i, (n, loss) in enumerate(got))


def kinds():
    found = [Busy, Heaps, Mixed, Sleep]
    if os.access(O + "/train_opencl", os.X_OK):
        found.append(Trainer)
    for kind, name in ((Torch, "pytorch"), (TensorFlow, "tensorflow")):
        venv = subprocess.run([HERE + "/tests/venv.sh", name], stdout=subprocess.PIPE, cwd=HERE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        if venv.returncode == 0:
            kind.python = venv.stdout.strip()
            found.append(kind)
    return found
