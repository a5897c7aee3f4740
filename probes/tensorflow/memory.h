/* SPDX-License-Identifier: MIT */
/* Hooks of TensorFlow's aligned memory, of three generations; see memory.c. */
#ifndef PROBES_TENSORFLOW_MEMORY_H
#define PROBES_TENSORFLOW_MEMORY_H

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

void tf_memory_level(enum tft_level old_level, enum tft_level new_level);
void tf_memory_fork_child(void);

#endif
