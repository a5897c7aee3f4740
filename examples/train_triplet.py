#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An embedding that is trained with triplets, and its input pipeline.

Each batch has anchors, others of the same class and others of another class. The
pictures are made from a seed and then augmented by a map, which does it on one
thread while the step waits, unless

    --parallel-calls N   several batches are augmented at once
    --prefetch N         N batches are made ahead while the step runs

    tftop -- python3 examples/train_triplet.py
    tftop -- python3 examples/train_triplet.py --parallel-calls 2 --prefetch 2

docs/case-input.md shows how to see that. --python does a part of the map in Python,
--inside has the step fetch its own batch. --truth writes what a stopwatch in the
program measured: each step, and how much of it was the wait for its batch.
"""
import argparse
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
WARM_UP = 2                     # they trace and compile


def options():
    parser = argparse.ArgumentParser(description="trains an embedding with triplets")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=16, help="triplets in a step")
    parser.add_argument("--size", type=int, default=32, help="width and height of a picture")
    parser.add_argument("--augment", type=int, default=2, help="changes made to each picture")
    parser.add_argument("--width", type=int, default=1024, help="width of the hidden layers")
    parser.add_argument("--parallel-calls", type=int, default=0, metavar="N")
    parser.add_argument("--prefetch", type=int, default=0, metavar="N")
    parser.add_argument("--python", action="store_true")
    parser.add_argument("--inside", action="store_true")
    parser.add_argument("--truth", metavar="FILE", help="write what was measured as JSON")
    return parser.parse_args()


def pipeline(tf, o):
    shape = [3, o.batch, o.size, o.size, 3]

    def pictures(number):
        """Anchor, same and other: of a class each, with noise of their own."""
        seed = tf.stack([tf.cast(number, tf.int32), 7])
        classes = tf.random.stateless_uniform([2, o.batch, 1, 1, 3], seed)
        noise = tf.random.stateless_uniform(shape, seed + 1)
        return 0.7 * tf.gather(classes, [0, 0, 1]) + 0.3 * noise

    def augment(number):
        flat = tf.reshape(pictures(number), [3 * o.batch, o.size, o.size, 3])
        for _ in range(o.augment):
            flat = tf.image.random_flip_left_right(flat)
            flat = tf.image.random_saturation(flat, 0.7, 1.3)
            flat = tf.image.random_hue(flat, 0.1)
            flat = tf.image.random_contrast(flat, 0.7, 1.3)
        if o.python:
            flat = tf.py_function(lambda x: x * 1.0, [flat], tf.float32)
        return tf.reshape(flat, shape)

    # TensorFlow of today puts a prefetch at the end by itself; that of 2018 did not
    as_written = tf.data.Options()
    as_written.experimental_optimization.inject_prefetch = False
    data = tf.data.Dataset.range(1 << 40)
    data = data.map(augment, num_parallel_calls=o.parallel_calls or None)
    data = data.prefetch(o.prefetch) if o.prefetch else data
    return data.with_options(as_written)


def model(tf, o):
    sizes = [o.size * o.size * 3, o.width, o.width, 64]
    weights = [tf.Variable(tf.random.stateless_normal([a, b], [a, b]) * (2.0 / a) ** 0.5)
               for a, b in zip(sizes, sizes[1:])]

    def embed(x):
        for w in weights[:-1]:
            x = tf.nn.relu(tf.matmul(x, w))
        return tf.nn.l2_normalize(tf.matmul(x, weights[-1]), axis=1)

    def step(triplets):
        flat = tf.reshape(triplets, [3 * o.batch, sizes[0]])
        with tf.GradientTape() as tape:
            anchor, same, other = tf.split(embed(flat), 3)
            near = tf.reduce_sum(tf.square(anchor - same), 1)
            far = tf.reduce_sum(tf.square(anchor - other), 1)
            loss = tf.reduce_mean(tf.maximum(near - far + 0.3, 0.0))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(0.01 * g)
        return loss

    return step


def main():
    o = options()
    import tensorflow as tf
    # the step has one core, the pipeline the others
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.random.set_seed(1)
    step, batches = model(tf, o), iter(pipeline(tf, o))

    @tf.function
    def train_step(triplets):
        return step(triplets)

    @tf.function
    def train_step_inside(iterator):
        return step(next(iterator))

    waits, steps, loss = [], [], 0.0
    for i in range(o.steps):
        begin = ready = time.perf_counter_ns()
        if o.inside:
            loss = float(train_step_inside(batches))
        else:
            triplets = next(batches)
            ready = time.perf_counter_ns()
            loss = float(train_step(triplets))
        waits.append(ready - begin)
        steps.append(time.perf_counter_ns() - begin)
        if i % 20 == 0:
            print("step %d  loss %.4f" % (i, loss))
    waits, steps = waits[WARM_UP:], steps[WARM_UP:]
    n = max(len(steps), 1)
    print("%d steps, %.2f ms each, of it %.2f ms until the batch was there"
          % (o.steps, sum(steps) / n / 1e6, sum(waits) / n / 1e6))
    if o.truth:
        with open(o.truth, "w") as f:
            json.dump({"steps": {"count": o.steps, "mean_ns": sum(steps) // n, "series_ns": steps},
                       "input": {"mean_ns": sum(waits) // n, "series_ns": waits}}, f)


main()
