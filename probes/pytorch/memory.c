/* SPDX-License-Identifier: MIT */
/*
 * Blocks of memory: c10 asks whether it is to tell of them, then tells each that it
 * gives out and takes back, with its size and the allocator's totals. The program's
 * own profiler asks the same way and is told the same.
 *
 * Small blocks are not told one by one: each op makes some. The total that c10 keeps
 * has them, and is told as a counter.
 */
#include <errno.h>
#include <stdatomic.h>

#include "probes/pytorch/probe.h"
#include "probes/runtime/cpu.h"

#define TOLD_BYTES 4096

static _Atomic uint32_t allocator;

bool torch_memory_on(void)
{
	return true;
}

static void tell(void *block, int64_t bytes)
{
	uint32_t name = atomic_load_explicit(&allocator, memory_order_relaxed);
	struct rt_top top;

	if (!name) {
		name = rt_name(TFT_NAME_ALLOCATOR, "cpu");
		atomic_store_explicit(&allocator, name, memory_order_relaxed);
	}
	if (bytes < 0) {
		rt_emit_free(&(struct tft_free){ .allocator = name, .address = (uintptr_t)block });
		return;
	}
	top = rt_op_current();
	rt_emit_alloc(&(struct tft_alloc){
		.allocator = name, .device = rt_cpu_device(), .op = top.instance,
		.op_name = top.name, .address = (uintptr_t)block, .bytes = (uint64_t)bytes,
	});
}

void torch_memory(void *block, int64_t bytes, size_t allocated, size_t reserved,
		  struct torch_device device)
{
	void (*original)(void *, int64_t, size_t, size_t, struct torch_device);
	bool (*original_on)(void);
	int saved = errno;

	if (device.type == 0 && (bytes >= TOLD_BYTES || bytes <= -TOLD_BYTES) &&
	    rt_level() >= TFT_LEVEL_DEFAULT)
		tell(block, bytes);
	*(void **)&original_on = torch_lib->original(TFT_PYTORCH_MEMORY_ON);
	if (original_on && original_on()) {
		*(void **)&original = torch_lib->original(TFT_PYTORCH_MEMORY);
		if (!original)
			*(void **)&original = torch_lib->original(TFT_PYTORCH_MEMORY_1);
		if (original)
			original(block, bytes, allocated, reserved, device);
	}
	errno = saved;
}
