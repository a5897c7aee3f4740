#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""keys.py [--keys N] [--seed S]: random keys, commands, clicks and sizes on the made-up
program while it runs, under the virtual clock: nothing may crash, hang or leave the screen.

What is pressed and typed comes from tftop's own tables, so that what is new there is
pressed too. All of it is a script; one that broke something is kept in $O/soak/ and
breaks it again."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
sys.dont_write_bytecode = True
from suite import Suite  # pylint: disable=wrong-import-position

TFTOP = os.path.realpath(os.environ.get("O", "build") + "/tftop")
SCRIPT_BYTES = 900_000          # a script may have 1 MiB
ROUND_KEYS = 20_000
SYNTHS = ["", ",gpu", ",gpus", ",counters", ",processor", ",generate", ",names", ",host"]
# Those that end the run or stop it, and those that only scripts have.
LEFT_OUT = {"quit", "suspend", "source", "answer", "interrupt", "assert-screen", "follow-links",
            "key", "mouse", "resize", "save-screen", "wait", "wait-exit", "wait-settled",
            "wait-step", "wait-kernels", "wait-for"}
WORDS = ["0", "1", "7", "-1", "99999999999999999999", "2.5", "10us", "1.2s", "3ms", "start",
         "live", "all", "step", "thread", "scope", "off", "on", "yes", "no", "default", "name",
         "count", "total", "calls", "duration", "device", "op", "self", "model/conv_4", "queue 0",
         "sgd_update_2", "input", "step #", "main", "train", "train.py", "4121", "gpu0", "h2d",
         ".*", "[", "(", "a|b", "\\", "é", "日本語", "\u0301", "🔥", "مرحبا", "\u202e",
         "'", '"', "''", "#", ">", ">100us", "[1ms,5ms]", "count > 3", "duration > 1ms",
         "name ~ conv and not type = input", "((", "x" * 300, "%s%n", "-", "--", "=", ";", "|"]
SPECIAL = {" ": "<Space>", "<": "<Lt>", ">": "<Gt>", "#": "<Hash>", "|": "<Bar>"}


def table(what):
    out = subprocess.run([TFTOP, "--print", what], stdout=subprocess.PIPE, check=True, text=True)
    return [line.split("\t") for line in out.stdout.splitlines()]


class Player:
    """Writes what happens, one script of it."""

    def __init__(self, rng, keys, commands, settings):
        self.rng = rng
        self.keys, self.commands, self.settings = keys, commands, settings
        self.lines, self.bytes, self.pressed = [], 0, 0
        self.width, self.height = 120, 40

    def add(self, line, keys=0):
        self.lines.append(line)
        self.bytes += len(line.encode()) + 1
        self.pressed += keys

    def press(self, names):
        """Key names, side by side, as one word of the script."""
        text = "".join(names).replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
        self.add("key " + text, len(names))

    def type(self, text):
        keys = [":"] + [SPECIAL.get(c, c) for c in text]
        for at in range(0, len(keys), 200):
            self.press(keys[at:at + 200])
        ends = ["<Enter>"] * 8 + ["<Esc>", "<Tab>", "<C-w>", "<C-u>x<Enter>"]
        self.press([self.rng.choice(ends)])

    def word(self):
        rng = self.rng
        if rng.random() < 0.1:
            return "".join(chr(rng.choice([rng.randrange(32, 127), rng.randrange(160, 0x3000)]))
                           for _ in range(rng.randrange(1, 12)))
        return rng.choice(WORDS)

    def arguments(self, shape):
        """Something like what the command takes, or not."""
        rng, words = self.rng, []
        for part in re.findall(r"-[a-z]\b|[a-z][a-z-]*|[A-Z]+", shape):
            chance = rng.random()
            if chance < 0.4:
                words.append(self.word() if part.isupper() else part)
            elif chance < 0.5:
                words.append(self.word())
        return "".join(" " + (w if rng.random() < 0.8 else "'" + w + "'") for w in words)

    def command(self):
        rng = self.rng
        if rng.random() < 0.15:
            name, initial, values = rng.choice(self.settings)[:3]
            value = rng.choice([initial, initial, self.word()] + values.split("|"))
            self.type(f"set {name} = {value}")
            return
        name, alias, _, shape = rng.choice(self.commands)[:4]
        redirect = " > page.txt" if rng.random() < 0.02 else ""
        self.type((alias if alias and rng.random() < 0.5 else name) + self.arguments(shape) +
                  redirect)

    def mouse(self):
        rng = self.rng
        x, y = rng.randrange(self.width + 3), rng.randrange(self.height + 3)
        with_ = rng.choice([""] * 6 + [" shift", " ctrl", " alt", " right", " middle"])
        what = rng.choice(["click", "click", "click", "double", "drag", "press", "move", "release",
                           "wheel-up", "wheel-down", "wheel-left", "wheel-right"])
        to = f" {rng.randrange(self.width + 3)} {rng.randrange(self.height + 3)}"
        if y == self.height - 1 and "wheel" not in what:
            y += 1      # hints press their keys: quit's, once a page has run `source emacs`
        self.add(f"mouse {what} {x} {y}{to if what == 'drag' else ''}{with_}", 1)

    def resize(self):
        rng = self.rng
        self.width, self.height = rng.choice([
            (120, 40), (80, 24), (160, 48), (60, 12), (200, 60),
            (rng.randrange(1, 201), rng.randrange(1, 61)),
            (rng.randrange(1, 30), rng.randrange(1, 8)),
            (500, 200) if rng.random() < 0.1 else (100, 30)])
        self.add(f"resize {self.width}x{self.height}")

    def act(self):
        rng = self.rng
        chance = rng.random()
        if chance < 0.62:
            self.press([rng.choice(self.keys) for _ in range(rng.randrange(1, 9))])
        elif chance < 0.74:
            self.command()
        elif chance < 0.86:
            self.mouse()
        elif chance < 0.88:
            self.resize()
        elif chance < 0.96:
            # a picture is drawn
            self.add("assert-screen ^")
        else:
            self.add(f"wait {rng.choice([1, 20, 100, 300])}ms")


