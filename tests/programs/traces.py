# SPDX-License-Identifier: MIT
"""traces.py FORMAT FILE [TRUTH] [--steps N] [--gzip]: writes a made-up recording as
another profiler would have (xspace, tpu, kineto, tensorboard, step_stats, run_metadata)
and what there is in it, in the form of tftop's report (TRUTH).

The program: each step copies a batch in, runs three ops of two kernels each on a
stream and copies a result out; every third op allocates. Protobufs are written
field by field: nothing but Python is needed.
"""
import argparse
import gzip
import json
import struct

START_US = 1795307911680429     # microseconds since 1970
OPS = (("model/conv/Conv2D", "Conv2D"), ("model/relu/Relu", "Relu"), ("model/fc/MatMul", "MatMul"))


# ---- protobuf ----

def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def num(field, n):
    return varint(field << 3) + varint(n)


def data(field, payload):
    if isinstance(payload, str):
        payload = payload.encode()
    return varint(field << 3 | 2) + varint(len(payload)) + payload


# ---- the program, as events with ns from its start ----

class Work:
    """An event: where ("host", "stream"), name, start, duration and what goes with it."""

    def __init__(self, where, name, start, dur, **more):
        self.where, self.name, self.start, self.dur, self.more = where, name, start, dur, more


def program(steps):
    events, at, correlation, address = [], 1000, 100, 0x10000
    for step in range(steps):
        begin, device = at, at + 9000
        inside = []

        def launch(call, kind, name, dur, **more):
            nonlocal at, device, correlation
            correlation += 1
            inside.append(Work("host", call, at, 1500, correlation=correlation, call=True))
            device = max(device, at + 2500)
            inside.append(Work("stream", name, device, dur, correlation=correlation, kind=kind, **more))
            at += 2000
            device += dur + 250

        launch("cudaMemcpyAsync", "copy", "MemcpyH2D", 4000, bytes=65536, source="pageable", target="device")
        for i, (op, op_type) in enumerate(OPS):
            start = at
            at += 500
            if i == 2:
                address += 4096
                inside.append(Work("host", "MemoryAllocation", at, 0, address=address, bytes=2048, op=op))
            for k in range(2):
                launch("cudaLaunchKernel", "kernel", f"{op_type.lower()}_kernel_{k}", 3000 + 100 * i + k,
                       op=f"{op}:{op_type}")
            at += 500
            inside.append(Work("host", op, start, at - start, type=op_type))
            if i == 2:
                inside.append(Work("host", "MemoryDeallocation", at, 0, address=address, bytes=2048))
        launch("cudaMemcpyAsync", "copy", "MemcpyD2H", 1000, bytes=256, source="device", target="pageable")
        at = max(at, device) + 777
        events.append(Work("host", "train", begin, at - begin, step=step))
        events += inside
        at += 1223
    return events


def truth(events, format):
    kernels, copies, ops, steps = {}, {}, {}, []
    for e in events:
        if e.where == "stream" and e.more["kind"] == "kernel":
            row = kernels.setdefault(e.name, {"name": e.name, "count": 0, "total_ns": 0, "ops": {}})
            row["ops"].setdefault(e.more["op"].split(":")[0], 0)
            row["ops"][e.more["op"].split(":")[0]] += 1
            row["count"] += 1
            row["total_ns"] += e.dur
        elif e.where == "stream":
            direction = "h2d" if e.more["source"] == "pageable" else "d2h"
            row = copies.setdefault(direction, {"direction": direction, "count": 0, "bytes": 0, "total_ns": 0})
            row["count"] += 1
            row["bytes"] += e.more["bytes"]
            row["total_ns"] += e.dur
        elif "type" in e.more:
            row = ops.setdefault(e.name, {"name": e.name, "type": e.more["type"], "count": 0, "total_ns": 0})
            row["count"] += 1
            row["total_ns"] += e.dur
        elif "step" in e.more:
            steps.append(e.dur)
    memory = {"xspace": ["GPU_0_bfc", 0], "kineto": ["gpu", 0]}.get(format, [])
    found = {"kernels": list(kernels.values()), "copies": list(copies.values()),
             "ops": list(ops.values()), "steps": {"count": len(steps), "series_ns": steps},
             "calls": sum("call" in e.more for e in events)}
    if memory:
        found["memory"] = memory + [len(steps), 2048, 0]
    if format in ("step_stats", "run_metadata"):    # say nothing of either
        found["steps"] = {"count": 0, "series_ns": []}
        found["calls"] = 0
    if format == "tensorboard":                     # names alone
        for op in found["ops"]:
            del op["type"]
    return found


# ---- XSpace ----

STATS = ("correlation_id", "kernel_details", "memcpy_details", "tf_op", "step_num", "addr",
         "allocation_bytes", "requested_bytes", "allocator_name", "device_vendor", "core_count",
         "group_id", "GPU_0_bfc", "peak_teraflops_per_second", "memory_size")


def stat(name, value):
    body = num(1, STATS.index(name) + 1)
    if isinstance(value, str):
        return body + (num(7, STATS.index(value) + 1) if value in STATS else data(5, value))
    if isinstance(value, float):
        return body + varint(2 << 3 | 1) + struct.pack("<d", value)
    return body + num(4, value)


