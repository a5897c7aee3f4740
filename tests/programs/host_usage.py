# SPDX-License-Identifier: MIT
"""What a process takes of its machine, written down by the process itself.

host_usage.py SECONDS: works for so long, in one thread and in one child, and allocates, writes and waits meanwhile.
Before and after that it is quiet for some seconds, so that a look a second can tell the parts from each other. Prints
what it took between the quiet times, by its own clocks and by the kernel's counts, as JSON.

host_usage.py threads SECONDS: more threads than can have a series each
host_usage.py forks SECONDS: a forked child that works on a device itself
"""
import ctypes
import json
import os
import resource
import subprocess
import sys
import threading
import time

from host_waits import Device, cl

QUIET = 2.5             # more than two looks
MEMORY = 200 << 20
BLOCK = 1 << 20
CHILD = "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass"


def io_written():
    """-1: the kernel does not say"""
    try:
        with open("/proc/self/io") as file:
            return int(dict(line.split(": ") for line in file)["write_bytes"])
    except (OSError, KeyError):
        return -1


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def has_network():
    with open("/proc/self/net/dev") as file:
        return any(line.strip() and not line.strip().startswith("lo:") for line in list(file)[2:])


def counts():
    own, below = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"processor": time.process_time(), "minor page faults": own.ru_minflt, "voluntary switches": own.ru_nvcsw,
            "system time": own.ru_stime, "disk written": io_written(), "processor of children": below.ru_utime + below.ru_stime}


class Worker(threading.Thread):
    """Computes until it is told to stop, and stays there until the end."""
    def __init__(self):
        super().__init__(daemon=True)
        self.rest, self.stopped = False, threading.Event()
        self.start()

    def run(self):
        self.tid, begin = threading.get_native_id(), time.thread_time()
        while not self.rest:
            sum(range(1000))
        self.used = time.thread_time() - begin
        self.stopped.set()
        threading.Event().wait()


def work(seconds):
    worker, end = Worker(), time.monotonic() + seconds
    child = subprocess.Popen([sys.executable, "-S", "-c", CHILD, str(seconds)])
    memory = bytearray(MEMORY)
    with open("blocks", "wb") as file:
        while time.monotonic() < end:
            file.write(os.urandom(BLOCK))
            file.flush()
            os.fsync(file.fileno())
            for _ in range(50):
                time.sleep(0.001)
    worker.rest = True
    worker.stopped.wait()
    child.wait()
    return worker, memory


def measured(seconds):
    device = Device()
    device.step()
    time.sleep(QUIET)
    begin_ns, before = time.monotonic_ns(), counts()
    worker, memory = work(seconds)
    after, end_ns = counts(), time.monotonic_ns()
    time.sleep(QUIET)
    quiet_ns = time.monotonic_ns()
    took = {name: after[name] - before[name] for name in after}
    took[f"thread {worker.tid} "] = worker.used
    print(json.dumps({"pid": os.getpid(), "begin_ns": begin_ns, "end_ns": end_ns, "quiet_ns": quiet_ns, "took": took,
                      "resident": resident(), "network": has_network(), "io": after["disk written"] >= 0,
                      "memory": len(memory)}))


def threads(seconds):
    Device().step()
    for _ in range(300):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    workers = [Worker() for _ in range(24)]
    time.sleep(seconds)
    print(json.dumps({"pid": os.getpid(), "threads": len(workers)}), flush=True)
    os._exit(0)


def forks(seconds):
    """The runtime is there before the fork, the device only afterwards: no thread of its own is lost."""
    count = ctypes.c_uint()
    assert not cl.clGetPlatformIDs(0, None, ctypes.byref(count))
    worker, begin = Worker(), time.monotonic()
    while time.monotonic() < begin + QUIET:
        time.sleep(0.01)
    worker.rest = True
    worker.stopped.wait()
    child = os.fork()
    device, used, end = Device(), 0 if child else time.process_time(), time.monotonic() + seconds
    while time.monotonic() < end:
        device.step()
    said = {"pid": os.getpid(), "parent": os.getppid(), "tid": worker.tid, "used": time.process_time() - used}
    os.write(1, (json.dumps(said) + "\n").encode())        # in one piece beside the other process
    if child:
        sys.exit(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    what = {"threads": threads, "forks": forks}.get(sys.argv[1])
    if what:
        what(float(sys.argv[2]))
    else:
        measured(float(sys.argv[1]))
