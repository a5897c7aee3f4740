#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tftop in terminals that tmux cannot play: slow ones, one that takes nothing, one that
shows a picture at once, one with a mouse. The terminal is this program: what tftop writes
is looked at as bytes, and what it shows by its own save-screen. Cases run side by side;
they wait for conditions, the slow terminal for its own slowness."""
import concurrent.futures
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
from suite import Suite, is_wanted  # pylint: disable=wrong-import-position

TFTOP = os.path.realpath(os.environ.get("O", "build") + "/tftop")
WAIT = 30
SYNC = b"\033[?2026"
MOUSE_ON, MOUSE_OFF = b"\033[?1006h", b"\033[?1006l"
LOGGED = ["--no-config", "--debug", "log"]
SYNTH = LOGGED + ["--synth", "1"]


class Terminal:
    """A pty with tftop on it. answer: what it says about mode 2026, None: nothing."""

    def __init__(self, args, size=(120, 40), term="xterm-256color", answer=None, **env):
        self.folder = tempfile.TemporaryDirectory()
        self.out = b""
        self.answer = answer
        self.status = None
        self.shots = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(env, TERM=term, LC_ALL="C.UTF-8")
            os.environ.pop("NO_COLOR", None)
            # the parent has said how large it is
            os.read(0, 1)
            os.chdir(self.folder.name)
            os.execv(TFTOP, [TFTOP] + args)
        self.resize(*size)
        self.modes = termios.tcgetattr(self.fd)
        os.write(self.fd, b"\n")
        self.slow = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
        self.folder.cleanup()

    def resize(self, width, height):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read(self, most=65536, wait=0.05):
        """What there is, at most that much; answers questions."""
        if not select.select([self.fd], [], [], wait)[0]:
            return b""
        try:
            data = os.read(self.fd, most)
        except OSError:
            return b""
        before = self.out.count(SYNC + b"$p")
        self.out += data
        if self.answer and self.out.count(SYNC + b"$p") > before:
            os.write(self.fd, SYNC + b";" + self.answer + b"$y")
        return data

    def until(self, true, what, read=True):
        end = time.monotonic() + WAIT
        while not true():
            assert time.monotonic() < end, f"never: {what}"
            if read:
                self.read()
            else:
                time.sleep(0.02)
        return True

    def type(self, text):
        os.write(self.fd, text if isinstance(text, bytes) else text.encode())

    def command(self, line):
        self.type(":" + line + "\r")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def screen(self, read=True):
        """What tftop shows, asked of itself."""
        self.shots += 1
        name = f"shot{self.shots}"
        self.command("save-screen " + name)
        self.until(lambda: os.path.exists(self.path(name)) and os.path.getsize(self.path(name)),
                   "a saved screen", read)
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def shows(self, regex, read=True):
        end = time.monotonic() + WAIT
        while True:
            text = self.screen(read)
            if re.search(regex, text, re.M):
                return text
            assert time.monotonic() < end, f"no {regex!r} on:\n{text}"

    def gone(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = status
        return self.status is not None

    def leaves(self, status, read=True):
        self.until(self.gone, "its end", read)
        while read and self.read():
            pass
        code = os.waitstatus_to_exitcode(self.status)
        assert code == status, f"ended with {code}, not {status}"

    def fill(self):
        """Nothing is read until no picture is drawn any more: tftop's log tells."""
        def drawn():
            with open(self.path("log"), encoding="utf-8") as file:
                return file.read().count("frame t=")

        def full():
            before = drawn()
            self.type("\f")
            time.sleep(0.5)
            # it has got as far as that, and so has had the time to draw
            self.screen(read=False)
            return drawn() == before

        self.until(full, "a terminal that is full", read=False)

    def restored(self):
        # the shell's flags; what a pty's master tells of speeds may differ
        now = termios.tcgetattr(self.fd)
        assert now[:4] == self.modes[:4], "the terminal's modes differ"
        last = self.out[-400:]
        assert b"\033[?1049l" in last, "the alternate screen stays"
        for mode in (1000, 1002, 1006):
            on, off = (self.out.rfind(b"\033[?%d%c" % (mode, c)) for c in b"hl")
            assert off >= on, f"mode {mode} stays"
        begin, end = self.out.rfind(SYNC + b"h"), self.out.rfind(SYNC + b"l")
        assert end >= begin, "the picture never ends"


