/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions as users type them: POSIX extended ones; case matters where there
 * is a capital in them (smart case). What would take the matcher for ever or all memory is
 * refused: back-references, and repetitions of more than REGEX_REPEATS in all.
 *
 * Threads: no state, any thread.
 */
#ifndef MODEL_REGEX_H
#define MODEL_REGEX_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#define REGEX_REPEATS 1000u

/* fold: case never matters. false: a sentence in error, nothing to free; else the caller
 * frees with regfree(). */
bool regex_make(regex_t *regex, const char *text, bool fold, char *error, size_t error_size);
/* text NULL never matches. */
bool regex_matches(const regex_t *regex, const char *text);

#endif
