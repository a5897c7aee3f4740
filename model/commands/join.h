/* SPDX-License-Identifier: MIT */
/*
 * Attribution: which launch a device's record belongs to, and how surely.
 *
 * Idea: a launch knows the op that made it, a run knows when the device did it
 * (event_launch, event_run); they come on different ways, in any order, and
 * either may be lost. Joined they go on as one command (commands.c) that says
 * how it was joined:
 *  - EXACT, EVENT: an id that both carry (a correlation, an event object).
 *    Whichever comes first waits. A graph's launch stays a while after its
 *    first run: they all carry its id.
 *  - FIFO: no ids, but an in-order queue: the k-th launch is the k-th run,
 *    counted from the last moment the queue was known to be empty, which is the
 *    return of a wait for it. Between two such moments (an epoch) it holds only
 *    if as many ran as were launched, nothing was lost, and each pair fits:
 *    kind, bytes, name, start not before the call.
 *  - GUESS: an id or an order that something speaks against, or no order at all
 *    and the same name. Never claimed to be more.
 *  - NONE: what met nothing is shown without an op.
 *
 * Always true:
 *  - A run is handed on exactly once; a launch at most once, a graph's once per
 *    run. Nothing waits for ever: runs until the settled line has passed them by
 *    JOIN_WAIT_NS, launches until there are JOIN_MAX.
 *  - EXACT and EVENT are given by ids alone, and not when the same id is seen
 *    on two launches at once, when the queue's order contradicts, or when ids
 *    come back and something was lost in between. What took a run by a guess is
 *    remembered: it may be that of the next launch with its id, which then takes
 *    none for sure. No clock is asked: one that steps must not cost the
 *    attribution that finds the step.
 *  - A record written before a call began is not that call's.
 *  - FIFO is decided when the settled line has passed, so that what came late
 *    is in and what was lost is known; a loss spoils all epochs that began
 *    before its end and are not decided yet. The next epoch is clean again.
 *  - Only EXACT and EVENT bound the device's clock (align.c).
 *
 * Complexity: an id O(1); FIFO O(1) a pair, O(JOIN_SKIP^2) where it must guess.
 * Memory: JOIN_MAX items of about 120 bytes.
 *
 * Worked example (FIFO, launches L, runs R, wait W returns): L1 L2 L3 W, with
 * R2's record lost and nobody the wiser: two runs for three launches when W
 * closes the epoch. R1 and R3 are guesses by name: L1, L3. The next epoch, as
 * many as were launched, is FIFO again.
 *
 * Source: the pending tables are those of Kineto and THAPI (btx_clinterval: the
 * three legal orders of enqueue, event and profile); counting from a sync is
 * the re-anchoring that lets one lost record spoil one epoch only.
 *
 * Threads: under the model's lock.
 */
#ifndef MODEL_JOIN_H
#define MODEL_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/base/map.h"
#include "model/core/pending.h"
#include "model/event.h"
#include "model/query/query.h"

#define JOIN_MAX (1u << 18)		/* that wait, of both kinds and all queues */
#define JOIN_WAIT_NS 500000000
#define JOIN_SKIP 32u			/* how much a guess steps over */
#define JOIN_WAITS 64u			/* a queue's waits that are remembered */

struct arrival;
struct model;
struct process;

struct join_launch {
	struct event_launch launch;
	int64_t time_ns;		/* written then, 0 not known */
};

struct join_run {
	struct event_run run;
	int64_t time_ns;
};

/* A launch or a run that waits by its id. */
struct join_item {
	union {
		struct join_launch launch;
		struct join_run run;
	} u;
	int64_t until_ns;		/* of those that leave: time they were last needed */
	uint32_t process;
	uint32_t prev, next;		/* in its list; next: also the free list */
	uint32_t replay;		/* of a graph's launch: its nodes, 0 none yet */
	uint32_t same, tail;		/* next run with that id; the newest, in the oldest */
	bool is_run, met, announced;
	bool doubt;			/* its id came back while in use, or its run is taken */
	bool guessed;			/* its one run was a guess: perhaps the next launch's */
};

struct join_list { uint32_t first, last; };

/* Of the model: what waits by id. */
struct join {
	struct join_item *items;	/* owned */
	size_t n_items, cap_items;
	uint32_t free;
	struct join_list launches;	/* without a run yet, oldest first */
	struct join_list leaving;	/* launches with a run, and runs: oldest first */
	size_t n;			/* waiting, those of the queues too */
	int64_t lost_ns;		/* something of any process was lost until then */
	uint64_t unmet;			/* launches given up */
	struct replays *replays;	/* owned; NULL: no graph was launched */
};

struct join_wait { int64_t begin_ns, end_ns; uint32_t tid; };

/* Of a queue: launches by call, runs by start, as long as they are not joined. */
struct join_fifo {
	struct join_launch *launches;	/* owned */
	struct join_run *runs;		/* owned */
	size_t n_launches, cap_launches, n_runs, cap_runs;
	struct join_wait waits[JOIN_WAITS];	/* by end */
	uint32_t n_waits;
	int64_t since_ns;		/* empty then, 0: from the beginning */
	bool begun, astray;		/* order not known until it is empty again */
	/* of the latest call whose run is known by id */
	int64_t call_ns, call_end_ns;
	uint64_t start_ticks;
	int64_t written_ns;
};

/* May the run be of that launch? */
static inline bool kinds_fit(const struct event_launch *launch, const struct event_run *run)
{
	return launch->kind == run->kind || launch->kind == COMMAND_GRAPH ||
	       !launch->kind || !run->kind || launch->kind == COMMAND_OTHER ||
	       run->kind == COMMAND_OTHER;
}

/* Do several runs carry its id? */
static inline bool has_many(const struct event_launch *launch)
{
	return launch->kind == COMMAND_GRAPH || launch->flags & CMD_MANY;
}

static inline int64_t call_end(const struct event_launch *launch)
{
	return launch->call_ns + launch->call_dur_ns;
}

void apply_launch(struct model *model, const struct arrival *in);
void apply_run(struct model *model, const struct arrival *in);
void join_wait(struct model *model, const struct arrival *in);
/* Something was lost; process UINT32_MAX: nobody knows whose. */
void join_lost(struct model *model, uint32_t process, int64_t end_ns);
void join_beat(struct model *model, const struct arrival *in);
/* All before settled_ns is here. */
void join_settle(struct model *model, int64_t settled_ns);
/* Nothing will come any more. */
void join_finish(struct model *model);
void join_new(struct model *model);
void join_free(struct model *model);
size_t join_bytes(const struct model *model);
void join_process_release(struct join_ids *ids);
size_t join_process_bytes(const struct join_ids *ids);

/* ---- join_fifo.c, for join.c ---- */
void join_fifo_launch(struct model *model, uint32_t queue, const struct join_launch *launch);
void join_fifo_run(struct model *model, uint32_t queue, const struct join_run *run);
/* Joins what is settled; all: everything there is. */
void join_fifo_settle(struct model *model, uint32_t queue, int64_t settled_ns, bool all);
void join_fifo_release(struct join_fifo *fifo);
size_t join_fifo_bytes(const struct join_fifo *fifo);	/* NULL: 0 */
/* When a run began, as far as is known: written_ns where its clock is not. */
int64_t join_start_ns(const struct model *model, uint32_t queue, const struct join_run *run);
/* Hands a run on. launch NULL: none. */
void join_hand_on(struct model *model, struct process *process, const struct event_launch *launch,
		  const struct join_run *run, enum how how);

#endif
