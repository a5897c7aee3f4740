# SPDX-License-Identifier: MIT
"""A training loop of PyTorch for tests/gpu/run that goes on until it is told to stop, and knows how
long each of its steps took.

    train_levels.py [--device cuda|cpu] [--profile-turns SECONDS]
                    --ready FILE --stop FILE --truth FILE

A small GPT in bfloat16, eager: many small ops. After ten steps it writes its PID to --ready, and
from then on to --ready.at how many steps and turns it has done, as it goes. Once --stop exists it ends and writes --truth: for each step when it began (CLOCK_MONOTONIC), its wall
time and the CPU time of the process meanwhile, in ns, and whether torch.profiler was on: with
--profile-turns that is switched on and off every so many seconds, after some steps at least.
"""
import argparse
import json
import os
import time

import torch
from torch import nn

WARM_UP = 10
STEPS_A_TURN = 8


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        shape = x.shape[:2] + (self.heads, -1)
        q, k, v = (part.view(shape).transpose(1, 2)
                   for part in self.attend(self.before(x)).chunk(3, dim=-1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).reshape(x.shape))
        return x + self.narrow(nn.functional.gelu(self.widen(self.between(x))))


class Training:
    def __init__(self, device, layers, width):
        torch.manual_seed(1)
        self.device = device
        self.model = nn.Sequential(nn.Embedding(512, width),
                                   *(Block(width, 4) for _ in range(layers)),
                                   nn.Linear(width, 512)).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.tokens = torch.randint(512, (4, 65), device=device)

    def step(self):
        self.optimizer.zero_grad()
        with torch.autocast(self.device, torch.bfloat16):
            out = self.model(self.tokens[:, :-1])
            loss = nn.functional.cross_entropy(out.flatten(0, 1), self.tokens[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        return loss.item()


class Profiler:
    """torch.profiler, on for one turn and off for the next."""

    def __init__(self, seconds):
        self.ns, self.profile, self.turns, self.steps = int(seconds * 1e9), None, 0, 0
        self.until = time.monotonic_ns() + self.ns

    def turn(self):
        self.steps += 1
        if not self.ns or time.monotonic_ns() < self.until or self.steps <= STEPS_A_TURN:
            return
        self.turns, self.steps = self.turns + 1, 0
        if self.profile:
            self.profile.stop()
            self.profile = None
        else:
            activities = [torch.profiler.ProfilerActivity.CPU]
            if torch.cuda.is_available():
                activities.append(torch.profiler.ProfilerActivity.CUDA)
            self.profile = torch.profiler.profile(activities=activities)
            self.profile.start()
        self.until = time.monotonic_ns() + self.ns


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--profile-turns", type=float, default=0)
    for name in ("--ready", "--stop", "--truth"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    cuda = options.device == "cuda"
    if not cuda:
        torch.set_num_threads(1)
    training = Training(options.device, *((12, 256) if cuda else (2, 64)))
    for _ in range(WARM_UP):
        training.step()
    with open(options.ready + ".new", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    os.rename(options.ready + ".new", options.ready)
    profiler, steps = Profiler(options.profile_turns), []
    at = os.open(options.ready + ".at", os.O_WRONLY | os.O_CREAT, 0o644)
    while not os.path.exists(options.stop):
        profiler.turn()
        begin, cpu = time.monotonic_ns(), time.process_time_ns()
        training.step()
        steps.append((begin, time.monotonic_ns() - begin, time.process_time_ns() - cpu,
                      bool(profiler.profile)))
        os.pwrite(at, b"%9d %9d" % (len(steps), profiler.turns), 0)
    if profiler.profile:
        profiler.profile.stop()
    with open(options.truth, "w", encoding="utf-8") as file:
        json.dump(steps, file)


main()
