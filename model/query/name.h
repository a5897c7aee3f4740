/* SPDX-License-Identifier: MIT */
/*
 * All events of one name, added up: how long they took, where they ran, for whom, when.
 * The rules of query.h apply.
 *
 * A walk looks at the spans themselves, some at a time, so that who asks gives the lock
 * back in between and can stop early; chunks without the name are passed by. What comes
 * meanwhile may be in it or not. Exact, but for what was folded.
 *
 * Complexity: O(chunks + 512 for each chunk that may have one).
 * Ownership: a walk belongs to who made it, not longer than the model.
 */
#ifndef MODEL_QUERY_NAME_H
#define MODEL_QUERY_NAME_H

#include "model/query/query.h"

#define NAME_SPREAD 24u
#define NAME_SLOWEST 8u

struct name_event {
	struct span_ref ref;		/* id 0: none */
	int64_t start_ns, dur_ns;
};

/* Those of one row of the timeline. */
struct name_place {
	uint32_t row;
	enum row_kind kind;
	uint64_t count;
	int64_t total_ns;
	struct name_event longest;
};

/* Of device work: those that one op launched. */
struct name_op {
	const char *name;		/* NULL: none is known */
	uint64_t count;
	int64_t total_ns;
};

/* Those that began in one part of the time that was asked for. */
struct name_part {
	uint64_t count;
	int64_t total_ns;
};

struct name_sum {
	bool known;			/* anything has, or had, that name */
	bool whole;			/* nothing is left to look at */
	bool folded;			/* older ones may be gone */
	uint64_t spans;			/* looked at, of whatever name */
	uint64_t count;			/* finished ones; of these: */
	int64_t total_ns, min_ns, max_ns, p50_ns, p99_ns;
	uint64_t spread[NAME_SPREAD];	/* counts in equal parts of min ... max */
	uint64_t open;			/* not finished */
	struct name_event open_one;	/* one of them */
	struct name_event first, last;	/* by start */
	struct name_event slow[NAME_SLOWEST];	/* the longest first */
	size_t n_slow;
	const struct name_place *places;	/* most time first; the walk's, as the next two */
	size_t n_places;
	const struct name_op *ops;
	size_t n_ops;
	const struct name_part *parts;	/* as many as there were bounds */
	size_t n_parts;
};

struct name_walk;

/* name: in full or as it is shown; the name of a direction ("h2d"): all copies that way.
 * Part i is what begins from bounds[i] on, up to the next; bounds rise, copied. [locked] */
struct name_walk *name_walk_new(struct model *model, const char *name, const int64_t *bounds,
				size_t n_bounds);
void name_walk_free(struct name_walk *walk);
/* Looks at so many spans, or a chunk more; false: all are. [locked] */
bool name_walk_step(struct name_walk *walk, uint64_t spans);
/* What was found so far; what it points to stays until the next step. [locked] */
void name_walk_sum(struct name_walk *walk, struct name_sum *out);

/* ---- the names alone, for completion: no percentiles, no shapes ---- */

struct name_total {
	const char *name;		/* short; the model's, as long as it lives */
	int64_t ns;			/* device time, of an op without it its own time */
};

/* In any order; a name may come several times (types, devices, queues). The caller frees.
 * O(ops), O(kernels). [locked] */
size_t model_op_names(struct model *model, struct name_total **out);
size_t model_kernel_names(struct model *model, struct name_total **out);

/* Whether one is called so, in full or short. O(ops), O(kernels). [locked] */
bool model_has_op(struct model *model, const char *name);
bool model_has_kernel(struct model *model, const char *name);

#endif
