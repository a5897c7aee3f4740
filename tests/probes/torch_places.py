# SPDX-License-Identifier: MIT
"""torch_places.py LIBRARY: ops called from frames of every kind that this Python has, on the
look-alike of PyTorch. Prints the place of each, once, by Python's own word and in the words of
tests/doubles/rt_text.c."""
import asyncio
import ctypes
import functools
import sys
import threading

fake = ctypes.PyDLL(sys.argv[1])
fake.fake_import.restype = fake.fake_begin.restype = ctypes.c_void_p
fake.fake_begin.argtypes = [ctypes.c_char_p, ctypes.c_bool, ctypes.c_uint8, ctypes.c_int64,
                            ctypes.c_uint64, ctypes.c_int]
end = fake.fake_end
end.argtypes = [ctypes.c_void_p]
fake.fake_import()
begin = functools.partial(fake.fake_begin, b"aten::mm", True, 0, -1, 0, 0)
said = set()


def here():
    """What begins an op; its caller calls that itself, on the same line."""
    frame = sys._getframe(1)
    said.add("source file=%s line=%d function=%s" % (
        frame.f_code.co_filename, frame.f_lineno,
        getattr(frame.f_code, "co_qualname", frame.f_code.co_name)))
    return begin


def generator(n):
    for _ in range(n):
        yield end(here()())
        yield from (end(here()()) for _ in range(2))


async def coroutine():
    await asyncio.sleep(0)
    end(here()())


class Body:
    value = end(here()())

    def comprehension(self):
        return [end(here()()) for _ in range(2)]

    def __getattr__(self, name):    # called by C
        return end(here()())

    def __del__(self):
        end(here()())


def deep(n):
    if n:
        return deep(n - 1)
    return end(here()())


def caught(n):
    try:
        if not n:
            raise ValueError
        caught(n - 1)
    except ValueError:
        end(here()())
        raise
    finally:
        end(here()())


def shared(x, y, z):
    """Its variables are also of functions inside of it."""
    def inner():
        nonlocal y
        y += 1
        end(here()())
        return x, y, z
    for x in range(3):
        end(here()())
        inner()


def long(x):
    # more than 256 bytes of code before it, and a line that comes after its arguments
    x = (x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x + x,
         x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x)
    end(here()())
    end(
        here()()
    )
    if x:
        end(here()())


def made():
    """Functions with one name in one file, each in the memory of those before."""
    for n in range(60):
        scope = {"end": end, "here": here}
        exec(compile("\n" * n + "def f():\n" + "\n" * (n * 7 % 200) + " end(here()())\n" +
                     "\n" * n + " end(here()())\n", "/tmp/made.py", "exec"), scope)
        scope["f"]()


list(generator(2)), deep(700), shared(1, 2, 3), made(), Body().comprehension(), Body().made_up
try:
    caught(3)
except ValueError:
    end(here()())
asyncio.run(coroutine())
threads = [threading.Thread(target=lambda: end(here()())) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for name, lines in (("longer", 300), ("back", 120)):
    scope = {"end": end, "here": here}
    exec(compile("def %s():\n end(here()())\n%s end(here()())\n end(\n%shere()())\n" % (
        name, "\n" * lines, "\n" * lines), "/tmp/%s.py" % name, "exec"), scope)
    scope[name]()
long(2)
functools.reduce(lambda a, b: end(here()()), [1, 2])
print("\n".join(sorted(said)))
