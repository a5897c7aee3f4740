/* SPDX-License-Identifier: MIT */
/*
 * What colours stand for on the timeline: the kind of work, or one of PALETTE
 * colours by the op, the event's own name, the row or the step. The colour of a
 * name follows from its text, so that it is the same in every run; two names may
 * share one. What is on the screen is summed up for the legend.
 *
 * A tint is 1 ... PALETTE, 0: nothing is known, drawn as other work. Where there
 * are no colours a tint is a letter, 'a' + tint - 1.
 *
 * Ownership: its own memory; names are the model's. Model's lock: tints_line()
 * alone. Thread: the loop's.
 */
#ifndef TUI_TINT_H
#define TUI_TINT_H

#include "model/query/query.h"
#include "tui/timeline/column_cache.h"
#include "tui/draw/strip.h"
#include "tui/draw/timeline_cells.h"
#include "tui/timeline/timeline_row.h"

#define PALETTE 8
#define TINTS_SEEN 512u			/* names in a picture, a power of two */
#define TINTS_TOLD 8			/* of them in the legend, at most */

/* In the order of the setting's choices. */
enum tint_by { TINT_KIND, TINT_OP, TINT_NAME, TINT_QUEUE, TINT_STEP };

struct tints {
	enum tint_by by;
	struct tint_seen {
		uint64_t key;		/* 1 + class, name's id, row, or step's number; 0: free */
		const char *name;	/* NULL: a step */
		int64_t ns;
		uint8_t tint;
	} seen[TINTS_SEEN];		/* hashed */
	size_t n_seen;
	size_t columns, cap;
	uint8_t *line;			/* owned, columns */
};

void tints_release(struct tints *tints);

/* 1 ... PALETTE. */
uint8_t tint_of_name(const char *name);

/* A picture begins. */
void tints_begin(struct tints *tints, enum tint_by by, size_t columns);

/* What is in a line of events, and its tints; NULL: by kind. */
const uint8_t *tints_line(struct tints *tints, struct model *model, struct column_cache *cache,
			  const struct timeline_line *line, const struct column *columns,
			  int64_t t0_ns, int64_t w_ns, const struct step_row *steps,
			  size_t n_steps);

/* Behind a sentence: which colour, or letter, is what; names with most time first. */
void tints_legend(const struct tints *tints, struct strip *strip, bool ascii, bool colour);

#endif
