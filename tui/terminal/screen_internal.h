/* SPDX-License-Identifier: MIT */
/* The terminal, inside: screen.c opens and closes it, screen_input.c reads,
 * screen_draw.c draws. Only these include this header, and curses with it. */
#ifndef TUI_SCREEN_INTERNAL_H
#define TUI_SCREEN_INTERNAL_H

#include <curses.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <termios.h>

#include "keymap/key.h"
#include "tui/draw/grid.h"
#include "tui/draw/mouse.h"
#include "tui/terminal/screen.h"
#include "tui/draw/theme.h"

#define SCREEN_KEYS_MAX 160
#define SCREEN_REST_MAX 32
#define SCREEN_PAIR_SIDE 257		/* default and 256 colours */

/* What the sequence that is being read began as. */
enum screen_rest { REST_NONE, REST_MOUSE, REST_OLD_MOUSE, REST_SYNC };

struct screen {
	int fd;
	FILE *in, *out;			/* owned; both on /dev/tty */
	int tty;			/* owned; to it again, never blocking; -1: none */
	int memory;			/* owned; what curses writes while it draws; -1: none */
	struct termios modes;		/* as the terminal was found */
	char *waiting;			/* owned; what the terminal has not taken yet */
	size_t waiting_at, waiting_size, waiting_room;
	int64_t asked_ms;		/* for modes, and when; 0: not, or it has answered */
	bool shortens;			/* what curses writes: see sgr.h */
	bool sync;			/* it shows a picture at once */
	SCREEN *curses;			/* owned */
	WINDOW *input;			/* owned; a pad: reading keys refreshes nothing */
	bool printer;			/* it cannot move the cursor: whole pictures as lines */
	bool has_mouse;			/* the terminal may have one */
	bool mouse;			/* ... and tells what it does */
	bool pasting;			/* what comes is text that the user pastes */
	int64_t pasted_ms;		/* when the last of it came */
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

#define SCREEN_SYNC_END "\033[?2026l"
#define SCREEN_PASTE_ON "\033[?2004h"
#define SCREEN_PASTE_OFF "\033[?2004l"

/* ---- screen_out.c ---- */
int64_t screen_now_ms(void);
void screen_out_open(struct screen *screen);
void screen_out_close(struct screen *screen);
/* What curses writes between them goes to what waits; picture: it is one. */
void screen_out_begin(struct screen *screen);
void screen_out_end(struct screen *screen, bool picture);
void screen_out_say(struct screen *screen, const char *text);
/* Until nothing waits, at most so long. */
void screen_out_drain(struct screen *screen, int ms);
void screen_sync_ask(struct screen *screen);
/* "2$y": what came after "ESC [ ? 2026 ;". */
void screen_sync_answer(struct screen *screen, const char *text);
void screen_sync_leave(struct screen *screen);

/* Names the sequences that terminfo may lack. screen_input.c */
void screen_map_keys(struct screen *screen);

#endif
