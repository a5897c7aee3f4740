# SPDX-License-Identifier: MIT
"""Two functions with a node of the same name, one of small and one of large matrices,
called in turn under TensorFlow's own profiler.

    tf_same.py FOLDER    writes FOLDER/truth.json: of each function by its name in the
                         graph how often that node ran, and how long by the profiler
"""
import glob
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf
try:
    from tensorflow.tsl.profiler.protobuf import xplane_pb2
except ImportError:
    from tensorflow.core.profiler.protobuf import xplane_pb2

folder, calls = sys.argv[1], 30
# a function that is large enough has threads of the pool run its ops
tf.config.threading.set_inter_op_parallelism_threads(2)


def make(size):
    @tf.function
    def function(x):
        return tf.reduce_sum(tf.tanh(tf.matmul(x, x, name="product")))

    x = tf.random.normal([size, size])
    tf.matmul(x, x)	# what its first run takes is not the function's
    return function, x, function.get_concrete_function(x).name


made = [make(size) for size in (16, 1024)]
tf.profiler.experimental.start(folder, tf.profiler.experimental.ProfilerOptions(
    host_tracer_level=3))
for _ in range(calls):
    for function, x, name in made:
        function(x).numpy()
tf.profiler.experimental.stop()

runs = []	# of the node, whichever function's
for path in glob.glob(f"{folder}/**/*.xplane.pb", recursive=True):
    for plane in xplane_pb2.XSpace.FromString(open(path, "rb").read()).planes:
        for line in plane.lines:
            runs += [(line.timestamp_ns * 1000 + event.offset_ps, event.duration_ps / 1000)
                     for event in line.events
                     if plane.event_metadata[event.metadata_id].name.startswith("product:")]
runs.sort()
assert len(runs) == len(made) * calls, len(runs)
truth = {}
for i, (_, _, name) in enumerate(made):
    mine = runs[i::len(made)]	# they were called in turn
    truth[name.decode() if isinstance(name, bytes) else name] = {
        "count": len(mine), "ns": sum(ns for _, ns in mine)}
with open(f"{folder}/truth.json", "w") as out:
    json.dump(truth, out)
