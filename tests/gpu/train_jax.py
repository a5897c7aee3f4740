# SPDX-License-Identifier: MIT
"""A training loop of JAX for tests/gpu/run: each step does the same, one jitted function.

    train_jax.py [--steps N] [--batch N] [--width N] [--wait] [--device cuda|cpu]
                 [--profile FOLDER] [--truth FILE] [--ready FILE] [--until FILE]

Each step puts its batch on the device. --wait: for the loss of each step; else nobody waits
before the last one. --profile: what jax.profiler makes of the steps and of five before
them (not of the first ten), as the folder it writes, --truth: their number and the time of these.
--ready is written after the first ten steps; --until: it goes on until that file exists.
"""
import argparse
import json
import os
import time

WARM_UP = 10
LEAD = 5	# more when profiled, before those that are timed


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--wait", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--profile")
    parser.add_argument("--truth")
    parser.add_argument("--ready")
    parser.add_argument("--until")
    return parser.parse_args()


options = read_options()
os.environ["JAX_PLATFORMS"] = options.device
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# autotuning would choose other kernels in each run, and runs are compared
if options.device != "cpu":
    os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")

import jax	# noqa: E402
import jax.numpy as jnp	# noqa: E402
import numpy	# noqa: E402


def loss_of(weights, x, y):
    for w in weights[:-1]:
        x = jnp.tanh(x @ w)
    return jnp.mean((x @ weights[-1] - y) ** 2)


@jax.jit
def train_step(weights, x, y):
    loss, gradient = jax.value_and_grad(loss_of)(weights, x, y)
    return [w - 0.01 * g for w, g in zip(weights, gradient)], loss


def main():
    random = numpy.random.default_rng(1)
    sizes = [64, options.width, options.width, options.width, 8]
    weights = [jax.device_put((random.standard_normal((a, b)) / a ** 0.5).astype("float32"))
               for a, b in zip(sizes, sizes[1:])]
    x = random.standard_normal((options.batch, 64)).astype("float32")
    y = random.standard_normal((options.batch, 8)).astype("float32")

    def step(weights):
        weights, loss = train_step(weights, jax.device_put(x), jax.device_put(y))
        if options.wait:
            loss.block_until_ready()
        return weights, loss

    for _ in range(WARM_UP):
        weights, loss = step(weights)
    loss.block_until_ready()
    if options.profile:
        jax.profiler.start_trace(options.profile)
        for _ in range(LEAD):
            weights, loss = step(weights)
        loss.block_until_ready()
    if options.ready:
        with open(options.ready, "w", encoding="ascii"):
            pass
    while options.until and not os.path.exists(options.until):
        weights, loss = step(weights)
        loss.block_until_ready()
    begin, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(options.steps):
        weights, loss = step(weights)
    jax.block_until_ready((weights, loss))
    wall, cpu = time.perf_counter_ns() - begin, time.process_time_ns() - cpu
    if options.profile:
        jax.profiler.stop_trace()
    if options.truth:
        with open(options.truth, "w", encoding="utf-8") as file:
            json.dump({"steps": options.steps, "wall_ns": wall, "cpu_ns": cpu,
                       "loss": float(loss)}, file)


main()
