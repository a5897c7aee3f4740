#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""run.py [--tries N] [--only WORD] [--seed S] [--jobs N] [--write FILE]: faults around tftop.

Each fault is tried N times on programs that tftop launches and on programs that it attaches to
(-p). The program must end as it does without tftop (status, output, what it computed), tftop must
end and report what is missing, and nothing of tftop may be left 5 s later. The table goes to
stdout, or between the markers in FILE. Exit status 1 when something fell short.

Each try has its own mount namespace with its own /run and /dev/shm, which needs root. A try's
processes are recognised by a variable in their environment."""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

sys.dont_write_bytecode = True
from around import Failed, text_of, wait_for  # pylint: disable=wrong-import-position
from happen import HERE, O, Signal, faults, mount  # pylint: disable=wrong-import-position

TFTOP = O + "/tftop"
MARK = "TFTOP_FAULT_TEST"
PROGRAM_S = 120         # a program must have ended by then
CLEAN_S = 5             # nothing may be left after that
# Messages of every attach, with a fault or without: they are left out.
LATE = re.compile("attached late: |was in use before tftop attached")
AT_ONCE = Lock()        # held by faults that take much of the machine
AS_ALONE = "as without tftop"
BEGIN, END = "<!-- make faults: begin -->", "<!-- make faults: end -->"


# ---- one try ----

class Run:
    def __init__(self, fault, attached, number, seed):
        self.fault, self.attached, self.number = fault, attached, number
        self.random = random.Random(f"{seed} {fault.said} {attached} {number}")
        self.work = tempfile.mkdtemp(prefix="tftop-faults.")
        os.chmod(self.work, 0o777)
        self.mark = f"{os.getpid()}.{number}"
        self.tftop = self.started = None
        self.in_moment = False

    def path(self, name):
        return os.path.join(self.work, name)

    def marked(self):
        found = []
        for pid in os.listdir("/proc"):
            if pid.isdigit() and int(pid) != os.getpid():
                try:
                    with open(f"/proc/{pid}/environ", "rb") as file:
                        if f"{MARK}={self.mark}".encode() in file.read().split(b"\0"):
                            found.append(int(pid))
                except OSError:
                    pass
        return found

    def environment(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")}
        env.update({MARK: self.mark, "HOME": self.path("home"), "TMPDIR": self.path("tmp"),
                    "PYTHONDONTWRITEBYTECODE": "1", "POCL_CACHE_DIR": self.path("pocl")})
        for name in self.fault.unset:
            env.pop(name)
        return env

    def command(self, where):
        """Runs the program, with its status and output in files of the folder."""
        line = ('cd cwd; "$@" >../out 2>../err; s=$?; '
                'echo $s >../rc.new; mv ../rc.new ../rc; exit $s')
        return ["sh", "-c", line, "sh", *where.argv()]

    def start(self, argv, name, folder):
        with open(f"{folder}/{name}", "wb") as out:
            return subprocess.Popen(self.fault.wrap * (argv[0] != "nsenter") + argv, stdout=out,
                                    stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                    cwd=folder, env=self.environment(), start_new_session=True)

    def program_ended(self):
        return os.path.exists(self.path("rc"))

    def outcome(self, program):
        status = text_of(program.path("rc")).strip()
        return {"status": status, "computed": program.result(), "out": text_of(program.path("out")),
                "err": re.sub(r"\d+", "N", text_of(program.path("err")))}

    def alone(self):
        """Runs the program without tftop."""
        folder = self.path("alone")
        make_folders(folder)
        program = self.fault.program(folder, self.number)
        process = self.start(self.command(program), "said", folder)
        wait_for(PROGRAM_S, lambda: program.ready() or process.poll() is not None)
        program.drive(lambda: process.poll() is not None)
        process.wait(PROGRAM_S)
        return self.outcome(program)

    def launch(self, program):
        self.tftop = self.start([TFTOP, "--json=" + self.path("report"), "--debug",
                                 self.path("log"), *self.fault.options, "--",
                                 *self.command(program)], "said", self.work)
        if not wait_for(60, lambda: program.ready() or self.tftop.poll() is not None):
            raise Failed("the program does not start")

    def attach(self, program):
        self.started = self.start(self.command(program), "started", self.work)
        if not wait_for(60, program.ready):
            raise Failed("the program does not start")
        pid = next(p for p in self.marked() if self.is_program(p, program))
        self.in_moment = self.fault.before(self, program)
        inside = ["nsenter", "-m", "-t", str(pid), "--"] if "unshare" in self.fault.wrap else []
        self.tftop = self.start([*inside, TFTOP, "--json=" + self.path("report"), "--debug",
                                 self.path("log"), *self.fault.options, "-p", str(pid)],
                                "said", self.work)

    @staticmethod
    def is_program(pid, program):
        argv = [a for a in text_of(f"/proc/{pid}/cmdline").split("\0") if a]
        return argv == program.argv()

    def begun_or_over(self):
        return "PROGRAM is process" in text_of(self.path("log")) or self.tftop.poll() is not None

    def path_is_told(self):
        """tftop has reported that the daemons were replaced, or that tracing ended."""
        log = text_of(self.path("log"))
        return "daemons are back: events" in log or "tracing ended" in log or \
            self.tftop.poll() is not None

    def said(self):
        """tftop's messages, in one line."""
        report = text_of(self.path("report"))
        words = [l for l in text_of(self.path("said")).splitlines() if l.startswith("tftop:")]
        if report:
            report = json.loads(report)
            words = [m["text"] for m in report["messages"] if not LATE.search(m["text"])] + words
            if report["trust"]["lost_events"]:
                words.append("events lost")
            if not report["trust"]["settled"]:
                words.append("not settled")
        words = [w for w in words if w.removeprefix("tftop: ") == w or
                 w.removeprefix("tftop: ") not in words]
        words = words or (["complete report"] if report else ["nothing"])
        line = re.sub(r" \(Failed to establish[^)]*\)", "", "; ".join(dict.fromkeys(words)))
        line = re.sub(r"/(run|tmp)/tftop[^ ']*", "DIR", line.replace(self.work, "DIR"))
        line = re.sub(r"between [\d.]+ \w+ and [\d.]+ \w+ of", "between T and T of", line)
        return re.sub(r"\b(?!125)\d{3,}\b|(?<=with error: )\d+", "N", line)

    def left(self):
        """Processes and files of the try that exist now."""
        found = [text_of(f"/proc/{p}/comm").strip() for p in self.marked()]
        for folder in ("/run", "/dev/shm", self.path("tmp"), self.path("home"), self.path("cwd")):
            if os.path.isdir(folder):
                # LTTng's wait page, by which programs learn of a daemon, stays by its design
                found += [os.path.join(folder, n) for n in os.listdir(folder)
                          if n != "fill" and not n.startswith("lttng-ust-wait-8")]
        return found

    def go(self):
        make_folders(self.work)
        self.fault.prepare(self)
        alone = self.alone()
        home = set(self.left())         # made by the program itself
        program = self.fault.program(self.work, self.number)
        begin = self.attach if self.attached else self.launch
        begin(program)
        watching = isinstance(self.fault, Signal) and self.fault.names != ["tftop"]
        watching = watching or self.in_moment
        if self.attached and not watching and not wait_for(60, self.begun_or_over):
            raise Failed("tftop -p neither attaches nor ends")
        self.fault.happen(self)
        program.drive(self.program_ended)
        if not wait_for(PROGRAM_S, self.program_ended):
            raise Failed("the program does not end")
        ended = time.monotonic()
        self.fault.after(self)
        harm = self.harm(alone, self.outcome(program))
        try:
            status = self.tftop.wait(60)
        except subprocess.TimeoutExpired:
            raise Failed("tftop does not end") from None
        late = time.monotonic() - ended
        harm = harm or self.wrong_status(status, alone["status"])
        if self.started:
            self.started.wait()
        wait_for(CLEAN_S, lambda: not set(self.left()) - home)
        return {"program": harm or AS_ALONE, "alone": alone["status"], "said": self.said(),
                "left": sorted(set(self.left()) - home), "harm": bool(harm), "late": late,
                "status": status}

    def wrong_status(self, status, alone):
        """tftop returns the program's status, -p its own; 125 where its messages say why."""
        killed = isinstance(self.fault, Signal) and self.fault.names == ["tftop"] and \
            self.fault.number == signal.SIGKILL
        words = self.said()
        right = -signal.SIGKILL if killed else 0 if self.attached else int(alone)
        if self.fault.failing and self.fault.failing in words:
            right = 125
        if status == right and (killed or words != "nothing"):
            return ""
        if self.attached and status == 125 and words.startswith("tftop: "):
            return ""
        return f"tftop's status: {status}, not {right}"

    @staticmethod
    def harm(alone, got):
        return "; ".join(f"{what}: {str(got[what])[-60:]!r}, not {str(alone[what])[-60:]!r}"
                         for what in alone if alone[what] != got[what])

    def end(self):
        for pid in self.marked():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        for process in (self.tftop, self.started):
            if process:
                process.wait()
        if not os.environ.get("KEEP"):
            for folder in ("home", "small"):
                subprocess.run(["umount", self.path(folder)], stderr=subprocess.DEVNULL,
                               check=False)
            shutil.rmtree(self.work, ignore_errors=True)


