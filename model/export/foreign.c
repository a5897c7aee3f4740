/* SPDX-License-Identifier: MIT */
/* The formats by name, and which options each of them takes. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "model/export/formats.h"

static const char *const names[] = {
	[FOREIGN_CHROME] = "chrome", [FOREIGN_PERFETTO] = "perfetto", [FOREIGN_CSV] = "csv",
	[FOREIGN_DOT] = "dot", [FOREIGN_STACKS] = "stacks", [FOREIGN_SPEEDSCOPE] = "speedscope",
};

static bool wrong(char *error, size_t size, const char *what, const char *text, const char *right)
{
	snprintf(error, size, "%s '%s': %s", what, text, right);
	return false;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncasecmp(text, word, length);
}

static bool parse_table(const char *text, struct foreign_kind *kind, char *error, size_t size)
{
	char all[256] = "";
	const char *name;

	for (size_t i = 0; (name = csv_table(i)); i++) {
		size_t used = strlen(all);

		if (!strcasecmp(text, name)) {
			snprintf(kind->table, sizeof(kind->table), "%s", name);
			return true;
		}
		snprintf(all + used, sizeof(all) - used, "%s%s", used ? ", " : "", name);
	}
	snprintf(error, size, "no table '%s': use csv:TABLE with one of %s", text, all);
	return false;
}

/* Parses ",memory,no-dataflow". */
static bool parse_switches(const char *text, const char *at, struct foreign_kind *kind,
			   char *error, size_t size)
{
	while (*at == ',') {
		size_t length = strcspn(++at, ",");

		if (is_word(at, length, "memory"))
			kind->memory = true;
		else if (is_word(at, length, "no-memory"))
			kind->memory = false;
		else if (is_word(at, length, "dataflow"))
			kind->dataflow = true;
		else if (is_word(at, length, "no-dataflow"))
			kind->dataflow = false;
		else
			break;
		at += length;
	}
	return !*at || wrong(error, size, "not a format", text,
			     "chrome and perfetto take ,memory and ,no-dataflow");
}

bool foreign_parse(const char *text, struct foreign_kind *kind, char *error, size_t size)
{
	size_t length = strcspn(text, ",:"), i;

	*kind = (struct foreign_kind) { .dataflow = true };
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_word(text, length, names[i]))
			break;
	kind->format = (enum foreign_format)i;
	switch (kind->format) {
	case FOREIGN_CHROME:
	case FOREIGN_PERFETTO:
		return parse_switches(text, text + length, kind, error, size);
	case FOREIGN_CSV:
		if (text[length] != ':')
			return wrong(error, size, "no table in", text, "write csv:TABLE, such as "
				     "csv:ops");
		return parse_table(text + length + 1, kind, error, size);
	case FOREIGN_STACKS:
	case FOREIGN_SPEEDSCOPE:
		kind->waited = is_word(text + length, strlen(text + length), ",waited");
		if (!text[length] || kind->waited)
			return true;
		return wrong(error, size, "not a format", text, "stacks and speedscope take "
			     ",waited");
	case FOREIGN_DOT:
		if (!text[length])
			return true;
		break;
	}
	return wrong(error, size, "not a format", text, "use " FOREIGN_FORMATS);
}

const char *foreign_word(size_t i, char word[FOREIGN_WORD_MAX])
{
	static const char *const words[] = {
		"chrome", "chrome,memory", "chrome,no-dataflow", "perfetto", "perfetto,memory",
		"dot", "stacks", "stacks,waited", "speedscope", "speedscope,waited",
	};
	size_t n = sizeof(words) / sizeof(words[0]);
	const char *table = i < n ? NULL : csv_table(i - n);

	if (i >= n && !table)
		return NULL;
	snprintf(word, FOREIGN_WORD_MAX, "%s%s", table ? "csv:" : "", table ? table : words[i]);
	return word;
}

const char *foreign_unit(enum foreign_format format)
{
	switch (format) {
	case FOREIGN_CSV: return "rows";
	case FOREIGN_DOT: return "edges";
	case FOREIGN_STACKS:
	case FOREIGN_SPEEDSCOPE: return "stacks";
	default: return "slices";
	}
}

bool foreign_write(const struct foreign_options *options, struct foreign_result *result,
		   char *error, size_t size)
{
	*result = (struct foreign_result) { .gap_ns = INT64_MIN };
	switch (options->kind.format) {
	case FOREIGN_CHROME: return chrome_write(options, result, error, size);
	case FOREIGN_PERFETTO: return perfetto_write(options, result, error, size);
	case FOREIGN_CSV: return csv_write(options, result, error, size);
	case FOREIGN_STACKS: return stacks_write(options, result, error, size);
	case FOREIGN_SPEEDSCOPE: return speedscope_write(options, result, error, size);
	case FOREIGN_DOT: break;
	}
	return dot_write(options, result, error, size);
}
