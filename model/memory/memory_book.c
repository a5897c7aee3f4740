/* SPDX-License-Identifier: MIT */
/* The book: allocations and frees in order give what is live, the peak and its holders. */
#include "model/memory/memory_internal.h"
#include "model/steps/steps.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define LIVE_MAX (UINT64_C(1) << 62)

void book_release(struct book *book)
{
	for (size_t i = 0; i < book->n_accounts; i++)
		free(book->accounts[i].tail);
	free(book->accounts);
	free(book->holdings);
	free(book->shares);
	free(book->regions);
	map_release(&book->holding_by_key);
	map_release(&book->share_by_key);
	memset(book, 0, sizeof(*book));
	book->free_holding = NONE;
}

/* ---- accounts ---- */

static uint32_t pool_new(struct memory_state *memory, uint32_t name, uint32_t device, uint64_t key)
{
	struct memory_pool *pool;

	if (memory->pools.n >= POOLS_MAX)
		return NONE;
	pool = store_new(&memory->pools);
	pool->name = name;
	pool->device = device;
	pool->total = pool->fragmentation = pool->largest = NONE;
	map_set(&memory->pool_by_key, key, memory->pools.n - 1);
	return memory->pools.n - 1;
}

static uint32_t pool_get(struct model *model, const struct memory_event *event)
{
	struct memory_state *memory = model->memory;
	uint32_t device = event->view == NONE ? NONE : view_at(model, event->view)->device;
	uint32_t name = names_resolve(&model->names, event->name);
	uint64_t key = (uint64_t)name << 32 | device;
	uint32_t index = map_get(&memory->pool_by_key, key), total;
	struct memory_pool *pool;

	if (index != MAP_NONE)
		return index;
	index = pool_new(memory, name, device, key);
	if (index == NONE)
		return NONE;
	pool = pool_at(memory, index);
	/* host memory, whatever device it is pinned for */
	pool->host = strstr(names_raw(&model->names, name), "host") ||
		     strstr(names_raw(&model->names, name), "pinned");
	if (map_get(&memory->pool_by_name, name) == MAP_NONE)
		map_set(&memory->pool_by_name, name, index);
	if (device == NONE || pool->host)
		return index;
	total = map_get(&memory->pool_by_key, device);
	pool->total = total != MAP_NONE ? total : pool_new(memory, 0, device, device);
	return index;
}

static struct account *account_at(const struct memory_state *memory, struct book *book, uint32_t i)
{
	while (book->n_accounts < memory->pools.n) {
		grow(&book->accounts, &book->cap_accounts, book->n_accounts,
		     sizeof(*book->accounts));
		memset(&book->accounts[book->n_accounts++], 0, sizeof(*book->accounts));
	}
	return &book->accounts[i];
}

uint32_t book_account(struct model *model, struct book *book, const struct memory_event *event)
{
	uint32_t index = pool_get(model, event);

	if (index != NONE)
		account_at(model->memory, book, index);
	return index;
}

static struct share *share_get(struct book *book, const struct account *account, uint32_t index,
			       uint32_t op)
{
	uint64_t key = (uint64_t)index << 32 | op;
	uint32_t at = map_get(&book->share_by_key, key);
	struct share share = {
		.account = index, .op = op, .epoch = account->epoch, .mark = account->mark,
	};

	if (at != MAP_NONE)
		return &book->shares[at];
	if (op && book->n_shares >= SHARES_MAX)
		return share_get(book, account, index, 0);
	at = book->below ? map_get(&book->below->share_by_key, key) : MAP_NONE;
	if (at != MAP_NONE)
		share = book->below->shares[at];
	grow(&book->shares, &book->cap_shares, book->n_shares, sizeof(*book->shares));
	map_set(&book->share_by_key, key, (uint32_t)book->n_shares);
	book->shares[book->n_shares] = share;
	return &book->shares[book->n_shares++];
}

uint64_t share_at_peak(const struct account *account, const struct share *share)
{
	return share->epoch == account->epoch ? share->at_peak : share->bytes;
}

uint64_t share_at_mark(const struct account *account, const struct share *share)
{
	return share->mark == account->mark ? share->at_mark : share->bytes;
}

