# SPDX-License-Identifier: MIT
"""What there is on the machine, for who reads the figures."""
import os
import platform
import shutil
import subprocess

from bench import HERE, NotMeasured

# In a process of its own: it initialises CUDA, without which new copies of CUPTI crash.
CUPTI = """
import ctypes, glob, importlib.util, os, sys
cuda = ctypes.CDLL("libcuda.so.1")
version = ctypes.c_int()
print("cuInit", cuda.cuInit(0))
cuda.cuDriverGetVersion(ctypes.byref(version))
print("driver", version.value)
found = glob.glob("/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.*[0-9]") + \\
    glob.glob("/usr/local/cuda*/lib64/libcupti.so.*[0-9]")
spec = importlib.util.find_spec("nvidia")
for folder in spec.submodule_search_locations if spec else ():
    found += glob.glob(folder + "/*/lib/libcupti.so.*[0-9]")
seen = set()
for path in [] if sys.argv[1] else found:
    if os.path.realpath(path) in seen:
        continue
    seen.add(os.path.realpath(path))
    print("cupti", path)
path = sys.argv[1] or next(iter(found), "libcupti.so.13")
cupti = ctypes.CDLL(path)
number = ctypes.c_uint32()
print("used", path)
print("status", cupti.cuptiGetVersion(ctypes.byref(number)))
print("version", number.value)
"""

VERSIONS = """
import importlib
for name in ("torch", "jax", "jaxlib", "triton", "cupy"):
    try:
        module = importlib.import_module(name)
        print(name, module.__version__)
    except Exception:
        pass
"""


def first_line(command):
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        lines = [line.strip() for line in out.stdout.splitlines() if line.strip()]
        return lines[-1] if lines and out.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired):
        return None


def describe(bench):
    facts = bench.machine
    facts["kernel"] = platform.release()
    facts["cores"] = os.cpu_count()
    facts["C library"] = " ".join(platform.libc_ver())
    facts["python"] = platform.python_version()
    facts["nvcc"] = first_line(["nvcc", "--version"])
    if not bench.rehearsal:
        facts["gpu"] = first_line(["nvidia-smi", "--format=csv,noheader",
                                   "--query-gpu=name,driver_version,memory.total,clocks.max.sm,"
                                   "power.limit,persistence_mode"])
    for tool in ("nsys", "ncu"):
        facts[tool] = shutil.which(tool)
    versions = bench.bare([bench.python, "-c", VERSIONS], limit=25)
    for line in versions.out.splitlines():
        name, version = line.split(None, 1)
        facts[name] = version
    cupti = bench.bare([bench.python, "-c", CUPTI, bench.more.get("TFTOP_CUPTI", "")], limit=20)
    facts["cupti"] = []
    for line in cupti.out.splitlines():
        name, _, value = line.partition(" ")
        if name == "cupti":
            facts["cupti"].append(value)
        elif name in ("driver", "version", "used"):
            facts["cupti " + name] = value
    asked = os.path.join(bench.root, "own/glibc")	# of a bundle
    if os.path.exists(asked):
        with open(asked, encoding="ascii") as file:
            facts["C library asked for"] = file.read().strip()
    for name, value in facts.items():
        if value is None or value == []:
            bench.missing(name, "not there")
        else:
            bench.fact(name, value if not isinstance(value, list) else " ".join(value))
    if not bench.rehearsal and not facts.get("gpu"):
        bench.check("a GPU", False, "nvidia-smi does not name one")
    says = bench.execute([bench.tftop, "--version"], bench.environment, 20)
    bench.check("tftop starts", says.status == 0, says.why() if says.status else
                says.out.splitlines()[0])


def facts(bench):
    """What is behind every figure of cost, and differs between machines."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise NotMeasured("there is no C compiler")
    path = os.path.join(bench.work, "facts")
    built = subprocess.run([compiler, "-O2", "-o", path, os.path.join(HERE, "facts.c")],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if built.returncode:
        raise NotMeasured("it cannot be built: " + built.stderr.strip()[-160:])
    said = bench.bare([path], limit=10)
    for line in said.out.splitlines():
        name, value = line.split()
        bench.figure(name, float(value), "ns")
    bench.check("facts of the processor", said.status == 0, said.why() if said.status else "")
    rate = os.path.join(bench.work, "rate")
    if not os.access(rate, os.X_OK):
        bench.missing("a launch", "'rate' was not built")
        return
    said = bench.bare([rate, "--count", "20000"], limit=10)
    launch = said.out.rsplit("launch ", 1)
    if len(launch) == 2:
        bench.figure("a launch", float(launch[1]), "ns")
    else:
        bench.missing("a launch", said.why())
