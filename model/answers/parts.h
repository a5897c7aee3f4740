/* SPDX-License-Identifier: MIT */
/* What the answers about rows share: a row's lanes, the open spans in them, names that a search
 * wants. */
#ifndef MODEL_ANSWERS_PARTS_H
#define MODEL_ANSWERS_PARTS_H

#include "model/rows/rows.h"

/* One lane that a question is about. */
struct lane_part {
	struct lane *lane;		/* borrowed until the model changes; NULL: not made yet */
	uint32_t row, index;		/* row index; which of its lanes */
};

/* All lanes that a row id and a lane number (or LANE_ALL) stand for; the caller owns *parts. */
size_t parts_of(struct model *model, uint32_t row_id, uint32_t lane, struct lane_part **parts);
/* Whether a search wants the name of the open span. */
bool open_wanted(const struct model *model, const struct open_span *open,
		 const struct lane_want *want);
/* Adds what the open spans of one part contribute to columns, except busy time; want NULL: all
 * spans. Lowers *least to the earliest of their starts. */
void add_opens(struct model *model, const struct lane_part *part, const struct lane_want *want,
	       int64_t t0, int64_t w, size_t n, struct column *out, int64_t *longest_ns,
	       int64_t *least);

/* The names that a search wants, up to date; borrowed until the next question. */
struct search;
const struct lane_want *search_wanted(struct search *search);
/* Calls `match` for up to `most` more names; returns whether all names have been asked. [locked] */
bool search_ask(struct search *search, uint32_t most);

/* Fills in all details of a span whose place is known, like model_span(). */
void span_tell(struct model *model, const struct lane_part *part, struct lane_pos pos,
	       struct span *out);
void span_tell_open(struct model *model, const struct open_span *open, struct span *out);

#endif
