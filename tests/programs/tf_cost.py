# SPDX-License-Identifier: MIT
"""What a step of TensorFlow pays for being watched, in CPU time of the process.

    tf_cost.py tiny|keras [--level default|full] [--profile LEVEL] [--pairs N] [--steps N]
                          [--batch N] [--threads]

Blocks of steps without and with alternate in one process (cost.py): under tftop at level
off and at --level, else without and with TensorFlow's own profiler at --profile. Prints
a step without, the median of the differences and the ends of its confidence interval, in
microseconds; --threads of each thread too. --batch makes the steps of keras larger, and the
kernels in them as many.
"""
import argparse
import ctypes
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

import cost

arguments = argparse.ArgumentParser()
arguments.add_argument("what", choices=["tiny", "keras"])
arguments.add_argument("--level", choices=["off", "min", "default", "full"], default="default")
arguments.add_argument("--profile", type=int)
arguments.add_argument("--pairs", type=int, default=15)
arguments.add_argument("--steps", type=int)
arguments.add_argument("--batch", type=int, default=64)
arguments.add_argument("--threads", action="store_true")
options = arguments.parse_args()


class Profiler:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.on = False

    def set(self, on):
        if on == self.on:
            return
        if on:
            tf.profiler.experimental.start(self.folder.name)
            # 2.21 takes no notice of host_tracer_level
            ctypes.c_int.in_dll(cost.library("libtensorflow_framework"),
                                "_ZN3tsl8profiler8internal13g_trace_levelE"
                                ).value = options.profile
        else:
            tf.profiler.experimental.stop(save=False)
        self.on = on


def tiny():
    """A function of 404 kernels of less than a microsecond each, on one thread."""
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    w = tf.Variable(tf.random.stateless_normal([16, 16], [1, 2]))
    x = tf.random.stateless_normal([4, 16], [3, 4])

    @tf.function
    def step(x):
        for _ in range(100):
            x = tf.tanh(tf.matmul(x, w)) + 1.0
        return tf.reduce_sum(x)

    def steps(n):
        for _ in range(n):
            step(x)

    return steps, 100


def keras():
    """Keras's own example of a small network for images, with `fit`."""
    n, batch = 60, options.batch
    tf.keras.utils.set_random_seed(7)
    rng = np.random.RandomState(7)
    x = rng.rand(n * batch, 28, 28, 1).astype("float32")
    y = rng.randint(0, 10, n * batch)
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch).repeat().prefetch(2)
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Conv2D(64, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dropout(0.5),
        tf.keras.layers.Dense(10),
    ])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

    def steps(n):
        model.fit(data, steps_per_epoch=n, epochs=1, verbose=0)

    return steps, 30


steps, count = {"tiny": tiny, "keras": keras}[options.what]()
watch = cost.Tftop(options.level) if options.profile is None else Profiler()
cost.compare(steps, options.steps or count, watch, options.pairs, options.threads)
