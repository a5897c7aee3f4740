#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A figure that stands in two places is the same in both.

agree.py TFTOP FOLDER RECORDING...: opens each recording with the report as text and as JSON, all
tables as CSV, and the screens of SCREENS, and compares what they say of one thing. docs/analyses.md
defines the words.
"""
import csv
import json
import os
import re
import subprocess
import sys

from suite import Suite, is_wanted

tftop, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
environment = dict(os.environ, TERM="dumb", LC_ALL="C.UTF-8")
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
TIME = r"-?[\d .]*\d (?:ns|µs|ms|s)\b"
TABLES = ("ops", "kernels", "copies", "steps", "memory", "counters", "findings", "calls",
          "devices", "queues", "edges", "processes", "host")
STEP_PARTS = ("compute", "comm", "input", "copies", "launch", "sync", "compile", "host", "other")
# findings whose title has the cost as a share; that of others is of something else
SHARE_IS_COST = ("input-bound", "launch-bound", "sync-bound", "framework-overhead", "settings",
                 "host-wait", "gil-wait", "gc-time", "import-time", "no-processor", "stopped", "compile-wait",
                 "page-faults", "tensor-print", "checkpoint", "logging")
# name of the screen: what is typed before it is saved
SCREENS = {
    "first": "", "ops": "pane ops", "kernels": "pane kernels", "copies": "pane copies",
    "steps": "pane steps", "memory": "pane memory", "findings": "pane findings", "run": "ri",
    "slowest": "step slowest", "queues": "queues", "host": "pane host", "output": "pane output",
    "longest": "fit all\npane kernels\nkey <Home><Enter>i", "small": "resize 59x11",
}


class Views:
    """One recording, as it is shown everywhere."""

    def __init__(self, recording):
        self.name = os.path.basename(recording.rstrip("/"))
        self.path = os.path.join(folder, "agree-" + self.name)
        os.makedirs(self.path)
        # what the report has no name for is not asked of it
        script = ["wait-settled 60s"]
        for name, typed in SCREENS.items():
            script += [typed] if typed else []
            script.append("save-screen '%s'" % self.file(name + ".txt"))
        with open(self.file("script"), "w", encoding="utf-8") as file:
            file.write("\n".join(script) + "\n")
        self.ask("--json=" + self.file("json"), recording)
        self.text = self.ask("-b", recording)
        self.ask(*[word for table in TABLES for word in
                   ("--export", "csv:%s:%s" % (table, self.file(table + ".csv")))], recording)
        self.ask("--headless", "--size", "200x60", "--script", self.file("script"), recording)
        with open(self.file("json"), encoding="utf-8") as file:
            self.json = json.load(file)

    def file(self, name):
        return os.path.join(self.path, name)

    def ask(self, *words):
        done = subprocess.run([tftop, "--no-config", *words], env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode:
            sys.exit("not ok %s: exit status %d: %s" % (words, done.returncode,
                                                        done.stdout + done.stderr))
        return done.stdout + done.stderr

    def csv(self, table):
        with open(self.file(table + ".csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def screen(self, name):
        with open(self.file(name + ".txt"), encoding="utf-8") as file:
            return file.read()


class Differs(Exception):
    pass


def ns(text):
    """The nanoseconds of "1.23 ms", and how much the last digit is worth."""
    number, unit = text.rsplit(" ", 1)
    number = number.replace(" ", "")
    digits = len(number.split(".")[1]) if "." in number else 0
    return float(number) * UNITS[unit], 10 ** -digits * UNITS[unit]


def clock(text):
    """The nanoseconds of "0:01:02.3", and how much the last digit is worth."""
    hours, minutes, seconds = text.split(":")
    return (int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1e9, 1e8


def found(pattern, text, where):
    match = re.search(pattern, text)
    if not match:
        raise Differs("no '%s' in %s" % (pattern, where))
    return match.group(1)


def same(what, shown, exact):
    """Both a pair of a value and what its last digit is worth, or an exact number."""
    shown, exact = [v if isinstance(v, tuple) else (v, 0) for v in (shown, exact)]
    if abs(shown[0] - exact[0]) > (shown[1] + exact[1]) * 0.501:
        raise Differs("%s: %s, and %s elsewhere" % (what, shown[0], exact[0]))


def unbroken(text):
    """Without frames, bars and line ends: what a sentence is broken into is one again."""
    return re.sub(r"\s+", " ", text)


def share_of(text):
    """A share as it is shown, and how much its last digit is worth."""
    return float(text), 0.1 if "." in text else 1


def part(text):
    """The first time of "19.2 ms", "19.2 of 50.1 ms" and "3.2 ms of 1.1 s"."""
    words = text.split(" of ")
    words = words[0].split() + (words[1].split()[-1:] if len(words) > 1 else [])
    return ns(" ".join(words[:2]))


def cost_of(finding):
    return finding.get("cost_ns_per_step", finding.get("cost_ns_per_second"))


def duration_of_the_run(v):
    """Header, report, ri, JSON; where only the events are known, the header has their time."""
    if "wall_ns" not in v.json["run"]:
        return
    wall = v.json["run"]["wall_ns"]
    same("header", clock(found(r"(\d+:\d\d:\d\d\.\d)", v.screen("first"), "the header")), wall)
    same("report", ns(found(r"^tftop .*?   (%s)" % TIME, v.text, "the report")), wall)
    same("ri", ns(found(r"ran for (%s)" % TIME, v.screen("run"), "ri")), wall)


def rate_of_steps(v):
    steps = v.json.get("steps", {})
    if steps.get("period_ns", 0) <= 0:
        return
    rate = (1e9 / steps["period_ns"] - 0.05, 0.1)      # cut after the first decimal
    shown = [found(r" ([\d.]+)/s ", v.screen("first"), "the header"),
             found(r"· ([\d.]+) (?:steps|passes)/s", v.screen("steps"), "pane 4"),
             found(r"(?m)^  [\d ]+ (?:steps|passes) .* ([\d.]+)/s", v.text, "the report")]
    for text in shown:
        same("steps per second", float(text), rate)


def median_of_steps(v):
    """One median in pane 4, on the page of a step, in the report and in JSON."""
    p50 = v.json.get("steps", {}).get("p50_ns", 0)
    if p50 <= 0:
        return
    same("pane 4", ns(found(r"p50 (%s)" % TIME, v.screen("steps"), "pane 4")), p50)
    same("the page", ns(found(r"the median \(p50\) of (%s)" % TIME, v.screen("slowest"),
                              "the step's page")), p50)
    same("the report", ns(found(r"(?m)^  [\d ]+ (?:steps|passes) .* p50 (%s)" % TIME, v.text,
                                "the report")), p50)


def costs_of_findings(v):
    """The share in a title is that of the cost; report, pane, header and CSV have the same cost."""
    findings = v.json.get("findings", [])
    rows = v.csv("findings")
    if len(rows) != len(findings):
        raise Differs("%d findings in CSV, %d in JSON" % (len(rows), len(findings)))
    pane, report = unbroken(v.screen("findings")), unbroken(v.text)
    for finding, row in zip(findings, rows):
        per_step = "cost_ns_per_step" in finding
        cost = finding["cost_ns_per_step" if per_step else "cost_ns_per_second"]
        where = finding["id"]
        same(where + " in CSV", float(row["cost"]), cost)
        share = re.search(r" ([\d.]+) % of (?:each|the) (?:step|pass|time)", finding["title"])
        if share and where in SHARE_IS_COST:
            same(where + "'s share", share_of(share.group(1)), 100 * cost / finding["of_ns"])
        if not cost:
            continue
        title = re.escape(finding["title"][:30])
        for text, name in ((report, "the report"), (pane, "pane 6")):
            shown = found(r"%s[^!]*? costs ((?:%s|[\d.]+ of %s))" % (title, TIME, TIME), text, name)
            same("%s in %s" % (where, name), part(shown), cost)
            if " of " in shown:
                same("%s in %s, the whole" % (where, name), ns(shown.split(" of ")[1]),
                     finding["of_ns"])
    if findings and cost_of(findings[0]):
        first = found(r"(?m)^ [!·] .*\((\S.*?)\)(?: +\+\d+ more: 6)?$", v.screen("first"),
                      "the header")
        same("header", part(first), cost_of(findings[0]))


def moments_and_parts_of_steps(v):
    """CSV has the zero of the screen, and the parts of a step in CSV are those of pane 4."""
    steps = {row["step"]: row for row in v.csv("steps")}
    shown = re.findall(r"(?m)^[▸▹ ] +(\d+) +(%s) +(%s) " % (TIME, TIME), v.screen("steps"))
    if bool(steps) != bool(shown):
        raise Differs("%d steps in CSV, %d in pane 4" % (len(steps), len(shown)))
    for number, start, duration in shown:
        row = steps[number]
        moment, digit = ns(start)                      # cut, not rounded
        same("start of step " + number, (moment + digit / 2, digit), float(row["start"]))
        same("duration of step " + number, ns(duration), float(row["duration"]))
    titles = v.screen("steps")
    titles = [line for line in titles.splitlines() if re.match(r" +(?:step|pass) ", line)]
    for number, *_ in shown:
        line = found(r"(?m)^([▸▹ ] +%s .*)$" % number, v.screen("steps"), "pane 4")
        for key in ("input", "launch", "sync", "host", "other", "compile"):
            right = titles[0].index(" " + key) + 1 + len(key)
            cell = re.search(r"(\S+) %$", line[right - 8:right])
            if cell and not cell.group(1).startswith("<"):
                same("%s of step %s" % (key, number), share_of(cell.group(1)),
                     100 * float(steps[number][key]) / float(steps[number]["duration"]))
    for number, row in steps.items():
        parts = [int(row[key]) for key in STEP_PARTS if row[key]]
        if parts and row["launch"]:
            same("parts of step " + number, sum(parts), float(row["duration"]))


def longest_run_of_the_costliest_kernel(v):
    """What Enter selects in pane 2, in a window of the whole run."""
    match = re.search(r"here +(%s) +of .*? max (%s)" % (TIME, TIME), v.screen("longest"))
    if match and "not finished" not in v.screen("longest"):
        same("the run that Enter selects", ns(match.group(1)), ns(match.group(2)))


def words_of_the_critical_path(v):
    """The path and the classes of a step have no word in common where their times differ."""
    line = re.search(r"(?m)^  critical path .*$", v.text)
    if line:
        both = set(re.findall(r"[a-z]+(?: [a-z]+)*(?= [\d.<]+ %)", line.group(0)))
        if both & {"launch", "host", "sync"}:
            raise Differs("the report's path has %s" % sorted(both & {"launch", "host", "sync"}))


def host_of_the_critical_path(v):
    """What the host did on the path is at most the path's time, and in the text as in JSON."""
    path = v.json.get("critical_path", {})
    rows, whole = path.get("host", []), path.get("whole_ns", 0)
    told = {}
    for row in rows:
        told[row["kind"]] = told.get(row["kind"], 0) + row["ns"]
    for kind, sum_ns in told.items():
        if not 0 < sum_ns <= path["ns"][kind]:
            raise Differs("%s: %d of %d" % (kind, sum_ns, path["ns"][kind]))
    text = re.search(r"(?m)^  critical path .*\n((?:    .*\n)*)", v.text)
    shown = re.findall(r"(?m)^    (?:[a-z ]+ is)? +([\d.]+) %  (.*)$", text.group(1) if text else "")
    for row in rows if text else []:
        where = row["state"]
        if "file" in row:
            where += " at %s:%d in %s" % (os.path.basename(row["file"]), row["line"],
                                          row["function"])
        # behind a comma stands what for, cut where there is no room
        what = row.get("what", "")[:12]
        share = [share for share, words in shown
                 if words.startswith(where + ", ") and what and what in words or
                 words == where and not what]
        if row["ns"] * 200 >= whole and len(rows) <= 6:
            if not share:
                raise Differs("the report's path has no '%s'" % where)
            same("'%s' on the path" % where, share_of(share[0]), 100 * row["ns"] / whole)
    if v.name == "host" and not rows:
        raise Differs("nothing is known of the host")


