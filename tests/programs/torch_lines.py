# SPDX-License-Identifier: MIT
"""A small training loop. With --truth FILE PyTorch says which function called each op
(its profiler), which line those did that its dispatcher sees (a TorchDispatchMode) with
the whole stack, and which nodes the backward pass has (autograd's graph)."""
import argparse
import collections
import json
import os
import sys

import torch
from torch import nn
from torch._C._profiler import _EventType
from torch.utils._python_dispatch import TorchDispatchMode

HERE = os.path.basename(__file__)
STEPS = 12


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.out = nn.Linear(8 * 6 * 6, 5)

    def forward(self, x):
        x = self.conv(x)
        x = torch.relu(x)
        return self.out(x.flatten(1))


def penalty(net):
    return sum(torch.dot(p.flatten(), p.flatten()) for p in net.parameters()) * 1e-3


def train(net, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(steps):
        x = torch.randn(4, 3, 8, 8) * (step + 1)
        y = torch.randint(0, 5, (4,))
        with torch.profiler.record_function("forward"):
            loss = nn.functional.cross_entropy(net(x), y)
            loss = loss + penalty(net)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)	# 1.x keeps zeros otherwise
        if step % 4 == 3:
            print(loss.item().hex())


class Lines(TorchDispatchMode):
    """The innermost line of this file, for each op, and the frames from there outwards."""

    def __init__(self):
        super().__init__()
        self.seen = collections.Counter()
        self.stacks = collections.defaultdict(set)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        frame, stack = sys._getframe(1), []
        while os.path.basename(frame.f_code.co_filename) != HERE:
            frame = frame.f_back
        name = "aten::" + func._schema.name.split("::")[1]
        self.seen["%s %d" % (name, frame.f_lineno)] += 1
        while frame:
            code = frame.f_code
            stack.append((code.co_filename, frame.f_lineno,
                          getattr(code, "co_qualname", code.co_name)))
            frame = frame.f_back
        self.stacks[name].add(tuple(stack))
        return func(*args, **(kwargs or {}))


def count_ops(nodes, function, ops):
    """By the innermost function of this file that each was called in."""
    for node in nodes:
        inside = function
        if node.tag == _EventType.TorchOp:
            ops["%s %s" % (node.name, function)] += 1
        elif node.tag == _EventType.PyCall:
            place = node.extra_fields.callsite
            if os.path.basename(place.file_name) == HERE:
                inside = place.function_name
        count_ops(node.children, inside, ops)


def functions(net):
    ops = collections.Counter()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                with_stack=True) as profiler:
        train(net, STEPS)
    count_ops(profiler.profiler.kineto_results.experimental_event_tree(), "", ops)
    return ops


def nodes(net):
    found, names = set(), collections.Counter()
    loss = nn.functional.cross_entropy(net(torch.randn(4, 3, 8, 8)), torch.zeros(4).long())
    todo = [(loss + penalty(net)).grad_fn]
    while todo:
        node = todo.pop()
        if node is None or node in found:
            continue
        found.add(node)
        names[node.name()] += STEPS
        todo += [next for next, _ in node.next_functions]
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--truth")
    truth = parser.parse_args().truth
    torch.manual_seed(7)
    torch.set_num_threads(1)
    net = Net()
    train(net, STEPS)
    if not truth:
        return
    with Lines() as lines:
        train(net, STEPS)
    with open(truth, "w") as out:
        json.dump({"functions": functions(net), "lines": lines.seen, "nodes": nodes(net),
                   "stacks": {op: list(stacks) for op, stacks in lines.stacks.items()}}, out)


main()
