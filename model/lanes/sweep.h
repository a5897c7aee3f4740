/* SPDX-License-Identifier: MIT */
/* The state of a question about columns while it goes through a lane; shared by the files that
 * answer it. See lane.h for the idea. */
#ifndef MODEL_SWEEP_H
#define MODEL_SWEEP_H

#include "model/lanes/lane_internal.h"

/* One question about columns. */
struct lane_sweep {
	struct lane *lane;
	uint32_t row, index;
	int64_t t0, t1, w;
	struct column *out;
	int64_t *longest_ns;
	int64_t covered;		/* busy time is counted up to here */
	/* The column found last: times arrive almost in order. */
	int64_t begin, end;
	size_t column;
	struct lane_view view;
};

/* Column of t, which lies in [t0, t1). */
static inline size_t sweep_column(struct lane_sweep *s, int64_t t)
{
	if (t < s->begin || t >= s->end) {
		if (t >= s->end && t < s->end + s->w)
			s->column++;
		else
			s->column = (size_t)((t - s->t0) / s->w);
		s->begin = s->t0 + s->w * (int64_t)s->column;
		s->end = s->begin + s->w;
	}
	return s->column;
}

static inline void sweep_edge(struct column *column, int64_t t)
{
	if (!column->edges || t < column->first_edge_ns)
		column->first_edge_ns = t;
	if (!column->edges || t > column->last_edge_ns)
		column->last_edge_ns = t;
	column->edges++;
}

static inline void sweep_longest(struct lane_sweep *s, size_t c, uint32_t id, int64_t dur)
{
	if (s->out[c].longest.id && dur <= s->longest_ns[c])
		return;
	s->longest_ns[c] = dur;
	s->out[c].longest = (struct span_ref) { s->row, s->index, id };
}

/* The share of a span's bytes that falls on a part of it. */
static inline uint64_t sweep_share(uint64_t bytes, int64_t part, int64_t whole)
{
	return (uint64_t)((__uint128_t)bytes * (uint64_t)part / (uint64_t)whole);
}

/*
 * Adds a block of a sealed chunk whose spans do not overlap and lie in this column and the next
 * one. false: it is not such a block, nothing was added.
 */
bool sweep_split(struct lane_sweep *s, const struct chunk *chunk, uint32_t b);

#endif
