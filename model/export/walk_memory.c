/* SPDX-License-Identifier: MIT */
/* What happened: allocations and frees, as counters, objects and maxima. */
#include <stdio.h>

#include "model/base/util.h"
#include "model/export/walk_internal.h"

static struct walk_account *account_of(struct export_walk *w, uint32_t p, uint32_t allocator,
				       uint32_t *index)
{
	uint32_t at = map_get(&w->accounts_at, walk_key(p, allocator));
	const char *name = walk_name(w, allocator);
	char text[320];
	struct track track = { .kind = TRACK_COUNTER, .name = text, .unit = "bytes" };

	if (at == MAP_NONE) {
		track.group = walk_group_of(w, p);
		snprintf(text, sizeof(text), "%.300s", name ? name : "memory");
		grow(&w->accounts, &w->cap_accounts, w->n_accounts, sizeof(*w->accounts));
		at = (uint32_t)w->n_accounts++;
		w->accounts[at] = (struct walk_account) {
			.track = walk_track(w, &track), .allocator = name ? name : "memory",
		};
		map_set(&w->accounts_at, walk_key(p, allocator), at);
	}
	*index = at;
	return &w->accounts[at];
}

static void put_block(struct export_walk *w, char phase, const struct walk_block *block,
		      uint64_t address, int64_t at_ns, const char *op)
{
	const struct walk_account *account = &w->accounts[block->account];
	struct walk_allocation told = {
		.phase = phase, .track = account->track, .id = block->id, .address = address,
		.bytes = block->bytes, .at_ns = at_ns, .allocator = account->allocator, .op = op,
	};

	if (w->options->kind.memory && w->sink->block)
		w->sink->block(w->sink->arg, &told);
}

static void put_level(struct export_walk *w, struct walk_account *account, int64_t at_ns,
		      int64_t by)
{
	account->live += by;
	if (account->live > account->peak) {
		account->peak = account->live;
		account->peak_ns = at_ns;
	}
	w->sink->counter(w->sink->arg, account->track, "Memory", account->allocator, at_ns,
			 account->live);
}

void walk_free(struct export_walk *w, const struct event *event, uint32_t allocator,
	       uint64_t address)
{
	uint32_t p = walk_process(w, event);
	uint32_t account = map_get(&w->accounts_at, walk_key(p, allocator)), at;
	struct walk_block *block;

	if (account == MAP_NONE)
		return;
	at = map_get(&w->accounts[account].blocks_at, address);
	if (at == MAP_NONE)
		return;
	block = &w->blocks[at];
	put_block(w, 'D', block, address, event->time_ns, NULL);
	put_level(w, &w->accounts[block->account], event->time_ns, -(int64_t)block->bytes);
	map_remove(&w->accounts[account].blocks_at, address);
	block->free = w->free_block;
	w->free_block = at + 1;
}

void walk_alloc(struct export_walk *w, const struct event *event)
{
	const struct event_alloc *alloc = &event->u.alloc;
	uint32_t p = walk_process(w, event), account, at = w->free_block;
	struct walk_account *of = account_of(w, p, alloc->allocator, &account);
	const char *op = walk_name(w, alloc->op_name);

	/* the free of the previous allocation was not seen */
	walk_free(w, event, alloc->allocator, alloc->address);
	if (!at && w->n_blocks >= WALK_BLOCKS_MAX) {
		w->result->left_out++;
		return;
	}
	at = w->free_block;
	if (at) {
		w->free_block = w->blocks[--at].free;
	} else {
		grow(&w->blocks, &w->cap_blocks, w->n_blocks, sizeof(*w->blocks));
		at = (uint32_t)w->n_blocks++;
	}
	w->blocks[at] = (struct walk_block) {
		.bytes = alloc->bytes, .id = ++w->n_blocks_told, .account = account,
	};
	map_set(&of->blocks_at, alloc->address, at);
	put_block(w, 'N', &w->blocks[at], alloc->address, event->time_ns, op);
	put_block(w, 'O', &w->blocks[at], alloc->address, event->time_ns, op);
	put_level(w, of, event->time_ns, (int64_t)alloc->bytes);
}

void walk_maxima(struct export_walk *w)
{
	for (size_t i = 0; i < w->n_accounts; i++) {
		const struct walk_account *account = &w->accounts[i];
		struct maximum maximum = {
			account->track, account->peak_ns, account->peak, account->allocator,
		};

		if (account->peak > 0 && w->sink->maximum)
			w->sink->maximum(w->sink->arg, &maximum);
	}
}
