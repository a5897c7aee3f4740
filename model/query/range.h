/* SPDX-License-Identifier: MIT */
/*
 * What ran within a time: every op, kernel, copy and compilation that touches
 * [t0, t1), summed by name, op, shape and queue. The rules of query.h apply.
 *
 * A walk looks at the spans themselves, some at a time, so that who asks gives the lock
 * back in between and can stop early: queues first, then compilations, then threads. What
 * comes meanwhile may be in it or not.
 *
 * Always true: times are clipped to the range, so that the parts of two ranges side by side
 * are those of both together; a count is of all that touch it. An op's own time is without
 * that of the ops in it on the same thread. Exact, but for what was folded.
 *
 * Complexity: O(log spans) for each lane, then O(1) for each span that touches the range.
 * Ownership: a walk belongs to who made it, not longer than the model.
 */
#ifndef MODEL_QUERY_RANGE_H
#define MODEL_QUERY_RANGE_H

#include "model/query/query.h"

enum range_kind { RANGE_KERNEL, RANGE_COPY, RANGE_COMPILE, RANGE_OP, RANGE_KINDS };

struct range_part {
	enum range_kind kind;
	const char *name, *raw_name;	/* kernel, op, what was compiled; of copies NULL */
	const char *op;			/* that launched it, NULL none; of an op itself NULL */
	const char *type;		/* of an op, NULL none */
	const char *shape;		/* the problem size, the op's shapes; NULL not told */
	uint32_t queue, device;		/* model-wide, UINT32_MAX none or several */
	enum direction direction;	/* of copies */
	enum work work;
	uint64_t count;			/* that touch the range */
	uint64_t open;			/* of them, not finished yet */
	uint64_t bytes;			/* copies: of each the part that falls into the range */
	int64_t time_ns;		/* clipped; more than the range where they overlap */
	int64_t self_ns;		/* of ops: without the ops in them; else time_ns */
	int64_t longest_ns;		/* of one, not clipped ... */
	struct span_ref longest;	/* ... and which that is */
};

struct range_state {
	uint64_t spans;			/* looked at */
	bool whole;			/* nothing is left to look at */
	bool folded;			/* older detail in the range is gone */
};

struct range_walk;

/* t0 < t1. [locked] */
struct range_walk *range_walk_new(struct model *model, int64_t t0, int64_t t1);
void range_walk_free(struct range_walk *walk);
/* Only of that kind, from the start on. */
void range_walk_only(struct range_walk *walk, enum range_kind kind);
/* Looks at so many spans, or LANE_BLOCK more; false: all are. [locked] */
bool range_walk_step(struct range_walk *walk, uint64_t spans);
void range_walk_state(const struct range_walk *walk, struct range_state *out);
/* What was found so far, as it is kept: several may have one name, range_fold() brings them
 * together. *out owned by the caller. Fewer where nobody wants them. [locked, yields] */
size_t range_walk_parts(struct range_walk *walk, struct range_part **out);

/* What tells parts from each other, besides their kind. */
enum range_by {
	RANGE_BY_NAME = 1, RANGE_BY_OP = 2, RANGE_BY_SHAPE = 4, RANGE_BY_QUEUE = 8,
	RANGE_BY_DEVICE = 16, RANGE_BY_DIRECTION = 32, RANGE_BY_ALL = 63,
};
/* Makes parts that differ in nothing else one, and sorts them by time; what they differ in is
 * none then. Returns how many are left. Needs no lock, and rests (model_rest()): not with it. */
size_t range_fold(struct range_part *parts, size_t n, unsigned by);

#endif
