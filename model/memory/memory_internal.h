/* SPDX-License-Identifier: MIT */
/*
 * Allocations and frees, put in order and booked.
 *
 * Idea: what is live, and above all the peak, depends on the order of events,
 * and they come in any. So an event first goes into a journal, sorted by time;
 * what is settled leaves it for the book, which is never revised. A question
 * is answered from a second book laid over the first, in which the journal was
 * played to its end: what it does not have it looks up in the one below. One
 * function (book_apply) does both.
 *
 * Always true:
 *  - an account (an allocator on a device; a device) has live = the sum of its
 *    holdings, never below 0; peak is the highest live ever, in order of time;
 *  - a share is what one op holds of an account. Its bytes at the peak are
 *    copied when it changes for the first time after the peak (`epoch`), so
 *    that a new peak costs nothing and who held it is known exactly; likewise
 *    for the mark that growth is measured from;
 *  - an address belongs to (process, allocator's id in it); allocated again
 *    while it is live, its free was lost; a free of an unknown one is counted
 *    and remembered for a while: its allocation may be on its way.
 *
 * Bounds: POOLS_MAX accounts, ALLOCS_MAX holdings, SHARES_MAX shares (beyond,
 * op 0 takes them), JOURNAL_MAX events in the journal (then the older half is
 * taken as settled), STRAYS_MAX remembered frees.
 *
 * Complexity: an event O(1) amortised when it comes in order, O(log n) amortised
 * otherwise; a question O(journal + shares).
 */
#ifndef MODEL_MEMORY_INTERNAL_H
#define MODEL_MEMORY_INTERNAL_H

#include "model/core/model.h"
#include "model/counters/level.h"
#include "model/memory/memory.h"
#include "model/query/memory.h"

#define ALLOCS_MAX (1u << 22)
#define POOLS_MAX 1024u
#define SHARES_MAX (1u << 18)
#define JOURNAL_MAX 65536u
#define JOURNAL_LOOSE 4096u		/* unsorted ones before they are sorted in */
#define STRAYS_MAX 65536u
#define REGIONS_MAX 65536u
#define GROWTH_SAMPLES 256u
#define GROWTH_WARM_UP 2u		/* steps */

enum memory_kind { MEMORY_ALLOC, MEMORY_FREE, MEMORY_EXIT, MEMORY_REGION };

struct memory_event {
	int64_t time_ns;
	uint64_t order, address, bytes;
	uint32_t process, allocator;	/* the process's id of it */
	uint32_t name, view, op;	/* view NONE: no device given */
	uint8_t kind;
	bool joined;			/* of a region */
};

/* An allocation that is live, or was. */
struct holding {
	uint64_t key, address, bytes;
	int64_t since_ns;
	uint32_t account, op, process, next_free;
	bool live;
};

/* Memory that an account's allocator hands out in pieces, of one process. */
struct memory_region { uint64_t address, bytes; uint32_t account, process; };

struct share {
	uint32_t account, op;
	uint64_t bytes, left;		/* left: by processes at their end */
	uint64_t at_peak, at_mark;	/* valid with the account's epoch and mark */
	uint32_t epoch, mark;
};

struct account {
	uint64_t live, left, peak, allocated;
	uint64_t allocations, frees, unknown, missed, late;
	int64_t peak_ns;
	uint32_t epoch, mark;
	bool regions, blind;		/* some were told; and are not known any more */
	struct level_point *tail;	/* owned; changes of the book above */
	size_t n_tail, cap_tail;
};

struct book {
	const struct book *below;	/* NULL: the book itself */
	struct account *accounts;	/* owned; memory->n_pools of them */
	size_t n_accounts, cap_accounts;
	struct map holding_by_key, share_by_key;
	struct holding *holdings;	/* owned */
	size_t n_holdings, cap_holdings;
	struct share *shares;		/* owned */
	size_t n_shares, cap_shares;
	struct memory_region *regions;		/* owned; at most REGIONS_MAX */
	size_t n_regions, cap_regions;
	uint32_t free_holding, live;	/* live: holdings that are */
};

/* What an account is of. */
struct memory_pool {
	uint32_t name, device;		/* name 0: a device's total */
	bool host;
	uint32_t total;			/* account of its device, NONE */
	struct level level;
	uint64_t samples[GROWTH_SAMPLES];	/* live at the end of steps */
	uint64_t grown;			/* by whom most came since the mark, at the last sample */
	uint32_t grown_op;
	uint32_t fragmentation, largest;	/* series, model/counters; NONE: none yet */
	struct memory_chunks ended;	/* when the last process that had regions ended */
};

struct stray { uint64_t key; int64_t time_ns; uint32_t account; };

struct memory_state {
	struct store pools;
	struct map pool_by_key, pool_by_name;
	struct book book, over;
	bool over_valid;
	struct map stray_by_key;
	struct stray *strays;		/* owned */
	size_t n_strays, cap_strays;
	/* the journal: [head, sorted) in order, [sorted, n) as they came */
	struct memory_event *journal;	/* owned */
	size_t head, sorted, n, cap;
	uint64_t order;
	int64_t booked_ns;		/* what is earlier is too late */
	int64_t chunks_ns;		/* when the chunks are looked at next, 0: no region yet */
	/* growth */
	uint32_t series_process, series_name;
	uint8_t series_source;
	size_t next_step;
	int64_t first_step_end_ns, last_step_end_ns;
	/* how many had ended at the mark, at the last sample */
	uint64_t mark_steps, sampled_steps;
	uint64_t steps, stride;		/* sampled every stride-th */
	uint32_t n_samples;
};

static inline struct memory_pool *pool_at(const struct memory_state *memory, uint32_t i)
{
	return store_at(&memory->pools, i);
}

void book_release(struct book *book);
void book_apply(struct model *model, struct book *book, const struct memory_event *event);
/* ---- memory_chunks.c ---- */
void book_region(struct model *model, struct book *book, const struct memory_event *event);
/* A process has ended, its holdings not yet: its regions are gone with it. */
void book_regions_exit(struct model *model, struct book *book,
		       const struct memory_event *event);
/* Before what happens at time_ns is booked: free chunks become counters. */
void chunks_until(struct model *model, int64_t time_ns);
/* ---- memory_book.c ---- */
/* The account of an event's allocator, made when it is new; NONE: no room. */
uint32_t book_account(struct model *model, struct book *book, const struct memory_event *event);
/* The book as of now: with the journal played. */
struct book *memory_now(struct model *model);
/* What a share had at the account's peak, or when growth was last marked. */
uint64_t share_at_peak(const struct account *account, const struct share *share);
uint64_t share_at_mark(const struct account *account, const struct share *share);
/* Steady growth per step, 0 none: of samples `from` to the last. */
uint64_t memory_growth(const struct memory_state *memory, const struct memory_pool *pool,
		       uint32_t *from, uint32_t *to);

#endif
