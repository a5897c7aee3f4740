/* SPDX-License-Identifier: MIT */
/*
 * Lines of source that a compiler knows of its instructions. A table of hashes that never grows:
 * when an entry has no free place near its own, it replaces one.
 */
#include <errno.h>

#include "probes/runtime/runtime.h"
#include "probes/runtime/spin.h"

#define LINES (1u << 16)
#define NEAR 8u

static struct {
	_Atomic uint64_t key;		/* module << 32 | op; 0: unused */
	_Atomic uint32_t source;
} lines[LINES];
/* held by writers: two that share an entry would mix up their lines */
static _Atomic uint32_t busy;

static uint32_t place_of(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 48) & (LINES - 1);
}

void rt_line_define(uint32_t module, uint32_t op, uint32_t source)
{
	uint64_t key = (uint64_t)module << 32 | op;
	uint32_t at = place_of(key), to = at;
	int saved = errno;

	if (!module || !op || !rt_spin_lock(&busy))
		return;
	for (uint32_t i = 0; i < NEAR; i++) {
		uint32_t k = (at + i) & (LINES - 1);
		uint64_t have = atomic_load_explicit(&lines[k].key, memory_order_relaxed);

		if (!have || have == key) {
			to = k;
			break;
		}
	}
	/* a reader of the old key must not get the new line */
	atomic_store(&lines[to].key, 0);
	atomic_store(&lines[to].source, source);
	atomic_store(&lines[to].key, key);
	rt_spin_unlock(&busy);
	errno = saved;
}

uint32_t rt_line_of(uint32_t module, uint32_t op)
{
	uint64_t key = (uint64_t)module << 32 | op;

	for (uint32_t i = 0, at = place_of(key); module && op && i < NEAR; i++) {
		uint32_t k = (at + i) & (LINES - 1), source;

		if (atomic_load(&lines[k].key) != key)
			continue;
		source = atomic_load(&lines[k].source);
		return atomic_load(&lines[k].key) == key ? source : 0;
	}
	return 0;
}
