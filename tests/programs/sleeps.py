# SPDX-License-Identifier: MIT
"""sleeps.py TIMES PROGRAM ARGUMENT...: runs a Python program in which time.sleep() takes TIMES
times as long, so that on any machine it sleeps for longer than it computes."""
import runpy
import sys
import time

times, sleep = float(sys.argv[1]), time.sleep
time.sleep = lambda seconds: sleep(times * seconds)
sys.argv = sys.argv[2:]
sys.path[0] = sys.argv[0].rpartition("/")[0] or "."
runpy.run_path(sys.argv[0], run_name="__main__")
