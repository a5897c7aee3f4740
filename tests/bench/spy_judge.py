# SPDX-License-Identifier: MIT
"""Compares tftop's looks with py-spy's samples of the same runs: the records of spy_bench.sh.

spy_judge.py FOLDER RUNS
spy_judge.py --rate FILE SECONDS: how often tftop looked in one second, of its records of a run
"""
import collections
import csv
import math
import statistics
import sys

SECONDS = 20


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def looks_of(rows):
    """A look that also saw how long its thread had no processor counts in a second row."""
    return sum(int(row["looks"]) for row in rows if row["state"] != "no CPU")


def own(folder, name):
    """Of tftop: µs of a processor for each look, the number of looks, {line: share of time}."""
    rows = rows_of(f"{folder}/{name}.csv")
    with open(f"{folder}/{name}.out", encoding="utf-8") as file:
        share = float(file.read().split()[4])
    lines = collections.Counter()
    for row in rows:
        lines[row["line"]] += float(row["total"])
    looks = looks_of(rows)
    total = sum(lines.values())
    return share * SECONDS * 1e6 / looks, looks, {k: v / total for k, v in lines.items()}


def spied(folder, name):
    """Of py-spy: the same; the line of a sample is that of the innermost function of Python."""
    lines, count = collections.Counter(), 0
    with open(f"{folder}/{name}.raw", encoding="utf-8") as file:
        for text in file:
            stack, times = text.rsplit(" ", 1)
            python = [f for f in stack.split(";") if ".py:" in f]
            line = python[-1].rstrip(")").rsplit(":", 1)[1] if python else ""
            lines[line] += int(times)
            count += int(times)
    with open(f"{folder}/{name}.time", encoding="utf-8") as file:
        took = sum(map(float, file.read().split()))
    return took * 1e6 / count, count, {k: v / count for k, v in lines.items()}


def difference(here, there):
    """Of lines with 2 % or more, the one that differs most: by how many points, and three standard
    errors of that."""
    _, n, ours = here
    _, m, theirs = there
    worst = (0.0, 1.0)
    for line in set(ours) | set(theirs):
        a, b = ours.get(line, 0), theirs.get(line, 0)
        mean = (a * n + b * m) / (n + m)
        if mean < 0.02:         # a few samples: their error is not a normal one
            continue
        error = 3 * math.sqrt(mean * (1 - mean) * (1 / n + 1 / m))
        if abs(a - b) / error > worst[0] / worst[1]:
            worst = (abs(a - b) * 100, error * 100)
    return worst


def record(name, what, unit, yardstick, pairs, bar):
    """One record of a figure: see tests/bench/run.sh."""
    ratios = sorted(a / b for a, b in pairs)
    ratio = statistics.median(ratios)
    print(name, what, f"{statistics.median(a for a, _ in pairs):.3g}", unit, "low", yardstick,
          f"{statistics.median(b for _, b in pairs):.3g}", f"{ratio:.3f}", f"<= {bar}", len(pairs),
          f"{(ratios[-1] - ratios[0]) / ratio:.4f}", "true" if ratio <= bar else "false", sep="|")


def main():
    if sys.argv[1] == "--rate":
        print(max(1, round(looks_of(rows_of(sys.argv[2])) / float(sys.argv[3]))))
        return
    folder, runs = sys.argv[1], range(1, int(sys.argv[2]) + 1)
    seen = {kind: [(own(folder, f"{kind}{i}"), spied(folder, f"{kind}{i}")) for i in runs]
            for kind in ("look", "native", "lines")}
    for kind, yardstick in (("look", "sample of py-spy"), ("native", "of py-spy --native")):
        record(f"G4.spy.{kind}", "a look at a thread", "us", yardstick,
               [(ours[0], theirs[0]) for ours, theirs in seen[kind]], 0.1)
    record("G4.spy.lines", "line that differs most", "points", "3 standard errors",
           [difference(*both) for both in seen["lines"]], 1)


if __name__ == "__main__":
    main()
