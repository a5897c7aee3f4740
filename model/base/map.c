/* SPDX-License-Identifier: MIT */
#include "model/base/map.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

void map_release(struct map *map)
{
	free(map->keys);
	free(map->values);
	free(map->direct);
	memset(map, 0, sizeof(*map));
}

/*
 * The slot where the search for a key starts. Most keys are ids that count up and are looked up in
 * about that order: eight consecutive keys share a cache line. The lowest three bits also take part
 * in hashing the rest, because addresses have no information there.
 */
static size_t map_home(const struct map *map, uint64_t key)
{
	return (map_mix(key >> 3) << 3 | ((key ^ key >> 7 ^ key >> 13) & 7)) & (map->size - 1);
}

/* The slot of the key, or the free slot where it would be stored. */
static size_t map_slot(const struct map *map, uint64_t key)
{
	size_t i = map_home(map, key);

	while (map->values[i] && map->keys[i] != key)
		i = (i + 1) & (map->size - 1);
	return i;
}

uint32_t map_find(const struct map *map, uint64_t key)
{
	if (!map->used)
		return MAP_NONE;
	return map->values[map_slot(map, key)] - 1;	/* 0 - 1 is MAP_NONE */
}

static void map_resize(struct map *map, size_t size)
{
	struct map old = *map;

	map->size = size;
	map->keys = xreallocarray(NULL, size, sizeof(*map->keys));
	map->values = xcalloc(size, sizeof(*map->values));
	for (size_t i = 0; i < old.size; i++)
		if (old.values[i]) {
			size_t slot = map_slot(map, old.keys[i]);

			map->keys[slot] = old.keys[i];
			map->values[slot] = old.values[i];
		}
	free(old.keys);
	free(old.values);
	if (!map->counted)
		return;
	map->direct = xreallocarray(map->direct, size, sizeof(*map->direct));
	map->n_direct = (uint32_t)size;
	for (size_t key = 0; key < size; key++)
		map->direct[key] = map->values[map_slot(map, key)];
}

void map_set(struct map *map, uint64_t key, uint32_t value)
{
	size_t slot;

	if (map->used >= map->size / 4 * 3)
		map_resize(map, map->size ? map->size * 2 : 16);
	slot = map_slot(map, key);
	if (!map->values[slot])
		map->used++;
	map->keys[slot] = key;
	map->values[slot] = value + 1;
	if (key < map->n_direct)
		map->direct[key] = value + 1;
}

void map_remove(struct map *map, uint64_t key)
{
	size_t mask = map->size - 1;
	size_t hole, i;

	if (!map->used)
		return;
	hole = map_slot(map, key);
	if (!map->values[hole])
		return;
	map->used--;
	if (key < map->n_direct)
		map->direct[key] = 0;
	/* Entries that were stored past the hole move into it. */
	for (i = (hole + 1) & mask; map->values[i]; i = (i + 1) & mask) {
		size_t home = map_home(map, map->keys[i]);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		map->keys[hole] = map->keys[i];
		map->values[hole] = map->values[i];
		hole = i;
	}
	map->values[hole] = 0;
}
