#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A CNN that two workers train together, each a process, and the place where it
is cut in two.

Worker a has the layers up to the cut, worker b the rest. What lies at the cut
goes over the wire once in every step, and its gradient comes back:

    --cut conv    after the first convolution  2048 x 28 x 28 x 32
    --cut pool1   after the first pool         2048 x 14 x 14 x 32, a quarter
    --cut pool2   after the second pool        2048 x 7 x 7 x 64, half of that

    tftop -- python3 examples/train_split.py --cut pool1

docs/case-split.md shows how to find out which one is better. --truth writes
what the program knows of itself: bytes of the tensor, when it was made and when
it was there on the other side, in each step, and how long the steps took.
"""
import argparse
import json
import os
import socket
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
SHAPES = {"conv": (28, 28, 32), "pool1": (14, 14, 32), "pool2": (7, 7, 64)}
CUTS = list(SHAPES)


def options():
    parser = argparse.ArgumentParser(description="trains a CNN that is cut over two workers")
    parser.add_argument("--cut", choices=CUTS, default="pool1", help="the last layer on worker a")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--truth", metavar="FILE", help="write what the program knows as JSON")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def free_ports(n):
    """Ports that nobody listens on: all are held until all are known."""
    sockets = [socket.socket() for _ in range(n)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def server(tf, job, ports):
    cluster = {"a": ["127.0.0.1:%d" % ports[0]], "b": ["127.0.0.1:%d" % ports[1]]}
    return tf.distribute.Server(cluster, job_name=job, task_index=0)


def worker_b(ports):
    """Serves until the other end of its standard input is closed."""
    import tensorflow.compat.v1 as tf

    serving = server(tf, "b", ports)
    print("ready", flush=True)
    sys.stdin.read()
    del serving


def variable(tf, name, shape):
    return tf.get_variable(name, shape, initializer=tf.random_normal_initializer(stddev=0.05, seed=7))


def network(tf, args):
    """Loss, the tensor at the cut, and when it was there on either side."""
    def place(layer):
        where = "a" if CUTS.index(layer) <= CUTS.index(args.cut) else "b"
        return tf.device("/job:%s/task:0/device:CPU:0" % where)

    with place("conv"):
        images = tf.random.uniform([args.batch, 28, 28, 1], seed=3)
        labels = tf.random.uniform([args.batch], maxval=10, dtype=tf.int32, seed=5)
        conv1 = tf.nn.conv2d(images, variable(tf, "w1", [3, 3, 1, 32]), strides=1, padding="SAME",
                             name="conv1")
    with place("pool1"):
        pool1 = tf.nn.max_pool2d(conv1, 2, 2, "SAME", name="pool1")
    with place("pool2"):
        conv2 = tf.nn.relu(tf.nn.conv2d(pool1, variable(tf, "w2", [3, 3, 32, 64]), strides=1,
                                        padding="SAME", name="conv2"), name="relu2")
        pool2 = tf.nn.max_pool2d(conv2, 2, 2, "SAME", name="pool2")
    cut = {"conv": conv1, "pool1": pool1, "pool2": pool2}[args.cut]
    with tf.device("/job:b/task:0/device:CPU:0"):
        flat = tf.reshape(pool2, [args.batch, 7 * 7 * 64])
        logits = tf.matmul(flat, variable(tf, "w3", [7 * 7 * 64, 10]), name="logits")
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        # of the tensor itself, and asked for: a mere dependency is sent by itself
        first = tf.strided_slice(cut, [0, 0, 0, 0], [1, 1, 1, 1])
        with tf.control_dependencies([first]):
            there = tf.timestamp(name="there")
    with tf.device("/job:a/task:0/device:CPU:0"), tf.control_dependencies([cut]):
        made = tf.timestamp(name="made")
    return loss, cut, made, [there, first]


def train(tf, args, target):
    loss, cut, made, there = network(tf, args)
    step = tf.train.GradientDescentOptimizer(0.01).minimize(
        loss, colocate_gradients_with_ops=True)
    truth = {"cut": args.cut, "batch": args.batch, "tensor_bytes": cut.shape.num_elements() * 4,
             "steps_s": [], "made_s": [], "there_s": [], "loss": []}
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for i in range(args.steps):
            begin = time.monotonic()
            _, value, at_a, (at_b, _) = session.run([step, loss, made, there])
            truth["steps_s"].append(time.monotonic() - begin)
            truth["made_s"].append(float(at_a))
            truth["there_s"].append(float(at_b))
            truth["loss"].append(float(value))
            print("step %d  loss %.4f  %.0f ms" % (i, value, truth["steps_s"][-1] * 1e3), flush=True)
    return truth


def main():
    args = options()
    if args.worker:
        worker_b([int(p) for p in args.worker.split(",")])
        return 0
    ports = free_ports(2)
    other = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker",
                              ",".join(map(str, ports))],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        import tensorflow.compat.v1 as tf

        tf.disable_eager_execution()
        here = server(tf, "a", ports)
        if other.stdout.readline() != b"ready\n":
            print("train_split.py: worker b did not start", file=sys.stderr)
            return 1
        truth = train(tf, args, here.target)
    finally:
        other.stdin.close()
        status = other.wait()
    truth["worker_status"] = status
    if args.truth:
        with open(args.truth, "w") as f:
            json.dump(truth, f)
    return 1 if status else 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    # a server of TensorFlow's cannot be stopped: its threads end with the process
    os._exit(status)
