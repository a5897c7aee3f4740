/* SPDX-License-Identifier: MIT */
/*
 * The line under the rows: everything about one event or, if none is selected, about the row under
 * the cursor. Pure.
 *
 * "~" marks approximate times, "≈" marks estimates; what was not observed is left out.
 */
#ifndef TUI_SENTENCE_H
#define TUI_SENTENCE_H

#include "model/query/time.h"
#include "model/query/query.h"
#include "tui/draw/strip.h"

void sentence_of_span(struct strip *strip, const struct span *span, int64_t base_ns);

/* place: the row's label; busy_ns: busy time within window_ns (settled time in the window). */
void sentence_of_row(struct strip *strip, const char *place, int64_t busy_ns,
		     int64_t window_ns, uint64_t events);
/* Appends that the device is idle at the cursor, and why. */
void sentence_add_idle(struct strip *strip, const struct idle_gap *gap, bool ascii);
/* Appends what the thread of a row did at t_ns: in the column of that time (from t0_ns on, w_ns
 * wide), or in a longer time of which its states have shares. [locked] */
void sentence_add_states(struct strip *strip, struct model *model, uint32_t row, int64_t t_ns,
			 int64_t t0_ns, int64_t w_ns, bool ascii);
/* Appends that there are only sums before `before_ns`. */
void sentence_add_folded(struct strip *strip, int64_t before_ns, int64_t base_ns);
/* The sentence for a row of values over time; peak: the highest value, as text. */
void sentence_of_counter(struct strip *strip, const char *place, const char *peak);

#endif
