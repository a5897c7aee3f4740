/* SPDX-License-Identifier: MIT */
#include "keymap/command.h"

#include <stdio.h>
#include <string.h>

#include "keymap/words.h"

const struct command_info command_table[COMMAND_ID_COUNT] = {
#define COMMAND(id, name, alias, group, needs, function, page, usage, least, most, help, details) \
	[COMMAND_ID_##id] = {name, alias, GROUP_##group, COMMAND_NEEDS_##needs, usage, \
			     least, most, help, details},
#include "keymap/commands.def"
#undef COMMAND
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

const char *command_needs_text(enum command_needs needs)
{
	static const char *const texts[] = {
		[COMMAND_NEEDS_NOTHING] = "",
		[COMMAND_NEEDS_SESSION] = "a program that tftop collects from",
		[COMMAND_NEEDS_RUNNING] = "a program that is running",
		[COMMAND_NEEDS_TERMINAL] = "a terminal",
		[COMMAND_NEEDS_PROMPT] = "an open prompt",
		[COMMAND_NEEDS_SCRIPT] = "a script",
	};

	return texts[needs];
}

const char *command_detail(const char *details, char *argument, size_t argument_size,
			   char *sentence, size_t sentence_size)
{
	size_t first = strcspn(details, "\t"), second;

	if (!*details)
		return NULL;
	snprintf(argument, argument_size, "%.*s", (int)first, details);
	details += first + 1;
	second = strcspn(details, "\n");
	snprintf(sentence, sentence_size, "%.*s", (int)second, details);
	return details + second + 1;
}

const char *command_help(const char *line, char *sentence, size_t size)
{
	size_t name = strcspn(line, " ");
	const char *rest = line + name + strspn(line + name, " "), *at;
	char word[40], argument[64], error[160];
	int id;

	snprintf(word, sizeof(word), "%.*s", (int)name, line);
	id = command_find(word, error, sizeof(error));
	if (id < 0)
		return NULL;
	for (at = command_table[id].details;
	     (at = command_detail(at, argument, sizeof(argument), sentence, size)); )
		if (*rest && !strcmp(argument, rest))
			return sentence;
	snprintf(sentence, size, "%s", command_table[id].help);
	return sentence;
}

static void command_unknown(const char *name, char *error, size_t error_size)
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
		command_unknown(name, error, error_size);
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
			 command_table[id].name, command_table[id].usage);
		return -1;
	}
	return id;
}
