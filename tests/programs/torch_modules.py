# SPDX-License-Identifier: MIT
"""Modules within modules, forward and backward.

    torch_modules.py [TRUTH]

With TRUTH, how many ops ran in each, as PyTorch's own hooks and profiler tell it: lines
of "Net/Block/Linear 12", with those of the modules in it.
"""
import collections
import sys

import torch

STEPS = 5


class Block(torch.nn.Module):
    def __init__(self, shared):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
        self.shared = shared

    def forward(self, x):
        return self.shared(torch.relu(self.linear(x)) + x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        shared = torch.nn.LayerNorm(8)    # one module in two others
        self.blocks = torch.nn.Sequential(Block(shared), Block(shared))
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.shared = shared

    def forward(self, x):
        return self.shared(self.encoder(self.blocks(x) * 2))


def train(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        net(torch.ones(4, 3, 8)).sum().backward()
        optimizer.step()


def truth(net, path):
    open_ranges, counts = [], collections.Counter()

    def enter(module, _):
        open_ranges.append(torch.profiler.record_function("module " + type(module).__name__))
        open_ranges[-1].__enter__()

    def leave(*_):
        open_ranges.pop().__exit__(None, None, None)

    for module in net.modules():
        module.register_forward_pre_hook(enter)
        module.register_forward_hook(leave)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        train(net)
    # as they came: its own tree leaves out an op that another one of its name calls
    events = profile.profiler.kineto_results.events()
    around = []
    for event in sorted(events, key=lambda e: (e.start_ns(), -e.duration_ns())):
        while around and event.end_ns() > around[-1].end_ns():
            around.pop()
        within = [e.name()[7:] for e in around if e.name().startswith("module ")]
        if not event.name().startswith("module "):
            for depth in range(len(within)):
                counts["/".join(within[:depth + 1])] += 1
        around.append(event)
    with open(path, "w") as file:
        for name in sorted(counts):
            print(name, counts[name], file=file)


torch.manual_seed(1)
torch.set_num_threads(1)
if len(sys.argv) > 1:
    truth(Net(), sys.argv[1])
else:
    train(Net())
