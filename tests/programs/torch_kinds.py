# SPDX-License-Identifier: MIT
"""Ways to use autograd and optimizers other than a plain loop: gradients of several batches,
two networks in turns, one loop after the other, a gradient of a gradient, TorchScript,
and computing without gradients. --truth FILE: the number of steps and what came out."""
import argparse
import json
import os

import torch
from torch import nn

TURNS = 3


def network(width=8):
    return nn.Sequential(nn.Linear(width, 16), nn.Tanh(), nn.Linear(16, width))


def in_turns():
    """A step is a turn of both; of the one that judges it is three batches."""
    make, judge = network(), network()
    makes = torch.optim.SGD(make.parameters(), lr=0.1)
    judges = torch.optim.Adam(judge.parameters(), lr=0.1)
    for _ in range(TURNS):
        judges.zero_grad(set_to_none=True)
        for _ in range(3):
            judge(make(torch.randn(4, 8)).detach()).mean().backward()
        judges.step()
        makes.zero_grad(set_to_none=True)
        loss = -judge(make(torch.randn(4, 8))).mean()
        loss.backward()
        makes.step()
    return loss


def loops():
    """Of two loops each turn is a step, the first one of either, too."""
    for rate in 0.1, 0.01:
        net = network()
        steps = torch.optim.SGD(net.parameters(), lr=rate)
        loss = first_loop(net, steps) if rate == 0.1 else second_loop(net, steps)
    return loss


def first_loop(net, steps):
    for _ in range(TURNS):
        loss = net(torch.randn(4, 8)).square().mean()
        loss.backward()
        steps.step()
    return loss


def second_loop(net, steps):
    for _ in range(TURNS):
        loss = net(torch.randn(4, 8)).abs().mean()
        loss.backward()
        steps.step()
    return loss


def twice():
    """Nodes that a backward pass made, and theirs."""
    net, x = network(), torch.randn(4, 8, requires_grad=True)
    slope, = torch.autograd.grad(net(x).sum(), x, create_graph=True)
    loss = slope.norm()
    loss.backward()
    return loss


@torch.jit.script
def scripted(x: torch.Tensor):
    return torch.tanh(x) * x


def script():
    x = torch.randn(4, 8, requires_grad=True)
    for _ in range(TURNS):
        scripted(x).sum().backward()
    return x.grad.sum()


def infer():
    net = network().eval()
    with torch.no_grad():
        for _ in range(TURNS):
            out = net(torch.randn(4, 8))
    with torch.inference_mode():
        return net(out).sum()


parser = argparse.ArgumentParser()
parser.add_argument("--truth", required=True)
truth = parser.parse_args().truth
torch.manual_seed(1)
torch.set_num_threads(1)
results = [part() for part in (in_turns, loops, twice, script, infer)]
with open(truth, "w", encoding="utf-8") as file:
    json.dump({"run": {"pid": os.getpid()}, "steps": {"count": 3 * TURNS},
               "losses": [result.item().hex() for result in results]}, file)
