/* SPDX-License-Identifier: MIT */
#include "tui/pattern.h"

#include <ctype.h>
#include <stdio.h>

bool pattern_compile(regex_t *regex, const char *text, enum pattern_use use, char *error,
		     size_t error_size)
{
	int flags = REG_EXTENDED | REG_ICASE | (use == PATTERN_WHETHER ? REG_NOSUB : 0), bad;
	char why[120];

	for (const char *at = text; *at; at++)
		if (isupper((unsigned char)*at))
			flags &= ~REG_ICASE;
	bad = regcomp(regex, text, flags);
	if (!bad)
		return true;
	regerror(bad, regex, why, sizeof(why));
	snprintf(error, error_size, "not a regular expression: '%.100s': %s", text, why);
	return false;
}
