# SPDX-License-Identifier: MIT
"""attach_jax.py FOLDER [profiled]: a JAX program that runs before tftop comes and goes on after it.

Two threads compute all the time, of which it does not speak: so the code that a probe replaces
is in use at every moment. When FOLDER/go appears it takes 100 counted steps and says so by
FOLDER/done; FOLDER/again, FOLDER/again.done likewise. With FOLDER/profile it takes 20 more under
its own jax.profiler, in FOLDER/profiled. profiled: that profiler is on from before tftop comes
until FOLDER/go, and the threads pause, as it keeps all that they do.
At FOLDER/end it ends with status 3 and FOLDER/result: what it computed in the counted steps.
It ends with who started it.
"""
import ctypes
import os
import signal
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 100
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
folder = sys.argv[1]
a = jax.random.normal(jax.random.PRNGKey(1), (32, 32)) / 6
over = threading.Event()


@jax.jit
def counted_step(x):
    return jnp.tanh(a @ x) + x.sum()


@jax.jit
def around(x):
    return jax.lax.fori_loop(0, 4, lambda i, y: jnp.sin(a @ y), x)


def there(name):
    return os.path.exists(os.path.join(folder, name))


def say(name, text=""):
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="ascii") as out:
        out.write(text)
    os.rename(path + ".new", path)


def counted(steps=STEPS):
    x = jnp.ones((32, 32))
    for _ in range(steps):
        x = counted_step(x)
    return np.asarray(x).tobytes().hex()


def busy():
    x = np.ones((32, 32), np.float32)
    while not over.is_set():
        np.asarray(around(x))
        if "profiled" in sys.argv:
            time.sleep(0.002)


results = []
counted()
if "profiled" in sys.argv:
    jax.profiler.start_trace(os.path.join(folder, "profiled"))
threads = [threading.Thread(target=busy) for _ in range(2)]
for thread in threads:
    thread.start()
say("ready", str(os.getpid()))
while not there("end"):
    time.sleep(0.002)
    for name, done in (("go", "done"), ("again", "again.done")):
        if there(name) and not there(done):
            results.append(counted())
            if "profiled" in sys.argv and name == "go":
                jax.profiler.stop_trace()
            say(done)
    if there("profile") and not there("profile.done"):
        jax.profiler.start_trace(os.path.join(folder, "profiled"))
        counted(20)
        jax.profiler.stop_trace()
        say("profile.done")
over.set()
for thread in threads:
    thread.join()
say("result", "\n".join(results))
os._exit(3)
