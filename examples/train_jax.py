#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small network that learns made-up data with JAX, as it should be done, and with
known mistakes. The first thing to try:

    tftop -- python3 examples/train_jax.py
    tftop -b -- python3 examples/train_jax.py --recompile

Each of these makes one mistake, which a profiler should find:

    --recompile   the batch has another size in each step: the step is compiled anew
    --host-sync   the norms of gradients and weights are fetched one by one in each step
    --eager       the weights are updated outside of the jitted step, op by op
    --same-data   the same table is copied to the device again in each step
    --leak        the gradients of the first layer are kept

The same options give the same losses on the same processor, to the last bit, with a
profiler and without one. --truth writes them, the number of steps, what a stopwatch in
the program says of each, and the line of the mistake.
"""
import numpy as np
import jax
import jax.numpy as jnp

import training

SIZE, WIDTH, CLASSES = 128, 64, 10
ROWS = 1 << 15			# of the table; a step uses the first
RATE, DECAY = 0.02, 1e-4


def options():
    parser = training.options(__doc__, 200, ("recompile", "host-sync", "eager", "same-data",
                                              "leak"))
    parser.add_argument("--layers", type=training.positive, default=6)
    parser.add_argument("--profile", metavar="DIR", help="record with JAX's own profiler in DIR")
    return parser.parse_args()


class Data:
    """Noise with a faint pattern in it, which says the class."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.patterns = self.normal(CLASSES, SIZE, scale=0.3)

    def normal(self, *shape, scale=1.0):
        return self.random.normal(0, scale, shape).astype(np.float32)

    def batch(self, n):
        labels = self.random.integers(0, CLASSES, n)
        return self.patterns[labels] + self.normal(n, SIZE), labels


def loss_of(weights, scale, x, labels):
    x = x * scale[0]
    for weight in weights[:-1]:
        x = jax.nn.relu(x @ weight)
    logits = jax.nn.log_softmax(x @ weights[-1])
    return -jnp.mean(jnp.take_along_axis(logits, labels[:, None], axis=1))


@jax.jit
def gradients(weights, scale, x, labels):
    return jax.value_and_grad(loss_of)(weights, scale, x, labels)


def sgd(weight, momentum, gradient):
    momentum = 0.9 * momentum + gradient + DECAY * weight	# eager
    return weight - RATE * momentum, momentum


@jax.jit
def train_step(state, scale, x, labels):
    """state: of each layer its weights and their momentum."""
    loss, grads = jax.value_and_grad(loss_of)([s[0] for s in state], scale, x, labels)
    return [sgd(*s, g) for s, g in zip(state, grads)], loss, grads


def train(args, steps):
    data = Data(args.seed)
    sizes = [SIZE] + [WIDTH] * (args.layers - 1) + [CLASSES]
    weights = [jnp.asarray(data.normal(a, b, scale=(2.0 / a) ** 0.5))
               for a, b in zip(sizes, sizes[1:])]
    state = [(w, jnp.zeros_like(w)) for w in weights]
    table = np.ones((ROWS, SIZE), np.float32)
    scale = jax.device_put(table)
    kept = []
    for n in range(args.steps):
        x, labels = data.batch(args.batch + (n if args.recompile else 0))
        steps.begin()
        if args.same_data:
            with steps.part("same_data"):
                scale = jax.block_until_ready(jax.device_put(table))	# same-data
        if args.eager:
            loss, grads = gradients([s[0] for s in state], scale, x, labels)
            with steps.part("eager"):
                state = [sgd(*s, g) for s, g in zip(state, grads)]
        elif args.recompile:
            state, loss, grads = train_step(state, scale, x, labels)	# recompile
        else:
            state, loss, grads = train_step(state, scale, x, labels)	# step
        if args.leak:
            kept.append(grads[0])
            steps.note("leak_bytes", grads[0].nbytes)
        if args.host_sync:
            with steps.part("host_sync"):
                arrays = grads + [s[0] for s in state]
                norms = [float(jnp.linalg.norm(a)) for a in arrays]	# host-sync
            assert all(np.isfinite(norms))
        steps.end(loss)


def main():
    args = options()
    steps = training.Steps(args.steps)
    if args.profile:
        with jax.profiler.trace(args.profile):
            train(args, steps)
    else:
        train(args, steps)
    if args.truth:
        steps.write(args.truth, __file__)


if __name__ == "__main__":
    main()
