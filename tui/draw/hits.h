/* SPDX-License-Identifier: MIT */
/*
 * What can be clicked outside of the panes, as it was last drawn: tabs, the line of keys, the
 * header's finding, the answers of a question. A click runs the command.
 *
 * A value, no allocation; what does not fit cannot be clicked. Thread: the loop's.
 */
#ifndef TUI_HITS_H
#define TUI_HITS_H

#include "tui/draw/grid.h"

#define HITS_MAX 48
#define HIT_COMMAND 48

struct hits {
	int count;
	struct hit { int x, y, width; char command[HIT_COMMAND]; } list[HITS_MAX];
};

void hits_clear(struct hits *hits);
/* Makes columns x ... x + width - 1 of line y of the area run the command. */
void hits_add(struct hits *hits, struct area area, int x, int y, int width, const char *command);
/* The command at a place of the screen; NULL: none. */
const char *hits_find(const struct hits *hits, int x, int y);

#endif
