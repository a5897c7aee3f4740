/* SPDX-License-Identifier: MIT */
#include "keymap/command.h"

#include <stdio.h>
#include <string.h>

#include "keymap/words.h"

const struct command_info command_table[COMMAND_ID_COUNT] = {
#define ROW(id, name, alias, group, arguments, least, most, function, help) \
	[COMMAND_ID_##id] = {name, alias, GROUP_##group, arguments, least, most, help},
	COMMAND_LIST(ROW)
#undef ROW
};

const char *command_group_title(enum command_group group)
{
	static const char *const titles[GROUP_COUNT] = {
		[GROUP_TIME] = "time and zoom",
		[GROUP_CURSOR] = "cursor, rows and tables",
		[GROUP_PANES] = "panes",
		[GROUP_PROGRAM] = "the program and leaving",
		[GROUP_SCREEN] = "screen",
		[GROUP_CONFIG] = "configuration",
		[GROUP_PROMPT] = "prompt",
		[GROUP_SCRIPT] = "scripts",
	};

	return titles[group];
}

static void say_unknown(const char *name, char *error, size_t error_size)
{
	int i, best = 3, near = -1;

	for (i = 0; i < COMMAND_ID_COUNT; i++) {
		int d = words_distance(name, strlen(name), command_table[i].name);

		if (d < best) {
			best = d;
			near = i;
		}
	}
	if (near >= 0)
		snprintf(error, error_size, "unknown command '%s', did you mean '%s'",
			 name, command_table[near].name);
	else
		snprintf(error, error_size, "unknown command '%s'", name);
}

int command_find(const char *name, char *error, size_t error_size)
{
	size_t length = strlen(name);
	int i, found = -1, matches = 0;

	for (i = 0; i < COMMAND_ID_COUNT; i++)
		if (!strcmp(command_table[i].name, name) ||
		    (*name && !strcmp(command_table[i].alias, name)))
			return i;
	for (i = 0; i < COMMAND_ID_COUNT; i++) {
		if (!length || strncmp(command_table[i].name, name, length))
			continue;
		if (!matches++)
			found = i;
	}
	if (matches == 1)
		return found;
	if (matches)
		snprintf(error, error_size, "'%s' may be '%s' and %d more", name,
			 command_table[found].name, matches - 1);
	else
		say_unknown(name, error, error_size);
	return -1;
}

int command_check(int argc, const char *const *argv, char *error, size_t error_size)
{
	int id = command_find(argv[0], error, error_size);

	if (id < 0)
		return -1;
	if (argc - 1 < command_table[id].least ||
	    (command_table[id].most >= 0 && argc - 1 > command_table[id].most)) {
		snprintf(error, error_size, "%s arguments, usage: %s %s",
			 argc - 1 < command_table[id].least ? "missing" : "too many",
			 command_table[id].name, command_table[id].arguments);
		return -1;
	}
	return id;
}
