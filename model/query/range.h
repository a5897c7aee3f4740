/* SPDX-License-Identifier: MIT */
/*
 * What ran within a range of time: every op, kernel, copy and compilation that touches [t0, t1),
 * summed by name, op, shape and queue. The rules of query.h apply.
 *
 * A walk reads the spans themselves, a few at a time, so that the caller can give the lock back
 * in between and can stop early: queues first, then compilations, then threads. Events that
 * arrive meanwhile may or may not be included.
 *
 * Always true: times are clipped to the range, so that the times of adjacent ranges add up to
 * those of both together; counts include all spans that touch the range. An op's self time
 * excludes the ops called in it on the same thread. Exact, except for folded detail.
 *
 * Complexity: O(log spans) for each lane, then O(1) for each span that touches the range.
 * Ownership: the caller frees a walk, before the model.
 */
#ifndef MODEL_QUERY_RANGE_H
#define MODEL_QUERY_RANGE_H

#include "model/query/query.h"

enum range_kind { RANGE_KERNEL, RANGE_COPY, RANGE_COMPILE, RANGE_OP, RANGE_KINDS };

struct range_part {
	enum range_kind kind;
	/* of a kernel, an op, or of what was compiled; for copies NULL */
	const char *name, *raw_name;
	const char *op;	/* the op that launched it; NULL: none; for an op itself NULL */
	const char *type;		/* type of an op; NULL: none */
	const char *shape;	/* the problem size, or the op's shapes; NULL: not reported */
	uint32_t queue, device;		/* model-wide, UINT32_MAX: none or several */
	enum direction direction;	/* for copies */
	enum work work;
	uint64_t count;			/* events that touch the range */
	uint64_t open;			/* how many of them have not finished */
	uint64_t bytes;	/* for copies: the share of each copy's bytes that falls into the range */
	/* sum of the clipped durations; more than the range where they overlap */
	int64_t time_ns;
	int64_t self_ns;	/* for ops: without the ops called in them; else equal to time_ns */
	int64_t longest_ns;		/* duration of the longest one, not clipped ... */
	struct span_ref longest;	/* ... and the event itself */
};

struct range_state {
	uint64_t spans;			/* spans that were visited */
	bool whole;			/* all spans have been visited */
	bool folded;			/* older detail in the range was discarded */
};

struct range_walk;

/* t0 < t1. [locked] */
struct range_walk *range_walk_new(struct model *model, int64_t t0, int64_t t1);
void range_walk_free(struct range_walk *walk);
/* Restricts the walk to events of this kind; to be called before the first step. */
void range_walk_only(struct range_walk *walk, enum range_kind kind);
/* Visits this many spans, or up to LANE_BLOCK more; false: all were visited. [locked] */
bool range_walk_step(struct range_walk *walk, uint64_t spans);
void range_walk_state(const struct range_walk *walk, struct range_state *out);
/* The parts found so far; several may have the same name, range_fold() merges them. The caller owns
 * *out. Returns fewer parts if model_yield() says that the answer is not wanted any more. [locked,
 * yields] */
size_t range_walk_parts(struct range_walk *walk, struct range_part **out);

/* The fields that distinguish parts, besides their kind. */
enum range_by {
	RANGE_BY_NAME = 1, RANGE_BY_OP = 2, RANGE_BY_SHAPE = 4, RANGE_BY_QUEUE = 8,
	RANGE_BY_DEVICE = 16, RANGE_BY_DIRECTION = 32, RANGE_BY_ALL = 63,
};
/* Merges parts that are equal in the fields of `by`, clears the fields in which they differ, and
 * sorts them by time. Returns how many are left. Must be called without the lock, since it calls
 * model_rest(). */
size_t range_fold(struct range_part *parts, size_t n, unsigned by);

#endif
