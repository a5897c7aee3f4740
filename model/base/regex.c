/* SPDX-License-Identifier: MIT */
#include "model/base/regex.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many characters a group has when it is written out; `last` is the part that a repetition
 * repeats. */
struct regex_group { size_t before, last; };

static size_t all_of(const struct regex_group *group)
{
	return group->before + group->last;
}

/* Skips a bracket expression such as [^]a[:space:]], in which nothing repeats. */
static const char *skip_bracket(const char *text)
{
	text += text[1] == '^' ? 2 : 1;
	if (*text == ']')
		text++;
	for (; *text && *text != ']'; text++)
		if (text[0] == '[' && text[1] && strchr(":.=", text[1]) && strchr(text + 2, ']'))
			text = strchr(text + 2, ']');
	return text;
}

/* How often '+', {3}, {2,5}, {,4} or {3,} repeats what it follows; *at: its end. 0: there is no
 * repetition. */
static size_t regex_repeats(const char **at)
{
	const char *text = *at;
	unsigned long least, most;
	char *end;

	if (*text == '*' || *text == '?' || *text == '+')
		return *text == '+' ? 2 : 1;
	if (*text != '{' || !(isdigit((unsigned char)text[1]) || text[1] == ','))
		return 0;
	least = most = strtoul(text + 1, &end, 10);
	if (*end == ',' && !isdigit((unsigned char)end[1]))
		most = least + 1;
	else if (*end == ',')
		most = strtoul(end + 1, &end, 10);
	*at = strchr(end, '}') ? strchr(end, '}') : end;
	most = most < REGEX_MOST ? most : REGEX_MOST + 1;
	return most > 1 ? most : 1;
}

static bool is_too_much(const char *text)
{
	struct regex_group groups[REGEX_DEPTH + 1] = {{0, 0}}, *group = groups;

	for (; *text; text++) {
		size_t times, one = 1;

		if (*text == '(') {
			if (++group == groups + REGEX_DEPTH)
				return true;
			*group = (struct regex_group){0, 0};
			continue;
		}
		times = regex_repeats(&text);
		if (times) {
			group->last *= times;
		} else {
			if (*text == ')' && group > groups)
				one += all_of(group--);
			else if (*text == '[')
				text = skip_bracket(text);
			else if (*text == '\\' && text[1])
				text++;
			group->before += group->last;
			group->last = one;
		}
		if (all_of(group) > REGEX_MOST)
			return true;
		if (!*text)
			break;		/* a bracket that is not closed */
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

bool regex_make(regex_t *regex, const char *text, enum regex_how how, char *error,
		size_t error_size)
{
	int flags = REG_EXTENDED | (how == REGEX_PLACES ? 0 : REG_NOSUB), bad;
	char why[120];

	if (refers_back(text)) {
		snprintf(error, error_size, "unsupported regular expression '%.80s': it has a back "
			 "reference", text);
		return false;
	}
	if (is_too_much(text)) {
		snprintf(error, error_size, "unsupported regular expression '%.80s': written out "
			 "it is longer than %u characters", text, REGEX_MOST);
		return false;
	}
	if (how == REGEX_LINES)
		flags |= REG_NEWLINE;
	else if (how == REGEX_FOLD || !has_capital(text))
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
