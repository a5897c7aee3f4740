#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""example_findings.py REPORT TRUTH EXPRESSION...

Whether each of these is true of what was found in a run of an example: of the findings
f, of the first one, or the first with the id $FINDING (its title and lines as text, its cost),
the steps, what the program noted in each, and at(MARK), the place of a line that the program
marked."""
import json
import os
import sys

r, t = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
f, steps, noted = r["findings"], r["steps"], t["steps"]
which = os.environ.get("FINDING")
first = next((x for x in f if which in (None, "", x["id"])),
             {"id": "", "title": "", "cost_ns_per_step": 0})
text = "; ".join([first["title"], *first.get("lines", ())])
cost = first["cost_ns_per_step"]


def at(mark):
    return "%s:%d" % (t["source"], t["lines"][mark])


def mean(name):
    return sum(noted[name][2:]) / len(noted[name][2:])	# without the warm-up


def number(before, after):
    """What stands between these words of the first finding."""
    start = text.index(before) + len(before)
    return int(text[start:text.index(after, start)].replace(" ", ""))


for what in sys.argv[3:]:
    if not eval(what):
        sys.exit("%s: %s %s, step %s" % (what, text, [x["title"] for x in f if x is not first],
                                         steps["mean_ns"]))
