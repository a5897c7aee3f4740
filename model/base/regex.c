/* SPDX-License-Identifier: MIT */
#include "model/base/regex.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* The product of all upper bounds, as if each were inside of the others. */
static bool repeats_too_much(const char *text)
{
	unsigned long product = 1;

	for (; *text; text++) {
		unsigned long most = 0;
		char *end;

		if (*text == '\\' && text[1]) {
			text++;
			continue;
		}
		if (*text != '{')
			continue;
		if (isdigit((unsigned char)text[1]) || text[1] == ',') {
			most = isdigit((unsigned char)text[1]) ? strtoul(text + 1, &end, 10) : 0;
			if (text[1] == ',')
				end = (char *)text + 1;
			if (*end == ',' && isdigit((unsigned char)end[1]))
				most = strtoul(end + 1, NULL, 10);
		}
		if (most > REGEX_REPEATS)
			return true;
		product *= most > 1 ? most : 1;
		if (product > REGEX_REPEATS)
			return true;
	}
	return false;
}

static bool refers_back(const char *text)
{
	for (; *text; text++) {
		if (*text != '\\' || !text[1])
			continue;
		text++;
		if (*text >= '1' && *text <= '9')
			return true;
	}
	return false;
}

static bool has_capital(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

bool regex_make(regex_t *regex, const char *text, bool fold, char *error, size_t error_size)
{
	int flags = REG_EXTENDED | REG_NOSUB, bad;
	char why[120];

	if (refers_back(text)) {
		snprintf(error, error_size, "not a regular expression that is understood: '%.80s': "
			 "it refers back", text);
		return false;
	}
	if (repeats_too_much(text)) {
		snprintf(error, error_size, "not a regular expression that is understood: '%.80s': "
			 "more than %u repetitions", text, REGEX_REPEATS);
		return false;
	}
	if (fold || !has_capital(text))
		flags |= REG_ICASE;
	bad = regcomp(regex, text, flags);
	if (bad) {
		regerror(bad, regex, why, sizeof(why));
		snprintf(error, error_size, "not a regular expression: '%.100s': %s", text, why);
		return false;
	}
	return true;
}

bool regex_matches(const regex_t *regex, const char *text)
{
	return text && regexec(regex, text, 0, NULL, 0) == 0;
}
