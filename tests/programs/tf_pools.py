# SPDX-License-Identifier: MIT
"""tf_pools.py [--threads N] [--branches N] [--steps N] [--profile] [--truth FILE]: a graph that is wide
and not deep, on a pool of N threads. Each branch is a product of matrices that
waits for the step's begin, and takes the time when it has ended: where there is one
thread, a branch has waited for as long as those before it took. What the waits
come to by that clock is written as JSON, with the time of each step."""
import argparse
import json
import os
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--branches", type=int, default=8)
parser.add_argument("--size", type=int, default=320)
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--profile", action="store_true", help="the program's own profiler, in the midst")
parser.add_argument("--truth")
options = parser.parse_args()
tf.config.threading.set_inter_op_parallelism_threads(options.threads)
tf.config.threading.set_intra_op_parallelism_threads(1)
# what is written is what runs: control edges stay
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
x = tf.random.stateless_normal([options.size, options.size], [1, 2])
weights = [tf.random.stateless_normal([options.size, options.size], [3, i])
           for i in range(options.branches)]


def clock(_):
    return np.float64(time.time())


@tf.function
def step(x):
    begin, ends = tf.timestamp(name="begin"), []
    for i, w in enumerate(weights):
        with tf.control_dependencies([begin]):
            product = tf.matmul(x, w, name="branch_%d" % i)
        # the only one that takes it, so it runs inline behind it; stateful ones would
        # be made to wait for each other
        ends.append(tf.numpy_function(clock, [product], tf.float64, stateful=False))
    return begin, tf.stack(ends)


waits, walls, held = [], [], []
for i in range(options.steps):
    if options.profile and i == options.steps // 2:
        with tempfile.TemporaryDirectory() as folder:
            tf.profiler.experimental.start(folder)
            step(x)
            tf.profiler.experimental.stop()
            # TensorFlow's own name for what its part of thread pools saw
            events = sum(open(os.path.join(at, name), "rb").read().count(b"ThreadpoolListener")
                         for at, _, names in os.walk(folder) for name in names
                         if name.endswith(".xplane.pb"))
    with tf.profiler.experimental.Trace("wide", step_num=i):
        wall = time.monotonic_ns()
        begin, ends = step(x)
        begin, ends = float(begin), sorted(ends.numpy().tolist())
        walls.append(time.monotonic_ns() - wall)
    waits.append(sum(end - begin for end in ends[:-1]))
    held.append(ends[-2] - begin)  # until then there was one that waited
truth = {"steps": options.steps, "branches": options.branches,
         "wait_ns": round(sum(waits) * 1e9), "wall_ns": sum(walls),
         "held_ns": [round(s * 1e9) for s in held]}
if options.profile:
    truth["pool_events"] = events
if options.truth:
    with open(options.truth, "w") as out:
        json.dump(truth, out)
print("waited %.1f ms a step of %.1f ms" % (truth["wait_ns"] / 1e6 / options.steps,
                                             truth["wall_ns"] / 1e6 / options.steps))
