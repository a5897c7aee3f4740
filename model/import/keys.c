/* SPDX-License-Identifier: MIT */
#include "model/import/keys.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/hash.h"
#include "model/base/util.h"

/* next: a number with the same hash; 0: none */
struct keys_entry { size_t at; uint32_t size, next; };

void keys_release(struct keys *keys)
{
	free(keys->list);
	free(keys->bytes);
	map_release(&keys->by_hash);
}

uint32_t keys_number(struct keys *keys, const void *key, size_t size)
{
	uint64_t hash = map_mix(hash_bytes(HASH_SEED, key, size));
	uint32_t first = map_get(&keys->by_hash, hash);

	first = first == MAP_NONE ? 0 : first;
	for (uint32_t i = first; i; i = keys->list[i - 1].next)
		if (keys->list[i - 1].size == size &&
		    (!size || !memcmp(keys->bytes + keys->list[i - 1].at, key, size)))
			return i;
	if (keys->n >= KEYS_MAX || size > KEYS_BYTES - keys->used)
		return 0;
	if (keys->used + size > keys->room) {
		keys->room = (keys->used + size) * 2;
		keys->bytes = xrealloc(keys->bytes, keys->room);
	}
	if (size)
		memcpy(keys->bytes + keys->used, key, size);
	grow(&keys->list, &keys->cap, keys->n, sizeof(*keys->list));
	keys->list[keys->n] = (struct keys_entry) {
		.at = keys->used, .size = (uint32_t)size, .next = first,
	};
	keys->used += size;
	map_set(&keys->by_hash, hash, (uint32_t)++keys->n);
	return (uint32_t)keys->n;
}
