# SPDX-License-Identifier: MIT
"""What a step of JAX pays for being watched, in CPU time of the process.

    jax_cost.py [--level default|full] [--profile] [--pairs N] [--steps N]

Blocks of steps without and with alternate in one process, so that both meet the same
machine: under tftop at level off and at --level, else without and with JAX's own profiler.
Prints a step without, the median of the differences and their quartiles, in microseconds,
and how many kernels a step has.
"""
import argparse
import ctypes
import glob
import mmap
import os
import statistics
import sys
import tempfile
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
import jax
import jax.numpy as jnp

arguments = argparse.ArgumentParser()
arguments.add_argument("--level", choices=["off", "min", "default", "full"], default="default")
arguments.add_argument("--profile", action="store_true")
arguments.add_argument("--pairs", type=int, default=15)
arguments.add_argument("--steps", type=int, default=100)
options = arguments.parse_args()


class Tftop:
    """tftop's level, by its control page (probes/schema/control.h)."""
    OFFSET, LEVELS = 8, ["off", "min", "default", "full"]

    def __init__(self):
        path = next(line.split()[-1] for line in open("/proc/self/maps")
                    if "libtftop-runtime" in line)
        with open(os.environ["TFTOP_CONTROL"], "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)
        self.now = ctypes.c_uint32.in_dll(ctypes.CDLL(path), "tft_rt_level_now")
        self.level = self.LEVELS.index(options.level)

    def set(self, on):
        want = self.level if on else 0
        self.page[self.OFFSET:self.OFFSET + 4] = want.to_bytes(4, sys.byteorder)
        while self.now.value != want:
            time.sleep(0.001)


class Profiler:
    """Only what recording costs: what comes after it is not counted."""

    def __init__(self):
        self.session = None

    def set(self, on):
        if on and not self.session:
            self.session = jax._src.lib._profiler.ProfilerSession()
        elif not on and self.session:
            self.session.stop()
            self.session = None


@jax.jit
def step(x, w):
    for _ in range(100):
        x = jnp.tanh(x @ w) + 1.0
    return x.sum()


def kernels(x, w):
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            step(x, w).block_until_ready()
        file, = glob.glob(folder + "/**/*.xplane.pb", recursive=True)
        return sum("hlo_op" in dict(event.stats)
                   for plane in jax.profiler.ProfileData.from_file(file).planes
                   for line in plane.lines for event in line.events)


x, w = jnp.ones((4, 16)), jnp.full((16, 16), 0.01)
step(x, w).block_until_ready()
count = kernels(x, w)
watch = Profiler() if options.profile else Tftop()


def block(on):
    watch.set(on)
    step(x, w).block_until_ready()    # what a switch itself costs, once
    begin = time.process_time()
    for _ in range(options.steps):
        step(x, w).block_until_ready()
    return (time.process_time() - begin) / options.steps * 1e6


block(False), block(True)
without, difference = [], []
for pair in range(options.pairs):
    # either may come first
    if pair % 2:
        on, off = block(True), block(False)
    else:
        off, on = block(False), block(True)
    without.append(off)
    difference.append(on - off)
watch.set(False)
quartiles = statistics.quantiles(difference, n=4)
print("%.1f %.1f %.1f %.1f %d" % (statistics.median(without), quartiles[1], quartiles[0],
                                  quartiles[2], count))
