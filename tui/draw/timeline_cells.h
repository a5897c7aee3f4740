/* SPDX-License-Identifier: MIT */
/*
 * From the model's columns to the cells of one row of the timeline. Pure: no
 * model, no grid, no state, no allocation; the same input gives the same cells.
 *
 * Two regimes, decided cell by cell:
 *  - exact: nothing, one event that fills the cell, one edge, or two events
 *    that meet (a gap of less than a sixteenth of the cell is none). The edge stands at the nearest
 * eighth (at most 1/16 of a cell off, 1/8 where the rounding would have made the event vanish).
 *  - dense: everything else. A block whose height is the busy share of the
 *    cell, at least 1/8: an event never vanishes.
 *
 * A cell that belongs to one event only carries that event's id as its owner;
 * runs of one owner are the bars, and labels stand in them.
 *
 * Colour: bars are drawn as U+2588 with the same role in front and behind, so
 * that they show no seams; without colours there is nothing behind them. ASCII: a letter per kind
 * of work, `|` at edges, `.:-=#` for shares. Text on a bar has ROLE_DEFAULT in front and the bar's
 * role behind, which is reversed video where there are no colours.
 *
 * Threads: any. Units: columns are `w_ns` wide, as model_columns() gives them.
 */
#ifndef TUI_TIMELINE_CELLS_H
#define TUI_TIMELINE_CELLS_H

#include "model/query/query.h"
#include "tui/draw/grid.h"

struct cell_style {
	bool ascii, colour;
	bool muted;			/* context (a folded device): one grey, no labels */
	bool hatch_open;		/* device work that is announced: nobody knows
					 * whether it runs or waits in its queue */
	enum direction direction;	/* letters of copies, DIR_NONE: any */
	bool heat;			/* shares as shades, not as heights */
	bool grey;			/* of another time: bars and names, one grey */
	const uint8_t *tints; /* of each column, tui/timeline/tint.h; NULL: by the kind of work */
};

/* How one cell is drawn; what cells_classify() finds out. */
enum cell_shape {
	SHAPE_EMPTY = 0,
	SHAPE_FULL,		/* one event reaches through */
	SHAPE_ENDS,		/* one edge: filled on the left */
	SHAPE_STARTS,		/* one edge: filled on the right */
	SHAPE_MEET,		/* two events, no gap */
	SHAPE_DENSE,
};

/*
 * *eighths: ENDS and MEET: filled from the left, 1 ... 8 (MEET 0 ... 8);
 * STARTS: filled on the right, 1 ... 8; DENSE: height, 1 ... 8; FULL 8; EMPTY 0.
 */
enum cell_shape cells_classify(const struct column *column, int64_t start_ns, int64_t w_ns,
			       int *eighths);

/* round(8 * part / whole), at least 1 when part > 0, at most 8. */
int cells_eighths(uint64_t part, uint64_t whole);

/* The role of a class of work. */
enum role cells_role(enum work work);

/* What stands for it where only ASCII can be shown. */
uint32_t cells_letter(enum work work, enum direction direction);

/* A block of a height 0 ... 8, or what stands for it in ASCII. */
uint32_t cells_height(int eighths, bool ascii);
/* A block filled from the left, 0 ... 8. */
uint32_t cells_left(int eighths, bool ascii);

/*
 * n cells from n columns that begin at t0 and are w_ns wide. owners (n, or
 * NULL) takes the id of the only event of each exact cell, else 0.
 */
void cells_draw(const struct column *columns, size_t n, int64_t t0_ns, int64_t w_ns,
		const struct cell_style *style, struct cell *cells, uint64_t *owners);

/* A counter as blocks: column value against peak, at least 1/8 when not 0; `lines` lines of
 * n cells, the highest first. */
void cells_plot(const struct column *columns, size_t n, uint64_t peak, int lines,
		const struct cell_style *style, struct cell *cells);

/* The shortest bar that takes a name. */
#define CELLS_LABEL_MIN 4

/*
 * Writes a name into the bar of cells [begin, end), which have one owner;
 * begins at the first cell that is full, shortened to what fits.
 */
void cells_label(struct cell *cells, size_t begin, size_t end, const char *name,
		 const struct cell_style *style);

/* The next bar at or after *begin: [*begin, *end). False: no more. */
bool cells_next_bar(const uint64_t *owners, size_t n, size_t *begin, size_t *end);

/*
 * Marks the event `id` in the cells [begin, end) that it touches: bold and
 * underlined; a background where it is one of many in its cell; its name where
 * others cover it.
 */
void cells_select(struct cell *cells, const uint64_t *owners, size_t begin, size_t end,
		  uint64_t id, const char *name, const struct cell_style *style);

/*
 * Marks an event in the cells [begin, end) of n that has to do with the selected one:
 * underlined, an arrow at its edge; back: to the left, it comes before.
 */
void cells_link(struct cell *cells, size_t n, size_t begin, size_t end, bool back,
		const struct cell_style *style);
/* The underline alone: one of many, of which another has the arrow. */
void cells_underline(struct cell *cells, size_t begin, size_t end);
/* The arrow alone. */
void cells_arrow(struct cell *cells, size_t at, bool back, const struct cell_style *style);

/*
 * What is not over yet has an end that fades, over up to three cells (▓▒░, =-. in ASCII),
 * where the columns say that it goes no further: nobody knows its end. Before the names:
 * these cells are nobody's (owners).
 */
void cells_fade(struct cell *cells, const struct column *columns, size_t n, uint64_t *owners,
		const struct cell_style *style);
/* ░ in what is empty of the cells [from, to) (· without colours). */
void cells_unsettled(struct cell *cells, size_t from, size_t to, const struct cell_style *style);
/* Marks the cells of columns that have something, by a role and by more than it:
 * underline, without colours another fill. */
void cells_match(struct cell *cells, const struct column *columns, size_t n,
		 const struct cell_style *style);
/* ▒ in the empty cells of columns in which events were lost. */
void cells_paused(struct cell *cells, const struct column *columns, size_t n,
		  const struct cell_style *style);
void cells_lost(struct cell *cells, const struct column *columns, size_t n,
		const struct cell_style *style);

#endif
