/* SPDX-License-Identifier: MIT */
/* Named filters. The names in an expression are looked up when it is parsed. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/filter/filter_internal.h"

struct filter_named {
	char *name, *text;		/* owned */
};

struct filter_names {
	struct filter_named *list;		/* owned, by name */
	size_t n, cap;
};

struct filter_names *filter_names_new(void)
{
	return xcalloc(1, sizeof(struct filter_names));
}

void filter_names_free(struct filter_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->n; i++) {
		free(names->list[i].name);
		free(names->list[i].text);
	}
	free(names->list);
	free(names);
}

size_t filter_names_count(const struct filter_names *names)
{
	return names->n;
}

const char *filter_names_at(const struct filter_names *names, size_t index, const char **text)
{
	if (index >= names->n)
		return NULL;
	if (text)
		*text = names->list[index].text;
	return names->list[index].name;
}

/* Index of the first filter that does not come before the name. */
static size_t place_of(const struct filter_names *names, const char *name)
{
	size_t i = 0;

	while (i < names->n && strcmp(names->list[i].name, name) < 0)
		i++;
	return i;
}

const char *filter_names_find(const struct filter_names *names, const char *name)
{
	size_t i = place_of(names, name);

	return i < names->n && strcmp(names->list[i].name, name) == 0 ? names->list[i].text : NULL;
}

static bool filter_names_check_name(const char *name, char *error, size_t error_size)
{
	size_t length = strlen(name);
	bool good = isalpha((unsigned char)name[0]) && length < FILTER_NAME_MAX;

	for (size_t i = 0; i < length && good; i++)
		good = isalnum((unsigned char)name[i]) || strchr("_-", name[i]);
	if (!good) {
		snprintf(error, error_size, "'%.40s' cannot name a filter: use a letter, then "
			 "letters, digits, _ and -, at most %u", name, FILTER_NAME_MAX - 1);
		return false;
	}
	if (filter_field_by(name, length) >= 0 || filter_kind_by(name, length) >= 0 ||
	    filter_direction_by(name, length) >= 0 || filter_reserved(name, length)) {
		snprintf(error, error_size, "'%s' is already a word of the filter language", name);
		return false;
	}
	return true;
}

/* Sets the text of a name and returns the previous one; NULL: there was none. */
static char *filter_names_put(struct filter_names *names, const char *name, char *text)
{
	size_t i = place_of(names, name);
	char *before = NULL;

	if (i < names->n && strcmp(names->list[i].name, name) == 0) {
		before = names->list[i].text;
		names->list[i].text = text;
		return before;
	}
	grow(&names->list, &names->cap, names->n, sizeof(*names->list));
	memmove(&names->list[i + 1], &names->list[i], (names->n - i) * sizeof(*names->list));
	names->list[i] = (struct filter_named) { xstrdup(name), text };
	names->n++;
	return NULL;
}

static char *filter_names_take(struct filter_names *names, const char *name)
{
	size_t i = place_of(names, name);
	char *text = names->list[i].text;

	free(names->list[i].name);
	names->n--;
	memmove(&names->list[i], &names->list[i + 1], (names->n - i) * sizeof(*names->list));
	return text;
}

/* The first filter that cannot be parsed (any more); NULL: all of them can. */
static const char *filter_names_breaks(const struct filter_names *names)
{
	char why[FILTER_ERROR_MAX];

	for (size_t i = 0; i < names->n; i++) {
		struct filter *filter = filter_parse_as(names->list[i].name, names->list[i].text,
							names, why, sizeof(why));

		filter_free(filter);
		if (!filter)
			return names->list[i].name;
	}
	return NULL;
}

bool filter_names_set(struct filter_names *names, const char *name, const char *text,
		      char *error, size_t error_size)
{
	struct filter *filter;
	const char *other;
	char *before;

	if (!filter_names_check_name(name, error, error_size))
		return false;
	if (!filter_names_find(names, name) && names->n == FILTER_NAMES_MAX) {
		snprintf(error, error_size, "more than %u filters", FILTER_NAMES_MAX);
		return false;
	}
	/* It is in the list while it is parsed, so that a reference to itself is detected. */
	before = filter_names_put(names, name, xstrdup(text));
	filter = filter_parse_as(name, text, names, error, error_size);
	filter_free(filter);
	other = filter ? filter_names_breaks(names) : NULL;
	if (other)
		snprintf(error, error_size, "this would make filter '%s' too long or too deeply "
			 "nested",
			 other);
	if (filter && !other) {
		free(before);
		return true;
	}
	free(before ? filter_names_put(names, name, before) : filter_names_take(names, name));
	return false;
}

bool filter_names_remove(struct filter_names *names, const char *name, char *error,
			 size_t error_size)
{
	const char *near, *other;
	char *text;

	if (!filter_names_find(names, name)) {
		near = filter_near(name, strlen(name), false, names);
		near = near && filter_names_find(names, near) ? near : NULL;
		snprintf(error, error_size, "no filter '%.40s'%s%s%s", name,
			 near ? ", did you mean '" : "", near ? near : "", near ? "'" : "");
		return false;
	}
	text = filter_names_take(names, name);
	other = filter_names_breaks(names);
	if (other) {
		snprintf(error, error_size, "filter '%s' uses '%s'", other, name);
		filter_names_put(names, name, text);
		return false;
	}
	free(text);
	return true;
}
