/* SPDX-License-Identifier: MIT */
/*
 * Events of the mouse, and how terminals and scripts write them.
 *
 * Always true: columns and lines count from 0 at the top left of the area that the event is given
 * to; outside of it they are negative or too large, which happens while something is dragged.
 *
 * Threads: no state.
 */
#ifndef TUI_MOUSE_H
#define TUI_MOUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "keymap/key.h"

enum mouse_what {
	MOUSE_PRESS,
	MOUSE_DOUBLE,		/* sent instead of the second press */
	MOUSE_DRAG,		/* moved while a button is down */
	MOUSE_RELEASE,
	MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN, MOUSE_WHEEL_LEFT, MOUSE_WHEEL_RIGHT,
};

struct mouse {
	enum mouse_what what;
	int button;		/* 1: left, 2: middle, 3: right; 0: unknown, or a wheel */
	int x, y;
	unsigned mods;		/* enum key_mod */
};

#define MOUSE_WHEEL_ROWS 3	/* how many lines a notch of the wheel scrolls */
#define MOUSE_WHEEL_TEXT "3"

bool mouse_is_wheel(const struct mouse *mouse);
bool mouse_inside(const struct mouse *mouse, int width, int height);

/* xterm's SGR form (mode 1006) after "ESC [ <": "0;10;5" and the last character, M or m. false: it
 * has another form, or the button is unknown. */
bool mouse_from_sgr(const char *text, char last, struct mouse *mouse);
/* The older form, the three bytes after "ESC [ M". A release does not name its button. */
bool mouse_from_bytes(const unsigned char bytes[3], struct mouse *mouse);
/* Writes the whole SGR form, for a program that requested it; returns its length. */
size_t mouse_to_sgr(const struct mouse *mouse, char *text, size_t size);
/* Writes the whole older form: 6 bytes. 0: the event is beyond its last column or line, the
 * 223rd. */
size_t mouse_to_bytes(const struct mouse *mouse, char bytes[6]);

#endif
