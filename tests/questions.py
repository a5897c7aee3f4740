#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a user asks of tftop, each answered from the first screen in six keys or one command.

questions.py TFTOP FOLDER: FOLDER has the recordings cpu, gpu, proc and cuda (questions.sh
makes them). What the screen must say is taken from the report of the same recording, made apart.
"""
import json
import os
import re
import subprocess
import sys

from suite import Suite, is_wanted

KEYS_MOST = 6
COMMAND_MOST = 40

tftop, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
environment = dict(os.environ, TERM="dumb", LC_ALL="C.UTF-8")
reports = {}


def report(name):
    """The report of a recording, by tftop --json."""
    if name not in reports:
        path = os.path.join(folder, name + ".json")
        subprocess.run([tftop, "--no-config", "--json=" + path, os.path.join(folder, name)],
                       check=True, env=environment, stdin=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            reports[name] = json.load(file)
    return reports[name]


def most(rows, key):
    return max(rows, key=lambda row: row.get(key, 0))


def count_keys(keys):
    return len(re.findall(r"<[^>]+>|.", keys))


def screen(name, asked):
    """What 160x48 shows after these keys, or this command (it begins with ':')."""
    script = os.path.join(folder, "script.tftop")
    saved = os.path.join(folder, "screen.txt")
    with open(script, "w", encoding="utf-8") as file:
        file.write("wait-settled 30s\n")
        if asked:
            file.write(asked[1:] if asked.startswith(":") else "key " + asked)
        file.write("\nsave-screen '%s'\n" % saved)
    opened = [os.path.join(folder, name)]
    done = subprocess.run([tftop, "--no-config", "--headless", "--size", "160x48", "--script",
                           script] + opened, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, cwd=os.path.join(folder, "source"))
    if done.returncode:
        sys.exit("not ok %s: exit status %d: %s" % (asked, done.returncode,
                                                    done.stdout + done.stderr))
    with open(saved, encoding="utf-8") as file:
        return file.read()


def op(r):
    return most(r["ops"], "device_ns")["name"]


def longest(r):
    return most(r["kernels"], "max_ns")["name"]


def slowest_step(r):
    series = r["steps"]["series_ns"]
    return series.index(max(series))


def line(r):
    row = most(r["lines"], "self_ns")
    return "%s.*:%d|%d.*%s" % (row["file"], row["line"], row["line"], row["file"])


def host_line(r):
    """The state, file and line for which devices waited longest."""
    row = most([row for device in r["devices"] for row in device["idle"]["host"]], "ns")
    return row["state"], os.path.basename(row["file"]), row["line"]


def path_line(r):
    """The state, file and line with most of the critical path that is the host's or input."""
    row = most(r["critical_path"]["host"], "ns")
    return row["state"], os.path.basename(row["file"]), row["line"]


def runs(r, name):
    return next(row["count"] for row in r["ops"] if row["name"] == name)


def copies(r, direction):
    return sum(row["count"] for row in r["copies"] if row["direction"] == direction)


def spaced(number):
    """1 234, as the screen has it."""
    return re.sub(r"(?<=\d)(?=(\d{3})+$)", " ", str(number))


