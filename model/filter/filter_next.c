/* SPDX-License-Identifier: MIT */
/* What may come next in an expression that is being typed. */
#include <ctype.h>
#include <string.h>

#include "model/filter/filter_read.h"

/* The place after a text in quotes or /.../ that starts at `at`; NULL: it is not closed. */
static const char *skip_closed(const char *at)
{
	char close = *at;

	for (at++; *at && *at != close; at++)
		if (close == '/' && *at == '\\' && at[1])
			at++;
	return *at ? at + 1 : NULL;
}

static bool is(const char *word, const char *at, size_t length)
{
	return strlen(word) == length && !strncmp(word, at, length);
}

/* What may follow a whole word; 0: unknown. */
static unsigned after_word(struct filter_place *place, const char *at, size_t length)
{
	int field = filter_field_by(at, length);
	bool alone;

	if (place->next & FILTER_NEXT_VALUE)
		return FILTER_NEXT_JOIN;
	if (place->next & FILTER_NEXT_JOIN && (is("and", at, length) || is("or", at, length)))
		return FILTER_NEXT_TEST;
	if (!(place->next & FILTER_NEXT_TEST))
		return 0;
	if (is("not", at, length))
		return FILTER_NEXT_TEST;
	alone = field < 0 || filter_fields[field].type == FILTER_FLAG ||
		filter_kind_by(at, length) >= 0;
	place->field = field < 0 ? FILTER_FIELDS : (enum filter_field)field;
	return (field >= 0 && filter_fields[field].type != FILTER_FLAG ? FILTER_NEXT_OPERATOR : 0) |
	       (alone ? FILTER_NEXT_JOIN : 0);
}

/* The same for operators, which are skipped. */
static unsigned after_signs(const struct filter_place *place, const char **at)
{
	const char *start = *at;

	if (place->next & FILTER_NEXT_TEST && strchr("!(", *start)) {
		*at += 1;
		return FILTER_NEXT_TEST;
	}
	if (place->next & FILTER_NEXT_JOIN && strchr("&|)", *start)) {
		*at += start[1] == start[0] && *start != ')' ? 2 : 1;
		return *start == ')' ? FILTER_NEXT_JOIN : FILTER_NEXT_TEST;
	}
	*at += strspn(start, "=!<>~");
	return place->next & FILTER_NEXT_OPERATOR && *at > start ? FILTER_NEXT_VALUE : 0;
}

/* Skips "in [FROM,TO)". */
static const char *skip_interval(const char *at)
{
	at += strcspn(at, "[(");
	at += strcspn(at, ")]");
	return *at ? at + 1 : NULL;
}

void filter_place(const char *text, struct filter_place *place)
{
	const char *at = text;

	*place = (struct filter_place){ FILTER_NEXT_TEST, FILTER_FIELDS, 0 };
	while (at && place->next) {
		size_t length;

		at += strspn(at, " \t");
		place->from = (size_t)(at - text);
		length = filter_word_length(at);
		if (!at[length] && (length || !*at))
			return;
		if (place->next & FILTER_NEXT_VALUE && strchr("'\"/", *at)) {
			at = skip_closed(at);
			if (!at && text[place->from] != '/')
				return;			/* a value in quotes that are not closed */
			place->next = at ? FILTER_NEXT_JOIN : 0;
		} else if (place->next & FILTER_NEXT_OPERATOR && is("in", at, length)) {
			at = skip_interval(at);
			place->next = at ? FILTER_NEXT_JOIN : 0;
		} else if (length) {
			place->next = after_word(place, at, length);
			at += length;
		} else {
			place->next = after_signs(place, &at);
		}
	}
}
