#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A convolutional network on made-up pictures, whose max-pooling costs more than
one would think: the second case study (docs/case-maxpool.md).

    tftop -b -- python examples/train_cnn.py
    tftop -b -- python examples/train_cnn.py --all-conv

--all-conv  no max-pooling: the convolutions before it take strides of two
--fuse      bias and ReLU after the max-pooling instead of before it, on a quarter
            of the elements; what is computed stays the same
--truth F   the steps' times and the loss, as the program knows them, as JSON; with
            --stopwatch also what max-pooling and its gradient took in each step
"""
import argparse
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--all-conv", action="store_true")
    parser.add_argument("--fuse", action="store_true")
    parser.add_argument("--stopwatch", action="store_true")
    parser.add_argument("--truth", metavar="FILE")
    return parser.parse_args()


def weights():
    # numpy's numbers: the same whatever the options and the version
    random = np.random.default_rng(1)

    def variable(*shape):
        scale = (2.0 / np.prod(shape[:-1])) ** 0.5
        return tf.Variable(random.normal(0, scale, shape).astype(np.float32))

    return {
        "conv1": variable(3, 3, 3, 16), "bias1": tf.Variable(tf.zeros(16)),
        "conv2": variable(3, 3, 16, 32), "bias2": tf.Variable(tf.zeros(32)),
        "dense": variable(16 * 16 * 32, 10), "bias3": tf.Variable(tf.zeros(10)),
    }


def timed(inputs, run, laps):
    """run(), by a clock in the graph: from when the inputs are there to its result."""
    with tf.control_dependencies(inputs):
        start = tf.timestamp()
    with tf.control_dependencies([start]):
        out = run()
    with tf.control_dependencies([out]):
        laps.append(tf.timestamp() - start)
    return out


def max_pool(x, args, laps):
    if not args.stopwatch:
        return tf.nn.max_pool2d(x, 3, 2, "SAME")
    sizes = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}

    @tf.custom_gradient
    def pool(x):
        y = timed([x], lambda: tf.nn.max_pool2d(x, 3, 2, "SAME"), laps)

        def gradient(dy):
            return timed([dy], lambda: tf.raw_ops.MaxPoolGrad(
                orig_input=x, orig_output=y, grad=dy, **sizes), laps)

        return y, gradient

    return pool(x)


def layer(x, kernel, bias, args, laps):
    """Convolution, bias, ReLU, and half the width and height."""
    stride = 2 if args.all_conv else 1
    x = tf.nn.conv2d(x, kernel, stride, "SAME")
    if args.all_conv:
        return tf.nn.relu(tf.nn.bias_add(x, bias))
    if args.fuse:
        # the largest of a window stays the largest with a bias added to all
        return tf.nn.relu(tf.nn.bias_add(max_pool(x, args, laps), bias))
    return max_pool(tf.nn.relu(tf.nn.bias_add(x, bias)), args, laps)


def main():
    args = options()
    w = weights()
    random = np.random.default_rng(2)
    images = tf.constant(random.random((args.batch, 64, 64, 3), dtype=np.float32))
    labels = tf.constant(random.integers(0, 10, args.batch))

    @tf.function
    def train_step(x, y):
        laps = []
        with tf.GradientTape() as tape:
            x = layer(x, w["conv1"], w["bias1"], args, laps)
            x = layer(x, w["conv2"], w["bias2"], args, laps)
            x = tf.reshape(x, (-1, 16 * 16 * 32))
            logits = x @ w["dense"] + w["bias3"]
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        names = list(w)
        for name, gradient in zip(names, tape.gradient(loss, [w[n] for n in names])):
            w[name].assign_sub(0.01 * gradient)
        return loss, tf.add_n(laps) if laps else tf.constant(0.0, tf.float64)

    times, pooling = [], []
    for _ in range(args.steps):
        start = time.monotonic_ns()
        loss, laps = (out.numpy() for out in train_step(images, labels))
        times.append(time.monotonic_ns() - start)
        pooling.append(round(laps * 1e9))
    later = sorted(times[2:]) or [0]
    print(f"{args.steps} steps, loss {float(loss):.6f}")
    if args.truth:
        with open(args.truth, "w") as out:
            json.dump({"steps": {"count": args.steps, "series_ns": times,
                                 "p50_ns": later[len(later) // 2]},
                       "pooling": {"series_ns": pooling}, "loss": float(loss)}, out)


main()
