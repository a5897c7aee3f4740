# SPDX-License-Identifier: MIT
"""torch_busy.py TRUTH SECONDS: trains in one thread, which waits for nothing; writes how long that took and how much
of it the thread had a processor, as JSON."""
import json
import sys
import time

import torch


def main(truth, seconds):
    torch.set_num_threads(1)
    model = torch.nn.Linear(512, 512)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(512, 512)
    for weight in model.parameters():
        weight.grad = torch.zeros_like(weight)
    begin, had = time.monotonic(), time.thread_time()
    while time.monotonic() < begin + seconds:
        with torch.no_grad():
            for _ in range(4):
                model(x)
        optimizer.step()
    with open(truth, "w") as file:
        json.dump({"s": time.monotonic() - begin, "had_s": time.thread_time() - had}, file)


main(sys.argv[1], float(sys.argv[2]))
