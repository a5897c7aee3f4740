/* SPDX-License-Identifier: MIT */
/* Sorts acts by start. Stable; O(n) for times that lie near each other. */
#ifndef MODEL_SORT_H
#define MODEL_SORT_H

#include <stddef.h>
#include <stdint.h>

struct start_key {
	int64_t start;
	uint32_t at;			/* index of the act that the key stands for */
	uint32_t kind;			/* kind of that act */
};

/* spare: room for n more keys. n must be below 2^32. */
void start_keys_sort(struct start_key *keys, struct start_key *spare, size_t n);

#endif
