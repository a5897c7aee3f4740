# SPDX-License-Identifier: MIT
"""What a CUDA program did against tftop's JSON report of it, by cuda_compare.py TRUTH REPORT or
compare(truth, report).

A truth has the form of the report (tests/doubles/cuda/truth.c, tests/gpu/truth.h): every number of
it must be in the report, and what the report lists must be in it. What it leaves out (a table, a
key of a row) is not compared; rows that are about the same are added up. Kernels go by their raw
names, streams by their queues' names.
"""
import argparse
import json
import sys


def raw(row):
    return row["raw_name"] if "raw_name" in row else row["name"]


def plain(row):
    """A call's name as people write it, without its version."""
    name = row["name"]
    for end in ("_ptsz", "_ptds", "_v2"):
        name = name.removesuffix(end)
    return name


class Comparison:
    def __init__(self, truth, report, times=True, slack=0):
        self.truth, self.report = truth, report
        self.times, self.slack = times, slack
        self.equal, self.wrong = 0, []
        self.devices = {d["id"]: d for d in report.get("devices", []) if d.get("api") == "cuda"}
        self.queues = {q["id"]: q for q in report.get("queues", [])
                       if q["device"] in self.devices}
        self.addresses = [d.get("address") for d in truth.get("devices", [])]

    def same(self, what, want, got, slack=0):
        if got is not None and abs(got - want) <= slack:
            self.equal += 1
        else:
            self.wrong.append("%s is %s, reported %s" %
                              (what, want, "nothing" if got is None else got))

    @staticmethod
    def add_up(rows, key, values):
        sums = {}
        for row in rows:
            to = sums.setdefault(key(row), {})
            for value in values:
                if value not in row:
                    continue
                if value not in to:
                    to[value] = row[value]
                elif value in ("min_ns", "max_ns"):
                    to[value] = (min if value == "min_ns" else max)(to[value], row[value])
                else:
                    to[value] += row[value]
        return sums

    def table(self, what, want, got, only_there=True):
        for key in sorted(want, key=str):
            name = "%s %s" % (what, " ".join(str(k) for k in key if k is not None))
            if key not in got:
                self.wrong.append("%s is not in the report" % name)
                continue
            for value, number in want[key].items():
                time = value.endswith("_ns")
                commands = 1 if value in ("min_ns", "max_ns") else want[key].get("count", 1)
                if self.times or not time:
                    self.same("%s: %s" % (name, value), number, got[key].get(value),
                              self.slack * commands if time else 0)
        for key in sorted(set(got) - set(want), key=str) if only_there else ():
            self.wrong.append("%s %s is in the report only" %
                              (what, " ".join(str(k) for k in key if k is not None)))

    def device(self, row):
        """The truth's number of a device of the report: by address, else in their order."""
        device = self.devices[row["device"]]
        if device.get("address") in self.addresses:
            return self.addresses.index(device["address"])
        return sorted(self.devices).index(row["device"])

    def mine(self, table):
        """Rows of the report on CUDA devices; the truth's; how their devices are told apart."""
        want = self.truth[table]
        by_device = all("device" in row for row in want)
        got = [r for r in self.report.get(table, [])
               if r.get("device") in self.devices and r["count"]]
        return want, got, lambda r: r["device"] if by_device else None, \
            lambda r: self.device(r) if by_device else None

    def kernels(self):
        want, got, of_truth, of_report = self.mine("kernels")
        values = ("count", "total_ns", "min_ns", "max_ns")
        self.table("kernel", self.add_up(want, lambda k: (raw(k), of_truth(k)), values),
                   self.add_up(got, lambda k: (raw(k), of_report(k)), values))
        self.parts("ops", want, got, lambda op: op.get("name", "none"))
        for kernel in got:
            for op in kernel.get("ops", []):
                if op.get("how", "exact") != "exact" and "name" in op:
                    self.wrong.append("kernel %s of op %s is attributed by %s" %
                                      (raw(kernel), op.get("name", "none"), op["how"]))
        self.parts("by_queue", want, got, lambda q: q["queue_name"] if "queue_name" in q else
                   self.queues.get(q["queue"], {}).get("name", "%d" % q["queue"]))

    def parts(self, key, want, got, name):
        if not any(key in k for k in want):
            return
        known = {raw(k) for k in want if key in k}
        of_one = [[(raw(k), part) for k in rows if raw(k) in known for part in k.get(key, [])]
                  for rows in (want, got)]
        sums = [self.add_up([dict(part, kernel=kernel) for kernel, part in rows],
                            lambda p: (p["kernel"], name(p)), ("count", "total_ns"))
                for rows in of_one]
        self.table("kernel in op" if key == "ops" else "kernel on", *sums)

    def copies(self):
        want, got, of_truth, of_report = self.mine("copies")
        values = ("count", "bytes", "total_ns")
        self.table("copies", self.add_up(want, lambda c: (c["direction"], of_truth(c)), values),
                   self.add_up(got, lambda c: (c["direction"], of_report(c)), values))

    def ops(self):
        values = ("count", "kernels", "copies", "copy_bytes")
        rows = self.report["ops"] + self.report.get("ranges", [])
        got = self.add_up(rows, lambda op: (op["name"],), values)
        for sums in got.values():
            for value in values:
                sums.setdefault(value, 0)
        want = self.add_up(self.truth["ops"], lambda op: (op["name"],), values)
        self.table("op", want, got, only_there=False)
        if all("kernels" in sums and "copies" in sums for sums in want.values()):
            found = self.report["trust"]["attribution"]
            self.same("commands attributed exactly",
                      sum(s["kernels"] + s["copies"] for s in want.values()), found["exact"])
            for how in ("event", "fifo", "guess"):
                self.same("commands attributed by %s" % how, 0, found[how])

    def memory(self):
        values = ["allocations", "frees", "live_bytes", "peak_bytes"]
        got = [m for m in self.report.get("memory", []) if m["allocator"].startswith("cuda ")]
        if len({m.get("device") for m in got}) > 1:	# each has a peak of its own
            values.pop()
        self.table("memory", self.add_up(self.truth["memory"], lambda m: (m["allocator"],), values),
                   self.add_up(got, lambda m: (m["allocator"],), values))

    def calls(self, table, values):
        got = [c for c in self.report.get(table, []) if plain(c).startswith("cu")]
        self.table(table[:-1] + " in", self.add_up(self.truth[table], lambda c: (plain(c),), values),
                   self.add_up(got, lambda c: (plain(c),), values), only_there=table == "waits")

    def all(self):
        if "kernels" in self.truth:
            self.kernels()
        for name in ("copies", "ops", "memory"):
            if name in self.truth:
                getattr(self, name)()
        if "waits" in self.truth:
            self.calls("waits", ("count",))
        if "calls" in self.truth:
            self.calls("calls", ("count", "errors"))
        if "failed" in self.truth.get("cuda", {}):
            self.same("launches that failed", self.truth["cuda"]["failed"],
                      sum(k.get("failed", 0) for k in self.report["kernels"]))
        if "compiles" in self.truth.get("cuda", {}):
            self.same("compiled and loaded", self.truth["cuda"]["compiles"],
                      sum(c["count"] for c in self.report.get("compiles", [])
                          if c["what"].startswith("CUDA:")))
        self.same("lost events", 0, self.report["trust"]["lost_events"])

    def dropped(self):
        """CUPTI dropped records: so many commands are missing at most, each is counted once,
        and a message says so."""
        lost = self.truth["cuda"]["dropped"]
        want, got = (sum(row["count"] for name in ("kernels", "copies") for row in of[name])
                     for of in (self.truth, self.report))
        if lost and want - lost <= got < want:
            self.equal += 1
        else:
            self.wrong.append("%d commands, %d dropped records, reported %d" % (want, lost, got))
        self.same("records that were dropped", lost, self.report["trust"].get("dropped", 0))
        if not any("dropped" in m["text"] for m in self.report.get("messages", [])):
            self.wrong.append("no message says that records were dropped")


def compare(truth, report, times=True, slack=0):
    """How many numbers are equal, and what differs, a line each."""
    c = Comparison(truth, report, times, slack)
    c.all()
    return c.equal, c.wrong


def main():
    parser = argparse.ArgumentParser(description="Status 0 equal, 1 different, 2 bad input.")
    parser.add_argument("--no-times", action="store_true", help="only what is counted")
    parser.add_argument("--slack", type=int, default=0, metavar="NS",
                        help="how far off a command's time may be")
    parser.add_argument("--dropped", action="store_true",
                        help="only that what is missing was dropped by CUPTI, and is said")
    parser.add_argument("truth")
    parser.add_argument("report")
    args = parser.parse_args()
    try:
        truth, report = (json.load(open(path)) for path in (args.truth, args.report))
    except (OSError, ValueError) as error:
        print(error)
        return 2
    c = Comparison(truth, report, not args.no_times, args.slack)
    (c.dropped if args.dropped else c.all)()
    for line in c.wrong[:20]:
        print(line)
    if len(c.wrong) > 20:
        print("and %d more" % (len(c.wrong) - 20))
    if not c.wrong:
        print("%d numbers are equal" % c.equal)
    return 1 if c.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