/* Adds bytes to, or takes them from, the share of an op. */
static void account_change(struct memory_state *memory, struct book *book, uint32_t index,
			   const struct holding *holding, bool more, int64_t time_ns)
{
	struct account *account = account_at(memory, book, index);
	struct share *share = share_get(book, account, index, holding->op);

	share->at_peak = share_at_peak(account, share);
	share->at_mark = share_at_mark(account, share);
	share->epoch = account->epoch;
	share->mark = account->mark;
	if (more) {
		share->bytes += holding->bytes;
		account->live += holding->bytes;
	} else {
		/* A share that found no room is part of the share of op 0. */
		share->bytes -= share->bytes < holding->bytes ? share->bytes : holding->bytes;
		account->live -= holding->bytes;
	}
	if (account->live > account->peak) {
		account->peak = account->live;
		account->peak_ns = time_ns;
		account->epoch++;
	}
	if (!book->below) {
		level_set(&pool_at(memory, index)->level, time_ns, account->live);
		return;
	}
	grow(&account->tail, &account->cap_tail, account->n_tail, sizeof(*account->tail));
	account->tail[account->n_tail++] = (struct level_point) { time_ns, account->live };
}

/* ---- holdings ---- */

static uint64_t key_of(const struct memory_event *event)
{
	return event->address ^ map_mix((uint64_t)event->process << 32 | event->allocator);
}

/* The holding in this book, copied from the book below if need be; NULL: there is none. */
static struct holding *holding_get(struct book *book, uint64_t key)
{
	uint32_t at = map_get(&book->holding_by_key, key);

	if (at != MAP_NONE)
		return &book->holdings[at];
	at = book->below ? map_get(&book->below->holding_by_key, key) : MAP_NONE;
	if (at == MAP_NONE)
		return NULL;
	grow(&book->holdings, &book->cap_holdings, book->n_holdings, sizeof(*book->holdings));
	map_set(&book->holding_by_key, key, (uint32_t)book->n_holdings);
	book->holdings[book->n_holdings] = book->below->holdings[at];
	return &book->holdings[book->n_holdings++];
}

static struct holding *holding_new(struct book *book, uint64_t key)
{
	uint32_t at = book->free_holding;

	if (at != NONE) {
		book->free_holding = book->holdings[at].next_free;
	} else {
		grow(&book->holdings, &book->cap_holdings, book->n_holdings,
		     sizeof(*book->holdings));
		at = (uint32_t)book->n_holdings++;
	}
	map_set(&book->holding_by_key, key, at);
	return &book->holdings[at];
}

static void holding_open(struct memory_state *memory, struct book *book, struct holding *holding)
{
	uint32_t total = pool_at(memory, holding->account)->total;

	account_change(memory, book, holding->account, holding, true, holding->since_ns);
	if (total != NONE)
		account_change(memory, book, total, holding, true, holding->since_ns);
	book->live++;
}

static void holding_close(struct memory_state *memory, struct book *book, struct holding *holding,
			  int64_t time_ns)
{
	uint32_t total = pool_at(memory, holding->account)->total;

	account_change(memory, book, holding->account, holding, false, time_ns);
	if (total != NONE)
		account_change(memory, book, total, holding, false, time_ns);
	holding->live = false;
	book->live--;
	/* In the upper book the freed holding must stay, to hide the one below. */
	if (book->below)
		return;
	map_remove(&book->holding_by_key, holding->key);
	holding->next_free = book->free_holding;
	book->free_holding = (uint32_t)(holding - book->holdings);
}

/* ---- frees of unknown allocations ---- */

static void memory_stray_add(struct memory_state *memory, uint64_t key, int64_t time_ns,
			     uint32_t account)
{
	uint32_t at = map_get(&memory->stray_by_key, key);

	if (at != MAP_NONE) {
		memory->strays[at].time_ns = time_ns;
		return;
	}
	if (memory->n_strays >= STRAYS_MAX) {
		/* The oldest come first: all of them have waited long enough. */
		map_release(&memory->stray_by_key);
		memory->n_strays = 0;
	}
	grow(&memory->strays, &memory->cap_strays, memory->n_strays, sizeof(*memory->strays));
	map_set(&memory->stray_by_key, key, (uint32_t)memory->n_strays);
	memory->strays[memory->n_strays++] = (struct stray) { key, time_ns, account };
}

/* The free arrived before the allocation: the two cancel each other. */
static bool memory_stray_take(struct memory_state *memory, struct book *book, uint64_t key,
			      int64_t time_ns)
{
	uint32_t at = map_get(&memory->stray_by_key, key);
	struct account *account;

	if (book->below || at == MAP_NONE || memory->strays[at].time_ns < time_ns)
		return false;
	account = account_at(memory, book, memory->strays[at].account);
	account->unknown -= account->unknown > 0;
	map_remove(&memory->stray_by_key, key);
	if (at != --memory->n_strays) {
		memory->strays[at] = memory->strays[memory->n_strays];
		map_set(&memory->stray_by_key, memory->strays[at].key, at);
	}
	return true;
}

