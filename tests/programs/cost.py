# SPDX-License-Identifier: MIT
"""What being watched costs a program, in its own CPU time: what tf_cost.py, jax_cost.py and
torch_cost.py share. Blocks of steps without and with alternate in one process, so that
both meet the same machine."""
import ctypes
import mmap
import os
import statistics
import sys
import time


def library(name):
    path = next(line.split()[-1] for line in open("/proc/self/maps") if name in line)
    return ctypes.CDLL(path)


class Tftop:
    """tftop's level, by its control page (probes/schema/control.h)."""
    OFFSET, LEVELS = 8, ["off", "min", "default", "full"]

    def __init__(self, level):
        with open(os.environ["TFTOP_CONTROL"], "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)
        self.now = ctypes.c_uint32.in_dll(library("libtftop-runtime"), "tft_rt_level_now")
        self.level = self.LEVELS.index(level)

    def set(self, on):
        want = self.level if on else 0
        self.page[self.OFFSET:self.OFFSET + 4] = want.to_bytes(4, sys.byteorder)
        while self.now.value != want:
            time.sleep(0.001)


def compare(steps, count, watch, pairs):
    """steps(n) runs n of them. Prints, in microseconds, a step without, the median of the
    differences and their quartiles."""
    def block(on):
        watch.set(on)
        steps(max(count // 10, 2))    # what a switch itself costs, once
        begin = time.process_time()
        steps(count)
        return (time.process_time() - begin) / count * 1e6

    steps(count)
    block(False), block(True)
    without, difference = [], []
    for pair in range(pairs):
        # either may come first
        if pair % 2:
            on, off = block(True), block(False)
        else:
            off, on = block(False), block(True)
        without.append(off)
        difference.append(on - off)
    watch.set(False)
    quartiles = statistics.quantiles(difference, n=4)
    print("%.2f %.2f %.2f %.2f" % (statistics.median(without), quartiles[1], quartiles[0],
                                   quartiles[2]))
