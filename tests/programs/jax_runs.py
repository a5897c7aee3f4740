# SPDX-License-Identifier: MIT
"""A loop that runs a small jitted function N times and waits for each result; before it, another
function runs once and takes longer than all of them.

    jax_runs.py N"""
import sys

import jax
import jax.numpy as jnp


@jax.jit
def decode(w, h):
    h = jnp.tanh(h @ w)
    return h, h.argmax()


@jax.jit
def prepare(w):
    for _ in range(8):
        w = jnp.tanh(w @ w)
    return w


w = prepare(jax.random.normal(jax.random.PRNGKey(0), (512, 512)))[:64, :64]
h = jnp.ones((1, 64))
for _ in range(int(sys.argv[1])):
    h, best = decode(w, h)
    int(best)
