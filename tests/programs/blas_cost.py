# SPDX-License-Identifier: MIT
"""What a call of BLAS pays for being watched, in CPU time of the process: NumPy's products
of small matrices, in one thread, in blocks at level off and at --level in turns (cost.py).
Prints a step of 100 calls without, the median of the differences and their quartiles, in
microseconds.

    tftop -b --probe +blas -- python blas_cost.py [--level min|default|full] [--pairs N]"""
import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy

import cost

arguments = argparse.ArgumentParser()
arguments.add_argument("--level", choices=["min", "default", "full"], default="default")
arguments.add_argument("--pairs", type=int, default=15)
options = arguments.parse_args()

CALLS, SIZE = 100, 48
a = numpy.full((SIZE, SIZE), 0.01, dtype="float32")
out = numpy.empty_like(a)


def steps(n):
    for _ in range(n):
        for _ in range(CALLS):
            numpy.dot(a, a, out=out)


cost.compare(steps, 500, cost.Tftop(options.level), options.pairs)
