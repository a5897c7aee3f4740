/* SPDX-License-Identifier: MIT */
/* Regular expressions as they are typed. Pure, any thread. */
#ifndef TUI_PATTERN_H
#define TUI_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum pattern_use { PATTERN_WHETHER, PATTERN_PLACES };	/* WHETHER: no places of matches */

/* An extended regular expression; case matters when it has a capital. true: the caller
 * frees it by regfree(); false: a sentence in error. */
bool pattern_compile(regex_t *regex, const char *text, enum pattern_use use, char *error,
		     size_t error_size);

#endif
