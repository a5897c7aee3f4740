# SPDX-License-Identifier: MIT
"""dot_compare.py FILE [TRUTH REPORT]: FILE is dot by its grammar (what of it tftop
writes, read strictly: graphviz.org/doc/info/lang.html), each node in one cluster, each
edge between nodes that are there. With what tests/programs/tf_graph.py knows: each op
that ran is a node with what it takes, its type and its line, and waits are on edges.
"""
import collections
import json
import re
import sys

TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([A-Za-z_][A-Za-z0-9_]*|-?\d+(?:\.\d+)?)|(->|[{}\[\]=;,]))')


def tokens(text):
    at = 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            sys.exit(f"no token at byte {at}: {text[at:at + 40]!r}")
        at = match.end()
        quoted, word, mark = match.groups()
        yield ("name", re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), quoted[1:-1])) if quoted else \
            ("name", word) if word else ("mark", mark)


class Parser:
    def __init__(self, text):
        self.left = collections.deque(tokens(text))
        self.nodes, self.edges, self.clusters = {}, [], []

    def take(self, kind, value=None):
        found = self.left.popleft() if self.left else (None, None)
        if found[0] != kind or (value and found[1] != value):
            sys.exit(f"{value or kind} wanted, not {found[1]!r} before {list(self.left)[:5]}")
        return found[1]

    def attributes(self):
        said = {}
        while self.left[0] == ("mark", "["):
            self.take("mark")
            while self.left[0] != ("mark", "]"):
                key = self.take("name")
                self.take("mark", "=")
                said[key] = self.take("name")
                if self.left[0] == ("mark", ","):
                    self.take("mark")
            self.take("mark")
        return said

    def statements(self, inside):
        self.take("mark", "{")
        while self.left[0] != ("mark", "}"):
            name = self.take("name")
            if name == "subgraph":
                self.clusters.append(self.take("name"))
                self.statements(inside + [self.clusters[-1]])
                continue
            if self.left[0] == ("mark", "="):
                self.take("mark")
                self.take("name")
            elif self.left[0] == ("mark", "->"):
                self.take("mark")
                self.edges.append((name, self.take("name"), self.attributes()))
            elif name in ("node", "edge", "graph"):
                self.attributes()
            elif name in self.nodes:
                sys.exit(f"the node {name} twice")
            else:
                self.nodes[name] = self.attributes() | {"in": inside}
            self.take("mark", ";")
        self.take("mark", "}")

    def graph(self):
        self.take("name", "digraph")
        self.take("name")
        self.statements([])
        if self.left:
            sys.exit(f"more behind the graph: {list(self.left)[:5]}")
        if len(set(self.clusters)) != len(self.clusters):
            sys.exit("two clusters of one name")
        lost = [e for e in self.edges if re.fullmatch(r"n\d+", e[0]) and not {e[0], e[1]} <= set(self.nodes)]
        if lost:
            sys.exit(f"edges of nodes that are not there: {lost[:3]}")
        return self


def main():
    dot = Parser(open(sys.argv[1], encoding="utf-8").read()).graph()
    if len(sys.argv) < 3:
        print(f"{len(dot.nodes)} nodes, {len(dot.edges)} edges, {len(dot.clusters)} clusters")
        return
    truth, report = (json.load(open(path)) for path in sys.argv[2:4])
    label = {name: said["label"].split("\n") for name, said in dot.nodes.items()}
    takes = collections.defaultdict(list)
    for source, target, _ in dot.edges:
        takes[target].append(label[source][0])
    by_name = collections.defaultdict(list)
    for name, lines in label.items():
        if any(re.match(r"\d+x ", line) for line in lines):
            by_name[lines[0]].append((lines[1], sorted(takes[name])))
    ops = sorted({o["name"] for o in report["ops"] if o.get("framework") == "tensorflow" and
                  o["name"] in truth["nodes"]})
    wrong = [name for name in ops if not any(
        (n["type"], sorted(i.lstrip("^") for i in n["inputs"])) in by_name[name] for n in truth["nodes"][name])]
    lines = sum(any(line.startswith("tf_graph.py:") for line in said) for said in label.values())
    waits = sum("waits " in attributes.get("label", "") for _, _, attributes in dot.edges)
    print(f"{len(ops)} ops, {len(wrong)} without their node and inputs {wrong[:3]}, {lines} lines, {waits} waits, "
          f"{len(dot.clusters)} clusters")
    sys.exit(len(ops) < 100 or len(wrong) > len(ops) // 20 or lines < 60 or waits < 50 or
             not all(len(said["in"]) == 2 for said in dot.nodes.values()))


main()
