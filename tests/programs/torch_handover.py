# SPDX-License-Identifier: MIT
"""torch_handover.py: two workers that make batches of many tensors much faster than a step takes, so that they rest;
but each tensor of a batch is handed over by itself, which the step waits for."""
import time

import torch
from torch.utils.data import DataLoader, Dataset

STEPS, TENSORS = 120, 60


class Samples(Dataset):
    def __len__(self):
        return 4 * STEPS

    def __getitem__(self, number):
        return [torch.full((4,), float(number)) for _ in range(TENSORS)]


def train():
    torch.set_num_threads(1)
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(Samples(), 4, num_workers=2):
        optimizer.zero_grad()
        model(batch[0]).square().mean().backward()
        time.sleep(0.06)
        optimizer.step()


train()
