# SPDX-License-Identifier: MIT
"""tf_recordings.py FOLDER: what TensorFlow itself records of a small program:
run_metadata.pb (TF1 session, FULL_TRACE), step_stats.pb, timeline.json of it, and
under FOLDER/profile the XSpace of a few steps with an input pipeline.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.python.client import timeline

folder = sys.argv[1]
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
graph = tf.Graph()
with graph.as_default():
    x = tf.compat.v1.placeholder(tf.float32, [8, 16], name="x")
    w = tf.constant(np.ones((16, 32), np.float32), name="w")
    loss = tf.reduce_sum(tf.nn.relu(tf.matmul(x, w, name="product"), name="act"), name="loss")
    with tf.compat.v1.Session(graph=graph) as session:
        metadata = tf.compat.v1.RunMetadata()
        options = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE,
                                          output_partition_graphs=True)
        for _ in range(2):
            session.run(loss, {x: np.ones((8, 16), np.float32)}, options=options, run_metadata=metadata)
with open(folder + "/run_metadata.pb", "wb") as f:
    f.write(metadata.SerializeToString())
with open(folder + "/step_stats.pb", "wb") as f:
    f.write(metadata.step_stats.SerializeToString())
with open(folder + "/timeline.json", "w") as f:
    f.write(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True))


@tf.function
def step(a):
    return tf.reduce_sum(tf.nn.relu(a @ a))


@tf.function
def split(a):
    with tf.device("/cpu:0"):
        b = tf.tanh(a)
    with tf.device("/cpu:1"):
        c = tf.reduce_sum(b)
    with tf.device("/cpu:0"):
        return c + 1


a = tf.random.normal([64, 64])
step(a), split(a)
batches = tf.data.Dataset.range(50).map(lambda v: tf.cast(v, tf.float32)).batch(5).prefetch(2)
tf.profiler.experimental.start(folder + "/profile", options=tf.profiler.experimental.ProfilerOptions(
    host_tracer_level=3))
for i, _ in enumerate(batches):
    with tf.profiler.experimental.Trace("train", step_num=i, _r=1):
        step(a), split(a)
tf.profiler.experimental.stop()