def case_pictures_at_once():
    with Terminal(SYNTH, answer=b"2") as t:
        t.shows("queue 0")
        t.until(lambda: t.out.count(SYNC + b"h") > 10, "ten pictures")
        marks = re.findall(rb"\x1b\[\?2026([hl])", t.out)
        assert all(m == (b"h", b"l")[i % 2] for i, m in enumerate(marks)), "not in turns"
        # between pictures nothing is drawn
        begin = t.out.index(SYNC + b"h")
        between = re.sub(rb"\x1b\[\?2026h.*?\x1b\[\?2026l", b"", t.out[begin:], flags=re.S)
        between = between.split(SYNC + b"h")[0]
        assert not between, f"outside of pictures: {between[:80]!r}"
        t.type("q")
        t.leaves(0)
        t.restored()


def case_no_pictures_at_once():
    for answer in (None, b"0"):
        with Terminal(SYNTH, answer=answer) as t:
            t.shows("queue 0")
            assert SYNC + b"$p" in t.out and SYNC + b"h" not in t.out
            t.type("q")
            t.leaves(0)
            t.restored()


def case_answer_comes_late():
    """It is tftop's, and not for who reads the terminal next."""
    with Terminal(SYNTH + ["-q"]) as t:
        t.until(lambda: SYNC + b"$p" in t.out, "the question")
        t.type("q")
        t.type(SYNC + b";2$y")
        t.leaves(0)
        size = struct.unpack("i", fcntl.ioctl(t.fd, termios.FIONREAD, b"\0" * 4))[0]
        assert size == 0, f"{size} bytes are left"
        t.restored()


def click(x, y, button=0):
    return b"\033[<%d;%d;%dM\033[<%d;%d;%dm" % (button, x + 1, y + 1, button, x + 1, y + 1)


def case_mouse():
    with Terminal(SYNTH) as t:
        # the header has all its lines
        t.shows("input-bound(.|\n)*queue 0")
        assert MOUSE_ON in t.out
        t.type(" ")
        text = t.shows("frozen")
        y = next(i for i, line in enumerate(text.split("\n")) if line.startswith(" 1 ops"))
        x = text.split("\n")[y].index("2 kernels")
        t.type(click(x, y))
        t.shows("^.kernel")
        # in pieces, and the older form
        for part in (b"\033[<0;", b"%d" % (x - 3), b";%dM" % (y + 1)):
            t.type(part)
            t.read(wait=0.2)
        t.shows("^.op ")
        t.type(b"\033[M %c%c" % (x + 33, y + 33))
        t.shows("^.kernel")
        # nonsense is no key
        t.type(b"\033[<;;;M\033[<999999999999999999999999999999999999999;1;1M\033[M\001\001\001")
        t.shows("^.kernel")
        t.type("\033OQ")
        t.until(lambda: t.out.rfind(MOUSE_OFF) > t.out.rfind(MOUSE_ON), "the mouse given back")
        t.command("set mouse = yes")
        t.until(lambda: t.out.rfind(MOUSE_OFF) < t.out.rfind(MOUSE_ON), "the mouse taken")
        t.type("q")
        t.leaves(0)
        t.restored()


ECHO = r"""
import os, sys, tty
tty.setraw(0)
def say(text):
    os.write(1, text.encode() + b"\r\n")
os.write(1, sys.argv[1].encode().decode("unicode_escape").encode())
say("ready")
while True:
    got = os.read(0, 100)
    say("got %s" % got.hex())
    if b"q" in got:
        sys.exit(0)
"""


def mouse_of_program(modes):
    """What PROGRAM gets: of a press and a release in its second line, column 10, of the same
    with Shift and Alt, of a wheel."""
    with Terminal(LOGGED + ["--", sys.executable, "-c", ECHO, modes], size=(100, 36)) as t:
        t.shows("7 output: ready")
        t.type("7\x1d")
        text = t.shows("^ ready$")
        y = text.split("\n").index(" ready") + 1
        t.type(click(11, y, 4) + click(11, y, 8))
        t.type(click(11, y))
        t.type(b"\033[<65;12;%dM" % (y + 1))
        # a click gave it the keys
        t.type("q\x1d")
        got = re.findall("^ got ([0-9a-f]+)$", t.shows("^ got [0-9a-f]*71$"), re.M)
        # it takes a moment more, in which 'q' would ask what is to become of it
        t.shows("ended")
        t.type("q")
        t.leaves(0)
        t.restored()
    return bytes.fromhex("".join(got))


