/* SPDX-License-Identifier: MIT */
/*
 * Splits a command line into words, in the same way for tftoprc, prompt and scripts. Blanks
 * separate words; '...' and "..." keep blanks inside a word. A backslash before a blank, quote, #
 * or backslash makes that character an ordinary one; before any other character it is an ordinary
 * backslash, so that regular expressions need no doubling. # at the start of a word starts a
 * comment.
 *
 * Always true: words_join() of the result of words_split() splits into the same words. Ownership:
 * words are inside text, which struct words owns.
 */
#ifndef KEYMAP_WORDS_H
#define KEYMAP_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_MAX 64

struct words {
	int argc;			/* 0: an empty line or a comment */
	const char *argv[WORDS_MAX + 1];	/* NULL after the last word */
	char *text;			/* owned */
};

/* false: a quote is open or there are too many words; `error` is a sentence, and nothing needs to
 * be released. */
bool words_split(struct words *words, const char *line, char *error, size_t error_size);
void words_release(struct words *words);

/* The text after the first n words, including quotes, without a comment and trailing blanks; the
 * caller frees. */
char *words_rest(const char *line, int n);

/* A line that splits into these words; the caller frees. */
char *words_join(int argc, const char *const *argv);

/* How many letters must be added, removed, changed or swapped with the next to make b from a
 * (a_length bytes): used to suggest what the user may have meant. */
int words_distance(const char *a, size_t a_length, const char *b);

#endif
