/* SPDX-License-Identifier: MIT */
/*
 * Turns the model's rows into the lines of the timeline: what is folded, which lanes are shown,
 * what a line is called. Pure except for its own memory; does not need the model.
 *
 * Always true: lines are in the order of the rows; a line is identified by (row, lane); a row that
 * never did anything has no line.
 *
 * Ownership: the list owns its lines, the set its states; labels are borrowed from the model's
 * strings. Thread: the loop's.
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

/* Which rows the user folded or unfolded; other rows have their default state. */
struct fold_set {
	struct { uint32_t row; enum fold fold; } *list;	/* owned */
	size_t count, cap;
};

void fold_set_release(struct fold_set *set);
void fold_put(struct fold_set *set, uint32_t row, enum fold fold);

/* By default, threads that show more than their outermost ops show this many lanes. */
#define LANES_DEFAULT 3

/* By default this many devices are unfolded; if there are more, each is one line. */
#define DEVICES_OPEN 4

struct timeline_line {
	uint32_t row, lane;		/* lane LANE_ALL: one line for all lanes */
	uint32_t parent;
	enum row_kind kind;
	enum direction direction;
	int indent;
	bool foldable, folded;
	bool first;			/* it is the line with the row's label */
	bool compared;			/* a second line shows the row in another step */
	const char *label;
	uint64_t peak;
	int64_t base;			/* for a ROW_COUNTER, in its unit */
	const char *unit;
};

struct line_list {
	struct timeline_line *lines;	/* owned */
	size_t count, cap;
	size_t pinned;			/* how many of the first lines belong to pinned rows */
};

/* Whether the row shows values over time instead of events. */
static inline bool row_is_counter(enum row_kind kind)
{
	return kind == ROW_BANDWIDTH || kind == ROW_MEMORY || kind == ROW_COUNTER;
}

void line_list_release(struct line_list *list);
/* n_first: how many rows at the start are pinned. */
void line_list_build(struct line_list *list, const struct model_row *rows, size_t n_rows,
		     size_t n_first, const struct fold_set *folds);
/* false for rows that never did anything, which would only push others off the screen. */
bool row_worth_a_line(const struct model_row *row);

/* Index of the line (row, lane), otherwise of the row's first line; -1: there is none. */
int64_t line_list_find(const struct line_list *list, uint32_t row, uint32_t lane);
/* The initial line of the cursor: that of the first queue, otherwise of the first thread. */
size_t line_list_home(const struct line_list *list);

/* Draws the label into an area of `width` columns: the name at the left, `value` (or what
 * distinguishes the line) at the right. */
void line_label_draw(const struct timeline_line *line, const char *value, struct area area,
		     int y, bool current, bool ascii);

#endif
