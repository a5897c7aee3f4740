/* SPDX-License-Identifier: MIT */
#include "keymap/setting.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"

const struct setting_info setting_table[SETTING_COUNT] = {
#define ROW(id, name, type, initial, least, most, choices, help) \
	[SETTING_##id] = {name, SETTING_##type, initial, least, most, choices, help},
	SETTING_LIST(ROW)
#undef ROW
};

void settings_init(struct settings *settings)
{
	char error[160];
	int i;

	settings->more = NULL;
	for (i = 0; i < SETTING_COUNT; i++) {
		settings->value[i] = setting_table[i].least;
		setting_set(settings, i, setting_table[i].initial, error, sizeof(error));
	}
}

int setting_count(const struct settings *settings)
{
	return SETTING_COUNT + (settings->more ? (int)settings->more->count : 0);
}

struct setting_row setting_row(const struct settings *settings, int id)
{
	const struct setting_info *info;

	if (id >= SETTING_COUNT)
		return settings->more->rows[id - SETTING_COUNT];
	info = &setting_table[id];
	return (struct setting_row) {
		info->name, info->initial,
		info->type == SETTING_BOOL ? "yes|no" : info->choices, info->help,
	};
}

int setting_find(const struct settings *settings, const char *name,
		 char *error, size_t error_size)
{
	const char *near = NULL;
	int i, best = 3;

	for (i = 0; i < setting_count(settings); i++) {
		const char *known = setting_row(settings, i).name;
		int distance = words_distance(name, strlen(name), known);

		if (!strcmp(known, name))
			return i;
		if (distance < best) {
			best = distance;
			near = known;
		}
	}
	if (near)
		snprintf(error, error_size, "unknown option '%s', did you mean '%s'", name, near);
	else
		snprintf(error, error_size, "unknown option '%s'", name);
	return -1;
}

/* Index of value among "a|b|c"; -1 if it is none of them. */
static int choice_index(const char *choices, const char *value)
{
	size_t length = strlen(value);
	int i;

	for (i = 0; length; i++) {
		const char *end = strchrnul(choices, '|');

		if ((size_t)(end - choices) == length && !strncmp(choices, value, length))
			return i;
		if (!*end)
			break;
		choices = end + 1;
	}
	return -1;
}

static bool set_int(const struct setting_info *info, const char *value, int *out,
		    char *error, size_t error_size)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(value, &end, 10);
	if (!*value || *end || errno) {
		snprintf(error, error_size, "not a number for '%s': '%s'", info->name, value);
		return false;
	}
	if (number < info->least || number > info->most) {
		snprintf(error, error_size, "out of range for '%s': '%s' (%d to %d)",
			 info->name, value, info->least, info->most);
		return false;
	}
	*out = (int)number;
	return true;
}

bool setting_set(struct settings *settings, int id, const char *value,
		 char *error, size_t error_size)
{
	static const char *const bools = "no|yes|off|on|false|true|0|1";
	const struct setting_more *more = settings->more;
	const struct setting_info *info;
	const char *choices;
	int index;

	if (id >= SETTING_COUNT)
		return more->set(more->arg, (size_t)(id - SETTING_COUNT), value, error, error_size);
	info = &setting_table[id];
	choices = info->type == SETTING_BOOL ? bools : info->choices;
	if (info->type == SETTING_INT)
		return set_int(info, value, &settings->value[id], error, error_size);
	index = choice_index(choices, value);
	if (index < 0) {
		snprintf(error, error_size, "wrong value for '%s': '%s' (%s)", info->name,
			 value, info->type == SETTING_BOOL ? "yes|no" : choices);
		return false;
	}
	settings->value[id] = info->type == SETTING_BOOL ? index & 1 : index;
	return true;
}

bool setting_next(struct settings *settings, int id, char *error, size_t error_size)
{
	if (id >= SETTING_COUNT || setting_table[id].type == SETTING_INT) {
		snprintf(error, error_size, "'%s' is a number: set %s = VALUE",
			 setting_row(settings, id).name, setting_row(settings, id).name);
		return false;
	}
	settings->value[id] = settings->value[id] == setting_table[id].most ? 0 :
			      settings->value[id] + 1;
	return true;
}

char *setting_print(const struct settings *settings, int id, char *text, size_t size)
{
	const struct setting_more *more = settings->more;
	const struct setting_info *info;
	const char *choice;
	int i;

	if (id >= SETTING_COUNT) {
		more->print(more->arg, (size_t)(id - SETTING_COUNT), text, size);
		return text;
	}
	info = &setting_table[id];
	choice = info->choices;
	switch (info->type) {
	case SETTING_INT:
		snprintf(text, size, "%d", settings->value[id]);
		break;
	case SETTING_BOOL:
		snprintf(text, size, "%s", settings->value[id] ? "yes" : "no");
		break;
	case SETTING_CHOICE:
		for (i = 0; i < settings->value[id]; i++)
			choice = strchrnul(choice, '|') + 1;
		snprintf(text, size, "%.*s", (int)strcspn(choice, "|"), choice);
		break;
	}
	return text;
}
