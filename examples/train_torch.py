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
profiler and without one. --truth writes them, the number of steps, what a stopwatch in
the program says of each and of the mistake, and marked lines.
"""
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

import training

SAMPLES, CLASSES = 512, 10
SIZE = 32			# pictures: 3 x SIZE x SIZE
LENGTH, WIDTH, WORDS = 32, 128, 100		# of sequences
SHAPES = 6			# of --recompile; from 8 on torch.compile would give up


def options():
    parser = training.options(__doc__, 200,
                              ("slow-loader", "tiny-ops", "recompile", "same-data", "leak"))
    parser.add_argument("--model", default="conv", choices=list(MODELS))
    parser.add_argument("--workers", type=int, default=0, help="processes that load samples")
    parser.add_argument("--threads", type=training.positive,
                        help="threads of each op (default: PyTorch's own number)")
    parser.add_argument("--compile", metavar="BACKEND", nargs="?", const="inductor",
                        help="torch.compile the model, with 'inductor' if none is given")
    parser.add_argument("--autocast", action="store_true", help="compute in bfloat16")
    args = parser.parse_args()
    if args.recompile and not args.compile:
        parser.error("'--recompile' needs '--compile'")
    return args


# ---- data: noise with a faint pattern in it, which says the class ----

class Samples(Dataset):
    """SAMPLES of them in memory, which come round again and again."""

    def __init__(self, args):
        self.count, self.slow = args.steps * args.batch, args.slow_loader
        self.labels = [n % CLASSES for n in range(SAMPLES)]
        self.samples = self.make(torch.tensor(self.labels))

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        if self.slow:
            time.sleep(0.002)
        return self.samples[number % SAMPLES], self.labels[number % SAMPLES]


class Pictures(Samples):
    def make(self, labels):
        patterns = 0.3 * torch.randn(CLASSES, 3, SIZE, SIZE)
        return patterns[labels] + torch.randn(SAMPLES, 3, SIZE, SIZE)


class Sequences(Samples):
    """Some words of a class occur more often than they should."""

    def make(self, labels):
        words, own = torch.randint(WORDS, (SAMPLES, LENGTH)), WORDS // CLASSES
        words[:, ::4] = words[:, ::4] % own + labels[:, None] * own
        return words


# ---- models ----

class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, stride=2)
        self.second = nn.Conv2d(32, 64, 3)
        self.third = nn.Conv2d(64, 64, 3, stride=2)
        self.last = nn.Linear(64 * (SIZE // 4 - 2) ** 2, CLASSES)

    def forward(self, x):
        for layer in self.first, self.second, self.third:
            x = F.relu(layer(x))
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

@torch.no_grad()
def number_by_number(bias, steps):
    """Moves the numbers of a layer's bias one at a time, a hundred times over."""
    with steps.part("tiny_ops"):
        for _ in range(100):
            for i in range(CLASSES):
                bias[i] -= 5e-5 * bias.grad[i]	# tiny-ops


class Table:
    """What the loss weighs the classes by; never changes."""

    def __init__(self):
        self.rows = torch.arange(1, 1 + CLASSES, dtype=torch.float64).repeat(1 << 17, 1)

    def weights(self, steps):
        with steps.part("same_data"):
            rows = self.rows.to(torch.float32)	# same-data
        return rows.mean(0) / CLASSES


# ---- training ----

def batch_of(args, n, x, y):
    """The batch of step n, cut to another size each time if that is asked for."""
    size = max(args.batch - n % SHAPES, 1) if args.recompile else args.batch
    return x[:size], y[:size]


def train(args, steps):
    make_model, make_data = MODELS[args.model]
    model, kept = make_model(), []
    table = Table() if args.same_data else None
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    run = torch.compile(model, dynamic=False, backend=args.compile) if args.compile else model
    batches = iter(DataLoader(make_data(args), args.batch, num_workers=args.workers))
    for n in range(args.steps):
        steps.begin()
        with steps.part("input"):
            x, y = next(batches)	# input
        x, y = batch_of(args, n, x, y)
        with torch.autocast("cpu", torch.bfloat16, enabled=args.autocast):
            scores = run(x)	# model
            loss = F.cross_entropy(scores, y, table.weights(steps) if table else None)
        optimizer.zero_grad()
        loss.backward()
        if args.tiny_ops:
            number_by_number(model.last.bias, steps)
        optimizer.step()
        if args.leak:
            kept.append((loss, x))
            steps.note("leak_bytes", x.untyped_storage().nbytes())
        if args.compile:
            steps.note("compiled", torch._dynamo.utils.counters["stats"]["unique_graphs"])
        steps.end(loss.item())


def main():
    args = options()
    torch.manual_seed(args.seed)
    if args.threads:
        torch.set_num_threads(args.threads)
    steps = training.Steps(args.steps)
    train(args, steps)
    print("%d steps, loss %.6f" % (len(steps.losses), steps.losses[-1]))
    if args.truth:
        steps.write(args.truth, __file__)


if __name__ == "__main__":	# not in a worker that is started anew
    main()
