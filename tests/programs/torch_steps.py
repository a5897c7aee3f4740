# SPDX-License-Identifier: MIT
"""Trains with many small ops, each CALLS times a step, and writes down what came out:
torch_steps.py TRUTH STEPS [infer] [pause] [--budget TFTOP PERCENT]. infer: without training. pause:
with a rest in the middle of each 50th step. --budget: has TFTOP change the budget of this process after 100 steps."""
import hashlib
import json
import os
import subprocess
import sys
import time

import torch

CALLS = 60
truth, steps = sys.argv[1], int(sys.argv[2])
torch.manual_seed(1)
torch.set_num_threads(1)
weights = torch.nn.Parameter(torch.rand(8))
optimizer = torch.optim.SGD([weights], lr=0.1, foreach=False)
digest, results = hashlib.sha256(), []  # what has come out after each hundred steps


def forward(pauses):
    x = weights
    for call in range(CALLS):
        if pauses and call == CALLS // 2:
            time.sleep(0.25)
        x = x.cos()
    return x.sum()


for step in range(steps):
    if "--budget" in sys.argv and step == 100:
        tftop, percent = sys.argv[sys.argv.index("--budget") + 1:][:2]
        subprocess.run([tftop, "--control", str(os.getpid()), "budget=" + percent], check=True)
    if "infer" in sys.argv:
        with torch.no_grad():
            loss = forward(False)
    else:
        optimizer.zero_grad()
        loss = forward("pause" in sys.argv and step % 50 == 49)
        loss.backward()
        optimizer.step()
    digest.update(loss.detach().numpy().tobytes())
    if step % 100 == 99:
        digest.update(weights.detach().numpy().tobytes())
        results.append(digest.hexdigest())
with open(truth, "w") as file:
    json.dump({"calls": CALLS, "steps": steps, "results": results}, file)
