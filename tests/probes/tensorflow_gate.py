# SPDX-License-Identifier: MIT
"""The gate of marks made in Python, seen from Python, which uses the look-alike as
TensorFlow's own Python part does.

    tensorflow_gate.py [--odd] LIBRARY RUNTIME

RUNTIME is the double of the runtime: it has the level. --odd: the variable is no
bool, the module is none, the module is not there.
"""
import ctypes
import sys
import types

odd = sys.argv[1] == "--odd"
library, runtime = (ctypes.CDLL(path) for path in sys.argv[-2:])
name = "tensorflow.python.profiler.trace"
trace = sys.modules[name] = types.ModuleType(name)
trace.enabled = False
in_library = hasattr(library, "fake_gate")    # since 2.21


def gate(value=-1):
    if in_library:
        return library.fake_gate(value)
    if value >= 0:
        trace.enabled = bool(value)
    return int(trace.enabled)


def execute():
    """Between two calls Python does what it was asked to."""
    library.fake_execute(b"MatMul")


def tick_and_execute():
    """A look at the gate is due once a second of the runtime's time."""
    runtime.rt_text_level(0)
    runtime.rt_text_level(2)
    execute()


if odd:
    trace.enabled = "mine"
    execute()
    print(repr(trace.enabled))
    sys.modules[name] = 7
    tick_and_execute()
    print(sys.modules[name])
    del sys.modules[name]
    tick_and_execute()
    print(sys.modules.get(name))
    sys.exit(0)

print("before", gate())
execute()
print("first-call", gate())


@ctypes.CFUNCTYPE(None)
def session():
    gate(0)    # what the program's own profiler makes of it is its affair
    execute()
    print("session", gate())


library.fake_profile(2, session)
print("session-over", gate())
runtime.rt_text_level(0)
print("off", gate())
execute()
print("off-call", gate())
runtime.rt_text_level(2)
execute()
print("on-again", gate())
