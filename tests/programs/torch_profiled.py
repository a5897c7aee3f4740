# SPDX-License-Identifier: MIT
"""torch_profiled.py FILE PROGRAM [ARGUMENT…]: runs PROGRAM, a Python file, while
PyTorch's own profiler watches every op of it, with shapes and memory, and writes its
timeline into FILE, that of the first worker of a DataLoader into FILE.0, and so on.
Kineto writes it, but where PyTorch was built without, or its times are whole microseconds
(before 2.3): there it is made of what the profiler itself keeps.
"""
import json
import os
import runpy
import sys

import torch
from torch.utils.data._utils import worker


version = tuple(map(int, torch.__version__.split(".")[:2]))
exact = torch.autograd.kineto_available() and version >= (2, 3)


def all_of(nodes):
    for node in nodes:
        yield node
        yield from all_of(node.children)


def timeline(results):
    """As far as pytorch_compare.py reads it."""
    known = {e.correlation_id(): e for e in results.events() if e.correlation_id()}
    events, launched = [], {}
    nodes = sorted(all_of(results.experimental_event_tree()), key=lambda n: n.start_time_ns)
    for node in nodes:
        # of a time of day in ns a float keeps hundreds of them only
        at = {"tid": node.start_tid, "ts": (node.start_time_ns - nodes[0].start_time_ns) / 1000}
        if node.name == "[memory]":
            events.append({"name": "[memory]", "ph": "i", **at,
                           "args": {"Bytes": node.extra_fields.alloc_size}})
        if node.correlation_id not in known:
            continue
        op = known[node.correlation_id]
        kind = "user_annotation" if "USER_SCOPE" in str(node.extra_fields.scope) else "cpu_op"
        events.append({"name": node.name, "ph": "X", "cat": kind, **at,
                       "dur": node.duration_time_ns / 1000,
                       "args": {"Ev Idx": node.correlation_id, "Input Dims": op.shapes(),
                                "Input type": op.dtypes()}})
        key = (op.fwd_thread_id() or node.start_tid, op.sequence_nr())
        if "BACKWARD" in str(node.extra_fields.scope) and key in launched:
            flow = {"cat": "fwdbwd", "id": len(events), "name": "fwdbwd"}
            events += [{"ph": "s", **flow, **launched[key]}, {"ph": "f", **flow, **at}]
        elif key[1] >= 0 and not op.fwd_thread_id():	# the last one made the node
            launched[key] = at
    return {"traceEvents": events}


def profiled(path, function, *arguments):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                record_shapes=True, profile_memory=True) as profile:
        function(*arguments)
    if exact:
        profile.export_chrome_trace(path)
        return
    with open(path, "w", encoding="utf-8") as file:
        json.dump(timeline(profile.profiler.kineto_results), file)


def loop(*arguments):
    number = arguments[10]
    if not exact:	# the parent's goes on here
        torch.autograd._disable_profiler()
    profiled("%s.%d" % (file, number), worker_loop, *arguments)


file, sys.argv = sys.argv[1], sys.argv[2:]
sys.path[0] = os.path.dirname(sys.argv[0])	# as Python does
worker_loop, worker._worker_loop = worker._worker_loop, loop
profiled(file, lambda: runpy.run_path(sys.argv[0], run_name="__main__"))
