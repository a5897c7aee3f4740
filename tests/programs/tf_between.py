# SPDX-License-Identifier: MIT
"""tf_between.py TRUTH: runs of a function with rests between them, each tenth a long one; then 12 runs
for shapes that are new. Writes how long it rested between runs after the second, and how many runs
these were."""
import json
import sys
import time

import tensorflow as tf


@tf.function
def step(x):
    for _ in range(10):
        x = tf.sin(tf.matmul(x, x))
    return tf.reduce_sum(x)


def rest(seconds):
    start = time.monotonic_ns()
    time.sleep(seconds)         # here
    return time.monotonic_ns() - start


rested = []
data = tf.ones((100, 100))
for run in range(100):
    step(data)
    rested.append(rest(0.4 if run % 10 == 9 else 0.005))
for size in range(20, 32):
    step(tf.ones((size, size)))
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({"rested_ns": sum(rested[2:]), "runs": 110}, file)
