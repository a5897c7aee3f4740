# SPDX-License-Identifier: MIT
"""A training that takes tftop's probes in its midst, as an attached program does.

late.py torch|tensorflow|jax TRUTH [still|racing|first|closing]: 20 steps, the probes come
(LATE_LIBRARY, with the environment in LATE_ENVIRONMENT), 100 steps.
still: the training stands meanwhile; racing: it goes on; first: the probes come before the
framework; closing: as still, then all descriptors are closed, and it leaves by _exit.
TRUTH gets {"before", "during", "after": steps, "losses": their bits, "status"}.
"""
import ctypes
import json
import os
import struct
import sys
import threading

BEFORE, AFTER = 20, 100


def torch_step():
    import torch
    from torch import nn
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    images, labels = torch.randn(8, 3, 16, 16), torch.randint(0, 10, (8,))

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()
    return step


def tensorflow_step():
    import tensorflow as tf
    tf.keras.utils.set_random_seed(0)
    net = tf.keras.Sequential([tf.keras.layers.Conv2D(8, 3, activation="relu"),
                               tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
    optimizer = tf.keras.optimizers.SGD(0.01)
    images = tf.random.normal((8, 16, 16, 3))
    labels = tf.random.uniform((8,), maxval=10, dtype=tf.int32)
    net(images)
    optimizer.build(net.trainable_variables)

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels, net(images)))
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables))
        return loss
    return lambda: float(train())


def jax_step():
    import jax
    import jax.numpy as jnp
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    images = jax.random.normal(keys[0], (64, 256))
    labels = jax.random.randint(keys[1], (64,), 0, 10)
    weights = jax.random.normal(keys[2], (256, 10)) / 16

    @jax.jit
    def train(weights):
        def loss(w):
            return -jax.nn.log_softmax(images @ w)[jnp.arange(64), labels].mean()
        value, gradient = jax.value_and_grad(loss)(weights)
        return value, weights - 0.1 * gradient

    def step():
        nonlocal weights
        value, weights = train(weights)
        return float(value)
    return step


def make_step(framework):
    return {"torch": torch_step, "tensorflow": tensorflow_step, "jax": jax_step}[framework]()


def attach(result):
    """What the first library does that tftop brings into a running program."""
    for line in os.environ.get("LATE_ENVIRONMENT", "").splitlines():
        name, value = line.split("=", 1)
        os.environ[name] = value
    path = os.environ.get("LATE_LIBRARY")
    result.append(ctypes.CDLL(path).tftop_probe_attach() if path else 0)


def main():
    how = sys.argv[3] if len(sys.argv) > 3 else "still"
    result, losses, during = [], [], 0
    comes = threading.Thread(target=attach, args=(result,))
    if how == "first":
        comes.start()
        comes.join()
    step = make_step(sys.argv[1])
    if how != "first":
        losses += [step() for _ in range(BEFORE)]
        comes.start()
        while how == "racing" and comes.is_alive():
            losses.append(step())
            during += 1
        comes.join()
    if how == "closing":
        os.closerange(3, 4096)
    losses += [step() for _ in range(AFTER)]
    with open(sys.argv[2], "w", encoding="ascii") as truth:
        json.dump({"before": 0 if how == "first" else BEFORE, "during": during, "after": AFTER,
                   "losses": [struct.pack("<d", loss).hex() for loss in losses],
                   "attached": result[0]}, truth)
    if how == "closing":
        os._exit(3)


if __name__ == "__main__":
    main()