def make_folders(folder):
    for name in ("", "cwd", "home", "tmp"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        os.chmod(os.path.join(folder, name), 0o777)


def one_try(index, attached, number, seed):
    """One try, in its own mount namespace: prints the result as JSON."""
    mount("-t", "tmpfs", "-o", "mode=755", "none", "/run")
    mount("-t", "tmpfs", "-o", "mode=1777", "none", "/dev/shm")
    run = Run(faults()[index], attached, number, seed)
    try:
        result = run.go()
    except (Failed, subprocess.TimeoutExpired) as error:
        result = {"program": str(error), "said": run.said(), "left": [], "harm": True, "late": 0,
                  "status": None}
    finally:
        run.end()
    result["work"] = run.work
    print(json.dumps(result))


# ---- all of them ----

def in_namespace(index, attached, number, seed):
    command = ["unshare", "-m", "--propagation", "private", sys.executable, __file__, "--one",
               f"{index},{int(attached)},{number},{seed}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"program": "the test: " + (done.stderr.strip().splitlines() or ["no output"])[-1],
                "said": "", "left": [], "harm": True, "late": 0, "status": None}


def at_once(*what):
    with AT_ONCE:
        return in_namespace(*what)


def several(values):
    """The different results of the tries, the most frequent first."""
    counts = {v: values.count(v) for v in values}
    if len(counts) == 1:
        return values[0]
    return "<br>".join(f"{n}×: {v}" for v, n in sorted(counts.items(), key=lambda x: -x[1]))


def short(text, limit=360):
    text = text.replace("|", "\\|").replace("\n", " ")
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"


def row(fault, how, results):
    late = max(r["late"] for r in results)
    left = sorted({w for r in results for w in r["left"]})
    statuses = ", ".join(sorted({r.get("alone", "") for r in results} - {""}, key=int))
    program = short(several([r["program"] for r in results]))
    program = program.replace(AS_ALONE, f"{AS_ALONE} ({statuses})")
    return (f"| {fault.said} | {how} | {len(results)} | {program} | "
            f"{several([short(r['said']) for r in results])} | {late:.1f} | "
            f"{', '.join(left) or 'nothing'} |")


def write(path, lines):
    text = text_of(path)
    if BEGIN not in text or END not in text:
        sys.exit(f"run.py: '{path}' lacks the lines '{BEGIN}' and '{END}'")
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "\n".join([BEGIN, *lines, END]) + tail)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=random.randrange(1000000))
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--write")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        index, attached, number, seed = map(int, options.one.split(","))
        return one_try(index, bool(attached), number, seed)
    if os.getuid() != 0:
        sys.exit("run.py needs root: each try has its own mount namespace")
    if "FAULTS_PYTORCH" not in os.environ:
        found = subprocess.run([HERE + "/tests/venv.sh", "pytorch"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, cwd=HERE, check=False)
        os.environ["FAULTS_PYTORCH"] = found.stdout.strip() if found.returncode == 0 else ""
    attaches = os.path.exists(O + "/lib/libtftop-attach.so")
    cases = [(i, f, a) for i, f in enumerate(faults()) if options.only in f.said
             for a in (False, True) if not a or attaches]
    print(f"seed {options.seed}", file=sys.stderr)
    rows, bad = [], 0
    with ThreadPoolExecutor(options.jobs) as pool:
        tries = {(i, a): [pool.submit(at_once if f.single else in_namespace, i, a, n, options.seed)
                          for n in range(options.tries)] for i, f, a in cases}
        for i, fault, attached in cases:
            results = [t.result() for t in tries[i, attached]]
            rows.append(row(fault, "`-p`" if attached else "launch", results))
            bad += sum(r["harm"] or bool(r["left"]) for r in results)
            print(rows[-1], file=sys.stderr, flush=True)
    lines = ["| fault | how | tries | the program ended | tftop reported | "
             "tftop ended at most s after the program | left 5 s later |",
             "|---|---|---|---|---|---|---|", *rows]
    if options.write:
        write(options.write, lines)
    else:
        print("\n".join(lines))
    print(f"{len(rows)} rows, {bad} tries fell short", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
