/* SPDX-License-Identifier: MIT */
/*
 * Attribution: which launch a device's record belongs to, and how certain that is.
 *
 * Idea: a launch knows the op that made it, a run knows when the device executed it
 * (event_launch, event_run). They arrive on different paths, in any order, and either may be
 * lost. Once joined they become one command (commands.c), which says how it was joined:
 *  - EXACT, EVENT: an id that both carry (a correlation, an event object). Whichever arrives
 *    first waits. A graph's launch stays for a while after its first run, because all its runs
 *    carry its id.
 *  - FIFO: no ids, but an in-order queue: the k-th launch belongs to the k-th run, counted from
 *    the last moment at which the queue was known to be empty, which is the return of a wait for
 *    it. Between two such moments (an epoch) this holds only if as many commands ran as were
 *    launched, nothing was lost, and each pair fits: kind, bytes, name, and a start not before
 *    the call.
 *  - GUESS: something contradicts the id or the order, or there is no order and only the name is
 *    the same. Always shown as a guess.
 *  - NONE: a run without a launch is shown without an op.
 *
 * Always true:
 *  - A run is handed on exactly once; a launch at most once, a graph's launch once per run.
 *    Nothing waits for ever: runs wait until the settled line has passed them by JOIN_WAIT_NS,
 *    launches until JOIN_MAX are waiting.
 *  - EXACT and EVENT rest on ids alone, and are not given when two launches have the same id at
 *    once, when the queue's order contradicts, or when ids are reused and something was lost in
 *    between. A launch that took a run by a guess is remembered: the run may belong to the next
 *    launch with its id, which then takes none with certainty. Clocks are not consulted: a clock
 *    that steps must not prevent the attribution that finds the step.
 *  - A record written before a call began does not belong to that call.
 *  - FIFO is decided when the settled line has passed, so that late records have arrived and
 *    losses are known. A loss spoils all epochs that began before its end and are not decided
 *    yet; the next epoch is clean again.
 *  - Only EXACT and EVENT bound the device's clock (align.c).
 *
 * Complexity: O(1) for an id; O(1) for a pair by FIFO, O(JOIN_SKIP^2) where it must guess.
 * Memory: JOIN_MAX items of about 120 bytes.
 *
 * Worked example (FIFO; launches L, runs R, a wait W returns): L1 L2 L3 W, and the record of R2
 * is lost without notice. There are two runs for three launches when W closes the epoch, so R1
 * and R3 are guessed by name: L1, L3. The next epoch, with as many runs as launches, is FIFO
 * again.
 *
 * Source: the pending tables are those of Kineto and THAPI (btx_clinterval: the three legal
 * orders of enqueue, event and profile); counting from a synchronisation is the re-anchoring that
 * lets one lost record spoil one epoch only.
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

#define JOIN_MAX (1u << 18)		/* how many launches and runs may wait, over all queues */
#define JOIN_WAIT_NS 500000000
#define JOIN_SKIP 32u			/* how many a guess may step over */
#define JOIN_WAITS 64u			/* how many waits of a queue are remembered */

struct arrival;
struct model;
struct process;

struct join_launch {
	struct event_launch launch;
	int64_t time_ns;		/* when it was written; 0: unknown */
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
	int64_t until_ns;		/* for items that leave: when they were last needed */
	uint32_t process;
	uint32_t prev, next;		/* in its list; next: also the free list */
	uint32_t replay;		/* of a graph's launch: its nodes, 0: none yet */
	/* next run with the same id; in the oldest: the newest one */
	uint32_t same, tail;
	bool is_run, met, announced;
	bool doubt;			/* its id was reused while in use, or its run is taken */
	bool guessed;			/* its one run was a guess and may be the next launch's */
};

struct join_list { uint32_t first, last; };

/* The launches and runs that wait by id; one for the model. */
struct join {
	struct join_item *items;	/* owned */
	size_t n_items, cap_items;
	uint32_t free;
	struct join_list launches;	/* without a run yet, oldest first */
	struct join_list leaving;	/* launches with a run, and runs: oldest first */
	size_t n;			/* how many wait, those of the queues included */
	int64_t lost_ns;		/* something was lost up to this time, in any process */
	uint64_t unmet;			/* launches that were given up because no run arrived */
	struct replays *replays;	/* owned; NULL: no graph was launched */
};

struct join_wait { int64_t begin_ns, end_ns; uint32_t tid; };

/* The launches (by call) and runs (by start) of a queue that are not joined yet. */
struct join_fifo {
	struct join_launch *launches;	/* owned */
	struct join_run *runs;		/* owned */
	size_t n_launches, cap_launches, n_runs, cap_runs;
	struct join_wait waits[JOIN_WAITS];	/* by end */
	uint32_t n_waits;
	int64_t since_ns;		/* when the queue was last empty, 0: at the beginning */
	/* astray: the order is unknown until the queue is empty again */
	bool begun, astray;
	/* the latest call whose run is known by id */
	int64_t call_ns, call_end_ns;
	uint64_t start_ticks;
	int64_t written_ns;
};

/* Whether the run may belong to the launch. */
static inline bool kinds_fit(const struct event_launch *launch, const struct event_run *run)
{
	return launch->kind == run->kind || launch->kind == COMMAND_GRAPH ||
	       !launch->kind || !run->kind || launch->kind == COMMAND_OTHER ||
	       run->kind == COMMAND_OTHER;
}

/* Whether several runs carry the launch's id. */
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
/* Something was lost; process UINT32_MAX: of an unknown process. */
void join_lost(struct model *model, uint32_t process, int64_t end_ns);
void join_beat(struct model *model, const struct arrival *in);
/* All events before settled_ns have arrived. */
void join_settle(struct model *model, int64_t settled_ns);
/* No more events will arrive. */
void join_finish(struct model *model);
void join_new(struct model *model);
void join_free(struct model *model);
size_t join_bytes(const struct model *model);
void join_process_release(struct join_ids *ids);
size_t join_process_bytes(const struct join_ids *ids);

/* ---- join_fifo.c, for join.c ---- */
void join_fifo_launch(struct model *model, uint32_t queue, const struct join_launch *launch);
void join_fifo_run(struct model *model, uint32_t queue, const struct join_run *run);
/* Joins what has settled; all: joins everything. */
void join_fifo_settle(struct model *model, uint32_t queue, int64_t settled_ns, bool all);
void join_fifo_release(struct join_fifo *fifo);
size_t join_fifo_bytes(const struct join_fifo *fifo);	/* NULL: 0 */
/* When a run started, as far as is known. If its clock is unknown: when it was written. */
int64_t join_start_ns(const struct model *model, uint32_t queue, const struct join_run *run);
/* Hands on a run with the launch that it was joined to; launch NULL: none. */
void join_hand_on(struct model *model, struct process *process, const struct event_launch *launch,
		  const struct join_run *run, enum how how);

#endif
