/* SPDX-License-Identifier: MIT */
#include "model/core/store.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

void store_init(struct store *store, size_t size)
{
	memset(store, 0, sizeof(*store));
	store->size = (uint32_t)((size + 7) / 8 * 8);
}

void store_release(struct store *store)
{
	for (uint32_t i = 0; i < store->n; i += STORE_PAGE)
		free(store->pages[i / STORE_PAGE]);
	free(store->pages);
	memset(store, 0, sizeof(*store));
}

void *store_new(struct store *store)
{
	size_t page = store->n / STORE_PAGE;

	if (store->n % STORE_PAGE == 0) {
		grow(&store->pages, &store->cap_pages, page, sizeof(*store->pages));
		store->pages[page] = xcalloc(STORE_PAGE, store->size);
	}
	return store_at(store, store->n++);
}

size_t store_bytes(const struct store *store)
{
	return (store->n + STORE_PAGE - 1) / STORE_PAGE * STORE_PAGE * store->size +
	       store->cap_pages * sizeof(*store->pages);
}
