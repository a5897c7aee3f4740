#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small network that learns made-up data with PyTorch, as it should be done, and
with known mistakes. The first thing to try:

    tftop -- python3 examples/train_torch.py
    tftop -b -- python3 examples/train_torch.py --model transformer --tiny-ops

    --model conv         pictures, a convolutional network
            transformer  sequences, one block with attention

Each of these makes one mistake, which a profiler should find:

    --slow-loader   each sample takes 2 ms to load: the training waits for its input
    --tiny-ops      the weights are updated number by number, not as a whole
    --recompile     with --compile: the batch has another size in each step
    --same-data     the same table is copied and converted again in each step
    --leak          the losses are kept with the batches that they were computed from

The same options give the same losses on the same processor, to the last bit, with a
profiler and without one. --truth writes them, the number of steps, and what a
stopwatch in the program says of each.
"""
import argparse
import json
import os
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SIZE, CLASSES = 24, 10		# pictures: 3 x SIZE x SIZE
LENGTH, WIDTH, WORDS = 32, 64, 100	# sequences
SHAPES = 6			# of --recompile; from 8 on torch.compile would give up


def options():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0].replace("\n", " "),
        epilog="see the first lines of this file")
    parser.add_argument("--model", default="conv", choices=list(MODELS))
    parser.add_argument("--steps", type=positive, default=200)
    parser.add_argument("--batch", type=positive, default=32, help="samples in a step")
    parser.add_argument("--workers", type=int, default=0, help="processes that load samples")
    parser.add_argument("--threads", type=positive, help="of each op, default as PyTorch has it")
    parser.add_argument("--compile", metavar="BACKEND", nargs="?", const="inductor",
                        help="torch.compile the model, by 'inductor' if not told")
    parser.add_argument("--autocast", action="store_true", help="compute in bfloat16")
    for mistake in ("slow-loader", "tiny-ops", "recompile", "same-data", "leak"):
        parser.add_argument("--" + mistake, action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--truth", metavar="FILE", help="write what the program knows as JSON")
    args = parser.parse_args()
    if args.recompile and not args.compile:
        parser.error("'--recompile' needs '--compile'")
    return args


def positive(text):
    if int(text) < 1:
        raise argparse.ArgumentTypeError("'%s' is less than 1" % text)
    return int(text)


class Steps:
    """What the program knows of its steps; says the loss ten times in a run."""

    def __init__(self, count):
        self.count, self.losses, self.series_ns = count, [], []

    def begin(self):
        self.started = time.perf_counter_ns()

    def end(self, loss):
        self.losses.append(loss.item())
        self.series_ns.append(time.perf_counter_ns() - self.started)
        n = len(self.losses)
        if n % max(self.count // 10, 1) == 0 or n == self.count:
            print("step %d  loss %.4f" % (n, self.losses[-1]), flush=True)

    def write(self, path):
        n = len(self.losses)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"run": {"pid": os.getpid()},
                       "steps": {"count": n, "mean_ns": sum(self.series_ns) // n,
                                 "series_ns": self.series_ns},
                       "losses": [loss.hex() for loss in self.losses]}, file)


# ---- data: noise with a faint pattern in it, which says the class ----

class Samples(Dataset):
    """Each sample depends on the seed and its number only, whoever loads it."""

    def __init__(self, args):
        self.count = args.steps * args.batch
        self.seed, self.slow = args.seed, args.slow_loader

    def random(self, number):
        return torch.Generator().manual_seed(self.seed * 1000003 + number)

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        if self.slow:
            time.sleep(0.002)
        return self.sample(number % CLASSES, self.random(number))


class Pictures(Samples):
    def __init__(self, args):
        super().__init__(args)
        self.patterns = 0.3 * torch.randn(CLASSES, 3, SIZE, SIZE,
                                          generator=self.random(self.count))

    def sample(self, label, random):
        return self.patterns[label] + torch.randn(3, SIZE, SIZE, generator=random), label


class Sequences(Samples):
    """Some words of a class occur more often than they should."""

    def sample(self, label, random):
        words = torch.randint(WORDS, (LENGTH,), generator=random)
        words[::4] = words[::4] % (WORDS // CLASSES) + label * (WORDS // CLASSES)
        return words, label


# ---- models ----

class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3)
        self.second = nn.Conv2d(16, 32, 3)
        self.last = nn.Linear(32 * (SIZE // 4 - 2) ** 2, CLASSES)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.first(x)), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.last(x.flatten(1))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.block = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0,
                                                batch_first=True)
        self.last = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        x = self.block(self.words(x) + self.places)
        return self.last(x.mean(1))


MODELS = {"conv": (Conv, Pictures), "transformer": (Transformer, Sequences)}


# ---- mistakes ----

class NumberByNumber(torch.optim.SGD):
    """Takes the numbers of the last layer's bias one at a time, a hundred times over."""

    @torch.no_grad()
    def step(self, closure=None):
        super().step(closure)
        bias = self.param_groups[0]["params"][-1]
        for _ in range(100):
            for i in range(CLASSES):
                bias[i] -= 5e-5 * bias.grad[i]


class Table:
    """What the loss weighs the classes by; never changes."""

    def __init__(self):
        self.rows = torch.arange(1, 1 + CLASSES, dtype=torch.float64).repeat(1 << 16, 1)

    def weights(self):
        return self.rows.to(torch.float32).mean(0) / CLASSES


# ---- training ----

def batch_of(args, n, x, y):
    """The batch of step n, cut to another size each time if that is asked for."""
    size = max(args.batch - n % SHAPES, 1) if args.recompile else args.batch
    return x[:size], y[:size]


def train(args, steps):
    make_model, make_data = MODELS[args.model]
    model, kept = make_model(), []
    table = Table() if args.same_data else None
    make_optimizer = NumberByNumber if args.tiny_ops else torch.optim.SGD
    optimizer = make_optimizer(model.parameters(), lr=0.05, momentum=0.9)
    run = torch.compile(model, dynamic=False, backend=args.compile) if args.compile else model
    loader = DataLoader(make_data(args), args.batch, num_workers=args.workers)
    steps.begin()
    for n, (x, y) in enumerate(loader):
        x, y = batch_of(args, n, x, y)
        with torch.autocast("cpu", torch.bfloat16, enabled=args.autocast):
            scores = run(x)
            loss = F.cross_entropy(scores, y, table.weights() if table else None)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if args.leak:
            kept.append((loss, x))
        steps.end(loss)
        steps.begin()


def main():
    args = options()
    torch.manual_seed(args.seed)
    if args.threads:
        torch.set_num_threads(args.threads)
    steps = Steps(args.steps)
    train(args, steps)
    print("%d steps, loss %.6f" % (len(steps.losses), steps.losses[-1]))
    if args.truth:
        steps.write(args.truth)


if __name__ == "__main__":	# not in a worker that is started anew
    main()
