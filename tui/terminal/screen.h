/* SPDX-License-Identifier: MIT */
/*
 * The terminal: the only part that knows curses. Takes grids, gives keys and the
 * mouse. (screen.c, screen_input.c, screen_draw.c)
 *
 * Always true: reads and draws through /dev/tty, so that redirected standard
 * descriptors stay the program's; only the difference to what is shown is
 * written, and that without waiting for the terminal; after screen_close() the terminal is as it
 * was found, also after a crash (a signal handler writes fixed bytes and the saved modes).
 *
 * Threads: the loop's only; the crash handler runs on any.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "keymap/key.h"
#include "tui/draw/grid.h"
#include "tui/draw/mouse.h"
#include "tui/draw/theme.h"

struct screen;

struct screen_options {
	enum theme_depth most;		/* no more colours than this */
	int escape_ms;
};

/* There is a terminal and it is of a known type; changes nothing. false: a
 * sentence in error. */
bool screen_possible(char *error, size_t error_size);
/* NULL: a sentence in error. */
struct screen *screen_open(const struct screen_options *options, char *error, size_t error_size);
void screen_close(struct screen *screen);

int screen_fd(const struct screen *screen);	/* poll for POLLIN */
/* Hands over what waits; false: some still does, and nothing is drawn. Then poll for POLLOUT. */
bool screen_ready(struct screen *screen);
void screen_size(const struct screen *screen, int *width, int *height);
enum theme_depth screen_depth(const struct screen *screen);

enum screen_input {
	SCREEN_NOTHING, SCREEN_KEY, SCREEN_MOUSE, SCREEN_RESIZED, SCREEN_CLOSED,
	SCREEN_PASTED,			/* a key that was not typed: a character of pasted text */
};
/* The next key, or what the mouse did, without waiting. */
enum screen_input screen_read(struct screen *screen, struct key *key, struct mouse *mouse);
/* Whether the terminal tells of the mouse; else it is the terminal's own, to select text. */
void screen_set_mouse(struct screen *screen, bool on);

/* It cannot move its cursor (TERM=dumb): each picture is printed below the last
 * one, so there should be few. */
bool screen_only_prints(const struct screen *screen);

/* Writes the difference. The grid has the screen's size or is clipped. */
void screen_draw(struct screen *screen, const struct theme *theme, const struct grid *grid);
/* The next screen_draw() writes everything. */
void screen_redraw(struct screen *screen);
/* Gives the terminal back and takes it again; between them nothing is drawn. */
void screen_suspend(struct screen *screen);
void screen_resume(struct screen *screen);

/* UTF-8 by the locale: setlocale() has been called. */
bool screen_locale_is_utf8(void);

#endif
