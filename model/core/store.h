/* SPDX-License-Identifier: MIT */
/*
 * A growing array whose elements never move, so that a pointer to an element stays
 * valid and an index into the array stays right. store_init() sets the size of an
 * element, store_new() makes one.
 */
#ifndef MODEL_CORE_STORE_H
#define MODEL_CORE_STORE_H

#include <stddef.h>
#include <stdint.h>

/* An index that stands for nothing, in all parts of the model. */
#define NONE UINT32_MAX

#define STORE_PAGE 256u
struct store {
	char **pages;			/* owned */
	size_t cap_pages;
	uint32_t n, size;
};

void store_init(struct store *store, size_t size);
void store_release(struct store *store);
/* Returns a zeroed element; its index is store->n - 1. */
void *store_new(struct store *store);
size_t store_bytes(const struct store *store);

static inline void *store_at(const struct store *store, uint32_t i)
{
	return store->pages[i / STORE_PAGE] + (size_t)(i % STORE_PAGE) * store->size;
}

#endif
