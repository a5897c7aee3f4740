# SPDX-License-Identifier: MIT
"""Step of tests/gpu/run: programs of other people's libraries, where those are installed, under
tftop. Each says itself how often its kernel or op ran, "own NAME COUNT", and tftop's report has to
say the same of the kernels and ops whose names contain NAME."""
import os
import re

from bench import NotMeasured

CUPY = """
import cupy
kernel = cupy.RawKernel('''extern "C" __global__ void foreign_kernel(float *x)
{ x[threadIdx.x] += 1; }''', "foreign_kernel")
x = cupy.zeros(32, dtype=cupy.float32)
for _ in range(500):
    kernel((1,), (32,), (x,))
assert float(x[0]) == 500
print("own foreign_kernel 500")
"""
TRITON = """
import torch, triton, triton.language as tl
@triton.jit
def foreign_kernel(x, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)
x = torch.zeros(1024, device="cuda")
for _ in range(300):
    foreign_kernel[(4,)](x, 1024, SIZE=256)
assert x[0].item() == 300
print("own foreign_kernel 300")
"""
NUMBA = """
import numpy
from numba import cuda
@cuda.jit
def foreign_kernel(x):
    x[cuda.threadIdx.x] += 1
x = cuda.to_device(numpy.zeros(32))
for _ in range(200):
    foreign_kernel[1, 32](x)
assert x.copy_to_host()[0] == 200
print("own foreign_kernel 200")
"""
TRANSFORMERS = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel
torch.manual_seed(1)
model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_head=4, n_embd=128, vocab_size=512))
model.to(device).eval()
calls = 0
def count(*_):
    global calls
    calls += 1
model.lm_head.register_forward_hook(count)
for _ in range(4):
    model.generate(torch.randint(512, (1, 8), device=device), max_new_tokens=16, do_sample=False,
                   eos_token_id=None, pad_token_id=0)
print("own forward", calls)
"""
TORCHRUN = """
import os, torch, torch.distributed as dist
backend = os.environ["FOREIGN_BACKEND"]
dist.init_process_group(backend)
x = torch.ones(1000, device="cuda" if backend == "nccl" else "cpu")
for _ in range(50):
    dist.all_reduce(x.clone())
    torch.cos(x)
if dist.get_rank() == 0:
    print("own cos", 50 * dist.get_world_size())
dist.destroy_process_group()
"""
JAX = """
import os
os.environ["JAX_PLATFORMS"] = "cuda" if device == "cuda" else "cpu"
import jax, jax.numpy as jnp
@jax.jit
def foreign_function(x):
    return jnp.tanh(x @ x)
x = jnp.ones((64, 64))
for _ in range(40):
    x = foreign_function(x)
x.block_until_ready()
print("own foreign_function 40")
"""
TENSORFLOW = """
import tensorflow as tf
x = tf.ones((64, 64))
for _ in range(60):
    tf.linalg.inv(tf.linalg.matmul(x, x) + 100 * tf.eye(64))
print("own MatrixInverse 60")
"""

# name, what has to be there, the program, processes of torchrun and its backend, needs a GPU
PROGRAMS = [
    ("CuPy", ["cupy"], CUPY, 0, "", True),
    ("Triton", ["torch", "triton"], TRITON, 0, "", True),
    ("transformers", ["torch", "transformers"], TRANSFORMERS, 0, "", False),
    ("numba", ["numba"], NUMBA, 0, "", True),
    ("torchrun over gloo", ["torch"], TORCHRUN, 2, "gloo", False),
    ("torchrun over NCCL", ["torch"], TORCHRUN, 1, "nccl", True),
    ("JAX", ["jax"], JAX, 0, "", False),
    ("TensorFlow", ["tensorflow"], TENSORFLOW, 0, "", False),
]


def counted(report, name):
    """Kernels of that name if there are any, else ops: a kernel's op has the same name at times.
    Calls of ops are exact; parts of one (cos inside of cos) have other names."""
    for table in ("kernels", "ops"):
        rows = [r for r in report.get(table, ()) if re.match(r"(\w+::)?%s(<|$)" % name, r["name"])]
        if rows:
            return sum(r["count"] for r in rows)
    return 0


def one(bench, name, text, ranks, backend):
    path = os.path.join(bench.work, re.sub(r"\W+", "-", name) + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write("device = %r\n" % ("cpu" if bench.rehearsal else "cuda") + text)
    command, more = [bench.python, path], {"TF_CPP_MIN_LOG_LEVEL": "3"}
    if ranks:
        command = [bench.python, "-m", "torch.distributed.run", "--standalone",
                   "--nproc-per-node", str(ranks), path]
        more.update(FOREIGN_BACKEND=backend, OMP_NUM_THREADS="1")
    result = bench.watch(command, re.sub(r"\W+", "-", "foreign-" + name), ["-b"], limit=45,
                         more=more)
    own = re.search(r"own (\S+) (\d+)", result.out)
    if result.status or not own or not result.report:
        bench.check(name, False, result.why())
        return
    lost = result.report["trust"]["lost_events"]
    if own[1] == "forward":		# steps: what a user would call a token
        steps = result.report.get("steps", {})
        bench.check(name, not lost, "%s forward passes; steps %s from %s" %
                    (own[2], steps.get("count"), steps.get("source")))
        return
    told = counted(result.report, own[1])
    bench.check(name, told == int(own[2]) and not lost,
                "%d of %s %s, %d lost" % (told, own[2], own[1], lost))


def foreign(bench):
    bench.need_tftop()
    there = bench.bare([bench.python, "-c", "import importlib.util as u\nprint(*[n for n in %r "
                        "if u.find_spec(n)])" % sorted({m for p in PROGRAMS for m in p[1]})]).out
    for name, needed, text, ranks, backend, gpu in PROGRAMS:
        missing = [m for m in needed if m not in there.split()]
        if missing:
            bench.missing(name, "there is no %s" % missing[0])
        elif gpu and bench.rehearsal:
            bench.missing(name, "needs a GPU")
        else:
            try:
                one(bench, name, text, ranks, backend)
            except NotMeasured as why:
                bench.missing(name, str(why))
