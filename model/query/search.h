/* SPDX-License-Identifier: MIT */
/*
 * Questions about only those events whose name, or whose op's name, is wanted.
 * The rules of query.h apply.
 *
 * Idea: the names are asked, once each, not the events: `match` sees every name
 * that an event may have (new ones with the next question) and an event costs
 * one look into a table; chunks that have none of the names are passed by.
 *
 * Complexity: O(chunks + 512 for each chunk that may have one).
 * Ownership: a search belongs to who made it, not longer than the model. Exact;
 * where detail was folded nothing is found, and columns say COLUMN_APPROX.
 */
#ifndef MODEL_QUERY_SEARCH_H
#define MODEL_QUERY_SEARCH_H

#include "model/query/query.h"

enum search_field {
	SEARCH_NAME,			/* the event's own: a kernel's, an op's, a range's */
	/* of device work that of the op that launched it, else its own */
	SEARCH_OP,
	SEARCH_EITHER,			/* what one of the two finds */
};

/* name is the short one, raw as it came; both borrowed. No questions from here. */
typedef bool search_match(void *arg, const char *name, const char *raw);

struct search;

struct search *search_new(struct model *model, enum search_field field, search_match *match,
			  void *arg);
void search_free(struct search *search);

/* As model_columns, model_span_next and model_span_prev; a counter's row has
 * nothing. [locked] */
void search_columns(struct search *search, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
		    size_t n, struct column *out);

#endif
