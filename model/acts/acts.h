/* SPDX-License-Identifier: MIT */
/*
 * Acts that have arrived and were not handed to the analyses yet. Whoever finishes something
 * pushes an act here and need not know who looks at it.
 *
 * Idea: an act is written once, into a block, and stays there until it is forgotten. A short
 * key, kept in the order of arrival, stands for it wherever only its start is needed. A block
 * without acts is reused at once, so that acts come and go within the same memory. When a few
 * acts (whose times lie far in the future) keep many blocks alive, they are moved together.
 *
 * Always true: in_use counts the waiting acts of each block; there are at most SPREAD times
 * as many places in blocks as there are waiting acts, and SPREAD blocks more.
 * Complexity: O(1) to push, O(keys) to forget. Times: ns.
 */
#ifndef MODEL_ACTS_H
#define MODEL_ACTS_H

#include "model/acts/act.h"

#define WAITING_BLOCK 1024u		/* acts per block */

struct waiting_acts {
	struct start_key *keys;		/* owned; in order of arrival; `at`: where the act is */
	size_t n, cap;
	int64_t first_ns;		/* the earliest start so far; INT64_MAX: none */
	struct act **blocks;		/* owned, and so is each block */
	uint32_t *in_use;		/* owned; how many waiting acts each block has */
	uint32_t *unused;		/* owned; blocks without acts */
	size_t n_blocks, cap_blocks, n_unused;
	uint32_t block, used;		/* where the next act goes */
};

void waiting_init(struct waiting_acts *waiting);
void waiting_release(struct waiting_acts *waiting);
void waiting_push(struct waiting_acts *waiting, const struct act *act);
/* Drops the n acts that arrived first. */
void waiting_drop(struct waiting_acts *waiting, size_t n);
/* Drops the acts that start before to_ns. */
void waiting_forget(struct waiting_acts *waiting, int64_t to_ns);
size_t waiting_bytes(const struct waiting_acts *waiting);

/* The pointer is valid until this or another act is dropped. */
static inline struct act *waiting_at(const struct waiting_acts *waiting, uint32_t at)
{
	return &waiting->blocks[at / WAITING_BLOCK][at % WAITING_BLOCK];
}

struct acts {
	struct waiting_acts waiting;
	size_t max;			/* when more are waiting, the older half is dropped */
	size_t looked;			/* how many of the waiting acts the analyses have seen */
	uint64_t dropped;
	uint64_t dropped_now;		/* how many of the dropped acts no slice has counted yet */
};

void acts_new(struct model *model);
void acts_free(struct model *model);
size_t acts_bytes(const struct model *model);
/* Copies the act. Never fails. */
void acts_push(struct model *model, const struct act *act);

#endif
