/* SPDX-License-Identifier: MIT */
/*
 * The prompt at the bottom: UTF-8 text with a cursor, a box above it with possible completions, and
 * the history of earlier lines.
 *
 * Always true: text is valid UTF-8 of at most PROMPT_MAX - 1 bytes, and the cursor is between two
 * of its code points. The box closes with the next change that is not a choice from it.
 *
 * Ownership: the box belongs to the prompt until prompt_close(). Threads: the loop's.
 */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keymap/command.h"
#include "tui/prompt/complete.h"
#include "tui/draw/grid.h"
#include "tui/prompt/history.h"

#define PROMPT_MAX 1024

struct prompt {
	bool open;
	char text[PROMPT_MAX];
	size_t length, cursor;		/* in bytes */
	int first;			/* how many code points are scrolled out at the left */
	/* Possible completions. */
	bool boxed;
	struct completion box;		/* owned */
	int choice;			/* index in box.list; -1: none yet */
	char typed[PROMPT_MAX];		/* the line before the first choice, or before recalling */
	size_t typed_cursor;
	/* Earlier lines. */
	bool recalling;
	size_t recalled;		/* number of the line that is shown */
};

/* The prompt must be all zero, or closed. */
void prompt_open(struct prompt *prompt, const char *text);
void prompt_close(struct prompt *prompt);
/* Inserts text; control characters and what does not fit are left out. */
void prompt_insert(struct prompt *prompt, uint32_t ch);
/* Carries out one of the editing commands (GROUP_PROMPT). Deleting backwards in an empty prompt
 * closes it. */
void prompt_edit(struct prompt *prompt, enum command_id command);

/* Completes the word under the cursor: first as far as all candidates agree, then with each call to
 * the next candidate, or to the previous one. */
void prompt_complete(struct prompt *prompt, const struct complete_ask *ask, bool back);
/* Carries out HISTORY_PREV, HISTORY_NEXT or HISTORY_SEARCH. false: there is no such line. */
bool prompt_recall(struct prompt *prompt, const struct history *history, enum command_id command);
/* Moves the cursor to that byte, or to the nearest place before it. */
void prompt_place(struct prompt *prompt, size_t at);
/* Closes the box and restores the line as it was typed; false: no box is open. */
bool prompt_unbox(struct prompt *prompt);

/* Draws ":text" and places the cursor. */
void prompt_draw(struct prompt *prompt, struct area area);
/* Draws the box into the last lines of area. */
void prompt_draw_box(const struct prompt *prompt, struct area area, bool ascii);

#endif
