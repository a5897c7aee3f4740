# SPDX-License-Identifier: MIT
"""torch_frames.py FILE: ops called from frames of every kind that CPython has, and in FILE the line
and function of each by Python's own word: "OP LINE FUNCTION"."""
import asyncio
import functools
import sys
import threading

import torch

x = torch.ones(4)
said = []


def call(name):
    frame = sys._getframe(1)
    function = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    said.append("aten::%s %d %s" % (name, frame.f_lineno, function))
    return getattr(x, name)


def añadir():	# one byte a character
    call("neg")()


def 漢字():	# two
    call("exp")()


def 𝔸𝔹():	# four; Python makes it AB
    call("sin")()


def generator():
    for _ in range(2):
        yield call("cos")()


async def coroutine():
    await asyncio.sleep(0)
    call("tan")()


class Body:
    value = call("sqrt")()

    def comprehension(self):
        return [call("erf")() for _ in range(2)]

    def __getattr__(self, name):	# called by C
        return call("log2")()


def deep(n):
    if n:
        return deep(n - 1)
    return call("atan")()


def caught():
    try:
        raise ValueError
    except ValueError:
        call("acos")()
    finally:
        call("asin")()


def often():
    """From 3.12 on Python puts a frame of its own around such an __init__."""
    for _ in range(100):
        said.extend(["aten::uniform_ %d often" % (sys._getframe().f_lineno + 1)] * 2)
        torch.nn.Linear(2, 2, True, None, None)


añadir(), 漢字(), 𝔸𝔹(), list(generator()), deep(700), caught(), often()
asyncio.run(coroutine())
Body().comprehension(), Body().made_up
thread = threading.Thread(target=lambda: call("log1p")())
thread.start()
thread.join()
functools.reduce(lambda a, b: call("expm1")(), [1, 2])
exec(compile("\n\ncall('sinh')()\n", "/tmp/made.py", "exec"))
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.writelines(line + "\n" for line in sorted(said))
