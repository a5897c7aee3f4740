# SPDX-License-Identifier: MIT
"""What train_tf.py, train_torch.py and train_jax.py share: their options, and what a
stopwatch says of their steps."""
import argparse
import contextlib
import json
import os
import time


def options(doc, steps, mistakes=()):
    """A parser of what all of them take; adds an option for each mistake."""
    parser = argparse.ArgumentParser(description=doc.split("\n\n")[0].replace("\n", " "),
                                     epilog="the first lines of the script say more")
    parser.add_argument("--steps", type=positive, default=steps)
    parser.add_argument("--batch", type=positive, default=32, help="samples in a step")
    for mistake in mistakes:
        parser.add_argument("--" + mistake, action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--truth", metavar="FILE", help="write what the program knows as JSON")
    return parser


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError("'%s' is less than 1" % text)
    return int(text)


class Steps:
    """What the program knows of its steps; says the loss ten times in a run."""

    def __init__(self, count):
        self.count, self.losses, self.series_ns, self.parts = count, [], [], {}

    def begin(self):
        self.started = time.perf_counter_ns()

    @contextlib.contextmanager
    def part(self, name):
        """A part of the step that is looked at by itself."""
        started = time.perf_counter_ns()
        yield
        self.note(name + "_ns", time.perf_counter_ns() - started)

    def note(self, name, value):
        self.parts.setdefault(name, []).append(value)

    def end(self, loss):
        loss = float(loss)	# waits for it, if nobody has
        self.series_ns.append(time.perf_counter_ns() - self.started)
        self.losses.append(loss)
        n = len(self.losses)
        if n % max(self.count // 10, 1) == 0 or n == self.count:
            print("step %d  loss %.4f" % (n, loss), flush=True)

    def write(self, path, source):
        """source: the program's file, whose marked lines are told."""
        n = len(self.losses)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"run": {"pid": os.getpid()},
                       "steps": {"count": n, "mean_ns": sum(self.series_ns) // n,
                                 "series_ns": self.series_ns, **self.parts},
                       "source": os.path.basename(source), "lines": marked_lines(source),
                       "losses": [loss.hex() for loss in self.losses]}, file)


def marked_lines(source):
    """Lines that end with a mark such as "# eager", a tabulator before it."""
    with open(source, encoding="utf-8") as file:
        marks = [(line.rstrip().partition("\t# ")[2], number)
                 for number, line in enumerate(file, 1)]
    return {mark: number for mark, number in marks if mark and " " not in mark}
