/* SPDX-License-Identifier: MIT */
/* Hooks for TensorFlow's aligned memory, which has had three generations of functions; see
 * memory.c. */
#ifndef PROBES_TENSORFLOW_MEMORY_H
#define PROBES_TENSORFLOW_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "probes/runtime/runtime.h"

void *tf_malloc_tsl(size_t bytes, size_t alignment);
void *tf_malloc_int_tsl(size_t bytes, int alignment);
void *tf_malloc_tf(size_t bytes, int alignment);
void tf_free_tsl(void *memory);
void tf_free_tf(void *memory);
void tf_free_sized_tsl(void *memory, size_t bytes, size_t alignment);
void tf_free_sized_int_tsl(void *memory, size_t bytes, int alignment);
void tf_free_sized_long_tsl(void *memory, size_t bytes, size_t alignment);

/* The calling thread is in an allocator that is getting memory from the system. */
extern _Thread_local bool tf_in_allocator;

/* ---- bfc.c: TensorFlow's best-fit allocator with coalescing ---- */

void *tf_bfc_allocate(void *bfc, size_t alignment, size_t bytes, const void *attributes);
void tf_bfc_free(void *bfc, void *memory);
void tf_bfc_gone_0(void *bfc);
void tf_bfc_gone_1(void *bfc);
void tf_bfc_gone_2(void *bfc);
void tf_bfc_region(void *regions, void *memory, size_t bytes);
void *tf_bfc_region_joined(void *regions, void *memory, size_t bytes);
/* Called while tf_in_allocator is set: what the system returned (NULL: nothing). */
void tf_bfc_got(void *memory, size_t bytes);
void tf_bfc_level(enum tft_level old_level, enum tft_level new_level);
void tf_bfc_dump(void);
void tf_bfc_fork_child(void);

#endif