def play(tftop_args, script, config):
    """None, or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path, rc = folder + "/script", folder + "/rc"
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(script) + "\n")
        with open(rc, "w", encoding="utf-8") as file:
            file.write(config)
        env = dict(os.environ, LC_ALL="C.UTF-8", TERM="dumb")
        try:
            run = subprocess.run([TFTOP, "--config", rc, "--headless", *tftop_args,
                                  "--script", path],
                                 cwd=folder, env=env, stdin=subprocess.DEVNULL, timeout=1200,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        except subprocess.TimeoutExpired:
            return "it hangs"
        said = run.stdout.decode(errors="replace")
        if run.returncode or said:
            return f"exit status {run.returncode}\n{said[:6000]}"
        if not os.path.exists(folder + "/end.txt"):
            return "it ended too early"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keys", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=os.environ.get("KEYS_SEED") or
                        random.SystemRandom().randrange(1 << 31))
    options = parser.parse_args()
    print(f"# seed KEYS_SEED={options.seed}\n# {options.keys} keys")
    suite = Suite()
    bindings = table("keys")
    # what leaves is not bound, in no table
    leaving = [b for b in bindings if b[2].split()[0] in LEFT_OUT]
    config = "".join(f"unbind {b[0]} {b[1]}\n" for b in leaving)
    keys = sorted({b[1] for b in bindings if b not in leaving and not re.search(r"[#'\"\\]", b[1])})
    # a line that begins with a tab tells of a part of the command above it
    commands = [c for c in table("commands") if c[0] and c[0] not in LEFT_OUT]
    settings = [s for s in table("settings") if s[0] != "quit-while-running"]
    played = rounds = 0
    while played < options.keys:
        seed = options.seed + rounds
        player = Player(random.Random(seed), keys, commands, settings)
        while (player.pressed < min(ROUND_KEYS, options.keys - played) and
               player.bytes < SCRIPT_BYTES):
            player.act()
        player.add("key <Esc><Esc><Esc>")
        player.add("save-screen end.txt")
        synth = f"{seed % 100}{SYNTHS[rounds % len(SYNTHS)]}"
        wrong = play(["--synth", synth], player.lines, config)
        if wrong:
            kept = os.path.join(os.environ.get("O", "build"), "soak", f"{seed}.tftop")
            os.makedirs(os.path.dirname(kept), exist_ok=True)
            with open(kept, "w", encoding="utf-8") as file:
                file.write("\n".join(player.lines) + "\n")
            suite.not_ok("random keys", f"{wrong}\n# --seed {seed} --keys {ROUND_KEYS}; "
                         f"the script: {kept}")
        else:
            suite.ok("random keys")
        played += player.pressed
        rounds += 1
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
