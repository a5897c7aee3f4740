/* SPDX-License-Identifier: MIT */
/*
 * Finds events by name on the timeline: a regular expression over the names
 * of events and of the ops that launched them. Each name is tested once
 * (model/query/search.h), not each event; a filter about more than names tests the events
 * too.
 *
 * Always true: the order is that of time, then of rows, then of lanes, so that
 * forward and back visit the same events; past the last one the search continues with the
 * first. Marks and numbers are those of the window and exact, unless there are too many.
 *
 * Complexity: a step O(lanes * chunks), of a filter O(events up to the one that it wants) but
 * for chunks that are too short for it; marks and numbers O(events in the window), FIND_MOST of
 * them at most.
 *
 * Owns its expression and its search, which must not outlive the model. Model's
 * lock: wanted where said. Thread: the loop's.
 */
#ifndef TUI_FIND_H
#define TUI_FIND_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/query/search.h"
#include "tui/draw/strip.h"
#include "tui/draw/timeline_cells.h"

#define FIND_TEXT 200
#define FIND_MOST 500000u		/* events in a window that are looked at */
#define FIND_HITS 5000u

struct filter;	/* model/filter/filter.h */
struct turns;	/* tui/base/turns.h */

/* An event of the window that a filter wants. */
struct find_hit { int64_t start_ns, end_ns; uint32_t row, lane; };

/* Where a search begins: the event that starts then, in that row and lane, is
 * not it. row 0: all that start then are. */
struct find_from {
	int64_t start_ns;
	uint32_t row, lane;
};

/* One step: how far it has come. */
struct find_step {
	struct find_from from;
	bool forward;
	bool begun, over;		/* begun and not over: it goes on from edge_ns */
	bool around;			/* past the end */
	int64_t edge_ns;		/* all before (after) that was looked at */
	int64_t first_ns, last_ns;	/* of the run, when it began */
	int64_t width_ns;		/* of what is looked at next */
	bool found;
	struct span_ref ref;		/* what was found */
};

struct find {
	char text[FIND_TEXT];		/* "": nothing was looked for yet */
	bool shown;			/* its marks are on the screen */
	regex_t regex;
	struct search *search;		/* owned; NULL: none */
	struct filter *filter;		/* owned; NULL: by the regex */
	int64_t base_ns;		/* of the run, for a filter's times */
	struct find_hit *hits;		/* owned; in the window, of a filter */
	size_t n_hits, cap_hits;
	struct find_step step;
	struct column *columns;		/* owned */
	size_t cap;
	/* of the last find_count() */
	bool counted;
	uint64_t count;
};

/* Case matters when `text` has a capital. false: a sentence in error. */
bool find_set(struct find *find, struct model *model, const char *text, char *error,
	      size_t error_size);
/* By a filter (find -w), which is taken over: names are asked as above, then each event that
 * may be wanted, FIND_HITS at most in the window. */
void find_set_filter(struct find *find, struct model *model, struct filter *filter);
void find_release(struct find *find);

/* Where to: the next or previous one. A step from there that was stopped goes on. */
void find_begin(struct find *find, struct model *model, const struct find_from *from,
		bool forward);
/* Goes on until find->step is over, or rests (turns NULL: never) and is to end. Takes the lock
 * itself, for a millisecond at a time. */
void find_go(struct find *find, struct model *model, struct turns *turns);

/* How many touch [t0, t1), for the sentence. [locked] */
void find_count(struct find *find, struct model *model, const struct model_row *rows, size_t n_rows,
		int64_t t0_ns, int64_t t1_ns);
void find_sentence(const struct find *find, struct strip *strip);

/* Marks a line's cells; after find_count(). [locked] */
void find_mark(struct find *find, uint32_t row, uint32_t lane, int64_t t0_ns, int64_t w_ns,
	       size_t n, struct cell *cells, const struct cell_style *style);

#endif
