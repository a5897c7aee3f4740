/* SPDX-License-Identifier: MIT */
/* Completes expressions of the filter language. */
#include "tui/prompt/complete_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/filter/filter.h"
#include "model/query/query.h"

static void add_directions(struct gather *gather, const char *about)
{
	for (int i = DIR_NONE + 1; i < DIR_COUNT; i++)
		gather_add(gather, direction_name((enum direction)i), about, false);
}

static void add_tests(struct gather *gather)
{
	gather_values(gather, "FILTER");
	for (int i = 0; i < FILTER_FIELDS; i++) {
		char *about = xasprintf("%s: %s", filter_type_name(filter_fields[i].type),
					filter_fields[i].help);

		gather_add(gather, filter_fields[i].name, about, false);
		free(about);
	}
	/* step and op are fields too */
	for (int i = 0; i < FILTER_KINDS; i++)
		if (i != FILTER_STEP && i != FILTER_OP)
			gather_add(gather, filter_kind_name((enum filter_kind)i), "a kind", false);
	add_directions(gather, "a direction");
}

static void add_operators(struct gather *gather, enum filter_field field)
{
	switch (filter_fields[field].type) {
	case FILTER_TEXT:
		gather_words(gather, "= != ~ !~");
		break;
	case FILTER_KIND:
	case FILTER_DIRECTION:
		gather_words(gather, "= !=");
		break;
	default:
		gather_words(gather, "= != < <= > >= in");
	}
}

static void add_texts(struct gather *gather, enum filter_field field)
{
	static const struct { enum filter_field field; const char *value; } values[] = {
		{FILTER_BY_NAME, "NAME"}, {FILTER_BY_OP, "OP"}, {FILTER_BY_CLASS, "CLASS"},
		{FILTER_BY_DTYPE, "DTYPE"}, {FILTER_BY_DEVICE, "DEVICE"},
		{FILTER_BY_QUEUE, "QUEUE"}, {FILTER_BY_THREAD, "THREAD"},
		{FILTER_BY_ID, "FINDING"}, {FILTER_BY_FILE, "SOURCE"}, {FILTER_BY_STEP, "STEP"},
		{FILTER_BY_NUMBER, "STEP"}, {FILTER_BY_PID, "PID"},
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].field == field)
			gather_values(gather, values[i].value);
	if (field == FILTER_BY_LEVEL)
		gather_words(gather, "note warning error");
}

static void filter_add_value(struct gather *gather, enum filter_field field)
{
	switch (filter_fields[field].type) {
	case FILTER_KIND:
		for (int i = 0; i < FILTER_KINDS; i++)
			gather_add(gather, filter_kind_name((enum filter_kind)i), "", false);
		break;
	case FILTER_DIRECTION:
		add_directions(gather, "");
		break;
	default:
		add_texts(gather, field);
	}
}

size_t gather_filter(struct gather *gather, const char *text, char quote)
{
	struct filter_place place;
	const char *word;

	filter_place(text, &place);
	word = text + place.from;
	gather->typed = word + (place.next & FILTER_NEXT_VALUE && strchr("'\"", *word) && *word);
	if (place.next & FILTER_NEXT_TEST)
		add_tests(gather);
	if (place.next & FILTER_NEXT_OPERATOR && place.field < FILTER_FIELDS)
		add_operators(gather, place.field);
	if (place.next & FILTER_NEXT_JOIN)
		gather_words(gather, "& |");
	gather->quote = quote == '"' ? '\'' : '"';
	if (place.next & FILTER_NEXT_VALUE && place.field < FILTER_FIELDS)
		filter_add_value(gather, place.field);
	gather->quote = '\0';
	return strlen(word);
}
