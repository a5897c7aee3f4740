/* SPDX-License-Identifier: MIT */
/*
 * All events with one name, summed up: how long they took, where and when they ran, for which
 * ops; and lists of names. The rules of query.h apply.
 *
 * A walk reads the spans themselves, a few at a time, so that the caller can give the lock back
 * in between and can stop early; chunks without the name are skipped. Events that arrive
 * meanwhile may or may not be included. Exact, except for folded detail.
 *
 * Complexity: O(chunks + 512 for each chunk that may have one).
 * Ownership: the caller frees a walk, before the model.
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

/* The events in one row of the timeline. */
struct name_place {
	uint32_t row;
	enum row_kind kind;
	uint64_t count;
	int64_t total_ns;
	struct name_event longest;
};

/* For device work: the runs that one op launched. */
struct name_op {
	const char *name;		/* NULL: no op is known */
	uint64_t count;
	int64_t total_ns;
};

/* The events that started in one part of the queried time. */
struct name_part {
	uint64_t count;
	int64_t total_ns;
};

struct name_sum {
	bool known;			/* some event has this name, or had it */
	bool whole;			/* all spans were visited */
	bool folded;			/* older events may be discarded */
	uint64_t spans;			/* spans visited, of any name */
	uint64_t count;	/* finished events with this name; the following members are about these */
	int64_t total_ns, min_ns, max_ns, p50_ns, p99_ns;
	/* how many events fall into each of NAME_SPREAD equal parts of min ... max */
	uint64_t spread[NAME_SPREAD];
	uint64_t open;			/* events that have not finished */
	struct name_event open_one;	/* one of them */
	struct name_event first, last;	/* by start */
	struct name_event slow[NAME_SLOWEST];	/* the longest first */
	size_t n_slow;
	/* most time first; owned by the walk, as are the next two arrays */
	const struct name_place *places;
	size_t n_places;
	const struct name_op *ops;
	size_t n_ops;
	const struct name_part *parts;	/* one for each bound */
	size_t n_parts;
};

struct name_walk;

/* name: in full or as it is shown; the name of a direction ("h2d") stands for all copies in it.
 * Part i has the events that start from bounds[i] up to the next bound; bounds are ascending, and
 * copied. [locked] */
struct name_walk *name_walk_new(struct model *model, const char *name, const int64_t *bounds,
				size_t n_bounds);
void name_walk_free(struct name_walk *walk);
/* Visits this many spans, or up to a chunk more; false: all were visited. [locked] */
bool name_walk_step(struct name_walk *walk, uint64_t spans);
/* The sums so far; their pointers are valid until the next step. [locked] */
void name_walk_sum(struct name_walk *walk, struct name_sum *out);

/* ---- names without percentiles and shapes, for completion ---- */

struct name_total {
	const char *name;		/* short; valid as long as the model */
	int64_t ns;	/* device time; for an op without device time: its own time */
};

/* Names in any order; a name may occur several times (types, devices, queues). The caller frees
 * *out. O(ops), O(kernels). [locked] */
size_t model_op_names(struct model *model, struct name_total **out);
size_t model_kernel_names(struct model *model, struct name_total **out);

/* Whether an op (or a kernel) has this name, either in full or short. O(ops), O(kernels).
 * [locked] */
bool model_has_op(struct model *model, const char *name);
bool model_has_kernel(struct model *model, const char *name);

#endif
