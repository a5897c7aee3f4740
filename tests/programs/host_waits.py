# SPDX-License-Identifier: MIT
"""A loop that launches OpenCL kernels and does something else in between, by phases.

host_waits.py SECONDS PHASE...: for each phase about SECONDS of loops in which the device waits for
  sleep    time.sleep()
  python   Python code
  native   code below a line of Python (a hash of a large buffer)
  pipe     a read of a pipe whose writer is slow
  lock     a lock that another thread holds
  gil      Python's lock, while other threads run Python
  child    a child process
  gc       Python's collection of garbage
  import   modules that are imported
  stopped  nothing: a child process stops this one and lets it go on
It prints, as JSON, how long each phase's own work took by its own clock, which line it was on, and
a checksum of its results. Where LIMIT_STAT names the cpu.stat of a cgroup, also for how long
that had stopped it during the phases' own work, and for how long this thread had no processor then. Only the standard library, so that any Python can run it.
"""
import ctypes
import gc
import hashlib
import json
import os
import subprocess
import sys
import threading
import time

cl = ctypes.CDLL("libOpenCL.so.1")
for name in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource",
             "clCreateKernel", "clCreateBuffer"):
    getattr(cl, name).restype = ctypes.c_void_p


class Device:
    """One kernel on the first device, which adds 1 to each of N numbers."""
    N = 1 << 16
    SOURCE = b"__kernel void add(__global float *x) { x[get_global_id(0)] += 1; }"

    def __init__(self):
        platform, device = ctypes.c_void_p(), ctypes.c_void_p()
        assert not cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
        assert not cl.clGetDeviceIDs(platform, ctypes.c_ulong(0xffffffff), 1,
                                     ctypes.byref(device), None)
        error = ctypes.c_int()
        context = ctypes.c_void_p(cl.clCreateContext(None, 1, ctypes.byref(device), None, None,
                                                     ctypes.byref(error)))
        self.queue = ctypes.c_void_p(cl.clCreateCommandQueue(context, device, ctypes.c_ulong(0),
                                                             ctypes.byref(error)))
        source, length = ctypes.c_char_p(self.SOURCE), ctypes.c_size_t(len(self.SOURCE))
        program = ctypes.c_void_p(cl.clCreateProgramWithSource(
            context, 1, ctypes.byref(source), ctypes.byref(length), ctypes.byref(error)))
        assert not cl.clBuildProgram(program, 0, None, None, None, None)
        self.kernel = ctypes.c_void_p(cl.clCreateKernel(program, b"add", ctypes.byref(error)))
        self.buffer = ctypes.c_void_p(cl.clCreateBuffer(
            context, ctypes.c_ulong(1), ctypes.c_size_t(4 * self.N), None, ctypes.byref(error)))
        assert not error.value
        assert not cl.clSetKernelArg(self.kernel, 0, ctypes.c_size_t(8),
                                     ctypes.byref(self.buffer))
        self.host = (ctypes.c_float * self.N)()
        assert not cl.clEnqueueWriteBuffer(self.queue, self.buffer, 1, ctypes.c_size_t(0),
                                           ctypes.c_size_t(4 * self.N), self.host, 0, None, None)

    def step(self):
        size = ctypes.c_size_t(self.N)
        assert not cl.clEnqueueNDRangeKernel(self.queue, self.kernel, 1, None,
                                             ctypes.byref(size), None, 0, None, None)
        assert not cl.clFinish(self.queue)

    def result(self):
        assert not cl.clEnqueueReadBuffer(self.queue, self.buffer, 1, ctypes.c_size_t(0),
                                          ctypes.c_size_t(4 * self.N), self.host, 0, None, None)
        return self.host[0], self.host[self.N - 1]


class Ring:
    def __init__(self):
        self.self = self


class Phases:
    MODULES = ("asyncio", "email", "http", "unittest", "xml")

    def __init__(self):
        self.done = False
        self.bytes = os.urandom(1) * (8 << 20)
        self.held = threading.Lock()
        self.ready = threading.Semaphore(0)
        self.end = os.pipe()
        # what there is to look through
        self.rings = [Ring() for _ in range(100_000 if "gc" in sys.argv else 0)]

    def sleep(self):
        time.sleep(0.04)                            # LINE sleep

    def python(self):
        x = 0
        for i in range(400_000):                    # LINE python
            x += i & 7                              # LINE python
        return x

    def native(self):
        hashlib.sha256(self.bytes).digest()         # LINE native

    def pipe(self):
        assert os.read(self.end[0], 1)              # LINE pipe

    def lock(self):
        self.ready.release()
        time.sleep(0)
        with self.held:                             # LINE lock
            pass

    def gil(self):
        x = 0
        for i in range(400_000):                    # LINE gil
            x += i & 7                              # LINE gil
        return x

    def child(self):
        subprocess.run(["sleep", "0.04"], check=True)  # LINE child

    def gc(self):
        gc.collect()                                # LINE gc

    def import_(self):
        for name in [name for name in sys.modules if name.split(".")[0] in self.MODULES]:
            del sys.modules[name]
        import email.message, http.client, unittest.mock, xml.dom.minidom  # LINE import

    def stopped(self):
        subprocess.run(["sh", "-c", "kill -STOP $PPID; sleep 1; kill -CONT $PPID"], check=True)

    # the other threads
    def beside_pipe(self):
        while not self.done:
            time.sleep(0.04)
            os.write(self.end[1], b"x")

    def beside_lock(self):
        while not self.done:
            with self.held:
                time.sleep(0.05)
            self.ready.acquire()

    def beside_gil(self):
        x = 0
        while not self.done:
            x += 1


def lines_of(phase):
    with open(__file__) as file:
        return [n for n, text in enumerate(file, 1) if text.endswith(f"# LINE {phase}\n")]


class Limit:
    """What a limit of the processor did to this thread."""
    def __init__(self):
        self.path = os.environ.get("LIMIT_STAT")
        self.throttled_ns = self.lacked_ns = 0

    def add(self, sign):
        if not self.path:
            return
        with open(self.path) as file:
            counts = dict(line.split() for line in file)
        with open("/proc/thread-self/schedstat") as file:
            self.lacked_ns += sign * int(file.read().split()[1])
        self.throttled_ns += sign * (int(counts.get("throttled_time", 0)) or
                                     int(counts.get("throttled_usec", 0)) * 1000)


def main():
    seconds = float(sys.argv[1])
    device, steps, told = Device(), 0, []
    device.step()
    begin = time.monotonic()
    limit = Limit()
    for phase in sys.argv[2:]:
        phases = Phases()
        beside = getattr(phases, "beside_" + phase, None)
        threads = [threading.Thread(target=beside) for _ in range(2 if phase == "gil" else 1)
                   if beside]
        for thread in threads:
            thread.start()
        own, until = 0, time.monotonic() + seconds
        while time.monotonic() < until:
            limit.add(-1)
            start = time.monotonic_ns()
            getattr(phases, "import_" if phase == "import" else phase)()
            own += time.monotonic_ns() - start
            limit.add(1)
            device.step()
            steps += 1
        phases.done = True
        phases.ready.release()
        for thread in threads:
            thread.join()
        told.append({"phase": phase, "ns": own, "lines": lines_of(phase)})
    first, last = device.result()
    print(json.dumps({"phases": told, "run_ns": int((time.monotonic() - begin) * 1e9),
                      "throttled_ns": limit.throttled_ns, "lacked_ns": limit.lacked_ns,
                      "right": first == last == steps + 1}))


if __name__ == "__main__":
    main()
