/* SPDX-License-Identifier: MIT */
/* See traceme.h. */
#include <string.h>

#include "probes/traceme/traceme.h"

void traceme_read(struct traceme *t, const char *text, size_t length)
{
	const char *hash = NULL;

	*t = (struct traceme){ .name = text, .name_length = length };
	if (length > 2 && text[length - 1] == '#')
		hash = memchr(text, '#', length - 1);
	if (!hash)
		return;
	t->name_length = (size_t)(hash - text);
	t->values = hash + 1;
	t->values_length = length - t->name_length - 2;
}

void traceme_split(struct traceme *t, const struct traceme_event *e, int64_t to_mono_ns)
{
	traceme_read(t, e->name, e->length);
	t->start_ns = e->start_ns + to_mono_ns;
	t->end_ns = e->end_ns + to_mono_ns;
}

bool traceme_value(const struct traceme *t, const char *key, const char **value,
		    size_t *length)
{
	size_t key_length = strlen(key);
	const char *at = t->values, *end = at + t->values_length;

	while (at < end) {
		bool found = (size_t)(end - at) > key_length && at[key_length] == '=' &&
			     !memcmp(at, key, key_length);
		const char *begin = at;
		int depth = 0;

		for (; at < end && (*at != ',' || depth > 0); at++)
			depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
		if (found) {
			*value = begin + key_length + 1;
			*length = (size_t)(at - *value);
			return true;
		}
		at++;
	}
	return false;
}

bool traceme_number(const struct traceme *t, const char *key, int64_t *number)
{
	const char *text;
	uint64_t n = 0;
	size_t length;
	bool minus;

	if (!traceme_value(t, key, &text, &length) || !length)
		return false;
	minus = *text == '-';
	text += minus;
	length -= minus;
	if (!length || length > 19)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		n = n * 10 + (uint64_t)(text[i] - '0');
	}
	*number = (int64_t)(minus ? 0 - n : n);
	return true;
}
