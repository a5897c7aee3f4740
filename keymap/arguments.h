/* SPDX-License-Identifier: MIT */
/*
 * What a command's `arguments` (COMMAND_LIST) say about a place of its line:
 * CAPITALS are values, small letters and signs stand for themselves, a|b choose,
 * [...] may be left out, -x is a flag, which may stand anywhere; its value
 * stands in the same brackets: "[-d DEPTH] [-c]". EXPR… is all words up to the end.
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
	char value[ARGUMENT_TEXT];	/* of a flag, "" takes none */
	bool flag;
};

struct arguments {
	struct argument list[ARGUMENTS_MAX];
	int count;
};

/* What has no room is left out. */
void arguments_parse(const char *text, struct arguments *arguments);

/*
 * What may be the next word after these (the command's name is not among them):
 * "OP", "start|live|TIME", "" nothing but flags. `repeats`: the last place holds
 * any number of words. *value: it is the value of a flag, so no other flag may
 * stand there.
 */
const char *arguments_next(const struct arguments *arguments, int argc, const char *const *argv,
			   bool repeats, bool *value);

/* The place of the first word of "COMMAND" that takes the whole rest, when it lies before
 * or at word number argc; -1: none. (bind TABLE KEYS COMMAND) */
int arguments_rest(const struct arguments *arguments, int argc);

#endif
