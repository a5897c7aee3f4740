/* SPDX-License-Identifier: MIT */
#include "model/acts/acts.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define SPREAD 8u

void waiting_init(struct waiting_acts *waiting)
{
	*waiting = (struct waiting_acts) { .first_ns = INT64_MAX, .used = WAITING_BLOCK };
}

void waiting_release(struct waiting_acts *waiting)
{
	for (size_t i = 0; i < waiting->n_blocks; i++)
		free(waiting->blocks[i]);
	free(waiting->blocks);
	free(waiting->in_use);
	free(waiting->unused);
	free(waiting->keys);
	waiting_init(waiting);
}

size_t waiting_bytes(const struct waiting_acts *waiting)
{
	return waiting->cap * sizeof(*waiting->keys) +
	       waiting->n_blocks * WAITING_BLOCK * sizeof(struct act) +
	       waiting->cap_blocks * (sizeof(*waiting->blocks) + 2 * sizeof(uint32_t));
}

/* ---- blocks ---- */

static void next_block(struct waiting_acts *waiting)
{
	waiting->used = 0;
	if (waiting->n_unused) {
		waiting->block = waiting->unused[--waiting->n_unused];
		return;
	}
	if (waiting->n_blocks == waiting->cap_blocks) {
		grow(&waiting->blocks, &waiting->cap_blocks, waiting->n_blocks,
		     sizeof(*waiting->blocks));
		waiting->in_use = xreallocarray(waiting->in_use, waiting->cap_blocks,
						sizeof(*waiting->in_use));
		waiting->unused = xreallocarray(waiting->unused, waiting->cap_blocks,
						sizeof(*waiting->unused));
	}
	waiting->block = (uint32_t)waiting->n_blocks++;
	waiting->in_use[waiting->block] = 0;
	waiting->blocks[waiting->block] = xreallocarray(NULL, WAITING_BLOCK, sizeof(struct act));
}

static uint32_t waiting_put(struct waiting_acts *waiting, const struct act *act)
{
	uint32_t at;

	if (waiting->used == WAITING_BLOCK)
		next_block(waiting);
	at = waiting->block * WAITING_BLOCK + waiting->used++;
	waiting->blocks[waiting->block][at % WAITING_BLOCK] = *act;
	waiting->in_use[waiting->block]++;
	return at;
}

static void waiting_take(struct waiting_acts *waiting, uint32_t at)
{
	uint32_t block = at / WAITING_BLOCK;

	if (--waiting->in_use[block])
		return;
	if (block == waiting->block)
		waiting->used = 0;
	else
		waiting->unused[waiting->n_unused++] = block;
}

/* Moves the waiting acts together when they are spread over too many blocks. */
static void waiting_pack(struct waiting_acts *waiting)
{
	struct waiting_acts old = *waiting;

	if (old.n_blocks - old.n_unused <= SPREAD * (1 + old.n / WAITING_BLOCK))
		return;
	waiting->blocks = NULL;
	waiting->in_use = waiting->unused = NULL;
	waiting->n_blocks = waiting->cap_blocks = waiting->n_unused = 0;
	waiting->used = WAITING_BLOCK;
	for (size_t i = 0; i < old.n; i++)
		waiting->keys[i].at = waiting_put(waiting, waiting_at(&old, old.keys[i].at));
	old.keys = NULL;
	waiting_release(&old);
}

/* ---- in and out ---- */

void waiting_push(struct waiting_acts *waiting, const struct act *act)
{
	if (waiting->n == waiting->cap)
		grow(&waiting->keys, &waiting->cap, waiting->n, sizeof(*waiting->keys));
	if (act->start_ns < waiting->first_ns)
		waiting->first_ns = act->start_ns;
	waiting->keys[waiting->n++] = (struct start_key) {
		act->start_ns, waiting_put(waiting, act), act->kind,
	};
}

void waiting_drop(struct waiting_acts *waiting, size_t n)
{
	waiting->first_ns = INT64_MAX;
	for (size_t i = 0; i < waiting->n; i++)
		if (i < n)
			waiting_take(waiting, waiting->keys[i].at);
		else if (waiting->keys[i].start < waiting->first_ns)
			waiting->first_ns = waiting->keys[i].start;
	waiting->n -= n;
	memmove(waiting->keys, waiting->keys + n, waiting->n * sizeof(*waiting->keys));
	waiting_pack(waiting);
}

void waiting_forget(struct waiting_acts *waiting, int64_t to_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < waiting->n; i++)
		if (waiting->keys[i].start < to_ns)
			waiting_take(waiting, waiting->keys[i].at);
		else
			waiting->keys[kept++] = waiting->keys[i];
	waiting->n = kept;
	waiting_pack(waiting);
}
