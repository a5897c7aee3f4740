/* SPDX-License-Identifier: MIT */
/*
 * Parses a command's `arguments` (COMMAND_LIST), which say what may stand at each place of its
 * line. CAPITALS are values, small letters and signs stand for themselves, a|b is a choice, [...]
 * may be left out, and -x is a flag, which may stand anywhere and whose value is in the same
 * brackets: "[-d DEPTH] [-c]". EXPR... takes all words up to the end.
 *
 * Threads: no state.
 */
#ifndef KEYMAP_ARGUMENTS_H
#define KEYMAP_ARGUMENTS_H

#include <stdbool.h>

#define ARGUMENTS_MAX 24
#define ARGUMENT_TEXT 64

struct argument {
	char text[ARGUMENT_TEXT];	/* "OP", "start|live|TIME", "-d" */
	char value[ARGUMENT_TEXT];	/* value of a flag; "": it takes none */
	bool flag;
};

struct arguments {
	struct argument list[ARGUMENTS_MAX];
	int count;
};

/* Parses the arguments; those for which there is no room are left out. */
void arguments_parse(const char *text, struct arguments *arguments);

/*
 * What the next word after these words may be, where argv does not include the command's name:
 * "OP", "start|live|TIME", or "" for nothing but flags. `repeats`: the last place takes any number
 * of words. *value: the word is the value of a flag, so that no other flag may stand there.
 */
const char *arguments_next(const struct arguments *arguments, int argc, const char *const *argv,
			   bool repeats, bool *value);

/* The number of the first word of a "COMMAND" that takes the rest of the line, if that is at or
 * before word number argc; -1: there is none. (bind TABLE KEYS COMMAND) */
int arguments_rest(const struct arguments *arguments, int argc);

#endif
