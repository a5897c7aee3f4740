/* SPDX-License-Identifier: MIT */
/*
 * What can be told only when all events of a Chrome trace have been read and sorted, because the
 * format allows any order: which end belongs to which beginning, and what was allocated before.
 */
#include <string.h>

#include "model/import/chrome_internal.h"

#define NONE MAP_NONE
#define OPENS_MAX (1u << 20)
#define LOOK_MAX 64u		/* how many open events are looked at for the one that ends */

void chrome_keep(struct chrome_import *c, const struct import_item *item)
{
	if (item->track && !spool_add(c->later, item))
		build_cut(c->build, "no room for a temporary file in TMPDIR: the rest is left out",
			  "event", c->events);
}

/* ---- beginnings and ends ---- */

static void push_open(struct chrome_import *c, const struct import_item *item)
{
	uint32_t below = map_get(&c->open_by_key, item->place), index = c->free_open;

	if (index != NONE) {
		c->free_open = c->opens[index].below;
	} else if (c->n_opens < OPENS_MAX) {
		grow(&c->opens, &c->cap_opens, c->n_opens, sizeof(*c->opens));
		index = (uint32_t)c->n_opens++;
	} else {
		build_problem(c->build, "too many open events: the others are left out", "event",
			      c->n_opens);
		return;
	}
	c->opens[index] = (struct chrome_open) { *item, below };
	map_set(&c->open_by_key, item->place, index);
}

/* The innermost open event with the name of the end, in the same process if there is one; an end
 * without a name ends the innermost one. */
static uint32_t chrome_find_open(const struct chrome_import *c, const struct import_item *end)
{
	uint32_t top = map_get(&c->open_by_key, end->place), found = NONE;
	const struct build_track *tracks = c->build->tracks;

	for (uint32_t i = top, n = 0; i != NONE && n < LOOK_MAX; i = c->opens[i].below, n++) {
		const struct import_item *item = &c->opens[i].item;

		if (end->name && item->name != end->name)
			continue;
		if (tracks[item->track - 1].process == tracks[end->track - 1].process)
			return i;
		found = found == NONE ? i : found;
	}
	return found == NONE ? top : found;
}

static void remove_open(struct chrome_import *c, uint32_t index)
{
	uint64_t key = c->opens[index].item.place;
	uint32_t below = c->opens[index].below, above = map_get(&c->open_by_key, key);

	if (above != index) {
		while (c->opens[above].below != index)
			above = c->opens[above].below;
		c->opens[above].below = below;
	} else if (below == NONE) {
		map_remove(&c->open_by_key, key);
	} else {
		map_set(&c->open_by_key, key, below);
	}
	c->opens[index].below = c->free_open;
	c->opens[index].item.place = 0;
	c->free_open = index;
}

static void join_end(struct chrome_import *c, const struct import_item *end)
{
	struct import_item item;
	int64_t number;
	uint32_t index;

	if (!end->ends) {
		push_open(c, end);
		return;
	}
	index = chrome_find_open(c, end);
	if (index == NONE) {
		build_drop(c->build, "end", "without a start");
		return;
	}
	item = c->opens[index].item;
	item.dur_ns = end->start_ns - item.start_ns;
	remove_open(c, index);
	if (item.kind == CHROME_NOT_SHOWN)
		return;
	item.place = 0;
	if (c->build->tracks[item.track - 1].kind == TRACK_STREAM || !item.bytes) {
		chrome_add_span(c, &item, -1);
		return;
	}
	number = (int64_t)item.bytes - 1;
	item.bytes = 0;
	chrome_add_span(c, &item, number);
}

/* ---- memory ---- */

static struct chrome_account *chrome_account_of(struct chrome_import *c,
						const struct import_item *item)
{
	uint32_t key, at;

	chrome_key_begin(c, 'm');
	chrome_key_number(c, c->build->tracks[item->track - 1].process);
	chrome_key_number(c, item->name);
	chrome_key_number(c, item->shape);
	key = chrome_key(c);
	at = map_get(&c->account_by_key, key);
	if (at != NONE)
		return &c->accounts[at];
	if (!key)
		return NULL;
	grow(&c->accounts, &c->cap_accounts, c->n_accounts, sizeof(*c->accounts));
	c->accounts[c->n_accounts] = (struct chrome_account) { .first = *item };
	map_set(&c->account_by_key, key, (uint32_t)c->n_accounts);
	return &c->accounts[c->n_accounts++];
}

/* Adds what was allocated before the file begins. */
static void add_before(struct chrome_import *c, struct chrome_account *account, uint64_t address,
		       uint64_t bytes)
{
	struct import_item item = account->first;

	item.type = ITEM_ALLOC;
	item.start_ns--;
	item.dur_ns = 0;
	item.flags = ITEM_ASYNC;
	item.op_type = build_word(c->build, "before the recording", NAME_OP);
	item.place = address;
	item.bytes = bytes;
	build_add(c->build, &item);
}

static void join_memory(struct chrome_import *c, const struct import_item *event)
{
	struct chrome_account *account = chrome_account_of(c, event);
	struct import_item item = *event;

	if (!account)
		return;
	if (!account->blocks++)
		account->allocated = item.dur_ns < 0 ? -1 : item.type == ITEM_FREE ?
			item.dur_ns + (int64_t)item.bytes : item.dur_ns - (int64_t)item.bytes;
	if (item.type == ITEM_ALLOC) {
		map_set(&account->live, item.place, 1);
	} else if (map_get(&account->live, item.place) != NONE) {
		map_remove(&account->live, item.place);
	} else if (account->allocated > 0) {
		account->before += item.bytes;
		add_before(c, account, item.place, item.bytes);
	}
	item.dur_ns = 0;
	build_add(c->build, &item);
}

void chrome_join(struct chrome_import *c)
{
	const struct import_item *item;

	spool_sort(c->later);
	while ((item = spool_next(c->later)) && !build_stopped(c->build))
		if (item->type == ITEM_ALLOC || item->type == ITEM_FREE)
			join_memory(c, item);
		else
			join_end(c, item);
	for (size_t i = 0; i < c->n_accounts; i++) {
		struct chrome_account *account = &c->accounts[i];

		if (account->allocated > 0 && (uint64_t)account->allocated > account->before)
			add_before(c, account, UINT64_MAX - i,
				   (uint64_t)account->allocated - account->before);
	}
	for (uint64_t left = c->n_opens; left > 0; left--)
		if (c->opens[left - 1].item.place)
			build_drop(c->build, "start", "without an end");
}
