/* SPDX-License-Identifier: MIT */
/*
 * See blocks.h. The table has a cache line of places for each hash. A place holds an address, in
 * the bits below its alignment the round of levels in which it was recorded, and in the highest
 * bits its owner: no address of a process reaches these. The table is large and small blocks are
 * freed, too, so a free first checks in a few cache lines how many of its kind are in the table:
 * mostly none.
 */
#include <stdatomic.h>
#include <string.h>

#include "probes/runtime/blocks.h"

#define LINES (1u << 14)
#define PLACES 8u
#define ROUND 15u		/* alignment is at least 16 */
#define KINDS (1u << 12)
#define OWNER_SHIFT 58

static _Alignas(64) _Atomic uint64_t table[LINES][PLACES];
static _Alignas(64) _Atomic uint16_t kinds[KINDS];	/* the table has at least this many */
static _Atomic uint32_t rounds;
static _Atomic uint32_t owners[RT_OWNERS];		/* their names, from 1 on */

unsigned rt_block_owner(uint32_t name)
{
	for (unsigned i = 1; name && i < RT_OWNERS; i++) {
		uint32_t have = 0;

		if (atomic_compare_exchange_strong(&owners[i], &have, name) || have == name)
			return i;
	}
	return 0;
}

static inline uint64_t hash(uint64_t address)
{
	return (address >> 4) * 0x9e3779b97f4a7c15u;
}

static inline _Atomic uint64_t *line_of(uint64_t address)
{
	return table[hash(address) >> 50];
}

static inline _Atomic uint16_t *kind_of(uint64_t address)
{
	return &kinds[hash(address) >> 32 & (KINDS - 1)];
}

static inline uint64_t address_of(uint64_t word)
{
	return word & (((uint64_t)1 << OWNER_SHIFT) - 1) & ~(uint64_t)ROUND;
}

static uint32_t name_of(unsigned owner)
{
	return atomic_load_explicit(&owners[owner], memory_order_relaxed);
}

static void tell_free(uint64_t word)
{
	struct tft_free f = {
		.allocator = name_of((unsigned)(word >> OWNER_SHIFT)), .address = address_of(word),
	};

	rt_batch_free(&f);
}

/* Empties a place that contains `have`; false: another thread was faster. */
static bool take_place(_Atomic uint64_t *place, uint64_t have)
{
	uint64_t address = address_of(have);

	if (!atomic_compare_exchange_strong(place, &have, 0))
		return false;
	atomic_fetch_sub_explicit(kind_of(address), 1, memory_order_relaxed);
	return true;
}

/* Removes an address, whichever round it was recorded in; 0: it was not recorded. */
static uint64_t rt_block_take(uint64_t address)
{
	_Atomic uint64_t *place;
	uint64_t have;

	if (!atomic_load_explicit(kind_of(address), memory_order_relaxed))
		return 0;
	place = line_of(address);
	for (uint32_t i = 0; i < PLACES; i++) {
		have = atomic_load_explicit(&place[i], memory_order_relaxed);
		if (have && address_of(have) == address)
			return take_place(&place[i], have) ? have : 0;
	}
	return 0;
}

static bool rt_block_put(uint64_t address, unsigned owner)
{
	_Atomic uint64_t *place = line_of(address);
	uint64_t word = address | (atomic_load(&rounds) & ROUND) | (uint64_t)owner << OWNER_SHIFT;
	uint64_t have;

	if (atomic_fetch_add_explicit(kind_of(address), 1, memory_order_relaxed) == UINT16_MAX) {
		atomic_fetch_sub_explicit(kind_of(address), 1, memory_order_relaxed);
		return false;
	}
	for (uint32_t i = 0; i < PLACES; i++) {
		have = 0;
		if (!atomic_load_explicit(&place[i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong(&place[i], &have, word))
			return true;
	}
	atomic_fetch_sub_explicit(kind_of(address), 1, memory_order_relaxed);
	return false;
}

bool rt_block_given_in(unsigned owner, uint32_t device, const void *memory, size_t bytes,
		       struct rt_top top)
{
	uint64_t address = (uintptr_t)memory, before;
	struct tft_alloc a = {
		.device = device, .address = address, .bytes = bytes, .op = top.instance,
		.op_name = top.name,
	};

	if (!owner || owner >= RT_OWNERS || !address || address & ROUND || address >> OWNER_SHIFT)
		return false;
	/* it was freed unseen */
	before = rt_block_take(address);
	if (before)
		tell_free(before);
	if (!rt_block_put(address, owner)) {
		rt_dropped(1);
		return false;
	}
	a.allocator = name_of(owner);
	rt_batch_alloc(&a);
	return true;
}

bool rt_block_given(unsigned owner, uint32_t device, const void *memory, size_t bytes)
{
	return rt_block_given_in(owner, device, memory, bytes, rt_op_current());
}

void rt_block_freed(const void *memory)
{
	uint64_t word = rt_block_take((uintptr_t)memory);

	if (word)
		tell_free(word);
}

void rt_blocks_level(enum tft_level old_level, enum tft_level new_level)
{
	uint64_t have;

	if (old_level >= TFT_LEVEL_DEFAULT && new_level < TFT_LEVEL_DEFAULT)
		atomic_fetch_add(&rounds, 1);
	if (old_level >= TFT_LEVEL_DEFAULT || new_level < TFT_LEVEL_DEFAULT)
		return;
	for (uint32_t i = 0; i < LINES * PLACES; i++) {
		_Atomic uint64_t *place = &table[i / PLACES][i % PLACES];

		have = atomic_load_explicit(place, memory_order_relaxed);
		if (have && (have & ROUND) != (atomic_load(&rounds) & ROUND) &&
		    take_place(place, have))
			tell_free(have);
	}
}

void rt_blocks_fork_child(void)
{
	for (uint32_t i = 0; i < LINES * PLACES; i++)
		if (atomic_load_explicit(&table[i / PLACES][i % PLACES], memory_order_relaxed))
			atomic_store_explicit(&table[i / PLACES][i % PLACES], 0,
					      memory_order_relaxed);
	memset(kinds, 0, sizeof(kinds));
}