def xstats(e):
    found = []
    m = e.more
    if "correlation" in m:
        found.append(("correlation_id", m["correlation"]))
    if m.get("kind") == "kernel":
        found.append(("kernel_details", "regs:32 static_shared:0 dynamic_shared:0 grid:8,2,1 block:64,1,1 occ_pct:50"))
    if m.get("kind") == "copy":
        found.append(("memcpy_details", f"kind_src:{m['source']} kind_dst:{m['target']} size:{m['bytes']} dest:0 async:1"))
    if "step" in m:
        found.append(("step_num", m["step"]))
    if "address" in m:
        found += [("addr", m["address"]), ("allocation_bytes", m["bytes"]), ("requested_bytes", m["bytes"] - 8),
                  ("allocator_name", "GPU_0_bfc")]
    return b"".join(data(4, stat(*pair)) for pair in found)


class Plane:
    def __init__(self, name):
        self.name, self.ids, self.lines, self.stats, self.shared = name, {}, [], b"", {}

    def event(self, e, name):
        number = self.ids.setdefault(name, len(self.ids) + 1)
        if "kind" in e.more and "op" in e.more:     # what all of a name have, its metadata has
            self.shared[name] = data(5, stat("tf_op", e.more["op"]))
        return data(4, num(1, number) + num(2, e.start * 1000) + num(3, e.dur * 1000) + xstats(e))

    def line(self, number, name, events, repeat, period):
        """Events in any order, as a profiler's; names are "name:Type" for ops."""
        made = b"".join(self.event(e, f"{e.name}:{e.more['type']}" if "type" in e.more else e.name)
                        for e in events)
        for i in range(repeat):
            head = num(1, number) + data(2, name) + num(3, START_US * 1000 + i * period)
            self.lines.append(data(3, head + made))

    def bytes(self):
        metadata = [data(4, num(1, i) + data(2, num(1, i) + data(2, name) + self.shared.get(name, b"")))
                    for name, i in self.ids.items()]
        names = [data(5, num(1, i + 1) + data(2, num(1, i + 1) + data(2, name))) for i, name in enumerate(STATS)]
        return data(1, num(1, 1) + data(2, self.name) + b"".join(self.lines + metadata + names) + self.stats)


def xspace(events, repeat=1, tpu=False):
    period = events[-1].start + events[-1].dur + 100000
    host, gpu = Plane("/host:CPU"), Plane("/device:TPU:0" if tpu else "/device:GPU:0")
    # children before parents, as TraceMe records them: by end
    host.line(4711, "python", sorted((e for e in events if e.where == "host"), key=lambda e: e.start + e.dur),
              repeat, period)
    streams = [e for e in events if e.where == "stream"]
    gpu.line(14, "XLA Ops" if tpu else "Stream #14(MemcpyH2D,Compute)", streams, repeat, period)
    for i, name in enumerate(("XLA Modules", "Async XLA Ops", "Source code", "Launch Stats")):
        gpu.line(90 + i, name, streams, repeat, period)     # the same again
    gpu.line(99, "Framework Ops", [Work("stream", e.more.get("op", e.name), e.start, e.dur) for e in streams], repeat, period)
    gpu.line(98, "Steps", [Work("stream", str(e.more["step"]), e.start, e.dur) for e in events if "step" in e.more],
             repeat, period)
    gpu.stats = data(6, stat("device_vendor", "Nvidia")) + data(6, stat("core_count", 108)) + \
        data(6, stat("peak_teraflops_per_second", 312.5)) + data(6, stat("memory_size", 40 << 30))
    return host.bytes() + gpu.bytes() + data(4, "hosty")


def tpu(events):
    return xspace(events, tpu=True)


# ---- StepStats ----

