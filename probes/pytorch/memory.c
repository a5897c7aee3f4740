/* SPDX-License-Identifier: MIT */
/*
 * Memory blocks. On the CPU, c10 allocates and frees the memory of tensors by two functions, which
 * are replaced. c10 could also report these blocks, as it does when a program asks its profiler for
 * memory, but it keeps a table under a lock for that, which costs several hundred nanoseconds an
 * op. Blocks of other devices are always reported: their allocators report each with its size.
 *
 * Small blocks are not recorded (probes/runtime/blocks.h).
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "probes/pytorch/probe.h"
#include "probes/runtime/blocks.h"
#include "probes/runtime/cpu.h"

#define DEVICE_TYPES 8
#define DEVICE_INDEXES 16

/* ---- memory of the processor ---- */

static unsigned cpu_owner(void)
{
	static _Atomic unsigned owner;
	unsigned o = atomic_load_explicit(&owner, memory_order_relaxed);

	if (!o) {
		o = rt_block_owner(rt_name(TFT_NAME_ALLOCATOR, "cpu"));
		atomic_store_explicit(&owner, o, memory_order_relaxed);
	}
	return o;
}

/* May throw if memory is short. */
void *torch_alloc_cpu(size_t bytes)
{
	static void *(*original)(size_t);
	void *block;
	int saved;

	if (!original)
		*(void **)&original = torch_lib->original(TFT_PYTORCH_ALLOC_CPU);
	block = original(bytes);
	if (bytes < RT_BLOCK_BYTES || !block || rt_level() < TFT_LEVEL_DEFAULT)
		return block;
	saved = errno;
	rt_block_given(cpu_owner(), rt_cpu_device(), block, bytes);
	errno = saved;
	return block;
}

void torch_free_cpu(void *block)
{
	static void (*original)(void *);

	if (!original)
		*(void **)&original = torch_lib->original(TFT_PYTORCH_FREE_CPU);
	if (block && rt_level() >= TFT_LEVEL_DEFAULT) {
		int saved = errno;

		rt_block_freed(block);
		errno = saved;
	}
	original(block);
}

/* ---- memory of other devices ---- */

/* The names that torch.device uses (c10/core/DeviceType.h). */
static unsigned device_owner(struct torch_device device)
{
	static const char *const types[DEVICE_TYPES] = {
		"cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga",
	};
	static _Atomic unsigned owners[DEVICE_TYPES][DEVICE_INDEXES];
	_Atomic unsigned *owner;
	char text[32];
	unsigned o;

	if (device.type < 0 || device.type >= DEVICE_TYPES || device.index < 0 ||
	    device.index >= DEVICE_INDEXES) {
		snprintf(text, sizeof(text), "device %d:%d", device.type, device.index);
		return rt_block_owner(rt_name(TFT_NAME_ALLOCATOR, text));
	}
	owner = &owners[device.type][device.index];
	o = atomic_load_explicit(owner, memory_order_relaxed);
	if (!o) {
		snprintf(text, sizeof(text), "%s:%d", types[device.type], device.index);
		o = rt_block_owner(rt_name(TFT_NAME_ALLOCATOR, text));
		atomic_store_explicit(owner, o, memory_order_relaxed);
	}
	return o;
}

static void told(void *block, int64_t bytes, struct torch_device device)
{
	int saved = errno;

	if (device.type == 0 || rt_level() < TFT_LEVEL_DEFAULT)
		return;
	/* the ids of these devices are those of their own probes */
	if (bytes >= RT_BLOCK_BYTES)
		rt_block_given(device_owner(device), 0, block, (size_t)bytes);
	else if (bytes < 0)
		rt_block_freed(block);
	errno = saved;
}

typedef void report(void *block, int64_t bytes, size_t allocated, size_t reserved,
		    struct torch_device device);

void torch_memory(void *block, int64_t bytes, size_t allocated, size_t reserved,
		  struct torch_device device)
{
	report *original = (report *)torch_lib->original(TFT_PYTORCH_MEMORY);

	told(block, bytes, device);
	if (original)
		original(block, bytes, allocated, reserved, device);
}

void torch_memory_1(void *block, int64_t bytes, size_t allocated, size_t reserved,
		    struct torch_device device)
{
	report *original = (report *)torch_lib->original(TFT_PYTORCH_MEMORY_1);

	told(block, bytes, device);
	if (original)
		original(block, bytes, allocated, reserved, device);
}
