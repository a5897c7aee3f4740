/* SPDX-License-Identifier: MIT */
/*
 * Which part of the screen is where: a pure function of sizes, so that a test
 * can try all of them.
 *
 * Always true: the parts lie inside the screen, do not overlap, and each that
 * is shown has at least one line. From LAYOUT_SPLIT_ROWS rows on timeline and
 * lower pane share the screen, and the lower pane gets the lines that the timeline does not need;
 * on smaller screens, or when the user asks for it, the pane with the focus gets all of it.
 */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include <stdbool.h>

#define LAYOUT_LEAST_COLUMNS 60
#define LAYOUT_LEAST_ROWS 12
#define LAYOUT_SPLIT_ROWS 30

struct layout_part { int y, height; };	/* height 0: not shown; full width */

struct screen_layout {
	int width, height;
	bool too_small;			/* one line says so, nothing else */
	bool split;			/* timeline and lower pane at once */
	struct layout_part header, timeline, tabs, lower, bottom;
	int gutter, columns;		/* of the timeline */
};

struct layout_wish {
	int width, height;
	int header;			/* lines the header uses */
	int lower_percent;		/* of what is below the header */
	int timeline_lines;		/* more are of no use to it; 0: not known */
	int label_width;		/* 0: by the width */
	bool focus_lower;
	bool full; /* the one with the focus has the screen, whatever its size */
	bool bottom;			/* a line for hints, prompt, status */
};

void layout_compute(struct screen_layout *layout, const struct layout_wish *wish);
/* Lines the header may use on a screen of this height. */
int layout_header_max(int height);

#endif
