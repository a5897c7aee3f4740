# SPDX-License-Identifier: MIT
"""torch_profiled.py FILE PROGRAM [ARGUMENT…]: runs PROGRAM, a Python file, while
PyTorch's own profiler watches every op of it, with shapes and memory, and writes its
timeline into FILE, that of the first worker of a DataLoader into FILE.0, and so on.
"""
import os
import runpy
import sys

import torch
from torch.utils.data._utils import worker


def profiled(path, function, *arguments):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                record_shapes=True, profile_memory=True) as profile:
        function(*arguments)
    profile.export_chrome_trace(path)


def loop(*arguments):
    number = arguments[10]
    profiled("%s.%d" % (file, number), worker_loop, *arguments)


file, sys.argv = sys.argv[1], sys.argv[2:]
sys.path[0] = os.path.dirname(sys.argv[0])	# as Python does
worker_loop, worker._worker_loop = worker._worker_loop, loop
profiled(file, lambda: runpy.run_path(sys.argv[0], run_name="__main__"))
