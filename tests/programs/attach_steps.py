# SPDX-License-Identifier: MIT
"""attach_steps.py FOLDER [tensorflow]: a program of PyTorch, or of TensorFlow, that runs before
tftop comes and goes on after it.

It computes a step each 2 ms, of which it does not speak. When FOLDER/go appears it takes 100
steps that are counted, and says so by FOLDER/done; FOLDER/again, FOLDER/again.done likewise.
FOLDER/quiet asks for FOLDER/quiet.done once no profiler's callback is at PyTorch's ops
(TensorFlow: at once).
At FOLDER/end it ends with status 3 and FOLDER/result: what it computed in the counted steps.
It ends with who started it.
"""
import ctypes
import os
import signal
import sys
import time

STEPS = 100
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
folder = sys.argv[1]
if sys.argv[2:] == ["tensorflow"]:
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(1)
    a = tf.random.stateless_normal((32, 32), (1, 2)) / 6
    mm, tanh, sigmoid = tf.linalg.matmul, tf.tanh, tf.sigmoid

    def ones():
        return tf.ones((32, 32))

    def total(x):
        return float(tf.reduce_sum(x))

    def observed():
        return False
else:
    import torch
    torch.manual_seed(1)
    torch.set_num_threads(1)
    a = torch.randn(32, 32) / 6
    mm, tanh, sigmoid = torch.mm, torch.tanh, torch.sigmoid
    observed = ctypes.CDLL(os.path.join(torch.__path__[0], "lib",
                                        "libtorch_cpu.so"))._ZN2at18hasGlobalCallbacksEv
    observed.restype = ctypes.c_bool

    def ones():
        return torch.ones(32, 32)

    def total(x):
        return x.sum().item()


def there(name):
    return os.path.exists(os.path.join(folder, name))


def say(name, text=""):
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="ascii") as out:
        out.write(text)
    os.rename(path + ".new", path)


def counted():
    x = ones()
    for _ in range(STEPS):
        x = tanh(mm(a, x))
    return total(x).hex()


results = []
say("ready", str(os.getpid()))
while not there("end"):
    sigmoid(a)
    time.sleep(0.002)
    for name, done in (("go", "done"), ("again", "again.done")):
        if there(name) and not there(done):
            results.append(counted())
            say(done)
    if there("quiet") and not there("quiet.done") and not observed():
        say("quiet.done")
say("result", "\n".join(results))
os._exit(3)