def peaks_of_memory(v):
    shares = re.findall(r" ([\d.]+) %  +[\d<]\S* % ", v.screen("memory"))
    shares = [float(share) for share in shares]
    if shares and max(shares) != 100:
        raise Differs("pane 5: the largest allocator is %s %% of the largest" % max(shares))
    rows = {(row["allocator"], row["device"]): row for row in v.csv("memory")}
    for pool in v.json.get("memory", []):
        row = rows[pool["allocator"], str(pool.get("device", ""))]
        if "peak_at_ns" in pool:
            same(pool["allocator"] + ", peak", float(row["peak-at"]), pool["peak_at_ns"])
        same(pool["allocator"] + ", live", float(row["live"]), pool["live_bytes"])


def names_of_queues(v):
    """One name for a queue in the report, pane 3 and CSV; CSV has the delay that its page has."""
    queues = {row["queue"]: row for row in v.csv("queues")}
    shown = set()
    for row in v.csv("copies"):
        if row["queue"]:
            queue = queues[row["queue"]]
            shown.add(queue["name"] or "queue " + queue["number"])
    for name in shown:
        found(r"(?m)^  (?:h2d|d2h|d2d|p2p|fill|map|unmap)\b.* (%s) " % re.escape(name), v.text,
              "the report's copies")
        found(r"(%s)" % re.escape(name), v.screen("copies"), "pane 3")
    for queue in v.json["queues"]:
        launch = queue.get("launch", {})
        if "delay_p50_ns" in launch and not queues[str(queue["id"])]["delay-p50"]:
            raise Differs("queue %d has a delay in JSON and none in CSV" % queue["id"])


