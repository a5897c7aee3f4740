/* SPDX-License-Identifier: MIT */
/*
 * How roles look. Filled by `color ROLE FG [BG] [ATTR…]` of tftoprc; screen.c
 * asks for the look of a cell. No colour is written down in code.
 *
 * FG and BG: `default`, black red green yellow blue magenta cyan white (with
 * `bright-` in front), a number 0 … 255, or A|B: A with 256 colours, B with
 * fewer. A number alone is brought down to the nearest of eight. ATTR: bold
 * underline reverse dim; with 16 behind it only where there are fewer than 256
 * colours.
 *
 * Threads: the loop's only.
 */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/draw/grid.h"

#define COLOUR_DEFAULT (-1)

/* Depth of colour that the terminal has and the user wants. */
enum theme_depth { DEPTH_MONO = 0, DEPTH_16 = 16, DEPTH_256 = 256 };

struct theme {
	struct {
		short fg[2], bg[2];	/* [0] with 256 colours, [1] with fewer */
		unsigned char attr[2];	/* enum attr */
	} roles[ROLE_COUNT];
	enum theme_depth depth;		/* of its colours: MONO, there are none */
};

void theme_init(struct theme *theme);
/* argv[0] is the role. false: a sentence. */
bool theme_set(struct theme *theme, int argc, const char *const *argv,
	       char *error, size_t error_size);

struct theme_look {
	short fg, bg;			/* 0 … 255 or COLOUR_DEFAULT */
	unsigned char attr;		/* enum attr */
};

struct theme_look theme_look(const struct theme *theme, const struct cell *cell,
			     enum theme_depth depth);

#endif
