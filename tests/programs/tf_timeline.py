# SPDX-License-Identifier: MIT
"""RunMetadata of real TF1 sessions and made-up ones with what a CPU never says,
each with what TensorFlow's own timeline makes of it: FOLDER/NAME.pb, and
FOLDER/NAME.<d><m>.json with the flags show_dataflow and show_memory."""
import json
import os
import random
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import step_stats_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import timeline

tf1 = tf.compat.v1
folder = sys.argv[1]


def keep(name, data, stats):
    with open(f"{folder}/{name}.pb", "wb") as out:
        out.write(data)
    for dataflow in (False, True):
        for memory in (False, True):
            analysis = timeline.Timeline(stats).analyze_step_stats(
                show_dataflow=dataflow, show_memory=memory)
            maxima = {k: {"timestamp": v.timestamp, "num_bytes": v.num_bytes,
                          "tensors": sorted(v.tensors)}
                      for k, v in analysis.allocator_maximums.items()}
            trace = json.loads(analysis.chrome_trace.format_to_string())
            with open(f"{folder}/{name}.{dataflow:d}{memory:d}.json", "w") as out:
                json.dump({"traceEvents": trace["traceEvents"],
                           "allocatorMaximums": maxima}, out)


def session(name, build, config=None):
    with tf1.Graph().as_default(), tf1.Session(config=config) as s:
        fetch, feed = build()
        s.run(tf1.global_variables_initializer())
        metadata = tf1.RunMetadata()
        s.run(fetch, feed, options=tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE),
              run_metadata=metadata)
    keep(name, metadata.SerializeToString(), metadata.step_stats)
    keep(name + "-stats", metadata.step_stats.SerializeToString(), metadata.step_stats)


def mlp():
    x = tf1.placeholder(tf.float32, [None, 32], name="x")
    for i in range(3):
        w = tf1.get_variable(f"w{i}", [32, 32])
        x = tf.nn.relu(tf.matmul(x, w), name=f"layer{i}/relu")
    loss = tf.reduce_mean(x)
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
    return [loss, train], {"x:0": np.ones([8, 32], np.float32)}


def loop():
    total = tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, a + tf.cast(i, tf.float32)),
                          [tf.constant(0), tf.constant(0.0)])
    a, b = tf.split(tf.random.uniform([4, 6]), 2, axis=1)
    return [total, tf.unique(tf.reshape(tf.cast(a * 4, tf.int32), [-1])), b, tf.strings.join(["a", "b"])], {}


def two_devices():
    with tf.device("/cpu:0"):
        a = tf.random.uniform([64, 64], name="a")
    with tf.device("/cpu:1"):
        b = tf.matmul(a, a, name="b")
    with tf.device("/cpu:0"):
        return [tf.reduce_sum(b), b], {}


def made_up(seed):
    """GPU streams, copies, labels of all kinds, the same names again, bytes of 0."""
    rng = random.Random(seed)
    stats = step_stats_pb2.StepStats()
    names = [f"scope_{i}/op" for i in range(30)] + ["RecvTensor", "odd:name", "a/_b"]
    for device in ["/job:w/replica:0/task:0/device:CPU:0", "/job:w/replica:0/task:0/device:GPU:0",
                   "/device:GPU:0/stream:all", "/device:GPU:0/memcpy", "/device:GPU:0/stream:7",
                   "/job:w/replica:0/task:0/device:CPU:0"]:
        d = stats.dev_stats.add(device=device)
        for i in range(rng.randrange(60)):
            name = rng.choice(names)
            n = d.node_stats.add(node_name=name, all_start_micros=rng.randrange(500),
                                 all_end_rel_micros=rng.randrange(40))
            inputs = [rng.choice(names) + rng.choice(["", ":1", "/_12", "/_3/_4"])
                      for _ in range(rng.randrange(4))]
            n.timeline_label = rng.choice([
                f"{name} = MatMul({', '.join(inputs)})", f"{name} = A = B(({', '.join(inputs)}))",
                f"{name} = Add(a, )", "", "no label", "x = y", f"k = f = (a)(b) tail",
                f"MEMCPYHtoD 4 bytes@@{name}:Copy:x#tail", "retval (arg)@@#", f"{name} = NoOp()",
                f"{name} = É(“ü”, b\\c)\nsecond = Line(z)", "@@a#", "= (b)", " = (b)", " = = (c)"])
            for slot in range(rng.randrange(3)):
                o = n.output.add(slot=slot)
                t = o.tensor_description
                if rng.random() < .9:
                    t.dtype = rng.choice([0, 1, 3, 7, 14, 23, 33, 101, 133, 4711])
                    for _ in range(rng.randrange(3)):
                        t.shape.dim.add(size=rng.choice([-1, 0, 5]), name=rng.choice(["", "d\"'\n\\\x01é"]))
                    t.shape.unknown_rank = rng.random() < .2
                if rng.random() < .8:
                    a = t.allocation_description
                    a.requested_bytes = rng.choice([0, 4, 1 << 40, 400])
                    a.allocated_bytes = rng.choice([0, 256])
                    a.allocator_name = rng.choice(["", "cpu", "GPU_0_bfc", "x\"y"])
                    a.allocation_id = rng.choice([0, 7, -1])
                    a.has_single_reference = rng.random() < .5
                    a.ptr = rng.choice([0, (1 << 64) - 1])
    keep(f"made{seed}", config_pb2.RunMetadata(step_stats=stats).SerializeToString(), stats)
    keep(f"made{seed}-stats", stats.SerializeToString(), stats)


session("mlp", mlp)
session("loop", loop)
session("devices", two_devices, tf1.ConfigProto(device_count={"CPU": 2}))
for seed in range(int(sys.argv[2]), int(sys.argv[2]) + 20):
    made_up(seed)
