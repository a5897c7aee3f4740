/* SPDX-License-Identifier: MIT */
/*
 * A hash map from a 64-bit key to a 32-bit index: open addressing with linear probing, grown
 * when three quarters are full, without tombstones (removing shifts entries back). The value
 * MAP_NONE means "not there" and cannot be stored.
 *
 * Set `counted` before the first key if most keys are ids that count up from 1: those below the
 * number of slots then also stand in an array and are found without hashing.
 */
#ifndef MODEL_MAP_H
#define MODEL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map {
	uint64_t *keys;			/* owned */
	uint32_t *values;		/* owned; value + 1, 0: free slot */
	size_t size;			/* slots, a power of two or 0 */
	size_t used;
	uint32_t *direct;		/* owned; values of the keys below n_direct */
	uint32_t n_direct;
	bool counted;
};

static inline uint64_t map_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

void map_release(struct map *map);
uint32_t map_find(const struct map *map, uint64_t key);
static inline uint32_t map_get(const struct map *map, uint64_t key)
{
	return key < map->n_direct ? map->direct[key] - 1 : map_find(map, key);
}
void map_set(struct map *map, uint64_t key, uint32_t value);
void map_remove(struct map *map, uint64_t key);
static inline size_t map_bytes(const struct map *map)
{
	return map->size * (sizeof(*map->keys) + sizeof(*map->values)) +
	       map->n_direct * sizeof(*map->direct);
}

#endif
