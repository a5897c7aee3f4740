# SPDX-License-Identifier: MIT
"""Several kinds of TensorFlow graphs in one run, for tests of what tftop says of
them: an inlined function in a loop, branches, Keras, a training loop of its own,
another trace for each shape, a graph in an input pipeline, sessions, one with a loop.
Says its losses to the last bit.

    tf_graph.py [--truth FILE]

--truth writes what the program itself knows, as JSON: of each node as it ran
(TensorFlow's own collection of graphs) what it takes, of each traced op the
user's line in this file, from op.traceback, and of each type of eager op, and each
function, the line that first ran it.
"""
import argparse
import json
import os
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python import pywrap_tfe
from tensorflow.python.framework import func_graph, ops

arguments = argparse.ArgumentParser()
arguments.add_argument("--truth")
options = arguments.parse_args()
rng = np.random.RandomState(11)
traced, ran = [], []	# FuncGraphs; partition graphs
first = {}		# of eager ops


def mine(frames):
    """The user's line: the last frame in this file; 0: none."""
    here = [f for f in frames if os.path.abspath(f.filename) == os.path.abspath(__file__)]
    return here[-1].lineno if here else 0


def keep_lines():
    def wrap(name, at):
        original = getattr(pywrap_tfe, name)

        def call(*args):
            op = args[at]
            if isinstance(op, bytes):
                op = op.decode()
            # the frame of this wrapper is not the user's
            first.setdefault(op, mine(traceback.extract_stack()[:-1]))
            return original(*args)

        setattr(pywrap_tfe, name, call)

    wrap("TFE_Py_FastPathExecute", 1)
    wrap("TFE_Py_Execute", 2)
    # what has been traced is asked at the end
    func_graph.dismantle_func_graph = ops.dismantle_graph = lambda graph: None


def keep_graphs():
    original = func_graph.FuncGraph.__init__

    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        traced.append(self)

    func_graph.FuncGraph.__init__ = init
    context.ensure_initialized()
    context.context().enable_graph_collection()


def take_graphs():
    if options.truth:
        ran.extend(context.context().export_run_metadata().partition_graphs)


def functions():
    w = tf.Variable(rng.rand(6, 6).astype("float32"))

    @tf.function
    def layer(x):
        y = tf.matmul(x, w)
        return tf.nn.relu(y) + 0.5

    @tf.function
    def grow(x):
        i = tf.constant(0)
        while i < 4:
            x = layer(x) * 0.1
            i += 1
        if tf.reduce_sum(x) > 100.0:
            x = tf.sqrt(x)
        else:
            x = tf.tanh(x)
        return tf.reduce_mean(x)

    for rows in (2, 3, 5):
        for _ in range(4):
            loss = grow(tf.fill([rows, 6], 0.25))
            take_graphs()
        print("grow", rows, float(loss).hex())


def custom():
    w = tf.Variable(rng.rand(5, 3).astype("float32"))
    b = tf.Variable(tf.zeros([3]))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = tf.nn.tanh(tf.matmul(x, w, name="project") + b)
            loss = tf.reduce_mean(tf.square(logits - y))
        for v, g in zip((w, b), tape.gradient(loss, (w, b))):
            v.assign_sub(g * 0.1)
        return loss

    for _ in range(6):
        loss = step(tf.ones([4, 5]), tf.ones([4, 3]))
        take_graphs()
    print("custom", float(loss).hex())


def keras():
    tf.keras.utils.set_random_seed(7)
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10),
    ])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = rng.rand(48, 12, 12, 1).astype("float32"), rng.randint(0, 10, 48)
    history = model.fit(x, y, batch_size=8, epochs=1, shuffle=False, verbose=0)
    take_graphs()
    print("keras", float(history.history["loss"][0]).hex())


def pipeline():
    data = tf.data.Dataset.range(20)
    data = data.map(lambda n: tf.cast(n, tf.float32) * 2.0).batch(4)
    print("pipeline", float(sum(tf.reduce_sum(b) for b in data)).hex())
    take_graphs()


