# SPDX-License-Identifier: MIT
"""What JAX pays for being watched, in CPU time of the process.

    jax_cost.py tiny|train [--level min|default|full] [--profile | --bare]
                [--pairs N] [--steps N]

tiny is a step of 200 kernels of half a microsecond each, train one of a small
convolutional network. Blocks without and with alternate in one process (cost.py): under
tftop at level off and at --level, else without and with JAX's own profiler as it comes.
Prints a step without, the median of the differences and their quartiles, in microseconds.
With --bare there is nothing to compare: only a step, and under tftop it is at level off.
"""
import argparse
import os
import statistics
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
import jax
import jax.numpy as jnp

import cost

arguments = argparse.ArgumentParser()
arguments.add_argument("what", choices=["tiny", "train"])
arguments.add_argument("--level", choices=["off", "min", "default", "full"], default="default")
arguments.add_argument("--profile", action="store_true")
arguments.add_argument("--bare", action="store_true")
arguments.add_argument("--pairs", type=int, default=15)
arguments.add_argument("--steps", type=int)
options = arguments.parse_args()


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


def tiny():
    @jax.jit
    def step(x, w):
        for _ in range(100):
            x = jnp.tanh(x @ w) + 1.0
        return x.sum()

    x, w = jnp.ones((4, 16)), jnp.full((16, 16), 0.01)

    def steps(n):
        for _ in range(n):
            step(x, w).block_until_ready()

    return steps, 100


def train():
    """A small network for images, on batches of 32."""
    def loss(weights, x, labels):
        for w in weights[:-1]:
            x = jax.lax.conv_general_dilated(x, w, (2, 2), "SAME",
                                             dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.nn.relu(x)
        scores = x.reshape(x.shape[0], -1) @ weights[-1]
        return -jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1).mean()

    @jax.jit
    def step(weights, x, labels):
        value, grads = jax.value_and_grad(loss)(weights, x, labels)
        return [w - 0.01 * g for w, g in zip(weights, grads)], value

    keys = jax.random.split(jax.random.key(1), 4)
    weights = [0.1 * jax.random.normal(keys[0], (3, 3, 3, 32)),
               0.1 * jax.random.normal(keys[1], (3, 3, 32, 64)),
               0.1 * jax.random.normal(keys[2], (8 * 8 * 64, 10))]
    x, labels = jax.random.normal(keys[3], (32, 32, 32, 3)), jnp.arange(32) % 10

    def steps(n):
        w = weights
        for _ in range(n):
            w, value = step(w, x, labels)
            value.block_until_ready()

    return steps, 20


def alone(steps, count, blocks):
    series = []
    for _ in range(blocks):
        begin = time.process_time()
        steps(count)
        series.append((time.process_time() - begin) / count * 1e6)
    print("%.1f" % statistics.median(series))


steps, count = {"tiny": tiny, "train": train}[options.what]()
steps(3)    # compiled
count = options.steps or count
if options.bare:
    if "TFTOP_CONTROL" in os.environ:
        cost.Tftop("off").set(False)
    alone(steps, count, options.pairs)
else:
    cost.compare(steps, count, Profiler() if options.profile else cost.Tftop(options.level),
                 options.pairs)
