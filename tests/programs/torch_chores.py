# SPDX-License-Identifier: MIT
"""A training loop that prints tensors, saves its weights and logs in every step.

torch_chores.py TRUTH SECONDS: writes how long each of these took by its own clock, and at which line, as JSON.
"""
import io
import json
import logging
import os
import sys
import time

import torch

LINES = {}
took = {"tensor-print": 0, "checkpoint": 0, "logging": 0}


class Chore:
    """Times what is within it, and remembers the line after that of `with`."""
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        LINES[self.name] = sys._getframe(1).f_lineno + 1
        self.begin = time.perf_counter_ns()

    def __exit__(self, *_):
        took[self.name] += time.perf_counter_ns() - self.begin


def train(seconds):
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(1024, 256)
    log = logging.getLogger("chores")
    nowhere = open(os.devnull, "w")
    log.addHandler(logging.StreamHandler(nowhere))
    log.setLevel(logging.INFO)
    begin = time.perf_counter_ns()
    while time.perf_counter_ns() < begin + seconds * 1e9:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        states = [model.state_dict()] * 4 + [{f"bias {i}": torch.ones(1) for i in range(60)}]
        with Chore("tensor-print"):
            print(x[:3], file=nowhere)
        with Chore("checkpoint"):
            torch.save(states, io.BytesIO())
        with Chore("logging"):
            [log.info("line %d of %s", i, "this step") for i in range(300)]
    return time.perf_counter_ns() - begin


def main(truth, seconds):
    all_ns = train(float(seconds))
    with open(truth, "w") as file:
        json.dump({"pid": os.getpid(), "all_ns": all_ns, "lines": LINES, "took": took}, file)


main(*sys.argv[1:])
