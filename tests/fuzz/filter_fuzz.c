/* SPDX-License-Identifier: MIT */
/* Filters: every line of the input is one. They are also named a, b, …, so that later lines can use
 * earlier ones. A filter that was accepted keeps its text when it is printed and parsed again. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/filter/filter.h"
#include "tests/fuzz/fuzz.h"

/* A row whose fields, and the stage at which they are known, depend on a number. */
static enum filter_known get(const void *arg, enum filter_field field, struct filter_value *value)
{
	unsigned mixed = (*(const unsigned *)arg + 1) * 2654435761u ^ (unsigned)field * 40503u;

	value->number = (int64_t)(mixed >> 16) * 1000;
	value->text = mixed & 1 ? "model/conv2d_1/Conv2D" : NULL;
	value->other = mixed & 2 ? "h2d" : NULL;
	return (enum filter_known)(mixed / 4 % 3);
}

static void check(const char *text, const struct filter_names *names)
{
	char error[FILTER_ERROR_MAX] = "";
	struct filter *filter = filter_parse(text, names, error, sizeof(error)), *again;

	if (!filter) {
		FUZZ_CHECK(*error && strlen(error) < sizeof(error));
		return;
	}
	again = filter_parse(filter_text(filter), names, error, sizeof(error));
	FUZZ_CHECK(again);
	for (unsigned row = 0; row < 8; row++)
		FUZZ_CHECK(filter_ask(filter, get, &row) == filter_ask(again, get, &row));
	filter_free(again);
	filter_free(filter);
}

static void run(const uint8_t *data, size_t size)
{
	struct filter_names *names = filter_names_new();
	char *text = xstrndup((const char *)data, strnlen((const char *)data, size)), *line, *rest;
	char error[FILTER_ERROR_MAX], name[2] = "a";

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		check(line, names);
		if (name[0] <= 'z' && filter_names_set(names, name, line, error, sizeof(error)))
			name[0]++;
	}
	filter_names_free(names);
	free(text);
}

FUZZ_TARGET("filter", run);
