# SPDX-License-Identifier: MIT
"""What makes it hard to look at a thread from beside, while it computes something known.

host_faults.py SECONDS WHAT: threads that come and go, one that takes over, forks, deep recursion,
generators and exceptions, each in a loop that also launches OpenCL kernels (host_waits.py's device).
SECONDS are of a processor: beside other programs it takes longer, so that it is looked at as often. It
prints nothing but results, which do not depend on time.
"""
import os
import sys
import threading
import time

from host_waits import Device


def depth(n):
    return 1 if not n else 1 + depth(n - 1)


def recursion():
    return sum(depth(k) for k in range(60, 200, 20))


def numbers(n):
    for i in range(n):
        yield i
        yield from (j for j in range(i % 3))


def generators():
    return sum(numbers(300))


def throw(n):
    if n:
        throw(n - 1)
    else:
        raise ValueError("as meant")


def exceptions():
    caught = 0
    for n in range(30):
        try:
            throw(n)
        except ValueError:
            caught += 1
    return caught


def generated():
    total = 0
    for i in range(10):
        scope = {}
        exec(compile(f"def made(x):\n\n\n    return x + {i}\n", f"<made {i}>", "exec"), scope)
        total += sum(scope["made"](k) for k in range(20))
    return total


def forks():
    child = os.fork()
    if not child:
        os._exit(7 if recursion() == 847 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def work(device, what, results):
    until = time.monotonic() + 0.2
    while time.monotonic() < until:
        results.add(globals()[what]())
        device.step()


def rounds(device, what, results, until):
    while time.process_time() < until:
        threads = [threading.Thread(target=work, args=(device, one, results))
                   for one in ("recursion", "generators", "exceptions", "generated")
                   if what == "threads"]
        for thread in threads:
            thread.start()
        if not threads:
            work(device, what, results)
        for thread in threads:
            thread.join()


def main():
    device, results, until = Device(), set(), time.process_time() + float(sys.argv[1])
    if sys.argv[2] == "handed":
        # the first thread works once and then only waits for the other one
        device.step()
        other = threading.Thread(target=rounds, args=(device, "recursion", results, until))
        other.start()
        other.join()
    else:
        rounds(device, sys.argv[2], results, until)
    print(sorted(results))


if __name__ == "__main__":
    main()
