# SPDX-License-Identifier: MIT
"""Programs of JAX that come and go: each is compiled, run and freed, and the next one may
have its place in memory, with other kernels of names as long.

    jax_fresh.py [--profile DIR]

Prints its results, to the last bit."""
import argparse
import contextlib
import gc

import jax
import jax.numpy as jnp


def layers(count, f):
    """count of them, as a program of its own."""
    def fresh(x):
        for _ in range(count):
            x = f(x @ x) * 0.5
        return x
    return jax.jit(fresh)


def run():
    x = jnp.full((4, 4), 0.25)
    for turn in range(12):
        f = layers(3 + turn % 3, (jnp.tanh, jnp.sin, jnp.exp)[turn % 3 if turn % 2 else 0])
        y = x
        for _ in range(6):
            y = f(y)
        print(turn, float(y.sum()).hex(), flush=True)
        del f
        jax.clear_caches()
        gc.collect()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile")
    args = parser.parse_args()
    with jax.profiler.trace(args.profile) if args.profile else contextlib.nullcontext():
        run()


main()
