/* SPDX-License-Identifier: MIT */
/*
 * The commands of tftop. keymap/commands.def has one row for each; keys, prompt, completion,
 * scripts, :help, --help and the man pages all derive from these rows, and tui/commands takes
 * the functions from them.
 *
 * The columns of a row:
 *
 *	ID		COMMAND_ID_… in the program
 *	name, alias	alias "": none
 *	GROUP		GROUP_…: its heading in the help
 *	NEEDS		COMMAND_NEEDS_…: without it the command is refused
 *	function	cmd_…() of tui/commands; `pane`: the pane with the keys gets the command
 *	page		page_…() of tui/, when the command makes a page; `none`
 *	usage		CAPITALS are values, small letters stand for themselves, […] may be left
 *			out, a|b is a choice, EXPR… takes the rest of the line. Completion knows
 *			by these words what may stand there (keymap/arguments.h)
 *	least, most	how many arguments it takes; -1: any number
 *	help		one line, as a command to tftop: "show a lower pane"
 *	details		lines "ARGUMENT\tsentence\n"; each flag of the usage has one. Without an
 *			ARGUMENT the sentence is about the command as a whole
 *
 * Threads: constants only.
 */
#ifndef KEYMAP_COMMAND_H
#define KEYMAP_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

enum command_group {
	GROUP_TIME = 0, GROUP_CURSOR, GROUP_PANES, GROUP_PROGRAM, GROUP_SCREEN,
	GROUP_CONFIG, GROUP_PROMPT, GROUP_SCRIPT,
	GROUP_COUNT
};

enum command_needs {
	COMMAND_NEEDS_NOTHING = 0,
	COMMAND_NEEDS_SESSION,		/* a program that tftop collects from */
	COMMAND_NEEDS_RUNNING,		/* a program that is running */
	COMMAND_NEEDS_TERMINAL,		/* a screen on a terminal */
	COMMAND_NEEDS_PROMPT,		/* an open prompt */
	COMMAND_NEEDS_SCRIPT,		/* a script that runs it */
};

enum command_id {
#define COMMAND(id, ...) COMMAND_ID_##id,
#include "keymap/commands.def"
#undef COMMAND
	COMMAND_ID_COUNT
};

struct command_info {
	const char *name, *alias;	/* alias "": none */
	enum command_group group;
	enum command_needs needs;
	const char *usage;
	int least, most;		/* -1: any number */
	const char *help;
	const char *details;
};

extern const struct command_info command_table[COMMAND_ID_COUNT];

const char *command_group_title(enum command_group group);
/* A phrase such as "a program that is running", to follow "needs"; "" for COMMAND_NEEDS_NOTHING. */
const char *command_needs_text(enum command_needs needs);

/* Reads the next line of details: copies its ARGUMENT and its sentence, each cut if necessary.
 * Returns the rest; NULL: there was no line. */
const char *command_detail(const char *details, char *argument, size_t argument_size,
			   char *sentence, size_t sentence_size);

/* What a whole command line such as "rows hide" does: the sentence about its argument if the
 * details have one, else the help of the command. Returns sentence; NULL: there is no such
 * command. */
const char *command_help(const char *line, char *sentence, size_t size);

/* Finds a command by its name, its alias, or an unambiguous start of its name. -1: `error` is a
 * sentence, which names a similar command. */
int command_find(const char *name, char *error, size_t error_size);
/* The same as command_find(); also returns -1 if the number of arguments is wrong. */
int command_check(int argc, const char *const *argv, char *error, size_t error_size);

#endif
