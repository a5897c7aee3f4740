/* SPDX-License-Identifier: MIT */
/* What the files of commands share: commands.c, commands_page.c. */
#ifndef TUI_COMMANDS_INTERNAL_H
#define TUI_COMMANDS_INTERNAL_H

#include "tui/loop.h"

struct words;

/* A command on its way. */
struct run {
	struct tui *tui;
	enum command_id id;
	struct command_call call;	/* argv[0] is the full name */
	const char *to;			/* FILE of "> FILE", NULL: none */
	bool again;			/* a page that was shown before: no new place */
	char *error;
	size_t error_size;
	bool failed;
};

/* Takes "> FILE" from the end of a command that makes a page; NULL: none there. */
const char *command_redirect(struct words *words);

unsigned cmd_page(struct run *run);
unsigned cmd_back(struct run *run);
unsigned cmd_forward(struct run *run);

#endif
