# SPDX-License-Identifier: MIT
"""Steps that wait for a generator of Python, which sleeps; prints the line at which it does."""
import time

import tensorflow as tf

STEPS = 300
SLEEP = 0.015


def batches():
    for i in range(STEPS):
        time.sleep(SLEEP)
        yield tf.fill([32, 64], float(i % 7))


weights = tf.Variable(tf.ones([64, 64]) / 64)


@tf.function
def train(iterator):
    batch = next(iterator)
    weights.assign_sub(1e-6 * tf.matmul(batch, tf.matmul(batch, weights), transpose_a=True))


shape = tf.TensorSpec([32, 64], tf.float32)
data = iter(tf.data.Dataset.from_generator(batches, output_signature=shape).prefetch(1))
for _ in range(STEPS):
    train(data)
# TensorFlow asks the generator for its end on a thread of its own. A program that exits before the
# answer may wait for that thread for ever, as Python no longer lets it in.
assert next(data, None) is None
print(batches.__code__.co_firstlineno + 2)