def case_mouse_of_program():
    press, release, wheel = b"\033[<0;11;2M", b"\033[<0;11;2m", b"\033[<65;11;2M"
    got = mouse_of_program(r"\033[?1000h\033[?1006h")
    assert got == press + release + wheel + b"q", got
    got = mouse_of_program(r"\033[?1000h")
    assert got == b"\033[M +\"\033[M#+\"\033[Ma+\"q", got


def case_mouse_nobody_asked_for():
    got = mouse_of_program(r"\033[?1000h\033[?1006h\033[?1000l")
    assert got == b"q", got


def case_no_mouse():
    for term in ("vt100", "dumb"):
        with Terminal(SYNTH, term=term) as t:
            t.shows("queue 0")
            t.type("q")
            t.leaves(0)
            assert b"\033[?10" not in t.out.replace(b"\033[?1049", b"") and SYNC not in t.out


def case_terminal_takes_nothing():
    """Keys work, the program runs on, and it can be left."""
    script = "i=0; while :; do i=$((i+1)); echo line $i; echo $i > n.new; mv n.new n; done"
    with Terminal(LOGGED + ["--", "sh", "-c", script], size=(200, 50)) as t:
        t.shows("output: line")
        t.fill()

        def count():
            with open(t.path("n"), encoding="ascii") as file:
                return int(file.read())

        assert t.screen(read=False)
        n = count()
        t.until(lambda: count() > n + 200, "the program's going on", read=False)
        t.type("qs")
        t.until(t.gone, "its end", read=False)


def case_slow_terminal():
    """2 kB/s: pictures are left out, none waits behind another."""
    with Terminal(SYNTH, size=(200, 50)) as t:
        for _ in range(50):
            t.read(most=200)
            time.sleep(0.1)
        t.type(" ")
        before = len(t.out)
        t.until(lambda: b"frozen" in t.out[before:], "frozen")
        extra = len(t.out) - before
        # what the pty held, the rest of one picture, one picture
        assert extra < 40000, f"{extra} bytes came first"
        t.type("q")
        t.leaves(0)
        t.restored()


def case_crash(number=signal.SIGSEGV):
    with Terminal(SYNTH, answer=b"1", ASAN_OPTIONS="handle_segv=0") as t:
        t.shows("queue 0")
        os.kill(t.pid, number)
        t.leaves(-number)
        t.restored()


def case_crash_while_it_takes_nothing():
    with Terminal(SYNTH, size=(200, 50)) as t:
        t.until(lambda: b"queue 0" in t.out, "rows")
        t.fill()
        os.kill(t.pid, signal.SIGABRT)
        t.until(t.gone, "its end", read=False)
        assert termios.tcgetattr(t.fd)[:4] == t.modes[:4]


def case_leaves_while_it_takes_nothing():
    for number in (signal.SIGTERM, signal.SIGHUP):
        with Terminal(SYNTH, size=(200, 50)) as t:
            t.until(lambda: b"queue 0" in t.out, "rows")
            t.fill()
            os.kill(t.pid, number)
            t.leaves(128 + number, read=False)
            assert termios.tcgetattr(t.fd)[:4] == t.modes[:4]


def case_hangs_up():
    t = Terminal(SYNTH)
    t.shows("queue 0")
    os.close(t.fd)
    t.fd = os.open("/dev/null", os.O_RDONLY)
    t.until(t.gone, "its end", read=False)
    with t:
        pass


def case_resize_storm():
    with Terminal(SYNTH) as t:
        t.shows("queue 0")
        for i in range(100):
            t.resize(1 + (i * 37) % 220, 1 + (i * 23) % 70)
            t.read(wait=0.01)
        t.resize(100, 31)
        t.until(lambda: max(map(len, t.screen().split("\n"))) <= 100, "the last size")
        text = t.shows("queue 0")
        assert len(text.split("\n")) == 32 and "q quit" in text
        t.type("q")
        t.leaves(0)
        t.restored()


def main():
    cases = {name[5:].replace("_", " "): f for name, f in globals().items()
             if name.startswith("case_")}
    suite = Suite()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = {name: pool.submit(f) for name, f in cases.items() if is_wanted(name)}
        for name, future in running.items():
            try:
                future.result()
                suite.ok(name)
            except Exception as error:
                suite.not_ok(name, error)
                if not isinstance(error, AssertionError):
                    traceback.print_exc(file=sys.stdout)
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
