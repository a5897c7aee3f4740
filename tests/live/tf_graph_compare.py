# SPDX-License-Identifier: MIT
"""What ni, li and lo of tftop say of the nodes that ran, against what
tests/programs/tf_graph.py knows itself.

    tf_graph_compare.py ask TRUTH REPORT FOLDER      writes a script to FOLDER/script
    tf_graph_compare.py judge TRUTH REPORT FOLDER    compares; status 1 when short

In a third argument after these, lines are not asked for: the wheel tells none.
"""
import json
import os
import re
import sys

what, truth_path, report_path, folder = sys.argv[1:5]
no_lines = len(sys.argv) > 5
truth = json.load(open(truth_path))
report = json.load(open(report_path))
INNER = ("function", "session", "eager")
ran = sorted({o["name"] for o in report["ops"]
              if o.get("framework") == "tensorflow" and o.get("type") and o["type"] not in INNER})


def node_of(name):
    """The nodes that the program's own collection has of an op that ran."""
    if name in truth["nodes"]:
        return truth["nodes"][name]
    if name.endswith("_retval_RetVal"):
        return truth["nodes"].get(name[:-len("_retval_RetVal")] + "_RetVal")
    return None


def base(function):
    """"__inference_step_7" is one of "step"."""
    return re.sub(r"^__(inference|forward|backward)_|_\d+$", "", function)


# A session's graph ("" here) has no lines in TensorFlow's C API; ri says so.
by_base = {}
for function, ops in truth["lines"].items():
    if not function:
        continue
    for op, line in ops.items():
        by_base.setdefault((base(function), op), set()).add(line)
anywhere = {}
for (function, op), found in by_base.items():
    anywhere.setdefault(op, set()).update(found)


def lines_of(name):
    """The lines that op.traceback gives for it, of all traces of its function."""
    found = set()
    for node in node_of(name) or ():
        if node["was"]:
            found |= by_base.get((base(node["in"][0]), node["was"][0]), set())
    if not found - {0}:
        found = anywhere.get(re.sub(r"^((Stateful)?PartitionedCall/)+", "", name), set())
    return found - {0}


def asked():
    return [n for n in ran if node_of(n)]


if what == "ask":
    with open(os.path.join(folder, "script"), "w") as script:
        print("wait-settled 60s", file=script)
        for i, name in enumerate(asked()):
            print(f"ni '{name}' -a -t > {folder}/ni.{i}", file=script)
            print(f"li '{name}' -r -c -d 60 > {folder}/li.{i}", file=script)
            print(f"lo '{name}' -r -c -d 60 > {folder}/lo.{i}", file=script)
    sys.exit(0)


def names_after(text, heading):
    part = text.split(heading, 1)[1] if heading in text else ""
    names = []
    for line in part.splitlines()[1:]:
        m = re.match(r"^  (?:\(Ctrl\) )?(?:\[[^\]]*\] )?(\S+)", line)
        if not m:
            break
        names.append(m.group(1))
    return sorted(names)


def tree_names(text):
    return {m.group(1) for m in re.finditer(r"\|- \(\d+\) (?:\(Ctrl\) )?(\S+?)(?::\d+)?(?:  |$)", text, re.M)}


def closure(first, key):
    """The names of all that are reached from a node in its graph."""
    seen, todo = set(), [first]
    while todo:
        for other in todo.pop()[key]:
            other = other.lstrip("^")
            if other not in seen:
                seen.add(other)
                todo += [n for n in truth["nodes"].get(other, ()) if n["graph"] == first["graph"]]
    return seen


count = {"nodes": 0, "edges": 0, "trees": 0, "lines": 0, "with_line": 0}
wrong = []
for i, name in enumerate(asked()):
    text, tree, takers = (open(f"{folder}/{f}.{i}").read() for f in ("ni", "li", "lo"))
    node = text.splitlines()[0]
    nodes = truth["nodes"][node]
    count["nodes"] += 1
    inputs = names_after(text, re.search(r"\d+ input\(s\).*", text).group(0))
    outputs = names_after(text, re.search(r"\d+ recipient\(s\).*", text).group(0))
    good = any(sorted(x.lstrip("^") for x in n["inputs"]) == inputs and
               (n["outputs"] == outputs or
                "written" in n and set(n["outputs"]) <= set(outputs)) for n in nodes)
    count["edges"] += good
    trees = any(closure(n, "inputs") == tree_names(tree) and
                (closure(n, "outputs") == tree_names(takers) or
                 "written" in n and closure(n, "outputs") <= tree_names(takers)) for n in nodes)
    count["trees"] += trees
    lines = set() if no_lines else lines_of(name)
    if lines:
        count["with_line"] += 1
        m = re.search(r"tf_graph\.py:(\d+)  in ", text)
        right = bool(m) and int(m.group(1)) in lines
        count["lines"] += right
    else:
        right = True
    if not (good and trees and right):
        wrong.append((name, good, trees, right, sorted(lines)))
print("%(nodes)d nodes that ran, edges of %(edges)d, trees of %(trees)d, "
      "lines of %(lines)d of %(with_line)d" % count, "of", len(ran), "ops")
for each in wrong[:8]:
    print("  wrong:", *each)
good = count["nodes"] >= 100 and count["edges"] >= 0.95 * count["nodes"] and \
    count["trees"] >= 0.95 * count["nodes"] and \
    (no_lines or count["with_line"] >= 60) and count["lines"] >= 0.95 * count["with_line"]
sys.exit(not good)
