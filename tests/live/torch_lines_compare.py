# SPDX-License-Identifier: MIT
"""torch_lines_compare.py TRUTH REPORT: tests/programs/torch_lines.py's truth and a report of it.
Prints what is not the same, else how much was compared."""
import collections
import json
import sys

truth, report = (json.load(open(path)) for path in sys.argv[1:3])
HERE = "/torch_lines.py"
INIT = ("Net.__init__", "__init__")     # before Python 3.11, a function's own name is all
functions, lines, links = (collections.Counter() for _ in range(3))
wrong = []


def differ(what, want, got):
    for key in sorted(set(want) | set(got)):
        if want.get(key, 0) != got.get(key, 0):
            wrong.append("%s: %s: %d, not %d" % (what, key, got.get(key, 0), want.get(key, 0)))


for op in report["ops"] + report.get("ranges", []):
    name = op.get("raw_name", op["name"])
    for line in op.get("lines", []):
        if line["file"].endswith(HERE) and line["function"] not in INIT:
            functions["%s %s" % (name, line["function"].split(".")[-1])] += line["count"]
            lines["%s %d" % (name, line["line"])] += line["count"]
    for other in op.get("backward", []):
        links[other["name"]] += other["links"]

# what the engine wraps nodes in is called as the nodes are; a node by autograd's name
differ("ops by function", truth["functions"], functions)
# the dispatcher does not see ops that kernels call, and makes some itself; where both
# saw as many of a type, the lines are equal
total = collections.Counter()
for key, count in lines.items():
    total[key.split(" ")[0]] += count
seen = collections.Counter()
for key, count in truth["lines"].items():
    seen[key.split(" ")[0]] += count
whole = {op for op in seen if seen[op] == total[op]}
differ("ops by line", {k: n for k, n in truth["lines"].items() if k.split(" ")[0] in whole},
       {k: n for k, n in lines.items() if k.split(" ")[0] in whole})

# the slowest runs of these have all their callers; main() calls train() at several lines
stacks = 0
for op in report["ops"]:
    want = {tuple((f, n if what != "main" else 0, what) for f, n, what in stack)
            for stack in truth["stacks"].get(op.get("raw_name", op["name"]), [])}
    if op.get("raw_name", op["name"]) not in whole:
        continue
    if len(op["slowest"]) != min(4, op["count"]):
        wrong.append("%s: %d slowest of %d" % (op["name"], len(op["slowest"]), op["count"]))
    for slow in op["slowest"]:
        got = tuple((f["file"], f["line"] if f["function"] != "main" else 0, f["function"])
                    for f in slow["stack"])
        # what came before the loop has frames of its own
        if not any(f[2] in INIT for f in got):
            stacks += 1
            if got not in want:
                wrong.append("%s: no such stack: %s" % (op["name"], got))
phases = report["steps"]["phases"]
parts = {name: ns for name, ns in phases.items() if name not in ("steps", "step_ns")}
if sum(parts.values()) != phases["step_ns"] or \
        not all(parts[p + "_ns"] for p in ("forward", "backward", "optimizer")):
    wrong.append("phases: %s" % phases)
scopes = {tuple(scope["path"]): scope for scope in report["scopes"]}
forward = scopes.get(("Net",), {})
want = sum(n for key, n in functions.items() if key.split(" ")[1] == "forward")
if forward.get("ops") != want or not 0 < forward["self_ns"] < forward["total_ns"] or \
        ("main", "train") not in scopes:
    wrong.append("%d ops of Net.forward, the module's scope: %s" % (want, forward))
everything = report["ops"] + report.get("ranges", [])
whole_ns = sum(scope["total_ns"] for path, scope in scopes.items() if len(path) == 1)
if not 0 < whole_ns <= sum(op["self_ns"] for op in everything):
    wrong.append("scopes: %d ns of all ops' own time" % whole_ns)
nodes = {name: n for name, n in truth["nodes"].items() if "AccumulateGrad" not in name}
differ("links", nodes, links)
if sum(line.get("backward", 0) for line in report["lines"]) != sum(nodes.values()):
    wrong.append("lines have %d backward ops, not %d" %
                 (sum(line.get("backward", 0) for line in report["lines"]), sum(nodes.values())))
if report["source"]["unlinked"] or report["source"]["dropped"]:
    wrong.append("not all found their place: %s" % report["source"])
if len(whole) < 10:
    wrong.append("only %s could be compared by line" % sorted(whole))
if stacks < 40:
    wrong.append("only %d stacks could be compared" % stacks)
print("; ".join(wrong[:8]) if wrong else
      "%d ops by function, %d of %d types by line, %d links, %d stacks" %
      (sum(functions.values()), len(whole), len(seen), sum(links.values()), stacks))
sys.exit(bool(wrong))
