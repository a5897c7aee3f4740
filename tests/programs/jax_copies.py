# SPDX-License-Identifier: MIT
"""Arrays of the host that JAX copies, and some that it takes as they lie (aligned to 64
bytes): small ones, large ones that another thread copies, transposed ones. And copies from
one device to another.

    jax_copies.py TRUTH

Writes how many copies and bytes there were, and of which lines, as JSON."""
import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import numpy as np
import jax

SMALL, LARGE = 256, 1 << 20


def array(count, dtype, offset):
    """That begins `offset` bytes behind a multiple of 64."""
    bytes_ = count * np.dtype(dtype).itemsize
    room = np.zeros(bytes_ + 128, np.uint8)
    begin = -room.ctypes.data % 64 + offset
    return room[begin:begin + bytes_].view(dtype)


def line():
    return sys._getframe(1).f_lineno


def main():
    truth = {"lines": {}}
    small = array(SMALL, np.float32, 8)
    small[:] = 1
    for _ in range(20):
        y = jax.device_put(small)
    y.block_until_ready()
    truth["lines"][line() - 2] = 20
    large = array(LARGE, np.int32, 4)
    kept = []
    for _ in range(5):
        kept.append(jax.device_put(large))
    jax.block_until_ready(kept)
    truth["lines"][line() - 2] = 5
    for one in kept[:3]:
        kept.append(jax.device_put(one, jax.devices()[1]))
    jax.block_until_ready(kept)
    truth["lines"][line() - 2] = 3
    turned = array(SMALL, np.float32, 8).reshape(16, 16).T
    jax.device_put(turned).block_until_ready()
    truth["lines"][line() - 1] = 1
    aligned = array(SMALL, np.float32, 0)
    for _ in range(7):
        jax.device_put(aligned).block_until_ready()
    truth["between"] = [3, 3 * LARGE * 4]
    truth["memory"] = 8 * LARGE * 4	# the others are too small to be told
    truth["count"] = 29
    truth["bytes"] = 21 * SMALL * 4 + 8 * LARGE * 4
    with open(sys.argv[1], "w") as file:
        json.dump(truth, file)


main()
