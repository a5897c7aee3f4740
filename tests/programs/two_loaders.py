# SPDX-License-Identifier: MIT
"""Two copies of the OpenCL loader in one process: the one in pyopencl's wheel
and the system's, called through ctypes. A layer sits in one of them at best;
both launch work. two_loaders.py [TRUTH]: TRUTH gets what was done.
"""
import ctypes
import json
import os
import sys

import numpy as np
import pyopencl as cl

N = 1024
KERNELS_WHEEL, KERNELS_SYSTEM = 7, 11
SOURCE = b"__kernel void %s(__global float *a) { a[get_global_id(0)] += 1; }"

# the wheel's loader
context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
queue = cl.CommandQueue(context)
wheel = cl.Program(context, (SOURCE % b"from_wheel").decode()).build().from_wheel
data = np.zeros(N, np.float32)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, data.nbytes)
cl.enqueue_copy(queue, buffer, data)
for _ in range(KERNELS_WHEEL):
    wheel(queue, (N,), None, buffer)
cl.enqueue_copy(queue, data, buffer)
print("wheel", data.sum() == N * KERNELS_WHEEL)

# the system's
lib = ctypes.CDLL("libOpenCL.so.1")
handle, size_t, error = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int()
for name in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource",
             "clCreateKernel", "clCreateBuffer"):
    getattr(lib, name).restype = handle


def check(status):
    if status:
        raise SystemExit(f"two_loaders: an OpenCL call failed: {status}")


platform, device = handle(), handle()
check(lib.clGetPlatformIDs(1, ctypes.byref(platform), None))
check(lib.clGetDeviceIDs(platform, ctypes.c_uint64(0xFFFFFFFF), 1, ctypes.byref(device), None))
ctx = handle(lib.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(error)))
check(error.value)
q = handle(lib.clCreateCommandQueue(ctx, device, ctypes.c_uint64(0), ctypes.byref(error)))
check(error.value)
source = ctypes.c_char_p(SOURCE % b"from_system")
program = handle(lib.clCreateProgramWithSource(ctx, 1, ctypes.byref(source), None,
                                               ctypes.byref(error)))
check(error.value)
check(lib.clBuildProgram(program, 0, None, b"", None, None))
kernel = handle(lib.clCreateKernel(program, b"from_system", ctypes.byref(error)))
check(error.value)
host = (ctypes.c_float * N)()
memory = handle(lib.clCreateBuffer(ctx, ctypes.c_uint64(1), size_t(4 * N), None,
                                   ctypes.byref(error)))
check(error.value)
check(lib.clEnqueueWriteBuffer(q, memory, 1, size_t(0), size_t(4 * N), host, 0, None, None))
check(lib.clSetKernelArg(kernel, 0, size_t(8), ctypes.byref(memory)))
items = size_t(N)
for _ in range(KERNELS_SYSTEM):
    check(lib.clEnqueueNDRangeKernel(q, kernel, 1, None, ctypes.byref(items), None, 0, None, None))
check(lib.clEnqueueReadBuffer(q, memory, 1, size_t(0), size_t(4 * N), host, 0, None, None))
print("system", sum(host) == N * KERNELS_SYSTEM)
queue.finish()
for release, what in ((lib.clReleaseMemObject, memory), (lib.clReleaseKernel, kernel),
                      (lib.clReleaseProgram, program), (lib.clReleaseCommandQueue, q),
                      (lib.clReleaseContext, ctx)):
    check(release(what))

copies = {os.path.realpath(line.split()[-1]) for line in open("/proc/self/maps")
          if "libOpenCL" in line}
print("loader copies", len(copies))
if len(sys.argv) > 1:
    kernels = [{"name": name, "count": count, "by_queue": [{"queue": number, "count": count}]}
               for number, (name, count) in enumerate((("from_wheel", KERNELS_WHEEL),
                                                       ("from_system", KERNELS_SYSTEM)))]
    truth = {
        "schema": 1,
        "run": {"pid": os.getpid(), "exit_status": 0},
        "kernels": kernels,
        "copies": [{"direction": direction, "queue": number, "count": 1, "bytes": 4 * N}
                   for number in (0, 1) for direction in ("h2d", "d2h")],
        "queues": [{"id": number, "in_order": True, "kernels": kernels[number]["count"],
                    "copies": 2} for number in (0, 1)],
    }
    with open(sys.argv[1], "w") as out:
        json.dump(truth, out)
