# SPDX-License-Identifier: MIT
"""torch_workers.py TRUTH HOW [preload | FOLDER]: trains for two epochs with batches that two
workers make too slowly; HOW starts them: fork, spawn or forkserver. preload: PyTorch is in the fork
server itself. FOLDER: trains one long epoch, and ends 24 steps after FOLDER/go has appeared, or with
who started it. Each worker makes a file TRUTH.PID. TRUTH gets the losses of the first 24 steps, who
the workers were and who served them, and the line at which they sleep."""
import ctypes
import json
import multiprocessing
import os
import signal
import sys
import time
from multiprocessing import forkserver, resource_tracker

if __name__ == "__main__" and "preload" in sys.argv:
    multiprocessing.set_forkserver_preload(["torch"])
import torch
from torch.utils.data import DataLoader, Dataset

BATCH, WORKERS, STEPS, LONG = 8, 2, 12, 5000
SAMPLES = BATCH * STEPS  # they come round again and again
PR_SET_PDEATHSIG = 1
truth, how = sys.argv[1:3]
folder = sys.argv[3] if sys.argv[3:] and sys.argv[3] != "preload" else None


class Samples(Dataset):
    def __len__(self):
        return BATCH * LONG if folder else SAMPLES

    def __getitem__(self, number):
        time.sleep(0.06)  # sleeps: for longer than a worker takes to start
        return torch.full((16,), number % SAMPLES / SAMPLES), number % 4


def begin(_):
    with open("%s.%d" % (truth, os.getpid()), "w"):
        pass


def train():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Linear(16, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Samples(), BATCH, num_workers=WORKERS, multiprocessing_context=how,
                        worker_init_fn=begin)
    losses, left = [], None
    for _ in range(1 if folder else 2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            if folder and left is None and os.path.exists(os.path.join(folder, "go")):
                left = 2 * STEPS
            if left == 0:
                break
            left = left and left - 1
    return losses[:2 * STEPS]


if __name__ == "__main__":
    if folder:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    losses = train()
    with open(__file__) as source:
        line = next(n for n, text in enumerate(source, 1) if "# sleeps: " in text)
    folder_of, name = os.path.split(truth)
    with open(truth, "w") as file:
        json.dump({"losses": losses, "line": line,
                   "workers": sorted(int(f.rpartition(".")[2]) for f in os.listdir(folder_of or ".")
                                     if f.startswith(name + ".")),
                   "server": forkserver._forkserver._forkserver_pid,
                   "tracker": resource_tracker._resource_tracker._pid}, file)
