# SPDX-License-Identifier: MIT
"""Steps that need 64 MiB of memory each: new memory, or the same again.

torch_memory.py TRUTH new|again: writes what the kernel counted for the steps after the first ones, as JSON. In `new`
the C library gives each tensor back to the system, as it does with such large ones; in `again` the result is written
into a tensor that is there.
"""
import json
import resource
import sys
import time

import torch

SIZE = 16 << 20         # of four bytes
SECONDS = 7


def step(x, out):
    if out is None:
        return torch.add(x, 1)  # mark: new
    return torch.add(x, 1, out=out)


def main(truth, how):
    torch.set_num_threads(1)
    x = torch.ones(SIZE)
    out = torch.empty(SIZE) if how == "again" else None
    for _ in range(3):
        step(x, out)
    before, begin, steps = resource.getrusage(resource.RUSAGE_SELF), time.monotonic(), 0
    while time.monotonic() < begin + SECONDS:
        step(x, out)
        steps += 1
    after = resource.getrusage(resource.RUSAGE_SELF)
    with open(sys.argv[0]) as source:
        line = [n for n, text in enumerate(source, 1) if "# mark" in text][0]
    with open(truth, "w") as file:
        json.dump({"steps": steps, "faults": after.ru_minflt - before.ru_minflt, "line": line,
                   "system_s": after.ru_stime - before.ru_stime, "s": time.monotonic() - begin}, file)


main(*sys.argv[1:])
