/* SPDX-License-Identifier: MIT */
/*
 * Queries for only those events whose name, or whose op's name, matches. The rules of query.h
 * apply.
 *
 * Idea: names are matched, once each, not events. `match` is called for every name that an event
 * may have (for new names with the next question), and an event then costs one look into a table;
 * chunks without any matching name are skipped.
 *
 * Complexity: O(chunks + 512 for each chunk that may have one). Ownership: the caller frees a
 * search, before the model. Exact; in folded detail nothing is found, and columns are marked
 * COLUMN_APPROX.
 */
#ifndef MODEL_QUERY_SEARCH_H
#define MODEL_QUERY_SEARCH_H

#include "model/query/query.h"

enum search_field {
	SEARCH_NAME,			/* the event's own: a kernel's, an op's, a range's */
	/* for device work the name of the op that launched it, else its own */
	SEARCH_OP,
	SEARCH_EITHER,			/* either of the two */
};

/* name: the short name; raw: the name as the source gave it; both borrowed. Must not query the
 * model. */
typedef bool search_match(void *arg, const char *name, const char *raw);

struct search;

struct search *search_new(struct model *model, enum search_field field, search_match *match,
			  void *arg);
void search_free(struct search *search);

/* Like model_columns(), for the matching events only; empty for a counter's row. [locked] */
void search_columns(struct search *search, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
		    size_t n, struct column *out);

#endif
