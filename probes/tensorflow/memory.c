/* SPDX-License-Identifier: MIT */
/*
 * Memory of tensors on the host: the aligned blocks that TensorFlow asks the system for. The
 * runtime records them (probes/runtime/blocks.h); small ones are left out.
 */
#include <errno.h>
#include <stdatomic.h>

#include "probes/runtime/blocks.h"
#include "probes/runtime/cpu.h"
#include "probes/tensorflow/memory.h"
#include "probes/tensorflow/probe.h"

/* The system's own allocator. */
static unsigned owner(void)
{
	static _Atomic unsigned system_owner;
	unsigned o = atomic_load_explicit(&system_owner, memory_order_relaxed);

	if (!o) {
		o = rt_block_owner(rt_name(TFT_NAME_ALLOCATOR, "cpu"));
		atomic_store_explicit(&system_owner, o, memory_order_relaxed);
	}
	return o;
}

static inline void *after(void *memory, size_t bytes)
{
	int saved = errno;

	/* what an allocator gets to hand out is recorded when it hands it out */
	if (tf_in_allocator)
		tf_bfc_got(memory, bytes);
	else if (memory && bytes >= RT_BLOCK_BYTES && rt_level() >= TFT_LEVEL_DEFAULT)
		rt_block_given(owner(), rt_cpu_device(), memory, bytes);
	errno = saved;
	return memory;
}

static inline void before(void *memory)
{
	int saved = errno;

	if (memory && rt_level() >= TFT_LEVEL_DEFAULT)
		rt_block_freed(memory);
	errno = saved;
}

void *tf_malloc_tsl(size_t bytes, size_t alignment)
{
	return after(((void *(*)(size_t, size_t))tf_original(TFT_TF_MALLOC_TSL))(bytes, alignment),
		     bytes);
}

void *tf_malloc_int_tsl(size_t bytes, int alignment)
{
	void *memory =
		((void *(*)(size_t, int))tf_original(TFT_TF_MALLOC_INT_TSL))(bytes, alignment);

	/* if both are there, this one calls the other */
	return tf_original(TFT_TF_MALLOC_TSL) ? memory : after(memory, bytes);
}

void *tf_malloc_tf(size_t bytes, int alignment)
{
	return after(((void *(*)(size_t, int))tf_original(TFT_TF_MALLOC_TF))(bytes, alignment),
		     bytes);
}

void tf_free_tsl(void *memory)
{
	before(memory);
	((void (*)(void *))tf_original(TFT_TF_FREE_TSL))(memory);
}

void tf_free_tf(void *memory)
{
	before(memory);
	((void (*)(void *))tf_original(TFT_TF_FREE_TF))(memory);
}

void tf_free_sized_tsl(void *memory, size_t bytes, size_t alignment)
{
	before(memory);
	((void (*)(void *, size_t, size_t))tf_original(TFT_TF_FREE_SIZED_TSL))
		(memory, bytes, alignment);
}

void tf_free_sized_int_tsl(void *memory, size_t bytes, int alignment)
{
	before(memory);
	((void (*)(void *, size_t, int))tf_original(TFT_TF_FREE_SIZED_INT_TSL))
		(memory, bytes, alignment);
}

void tf_free_sized_long_tsl(void *memory, size_t bytes, size_t alignment)
{
	before(memory);
	((void (*)(void *, size_t, size_t))tf_original(TFT_TF_FREE_SIZED_LONG_TSL))
		(memory, bytes, alignment);
}
