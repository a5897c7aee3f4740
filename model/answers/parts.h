/* SPDX-License-Identifier: MIT */
/* What questions about a row are made of. */
#ifndef MODEL_ANSWERS_PARTS_H
#define MODEL_ANSWERS_PARTS_H

#include "model/rows/rows.h"

/* A line of spans that a question is about. */
struct lane_part {
	struct lane *lane;		/* borrowed until the model changes; NULL: none yet */
	uint32_t row, index;		/* row index; which of its lanes */
};

/* All lanes that (row id, lane) stands for; *parts owned by the caller. */
size_t parts_of(struct model *model, uint32_t row_id, uint32_t lane, struct lane_part **parts);
/* The name an open span is searched by. */
bool open_wanted(const struct model *model, const struct open_span *open,
		 const struct lane_want *want);
/* What the open spans of one part add, but for busy time; want NULL: all. The
 * earliest start of those goes into *least. */
void add_opens(struct model *model, const struct lane_part *part, const struct lane_want *want,
	       int64_t t0, int64_t w, size_t n, struct column *out, int64_t *longest_ns,
	       int64_t *least);

/* Which names a search wants, asked anew; borrowed until the next question. */
struct search;
const struct lane_want *search_wanted(struct search *search);
/* Asks about `most` more names, where there are so many; whether that was all. [locked] */
bool search_ask(struct search *search, uint32_t most);

/* All about a span that is at hand, as model_span(). */
void span_tell(struct model *model, const struct lane_part *part, struct lane_pos pos,
	       struct span *out);
void span_tell_open(struct model *model, const struct open_span *open, struct span *out);

#endif
