# SPDX-License-Identifier: MIT
"""Where the steps of tests/gpu/run put their figures, and how they start programs: bare and
under tftop, each with a limit and in a process group that ends with it."""
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
CUPTI = "13.0/libcupti.so.13"	# among the doubles


class TimeUp(BaseException):
    """Of a step; past what catches mistakes."""


class NotMeasured(Exception):
    """Why there is no figure."""


class Result:
    """Of one program: its status, what it said, tftop's report of it (None: there is none)."""

    def __init__(self, status, out, err, report=None):
        self.status, self.out, self.err, self.report = status, out, err, report

    def why(self):
        lines = [line for line in self.err.splitlines() if line.strip()]
        return "status %s%s" % (self.status, ": " + lines[-1][:160] if lines else "")


class Bench:
    def __init__(self, options):
        self.rehearsal = bool(options.rehearse)
        self.doubles = os.path.realpath(options.rehearse) if options.rehearse else None
        # a libcupti is looked for where real ones are
        self.more = {"TFTOP_CUPTI": os.path.join(self.doubles, CUPTI)} if self.rehearsal else {}
        self.python = options.python
        self.out = os.path.abspath(options.out)
        os.makedirs(self.out, exist_ok=True)
        self.work = tempfile.mkdtemp(prefix="tftop-gpu.")
        os.chmod(self.work, 0o755)
        self.reports = os.path.join(self.work, "reports")
        self.buffers = os.path.join(self.work, "buffers")
        for folder in (self.reports, self.buffers):
            os.mkdir(folder)
        self.log = open(os.path.join(self.out, "log.txt"), "w", encoding="utf-8",
                        errors="replace")
        self.figures, self.steps, self.step, self.number = [], [], "", 0
        self.running, self.others = None, []
        self.machine = {}
        self._find_tftop(options.root)

    # ---- what there is ----

    def _find_tftop(self, root):
        self.environment = dict(os.environ, LC_ALL="C", PYTHONDONTWRITEBYTECODE="1")
        if not root:
            self.root = os.path.abspath(os.environ.get("O", os.path.join(TREE, "build")))
            self.tftop = os.path.join(self.root, "tftop")
            return
        if not os.path.isdir(root):
            folder = os.path.join(self.work, "bundle")
            with tarfile.open(root) as bundle:
                if hasattr(tarfile, "data_filter"):
                    bundle.extractall(folder, filter="tar")
                else:
                    bundle.extractall(folder)
            root = os.path.join(folder, os.listdir(folder)[0])
        self.root = os.path.abspath(root)
        self.tftop = os.path.join(self.root, "tftop")

    def need_tftop(self):
        if not os.access(self.tftop, os.X_OK):
            raise NotMeasured("there is no '%s'" % self.tftop)

    # ---- figures ----

    def begin(self, name, most):
        self.step, self.ends = name, time.monotonic() + most
        print("== %s" % name, file=self.log, flush=True)
        print(name, end=" ", flush=True, file=sys.stderr)

    def end(self, seconds):
        self.stop()
        self.steps.append({"name": self.step, "s": round(seconds, 1)})
        print("%.1f s" % seconds, flush=True, file=sys.stderr)

    def figure(self, name, value, unit, bar=None, ok=None, note=""):
        """bar: in words, for who reads; ok: None where there is none. A rehearsal has no
        figures."""
        if self.rehearsal:
            ok = None
            note = ", ".join(n for n in (note, "rehearsed, no figure") if n)
        self.figures.append({"step": self.step, "name": name, "value": value, "unit": unit,
                             "bar": bar, "ok": ok, "note": note})

    def fact(self, name, value):
        self.figures.append({"step": self.step, "name": name, "value": value, "unit": "",
                             "bar": None, "ok": None, "note": ""})

    def check(self, name, ok, note=""):
        self.figures.append({"step": self.step, "name": name, "value": bool(ok), "unit": "",
                             "bar": "right", "ok": bool(ok), "note": note})

    def missing(self, name, why):
        self.figures.append({"step": self.step, "name": name, "value": None, "unit": "",
                             "bar": None, "ok": None, "note": why})

    # ---- programs ----

    def for_program(self, more=None):
        """Its environment, without what is only for tftop's own."""
        environment = dict(os.environ, LC_ALL="C", PYTHONDONTWRITEBYTECODE="1")
        doubles = [self.doubles, os.path.join(self.doubles, "cudart")] if self.rehearsal else []
        paths = [p for p in (*doubles, environment.get("LD_LIBRARY_PATH")) if p]
        if paths:
            environment["LD_LIBRARY_PATH"] = ":".join(paths)
        environment.update(self.more)
        environment.update(more or {})
        return environment

    def stop(self):
        """Ends what is still running, if anything is."""
        if self.running and self.running.poll() is None:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()
        self.running = None
        for process in self.others:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.others = []

    def start(self, command, environment):
        self.running = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        return self.running

    def run_beside(self, command, limit=20):
        """Beside what runs already: tftop's own, short."""
        return subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=limit, check=False)

    def execute(self, command, environment, limit):
        process = self.start(command, environment)
        limit = max(1, min(limit, self.ends - time.monotonic()))
        try:
            out, err = process.communicate(timeout=limit)
            result = Result(process.returncode, out, err)
        except subprocess.TimeoutExpired:
            self.stop()
            out, err = process.communicate()
            result = Result(124, out, err + "\nended after %d s" % limit)
        self.running = None
        print("-- %s\nstatus %s\n%s%s" % (" ".join(command), result.status, result.out,
                                          result.err), file=self.log, flush=True)
        return result

    def bare(self, command, limit=60, more=None):
        return self.execute(command, self.for_program(more), limit)

    def watched_command(self, command, options=(), more=None):
        """tftop's, and the environment for it: the program's own is given to the program alone,
        by env(1), so that it sees no library of tftop's."""
        inside, outside = self.for_program(more), dict(self.environment)
        given = ["%s=%s" % (k, v) for k, v in inside.items()
                 if outside.get(k) != v and (k in {**self.more, **(more or {})} or
                                             k == "LD_LIBRARY_PATH")]
        taken = [a for k in outside if k not in inside for a in ("-u", k)]
        if given or taken:
            command = ["env"] + taken + given + list(command)
        return [self.tftop, *options, "--", *command], outside

    def watch(self, command, name, options=(), limit=60, more=None):
        """Under tftop; name: of its report among those that are kept."""
        self.need_tftop()
        self.number += 1
        path = os.path.join(self.reports, "%02d-%s.json" % (self.number, name))
        command, environment = self.watched_command(
            command, ["--json=" + path, *options], more)
        result = self.execute(command, environment, limit)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                result.report = json.load(file)
        return result

    # ---- the end ----

    def bad(self):
        return [f for f in self.figures if f["ok"] is False]

    def write(self):
        """What is known so far."""
        report = {"rehearsal": self.rehearsal, "host": platform.platform(),
                  "unix_s": int(time.time()), "machine": self.machine, "steps": self.steps,
                  "figures": self.figures}
        with open(os.path.join(self.out, "report.json"), "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")
        with open(os.path.join(self.out, "report.txt"), "w", encoding="utf-8") as file:
            file.write(self.as_text())

    def finish(self):
        """Returns the exit status."""
        for folder in (self.reports, self.buffers):
            if os.listdir(folder):
                with tarfile.open(os.path.join(self.out, os.path.basename(folder) + ".tar.xz"),
                                  "w:xz", preset=3) as tar:
                    tar.add(folder, os.path.basename(folder))
        print(self.as_text(), end="", flush=True)
        return 1 if self.bad() else 0

    def as_text(self):
        bad, missing = self.bad(), [f for f in self.figures if f["value"] is None]
        lines = ["tests/gpu/run, %s" % time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())]
        if self.rehearsal:
            lines.append("REHEARSAL over doubles: nothing here ran on a GPU, no figure counts")
        for step in self.steps:
            lines += ["", "%s (%.1f s)" % (step["name"], step["s"])]
            for f in (f for f in self.figures if f["step"] == step["name"]):
                lines.append(self.line(f))
        rated = sum(f["ok"] is not None for f in self.figures)
        lines += ["", "%d figures, %d of %d checks right, %d not measured" %
                  (len(self.figures), rated - len(bad), rated, len(missing)), ""]
        return "\n".join(lines)

    @staticmethod
    def line(f):
        value = f["value"]
        if value is None:
            shown = "not measured"
        elif isinstance(value, bool):
            shown = "right" if value else "WRONG"
        elif isinstance(value, float):
            shown = "%.4g %s" % (value, f["unit"])
        else:
            shown = "%s %s" % (value, f["unit"])
        more = "  bar %s: %s" % (f["bar"], {True: "met", False: "MISSED", None: "-"}[f["ok"]]) \
            if f["bar"] and f["bar"] != "right" else ""
        return "  %-44s %s%s%s" % (f["name"], shown.strip(), more,
                                   "  (%s)" % f["note"] if f["note"] else "")

    def close(self):
        self.stop()
        self.log.close()
        shutil.rmtree(self.work, ignore_errors=True)
