#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""soak.py [--minutes N] [--attaches N [--only WORD]] [--seed S]: tftop attaches again and again.

Programs of every kind run side by side and check themselves. At random moments tftop attaches to
them, detaches, is killed, and launches them. After each round the programs must still run, nothing
of tftop may be left, and its report must be complete. The memory, descriptors and threads of the
programs, and of a tftop that stays attached, must not grow with the rounds: a line is fitted.

--attaches N: instead, attaches N times, to one program at a time, and prints a table of what each
attach costs. Exit status 1 when something fell short. It needs root: it has its own /run and
/dev/shm, in a mount namespace."""
import argparse
import collections
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from soak_programs import END_S, HERE, MARK, O, kinds, takes  # pylint: disable=wrong-import-position
from around import Failed, text_of, wait_for  # pylint: disable=wrong-import-position
from suite import Suite  # pylint: disable=wrong-import-position

TFTOP = O + "/tftop"
CLEAN_S = 20            # until nothing of a tftop may be left, beside other suites
WATCHED = 3             # attaches that see something of a program, before it is at random
WARM = 8                # attaches before what a program takes is held against anything
# What a program may grow by with each attach: tftop's lines in its environment stay.
GROWTH_BYTES = 24 << 10
SWING_BYTES = 2 << 20           # of allocators, in all
STAYS_LIMIT, STAYS_BYTES = "32M", 96 << 20      # its model's memory, and what all of it may be
FIRST_MS, STOPPED_MS, STOPPED_MOST_MS = 1000, 2, 50

# ---- tftop ----

class Tftop:
    def __init__(self, work, options, mark=str(os.getpid())):
        self.folder = tempfile.mkdtemp(dir=work)
        self.report, self.log = self.folder + "/report", self.folder + "/log"
        json_of = [] if "--headless" in options else ["--json=" + self.report]
        with open(self.folder + "/said", "wb") as out:
            self.process = subprocess.Popen(
                [TFTOP, "--debug", self.log, *json_of, *options], stdout=out,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                env=dict(os.environ, **{MARK: mark}))

    def is_there(self):
        return "PROGRAM is process" in text_of(self.log) or self.process.poll() is not None

    def wait(self):
        try:
            return self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            raise Failed("tftop does not end") from None

    def words(self):
        return text_of(self.folder + "/said")[-300:].strip()

    def whole(self):
        """The report, when there is nothing wrong with it."""
        try:
            report = json.loads(text_of(self.report))
        except ValueError:
            raise Failed(f"no report: {self.words()!r}") from None
        bad = [m["text"] for m in report["messages"] if m.get("level") in (2, "error")]
        if report["trust"]["lost_events"] or bad:
            raise Failed(f"the report: {report['trust']['lost_events']} events lost, {bad}")
        return report

    def moment(self, what):
        """ms after its start that its log has of this."""
        found = re.search(rf"^ *([0-9.]+) {what}", text_of(self.log), re.M)
        return float(found.group(1)) * 1000 if found else None


def ours():
    """Processes of tftop's that this program has begun."""
    found = []
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if f"{MARK}={os.getpid()}".encode() in file.read().split(b"\0"):
                        found.append((int(pid), text_of(f"/proc/{pid}/comm").strip()))
            except OSError:
                pass
    return found


def left():
    # mount's own list; LTTng's word by which programs hear of a daemon: meant to stay
    return {name for _, name in ours()} | {n for n in os.listdir("/run") if n != "mount"} | \
        {n for n in os.listdir("/dev/shm") if not n.startswith("lttng-ust-wait-8")}


def clean(before=frozenset()):
    if not wait_for(CLEAN_S, lambda: not left() - before):
        raise Failed(f"left behind after {CLEAN_S} s: {', '.join(sorted(left() - before))}")


# ---- so many attaches, one program at a time ----

def rise(values):
    """What is added each time, as what swings is no growth: the later half against the earlier."""
    half = len(values) // 2
    if half < 2:
        return 0.0
    whole = statistics.median(values[-half:]) - statistics.median(values[:half])
    return whole / (len(values) - half)


