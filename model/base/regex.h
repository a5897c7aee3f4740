/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions as users type them: POSIX extended ones. Case matters if the expression
 * contains a capital (smart case). An expression that could take the matcher forever, or all
 * memory, is refused: back-references, and an expression that is longer than REGEX_MOST
 * characters or deeper than REGEX_DEPTH once its repetitions are written out. The matcher does
 * write them out: 'a{3}' becomes 'aaa' and 'a+' becomes 'aa*', so nested repetitions double
 * each time.
 *
 * Threads: no state, any thread.
 */
#ifndef MODEL_REGEX_H
#define MODEL_REGEX_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#define REGEX_MOST 2000u
#define REGEX_DEPTH 100u

enum regex_how {
	REGEX_SMART,
	REGEX_FOLD,		/* ignores case always */
	REGEX_PLACES,		/* smart case; regexec() reports where the matches are */
	REGEX_LINES,	/* for a text of many lines: ^ and $ match at each line; case matters */
};

/* false: `error` has a sentence and nothing needs to be freed; otherwise the caller frees with
 * regfree(). */
bool regex_make(regex_t *regex, const char *text, enum regex_how how, char *error,
		size_t error_size);
/* A text of NULL never matches. */
bool regex_matches(const regex_t *regex, const char *text);

#endif
