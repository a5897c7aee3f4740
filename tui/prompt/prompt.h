/* SPDX-License-Identifier: MIT */
/*
 * The prompt at the bottom: UTF-8 text with a cursor, a box above it with possible
 * completions, and the history of earlier lines.
 *
 * Always true: text is valid UTF-8 of at most PROMPT_MAX - 1 bytes, the cursor
 * stands between two code points of it. The box closes with the next change that
 * is not a choice from it.
 *
 * Ownership: the box is the prompt's until prompt_close(). Threads: the loop's.
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
	size_t length, cursor;		/* bytes */
	int first;			/* code points scrolled out at the left */
	/* what it may go on with */
	bool boxed;
	struct completion box;		/* owned */
	int choice;			/* in box.list, -1: none yet */
	char typed[PROMPT_MAX];		/* the line before the first choice, or recall */
	size_t typed_cursor;
	/* earlier lines */
	bool recalling;
	size_t recalled;		/* number of the line that is shown */
};

/* All zero at first, or closed. */
void prompt_open(struct prompt *prompt, const char *text);
void prompt_close(struct prompt *prompt);
/* Control characters and what does not fit are left out. */
void prompt_insert(struct prompt *prompt, uint32_t ch);
/* One of the editing commands (GROUP_PROMPT). Rubbing out in an empty prompt
 * closes it. */
void prompt_edit(struct prompt *prompt, enum command_id command);

/* Completes the word under the cursor: as far as all candidates agree, then each time the
 * next of them, or the one before. */
void prompt_complete(struct prompt *prompt, const struct complete_ask *ask, bool back);
/* HISTORY_PREV, HISTORY_NEXT, HISTORY_SEARCH. false: there is none. */
bool prompt_recall(struct prompt *prompt, const struct history *history, enum command_id command);
/* The cursor goes to that byte, or the nearest place before it. */
void prompt_place(struct prompt *prompt, size_t at);
/* Closes the box, the line is again as it was typed; false: none is open. */
bool prompt_unbox(struct prompt *prompt);

/* Draws ":text" and places the cursor. */
void prompt_draw(struct prompt *prompt, struct area area);
/* The box, into the last lines of area. */
void prompt_draw_box(const struct prompt *prompt, struct area area, bool ascii);

#endif