def growth(label, taken, warm=WARM):
    """Of what it took after each attach; raises where that grows."""
    late = taken[warm:]
    bytes_, files, threads = (rise([t[i] for t in late]) for i in range(3))
    if bytes_ > max(GROWTH_BYTES, SWING_BYTES / max(len(late), 1)) or \
            max(files, threads) > max(0.05, 4 / max(len(late), 1)):
        raise Failed(f"{label}: it grows by {bytes_ / 1024:.1f} KiB, {files:.2f} descriptors and "
                     f"{threads:.2f} threads with each of {len(late)} attaches: "
                     f"{late[0]} to {late[-1]}")
    return bytes_


def middle(values, most=False):
    values = [v for v in values if v is not None]
    return f"{max(values) if most else statistics.median(values):.1f}" if values else "–"


Attach = collections.namedtuple("Attach", "first stopped end")


def watch(work, program):
    """A tftop that comes, sees the program's first event, where it has any, and ends."""
    what = ["--until", program.until] if program.until else []
    tftop = Tftop(work, ["-b", *what, "-p", str(program.pid)])
    if not what and not wait_for(END_S, tftop.is_there):
        raise Failed(f"tftop neither attaches nor ends: {tftop.words()!r}")
    if not what:
        tftop.process.terminate()
    status = tftop.wait()
    ended = time.monotonic()
    if program.ended():
        raise Failed(f"the program has ended: {program.process.returncode}")
    if status:
        raise Failed(f"tftop's status is {status}: {tftop.words()!r}")
    return tftop, ended


def attach_once(work, program):
    tftop, ended = watch(work, program)
    stopped = tftop.whole()["run"].get("stopped_ns", 0) / 1e6
    clean()
    first = tftop.moment("tracing stopped" if program.until else "PROGRAM is process")
    return Attach(first, stopped, (time.monotonic() - ended) * 1000)


def attach_kind(work, kind, tries):
    kind(work).finish()         # alone, for what it computes
    program, good, taken, bad = kind(work), [], [], []
    try:
        for _ in range(tries):
            try:
                good.append(attach_once(work, program))
            except Failed as error:
                bad.append(str(error))
                print(f"{kind.label}: {error}", file=sys.stderr, flush=True)
            if program.ended():
                break
            taken.append(takes(program.pid))
        grows = growth(kind.label, taken)
        program.finish()
    except Failed as error:
        bad.append(str(error))
        grows = rise([t[0] for t in taken[WARM:]])
        print(error, file=sys.stderr, flush=True)
    finally:
        if not program.ended():
            program.process.kill()
            program.process.wait()
    first, stopped = [g.first for g in good], [g.stopped for g in good]
    if good and (statistics.median(first) > FIRST_MS or statistics.median(stopped) > STOPPED_MS or
                 max(stopped) > STOPPED_MOST_MS):
        bad.append(f"{kind.label}: slower than it may be")
    print(f"| {kind.label} | {tries} | {len(good)} | {middle(first)} | {middle(first, True)} | "
          f"{middle(stopped)} | {middle(stopped, True)} | {middle([g.end for g in good])} | "
          f"{grows / 1024:.1f} | {'unchanged' if not bad else '; '.join(sorted(set(bad)))[:200]} |",
          flush=True)
    return not bad


