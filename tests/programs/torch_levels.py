# SPDX-License-Identifier: MIT
"""Changes tftop's level while it trains, and says how many steps and how many calls of one op
each level had: torch_levels.py COUNTS"""
import json
import sys

import torch

import cost

STEPS, CALLS = 5, 40
weights = torch.nn.Parameter(torch.ones(8))
optimizer = torch.optim.SGD([weights], lr=0.1, foreach=False)
counts = {}
torch.set_num_threads(1)
for level in ["min", "default", "min", "full", "off", "min", "default"]:
    # Who sees a level waits for no probe to follow it; that the next one is seen says that
    # they have followed the one before, and from default to full no op is missed.
    for now in ["off"] if level == "off" else ["default", "full", level]:
        cost.Tftop(now).set(True)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = weights
        for _ in range(CALLS):
            loss = loss.cos()
        loss.sum().backward()
        optimizer.step()
    steps, calls = counts.get(level, (0, 0))
    counts[level] = steps + STEPS, calls + STEPS * CALLS
with open(sys.argv[1], "w") as file:
    json.dump(counts, file)
