# SPDX-License-Identifier: MIT
"""What tftop says that the host did while a device waited, against what the program says of itself.

host_compare.py shares REPORT SAID PROGRAM: host_waits.py printed SAID
host_compare.py states REPORT SAID PROGRAM: the same without how long it took
host_compare.py crowded REPORT SAID PROGRAM: it had no processor for a third of its time
host_compare.py limited REPORT SAID PROGRAM: a limit had stopped it, as its cgroup says
host_compare.py lines REPORT PROGRAM...: only that each line lies within its function
host_compare.py functions REPORT SAID: host_functions printed SAID, or host_waits.py of native code
host_compare.py calls STACKS SAID COMMAND: COMMAND ran host_calls, which printed SAID
host_compare.py none REPORT: there must be nothing
host_compare.py tasks STACKS SAID: host_tasks.py printed SAID
host_compare.py stacks STACKS PROGRAM...: that each caller calls its callee at its line
Prints what is wrong; exit status 1 if anything is. It is to be run by the Python that ran the
program.
"""
import ast
import ctypes
import json
import os
import platform
import re
import struct
import sys

NEAR = 0.03     # of the run
LIBRARY = (" in libcrypto.so.3", "libcrypto.so.3", " in libcrypto.so.1.1", "libcrypto.so.1.1")
# a function of its own; a list only before Python 3.12
BRACKETS = {ast.GeneratorExp: "<genexpr>", ast.ListComp: "<listcomp>"}
GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
QUALIFIED = sys.version_info >= (3, 11)     # before, a function is known by its own name only
STATE = {"sleep": "sleep", "pipe": "pipe", "lock": "lock", "child": "child", "gc": "GC",
         "import": "import", "stopped": "stopped"}


def shown(name):
    """A qualified name as tftop has it."""
    return name if QUALIFIED else name.split(".")[-1]


def rows_of(report):
    return [row for device in json.load(open(report))["devices"]
            for row in device.get("idle", {}).get("host", [])]


