/* SPDX-License-Identifier: MIT */
#include "tui/filters/filters.h"

#include <stdlib.h>

#include "keymap/config.h"
#include "keymap/words.h"
#include "tui/base/options.h"

bool filters_change(struct filter_names *names, const char *name, const char *text, char *error,
		    size_t error_size)
{
	return text ? filter_names_set(names, name, text, error, error_size) :
		      filter_names_remove(names, name, error, error_size);
}

struct filter *filters_parse(const struct filter_names *names, const struct command_call *call,
			     int from, char *error, size_t error_size)
{
	struct filter *filter;
	char *rest;

	if (call->argc == from + 1)
		return filter_parse(call->argv[from], names, error, error_size);
	rest = call->line ? words_rest(call->line, from) :
			    words_join(call->argc - from, call->argv + from);
	filter = filter_parse(rest, names, error, error_size);
	free(rest);
	return filter;
}

/* ---- the filters of the configuration, for programs that need nothing else of it ---- */

static bool no_color(void *arg, int argc, const char *const *argv, char *error, size_t error_size)
{
	return true;
}

static bool take_filter(void *arg, const char *name, const char *text, char *error,
			size_t error_size)
{
	return filters_change(arg, name, text, error, error_size);
}

static void no_report(void *arg, const char *message)
{
}

struct filter_names *filters_configured(const struct options *options)
{
	struct filter_names *names = filter_names_new();
	struct settings settings;
	struct keymap keymap;
	struct config config = {
		.keymap = &keymap, .settings = &settings, .color = no_color,
		.filter = take_filter, .report = no_report, .arg = names,
	};
	char path[4096], error[512];

	keymap_init(&keymap);
	settings_init(&settings);
	if (!options->no_config && config_find(options->config, path, sizeof(path)))
		config_file(&config, path, error, sizeof(error));
	keymap_release(&keymap);
	return names;
}

/* ---- for the manual ---- */

void filters_write_fields(FILE *out)
{
	for (int i = 0; i < FILTER_FIELDS; i++)
		fprintf(out, "%s\t%s\t%s\n", filter_fields[i].name,
			filter_type_name(filter_fields[i].type), filter_fields[i].help);
}
