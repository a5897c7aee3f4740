# SPDX-License-Identifier: MIT
"""torch_traced.py LOG PROGRAM [ARGUMENT…]: runs PROGRAM, a Python file, by
Python's own tracing and writes into LOG where in that file each thread was, from when
on: lines of thread id, CLOCK_MONOTONIC in ns, line and function; line 0: not there.
"""
import os
import runpy
import sys
import threading
import time

log, sys.argv = sys.argv[1], sys.argv[2:]
program = sys.argv[0]
sys.path[0] = os.path.dirname(program)	# as Python does
now, thread = time.monotonic_ns, threading.get_native_id
seen = []


def outside(frame):
    """The innermost frame of PROGRAM's that is left when this one has returned."""
    frame = frame.f_back
    while frame and frame.f_code.co_filename != program:
        frame = frame.f_back
    return frame


def local(frame, event, _):
    if event == "return":
        frame = outside(frame)
    code = frame.f_code if frame else None
    seen.append((thread(), now(), frame.f_lineno if frame else 0,
                 getattr(code, "co_qualname", code.co_name) if frame else ""))
    return local


def trace(frame, event, argument):
    return local(frame, event, argument) if frame.f_code.co_filename == program else None


threading.settrace(trace)
sys.settrace(trace)
try:
    runpy.run_path(program, run_name="__main__")
finally:
    sys.settrace(None)
    with open(log, "w", encoding="utf-8") as file:
        file.writelines("%d\t%d\t%d\t%s\n" % place for place in seen)
