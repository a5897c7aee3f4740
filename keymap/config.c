/* SPDX-License-Identifier: MIT */
#include "keymap/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keymap/command.h"
#include "keymap/file.h"
#include "keymap/memory.h"

static const char builtin_text[] =
#include "keymap/tftoprc.inc"
	;

static const struct { const char *name, *text; } builtin_files[] = {
#include "keymap/builtin.inc"
};

#define BUILTIN_FILES (sizeof(builtin_files) / sizeof(*builtin_files))

const char *config_builtin_file(const char *name)
{
	for (size_t i = 0; i < BUILTIN_FILES; i++)
		if (!strcmp(builtin_files[i].name, name))
			return builtin_files[i].text;
	return NULL;
}

const char *config_builtin_name(const char *folder, size_t i)
{
	size_t length = strlen(folder);

	for (size_t k = 0; k < BUILTIN_FILES; k++)
		if (!strncmp(builtin_files[k].name, folder, length) &&
		    builtin_files[k].name[length] == '/' && !i--)
			return builtin_files[k].name + length + 1;
	return NULL;
}

/* Returns false if there is no such file. */
static bool read_builtin(struct config *config, const char *folder, const char *name)
{
	char path[64], where[80];
	const char *text;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	text = config_builtin_file(path);
	if (!text)
		return false;
	snprintf(where, sizeof(where), "built-in %s", path);
	config_text(config, where, text, strlen(text));
	return true;
}

static bool parse_table_keys(const char *const *argv, int *table, struct key *keys,
			     int *count, char *error, size_t error_size)
{
	*table = key_table_by_name(argv[1]);
	if (*table < 0) {
		snprintf(error, error_size, "unknown key table '%s'", argv[1]);
		return false;
	}
	*count = keys_parse(argv[2], keys, KEY_SEQUENCE_MAX, error, error_size);
	return *count > 0;
}

static bool config_bind(struct config *config, int argc, const char *const *argv,
			char *error, size_t error_size)
{
	struct key keys[KEY_SEQUENCE_MAX];
	int table, count;
	char *command;
	bool done;

	if (argc < 4) {
		snprintf(error, error_size, "missing arguments, usage: bind TABLE KEYS COMMAND");
		return false;
	}
	if (!parse_table_keys(argv, &table, keys, &count, error, error_size))
		return false;
	if ((argc != 4 || strcmp(argv[3], "none")) &&
	    command_check(argc - 3, argv + 3, error, error_size) < 0)
		return false;
	command = words_join(argc - 3, argv + 3);
	done = keymap_bind(config->keymap, (enum key_table)table, keys, count, command,
			   error, error_size);
	free(command);
	return done;
}

static bool config_unbind(struct config *config, const char *const *argv,
			  char *error, size_t error_size)
{
	struct key keys[KEY_SEQUENCE_MAX];
	int table, count;

	return parse_table_keys(argv, &table, keys, &count, error, error_size) &&
	       keymap_unbind(config->keymap, (enum key_table)table, keys, count,
			     error, error_size);
}

/* Accepts "set NAME = VALUE", "set NAME VALUE" and "set NAME=VALUE". */
static bool config_set(struct config *config, int argc, const char *const *argv,
		       char *error, size_t error_size)
{
	const char *equals = argc == 2 ? strchr(argv[1], '=') : NULL, *value = NULL;
	char name[64];
	int id;

	snprintf(name, sizeof(name), "%s", argc > 1 ? argv[1] : "");
	if (equals && (size_t)(equals - argv[1]) < sizeof(name)) {
		name[equals - argv[1]] = '\0';
		value = equals + 1;
	} else if (argc == 4 && strcmp(argv[2], "=") == 0) {
		value = argv[3];
	} else if (argc == 3 && strcmp(argv[2], "=") != 0) {
		value = argv[2];
	}
	if (!value) {
		snprintf(error, error_size, "usage: set NAME = VALUE");
		return false;
	}
	id = setting_find(config->settings, name, error, error_size);
	if (id < 0 || !setting_set(config->settings, id, value, error, error_size))
		return false;
	if (id == SETTING_THEME)
		read_builtin(config, "themes", value);
	return true;
}

/* Returns the path of a sourced file: ~/… is in the home folder; other relative paths are relative
 * to the file that sources it. */
static char *config_resolve_path(const char *where, const char *name)
{
	const char *home = getenv("HOME"), *slash = where ? strrchr(where, '/') : NULL;
	size_t size;
	char *path;

	if (strncmp(name, "~/", 2) == 0 && home && *home) {
		size = strlen(home) + strlen(name);
		path = key_realloc(NULL, size, 1);
		snprintf(path, size, "%s%s", home, name + 1);
	} else if (name[0] != '/' && slash) {
		size = (size_t)(slash - where) + strlen(name) + 2;
		path = key_realloc(NULL, size, 1);
		snprintf(path, size, "%.*s/%s", (int)(slash - where), where, name);
	} else {
		path = key_strdup(name);
	}
	return path;
}

