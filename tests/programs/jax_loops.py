# SPDX-License-Identifier: MIT
"""Programs of JAX with all that runs in them: a loop, a branch, products large enough to be
shared between threads, calls from two threads of Python, one program in another.

    jax_loops.py [--profile DIR] [--fork]

Prints its results, to the last bit."""
import argparse
import contextlib
import os
import threading

import jax
import jax.numpy as jnp


@jax.jit
def inner(x):
    return jnp.sin(x @ x) / 3


@jax.jit
def loop(x):
    return jax.lax.fori_loop(0, 3, lambda i, c: inner(c) + i, x)


@jax.jit
def branch(x, n):
    return jax.lax.cond(n > 1, lambda v: jnp.tanh(v @ v.T), lambda v: v * 2, x)


def run():
    results = {}

    def work(name, size):
        x = jnp.full((size, size), 0.01)
        for n in range(4):
            x = branch(loop(x), n)
        results[name] = float(x.sum()).hex()

    for size in 8, 300:
        work("main %d" % size, size)
    thread = threading.Thread(target=work, args=("thread", 64))
    thread.start()
    thread.join()
    for name in sorted(results):
        print(name, results[name], flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile")
    parser.add_argument("--fork", action="store_true")
    args = parser.parse_args()
    if args.fork and os.fork() == 0:
        run()
        os._exit(0)
    if args.fork:
        os.wait()
    with jax.profiler.trace(args.profile) if args.profile else contextlib.nullcontext():
        run()


main()