/* ---- events ---- */

static bool has_room(struct memory_state *memory, struct book *book, uint32_t index, uint64_t bytes)
{
	uint32_t total = pool_at(memory, index)->total;

	return book->live < ALLOCS_MAX &&
	       account_at(memory, book, index)->live + bytes < LIVE_MAX &&
	       (total == NONE || account_at(memory, book, total)->live + bytes < LIVE_MAX);
}

/* There is no room for it. The upper book's events were counted already. */
static void book_full(struct model *model, const struct book *book)
{
	if (!book->below)
		model_bad(model, BAD_FULL);
}

static void book_alloc(struct model *model, struct book *book, const struct memory_event *event)
{
	struct memory_state *memory = model->memory;
	uint64_t key = key_of(event);
	uint32_t index = pool_get(model, event);
	struct holding *holding = holding_get(book, key);
	struct account *account;

	if (index == NONE) {
		book_full(model, book);
		return;
	}
	account = account_at(memory, book, index);
	account->allocations++;
	if (__builtin_add_overflow(account->allocated, event->bytes, &account->allocated))
		account->allocated = UINT64_MAX;
	if (holding && holding->live && holding->since_ns > event->time_ns) {
		account->late++;	/* outdated: the address is in use again */
		return;
	}
	if (holding && holding->live) {
		account_at(memory, book, holding->account)->missed++;
		holding_close(memory, book, holding, event->time_ns);
	} else if (memory_stray_take(memory, book, key, event->time_ns)) {
		return;
	}
	if (!has_room(memory, book, index, event->bytes)) {
		book_full(model, book);
		return;
	}
	if (!holding || !book->below)
		holding = holding_new(book, key);
	*holding = (struct holding) {
		.key = key, .address = event->address, .bytes = event->bytes,
		       .since_ns = event->time_ns, .account = index,
		.op = steps_plain(model, event->op), .process = event->process,
		.live = true,
	};
	holding_open(memory, book, holding);
}

static void book_free(struct model *model, struct book *book, const struct memory_event *event)
{
	struct memory_state *memory = model->memory;
	uint64_t key = key_of(event);
	struct holding *holding = holding_get(book, key);
	uint32_t index;

	if (holding && holding->live && holding->since_ns <= event->time_ns) {
		account_at(memory, book, holding->account)->frees++;
		holding_close(memory, book, holding, event->time_ns);
		return;
	}
	index = map_get(&memory->pool_by_name, names_resolve(&model->names, event->name));
	if (index == MAP_NONE)
		index = pool_get(model, event);
	if (index == NONE) {
		book_full(model, book);
		return;
	}
	account_at(memory, book, index)->frees++;
	if (holding && holding->live) {
		/* The free of an earlier allocation at this address, outdated. */
		account_at(memory, book, index)->late++;
		return;
	}
	account_at(memory, book, index)->unknown++;
	if (!book->below)
		memory_stray_add(memory, key, event->time_ns, index);
}

static void left(struct memory_state *memory, struct book *book, struct holding *holding,
		 int64_t time_ns)
{
	uint32_t accounts[2] = { holding->account, pool_at(memory, holding->account)->total };

	for (int i = 0; i < 2 && accounts[i] != NONE; i++) {
		struct account *account = account_at(memory, book, accounts[i]);

		account->left += holding->bytes;
		share_get(book, account, accounts[i], holding->op)->left += holding->bytes;
	}
	holding_close(memory, book, holding, time_ns);
}

/* Bytes that a process still held at its end now belong to no process. */
static void book_exit(struct model *model, struct book *book, const struct memory_event *event)
{
	struct memory_state *memory = model->memory;

	for (size_t i = 0; book->below && i < book->below->n_holdings; i++) {
		const struct holding *holding = &book->below->holdings[i];

		if (holding->live && holding->process == event->process)
			holding_get(book, holding->key);
	}
	for (size_t i = 0; i < book->n_holdings; i++)
		if (book->holdings[i].live && book->holdings[i].process == event->process)
			left(memory, book, &book->holdings[i], event->time_ns);
}

void book_apply(struct model *model, struct book *book, const struct memory_event *event)
{
	switch ((enum memory_kind)event->kind) {
	case MEMORY_ALLOC:
		book_alloc(model, book, event);
		break;
	case MEMORY_FREE:
		book_free(model, book, event);
		break;
	case MEMORY_EXIT:
		book_regions_exit(model, book, event);
		book_exit(model, book, event);
		break;
	case MEMORY_REGION:
		book_region(model, book, event);
		break;
	}
}
