# SPDX-License-Identifier: MIT
"""Runs Python within 25 calls, and a kernel now and then, so that tftop looks at the thread.

host_loop.py SECONDS [SHARE_FROM]: prints what a run takes while a thread of tftop looks at it, and while none
does, each the median of blocks of 20 ms, in ns (0: there was no such block); the number of blocks
of each; and the processor time of that thread as a share of the time that it was there, from
SHARE_FROM seconds on.
"""
import glob
import sys
import time

from host_waits import Device


def small(i):
    return i & 7


def work(n):
    total = 0
    for i in range(n):
        total += small(i)
    return total


def within(calls, n):
    return within(calls - 1, n) if calls else work(n)


def looker_ns():
    """The processor time of the thread that looks; None: there is none."""
    for path in glob.glob("/proc/self/task/*/comm"):
        try:
            with open(path) as name, open(path[:-4] + "schedstat") as times:
                if name.read() == "tftop-host\n":
                    return int(times.read().split()[0])
        except OSError:
            continue            # the thread has ended
    return None


def median(values):
    return sorted(values)[len(values) // 2] if values else 0


def main():
    device, begin = Device(), time.monotonic_ns()
    until, before = begin + int(float(sys.argv[1]) * 1e9), looker_ns()
    share_from = begin + int(float(sys.argv[2]) * 1e9) if len(sys.argv) > 2 else begin
    seen, unseen, share = [], [], [0, 0]
    while time.monotonic_ns() < until:
        device.step()
        start, runs = time.monotonic_ns(), 0
        while time.monotonic_ns() < start + 20_000_000:
            within(22, 5000)
            runs += 1
        took, after = time.monotonic_ns() - start, looker_ns()
        if before is not None and after is not None:
            seen.append(took // runs)
            if start >= share_from:
                share = [share[0] + after - before, share[1] + took]
        elif before is None and after is None:
            unseen.append(took // runs)
        before = after
    print(median(seen), median(unseen), len(seen), len(unseen),
          f"{share[0] / share[1]:.5f}" if share[1] else 0)


if __name__ == "__main__":
    main()
