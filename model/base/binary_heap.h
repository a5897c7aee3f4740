/* SPDX-License-Identifier: MIT */
/*
 * A binary heap in an array of the caller's: list[0] comes before all others. (The model's
 * allocator is heap.h.)
 *
 * Everything is inlined, so that a call whose size and comparison are constants becomes a loop
 * made for that type. Pass the comparison as a static function. No state.
 */
#ifndef MODEL_BINARY_HEAP_H
#define MODEL_BINARY_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define BINARY_HEAP_ITEM 1024u		/* bytes of an item, at most */

#define BINARY_HEAP_INLINE static inline __attribute__((always_inline))

/* Whether a comes before b; arg is the caller's. */
typedef bool binary_heap_before(const void *a, const void *b, const void *arg);

/* Moves item i down to its place, after it was replaced by a later one. O(log n). */
BINARY_HEAP_INLINE void binary_heap_down(void *list, size_t n, size_t size, size_t i,
					 binary_heap_before *before, const void *arg)
{
	char *items = list;
	_Alignas(max_align_t) char moved[BINARY_HEAP_ITEM];

	memcpy(moved, items + i * size, size);
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && before(items + (child + 1) * size, items + child * size, arg))
			child++;
		if (!before(items + child * size, moved, arg))
			break;
		memcpy(items + i * size, items + child * size, size);
	}
	memcpy(items + i * size, moved, size);
}

/* Moves the last of n items up to its place, after it was added. O(log n). */
BINARY_HEAP_INLINE void binary_heap_up(void *list, size_t n, size_t size,
				       binary_heap_before *before, const void *arg)
{
	char *items = list;
	_Alignas(max_align_t) char moved[BINARY_HEAP_ITEM];
	size_t i = n - 1;

	memcpy(moved, items + i * size, size);
	for (; i && before(moved, items + (i - 1) / 2 * size, arg); i = (i - 1) / 2)
		memcpy(items + i * size, items + (i - 1) / 2 * size, size);
	memcpy(items + i * size, moved, size);
}

/* Makes a heap of n items in any order. O(n). */
BINARY_HEAP_INLINE void binary_heap_make(void *list, size_t n, size_t size,
					 binary_heap_before *before, const void *arg)
{
	for (size_t i = n / 2; i-- > 0; )
		binary_heap_down(list, n, size, i, before, arg);
}

/* Takes list[0] out, which the caller has copied; list has n - 1 items then. O(log n). */
BINARY_HEAP_INLINE void binary_heap_pop(void *list, size_t n, size_t size,
					binary_heap_before *before, const void *arg)
{
	if (n > 1) {
		memcpy(list, (char *)list + (n - 1) * size, size);
		binary_heap_down(list, n - 1, size, 0, before, arg);
	}
}

#endif
