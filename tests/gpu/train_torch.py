# SPDX-License-Identifier: MIT
"""A training loop of PyTorch for tests/gpu/run: each step does the same.

    train_torch.py [--steps N] [--batch N] [--width N] [--graph] [--item] [--device cuda|cpu]
                   [--profile FILE] [--truth FILE]

A small convolutional network; each step copies its images from pinned memory, in a range
"step N". --graph replays the step as a CUDA graph, --item waits for the loss in each step.
--profile writes the timeline that torch.profiler makes of the steps and of five before them
(not of the first ten), --truth their number and the times of these, until the device has
done the last.
"""
import argparse
import json
import time

import torch
from torch.nn import functional as F

WARM_UP = 10
LEAD = 5	# more when profiled, before those that are timed


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--item", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--profile")
    parser.add_argument("--truth")
    return parser.parse_args()


class Training:
    def __init__(self, options):
        torch.manual_seed(1)
        torch.backends.cudnn.benchmark = False	# else the first steps try kernels out
        torch.backends.cudnn.deterministic = True
        self.options, width = options, options.width
        self.cuda = options.device != "cpu"
        self.model = torch.nn.Sequential(
            torch.nn.Conv2d(3, width, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(width, 2 * width, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Flatten(), torch.nn.Linear(2 * width * 36, 10)).to(options.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        x, y = torch.randn(options.batch, 3, 32, 32), torch.randint(10, (options.batch,))
        self.host = [t.pin_memory() if self.cuda else t for t in (x, y)]
        self.device = [torch.empty_like(t, device=options.device) for t in (x, y)]
        self.graph = None

    def compute(self):
        x, y = self.device
        self.optimizer.zero_grad(set_to_none=not self.options.graph)
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss

    def feed(self):
        for to, of in zip(self.device, self.host):
            to.copy_(of, non_blocking=True)

    def capture(self):
        """As PyTorch's manual says: on a stream apart first."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.feed()
                self.compute()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = self.compute()

    def step(self, number):
        if self.cuda:
            torch.cuda.nvtx.range_push("step %d" % number)
        self.feed()
        if self.graph:
            self.graph.replay()
            loss = self.loss
        else:
            loss = self.compute()
        if self.options.item:
            loss.item()
        if self.cuda:
            torch.cuda.nvtx.range_pop()
        return loss

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()


def main():
    options = read_options()
    training = Training(options)
    if options.graph:
        training.capture()
    for number in range(WARM_UP):
        training.step(number)
    training.wait()
    profile = None
    if options.profile:
        activities = [torch.profiler.ProfilerActivity.CPU]
        if training.cuda:
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        profile = torch.profiler.profile(activities=activities)
        profile.start()
        for number in range(LEAD):
            training.step(WARM_UP + number)
        training.wait()
    begin, cpu = time.perf_counter_ns(), time.process_time_ns()
    for number in range(options.steps):
        loss = training.step(WARM_UP + number)
    training.wait()
    wall, cpu = time.perf_counter_ns() - begin, time.process_time_ns() - cpu
    if profile:
        profile.stop()
        profile.export_chrome_trace(options.profile)
    if options.truth:
        with open(options.truth, "w", encoding="utf-8") as file:
            json.dump({"steps": options.steps, "wall_ns": wall, "cpu_ns": cpu,
                       "loss": loss.item()}, file)


main()
