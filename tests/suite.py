# SPDX-License-Identifier: MIT
"""What the suites in Python share (tests/lib.sh says the same for bash): which cases are asked
for, what is said of each, the last line.

CASE=part asks for the cases whose name contains it, CASE='=name' for the one with that name: so
tests/run.sh repeats a case that failed. TIMING=1 asks for those that only a clock can judge,
which are left out otherwise. A name has no ": " in it."""
import os


def is_wanted(name, timed=False):
    if timed != bool(os.environ.get("TIMING")):
        return False
    case = os.environ.get("CASE", "")
    return name == case[1:] if case.startswith("=") else case in name


class Suite:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def ok(self, name, note=""):
        self.passed += 1
        print(f"ok {name}{f' ({note})' if note else ''}", flush=True)

    def not_ok(self, name, why):
        self.failed += 1
        print(f"not ok {name}: {why}", flush=True)

    def skip(self, name, missing):
        self.skipped += 1
        print(f"skip {name}: {missing}", flush=True)

    def end(self):
        """The last line; the exit status."""
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        return 1 if self.failed else 0
