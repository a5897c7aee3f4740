#!/bin/bash
# SPDX-License-Identifier: MIT
# What the screen itself costs at 200x50 (G15), in a pty: CPU time and bytes to
# the terminal per second of wall time, while it follows a program that goes on
# and when nothing moves any more; and how long after a key the first of the picture
# that answers it comes. Beside it btop in the same pty, where it is installed (make
# deps does not bring it: apt-get install btop). The program is made up (--synth), so the time to make it is in the figure.
set -u
O=${O:-build}
if [ "${1:-}" = --list ]; then
	echo 'G15.idle G15.following G15.bytes G15.key'
	exit 0
fi
command -v python3 >/dev/null || exit 1
exec python3 - "$O/tftop" <<'PYTHON'
import fcntl, os, pty, select, shutil, signal, struct, sys, termios, time

WARM, SPAN = 3.0, 10.0          # seconds: until it is at rest, then measured
KEYS, REST = 15, 0.3            # how many are pressed, seconds between two


def cpu_ms(pid):
    """User and system time of the process, all its threads."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def drain(fd, seconds):
    """Reads what is drawn for so long; returns its bytes."""
    end, count = time.monotonic() + seconds, 0
    while (left := end - time.monotonic()) > 0:
        if select.select([fd], [], [], left)[0]:
            try:
                count += len(os.read(fd, 65536))
            except OSError:
                raise SystemExit("screen_bench: the program under test ended")
    return count


def answer_ms(fd, keys):
    """Median time from a key to the first byte that follows, while nothing else is drawn."""
    times = []
    for i in range(KEYS):
        drain(fd, REST)
        begin = time.monotonic()
        os.write(fd, keys[i % len(keys)])
        if select.select([fd], [], [], SPAN)[0]:
            times.append((time.monotonic() - begin) * 1000)
    return sorted(times)[len(times) // 2] if len(times) == KEYS else 0


def measure(command, keys=b"", asked=()):
    """(CPU ms/s, bytes/s, ms to answer one of the keys asked) of a command in a pty of 200x50."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.environ["LC_ALL"] = "C.UTF-8"
        os.execvp(command[0], command)
    try:
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        drain(fd, WARM)
        if keys:
            os.write(fd, keys)
            drain(fd, WARM)
        begin, cpu = time.monotonic(), cpu_ms(pid)
        count = drain(fd, SPAN)
        span = time.monotonic() - begin
        cost = (cpu_ms(pid) - cpu) / span
        return cost, count / span, answer_ms(fd, asked) if asked else 0
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)


def record(name, what, value, unit, yardstick, beside, bar, most):
    ratio = f"{value / beside:.2f}" if beside else "-"
    print("|".join([name, what, f"{value:.1f}", unit, "low", yardstick,
                    f"{beside:.1f}" if beside else "-", ratio, bar, "1", "",
                    "true" if value <= most else "false"]))


tftop = [sys.argv[1], "--no-config", "--synth", "1"]
following, flow, _ = measure(tftop)
# Frozen: the program goes on, the window does not.
idle, _, key = measure(tftop, b" ", [b"j", b"k"])
yardstick, other, other_flow, other_key = "btop, not installed", 0, 0, 0
if shutil.which("btop"):
    yardstick = "btop"
    # Along its list of processes. It draws anew each 2 s: less often than it is asked.
    other, other_flow, other_key = measure(["btop"], b"", [b"\x1b[B", b"\x1b[A"])
else:
    print("screen_bench: btop is not installed, nothing stands beside G15: apt-get install btop",
          file=sys.stderr)
record("G15.idle", "screen at 200x50, frozen", idle, "ms/s", yardstick, other, "<= 5 ms/s", 5)
record("G15.following", "screen at 200x50, following", following, "ms/s", yardstick, other,
       "<= 50 ms/s", 50)
record("G15.bytes", "screen at 200x50, following", flow / 1000, "kB/s", yardstick,
       other_flow / 1000, "<= 20 kB/s", 20)
record("G15.key", "key to the picture's first byte, frozen, median", key, "ms", yardstick,
       other_key, "<= 16 ms", 16)
PYTHON
