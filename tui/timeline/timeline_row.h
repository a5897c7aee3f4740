/* SPDX-License-Identifier: MIT */
/*
 * From the model's rows to the lines of the timeline: what is folded, which
 * lanes are shown, what a line is called. Pure except for its own memory; does not
 * need the model.
 *
 * Always true: lines are in the rows' order; a line is known by (row, lane);
 * a row that never did anything has no line.
 *
 * Ownership: the list owns its lines, the set its states; labels are borrowed
 * from the model's strings. Thread: the loop's.
 */
#ifndef TUI_TIMELINE_ROW_H
#define TUI_TIMELINE_ROW_H

#include "model/query/query.h"
#include "tui/draw/grid.h"

enum fold {
	FOLD_DEFAULT = 0,
	FOLD_CLOSED,
	FOLD_OPEN,
};

/* What the user folded; rows that are not in it have their default. */
struct fold_set {
	struct { uint32_t row; enum fold fold; } *list;	/* owned */
	size_t count, cap;
};

void fold_set_release(struct fold_set *set);
void fold_put(struct fold_set *set, uint32_t row, enum fold fold);

/* Threads that show more than their outermost ops by default show so many. */
#define LANES_DEFAULT 3

/* So many devices are open by default; of more, each is a line. */
#define DEVICES_OPEN 4

struct timeline_line {
	uint32_t row, lane;		/* lane LANE_ALL: all of them in one */
	uint32_t parent;
	enum row_kind kind;
	enum direction direction;
	int indent;
	bool foldable, folded;
	bool first;			/* the line with the row's label */
	bool compared;			/* a second line shows it in another step */
	const char *label;
	uint64_t peak;
	int64_t base;			/* of a ROW_COUNTER, as its unit */
	const char *unit;
};

struct line_list {
	struct timeline_line *lines;	/* owned */
	size_t count, cap;
	size_t pinned;			/* so many of the first are of pinned rows */
};

/* A row of values over time, not of events. */
static inline bool row_is_counter(enum row_kind kind)
{
	return kind == ROW_BANDWIDTH || kind == ROW_MEMORY || kind == ROW_COUNTER;
}

void line_list_release(struct line_list *list);
/* n_first: so many rows at the beginning are pinned ones. */
void line_list_build(struct line_list *list, const struct model_row *rows, size_t n_rows,
		     size_t n_first, const struct fold_set *folds);
/* Rows that never did anything would only push others off the screen. */
bool row_worth_a_line(const struct model_row *row);

/* Index of (row, lane); else of the row's first line; -1: none. */
int64_t line_list_find(const struct line_list *list, uint32_t row, uint32_t lane);
/* Where a cursor that was never moved belongs: the first queue, else thread. */
size_t line_list_home(const struct line_list *list);

/* Draws the label into an area of `width` columns: name left, `value` (or what
 * tells the line apart) right. */
void line_label_draw(const struct timeline_line *line, const char *value, struct area area,
		     int y, bool current, bool ascii);

#endif
