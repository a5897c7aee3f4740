# SPDX-License-Identifier: MIT
"""host_starter.py LIBRARY: for whom probes/host/starter.c (in LIBRARY) takes a program, its fork
server, the server's workers, the fork of a worker, a spawned worker and the tracker of resources to
work, and who they are. Prints a line for each that is not as it should be; exit status 1."""
import ctypes
import multiprocessing
import os
import sys
from multiprocessing import forkserver, resource_tracker

SERVER = -1


def starter(pid):
    return ctypes.CDLL(sys.argv[1]).starter_of(b"", pid)


def work(pipe):
    """Tells who it is, asks for whom it works, and for whom a fork of it does."""
    child = os.fork()
    if not child:
        os._exit(starter(os.getpid()) != 0)
    pipe.send((os.getpid(), starter(os.getpid()), os.waitpid(child, 0)[1]))
    pipe.recv()


def main():
    found = {"program": (starter(os.getpid()), 0)}
    for how in "forkserver", "forkserver", "spawn":
        here, there = multiprocessing.Pipe()
        process = multiprocessing.get_context(how).Process(target=work, args=(there,))
        process.start()
        pid, own, forked = here.recv()
        want = os.getpid() if how == "forkserver" else 0
        found[how, pid] = (own, want)
        found[how, pid, "from outside"] = (starter(pid), want)
        found[how, pid, "its fork"] = (forked, 0)
        here.send(None)
        process.join()
    server, tracker = forkserver._forkserver._forkserver_pid, resource_tracker._resource_tracker._pid
    found["server"] = (starter(server), SERVER)
    found["tracker"] = (starter(tracker), 0)
    wrong = ["%s: %s, not %s" % (who, *pair) for who, pair in found.items() if pair[0] != pair[1]]
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
