/* SPDX-License-Identifier: MIT */
/* The words of the language: fields, kinds, directions, units. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"
#include "model/filter/filter_internal.h"
#include "model/query/query.h"

const struct filter_field_info filter_fields[FILTER_FIELDS] = {
#define ROW(id, name, type, help) [FILTER_BY_##id] = {name, FILTER_##type, help},
	FILTER_FIELD_LIST(ROW)
#undef ROW
};

_Static_assert(FILTER_FIELDS <= 64, "filter.asks has a bit for each");

static const char *const kinds[FILTER_KINDS] = {
	[FILTER_KERNEL] = "kernel", [FILTER_COPY] = "copy", [FILTER_FILL] = "fill",
	[FILTER_OP] = "op", [FILTER_RANGE] = "range", [FILTER_WAIT] = "wait",
	[FILTER_COMPILE] = "compile", [FILTER_GRAPH] = "graph", [FILTER_STEP] = "step",
	[FILTER_MARKER] = "marker",
};

static const char *const reserved[] = { "and", "or", "not", "in" };

#define N_RESERVED (sizeof(reserved) / sizeof(reserved[0]))

static const struct {
	const char *name, *example;
} types[] = {
	[FILTER_TEXT] = { "text", "/conv/" },
	[FILTER_TIME] = { "a time", "1ms" },
	[FILTER_SIZE] = { "a size", "64M" },
	[FILTER_RATE] = { "a rate", "10G/s" },
	[FILTER_SHARE] = { "a share", "5%" },
	[FILTER_COUNT] = { "a number", "12" },
	[FILTER_KIND] = { "a kind", "kernel" },
	[FILTER_DIRECTION] = { "a direction", "h2d" },
	[FILTER_FLAG] = { "a flag", "failed" },
};

const char *filter_kind_name(enum filter_kind kind)
{
	return kinds[kind];
}

const char *filter_type_name(enum filter_type type)
{
	return types[type].name;
}

const char *filter_type_example(enum filter_type type)
{
	return types[type].example;
}

static bool is_word(const char *name, const char *word, size_t length)
{
	return strlen(name) == length && memcmp(name, word, length) == 0;
}

int filter_field_by(const char *word, size_t length)
{
	for (int i = 0; i < FILTER_FIELDS; i++)
		if (is_word(filter_fields[i].name, word, length))
			return i;
	return -1;
}

int filter_kind_by(const char *word, size_t length)
{
	for (int i = 0; i < FILTER_KINDS; i++)
		if (is_word(kinds[i], word, length))
			return i;
	return -1;
}

int filter_direction_by(const char *word, size_t length)
{
	for (int i = DIR_NONE + 1; i < DIR_COUNT; i++)
		if (is_word(direction_name((enum direction)i), word, length))
			return i;
	return -1;
}

bool filter_reserved(const char *word, size_t length)
{
	for (size_t i = 0; i < N_RESERVED; i++)
		if (is_word(reserved[i], word, length))
			return true;
	return false;
}

/* ---- suggestions ---- */

struct filter_nearest {
	const char *word, *name;
	size_t length;
	int distance;
};

static void try_name(struct filter_nearest *nearest, const char *name)
{
	int distance = words_distance(nearest->word, nearest->length, name);

	if (distance >= nearest->distance)
		return;
	nearest->distance = distance;
	nearest->name = name;
}

const char *filter_near(const char *word, size_t length, bool only_fields,
			const struct filter_names *names)
{
	/* In a short word nearly all letters would have to change. */
	struct filter_nearest nearest = { word, NULL, length, length < 3 ? 2 : 3 };
	size_t n = names && !only_fields ? filter_names_count(names) : 0;

	for (size_t i = 0; i < n; i++)
		try_name(&nearest, filter_names_at(names, i, NULL));
	for (int i = 0; i < FILTER_FIELDS; i++)
		if (!only_fields || filter_fields[i].type != FILTER_FLAG)
			try_name(&nearest, filter_fields[i].name);
	for (int i = 0; i < FILTER_KINDS && !only_fields; i++)
		try_name(&nearest, kinds[i]);
	return nearest.name;
}

/* ---- values ---- */

static const struct unit sizes[] = {
	{ "", 1 }, { "k", 1 << 10 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
	{ "T", 1ull << 40 }, { "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 },
	{ "GiB", 1 << 30 }, { "TiB", 1ull << 40 }, { NULL, 0 },
};
static const struct unit rates[] = {
	{ "/s", 1 }, { "k/s", 1000 }, { "K/s", 1000 }, { "M/s", 1000000 }, { "G/s", 1000000000 },
	{ "T/s", 1000000000000 }, { "B/s", 1 }, { "kB/s", 1000 }, { "MB/s", 1000000 },
	{ "GB/s", 1000000000 }, { "TB/s", 1000000000000 }, { NULL, 0 },
};
static const struct unit shares[] = { { "%", 10000 }, { NULL, 0 } };
static const struct unit counts[] = {
	{ "", 1 }, { "k", 1000 }, { "M", 1000000 }, { "G", 1000000000 }, { "T", 1000000000000 },
	{ NULL, 0 },
};
static const struct unit times[] = {
	{ "ns", 1 }, { "us", 1000 }, { "µs", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	{ "m", 60000000000 }, { "h", 3600000000000 }, { NULL, 0 },
};

static const struct unit *units_of(enum filter_type type)
{
	switch (type) {
	case FILTER_TIME: return times;
	case FILTER_SIZE: return sizes;
	case FILTER_RATE: return rates;
	case FILTER_SHARE: return shares;
	case FILTER_COUNT: return counts;
	default: return NULL;
	}
}

/* A number without its unit is nearly right, so advise which unit to add. */
static void filter_unit_advice(enum filter_type type, const char *word, char *advice, size_t size)
{
	static const struct unit bare[] = { { "", 1 }, { NULL, 0 } };
	uint64_t number;

	if (!parse_scaled(word, bare, &number))
		snprintf(advice, size, "write e.g. %s", types[type].example);
	else if (type == FILTER_TIME)
		snprintf(advice, size, "a unit is missing: %ss, %sms, %sus", word, word, word);
	else if (type == FILTER_RATE)
		snprintf(advice, size, "a unit is missing: %sM/s, %sG/s", word, word);
	else
		snprintf(advice, size, "a unit is missing: %s%%", word);
}

bool filter_value_parse(enum filter_type type, const char *word, int64_t *value, char *advice,
			size_t advice_size)
{
	bool negative = type == FILTER_COUNT && word[0] == '-';
	uint64_t number;

	if (strcmp(word, "0") == 0) {
		*value = 0;
		return true;
	}
	if (!parse_scaled(word + negative, units_of(type), &number)) {
		filter_unit_advice(type, word, advice, advice_size);
		return false;
	}
	*value = negative ? -(int64_t)number : (int64_t)number;
	return true;
}
