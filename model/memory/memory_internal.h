/* SPDX-License-Identifier: MIT */
/*
 * Allocations and frees: they are put in order and entered into a book.
 *
 * Idea: what is live, and above all the peak, depends on the order of events, but they arrive in
 * any order. So an event first goes into a journal, sorted by time; events that have settled move
 * from there into the book, which is never revised. A question is answered from a second book on
 * top of the first one, to which the rest of the journal was applied: what the second book does
 * not have is looked up in the one below. One function (book_apply) writes both.
 *
 * Always true:
 *  - an account (an allocator on a device; a device) has live = the sum of its holdings, never
 *    below 0; peak is the highest live ever, in order of time;
 *  - a share is what one op holds of an account. Its bytes at the peak are copied when the share
 *    changes for the first time after the peak (`epoch`), so that a new peak costs nothing and
 *    its holders are known exactly; the mark from which growth is measured works in the same way;
 *  - an address belongs to a process and its allocator id. If it is allocated again while it is
 *    live, its free was lost. A free of an unknown address is counted and remembered for a while,
 *    because its allocation may still arrive.
 *
 * Bounds: POOLS_MAX accounts, ALLOCS_MAX holdings, SHARES_MAX shares (more go to op 0),
 * JOURNAL_MAX events in the journal (then the older half is taken as settled), STRAYS_MAX
 * remembered frees.
 *
 * Complexity: O(1) amortised for an event that arrives in order, O(log n) amortised otherwise;
 * O(journal + shares) for a question.
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
/* how many may be unsorted before they are merged into the sorted part */
#define JOURNAL_LOOSE 4096u
#define STRAYS_MAX 65536u
#define REGIONS_MAX 65536u
#define GROWTH_SAMPLES 256u
#define GROWTH_WARM_UP 2u		/* steps */

enum memory_kind { MEMORY_ALLOC, MEMORY_FREE, MEMORY_EXIT, MEMORY_REGION };

struct memory_event {
	int64_t time_ns;
	uint64_t order, address, bytes;
	uint32_t process, allocator;	/* allocator: id in the process */
	uint32_t name, view, op;	/* view NONE: no device was given */
	uint8_t kind;
	bool joined;			/* of a region */
};

/* An allocation that is or was live. */
struct holding {
	uint64_t key, address, bytes;
	int64_t since_ns;
	uint32_t account, op, process, next_free;
	bool live;
};

/* Memory of one process that an account's allocator hands out in pieces. */
struct memory_region { uint64_t address, bytes; uint32_t account, process; };

struct share {
	uint32_t account, op;
	uint64_t bytes, left;		/* left: not freed by processes that ended */
	uint64_t at_peak, at_mark;	/* valid if epoch and mark are those of the account */
	uint32_t epoch, mark;
};

struct account {
	uint64_t live, left, peak, allocated;
	uint64_t allocations, frees, unknown, missed, late;
	int64_t peak_ns;
	uint32_t epoch, mark;
	/* regions: the allocator reported regions; blind: they have become unknown */
	bool regions, blind;
	struct level_point *tail;	/* owned; changes made by the book above */
	size_t n_tail, cap_tail;
};

struct book {
	const struct book *below;	/* NULL: this is the lower book */
	struct account *accounts;	/* owned; memory->n_pools of them */
	size_t n_accounts, cap_accounts;
	struct map holding_by_key, share_by_key;
	struct holding *holdings;	/* owned */
	size_t n_holdings, cap_holdings;
	struct share *shares;		/* owned */
	size_t n_shares, cap_shares;
	struct memory_region *regions;		/* owned; at most REGIONS_MAX */
	size_t n_regions, cap_regions;
	uint32_t free_holding, live;	/* live: number of live holdings */
};

/* What an account is of. */
struct memory_pool {
	uint32_t name, device;		/* name 0: a device's total */
	bool host;
	uint32_t total;			/* account of its device, or NONE */
	struct level level;
	uint64_t samples[GROWTH_SAMPLES];	/* live at the end of steps */
	/* the largest growth of one op since the mark, at the last sample */
	uint64_t grown;
	uint32_t grown_op;
	uint32_t fragmentation, largest;	/* series, model/counters; NONE: none yet */
	struct memory_chunks ended;	/* the chunks when the last process with regions ended */
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
	int64_t booked_ns;		/* an event from before this time is late */
	int64_t chunks_ns;	/* when the chunks are counted next; 0: there is no region yet */
	/* growth */
	uint32_t series_process, series_name;
	uint8_t series_source;
	size_t next_step;
	int64_t first_step_end_ns, last_step_end_ns;
	/* how many steps had ended at the mark, and at the last sample */
	uint64_t mark_steps, sampled_steps;
	uint64_t steps, stride;		/* every stride-th step is sampled */
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
/* A process has ended: drops its regions; its holdings are still in the book. */
void book_regions_exit(struct model *model, struct book *book,
		       const struct memory_event *event);
/* Writes the counters of free chunks up to time_ns, before what happens then is booked. */
void chunks_until(struct model *model, int64_t time_ns);
/* ---- memory_book.c ---- */
/* The account of an event's allocator, made if it is new; NONE: there is no room. */
uint32_t book_account(struct model *model, struct book *book, const struct memory_event *event);
/* The book as of now, with the journal applied. */
struct book *memory_now(struct model *model);
/* The bytes of a share at the account's peak, or at the last mark for growth. */
uint64_t share_at_peak(const struct account *account, const struct share *share);
uint64_t share_at_mark(const struct account *account, const struct share *share);
/* Steady growth per step from sample *from to sample *to; 0: none. */
uint64_t memory_growth(const struct memory_state *memory, const struct memory_pool *pool,
		       uint32_t *from, uint32_t *to);

#endif