def node(name, e, label, thread=0, memory=b""):
    start = START_US * 1000 + e.start
    body = data(1, name) + num(2, start // 1000) + num(5, e.dur // 1000) + memory + data(8, label)
    body += num(10, thread) if thread else b""
    return data(2, body + num(13, start) + num(16, e.dur))


def step_stats(events):
    ops = [e for e in events if e.where == "host" and "type" in e.more]
    cpu = data(1, "/job:localhost/replica:0/task:0/device:GPU:0") + b"".join(
        node(e.name, e, f"{e.name} = {e.more['type']}({OPS[i % 3 - 1][0] if i % 3 else ''})", 7,
             data(6, data(1, "GPU_0_bfc") + num(2, 512) + num(3, 256) + num(5, 1000 * (i + 1))))
        for i, e in enumerate(ops))

    def stream(name):
        body = data(1, "/device:GPU:0/" + name)
        for e in events:
            if e.where != "stream":
                continue
            copy = e.more["kind"] == "copy"
            if copy:
                what = "MEMCPYHtoD" if e.more["source"] == "pageable" else "MEMCPYDtoH"
                body += node(f"edge_1:{what}", e, f"{what} {e.more['bytes']} bytes (PAGEABLE to DEVICE)")
            elif name != "memcpy":
                body += node(e.more["op"], e, e.name)
        return body

    return b"".join(data(1, d) for d in (cpu, stream("stream:all"), stream("stream:14"), stream("memcpy")))


# ---- Chrome's JSON ----

def chrome_args(e):
    m, args = e.more, {}
    if m.get("kind") == "kernel":
        args.update(device=0, stream=7, grid=[8, 2, 1], block=[64, 1, 1])
    if m.get("kind") == "copy":
        args.update(device=0, stream=7, bytes=m["bytes"])
    if "correlation" in m:
        args["correlation"] = m["correlation"]
    return args


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def chrome_event(phase, name, cat, pid, tid, at, dur, args, **more):
    fields = [("ph", phase), ("cat", cat), ("name", name), ("pid", pid), ("tid", tid)]
    text = ", ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in fields)
    text += f', "ts": {us(START_US * 1000 + at)}'
    text += f', "dur": {us(dur)}' if phase == "X" else ""
    return "{" + text + "".join(f', {json.dumps(k)}: {json.dumps(v)}' for k, v in more.items()) + \
        f', "args": {json.dumps(args)}' + "}"


def kineto(events):
    rows = []
    for e in events:
        if e.where == "stream":
            cat = "kernel" if e.more["kind"] == "kernel" else "gpu_memcpy"
            name = e.name if cat == "kernel" else "Memcpy HtoD (Pageable -> Device)" \
                if e.more["source"] == "pageable" else "Memcpy DtoH (Device -> Pageable)"
            rows.append(chrome_event("X", name, cat, 0, 7, e.start, e.dur, chrome_args(e)))
            rows.append(chrome_event("f", "ac2g", "ac2g", 0, 7, e.start, 0, {}, id=e.more["correlation"], bp="e"))
        elif "call" in e.more:
            rows.append(chrome_event("X", e.name, "cuda_runtime", 800, 801, e.start, e.dur, chrome_args(e)))
            rows.append(chrome_event("s", "ac2g", "ac2g", 800, 801, e.start, 0, {}, id=e.more["correlation"]))
        elif "step" in e.more:
            rows.append(chrome_event("X", f"ProfilerStep#{e.more['step']}", "user_annotation", 800, 801,
                                     e.start, e.dur, {}))
        elif "type" in e.more:
            rows.append(chrome_event("X", e.name, "cpu_op", 800, 801, e.start, e.dur, {"External id": 5}))
        else:
            sign = 1 if e.name == "MemoryAllocation" else -1
            rows.append(chrome_event("i", "[memory]", "cpu_instant_event", 800, 801, e.start, 0,
                                     {"Addr": e.more["address"], "Bytes": sign * e.more["bytes"],
                                      "Device Type": 1, "Device Id": 0}, s="t"))
    rows.reverse()                      # in no order
    meta = ['{"ph": "M", "name": "process_name", "pid": 800, "tid": 0, "args": {"name": "python"}}',
            '{"ph": "M", "name": "thread_name", "pid": 800, "tid": 801, "args": {"name": "main"}}']
    return ('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "x"}], "traceEvents": [\n' +
            ",\n".join(rows + meta) + "\n]}\n").encode()


def tensorboard(events):
    rows = ['{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}}',
            '{"ph": "M", "pid": 1, "tid": 14, "name": "thread_name", "args": {"name": "Stream #14(Compute)"}}',
            '{"ph": "M", "pid": 1, "tid": 99, "name": "thread_name", "args": {"name": "Framework Ops"}}',
            '{"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}}']
    for e in events:
        m, args = e.more, {}
        if "correlation" in m:
            args["correlation_id"] = str(m["correlation"])
        if m.get("kind") == "kernel":
            args["tf_op"] = m["op"]
            args["kernel_details"] = "regs:32 grid:8,2,1 block:64,1,1"
            rows.append(chrome_event("X", m["op"], "", 1, 99, e.start, e.dur, {}))
        if m.get("kind") == "copy":
            args["memcpy_details"] = f"kind_src:{m['source']} kind_dst:{m['target']} size:{m['bytes']} dest:0 async:1"
        if "step" in m:
            args["step_num"] = str(m["step"])
        if "address" not in m:
            where = (1, 14) if e.where == "stream" else (701, 33)
            rows.append(chrome_event("X", e.name, "", *where, e.start, e.dur, args))
    return ('{"displayTimeUnit": "ns", "traceEvents": [' + ",\n".join(rows) + ", {}]}").encode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("format")
    parser.add_argument("file")
    parser.add_argument("truth", nargs="?")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=0,
                        help="xspace: the same again, later, until the file has so many")
    parser.add_argument("--gzip", action="store_true")
    args = parser.parse_args()
    events = program(args.steps)
    made = step_stats(events) if args.format in ("step_stats", "run_metadata") else globals()[args.format](events)
    if args.format == "run_metadata":
        made = data(1, made)
    if args.bytes > len(made):
        made = xspace(events, args.bytes // len(made))
    with (gzip.open if args.gzip else open)(args.file, "wb") as out:
        out.write(made)
    if args.truth:
        with open(args.truth, "w") as out:
            json.dump(truth(events, args.format), out)


if __name__ == "__main__":
    main()
