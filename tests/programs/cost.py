# SPDX-License-Identifier: MIT
"""What being watched costs a program, in its own CPU time: what tf_cost.py, jax_cost.py and
torch_cost.py share. Blocks of steps without and with alternate in one process, so that
both meet the same machine."""
import ctypes
import mmap
import os
import statistics
import sys
import threading
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


def threads():
    """CPU time of each other thread so far, in ns, by its name: (name, number) -> ns. That of the
    one that asks would be some milliseconds old there."""
    times = {}
    for task in os.listdir("/proc/self/task"):
        if int(task) == threading.get_native_id():
            continue
        try:
            name = open("/proc/self/task/%s/comm" % task).read().strip()
            spent = open("/proc/self/task/%s/schedstat" % task).read().split()[0]
            times[name, task] = int(spent)
        except (FileNotFoundError, ProcessLookupError):    # it has ended
            pass
    return times


class Times:
    """CPU time from here on, of all and of each thread."""

    def __init__(self):
        self.others = threads()
        self.main, self.all = time.thread_time_ns(), time.process_time_ns()

    def spent(self, count):
        """In microseconds a step, by the thread's name; "" is all of them."""
        spent = {"": time.process_time_ns() - self.all, "main": time.thread_time_ns() - self.main}
        for (name, task), now in threads().items():
            spent[name] = spent.get(name, 0) + now - self.others.get((name, task), 0)
        return {name: ns / count / 1e3 for name, ns in spent.items()}


def median(values):
    """And the ends of its confidence interval, 95 of 100: by ranks, as nothing is known of how
    the machine's noise is spread. None where there are too few."""
    values, n = sorted(values), len(values)
    low = int((n - 1.96 * n ** 0.5) / 2) - 1
    if low < 0:
        return statistics.median(values), values[0], values[-1]
    return statistics.median(values), values[low], values[n - 1 - low]


def compare(steps, count, watch, pairs, by_thread=False):
    """steps(n) runs n of them. Prints, in microseconds, a step without, the median of the
    differences and the ends of its confidence interval. The shorter the blocks, the less the
    machine changes from one to the next: pairs are worth more than steps."""
    def block(on):
        watch.set(on)
        steps(max(count // 10, 2))    # what a switch itself costs, once
        begin = Times()
        steps(count)
        return begin.spent(count)

    steps(count)
    block(False), block(True)
    without, difference = {}, {}
    for pair in range(pairs):
        # either may come first
        if pair % 2:
            on, off = block(True), block(False)
        else:
            off, on = block(False), block(True)
        for name in on.keys() | off.keys():
            without.setdefault(name, []).append(off.get(name, 0))
            difference.setdefault(name, []).append(on.get(name, 0) - off.get(name, 0))
    watch.set(False)
    for name in sorted(difference) if by_thread else [""]:
        bare = statistics.median(without[name])
        print("%.2f %.2f %.2f %.2f" % (bare, *median(difference[name])), name, sep=" " if name else "")
