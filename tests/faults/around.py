# SPDX-License-Identifier: MIT
"""What run.py and tests/soak/soak.py share: waiting for others' files and processes."""
import time


class Failed(Exception):
    """What fell short."""


def wait_for(seconds, condition):
    """Polls: what is waited for is others'."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
