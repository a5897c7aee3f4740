# SPDX-License-Identifier: MIT
"""OpenCL kernels, from ctypes, inside and outside of tf.profiler sessions; prints
one line of JSON: how many kernels ran in each session, what the XSpace has of them, and
when (start and length) TensorFlow itself saw the calls. tf_pluggable.py FOLDER SESSIONS"""
import ctypes
import glob
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
cl = ctypes.CDLL("libOpenCL.so.1")
P, U, S = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t
for name in ("clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clCreateKernel",
             "clCreateBuffer"):
    getattr(cl, name).restype = P
cl.clCreateBuffer.argtypes = [P, ctypes.c_ulong, S, P, P]
cl.clCreateCommandQueue.argtypes = [P, P, ctypes.c_ulong, P]
cl.clCreateKernel.argtypes = [P, ctypes.c_char_p, P]
cl.clBuildProgram.argtypes = [P, U, P, ctypes.c_char_p, P, P]
cl.clSetKernelArg.argtypes = [P, U, S, P]
cl.clEnqueueNDRangeKernel.argtypes = [P, P, U, P, P, P, U, P, P]
cl.clEnqueueWriteBuffer.argtypes = [P, P, U, S, S, P, U, P, P]
cl.clFinish.argtypes = [P]


def good(code):
    if code:
        sys.exit(f"OpenCL: {code}")


platform, device, error = P(), P(), ctypes.c_int()
good(cl.clGetPlatformIDs(1, ctypes.byref(platform), None))
good(cl.clGetDeviceIDs(platform, ctypes.c_ulong(0xffffffff), 1, ctypes.byref(device), None))
context = P(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(error)))
queue = P(cl.clCreateCommandQueue(context, device, 0, ctypes.byref(error)))
source = ctypes.c_char_p(b"__kernel void spin(__global float *a) { size_t i = get_global_id(0);"
                         b" float x = a[i]; for (int k = 0; k < 2000; k++) x = x * 0.5f + 1.0f; a[i] = x; }")
program = P(cl.clCreateProgramWithSource(context, 1, ctypes.byref(source), None, ctypes.byref(error)))
good(cl.clBuildProgram(program, 0, None, None, None, None))
kernel = P(cl.clCreateKernel(program, b"spin", ctypes.byref(error)))
data = (ctypes.c_float * 4096)()
buffer = P(cl.clCreateBuffer(context, 1, ctypes.sizeof(data), None, ctypes.byref(error)))
good(cl.clSetKernelArg(kernel, 0, ctypes.sizeof(P), ctypes.byref(buffer)))
size, group = (S * 1)(4096), (S * 1)(64)


def one():
    good(cl.clEnqueueNDRangeKernel(queue, kernel, 1, None, size, group, 0, None, None))
    good(cl.clFinish(queue))
    return np.int32(1)


def work(n):
    good(cl.clEnqueueWriteBuffer(queue, buffer, 1, 0, ctypes.sizeof(data), data, 0, None, None))
    for _ in range(n):
        good(cl.clEnqueueNDRangeKernel(queue, kernel, 1, None, size, group, 0, None, None))
    good(cl.clFinish(queue))


work(3)  # PoCL compiles now: its LLVM and TensorFlow's do not mix later
import numpy as np
import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2



def planes(folder):
    found, mark = [], []
    for path in glob.glob(f"{folder}/**/*.xplane.pb", recursive=True):
        space = xplane_pb2.XSpace()
        space.ParseFromString(open(path, "rb").read())
        for plane in space.planes:
            if plane.name == "/host:CPU":
                for line in plane.lines:
                    for e in line.events:
                        if plane.event_metadata[e.metadata_id].name.startswith("opencl_work"):
                            mark[:] = [line.timestamp_ns + e.offset_ps // 1000, e.duration_ps // 1000]
            if plane.name.startswith(("/device:GPU", "/device:CUSTOM")):
                stats = {k: v.name for k, v in plane.stat_metadata.items()}
                found.append({"name": plane.name, "lines": [
                    {"name": line.name, "id": line.id, "events": [
                        {"name": plane.event_metadata[e.metadata_id].name,
                         "start_ns": line.timestamp_ns + e.offset_ps // 1000, "dur_ns": e.duration_ps // 1000,
                         "stats": {stats[s.metadata_id]: s.str_value or s.uint64_value for s in e.stats}}
                        for e in line.events]} for line in plane.lines]})
    return found, mark


in_op = tf.function(lambda: tf.numpy_function(one, [], tf.int32))
in_op()
result = []
for i in range(int(sys.argv[2])):
    folder = f"{sys.argv[1]}/{i}"
    tf.profiler.experimental.start(folder)
    for _ in range(2):
        tf.tanh(tf.ones([64, 64]))
    with tf.profiler.experimental.Trace("opencl_work"):
        work(4 + i)
        in_op()             # the last kernel
    tf.profiler.experimental.stop()
    work(2)
    result.append({"kernels": 5 + i, **dict(zip(("planes", "mark"), planes(folder)))})
print(json.dumps({"version": tf.__version__, "devices": [d.name for d in tf.config.list_physical_devices()],
                  "sessions": result}))