def ranges(path):
    """{(file, name): [(first line, last)]}"""
    found = {}

    def walk(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
                name = prefix + getattr(child, "name", "<lambda>")
                found.setdefault((os.path.basename(path), shown(name)), []).append(
                    (child.lineno, child.end_lineno))
                inner = "." if isinstance(child, ast.ClassDef) else ".<locals>."
                walk(child, name + inner)
            elif type(child) in BRACKETS:
                name = prefix + BRACKETS[type(child)]
                found.setdefault((os.path.basename(path), shown(name)), []).append(
                    (child.lineno, child.end_lineno))
                walk(child, name + ".<locals>.")
            else:
                walk(child, prefix)

    with open(path) as file:
        text = file.read()
    walk(ast.parse(text), "")
    found[os.path.basename(path), "<module>"] = [(1, text.count("\n"))]
    return found


def check_lines(rows, programs):
    """Where no function of the program's is on the stack, as at its end, a library's is named."""
    known = {}
    libraries = {row["file"] for row in rows if os.path.isfile(row.get("file", ""))}
    for path in sorted(libraries) + programs:
        known.update(ranges(path))
    wrong = []
    for row in rows:
        if "file" not in row or row["file"].startswith("<frozen "):
            continue
        at = known.get((os.path.basename(row["file"]), row["function"]))
        if at is None:
            wrong.append(f"no such function: {row}")
        elif row["line"] and not any(first <= row["line"] <= last for first, last in at):
            wrong.append(f"outside of its function: {row}")
    if not any("file" in row for row in rows):
        wrong.append(f"no lines at all: {rows}")
    return wrong


def held_in(row, function):
    """Whether the row says that the lock was held in a function of host_waits.py, at its line."""
    match = re.fullmatch(r"host_waits.py:(\d+) in (.*)", row.get("what", ""))
    path = os.path.join(os.path.dirname(__file__), "../programs/host_waits.py")
    name = shown(function)
    return match and match[2] == name and any(
        first <= int(match[1]) <= last for first, last in ranges(path)["host_waits.py", name])


def functions_are_told():
    """Whether the system lets a process ask where its threads are, and no sandbox does not."""
    if platform.machine() != "x86_64":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    event = ctypes.create_string_buffer(
        struct.pack("IIQQQQQI", 1, 128, 1, 20000, 1, 0, 0x61, 1).ljust(128, b"\0"))
    got = -1 if libc.prctl(21, 0, 0, 0, 0) else libc.syscall(298, event, 0, -1, -1, 8)
    if got >= 0:
        os.close(got)
    return got >= 0


def check_functions(rows, said):
    """A look that was not answered in time names no function, so that less is known than was."""
    wrong = [] if said["right"] else ["its result is wrong"]
    if not functions_are_told():
        return wrong
    for name in ("tokenize", "decode") if "tokenize" in said else ():
        mine = sum(row["ns"] for row in rows if row["state"] == "native" and
                   row.get("what") == f"{name} in host_functions")
        if not 0 < mine < said[name] + NEAR * said["run_ns"]:
            wrong.append(f"{name}: {mine / 1e9:.2f} s, the program says "
                         f"{said[name] / 1e9:.2f}: {rows}")
    if "phases" in said and not any(row["state"] == "native" and
                                    row.get("line") in said["phases"][0]["lines"] and
                                    row.get("what", "").endswith(LIBRARY) for row in rows):
        wrong.append(f"the library below the line is not told: {rows}")
    return wrong


def lines_rows(rows, phase):
    """What was seen at the lines of a phase; a process that is stopped is at none."""
    if phase["phase"] == "stopped":
        return [row for row in rows if row["state"] == "stopped"]
    return [row for row in rows if row.get("line") in phase["lines"]]


def check_states(rows, said):
    wrong = []
    for phase in said["phases"]:
        mine = lines_rows(rows, phase)
        state = STATE.get(phase["phase"])
        total = sum(row["ns"] for row in mine)
        # a thread that woke up may wait for a processor on the same line; an import makes garbage
        also = ("no CPU", "GC") if state == "import" else ("no CPU",)
        if not mine or (state and sum(row["ns"] for row in mine
                                      if row["state"] in (state, *also)) < total * 0.75):
            wrong.append(f"{phase['phase']}: {mine}")
        by = {state: sum(row["ns"] for row in mine if row["state"] == state)
              for state in ("Python", "native")}
        if phase["phase"] == "python" and by["Python"] < by["native"]:
            wrong.append(f"Python was taken for native code: {by}")
        if phase["phase"] == "native" and by["native"] < by["Python"]:
            wrong.append(f"native code was taken for Python: {by}")
        if phase["phase"] == "gil" and not GIL:
            waits = [row for row in rows if row["state"] == "GIL"]
            wrong += [f"there is no GIL to wait for: {waits}"] if waits else []
        elif phase["phase"] == "gil" and not any(
                row["state"] == "GIL" and held_in(row, "Phases.beside_gil") for row in rows):
            wrong.append(f"no wait for the GIL that another thread held: {rows}")
    return wrong


def check_shares(rows, said):
    wrong = check_states(rows, said)
    for phase in said["phases"]:
        mine = lines_rows(rows, phase)
        total = sum(row["ns"] for row in mine)
        if abs(total - phase["ns"]) > NEAR * said["run_ns"]:
            wrong.append(f"{phase['phase']}: {total / 1e9:.2f} s, the program says "
                         f"{phase['ns'] / 1e9:.2f} of {said['run_ns'] / 1e9:.2f}: {mine}")
    return wrong


def check_limited(report, rows, said):
    """As one thread computes all the time, it was stopped for as long as the group was; and it had no
    processor for as long as the kernel counts, by the larger of its two counts: what the group was
    stopped for can be more than what the thread waited for."""
    wrong = []
    said = dict(said, lacked_ns=max(said["lacked_ns"], said["throttled_ns"]))
    for states, key in (("throttled",), "throttled_ns"), (("throttled", "no CPU"), "lacked_ns"):
        told = sum(row["ns"] for row in rows if row["state"] in states)
        if not 0.7 * said[key] < told < 1.1 * said[key]:
            wrong.append(f"{states}: {told} ns in {said}: {rows}")
    # where others want the processors, too, the limit is reached for a part of the time only
    of_limit = said["throttled_ns"] / said["lacked_ns"]
    words = [(" is throttled", "cpu.max")] * (of_limit > 0.4) + \
        [(" waits for a processor", "others")] * (of_limit < 0.6)
    if not [f for f in report["findings"] if f["id"] == "no-processor" and
            any(f["title"].endswith(title) and advice in "\n".join([*f["lines"], f["advice"]])
                for title, advice in words)]:
        wrong.append(f"no finding with {words}: {report['findings']}")
    if not said["throttled_ns"]:
        wrong.append(f"the limit did not work: {said}")
    if not any(counter["name"] == "throttled" for counter in report["counters"]):
        wrong.append("no counter")
    return wrong


def calls_of(path):
    """{(file, line): names that are called there}; "" for what has no name there"""
    calls = {}
    with open(path) as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        name = ""
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        elif type(node) in BRACKETS:
            name = BRACKETS[type(node)]
        elif not isinstance(node, (ast.For, ast.YieldFrom)):
            continue            # these call a generator that was made before
        for line in range(node.lineno, getattr(node, "end_lineno", node.lineno) + 1):
            calls.setdefault((os.path.basename(path), line), set()).add(name)
    return calls


def check_stacks(stacks, programs):
    """A generator may be run by any of the names that take one."""
    known, calls, wrong, links, whole, all_ns = {}, {}, [], 0, 0, 0
    for path in programs:
        known.update(ranges(path))
        calls.update(calls_of(path))
    generators = {"numbers", "<genexpr>"}
    for text in open(stacks):
        stack, ns = text.rsplit(" ", 1)
        frames = stack.split(";")[1:-1]
        all_ns += int(ns)
        whole += int(ns) if frames and "[unknown]" not in frames else 0
        places = []
        for frame in frames:
            match = re.fullmatch(r"(.*) \((.*?)(?::(\d+))?\)", frame)
            places.append((match[1], match[2], int(match[3] or 0)) if match else None)
        for place in places:
            at = place and known.get((place[1], place[0]))
            if at and place[2] and not any(a <= place[2] <= b for a, b in at):
                wrong.append(f"outside of its function: {place}")
        for caller, callee in zip(places, places[1:]):
            if not caller or not callee or (caller[1], caller[2]) not in calls or \
                    (callee[1], callee[0]) not in known:
                continue
            links += 1
            name, there = callee[0].split(".")[-1], calls[caller[1], caller[2]]
            if name == "__init__":      # of what class, only a qualified name tells
                name = callee[0].split(".")[-2] if QUALIFIED else min(there)
            if name not in there and not (name in generators and there) and "" not in there:
                wrong.append(f"{caller} does not call {callee}, but {there}")
    if not links or whole < all_ns / 2:
        wrong.append(f"{links} callers, whole {whole / 1e9:.2f} of {all_ns / 1e9:.2f} s")
    return wrong


def check_calls(stacks, said, command):
    """Each function below those that called it, and these below what main() calls last, or a line
    of Python. A look that was not answered in time, or during which the thread went on, names no
    function: it may have been of any of them."""
    wrong = [] if said["right"] else ["its result is wrong"]
    ns, held, untold = {"compute": 0, "take": 0, "enter": 0}, 0, 0
    for text in open(stacks):
        stack, time_ns = text.rsplit(" ", 1)
        # compilers add to the names of copies of a function
        frames = [re.sub(r"(\.\w+)* \(.*\)$", "", frame) for frame in stack.split(";")[1:-1]]
        if not any("(calls.so)" in frame or "(host_calls)" in frame for frame in stack.split(";")):
            untold += int(time_ns)
        for name in set(frames) & set(ns):
            at = frames.index(name)
            begin = "<module>" if command.startswith("python") else "host_calls"
            if frames[at - 2:at] != ["host_calls", "serve"] or frames[0] != begin:
                wrong.append(f"{name} is called by {frames[:at]}")
            ns[name] += int(time_ns)
            if name == "enter" and re.search(r";\[lock thread \d+ keeper\]$", stack):
                held += int(time_ns)
    if held < ns["enter"] / 2:
        wrong.append(f"the holder of the lock is told for {held / 1e9:.2f} s of "
                     f"{ns['enter'] / 1e9:.2f}")
    asked = functions_are_told() and "without" not in command
    for name in ns:
        near = NEAR * said["run_ns"]
        least = said[name] / 2 if name != "compute" else 0 if asked else -1
        if not least < ns[name] < said[name] + near or ns[name] + untold < said[name] - near:
            wrong.append(f"{name}: {ns[name] / 1e9:.2f} s, the program says "
                         f"{said[name] / 1e9:.2f}")
    return wrong


def check_tasks(stacks, said):
    """Each task stands between the event loop and its own function, for about as long as that ran:
    where a phase begins and ends, the time between two looks is not divided exactly."""
    wrong = [] if said["right"] else ["its result is wrong"]
    of = {function: name for name, (function, _) in said["tasks"].items()}
    ns, bare = dict.fromkeys(said["tasks"], 0), 0
    for text in open(stacks):
        stack, time_ns = text.rsplit(" ", 1)
        whole = stack.split(";")[1:-1]
        frames = [re.sub(r" \(.*\)$", "", frame) for frame in whole]
        tasks = [at for at, frame in enumerate(whole) if frame.endswith(" (asyncio)")]
        function = next((frame for frame in frames if frame in of), None)
        if len(tasks) > 1:
            wrong.append(f"two tasks: {stack}")
        elif tasks:
            before, name, after = frames[tasks[0] - 1:tasks[0] + 2]
            if not before.endswith(shown("Handle._run")) or \
                    name != "task " + of.get(after, "nobody's"):
                wrong.append(f"{name} between {before} and {after}")
        if not function or "[unknown]" in whole:
            continue
        ns[of[function]] += int(time_ns)
        if not tasks and of[function] not in ("", "callback"):
            bare += int(time_ns)
    for name, (_, own_ns) in said["tasks"].items():
        if own_ns and not own_ns / 2 < ns[name] < own_ns * 2:
            wrong.append(f"{name}: {ns[name] / 1e9:.2f} s, the program says {own_ns / 1e9:.2f} of "
                         f"{said['run_ns'] / 1e9:.2f}")
    # a look has no task where that went on while the sampler was held up by other programs, and one
    # look may stand for a second then
    if bare > sum(ns.values()) / 4:
        wrong.append(f"without its task {bare / 1e9:.2f} s of {said['run_ns'] / 1e9:.2f}")
    return wrong


def main():
    what, report, *rest = sys.argv[1:]
    if what == "stacks":
        wrong = check_stacks(report, rest)
        print("\n".join(wrong), end="")
        return 1 if wrong else 0
    if what == "tasks":
        wrong = check_tasks(report, json.load(open(rest[0])))
        print("\n".join(wrong), end="")
        return 1 if wrong else 0
    if what == "calls":
        wrong = check_calls(report, json.load(open(rest[0])), rest[1])
        print("\n".join(wrong), end="")
        return 1 if wrong else 0
    rows = rows_of(report)
    if what == "none":
        wrong = [f"there is {rows}"] if rows else []
    elif what == "functions":
        wrong = check_functions(rows, json.load(open(rest[0])))
    elif what == "lines":
        wrong = check_lines(rows, rest)
    else:
        said = json.loads(open(rest[0]).readline())
        wrong = check_lines(rows, rest[1:])
        if what in ("shares", "states"):
            wrong += (check_shares if what == "shares" else check_states)(rows, said)
        lacked = sum(row["ns"] for row in rows if row["state"] == "no CPU")
        if what == "crowded" and lacked < said["run_ns"] / 3:
            wrong.append(f"without processor only {lacked} of {said['run_ns']} ns: {rows}")
        if what == "limited":
            wrong += check_limited(json.load(open(report)), rows, said)
        if not said["right"]:
            wrong.append("its result is wrong")
    print("\n".join(wrong), end="")
    return 1 if wrong else 0


sys.exit(main())
