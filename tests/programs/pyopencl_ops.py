# SPDX-License-Identifier: MIT
"""Every kind of command that pyopencl's wheel enqueues, with checked results.

Prints the same lines on every run. The wheel brings its own OpenCL loader.
"""
import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pyopencl.clmath as cl_math
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import InclusiveScanKernel

N = 50_000
context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
queue = cl.CommandQueue(context)
print("profiling as asked for:", queue.properties & cl.command_queue_properties.PROFILING_ENABLE)
profiled = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
print("profiling as asked for:",
      bool(profiled.properties & cl.command_queue_properties.PROFILING_ENABLE))
unordered = cl.CommandQueue(
    context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)

# arrays: kernels that pyopencl writes itself
x = cl_array.arange(queue, N, dtype=np.float32)
y = cl_math.sin(x) * 2 + x
print("array", np.allclose(y.get(), np.sin(np.arange(N, dtype=np.float32)) * 2 + np.arange(N),
                           atol=1e-2))
total = ReductionKernel(context, np.float64, neutral="0", reduce_expr="a+b",
                        map_expr="x[i]", arguments="__global double *x")
ones = cl_array.zeros(queue, N, dtype=np.float64) + 1
print("reduction", total(ones).get())
scan = InclusiveScanKernel(context, np.int32, "a+b", neutral="0")
numbers = cl_array.to_device(queue, np.arange(N, dtype=np.int32) % 7)
scan(numbers)
print("scan", numbers.get()[-1] == (np.arange(N) % 7).sum())

# buffers on an out-of-order queue, chained by events
flags = cl.mem_flags.READ_WRITE
a = cl.Buffer(context, flags, 4 * N)
b = cl.Buffer(context, flags, 4 * N)
host = np.empty(N, np.float32)
filled = cl.enqueue_fill_buffer(unordered, a, np.float32(3), 0, 4 * N)
copied = cl.enqueue_copy(unordered, b, a, wait_for=[filled])
cl.enqueue_copy(unordered, host, b, wait_for=[copied]).wait()
print("fill and copy", host.sum() == 3 * N)

# rectangles
square = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
part = np.zeros((16, 16), np.float32)
cl.enqueue_copy(queue, a, square, is_blocking=True)
cl.enqueue_copy(queue, part, a, buffer_origin=(4 * 8, 8, 0), host_origin=(0, 0, 0),
                region=(4 * 16, 16, 1), buffer_pitches=(4 * 64,), host_pitches=(4 * 16,))
print("rectangle", (part == square[8:24, 8:24]).all())

# maps
mapped, _ = cl.enqueue_map_buffer(queue, b, cl.map_flags.WRITE, 0, (N,), np.float32)
mapped[:] = 5
mapped.base.release(queue)
cl.enqueue_copy(queue, host, b)
print("map", host.sum() == 5 * N)

# a kernel held back by a user event, events of the program's own
program = cl.Program(context, """
__kernel void add_one(__global float *a) { a[get_global_id(0)] += 1; }
__kernel void twice(__global float *a) { a[get_global_id(0)] *= 2; }
""").build(options=["-DUNUSED=1"])
add_one, twice = cl.Kernel(program, "add_one"), cl.Kernel(program, "twice")
gate = cl.UserEvent(context)
first = add_one(unordered, (N,), None, b, wait_for=[gate])
second = twice(unordered, (N,), None, b, wait_for=[first])
print("held back", first.command_execution_status != cl.command_execution_status.COMPLETE)
gate.set_status(cl.command_execution_status.COMPLETE)
second.wait()
cl.enqueue_copy(queue, host, b)
print("gate", host.sum() == 12 * N)

# times of a queue that asked for them are the program's to read
timed = add_one(profiled, (N,), None, b)
timed.wait()
print("times", 0 < timed.profile.queued <= timed.profile.submit <= timed.profile.start <=
      timed.profile.end)
try:
    first.profile.end
    print("times of a queue without them: given")
except cl.RuntimeError as error:
    print("times of a queue without them:", error.code)

# images
image = cl.create_image(context, flags,
                        cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNORM_INT8),
                        shape=(32, 32))
cl.enqueue_copy(queue, image, np.full((32, 32, 4), 7, np.uint8), origin=(0, 0), region=(32, 32))
pixels = np.empty((32, 32, 4), np.uint8)
cl.enqueue_copy(queue, pixels, image, origin=(0, 0), region=(32, 32))
print("image", int(pixels.sum()) == 7 * 32 * 32 * 4)

# errors come through as they are
try:
    cl.Program(context, "__kernel void broken(__global float *a) { a[0] = nothing; }").build()
except cl.RuntimeError as error:
    print("build error", error.code)
try:
    cl.enqueue_copy(queue, host, cl.Buffer(context, flags, 16), is_blocking=True)
except cl.Error as error:
    print("copy error", error.code)
for q in (queue, profiled, unordered):
    q.finish()
print("references", queue.reference_count, context.reference_count > 0)
