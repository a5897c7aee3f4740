/* SPDX-License-Identifier: MIT */
/*
 * The screen as cells. Panes draw into a grid; screen.c, the only file that knows curses, turns the
 * difference between two grids into terminal output; golden tests and `save-screen` write the grid
 * as text. Drawing never fails: what lies outside of the grid is clipped.
 *
 * A cell holds one code point of width 1 (a wide one takes two cells, the second with ch 0), a role
 * for its foreground and one for its background, and attributes. Roles are not colours: the theme
 * maps them to colours, and the screen must be readable without colours.
 *
 * Thread: the loop's only.
 */
#ifndef TUI_GRID_H
#define TUI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/base/text.h"

enum role {
	ROLE_DEFAULT = 0,
	ROLE_HEADER,		/* state bar */
	ROLE_TITLE,		/* names in headers */
	ROLE_GOOD, ROLE_WARN, ROLE_BAD,
	ROLE_MUTED,		/* context: rulers, rules, units */
	ROLE_ACCENT,		/* what needs attention */
	ROLE_TAB, ROLE_TAB_ACTIVE,
	ROLE_COLUMN,		/* table headings */
	ROLE_SELECTED,		/* cursor row of a table */
	ROLE_CURSOR,		/* time cursor in the timeline */
	ROLE_MATCH,		/* match of `find` */
	ROLE_PROMPT, ROLE_ERROR, ROLE_HINT,
	ROLE_UNSETTLED, ROLE_LOST,
	ROLE_LABEL,		/* labels of rows on the timeline */
	ROLE_CONTEXT,		/* how busy something was, as a background behind work */
	/* work, in the order of enum work (model/query/query.h) from WORK_MATMUL on */
	ROLE_WORK_MATMUL, ROLE_WORK_ELEMENTWISE, ROLE_WORK_REDUCE, ROLE_WORK_COPY,
	ROLE_WORK_COMM, ROLE_WORK_INPUT, ROLE_WORK_OTHER, ROLE_WORK_OP, ROLE_WORK_RANGE,
	/* colours for names, queues, steps (tui/timeline/tint.h) */
	ROLE_PALETTE_1, ROLE_PALETTE_2, ROLE_PALETTE_3, ROLE_PALETTE_4,
	ROLE_PALETTE_5, ROLE_PALETTE_6, ROLE_PALETTE_7, ROLE_PALETTE_8,
	/* how busy, as a shade: from an eighth of the time to all of it */
	ROLE_HEAT_1, ROLE_HEAT_2, ROLE_HEAT_3, ROLE_HEAT_4,
	ROLE_HEAT_5, ROLE_HEAT_6, ROLE_HEAT_7, ROLE_HEAT_8,
	/* what a thread does beside its ops, in the order of enum state_family
	 * (tui/draw/state_cells.h) */
	ROLE_STATE_RUN, ROLE_STATE_WAIT, ROLE_STATE_SLEEP,
	ROLE_COUNT
};

enum attr { ATTR_BOLD = 1, ATTR_UNDERLINE = 2, ATTR_REVERSE = 4, ATTR_DIM = 8 };

struct cell {
	uint32_t ch;		/* code point; ' ': empty; 0: right half of a wide one */
	/* enum role. A background has the BG of its role in the theme, or its FG if the role has no
	 * BG (bars); ROLE_DEFAULT: that of the terminal. A foreground of ROLE_DEFAULT on a coloured
	 * background becomes black or white, whichever is more readable. Without colours a
	 * background is reverse video. */
	uint8_t fg, bg;
	uint8_t attr;		/* enum attr */
};

struct grid {
	int width, height;
	struct cell *cells;	/* owned; row by row */
	int cursor_x, cursor_y;	/* -1: hidden */
};

/* A rectangle of a grid; drawing is relative to it and clipped to it. */
struct area {
	struct grid *grid;	/* borrowed */
	int x, y, width, height;
};

void grid_init(struct grid *grid, int width, int height);
void grid_release(struct grid *grid);
void grid_resize(struct grid *grid, int width, int height);	/* also clears it */
void grid_clear(struct grid *grid);

struct area grid_area(struct grid *grid);
struct area area_sub(struct area area, int x, int y, int width, int height);

/* All of these return the x after what was drawn. */
int area_put(struct area area, int x, int y, uint32_t ch, enum role fg, enum role bg,
	     unsigned attr);
int area_text(struct area area, int x, int y, enum role fg, unsigned attr, const char *utf8);
int area_printf(struct area area, int x, int y, enum role fg, unsigned attr,
		const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Right-aligned, ending before x. Returns where the text starts. */
int area_right(struct area area, int x, int y, enum role fg, unsigned attr, const char *utf8);
void area_fill(struct area area, int x, int y, int width, int height,
	       uint32_t ch, enum role fg, enum role bg, unsigned attr);
/* Changes background and attributes of what is there (selection bars). */
void area_tint(struct area area, int x, int y, int width, enum role bg, unsigned attr);
/* The same, but only where there is no background. */
void area_shade(struct area area, int x, int y, int width, enum role bg);

/* Writes lines without trailing spaces; with roles: {role:text} for runs that are not default, `{`
 * and `}` are doubled. A background and attributes follow the role: {title/header+bold:text}. */
void grid_save(const struct grid *grid, FILE *out, bool roles);
/* Replaces characters that are not ASCII by similar ones that are. */
void grid_to_ascii(struct grid *grid);

/* Checks that the grid can be sent to a terminal: no control character, no combining mark alone, no
 * half of a wide code point, only roles that exist, the cursor inside. false: `error` is a
 * sentence. For tests. */
bool grid_check(const struct grid *grid, char *error, size_t error_size);

const char *role_name(enum role role);
int role_by_name(const char *name);	/* -1: there is none */

#endif
