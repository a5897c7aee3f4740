# SPDX-License-Identifier: MIT
"""Small deterministic TensorFlow programs, each of which knows how many steps it
made and says its losses to the last bit.

    tf_small.py fit|loop|while|session|eager [--steps N] [--profile DIR]

--profile has TensorFlow's own profiler watch all of it, every op, into DIR.
"""
import argparse
import contextlib
import ctypes
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

arguments = argparse.ArgumentParser()
arguments.add_argument("what", choices=["fit", "loop", "while", "session", "eager"])
arguments.add_argument("--steps", type=int, default=8)
arguments.add_argument("--profile")
arguments.add_argument("--marks", action="store_true", help="number the steps of the loop")
options = arguments.parse_args()
rng = np.random.RandomState(7)


def say(losses):
    for n, loss in enumerate(losses):
        print("loss", n, float(loss).hex())


def fit():
    """Keras: a small CNN, one epoch."""
    tf.keras.utils.set_random_seed(7)
    x = rng.rand(options.steps * 8, 12, 12, 1).astype("float32")
    y = rng.randint(0, 10, options.steps * 8)
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10),
    ])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    losses = []

    class Keep(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            losses.append(logs["loss"])

    model.fit(x, y, batch_size=8, epochs=1, shuffle=False, verbose=0, callbacks=[Keep()])
    say(losses)


def loop():
    """A custom loop with a gradient tape."""
    w = tf.Variable(rng.rand(16, 16).astype("float32"))
    x = tf.constant(rng.rand(8, 16).astype("float32"))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w) - x))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    losses = []
    for n in range(options.steps):
        with (tf.profiler.experimental.Trace("train", step_num=n, _r=1) if options.marks
              else contextlib.nullcontext()):
            losses.append(train_step(x))
    say(losses)


def while_loop():
    """Control flow inside of a function, on the executor's threads."""
    @tf.function
    def grow(x):
        for _ in tf.range(20):
            x = tf.tanh(x @ x) + 0.01
        return tf.reduce_sum(x)

    x = tf.constant(rng.rand(16, 16).astype("float32"))
    say([grow(x + n) for n in range(options.steps)])


def session():
    """TensorFlow 1: a graph and a session."""
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    x = v1.placeholder(tf.float32, [8, 16])
    w = v1.get_variable("w", initializer=rng.rand(16, 16).astype("float32"))
    loss = tf.reduce_mean(tf.square(tf.tanh(x @ w) - x))
    train = v1.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
    losses = []
    feed = {x: rng.rand(8, 16).astype("float32")}
    with v1.Session() as s:
        s.run(v1.global_variables_initializer())
        for _ in range(options.steps):
            losses.append(s.run([loss, train], feed)[0])
    say(losses)


def eager():
    """No function at all."""
    x = tf.constant(rng.rand(16, 16).astype("float32"))
    losses = []
    for _ in range(options.steps):
        x = tf.tanh(tf.matmul(x, x)) + 0.01
        losses.append(tf.reduce_sum(x))
    say(losses)


if options.profile:
    tf.profiler.experimental.start(options.profile, tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=3, python_tracer_level=0, device_tracer_level=0))
    # 2.21 takes no notice of the level: then every op is asked for like this, where
    # the dynamic linker finds the variable
    libraries = [None] + sorted({line.split()[-1] for line in open("/proc/self/maps")
                                 if "libtensorflow_framework" in line})
    for library in libraries:
        with contextlib.suppress(ValueError):
            ctypes.c_int.in_dll(ctypes.CDLL(library),
                                "_ZN3tsl8profiler8internal13g_trace_levelE").value = 3
            break
{"fit": fit, "loop": loop, "while": while_loop, "session": session, "eager": eager}[options.what]()
if options.profile:
    tf.profiler.experimental.stop()
