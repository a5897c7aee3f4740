# SPDX-License-Identifier: MIT
"""attach_cost.py torch|tensorflow: a training that computes a block of steps for each line of its
standard input, and says what a step of it took of the processor, in us."""
import os
import sys
import time

from late import make_step

STEPS = 200
step = make_step(sys.argv[1])
for _ in range(STEPS):
    step()
print("ready", os.getpid(), flush=True)
for _ in sys.stdin:
    begin = time.process_time_ns()
    for _ in range(STEPS):
        step()
    print((time.process_time_ns() - begin) / STEPS / 1000, flush=True)
