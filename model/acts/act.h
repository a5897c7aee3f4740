/* SPDX-License-Identifier: MIT */
/*
 * What the analyses are fed: acts, the finished doings of the host and the
 * devices, once, in slices of settled time.
 *
 * Idea: an analysis that must never revise what it said can only look at time
 * that has settled, and most of them ask about one step of training. So what
 * comes in at ingest is put aside as a flat act, and when the end of a step has
 * settled, all acts of that step are handed to each analysis, sorted by start.
 * An analysis is then a plain loop or sweep over one array and needs no lanes,
 * no locks and no thought about late events.
 *
 * Always true:
 *  - Slices follow each other without a gap and never overlap: a step, or what
 *    lies between two steps, or, where a program has no steps, SLICE_NS.
 *  - A slice holds every act that touches [t0, t1), by start; one that reaches
 *    over a border is in both slices, with its own start and end: clip it.
 *  - An act that came too late for its slice (an op that lasted longer than the
 *    slice took to settle) is in the next slice, marked ACT_LATE. So who counts
 *    things counts those that are late or start within the slice, each once; who
 *    sweeps over time clips to the slice, and what is wholly past leaves nothing.
 *  - A blocking call that moved data is a LAUNCH with ACT_BLOCKING: a wait too.
 *    At the usual level of detail an ACT_WAIT says so as well.
 *  - Indices are those of model-internal.h, NONE where there is none; names are
 *    of model->names, resolved (never a placeholder if it was defined by then).
 *
 * Times: ns of host 0's CLOCK_MONOTONIC. Threads: under the model's lock.
 */
#ifndef MODEL_ACT_H
#define MODEL_ACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/acts/sort.h"
#include "model/query/query.h"

struct model;

#define SLICE_NS INT64_C(1000000000)
#define SLICE_ACTS_MAX (1u << 20)	/* more in one slice: it is cut */

enum act_kind {
	ACT_RUN,	/* device work that ran: a kernel, a copy, a fill ... */
	ACT_LAUNCH,	/* the host's call that enqueued it: [call, call + duration) */
	ACT_OP,		/* an op or range, on a thread's stack unless OP_ASYNC */
	ACT_WAIT,	/* the host waited for a device: clFinish, a blocking copy ... */
	ACT_COMPILE,	/* a kernel or graph was compiled */
	ACT_KIND_COUNT
};

enum act_flag {
	ACT_LATE = 1,
	ACT_APPROX = 2,		/* times are approximate */
	ACT_PINNED = 4,		/* RUN: the host's memory is pinned */
	ACT_BLOCKING = 8,	/* RUN, LAUNCH: the call returned after the work was done */
	ACT_RANGE = 16,		/* OP: the user's range */
	ACT_ASYNC = 32,		/* OP: not on a stack */
	/* RUN: of a graph, launched with another run, which has the LAUNCH */
	ACT_NODE = 32,
	ACT_WORKS = 64,		/* OP: a framework's own, it computes on the processor unless it
				 * launches; RUN: on the processor (struct device.processor) */
	/* OP: a graph's own fetching of a batch, whatever thread it is on */
	ACT_FETCH = 128,
};

struct act {
	int64_t start_ns, end_ns;
	int64_t call_ns;		/* RUN: when its launch began; LAUNCH: when its run
					 * began; OP: when it was handed to a thread pool. 0 not
					 * known */
	/* RUN, LAUNCH: bytes moved, 0 for kernels; OP: its step id */
	uint64_t amount;
	/* instance: of OP itself, else that it belongs to; 0 none */
	uint64_t op;
	uint32_t process, thread;	/* of the host's side: who launched, who waited */
	uint32_t device, queue;
	uint32_t name;			/* kernel, op, call */
	/* RUN, LAUNCH, WAIT: the op's; OP: its type; COMPILE: options, or where it was
	 * asked for */
	uint32_t op_name;
	union {
		uint32_t call_dur_ns;	/* RUN, LAUNCH: of the call */
		uint32_t content;	/* OP: a fingerprint of what it copies, 0 not known */
	};
	/* RUN of a copy: the place in memory (event.h), 0 not known; of a kernel: its launch
	 * shape, 0 none; OP: the id of its frame in the process, 0 not known */
	uint32_t object;
	uint32_t row;			/* where it is drawn; 0 nowhere */
	uint8_t kind : 3;		/* enum act_kind */
	/* enum work; WORK_INPUT is the making and fetching of batches */
	uint8_t work : 5;
	uint8_t command;		/* RUN, LAUNCH: enum command_kind; OP: enum framework */
	uint8_t direction;		/* enum direction */
	uint8_t flags;			/* enum act_flag */
};

struct slice {
	int64_t t0, t1;
	int64_t number;			/* of the step, -1: not a step */
	bool step;			/* a step, else the time between, or without steps */
	bool warm_up;			/* a step of the start, not to be averaged */
	bool compiles;			/* a step of which half or more was spent compiling */
	bool cut;			/* too many acts: only a part of a step ... */
	int64_t whole_t1;		/* ... that ends here */
	/* Borrowed until the analysis returns, as what follows: */
	const struct act *acts;
	const uint32_t *runs, *launches, *rest;	/* which of them are; by start, too */
	const struct start_key *ends;	/* all of them, by end; `at`: their index, `kind` */
	size_t n, n_runs, n_launches, n_rest;
	uint64_t lost;			/* events known to be lost within; shares exclude them */
	bool paused;			/* the level was off for a part that counts */
};

/* Not all of it was seen. */
static inline bool slice_partial(const struct slice *slice)
{
	return slice->lost || slice->paused;
}

static inline bool act_is_kernel(const struct act *act)
{
	return act->kind == ACT_RUN &&
	       (act->command == COMMAND_KERNEL || act->command == COMMAND_NATIVE ||
		act->command == COMMAND_GRAPH || act->command == COMMAND_OTHER);
}

static inline bool act_is_copy(const struct act *act)
{
	return act->kind == ACT_RUN && !act_is_kernel(act);
}

/* Counted once over all slices. */
static inline bool act_counts(const struct slice *slice, const struct act *act)
{
	return act->start_ns >= slice->t0 || (act->flags & ACT_LATE);
}

/* Clipped to the slice. */
static inline int64_t act_start(const struct slice *slice, const struct act *act)
{
	return act->start_ns < slice->t0 ? slice->t0 : act->start_ns;
}

static inline int64_t act_end(const struct slice *slice, const struct act *act)
{
	return act->end_ns > slice->t1 ? slice->t1 : act->end_ns;
}

#endif
