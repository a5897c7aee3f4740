# SPDX-License-Identifier: MIT
"""Tasks of asyncio that compute, between which a loop launches OpenCL kernels.

host_tasks.py SECONDS [own]: for so much of a processor each tasks with the names that asyncio gives, by
which it is learned how tasks are found, a task that lives all the time, one that awaits others, tasks that
are made anew for 30 ms, and callbacks; then tasks side by side, and tasks that take microseconds. No two
names have the same function. It prints, as JSON, by task's name the function and how long that ran by its
own clock, null for the last ones. "own": in an event loop that does not run callbacks as asyncio's do (3.11
and later). Only the standard library and host_waits.py, so that any Python can run it.
"""
import asyncio
import json
import sys
import time

from host_waits import Device

own = {}        # by the name of a task


def compute(ms, name):
    """All that takes time in a task with that name."""
    start, x = time.monotonic_ns(), 0
    until = start + ms * 1_000_000
    while time.monotonic_ns() < until:
        x += 1
    own[name] = own.get(name, 0) + time.monotonic_ns() - start


async def fetch(until):
    while time.thread_time() < until:
        compute(50, "fetch 1")
        await asyncio.sleep(0)


async def decode():
    compute(20, "prépare")
    await asyncio.sleep(0)
    compute(20, "prépare")


async def prepare(until):
    while time.thread_time() < until:
        await decode()
        await asyncio.wait_for(asyncio.sleep(0), 10)


async def brief():
    compute(30, "brief")


async def unnamed():
    compute(30, "")


def called_back(future):
    compute(30, "callback")
    future.set_result(0)


async def left(until):
    while time.thread_time() < until:
        compute(1, "left")
        await asyncio.sleep(0)


async def right(until):
    while time.thread_time() < until:
        compute(1, "right")
        await asyncio.sleep(0)


async def flash():
    return 1


async def spark():
    return sum(i & 7 for i in range(50))


class Phases:
    """Each runs until this thread has used that much of a processor: on a busy machine the looks at
    a thread that waits for one are held back."""
    def __init__(self, device):
        self.device, self.steps = device, 0

    def step(self):
        self.device.step()
        self.steps += 1

    async def one(self, until):
        await asyncio.create_task(fetch(until), name="fetch 1")

    async def nested(self, until):
        await asyncio.create_task(prepare(until), name="prépare")

    async def anew(self, until):
        while time.thread_time() < until:
            await asyncio.create_task(brief(), name="brief")
            self.step()

    async def without(self, until):
        while time.thread_time() < until:
            await asyncio.gather(unnamed(), unnamed())
            self.step()

    async def callbacks(self, until):
        loop = asyncio.get_running_loop()
        while time.thread_time() < until:
            future = loop.create_future()
            loop.call_soon(called_back, future)
            await future

    async def beside(self, until):
        tasks = [asyncio.create_task(left(until), name="left"),
                 asyncio.create_task(right(until), name="right")]
        await asyncio.gather(*tasks)

    async def quick(self, until):
        while time.thread_time() < until:
            await asyncio.create_task(flash(), name="flash")
            await asyncio.create_task(spark(), name="spark")


class OwnHandle(asyncio.Handle):
    def _run(self):
        self._context.run(self._callback, *self._args)


class OwnLoop(asyncio.SelectorEventLoop):
    def _call_soon(self, callback, args, context):
        handle = OwnHandle(callback, args, self, context)
        self._ready.append(handle)
        return handle


async def main():
    device, begin, seconds = Device(), time.monotonic(), float(sys.argv[1])
    phases = Phases(device)
    for phase in ("without", "one", "nested", "anew", "callbacks", "beside", "quick"):
        phases.step()
        await getattr(phases, phase)(time.thread_time() + seconds)
    first, last = device.result()
    functions = {"fetch 1": "fetch", "prépare": "prepare", "brief": "brief", "": "unnamed",
                 "callback": "called_back", "left": "left", "right": "right", "flash": "flash",
                 "spark": "spark"}
    for name in ("left", "right"):
        own[name] = None
    print(json.dumps({"tasks": {name: [function, own.get(name)]
                                for name, function in functions.items()},
                      "run_ns": int((time.monotonic() - begin) * 1e9),
                      "right": first == last == phases.steps}))


if __name__ == "__main__":
    if sys.argv[2:] == ["own"]:
        with asyncio.Runner(loop_factory=OwnLoop) as runner:
            runner.run(main())
    else:
        asyncio.run(main())