# What is asked; on which recording; keys, or a command; what is to be seen, regular
# expressions that all must match, made of the report.
QUESTIONS = [
    ("which op costs most device time", "cpu", "1",
     lambda r: ["(?m)^▸" + re.escape(op(r)) + " .* %"]),
    ("where its kernels are on the timeline", "cpu", "1<Enter>]",
     lambda r: ["(?m)^ queue .* at .* op " + re.escape(op(r)) + " "]),
    ("why the device was idle before the longest one", "cuda", "2<Enter>i",
     lambda r: ["kernel +" + longest(r),
                # the program rests for 2 ms, longer on a busy machine
                r"idle +gpu0 did nothing for \S+ ms before it:.* host (?:[2-9]|\d\d)\S* ms"]),
    ("which step was slowest, what differed from the median one", "gpu", ":step slowest",
     lambda r: ["(?m)^.step %d$" % slowest_step(r), "the slowest of %d" % r["steps"]["count"],
                "compared with the median", r"(?m)^ +compute .*[+-]\S+ [mµn]s"]),
    ("what feeds op X and who waited for whom", "proc", ":li gradients/dense_0/MatMul",
     lambda r: [r"\(1\) gradients/dense_1/MatMul +\S+ ms ×%d" % runs(r, "gradients/dense_1/MatMul"),
                r"\(1\) model/dense_0/Relu +\S+ µs ×\d+", "waited for: from the end of this input"]),
    ("which source line costs most", "gpu", ":lp -s self",
     lambda r: [line(r)]),
    ("which copies are pageable", "cuda", ":lc -a pageable",
     lambda r: [r"(?m)^ +%d .* pageable .* d2h$" % copies(r, "d2h"),
                r"(?m)^ +%d .* 30 pageable .* h2d$" % copies(r, "h2d")]),
    ("how bandwidth compares with the best seen", "cuda", ":lc",
     lambda r: [r"(?m)GB/s +[\d.]+ GB/s +\d+ % .* h2d$"]),
    ("what grew in memory", "cuda", "5",
     lambda r: ["growth/step", r"(?m)^[▸▹]cuda device .* \+64\.0 KiB"]),
    ("what tftop itself costs", "cuda", "",
     lambda r: [r"(?m)^ tftop .* own time [≈<][\d.]+ %"]),
    ("steps, samples, time to go", "gpu", ":set steps-total = 1000",
     lambda r: ["step %d/1000" % (r["steps"]["count"] - 1)]),
    ("who synchronises with the device", "gpu", ":waits",
     lambda r: ["%s +%s +%s:%d " % (w["name"], w["op"], w["file"], w["line"])
                for w in r["waits"]]),
    ("at which line the device waits for the host", "host", ":pane host",
     lambda r: [r"(?m)^[▸▹]%s .*%s:%d " % host_line(r)]),
    ("who called that line, and what it waited for there", "host", ":stacks",
     lambda r: [r"(?m)^.most +\d+ % of .* train.py:\d+ › .*{1}:{2} › .*{0}".format(*host_line(r))]),
    ("what the host did on the critical path of the slowest step", "host", ":step slowest",
     lambda r: [r"(?s)\n waited for .*\n   input .*\n +{0} .*{1}:{2} ".format(*path_line(r))]),
    ("is this warm-up or steady", "gpu", "4",
     lambda r: [r"(?m)^ steady since step \d+ · [\d.]+ steps/s"]),
    ("what the program printed last", "gpu", "7",
     lambda r: ["step %d  loss" % r["steps"]["count"]]),
]


def tasks():
    """The questions of the page that leads to the answers."""
    script, page = os.path.join(folder, "script.tftop"), os.path.join(folder, "tasks.txt")
    with open(script, "w", encoding="utf-8") as file:
        file.write("wait-settled 30s\nhelp tasks > '%s'\nhelp tasks\nfollow-links 1\n" % page)
    done = subprocess.run([tftop, "--no-config", "--headless", "--script", script,
                           os.path.join(folder, "gpu")], env=environment, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          cwd=os.path.join(folder, "source"))
    if done.returncode:
        return [done.stdout + done.stderr]
    with open(page, encoding="utf-8") as file:
        return [re.split(r"  +", line.strip())[0] for line in file.read().splitlines()[1:-1]]


def main():
    suite = Suite()
    asked_for = [question for question, *_ in QUESTIONS]
    if is_wanted("help tasks"):
        if tasks() == asked_for:
            suite.ok("help tasks", "leads to all of them")
        else:
            suite.not_ok("help tasks", tasks())
    for question, name, asked, wanted in QUESTIONS:
        if not is_wanted(question):
            continue
        if asked.startswith(":"):
            short = len(asked) <= COMMAND_MOST
        else:
            short = count_keys(asked) <= KEYS_MOST
        shown = screen(name, asked)
        missing = [w for w in wanted(report(name))
                   if not re.search(w, shown)]
        if short and not missing:
            suite.ok(question, asked)
            continue
        suite.not_ok(question, "%s: %s\n%s" % (asked, "no '%s'" % missing[0] if missing else "too long",
                                               shown))
    return suite.end()


sys.exit(main())
