/* SPDX-License-Identifier: MIT */
/*
 * What the mouse does, and how terminals and scripts write it down.
 *
 * Always true: columns and lines count from 0 at the top left of what the event
 * is given to; outside of it they are negative or too large, as they may be
 * while something is dragged.
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
	MOUSE_DOUBLE,		/* in the place of the second press */
	MOUSE_DRAG,		/* moved with a button down */
	MOUSE_RELEASE,
	MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN, MOUSE_WHEEL_LEFT, MOUSE_WHEEL_RIGHT,
};

struct mouse {
	enum mouse_what what;
	int button;		/* 1 left, 2 middle, 3 right; 0: not told, or a wheel */
	int x, y;
	unsigned mods;		/* enum key_mod */
};

#define MOUSE_WHEEL_ROWS 3	/* what a notch of the wheel scrolls */
#define MOUSE_WHEEL_TEXT "3"

bool mouse_is_wheel(const struct mouse *mouse);
bool mouse_inside(const struct mouse *mouse, int width, int height);

/* xterm's SGR form (mode 1006) after "ESC [ <": "0;10;5" and the last character,
 * M or m. false: it is none, or of a button that is not known. */
bool mouse_from_sgr(const char *text, char last, struct mouse *mouse);
/* The older form, the three bytes after "ESC [ M". A release does not tell its button. */
bool mouse_from_bytes(const unsigned char bytes[3], struct mouse *mouse);
/* The SGR form, whole; returns its length. For a program that asked for it. */
size_t mouse_to_sgr(const struct mouse *mouse, char *text, size_t size);
/* The older form, whole: 6 bytes. 0: beyond its last column or line, the 223rd. */
size_t mouse_to_bytes(const struct mouse *mouse, char bytes[6]);

#endif
