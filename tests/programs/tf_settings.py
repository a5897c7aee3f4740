# SPDX-License-Identifier: MIT
"""A step of OPS small ops in a tf.function, which --eager has TensorFlow run one by one;
--keras: fit() of a small network, with --eager compiled so. Every step is marked, because which
kernels TensorFlow calls, and so which period they show, depends on the processor. Says the steps'
times as JSON."""
import argparse
import json
import time

import tensorflow as tf

OPS, STEPS = 60, 40
parser = argparse.ArgumentParser()
parser.add_argument("--eager", action="store_true")
parser.add_argument("--keras", action="store_true")
args = parser.parse_args()
times = []


class Marks(tf.keras.callbacks.Callback):
    """Marks each batch of fit() as a step."""
    def on_train_batch_begin(self, batch, logs=None):
        self.mark = tf.profiler.experimental.Trace("train", step_num=batch)
        self.mark.__enter__()

    def on_train_batch_end(self, batch, logs=None):
        self.mark.__exit__(None, None, None)


if args.keras:
    model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", run_eagerly=args.eager)
    model.fit(tf.ones([8 * STEPS, 4]), tf.ones([8 * STEPS, 1]), batch_size=8, epochs=3, verbose=0,
              callbacks=[Marks()])
else:
    tf.config.run_functions_eagerly(args.eager)

    @tf.function
    def step(x):
        for _ in range(OPS // 2):
            x = tf.raw_ops.AddV2(x=tf.raw_ops.Mul(x=x, y=x), y=x)
        return x

    x = tf.zeros([100])
    for i in range(STEPS):
        begin = time.perf_counter_ns()
        with tf.profiler.experimental.Trace("train", step_num=i):
            step(x)
        times.append(time.perf_counter_ns() - begin)
print(json.dumps({"ops": OPS, "steps": STEPS, "times": times}))
