# SPDX-License-Identifier: MIT
"""A parameter server, a worker and a coordinator, three processes: ten steps, in each
of which the worker fetches a variable of 1 MiB and sends as much back. Ends with
status 3."""
import json
import os
import socket
import subprocess
import sys

# With one processor TensorFlow has one thread for ops, and its servers wait for each other forever.
os.environ["TF_NUM_INTEROP_THREADS"] = "4"

import tensorflow as tf

STEPS = 10


def serve(config):
    os.environ["TF_CONFIG"] = config
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type,
                                  task_index=resolver.task_id, protocol="grpc")
    print("ready", flush=True)
    sys.stdin.read()
    del server


def cluster():
    sockets = [socket.socket() for _ in range(3)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return {job: ["127.0.0.1:%d" % port] for job, port in zip(("chief", "worker", "ps"), ports)}


def config(jobs, job):
    return json.dumps({"cluster": jobs, "task": {"type": job, "index": 0}})


def coordinate(jobs):
    os.environ["TF_CONFIG"] = config(jobs, "chief")
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        weights = tf.Variable(tf.ones([512, 512]), name="weights")

    def replica():
        loss = tf.reduce_sum(tf.matmul(tf.ones([64, 512]), weights))
        weights.assign_sub(loss * tf.ones([512, 512]) * 1e-9)

    @tf.function
    def step():
        strategy.run(replica)

    for _ in range(STEPS):
        coordinator.schedule(step)
    coordinator.join()
    print("%.6f" % float(tf.reduce_mean(weights)), flush=True)


def main():
    if len(sys.argv) > 1:
        serve(sys.argv[1])
        return 0
    jobs = cluster()
    others = [subprocess.Popen([sys.executable, __file__, config(jobs, job)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
              for job in ("worker", "ps")]
    ready = all([other.stdout.readline() == b"ready\n" for other in others])
    if ready:
        coordinate(jobs)
    for other in others:
        other.stdin.close()
    return 3 if ready and not any([other.wait() for other in others]) else 1


if __name__ == "__main__":
    status = main()
    # servers cannot be stopped: their threads end with the process
    os._exit(status)
