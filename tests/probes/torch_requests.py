# SPDX-License-Identifier: MIT
"""torch_requests.py LIBRARY: requests and passes in frames of this Python, on the look-alike of
PyTorch. Prints what the probe is to tell, in the words of tests/doubles/rt_text_emit.c."""
import ctypes
import sys

fake = ctypes.PyDLL(sys.argv[1])
fake.fake_import.restype = fake.fake_begin.restype = ctypes.c_void_p
fake.fake_begin.argtypes = [ctypes.c_char_p, ctypes.c_bool, ctypes.c_uint8, ctypes.c_int64,
                            ctypes.c_uint64, ctypes.c_int]
fake.fake_end.argtypes = [ctypes.c_void_p]
fake.fake_import()
# the code that calls forward(), as it is found by its file and name
exec(compile("""class Module:
    def _wrapped_call_impl(self, *args):
        return self._call_impl(*args)

    def _call_impl(self, *args):
        return self.forward(*args)

    __call__ = _wrapped_call_impl
""", "/nowhere/site-packages/torch/nn/modules/module.py", "exec"))
told = []


def op(name):
    fake.fake_end(fake.fake_begin(name, True, 0, -1, 0, 0))


class Range:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.open = fake.fake_begin(self.name, False, 7, -1, 0, 0)

    def __exit__(self, *args):
        fake.fake_end(self.open)


class Model(Module):
    def forward(self, x):
        op(b"aten::mm")
        y = x + "y"
        op(b"aten::relu")
        return y


model = Model()


def passes(n, x="x"):
    for _ in range(n):
        x = model(x)
    return x


def generate(n):
    # its first op comes back with each token, in the same frame
    x = "x"
    for _ in range(n):
        op(b"aten::cat")
        x = model(x)
    return x


def within(name, passes):
    told.append(f"request name={name} passes={passes} sequences=0")


def cells(n):
    # locals that a function inside of this one uses, and a comprehension in its loop
    def generate(n):
        got = []
        for i in range(n):
            op(b"aten::cat")
            got = [model(k) for k in ["x"]]
            (lambda: got)()

    generate(n)


op(b"aten::first")
# nothing runs between two of them
for i in (4, 9, 6):
    generate(i)
    within("generate", i)
for _ in range(3):
    cells(5)
    within("cells.<locals>.generate" if hasattr(cells.__code__, "co_qualname") else "generate", 5)
for i in range(3):
    with Range(b"Request %d" % i):
        passes(2 + i)
    within("Request", 2 + i)
    with Range(b"requests waiting"):
        passes(2)
with Range(b"llm_request[7]"):
    with Range(b"request"):
        generate(3)
    generate(2)
within("llm_request", 5)
op(b"aten::last")
print("\n".join(told))