def waits_for_lines(v):
    """What devices waited for, by state and line, in CSV and in the report: all of it together is no
    more than their idle time of the causes host and input, and no less than what the report's
    devices say. Both are cut to the idle time where looks stand for their moments: the report by
    device and cause, CSV by thread. So a single row may differ by a part of them."""
    told, waited, seen, idle = {}, {}, {}, 0
    for device in v.json["devices"]:
        causes = device.get("idle", {})
        idle += causes.get("host_ns", 0) + causes.get("input_ns", 0)
        for row in causes.get("host", []):
            key = row["state"], row.get("file", ""), str(row.get("line", "")), row.get("what", "")
            told[key] = told.get(key, 0) + row["ns"]
    rows = v.csv("host")
    for row in rows:
        key = row["state"], row["file"], row["line"], row["what"]
        waited[key] = waited.get(key, 0) + int(row["waited"])
        seen[key] = seen.get(key, 0) + int(row["total"]) * len(v.json["devices"])
    most = sum(waited.values())
    if not sum(told.values()) - len(told) <= most <= idle:
        raise Differs("waited %d, of %d in which the devices were idle; the report has %d" % (
            most, idle, sum(told.values())))
    for key in told.keys() | waited.keys():
        if not told.get(key, 0) - most / 20 <= waited.get(key, 0) <= seen.get(key, 0):
            raise Differs("%s: waited %s of %s, the report %s" % (
                key, waited.get(key), seen.get(key), told.get(key)))
    if not rows:
        found("(no thread was looked at)", v.screen("host"), "pane 9")
    elif len(rows) > 1 and sum(waited.values()):
        shown = found(r"(?m)^ %d rows +(%s)" % (len(rows), TIME), v.screen("host"), "pane 9")
        same("pane 9, sum", ns(shown), sum(waited.values()))


def nothing_more_is_to_come(v):
    """Of a recording, nothing says that it goes on."""
    for name in ("output", "small"):
        again = re.search(r"has printed nothing yet|goes on", v.screen(name))
        if again:
            raise Differs("'%s': %s" % (name, again.group(0)))
    if "findings" in v.json and not v.json["findings"]:
        found(r"(?m)^findings\n  (none)", v.text, "the report")


CASES = [duration_of_the_run, rate_of_steps, median_of_steps, costs_of_findings,
         moments_and_parts_of_steps, longest_run_of_the_costliest_kernel,
         words_of_the_critical_path, host_of_the_critical_path, peaks_of_memory, names_of_queues,
         waits_for_lines, nothing_more_is_to_come]


def main():
    suite = Suite()
    for recording in sys.argv[3:]:
        cases = {"%s, %s" % (os.path.basename(recording.rstrip("/")),
                             case.__name__.replace("_", " ")): case for case in CASES}
        cases = {name: case for name, case in cases.items() if is_wanted(name)}
        views = Views(recording) if cases else None
        for name, case in cases.items():
            try:
                case(views)
                suite.ok(name)
            except Differs as why:
                suite.not_ok(name, why)
    return suite.end()


sys.exit(main())
