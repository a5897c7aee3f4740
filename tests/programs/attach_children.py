# SPDX-License-Identifier: MIT
"""attach_children.py FOLDER: a program that starts others of PyTorch after tftop has come to it.

At FOLDER/go it starts, each in its own way, children that compute one op 100 times:
  cos   with the variables that it has now
  tan   with those that it had when it began, by a shell
  sinh  a child that ran on as this program for a while, then as another one with those it had
The last two begin when a profiler's callback is at PyTorch's ops, which is what tftop brings.
FOLDER/OP.done says that they are over; they stay until FOLDER/end, and so does it, which ends
with status 3, and with who started it. attach_children.py FOLDER refused: three that map a
file of OpenCL's name, and cannot be attached to: two may open few files, one is stopped.
attach_children.py FOLDER becomes: it becomes a child of the second kind itself.
attach_children.py FOLDER many: 1000 that live for a moment, then FOLDER/many.done.
"""
import ctypes
import mmap
import os
import resource
import signal
import subprocess
import sys
import time

STEPS = 100
PR_SET_PDEATHSIG = 1
FIRST = dict(os.environ)
folder, op = sys.argv[1], sys.argv[2] if sys.argv[2:] else ""


def path(name):
    return os.path.join(folder, name)


def say(name, text=""):
    with open(path(name) + ".new", "w", encoding="ascii") as out:
        out.write(text)
    os.rename(path(name) + ".new", path(name))


def wait(name):
    while not os.path.exists(path(name)):
        time.sleep(0.01)


def compute():
    import torch
    torch.set_num_threads(1)
    x = torch.zeros(8)
    observed = ctypes.CDLL(os.path.join(torch.__path__[0], "lib",
                                        "libtorch_cpu.so"))._ZN2at18hasGlobalCallbacksEv
    observed.restype = ctypes.c_bool
    while op != "cos" and not observed():
        time.sleep(0.005)
    for _ in range(STEPS):
        getattr(torch, op)(x)
    say(op + ".done", str(os.getpid()))
    wait("end")


def map_only():
    with open(path("libOpenCL.so.0"), "rb") as file:
        mapping = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    if op == "few":
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    else:
        os.kill(os.getpid(), signal.SIGSTOP)
    wait("end")
    mapping.close()


def main():
    def run(name):
        return [sys.executable, __file__, folder, name]

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    say("ready", str(os.getpid()))
    wait("go")
    if op == "becomes":
        os.execve(sys.executable, run("tan"), FIRST)
    elif op == "refused":
        say("libOpenCL.so.0", "nothing")
        started = [subprocess.Popen(run(name), env=FIRST) for name in ("few", "few", "stopped")]
    elif op == "many":
        for _ in range(100):
            for child in [subprocess.Popen(["true"], env=FIRST) for _ in range(10)]:
                child.wait()
        say("many.done")
        started = []
    else:
        started = [subprocess.Popen(run("cos")),
                   subprocess.Popen(["bash", "-c", " ".join(run("tan")) + "; exit"], env=FIRST)]
        later = os.fork()
        if not later:
            time.sleep(0.6)
            os.execve(sys.executable, run("sinh"), FIRST)
    wait("end")
    for child in started:
        child.send_signal(signal.SIGCONT)
        child.wait()
    if not op:
        os.waitpid(later, 0)
    os._exit(3)


if op in ("few", "stopped"):
    map_only()
elif op in ("cos", "tan", "sinh"):
    compute()
else:
    main()
