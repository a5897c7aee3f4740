# SPDX-License-Identifier: MIT
"""tf_profiled.py FOLDER PROGRAM [ARGUMENT…]: runs PROGRAM, a Python file, while
TensorFlow's own profiler watches every op of it, and writes the profile into FOLDER.
"""
import contextlib
import ctypes
import os
import runpy
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf


def start(folder):
    tf.profiler.experimental.start(folder, tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=3, python_tracer_level=0, device_tracer_level=0))
    # 2.21 takes no notice of the level: then every op is asked for like this, where
    # the dynamic linker finds the variable
    libraries = [None] + sorted({line.split()[-1] for line in open("/proc/self/maps")
                                 if "libtensorflow_framework" in line})
    for library in libraries:
        with contextlib.suppress(ValueError):
            ctypes.c_int.in_dll(ctypes.CDLL(library),
                                "_ZN3tsl8profiler8internal13g_trace_levelE").value = 3
            break


folder = sys.argv[1]
sys.argv = sys.argv[2:]
sys.path[0] = os.path.dirname(sys.argv[0])	# as Python does
start(folder)
runpy.run_path(sys.argv[0], run_name="__main__")
tf.profiler.experimental.stop()
