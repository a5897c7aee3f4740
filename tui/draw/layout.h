/* SPDX-License-Identifier: MIT */
/*
 * Where the parts of the screen are: a pure function of sizes, so that a test can try all of them.
 *
 * Always true: the parts lie inside the screen and do not overlap, and each part that is shown has
 * at least one line. From LAYOUT_SPLIT_ROWS rows on, timeline and lower pane share the screen, and
 * the lower pane gets the lines that the timeline does not need. On smaller screens, or if the user
 * asks for it, the pane with the focus gets all of it.
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
	bool too_small;			/* only one line is shown, which says so */
	bool split;			/* timeline and lower pane are both shown */
	struct layout_part header, timeline, tabs, lower, bottom;
	int gutter, columns;		/* columns of the timeline: for labels, and for time */
};

struct layout_wish {
	int width, height;
	int header;			/* lines that the header uses */
	int lower_percent;		/* share of what is below the header */
	int timeline_lines;		/* how many lines the timeline can use; 0: unknown */
	int label_width;		/* 0: derived from the width */
	bool focus_lower;
	bool full; /* the pane with the focus has the whole screen, whatever its size */
	bool bottom;			/* a line for hints, prompt and status */
};

void layout_compute(struct screen_layout *layout, const struct layout_wish *wish);
/* How many lines the header may use on a screen of this height. */
int layout_header_max(int height);

#endif
