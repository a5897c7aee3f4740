/* SPDX-License-Identifier: MIT */
/* See open.h. Linear probing without tombstones. */
#include <pthread.h>
#include <string.h>

#include "probes/itt/open.h"
#include "probes/runtime/runtime.h"

#define SLOTS 2048u	/* a power of two; half of them may be in use */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct itt_slot {
	struct open_key key;	/* kind 0: unused */
	uint64_t value;
} slots[SLOTS];
static uint32_t used;

static uint32_t home(const struct open_key *k)
{
	uint64_t h = k->d1 * 0x9e3779b97f4a7c15u;

	h = (h ^ k->d2 ^ (uint64_t)k->domain << 32 ^ (uint64_t)k->kind) * 0xff51afd7ed558ccdu;
	h = (h ^ h >> 32 ^ k->d3) * 0xc4ceb9fe1a85ec53u;
	return (uint32_t)(h >> 40) & (SLOTS - 1);
}

static bool same(const struct open_key *a, const struct open_key *b)
{
	return a->kind == b->kind && a->domain == b->domain && a->d1 == b->d1 &&
	       a->d2 == b->d2 && a->d3 == b->d3;
}

/* The slot of a key, or the unused one where it would be stored. */
static struct itt_slot *find(const struct open_key *key)
{
	uint32_t i = home(key);

	while (slots[i].key.kind && !same(&slots[i].key, key))
		i = (i + 1) & (SLOTS - 1);
	return &slots[i];
}

static void itt_open_erase(uint32_t hole)
{
	for (uint32_t i = (hole + 1) & (SLOTS - 1); slots[i].key.kind; i = (i + 1) & (SLOTS - 1)) {
		uint32_t at = home(&slots[i].key);

		/* whether it may stay: its home lies between the hole and its place */
		if (((i - at) & (SLOTS - 1)) < ((i - hole) & (SLOTS - 1)))
			continue;
		slots[hole] = slots[i];
		hole = i;
	}
	memset(&slots[hole], 0, sizeof(slots[hole]));
	used--;
}

uint64_t open_put(const struct open_key *key, uint64_t value)
{
	struct itt_slot *s;
	uint64_t before = 0;

	pthread_mutex_lock(&lock);
	s = find(key);
	if (s->key.kind) {
		before = s->value;
		s->value = value;
	} else if (used < SLOTS / 2) {
		s->key = *key;
		s->value = value;
		used++;
	} else {
		rt_dropped(1);
	}
	pthread_mutex_unlock(&lock);
	return before;
}

uint64_t open_take(const struct open_key *key)
{
	struct itt_slot *s;
	uint64_t value = 0;

	pthread_mutex_lock(&lock);
	s = find(key);
	if (s->key.kind) {
		value = s->value;
		itt_open_erase((uint32_t)(s - slots));
	}
	pthread_mutex_unlock(&lock);
	return value;
}

void open_forget(void)
{
	pthread_mutex_lock(&lock);
	memset(slots, 0, sizeof(slots));
	used = 0;
	pthread_mutex_unlock(&lock);
}

void open_fork_child(void)
{
	pthread_mutex_init(&lock, NULL);
	open_forget();
}
