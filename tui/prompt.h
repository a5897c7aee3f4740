/* SPDX-License-Identifier: MIT */
/*
 * The line that is typed at the bottom: UTF-8 text with a cursor.
 *
 * Always true: text is valid UTF-8 of at most PROMPT_MAX - 1 bytes, the cursor
 * stands between two code points of it. Threads: the loop's only.
 */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keymap/command.h"
#include "tui/grid.h"

#define PROMPT_MAX 1024

struct prompt {
	bool open;
	char text[PROMPT_MAX];
	size_t length, cursor;		/* bytes */
	int first;			/* code points scrolled out at the left */
};

void prompt_open(struct prompt *prompt, const char *text);
void prompt_close(struct prompt *prompt);
/* Control characters and what does not fit are left out. */
void prompt_insert(struct prompt *prompt, uint32_t ch);
/* One of the editing commands (GROUP_PROMPT). Rubbing out in an empty prompt
 * closes it. */
void prompt_edit(struct prompt *prompt, enum command_id command);
/* Draws ":text" and places the cursor. */
void prompt_draw(struct prompt *prompt, struct area area);

#endif
