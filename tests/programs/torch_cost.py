# SPDX-License-Identifier: MIT
"""What PyTorch pays for being watched, in CPU time of the process.

    torch_cost.py tiny|modules|conv|block|gpt [--level default|full] [--profile] [--pairs N] [--steps N]
                  [--threads] [--watched N]

Blocks without and with alternate in one process (cost.py): under tftop at level off and at
--level, else without and with torch.profiler as it comes. Prints a step without, the
median of the differences and the ends of its confidence interval, in microseconds; with
--threads of each thread too. With --watched it only makes N steps.
"""
import argparse
import time

import torch
from torch.nn import functional as F

import cost

arguments = argparse.ArgumentParser()
arguments.add_argument("what", choices=["tiny", "modules", "conv", "block", "gpt"])
arguments.add_argument("--level", choices=["off", "min", "default", "full"], default="default")
arguments.add_argument("--profile", action="store_true")
arguments.add_argument("--pairs", type=int, default=15)
arguments.add_argument("--steps", type=int)
arguments.add_argument("--threads", action="store_true")
arguments.add_argument("--watched", type=int)
options = arguments.parse_args()


class Profiler:
    def __init__(self):
        self.profile = None

    def set(self, on):
        if on and not self.profile:
            self.profile = torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU])
            self.profile.start()
        elif not on and self.profile:
            self.profile.stop()
            self.profile = None


def tiny():
    """A hundred ops that add four numbers."""
    a, b = torch.zeros(4), torch.ones(4)

    def steps(n):
        for _ in range(n * 100):
            a.add_(b)

    return steps, 200


class Add(torch.nn.Module):
    def __init__(self, b):
        super().__init__()
        self.b = b

    def forward(self, a):
        return a.add_(self.b)


def modules():
    """The same, each in a module of its own, within four others."""
    net = Add(torch.ones(4))
    for _ in range(4):
        net = torch.nn.Sequential(net)
    a = torch.zeros(4)

    def steps(n):
        for _ in range(n * 100):
            net(a)

    return steps, 40


def conv():
    """A small network for images, on batches of 64."""
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(64 * 6 * 6, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(64, 3, 32, 32), torch.randint(10, (64,))

    def steps(n):
        for _ in range(n):
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return steps, 4


class Block(torch.nn.Module):
    """A transformer's block, as one writes it by hand."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm_1(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        seen = F.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1) @ v
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


def train(model, x):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001, foreach=False)

    def steps(n):
        for _ in range(n):
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return steps


def block():
    """One block and an optimizer that runs ops for each parameter: hundreds of small ops."""
    return train(Block(32, 2), torch.randn(2, 8, 32)), 20


def gpt():
    """Six blocks of a size at which most ops take some microseconds."""
    return train(torch.nn.Sequential(*(Block(96, 3) for _ in range(6))),
                 torch.randn(4, 32, 96)), 4


torch.manual_seed(1)
torch.set_num_threads(1)
steps, count = {"tiny": tiny, "modules": modules, "conv": conv, "block": block,
                "gpt": gpt}[options.what]()
if options.watched:
    steps(options.watched)
    raise SystemExit
watch = Profiler() if options.profile else cost.Tftop(options.level)
if not options.profile:	# shapes are told for a second after an operator first ran
    until = time.monotonic() + 2
    watch.set(True)
    while time.monotonic() < until:
        steps(count)
cost.compare(steps, options.steps or count, watch, options.pairs, options.threads)
