/* SPDX-License-Identifier: MIT */
/* What the files of commands share: commands.c and commands_*.c. */
#ifndef TUI_COMMANDS_INTERNAL_H
#define TUI_COMMANDS_INTERNAL_H

#include "tui/commands/commands.h"
#include "tui/loop/loop.h"

struct words;

/* A command that is being run. */
struct command_run {
	struct tui *tui;
	enum command_id id;
	struct command_call call;	/* argv[0] is the full name */
	const char *to;			/* FILE of "> FILE"; NULL: none */
	char *error;
	size_t error_size;
	bool failed;
};

/* Removes "> FILE" from the end of a command that makes a page and returns FILE; NULL: there is
 * none. */
const char *command_redirect(struct words *words);

/* Sets the command's error to a sentence; returns OUT_NONE. */
unsigned command_fail(struct command_run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The first argument; NULL: there is none. */
const char *command_first(const struct command_run *run);
/* The first argument as a number from 1 to most, or `otherwise` if there is none; 0: it is not such
 * a number, and the command has failed. */
int command_number(struct command_run *run, int otherwise, int most);

/* The members of commands_for_loop. */
bool command_line(struct tui *tui, const char *line, char *error, size_t error_size);
bool command_answer_key(struct tui *tui, struct key key);
void command_follow_page(struct tui *tui);

/* Makes the shown page again, because what it is about has changed. */
void command_remake_page(struct tui *tui);

/* The function of each row of keymap/commands.def; the files of this folder define them. */
#define COMMAND(id, name, alias, group, needs, function, ...)                                      \
	unsigned cmd_##function(struct command_run *run);
#include "keymap/commands.def"
#undef COMMAND

#endif
