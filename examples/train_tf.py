#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small network that learns made-up pictures, written in each of the ways in
which TensorFlow programs are written. The first thing to try:

    tftop -- python3 examples/train_tf.py
    tftop -b -- python3 examples/train_tf.py --model session

    --model cnn      Keras: a convolutional network and fit()
            loop     a loop of one's own around a tf.function, with a tape for the
                     gradients, and a loop and a branch inside of the function
            data     as loop, fed by a tf.data pipeline: map, shuffle, batch, prefetch;
                     numbers its steps, so that the wait for a batch counts as well
            session  a graph, a Session and placeholders, as in TensorFlow 1
            eager    no function and no graph; numbers its steps

The same options give the same losses on the same processor, to the last bit, with a
profiler and without one. --truth writes them, the number of steps, and what a stopwatch in
the program says of each.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

import training

SIZE, CLASSES = 24, 10		# pictures: SIZE x SIZE x 3


def options():
    parser = training.options(__doc__, 300)
    parser.add_argument("--model", default="cnn", choices=list(MODELS))
    return parser.parse_args()


class Pictures:
    """Noise with a faint pattern in it, which says the class."""

    def __init__(self, args):
        self.random = np.random.default_rng(args.seed)
        self.patterns = self.normal(CLASSES, SIZE, SIZE, 3, scale=0.3)

    def normal(self, *shape, scale=1.0):
        return self.random.normal(0, scale, shape).astype(np.float32)

    def batch(self, n):
        labels = self.random.integers(0, CLASSES, n)
        return self.patterns[labels] + self.normal(n, SIZE, SIZE, 3), labels


def weights(pictures):
    """Of a network with one hidden layer."""
    sizes = [SIZE * SIZE * 3, 64, CLASSES]
    return [pictures.normal(a, b, scale=(2.0 / a) ** 0.5) for a, b in zip(sizes, sizes[1:])]


def cross_entropy(logits, labels):
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def hidden_layer(x, weight):
    return tf.nn.relu(tf.reshape(x, [-1, SIZE * SIZE * 3]) @ weight)


# ---- cnn: Keras ----

class Report(tf.keras.callbacks.Callback):
    """Keras's loss is the mean since the epoch's begin."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def on_train_batch_begin(self, batch, logs=None):
        self.steps.begin()

    def on_train_batch_end(self, batch, logs=None):
        self.steps.end(logs["loss"])


def cnn(args, steps):
    tf.keras.utils.set_random_seed(args.seed)
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(CLASSES),
    ])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    pictures = Pictures(args).batch(min(args.steps, 100) * args.batch)
    batches = tf.data.Dataset.from_tensor_slices(pictures).batch(args.batch).repeat()
    model.fit(batches, steps_per_epoch=args.steps, epochs=1, verbose=0,
              callbacks=[Report(steps)])


# ---- loop and data: a tf.function ----

def train_function(pictures):
    first, last = (tf.Variable(w) for w in weights(pictures))
    middle = tf.Variable(pictures.normal(64, 64, scale=0.1))

    @tf.function
    def train_step(images, labels, rounds):
        with tf.GradientTape() as tape:
            x = hidden_layer(images, first)
            for _ in tf.range(rounds):	# a loop of the graph: another length each step
                x = tf.tanh(x @ middle) + x
            loss = cross_entropy(x @ last, labels)
        variables = [first, middle, last]
        gradients = tape.gradient(loss, variables)
        norm = tf.linalg.global_norm(gradients)
        if norm > 2.0:			# a branch of the graph
            gradients = [g * (2.0 / norm) for g in gradients]
        for variable, gradient in zip(variables, gradients):
            variable.assign_sub(0.05 * gradient)
        return loss

    return train_step


def loop(args, steps):
    pictures = Pictures(args)
    train_step = train_function(pictures)
    for n in range(args.steps):
        batch = pictures.batch(args.batch)
        steps.begin()
        steps.end(train_step(*map(tf.constant, batch), tf.constant(n % 4)))


def data(args, steps):
    pictures = Pictures(args)
    train_step = train_function(pictures)
    patterns = tf.constant(pictures.patterns)

    def picture(number):
        """As Pictures makes them, and turned over half of the time."""
        seed = tf.stack([tf.cast(number, tf.int32), args.seed])
        label = tf.random.stateless_uniform([], seed, maxval=CLASSES, dtype=tf.int32)
        image = patterns[label] + tf.random.stateless_normal([SIZE, SIZE, 3], seed + 1)
        return tf.image.stateless_random_flip_left_right(image, seed + 2), label

    batches = (tf.data.Dataset.range(args.steps * args.batch)
               .map(picture, num_parallel_calls=tf.data.AUTOTUNE)
               .shuffle(4 * args.batch, seed=args.seed)
               .batch(args.batch)
               .prefetch(tf.data.AUTOTUNE))
    waiting = iter(batches)
    for n in range(args.steps):
        steps.begin()
        # the wait for a batch belongs to the step: said to any profiler of TensorFlow
        with tf.profiler.experimental.Trace("train", step_num=n, _r=1):
            images, labels = next(waiting)
            loss = train_step(images, labels, tf.constant(n % 4))
        steps.end(loss)


# ---- session: TensorFlow 1 ----

def session(args, steps):
    v1 = tf.compat.v1
    pictures = Pictures(args)
    with tf.Graph().as_default():
        images = v1.placeholder(tf.float32, [None, SIZE, SIZE, 3], name="images")
        labels = v1.placeholder(tf.int64, [None], name="labels")
        first, last = weights(pictures)
        x = hidden_layer(images, v1.get_variable("first", initializer=first))
        loss = cross_entropy(x @ v1.get_variable("last", initializer=last), labels)
        train = v1.train.MomentumOptimizer(0.05, 0.9).minimize(loss, name="train")
        start = v1.global_variables_initializer()
        with v1.Session() as running:
            running.run(start)
            for _ in range(args.steps):
                batch = dict(zip([images, labels], pictures.batch(args.batch)))
                steps.begin()
                steps.end(running.run([loss, train], batch)[0])


# ---- eager ----

def eager(args, steps):
    pictures = Pictures(args)
    variables = [tf.Variable(w) for w in weights(pictures)]
    for n in range(args.steps):
        images, labels = map(tf.constant, pictures.batch(args.batch))
        steps.begin()
        # nothing else says where a step begins
        with tf.profiler.experimental.Trace("train", step_num=n, _r=1):
            with tf.GradientTape() as tape:
                loss = cross_entropy(hidden_layer(images, variables[0]) @ variables[1], labels)
            for variable, gradient in zip(variables, tape.gradient(loss, variables)):
                variable.assign_sub(0.05 * gradient)
        steps.end(loss)


MODELS = {"cnn": cnn, "loop": loop, "data": data, "session": session, "eager": eager}


def main():
    args = options()
    tf.random.set_seed(args.seed)
    steps = training.Steps(args.steps)
    MODELS[args.model](args, steps)
    print("%d steps, loss %.6f" % (len(steps.losses), steps.losses[-1]))
    if args.truth:
        steps.write(args.truth, __file__)


main()
