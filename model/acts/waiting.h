/* SPDX-License-Identifier: MIT */
/*
 * Acts that came and were not handed out yet.
 *
 * Idea: an act is written once, into a block, and lies there until it is
 * forgotten; a short key in the order of arrival stands for it in everything
 * that looks for starts. A block without acts is used again at once, so that what
 * comes and goes stays in the same memory. When few acts keep many blocks (some
 * that lie far in the future), they move together.
 *
 * Always true: a block holds as many waiting acts as in_use says; the blocks hold
 * at most SPREAD times the acts that wait, and SPREAD blocks more.
 * Complexity: O(1) to push, O(keys) to forget. Times: ns.
 */
#ifndef MODEL_WAITING_H
#define MODEL_WAITING_H

#include "model/acts/act.h"

#define WAITING_BLOCK 1024u		/* acts in a block */

struct waiting_acts {
	struct start_key *keys;		/* owned; by arrival. `at`: the act's place */
	size_t n, cap;
	int64_t first_ns;		/* the earliest start so far; INT64_MAX: none */
	struct act **blocks;		/* owned, as are they */
	uint32_t *in_use;		/* owned; of each block */
	uint32_t *unused;		/* owned; blocks without acts */
	size_t n_blocks, cap_blocks, n_unused;
	uint32_t block, used;		/* where the next one goes */
};

void waiting_init(struct waiting_acts *waiting);
void waiting_release(struct waiting_acts *waiting);
void waiting_push(struct waiting_acts *waiting, const struct act *act);
/* Those that came first, n of them, are gone. */
void waiting_drop(struct waiting_acts *waiting, size_t n);
/* Those that start before to_ns are gone. */
void waiting_forget(struct waiting_acts *waiting, int64_t to_ns);
size_t waiting_bytes(const struct waiting_acts *waiting);

/* Valid until it is forgotten or another is. */
static inline struct act *waiting_at(const struct waiting_acts *waiting, uint32_t at)
{
	return &waiting->blocks[at / WAITING_BLOCK][at % WAITING_BLOCK];
}

#endif