static bool config_source(struct config *config, const char *where, const char *name,
			  char *error, size_t error_size)
{
	char *path;
	bool done;

	if (config->depth >= CONFIG_DEPTH) {
		snprintf(error, error_size, "'source' is nested more than %d deep: '%s'",
			 CONFIG_DEPTH, name);
		return false;
	}
	config->depth++;
	done = !strchr(name, '/') && read_builtin(config, "keys", name);
	config->depth--;
	if (done)
		return true;
	path = config_resolve_path(where, name);
	config->depth++;
	done = config_file(config, path, error, error_size);
	config->depth--;
	free(path);
	return done;
}

/* Reads "filter NAME = EXPR"; quotes in EXPR belong to the expression. */
static bool config_filter(struct config *config, const char *line, int argc,
			  const char *const *argv, char *error, size_t error_size)
{
	char *rest = line ? words_rest(line, 1) : words_join(argc - 1, argv + 1), *text, *end;
	bool done = false;

	text = strchr(rest, '=');
	if (!text || !config->filter) {
		snprintf(error, error_size, "usage: filter NAME = EXPR");
	} else {
		for (end = text; end > rest && strchr(" \t", end[-1]); end--)
			;
		*end = '\0';
		done = config->filter(config->arg, rest, text + 1 + strspn(text + 1, " \t"),
				      error, error_size);
	}
	free(rest);
	return done;
}

bool config_command(struct config *config, const char *where, const char *line, int argc,
		    const char *const *argv, char *error, size_t error_size)
{
	int id = command_check(argc, argv, error, error_size);

	switch (id) {
	case -1:
		return false;
	case COMMAND_ID_SET:
		return config_set(config, argc, argv, error, error_size);
	case COMMAND_ID_BIND:
		return config_bind(config, argc, argv, error, error_size);
	case COMMAND_ID_UNBIND:
		return config_unbind(config, argv, error, error_size);
	case COMMAND_ID_COLOR:
		if (argc > 2)
			return config->color(config->arg, argc - 1, argv + 1, error, error_size);
		snprintf(error, error_size, "missing arguments, usage: color ROLE FG [BG] [ATTR]");
		return false;
	case COMMAND_ID_FILTER:
		return config_filter(config, line, argc, argv, error, error_size);
	case COMMAND_ID_UNFILTER:
		if (config->filter)
			return config->filter(config->arg, argv[1], NULL, error, error_size);
		snprintf(error, error_size, "no filter '%s'", argv[1]);
		return false;
	case COMMAND_ID_COLUMNS:
		return config->columns(config->arg, argc - 1, argv + 1, error, error_size);
	case COMMAND_ID_SOURCE:
		return config_source(config, where, argv[1], error, error_size);
	default:
		snprintf(error, error_size, "not a configuration command: '%s'", argv[0]);
		return false;
	}
}

static void config_complain(struct config *config, const char *name, int line, const char *error)
{
	char message[CONFIG_LINE_MAX];

	config->errors++;
	snprintf(message, sizeof(message), "%s:%d: %s", name, line, error);
	config->report(config->arg, message);
}

static void config_line(struct config *config, const char *name, int number,
			const char *text, size_t size)
{
	char line[CONFIG_LINE_MAX], error[KEY_ERROR_MAX * 3];
	struct words words;

	if (size >= sizeof(line)) {
		config_complain(config, name, number, "line too long");
		return;
	}
	if (memchr(text, '\0', size)) {
		config_complain(config, name, number, "not a text file: it has a zero byte");
		return;
	}
	memcpy(line, text, size);
	line[size] = '\0';
	if (!words_split(&words, line, error, sizeof(error))) {
		config_complain(config, name, number, error);
		return;
	}
	if (words.argc && !config_command(config, name, line, words.argc, words.argv,
					  error, sizeof(error)))
		config_complain(config, name, number, error);
	words_release(&words);
}

void config_text(struct config *config, const char *name, const char *text, size_t size)
{
	const char *end = text + size;
	int number = 1;

	for (; text < end; number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);

		config_line(config, name, number, text, length);
		text += length + 1;
	}
}

void config_builtin(struct config *config)
{
	config_text(config, "built-in tftoprc", builtin_text, sizeof(builtin_text) - 1);
}

bool config_file(struct config *config, const char *path, char *error, size_t error_size)
{
	size_t size;
	char *text = file_text(path, "configuration", CONFIG_MAX, &size, error, error_size);

	if (!text)
		return false;
	config_text(config, path, text, size);
	free(text);
	return true;
}

bool config_find(const char *explicit_path, char *path, size_t size)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (explicit_path) {
		snprintf(path, size, "%s", explicit_path);
		return true;
	}
	if (xdg && *xdg == '/')
		snprintf(path, size, "%s/tftop/tftoprc", xdg);
	else if (home && *home)
		snprintf(path, size, "%s/.config/tftop/tftoprc", home);
	else
		return false;
	if (access(path, R_OK) == 0)
		return true;
	if (!home || !*home)
		return false;
	snprintf(path, size, "%s/.tftoprc", home);
	return access(path, R_OK) == 0;
}
