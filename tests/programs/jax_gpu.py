# SPDX-License-Identifier: MIT
"""A loop that runs jitted functions on a GPU that is simulated: XLA's own plugin for GPUs on the
double of the CUDA driver. Code of the device does not run, so results mean nothing.

    jax_gpu.py N"""
import sys

from jax._src import hardware_utils

# it looks for the driver's device files
hardware_utils.has_visible_nvidia_gpu = lambda: True

import jax
import jax.numpy as jnp


@jax.jit
def train(w, x):
    y = jnp.tanh(x * w + 1.0)
    s = jnp.sort(jnp.sum(y, axis=0))
    return w - 0.1 * s, jnp.cumsum(s)


@jax.jit
def evaluate(w):
    return jnp.max(jnp.abs(w)), jnp.exp(w)


x = jnp.ones((64, 64))
w = jnp.ones((64, 64))
for step in range(int(sys.argv[1])):
    w, c = train(w, x)
    if step % 10 == 9:
        best, _ = evaluate(w)
        best.block_until_ready()
    if step == 20:
        print("running", flush=True)
print(jax.devices()[0].platform, w.shape, c.shape)
