# SPDX-License-Identifier: MIT
"""What ni, li and lo of tftop say of the nodes that ran, against what
tests/programs/tf_graph.py knows itself.

    tf_graph_compare.py ask TRUTH REPORT FOLDER      writes a script to FOLDER/script
    tf_graph_compare.py judge TRUTH REPORT FOLDER    compares; status 1 when short
"""
import json
import os
import re
import sys

what, truth_path, report_path, folder = sys.argv[1:5]
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


by_base = {}	# (function, op): its lines, of all traces; sessions' graphs are ""
for function, ops in truth["lines"].items():
    for op, line in ops.items():
        if line:
            by_base.setdefault((base(function), op), set()).add(line)
anywhere = {}
for (function, op), found in by_base.items():
    anywhere.setdefault(op, set()).update(found)
first = {}
for op, line in truth["first"].items():
    first.setdefault(base(op), set()).add(line)


def own_lines(node, graph):
    """The lines that op.traceback gives for a node of a graph, of all traces."""
    if graph.startswith("Session.run"):
        return by_base.get(("", node), set())
    if graph.startswith("eager "):
        return first.get(graph[len("eager "):], set())
    found = set(by_base.get((base(graph), node), ()))
    for other in truth["nodes"].get(node, ()):
        if other["was"]:
            found |= by_base.get((base(other["in"][0]), other["was"][0]), set())
    return found


def derived_lines(node, graph, type):
    """The lines of what a node was made of: by the rules of docs/tensorflow.md."""
    home = "" if graph.startswith("Session.run") else base(graph)
    port = re.match(r"_(?:arg|retval)_(.*)_\d+_\d+$", node)
    if port:
        return by_base.get((home, port.group(1)), set())
    if type in ("_Arg", "_Retval"):
        found = set(first.get(base(graph), ()))
    else:
        # the longest end, else the longest beginning, that was traced
        parts = node.split("/")
        ends = ["/".join(parts[i:]) for i in range(len(parts))]
        begins = ["/".join(parts[:i]) for i in range(len(parts) - 1, 0, -1)]
        begins += [re.sub("^.*PartitionedCall/", "", b) for b in begins]
        found = next((anywhere[e] for e in ends if e in anywhere), None) or \
            next((anywhere[b] for b in begins if b in anywhere), set())
        found = set(found)
    for other in truth["nodes"].get(node, ()):
        for name in other["inputs"] + other["outputs"]:
            found |= own_lines(name.lstrip("^"), graph)
    return found


def asked():
    return [n for n in ran if node_of(n)]


def made_at(text):
    """Of a page of ni: its line, 0 none; how it was found."""
    m = re.search(r"tf_graph\.py:(\d+)  in \S+(?:   found (.*))?$", text, re.M)
    return (int(m.group(1)), m.group(2) or "exactly") if m else (0, "not at all")


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


count = {"nodes": 0, "edges": 0, "trees": 0, "exact": 0, "own": 0, "rule": 0, "derived": 0,
         "lineless": len(ran) - len(asked())}
wrong = []
for i, name in enumerate(asked()):
    text, tree, takers = (open(f"{folder}/{f}.{i}").read() for f in ("ni", "li", "lo"))
    node = text.splitlines()[0].split("   ")[0]  # behind it: where it leads
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
    graph, type = (re.search(f"^{f} +(\\S.*?)(?:   |$)", text, re.M).group(1) for f in ("graph", "op"))
    own = own_lines(node, graph)
    lines = own or derived_lines(node, graph, type)
    line, how = made_at(text)
    right = line in lines
    count["lineless"] += not line
    count["own" if own else "derived"] += 1
    count["exact" if own else "rule"] += right
    if not (good and trees and right):
        wrong.append((name, graph, good, trees, f"line {line} {how}, not of", sorted(lines)))
print("%(nodes)d nodes that ran, edges of %(edges)d, trees of %(trees)d, lines: of %(own)d that "
      "were traced %(exact)d are right, of %(derived)d others %(rule)d, %(lineless)d without one"
      % count, "of", len(ran), "ops")
for each in wrong[:12]:
    print("  wrong:", *each)
good = count["nodes"] >= 100 and count["edges"] >= 0.95 * count["nodes"] and \
    count["trees"] >= 0.95 * count["nodes"] and \
    count["own"] >= 100 and count["exact"] == count["own"] and \
    count["rule"] >= 0.95 * count["derived"] and count["lineless"] <= 0.05 * len(ran)
sys.exit(not good)