def session():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 6], name="features")
        v = tf.compat.v1.get_variable("v", initializer=rng.rand(6, 3).astype("float32"))
        logits = tf.matmul(x, v, name="logits")
        loss = tf.reduce_mean(tf.square(logits), name="loss")
        train = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        start = tf.compat.v1.global_variables_initializer()
        with tf.compat.v1.Session(graph=graph) as s:
            s.run(start)
            for _ in range(4):
                value, _ = s.run([loss, train], {x: np.ones([4, 6], "float32")})
            if options.truth:
                metadata = tf.compat.v1.RunMetadata()
                s.run([loss, train], {x: np.ones([4, 6], "float32")},
                      options=tf.compat.v1.RunOptions(output_partition_graphs=True),
                      run_metadata=metadata)
                ran.extend(metadata.partition_graphs)
    print("session", float(value).hex())
    traced.append(graph)


def session_loop():
    graph = tf.Graph()
    with graph.as_default():
        start = tf.compat.v1.placeholder(tf.float32, [3], name="start")
        _, total = tf.compat.v1.while_loop(
            lambda i, x: tf.less(i, 5, name="more"),
            lambda i, x: (tf.add(i, 1, name="next"), tf.multiply(x, 1.5, name="grown")),
            [tf.constant(0), start], name="rounds")
        result = tf.cond(tf.reduce_sum(total) > 10.0, lambda: tf.sqrt(total), lambda: total * 2.0,
                         name="either")
        loss = tf.reduce_mean(result, name="outcome")
        with tf.compat.v1.Session(graph=graph) as s:
            for _ in range(3):
                value = s.run(loss, {start: np.ones([3], "float32")})
            if options.truth:
                metadata = tf.compat.v1.RunMetadata()
                s.run(loss, {start: np.ones([3], "float32")},
                      options=tf.compat.v1.RunOptions(output_partition_graphs=True),
                      run_metadata=metadata)
                ran.extend(metadata.partition_graphs)
    print("session loop", float(value).hex())
    traced.append(graph)


def line_of(op):
    return mine(op.traceback or ())


def is_whole(op):
    """In 2.12 a While that is a function's own has no inputs that it could tell."""
    try:
        return op.inputs is not None
    except AttributeError:
        return False


def write_truth():
    lines = {}
    traced[:] = [graph for graph in traced if getattr(graph, "__dict__", True)]  # Keras 2 takes some apart
    for graph in traced:
        name = getattr(graph, "name", "")
        lines.setdefault(name, {}).update((op.name, line_of(op)) for op in graph.get_operations())
    nodes = {}
    for number, graph in enumerate(ran):
        takes = {}
        for node in graph.node:
            for i in node.input:
                takes.setdefault(i.lstrip("^").split(":")[0], set()).add(node.name)
        for node in graph.node:
            info = node.experimental_debug_info
            nodes.setdefault(node.name, []).append({
                "type": node.op, "graph": number,
                "inputs": [i.split(":")[0] for i in node.input],
                "outputs": sorted(takes.get(node.name, ())),
                "was": list(info.original_node_names)[:1], "in": list(info.original_func_names)[:1],
            })
    # as written: bodies that run on their own, those of input pipelines
    for number, graph in enumerate(traced, len(ran)):
        for op in filter(is_whole, graph.get_operations()):
            nodes.setdefault(op.name, []).append({
                "type": op.type, "graph": number,
                "inputs": [t.op.name for t in op.inputs] + [c.name for c in op.control_inputs],
                "outputs": sorted({o.name for t in op.outputs for o in t.consumers()}),
                "written": True, "was": [op.name], "in": [getattr(graph, "name", "")],
            })
    with open(options.truth, "w") as file:
        json.dump({"lines": lines, "nodes": nodes, "first": first}, file)


if options.truth:
    keep_graphs()
    keep_lines()
functions()
custom()
keras()
pipeline()
session()
session_loop()
if options.truth:
    write_truth()
