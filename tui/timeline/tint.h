/* SPDX-License-Identifier: MIT */
/*
 * What colours mean on the timeline: the kind of work, or one of PALETTE colours by the op, the
 * event's own name, the row or the step. The colour of a name is derived from its text, so that it
 * is the same in every run; two names may share a colour. What is on the screen is summed up for
 * the legend.
 *
 * A tint is 1 ... PALETTE; 0: nothing is known, drawn as other work. Without colours a tint is a
 * letter, 'a' + tint - 1.
 *
 * Ownership: its own memory; names belong to the model. Model's lock: only tints_line() needs it.
 * Thread: the loop's.
 */
#ifndef TUI_TINT_H
#define TUI_TINT_H

#include "model/query/query.h"
#include "tui/timeline/column_cache.h"
#include "tui/draw/strip.h"
#include "tui/draw/timeline_cells.h"
#include "tui/timeline/timeline_row.h"

#define PALETTE 8
#define TINTS_SEEN 512u			/* maximum number of names in a picture, a power of two */
#define TINTS_TOLD 8			/* maximum number of names in the legend */

/* In the order of the choices of the setting. */
enum tint_by { TINT_KIND, TINT_OP, TINT_NAME, TINT_QUEUE, TINT_STEP };

struct tints {
	enum tint_by by;
	struct tint_seen {
		/* 1 + the class, the name's id, the row, or the step's number; 0: unused */
		uint64_t key;
		const char *name;	/* NULL: it is a step */
		int64_t ns;
		uint8_t tint;
	} seen[TINTS_SEEN];		/* a hash table */
	size_t n_seen;
	size_t columns, cap;
	uint8_t *line;			/* owned, columns */
};

void tints_release(struct tints *tints);

/* 1 ... PALETTE. */
uint8_t tint_of_name(const char *name);

/* Starts a picture. */
void tints_begin(struct tints *tints, enum tint_by by, size_t columns);

/* Adds the events of a line, and returns the line's tints; NULL: colours are by kind of work. */
const uint8_t *tints_line(struct tints *tints, struct model *model, struct column_cache *cache,
			  const struct timeline_line *line, const struct column *columns,
			  int64_t t0_ns, int64_t w_ns, const struct step_row *steps,
			  size_t n_steps);

/* Appends to a sentence which colour, or letter, means what; names with most time first. */
void tints_legend(const struct tints *tints, struct strip *strip, bool ascii, bool colour);

#endif
