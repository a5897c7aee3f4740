/* SPDX-License-Identifier: MIT */
/*
 * What the analyses are fed: acts, that is, everything that the host and the devices finished
 * doing. Each act is handed out once, in slices of settled time.
 *
 * Idea: an analysis that must never revise what it said can only look at time that has settled,
 * and most analyses ask about one step of training. So events are stored as flat acts when they
 * arrive, and when the end of a step has settled, all acts of that step are handed to each
 * analysis, sorted by start. An analysis is then a plain loop or sweep over one array and needs
 * no lanes, no locks and no thought about late events.
 *
 * Always true:
 *  - Slices follow each other without a gap and never overlap. A slice is a step, the time
 *    between two steps, or, where a program has no steps, SLICE_NS.
 *  - A slice holds every act that touches [t0, t1), by start; an act that reaches over a border
 *    is in both slices with its whole start and end, so the analysis must clip it.
 *  - An act that came too late for its slice (an op that lasted longer than the slice took to
 *    settle) is in the next slice, marked ACT_LATE. An analysis that counts takes the acts that
 *    are late or start within the slice, and so counts each once; one that sweeps over time clips
 *    acts to the slice, and an act that lies wholly before the slice adds nothing.
 *  - A blocking call that moved data is a LAUNCH with ACT_BLOCKING, and is a wait as well. At the
 *    usual level of detail there is an ACT_WAIT for it, too.
 *  - Indices are those of core/model.h, NONE where there is none. Names are those of
 *    model->names, resolved: never a placeholder if the name was defined by then.
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
#define SLICE_ACTS_MAX (1u << 20)	/* a slice with more acts is cut */

enum act_kind {
	ACT_RUN,	/* device work that ran: a kernel, a copy, a fill ... */
	ACT_LAUNCH,	/* the host's call that enqueued it: [call, call + duration) */
	ACT_OP,		/* an op or range, on a thread's stack unless ACT_ASYNC */
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
	/* RUN: a node of a graph; the LAUNCH belongs to another run of the same graph */
	ACT_NODE = 32,
	/* OP: a framework's op, which computes on the processor unless it launches device work;
	 * RUN: ran on the processor (struct device.processor) */
	ACT_WORKS = 64,
	/* OP: a graph fetches a batch, on whatever thread */
	ACT_FETCH = 128,
};

struct act {
	int64_t start_ns, end_ns;
	/* RUN: when its launch began; LAUNCH: when its run began; OP: when it was handed to a
	 * thread pool; 0: unknown */
	int64_t call_ns;
	/* RUN, LAUNCH: bytes moved, 0 for kernels; OP: its step id */
	uint64_t amount;
	/* instance: of the OP itself, else of the op that it belongs to; 0: none */
	uint64_t op;
	uint32_t process, thread;	/* on the host's side: who launched or waited */
	uint32_t device, queue;
	uint32_t name;			/* kernel, op, call */
	/* RUN, LAUNCH, WAIT: name of the op; OP: its type; COMPILE: the options, or where the
	 * compilation was asked for */
	uint32_t op_name;
	union {
		uint32_t call_dur_ns;	/* RUN, LAUNCH: duration of the call */
		/* OP: a fingerprint of the data that it copies; 0: unknown */
		uint32_t content;
	};
	/* RUN of a copy: the place in memory (event.h), 0: unknown; RUN of a kernel: its launch
	 * shape, 0: none; OP: the id of its frame in the process, 0: unknown */
	uint32_t object;
	uint32_t row;			/* the row that draws it; 0: none */
	uint8_t kind : 3;		/* enum act_kind */
	/* enum work; WORK_INPUT: makes or fetches batches */
	uint8_t work : 5;
	uint8_t command;		/* RUN, LAUNCH: enum command_kind; OP: enum framework */
	uint8_t direction;		/* enum direction */
	uint8_t flags;			/* enum act_flag */
};

struct slice {
	int64_t t0, t1;
	int64_t number;			/* number of the step; -1: the slice is not a step */
	bool step;			/* this is a step */
	bool warm_up;			/* a step of the warm-up, left out of means */
	bool compiles;			/* a step that spent half its time or more compiling */
	bool cut;			/* too many acts: this slice is only a part of a step ... */
	int64_t whole_t1;		/* ... that ends here */
	/* These pointers are borrowed until the analysis returns. */
	const struct act *acts;
	const uint32_t *runs, *launches, *rest;	/* indices of the acts of each kind, by start */
	/* all acts, by end; `at`: index in acts, `kind`: enum act_kind */
	const struct start_key *ends;
	size_t n, n_runs, n_launches, n_rest;
	/* events known to be lost within the slice; shares exclude that time */
	uint64_t lost;
	/* the level was off for a part of the slice that counts */
	bool paused;
	/* ops are missing in a part of it that counts (core/bares.h): nothing else is */
	bool bare;
};

/* Some events of the slice are missing (lost, or dropped because there were too many acts). */
static inline bool slice_partial(const struct slice *slice)
{
	return slice->lost || slice->paused;
}

/* A device that is not the processor works in the slice, or gets work. */
static inline bool slice_has_device_work(const struct slice *slice)
{
	for (size_t i = 0; i < slice->n_runs; i++)
		if (!(slice->acts[slice->runs[i]].flags & ACT_WORKS))
			return true;
	return slice->n_launches > 0;
}

/* How much of [from, to) lies beyond *until, which moves on to its end. */
static inline int64_t time_beyond(int64_t *until_ns, int64_t from_ns, int64_t to_ns)
{
	int64_t begin_ns = from_ns > *until_ns ? from_ns : *until_ns;

	if (to_ns <= begin_ns)
		return 0;
	*until_ns = to_ns;
	return to_ns - begin_ns;
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

/* True in exactly one of the slices that hold the act, so that counts add up over slices. */
static inline bool act_counts(const struct slice *slice, const struct act *act)
{
	return act->start_ns >= slice->t0 || (act->flags & ACT_LATE);
}

/* The start and the end of an act, clipped to the slice. */
static inline int64_t act_start(const struct slice *slice, const struct act *act)
{
	return act->start_ns < slice->t0 ? slice->t0 : act->start_ns;
}

static inline int64_t act_end(const struct slice *slice, const struct act *act)
{
	return act->end_ns > slice->t1 ? slice->t1 : act->end_ns;
}

#endif
