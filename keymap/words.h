/* SPDX-License-Identifier: MIT */
/*
 * A command line as words, the same for tftoprc, prompt and scripts: blanks
 * separate; '…' and "…" hold together; a backslash takes the specialness of
 * the blank, quote, # or backslash after it and is itself before anything
 * else (so that a regex needs no doubling); # begins a comment at the start of
 * a word.
 *
 * Always true: words_join() of what words_split() gave splits into the same
 * words. Ownership: words are inside text, owned by struct words.
 */
#ifndef KEYMAP_WORDS_H
#define KEYMAP_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_MAX 64

struct words {
	int argc;			/* 0: an empty line or a comment */
	const char *argv[WORDS_MAX + 1];	/* NULL after the last */
	char *text;			/* owned */
};

/* false: open quote or too many words, a sentence in error; nothing to release. */
bool words_split(struct words *words, const char *line, char *error, size_t error_size);
void words_release(struct words *words);

/* What stands behind the first n words, quotes and all, without a comment and blanks at its
 * end; the caller frees. */
char *words_rest(const char *line, int n);

/* One line that splits into these words; the caller frees. */
char *words_join(int argc, const char *const *argv);

/* How many letters of a (so many bytes) were added, left out, changed or
 * exchanged with the next against b: what somebody meant who wrote a. */
int words_distance(const char *a, size_t a_length, const char *b);

#endif
