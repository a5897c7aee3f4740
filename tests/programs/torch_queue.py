# SPDX-License-Identifier: MIT
"""A loop that takes its batches from a queue, which a thread of the program fills too slowly.

torch_queue.py TRUTH SECONDS: writes the lines at which the loop waits and the thread sleeps, as JSON.
"""
import json
import queue
import sys
import threading
import time

import torch

batches = queue.Queue(2)


def load():
    while True:
        time.sleep(0.05)  # mark: sleeps
        batches.put(torch.ones(64, 256))


def train(seconds):
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        batch = batches.get()  # mark: waits
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()


def main(truth, seconds):
    threading.Thread(target=load, daemon=True).start()
    train(float(seconds))
    with open(sys.argv[0]) as source:
        lines = {text.split("# mark: ")[1].strip(): n for n, text in enumerate(source, 1) if "  # mark: " in text}
    with open(truth, "w") as file:
        json.dump(lines, file)


main(*sys.argv[1:])
