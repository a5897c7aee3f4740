# SPDX-License-Identifier: MIT
"""Input workers of a program that has imported TensorFlow: forked ones, spawned
ones, each with ops of its own, and the program's own ops around them. Prints what
was computed; ends with status 5."""
import multiprocessing
import sys

import tensorflow as tf


barrier = None


def begin(shared):
    global barrier
    barrier = shared


def work(n):
    total = 0.0
    # each worker takes one piece: none is so quick as to take both
    if barrier:
        barrier.wait()
    for i in range(n):
        total += float(tf.add(float(i), 1.0))
    return total


def main():
    results = []
    # forked while TensorFlow has no threads yet: it does not live through it with them
    for how, n in (("fork", 10), ("spawn", 20)):
        context = multiprocessing.get_context(how)
        with context.Pool(2, begin, (context.Barrier(2),)) as pool:
            results.append(sum(pool.map(work, [n, n], chunksize=1)))
            pool.close()
            pool.join()
    results.append(work(5))
    print(*results)
    return 5


if __name__ == "__main__":
    sys.exit(main())
