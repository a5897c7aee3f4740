/* SPDX-License-Identifier: MIT */
/*
 * How roles look. `color ROLE FG [BG] [ATTR...]` of tftoprc sets it, and screen.c asks for the look
 * of a cell. The code contains no colours.
 *
 * FG and BG: `default`; black red green yellow blue magenta cyan white (also with the prefix
 * `bright-`); a number 0 ... 255; or A|B: A with 256 colours, B with fewer. A number alone is
 * mapped to the nearest of eight colours if there are fewer. ATTR: bold underline reverse dim; with
 * the suffix 16 it applies only if there are fewer than 256 colours.
 *
 * Threads: the loop's only.
 */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/draw/grid.h"

#define COLOUR_DEFAULT (-1)

/* How many colours the terminal has and the user wants. */
enum theme_depth { DEPTH_MONO = 0, DEPTH_16 = 16, DEPTH_256 = 256 };

struct theme {
	struct {
		short fg[2], bg[2];	/* [0] with 256 colours, [1] with fewer */
		unsigned char attr[2];	/* enum attr */
	} roles[ROLE_COUNT];
	/* depth for which its colours are meant; DEPTH_MONO: it has no colours */
	enum theme_depth depth;
};

void theme_init(struct theme *theme);
/* argv[0] is the role. false: `error` is a sentence. */
bool theme_set(struct theme *theme, int argc, const char *const *argv,
	       char *error, size_t error_size);

struct theme_look {
	short fg, bg;			/* 0 ... 255 or COLOUR_DEFAULT */
	unsigned char attr;		/* enum attr */
};

struct theme_look theme_look(const struct theme *theme, const struct cell *cell,
			     enum theme_depth depth);

#endif
