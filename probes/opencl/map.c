/* SPDX-License-Identifier: MIT */
/*
 * A hash of chains that only grow. A deleted node stays in its place without a key and is reused by
 * the next insertion into its chain. So memory is bounded by the largest number of objects that
 * were alive at once, readers never see a freed node, and there is no lock that a fork could leave
 * behind.
 *
 * Two threads that insert the same key at once leave two nodes; map_set and map_take handle all of
 * them, so the only cost is a node.
 */
#include <stdlib.h>

#include "probes/opencl/probe.h"

/* Marks a node that is being filled in; no object has this address. */
static const char claimed;

static struct map_node *claim_free(struct map_node *node)
{
	for (; node; node = node->next) {
		const void *none = NULL;

		if (!atomic_load_explicit(&node->key, memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&node->key, &none, &claimed))
			return node;
	}
	return NULL;
}

static bool update(struct map_node *node, const void *key, uintptr_t value)
{
	bool found = false;

	for (; node; node = node->next)
		if (atomic_load(&node->key) == key) {
			atomic_store(&node->value, value);
			found = true;
		}
	return found;
}

bool ocl_map_set(struct ocl_map *map, const void *key, uintptr_t value)
{
	_Atomic(struct map_node *) *head = &map->bucket[ocl_map_hash(key)];
	struct map_node *first = atomic_load(head), *node;

	if (!key || update(first, key, value))
		return key != NULL;
	node = claim_free(first);
	if (node) {
		atomic_store(&node->value, value);
		atomic_store(&node->key, key);
		return true;
	}
	node = calloc(1, sizeof(*node));
	if (!node) {
		rt_dropped(1);
		return false;
	}
	atomic_init(&node->key, key);
	atomic_init(&node->value, value);
	node->next = first;
	while (!atomic_compare_exchange_weak(head, &node->next, node))
		;
	return true;
}

uintptr_t ocl_map_take(struct ocl_map *map, const void *key)
{
	struct map_node *node = atomic_load(&map->bucket[ocl_map_hash(key)]);
	uintptr_t value = 0;

	for (; key && node; node = node->next) {
		const void *expected = key;

		if (atomic_load(&node->key) != key)
			continue;
		uintptr_t had = atomic_exchange(&node->value, 0);

		if (had)
			value = had;
		atomic_compare_exchange_strong(&node->key, &expected, NULL);
	}
	return value;
}

/* Only nodes that have a key: a node that is being filled in belongs to the thread that does so. */
void ocl_map_clear(struct ocl_map *map)
{
	for (unsigned i = 0; i < MAP_BUCKETS; i++) {
		struct map_node *node = atomic_load(&map->bucket[i]);

		for (; node; node = node->next) {
			const void *key = atomic_load(&node->key);

			if (key && key != &claimed &&
			    atomic_compare_exchange_strong(&node->key, &key, &claimed)) {
				atomic_store(&node->value, 0);
				atomic_store(&node->key, NULL);
			}
		}
	}
}