def attaches(work, number, only):
    print("| program | tries | whole | first event, ms | at most | stopped, ms | at most | "
          "cleared away after, ms | grows by, KiB | result |\n" + "|---" * 10 + "|", flush=True)
    every = [kind for kind in kinds() if only in kind.label]
    if not every:
        sys.exit(f"soak.py: no program has '{only}' in its name: " +
                 ", ".join(kind.label for kind in kinds()))
    return all([attach_kind(work, kind, max(number // len(every), 1)) for kind in every])


# ---- at random ----

class Soak:
    """Programs that run on, a tftop that stays at one of them, and what happens around."""

    def __init__(self, work, rng):
        self.work, self.rng = work, rng
        self.programs, self.busy, self.there = [], [], []
        self.counts = collections.Counter()
        every = kinds()
        # one that has events, where there is one, and before others want the processors
        self.last = stayed = every.pop()(work)
        self.stays = Tftop(work, ["-b", "--memory-limit", STAYS_LIMIT, "-p", str(stayed.pid)],
                           "stays")
        if not wait_for(END_S, self.stays.is_there) or self.stays.process.poll() is not None:
            raise Failed(f"the tftop that stays: {self.stays.words()!r}")
        self.programs = [kind(work) for kind in sorted(rng.sample(every, min(4, len(every))),
                                                       key=every.index, reverse=True)]
        self.before, self.stayed, self.taken = left(), [], {}
        for program in self.programs:
            self.watched(program)

    def begin(self, options):
        self.there.append(Tftop(self.work, options))
        return self.there[-1]

    def watched(self, program):
        """What a probe makes at the first event of a program's thread, and the first attaches
        bring, stays: what it takes is compared from then on."""
        for _ in range(WATCHED):
            watch(self.work, program)
            clean(self.before)
        self.taken[program] = []

    def attach(self, *options, several=False):
        """tftop at one or two of them."""
        there = self.rng.sample(self.programs, 2 if several else 1)
        tftop = self.begin([*options, *(w for p in there for w in ("-p", str(p.pid)))])
        if not wait_for(END_S, tftop.is_there):
            raise Failed(f"tftop neither attaches nor ends: {tftop.words()!r}")
        if tftop.process.poll() is not None and "--script" not in options:
            raise Failed(f"tftop has ended: {tftop.words()!r}")
        return tftop, there

    def a_moment(self):
        time.sleep(self.rng.uniform(0, 1))

    def end(self, tftop):
        tftop.process.terminate()
        if tftop.wait():
            raise Failed(f"tftop's status is {tftop.process.returncode}: {tftop.words()!r}")
        return tftop

    def let_go(self):
        tftop, _ = self.attach("-b", several=self.rng.randrange(3) == 0)
        self.a_moment()
        self.end(tftop).whole()

    def screen(self):
        script = os.path.join(self.work, "script")
        with open(script, "w", encoding="ascii") as file:
            file.write(f"wait {self.rng.randrange(1000)}ms\nquit\n")
        tftop, _ = self.attach("--headless", "--script", script)
        if tftop.wait():
            raise Failed(f"the screen's status is {tftop.process.returncode}: {tftop.words()!r}")

    def killed(self):
        tftop, _ = self.attach("-b")
        self.a_moment()
        tftop.process.kill()
        tftop.wait()

    def killed_on_the_way(self):
        program = self.rng.choice(self.programs)
        tftop = self.begin(["-b", "-p", str(program.pid)])
        self.a_moment()
        tftop.process.kill()
        tftop.wait()

    def steered(self):
        # a program without a runtime that a probe is for has nothing to steer
        there, self.programs = self.programs, [p for p in self.programs if p.until]
        try:
            if not self.programs:
                return
            tftop, (program,) = self.attach("-b")
        finally:
            self.programs = there
        for level in self.rng.sample(["off", "min", "default", "full"], 3):
            done = subprocess.run([TFTOP, "--control", str(program.pid), "level=" + level],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                raise Failed(f"--control: {done.stdout.decode()!r}")
        self.end(tftop).whole()

    def daemon(self):
        """Killed or stopped: the report comes, and says it."""
        tftop, _ = self.attach("-b")
        self.a_moment()
        name = self.rng.choice(["lttng-sessiond", "lttng-consumerd", "lttng-relayd"])
        number = self.rng.choice([signal.SIGKILL, signal.SIGSTOP])
        for pid, comm in ours():
            if comm == name[:15]:
                os.kill(pid, number)
        self.a_moment()
        tftop.process.terminate()
        tftop.wait()
        if not text_of(tftop.report) and "tftop: " not in tftop.words():
            raise Failed(f"{name} {number.name}: no report and no word of it")

    def program_ends(self):
        tftop, (program,) = self.attach("-b")
        self.a_moment()
        self.programs.remove(program)
        program.finish()
        if tftop.wait():
            raise Failed(f"tftop's status is {tftop.process.returncode}: {tftop.words()!r}")
        fresh = type(program)(self.work)
        self.programs.append(fresh)
        self.watched(fresh)

    def launch(self):
        status = self.rng.randrange(4)
        tftop = self.begin(["-b", "--", "sh", "-c", f"exit {status}"])
        if tftop.wait() != status:
            raise Failed(f"launched: status {tftop.process.returncode}, not {status}: "
                         f"{tftop.words()!r}")

    def load(self):
        """Others want the processors."""
        self.busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
        self.let_go()

    def round(self):
        what = self.rng.choice([self.let_go, self.let_go, self.let_go, self.screen, self.killed,
                                self.killed_on_the_way, self.steered, self.daemon,
                                self.program_ends, self.launch, self.load])
        self.counts[what.__name__] += 1
        try:
            what()
        except Failed as error:
            raise Failed(f"{what.__name__}: {error}") from None
        finally:
            for process in [*self.busy, *(t.process for t in self.there)]:
                if process.poll() is None:      # of a tftop: this round fell short
                    process.kill()
                    process.wait()
            self.busy, self.there = [], []
        clean(self.before)
        for program in [*self.programs, self.last]:
            if program.ended():
                raise Failed(f"{what.__name__}: {program.label} has ended: "
                             f"{program.process.returncode}")
        for program in self.programs:
            self.taken[program].append(takes(program.pid))
        if self.stays.process.poll() is not None:
            raise Failed(f"{what.__name__}: the tftop that stays has ended: {self.stays.words()!r}")
        self.stayed.append(takes(self.stays.process.pid))

    def finish(self):
        """All of them end as they should, and none has grown."""
        late = self.stayed[WARM:]
        growth("the tftop that stays", [(0, *taken[1:]) for taken in late], 0)
        if late and late[-1][0] > STAYS_BYTES:
            raise Failed(f"the tftop that stays: {late[-1][0] >> 20} MiB")
        self.end(self.stays)
        self.last.finish()
        for program in self.programs:
            program.finish()
            growth(program.label, self.taken[program], 0)

    def stop(self):
        for process in [self.stays.process, *(p.process for p in self.programs + [self.last])]:
            if process.poll() is None:
                process.kill()
                process.wait()


def soak(work, minutes, seed):
    print(f"# seed SOAK_SEED={seed}", flush=True)
    rounds, suite = 0, Suite()
    state = Soak(work, random.Random(seed))
    until = time.monotonic() + minutes * 60
    try:
        while time.monotonic() < until and suite.failed < 10:
            rounds += 1
            try:
                state.round()
                suite.ok(f"round {rounds}")
            except Failed as error:
                suite.not_ok(f"round {rounds}", error)
        try:
            state.finish()
            suite.ok("at the end")
        except Failed as error:
            suite.not_ok("at the end", error)
    finally:
        state.stop()
    print("# " + ", ".join(f"{name} {n}" for name, n in sorted(state.counts.items())))
    return suite.end() == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--attaches", type=int)
    parser.add_argument("--only", default="", help="of the programs to attach to")
    parser.add_argument("--seed", type=int,
                        default=os.environ.get("SOAK_SEED") or random.randrange(1000000))
    options = parser.parse_args()
    if os.getuid() != 0:
        suite = Suite()
        suite.skip("soak", "needs root: /run and /dev/shm are to be its own")
        return suite.end()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if not os.environ.get("SOAK_INSIDE"):
        os.execvpe("unshare", ["unshare", "-m", "--propagation", "private", sys.executable,
                               __file__, *sys.argv[1:]], dict(os.environ, SOAK_INSIDE="1"))
    for place, mode in (("/run", "755"), ("/dev/shm", "1777")):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=" + mode, "none", place], check=True)
    with tempfile.TemporaryDirectory(prefix="tftop-soak.") as work:
        if options.attaches:
            return 0 if attaches(work, options.attaches, options.only) else 1
        return 0 if soak(work, options.minutes, options.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
