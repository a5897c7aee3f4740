/* SPDX-License-Identifier: MIT */
/* The terminal, inside: screen.c opens and closes it, screen_input.c reads,
 * screen_draw.c draws. Only these include this header, and curses with it. */
#ifndef TUI_SCREEN_INTERNAL_H
#define TUI_SCREEN_INTERNAL_H

#include <curses.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "keymap/key.h"
#include "tui/grid.h"
#include "tui/mouse.h"
#include "tui/screen.h"
#include "tui/theme.h"

#define SCREEN_KEYS_MAX 160
#define SCREEN_REST_MAX 32
#define SCREEN_PAIR_SIDE 257		/* default and 256 colours */

/* What the sequence that is being read began as. */
enum screen_rest { REST_NONE, REST_MOUSE, REST_OLD_MOUSE };

struct screen {
	int fd;
	FILE *in, *out;			/* owned; both on /dev/tty */
	SCREEN *curses;			/* owned */
	WINDOW *input;			/* owned; a pad: reading keys refreshes nothing */
	bool printer;			/* it cannot move the cursor: whole pictures as lines */
	bool has_mouse;			/* the terminal may have one */
	bool mouse;			/* ... and tells what it does */
	enum theme_depth depth;
	struct grid shown;		/* what curses has been told */
	bool all;			/* nothing is known of what is shown */
	bool suspended;
	struct { int code; struct key key; } map[SCREEN_KEYS_MAX];
	int mapped;
	enum screen_rest rest;
	char rest_text[SCREEN_REST_MAX];
	int rest_length;
	int pairs;			/* given out; 0 is the terminal's own */
	unsigned short pair_of[SCREEN_PAIR_SIDE][SCREEN_PAIR_SIDE];
};

/* Names the sequences that terminfo may lack. screen_input.c */
void screen_map_keys(struct screen *screen);

#endif
