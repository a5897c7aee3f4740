# SPDX-License-Identifier: MIT
"""harmless.py DIR: what security.sh's hostile program left in its files there.

No byte in them may do something to whoever shows, parses or opens them; and the names
are still to be told apart."""
import csv, json, os, re, sys, unicodedata

folder = sys.argv[1]


def fail(text):
    sys.exit(ascii(text)[:300])


def check_text(name, text, lines=True):
    for c in text:
        if unicodedata.category(c) in ("Cc", "Cs") and not (lines and c == "\n") or c in "\u202e\u2066\u2028":
            fail(f"{name}: {c!r} in {text[max(0, text.find(c) - 40):][:80]!r}")


def strings(tree):
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield key
            yield from strings(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from strings(value)


def no_constant(text):
    fail(f"JSON: {text}")


for name in sorted(os.listdir(folder)):
    with open(os.path.join(folder, name), "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        fail(f"{name}: {error}")
    if not text:
        fail(f"{name}: empty")
    if len(text) > 4 << 20:
        fail(f"{name}: {len(text)} bytes")
    check_text(name, text.replace("\r\n", "\n"))
    if name.endswith(".json"):
        tree = json.loads(text, parse_constant=no_constant)
        if name == "report.json":
            del tree["run"]     # the arguments as they were, escaped
        for string in strings(tree):
            check_text(name, string, lines=False)
    if name.endswith(".csv"):
        rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
        if len(rows) < 2 or len({len(row) for row in rows}) != 1:
            fail(f"{name}: not a table: {[len(row) for row in rows]}")
        for row in rows:
            for value in row:
                if value[:1] in "=+-@" and not re.fullmatch(r"-?[0-9]*", value):
                    fail(f"{name}: a formula: {value!r}")

with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
    report = json.load(file)
found = " ".join(r["name"] for r in report["ranges"])
for part in ("cleared", "bell", "reversed", "two lines", '"quoted", \\and\\', "=cmd|", "%s%n%1000000d", "LLLL"):
    if part not in found:
        fail(f"no {part!r} in {found!r}")
if not all(r["count"] == 50 for r in report["ranges"]):
    fail(f"counts: {[(r['name'][:20], r['count']) for r in report['ranges']]}")
