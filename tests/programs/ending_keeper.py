# SPDX-License-Identifier: MIT
"""ending_keeper.py FOLDER: looks to others as the keeper of a tftop that has gone.

It holds a pidfd of a child, as a keeper does of its daemon, and has mapped a control page that was
removed. It prints the child's PID and goes on until its input ends.
"""
import mmap
import os
import subprocess
import sys

folder = os.path.join(sys.argv[1], "tftop-gone")
os.mkdir(folder)
with open(os.path.join(folder, "control"), "w+b") as file:
    file.truncate(mmap.PAGESIZE)
    page = mmap.mmap(file.fileno(), 0)
    os.unlink(file.name)
child = subprocess.Popen(["sleep", "100"])
held = os.pidfd_open(child.pid)
print(child.pid, flush=True)
sys.stdin.read()
child.kill()
