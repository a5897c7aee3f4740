/* SPDX-License-Identifier: MIT */
/*
 * A small map from 64-bit keys to name ids, for probes. Lookups and insertions take no lock;
 * entries are never removed. A key is never 0. If the map is full, an insertion is dropped and
 * counted, and lookups of that key return 0.
 */
#ifndef PROBES_RUNTIME_IDMAP_H
#define PROBES_RUNTIME_IDMAP_H

#include <stdatomic.h>
#include <stdint.h>

#include "probes/runtime/runtime.h"

#define RT_IDMAP_SLOTS 1024u	/* a power of two */

struct rt_idmap {	/* all zero: empty */
	struct {
		_Atomic uint64_t key;
		_Atomic uint32_t id;
	} slot[RT_IDMAP_SLOTS];
	_Atomic uint32_t used;
};

static inline uint32_t rt_idmap_home(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) & (RT_IDMAP_SLOTS - 1);
}

static inline void rt_idmap_set(struct rt_idmap *map, uint64_t key, uint32_t id)
{
	uint32_t i = rt_idmap_home(key);

	for (uint32_t n = 0; n < RT_IDMAP_SLOTS; n++, i = (i + 1) & (RT_IDMAP_SLOTS - 1)) {
		uint64_t have = 0;

		if (atomic_compare_exchange_strong(&map->slot[i].key, &have, key) ||
		    have == key) {
			atomic_store(&map->slot[i].id, id);
			atomic_store(&map->used, 1);
			return;
		}
	}
	rt_dropped(1);
}

static inline uint32_t rt_idmap_get(struct rt_idmap *map, uint64_t key)
{
	uint32_t i = rt_idmap_home(key);

	if (!atomic_load_explicit(&map->used, memory_order_relaxed))
		return 0;
	for (uint32_t n = 0; n < RT_IDMAP_SLOTS; n++, i = (i + 1) & (RT_IDMAP_SLOTS - 1)) {
		uint64_t have = atomic_load_explicit(&map->slot[i].key, memory_order_acquire);

		if (have == key)
			return atomic_load_explicit(&map->slot[i].id, memory_order_relaxed);
		if (!have)
			return 0;
	}
	return 0;
}

#endif
