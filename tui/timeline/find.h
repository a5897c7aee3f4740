/* SPDX-License-Identifier: MIT */
/*
 * Finds events by name on the timeline: a regular expression over the names of events and of the
 * ops that launched them. Each name is tested once (model/query/search.h), not each event; a filter
 * about more than names tests the events, too.
 *
 * Always true: events are visited in the order of time, then of rows, then of lanes, so that
 * searching forward and backward visits the same events; after the last event the search continues
 * at the first one. Marks and numbers are those of the window, and exact unless there are too many.
 *
 * Complexity: a step takes O(lanes * chunks); with a filter O(events up to the one that matches),
 * except for chunks that are too short to match. Marks and numbers take O(events in the window),
 * FIND_MOST of them at most.
 *
 * Owns its expression and its search, which must not outlive the model. Model's lock: needed where
 * stated. Thread: the loop's.
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
#define FIND_MOST 500000u		/* how many events of a window are examined */
#define FIND_HITS 5000u

struct filter;	/* model/filter/filter.h */
struct turns;	/* tui/base/turns.h */

/* An event of the window that matches a filter. */
struct find_hit { int64_t start_ns, end_ns; uint32_t row, lane; };

/* Where a search starts: the event that starts at this time, in that row and lane, is excluded. row
 * 0: all that start then are excluded. */
struct find_from {
	int64_t start_ns;
	uint32_t row, lane;
};

/* The state of one step of the search. */
struct find_step {
	struct find_from from;
	bool forward;
	bool begun, over;		/* begun and not over: it continues from edge_ns */
	bool around;			/* it has passed the end */
	int64_t edge_ns;		/* everything before (after) this time was searched */
	int64_t first_ns, last_ns;	/* bounds of the run when it began */
	int64_t width_ns;		/* width of what is searched next */
	bool found;
	struct span_ref ref;		/* the event that was found */
};

struct find {
	char text[FIND_TEXT];		/* "": no search so far */
	bool shown;			/* its matches are marked on the screen */
	regex_t regex;
	struct search *search;		/* owned; NULL: none */
	struct filter *filter;		/* owned; NULL: only the regular expression counts */
	int64_t base_ns;		/* start of the run, for times in a filter */
	struct find_hit *hits;		/* owned; events in the window that match the filter */
	size_t n_hits, cap_hits;
	struct find_step step;
	struct column *columns;		/* owned */
	size_t cap;
	/* Results of the last find_count(). */
	bool counted;
	uint64_t count;
};

/* Case matters if `text` has a capital. false: `error` is a sentence. */
bool find_set(struct find *find, struct model *model, const char *text, char *error,
	      size_t error_size);
/* Searches by a filter (find -w), which is taken over: names are tested as above, then each event
 * that may match, FIND_HITS at most in the window. */
void find_set_filter(struct find *find, struct model *model, struct filter *filter);
void find_release(struct find *find);

/* Sets the direction: to the next or the previous event. A step that was stopped at the same place
 * continues. */
void find_begin(struct find *find, struct model *model, const struct find_from *from,
		bool forward);
/* Continues until find->step is over, or until it is stopped during a rest (turns NULL: it never
 * rests). Takes the lock itself, for a millisecond at a time. */
void find_go(struct find *find, struct model *model, struct turns *turns);

/* Counts the matches that touch [t0, t1), for the sentence. [locked] */
void find_count(struct find *find, struct model *model, const struct model_row *rows, size_t n_rows,
		int64_t t0_ns, int64_t t1_ns);
void find_sentence(const struct find *find, struct strip *strip);

/* Marks a line's cells; to be called after find_count(). [locked] */
void find_mark(struct find *find, uint32_t row, uint32_t lane, int64_t t0_ns, int64_t w_ns,
	       size_t n, struct cell *cells, const struct cell_style *style);

#endif
