/* SPDX-License-Identifier: MIT */
/*
 * Turns the model's columns into the cells of one row of the timeline. Pure: no model, no grid, no
 * state, no allocation; the same input gives the same cells.
 *
 * There are two ways to draw a cell, chosen for each cell:
 *  - exact: nothing, one event that fills the cell, one edge, or two events that meet (a gap of
 *    less than a sixteenth of the cell is ignored). The edge is drawn at the nearest eighth: at
 *    most 1/16 of a cell off, or 1/8 if rounding would have made the event vanish.
 *  - dense: everything else. A block whose height is the busy share of the cell, at least 1/8, so
 *    that an event never vanishes.
 *
 * A cell that belongs to a single event carries that event's id as its owner; consecutive cells
 * with the same owner form a bar, which has room for a label.
 *
 * Colour: bars are drawn as U+2588 with the same role as foreground and background, so that they
 * show no seams; without colours they have no background. ASCII: a letter per kind of work, `|` at
 * edges, `.:-=#` for shares. Text on a bar has ROLE_DEFAULT as foreground and the bar's role as
 * background, which is reverse video without colours.
 *
 * Threads: any. Units: columns are `w_ns` wide, as model_columns() gives them.
 */
#ifndef TUI_TIMELINE_CELLS_H
#define TUI_TIMELINE_CELLS_H

#include "model/query/query.h"
#include "tui/draw/grid.h"

struct cell_style {
	bool ascii, colour;
	bool muted;			/* a context row (a folded device): one grey, no labels */
	/* device work that was announced is hatched: it is unknown whether it runs or waits in its
	 * queue */
	bool hatch_open;
	enum direction direction;	/* for the letters of copies; DIR_NONE: any */
	bool heat;			/* draws shares as shades, not as heights */
	bool grey;			/* belongs to another time: bars and names in one grey */
	/* tint of each column, see tui/timeline/tint.h; NULL: colours by kind of work */
	const uint8_t *tints;
};

/* How one cell is drawn; the result of cells_classify(). */
enum cell_shape {
	SHAPE_EMPTY = 0,
	SHAPE_FULL,		/* one event covers the whole cell */
	SHAPE_ENDS,		/* one edge: filled at the left */
	SHAPE_STARTS,		/* one edge: filled at the right */
	SHAPE_MEET,		/* two events without a gap */
	SHAPE_DENSE,
};

/*
 * *eighths: for ENDS and MEET how much is filled from the left, 1 ... 8 (MEET 0 ... 8); for STARTS
 * how much is filled at the right, 1 ... 8; for DENSE the height, 1 ... 8; FULL 8; EMPTY 0.
 */
enum cell_shape cells_classify(const struct column *column, int64_t start_ns, int64_t w_ns,
			       int *eighths);

/* round(8 * part / whole), at least 1 if part > 0, at most 8. */
int cells_eighths(uint64_t part, uint64_t whole);

/* The role of a class of work. */
enum role cells_role(enum work work);

/* The letter for work where only ASCII can be shown. */
uint32_t cells_letter(enum work work, enum direction direction);

/* A block of height 0 ... 8, or its substitute in ASCII. */
uint32_t cells_height(int eighths, bool ascii);
/* A block that is filled 0 ... 8 eighths from the left. */
uint32_t cells_left(int eighths, bool ascii);

/*
 * Draws n cells from n columns that start at t0 and are w_ns wide. owners (n, or NULL) receives the
 * id of the only event of each exact cell, else 0.
 */
void cells_draw(const struct column *columns, size_t n, int64_t t0_ns, int64_t w_ns,
		const struct cell_style *style, struct cell *cells, uint64_t *owners);

/* Draws a counter as blocks: each column's value relative to peak, at least 1/8 if it is not 0;
 * `lines` lines of n cells, the highest first. */
void cells_plot(const struct column *columns, size_t n, uint64_t peak, int lines,
		const struct cell_style *style, struct cell *cells);

/* The shortest bar that takes a name. */
#define CELLS_LABEL_MIN 4

/*
 * Writes a name into the bar of cells [begin, end), which have one owner. It starts at the first
 * full cell and is shortened to fit.
 */
void cells_label(struct cell *cells, size_t begin, size_t end, const char *name,
		 const struct cell_style *style);

/* The next bar at or after *begin: [*begin, *end). false: there are no more. */
bool cells_next_bar(const uint64_t *owners, size_t n, size_t *begin, size_t *end);

/*
 * Marks the event `id` in the cells [begin, end) that it touches: bold and underlined; with a
 * background if it is one of many in its cell; with its name if others cover it.
 */
void cells_select(struct cell *cells, const uint64_t *owners, size_t begin, size_t end,
		  uint64_t id, const char *name, const struct cell_style *style);

/*
 * Marks an event that is linked with the selected one in the cells [begin, end) of n: underlined,
 * with an arrow at its edge. back: the arrow points to the left, because the event comes before.
 */
void cells_link(struct cell *cells, size_t n, size_t begin, size_t end, bool back,
		const struct cell_style *style);
/* Only underlines: the event is one of several, another of which has the arrow. */
void cells_underline(struct cell *cells, size_t begin, size_t end);
/* Draws only the arrow. */
void cells_arrow(struct cell *cells, size_t at, bool back, const struct cell_style *style);

/*
 * Fades the end of an event that is not over, whose end is unknown, over up to three cells (▓▒░,
 * =-. in ASCII), where the columns say that it extends no further. To be called before names are
 * drawn: these cells have no owner.
 */
void cells_fade(struct cell *cells, const struct column *columns, size_t n, uint64_t *owners,
		const struct cell_style *style);
/* Draws ░ in the empty cells of [from, to) (· without colours). */
void cells_unsettled(struct cell *cells, size_t from, size_t to, const struct cell_style *style);
/* Marks the cells of columns that contain something, by a role and additionally by an underline or,
 * without colours, by another fill. */
void cells_match(struct cell *cells, const struct column *columns, size_t n,
		 const struct cell_style *style);
/* Draws ▒ in the empty cells of columns in which events were lost; cells_paused() does the same for
 * pauses. */
void cells_paused(struct cell *cells, const struct column *columns, size_t n,
		  const struct cell_style *style);
void cells_lost(struct cell *cells, const struct column *columns, size_t n,
		const struct cell_style *style);

#endif
