/* SPDX-License-Identifier: MIT */
#include "tui/run/thresholds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/config.h"
#include "model/query/query.h"
#include "model/base/util.h"

/* The unit to type behind the number: "us", "%"; "" if there is none. */
static const char *unit_of(size_t i)
{
	const char *unit = threshold_table[i].unit;

	return strcmp(unit, "count") && strcmp(unit, "bytes") ? unit : "";
}

/* Prints "5%", "200us" or "2", as threshold_read_value() reads it. */
static void print_value(size_t i, int64_t value, char *text, size_t size)
{
	snprintf(text, size, "%" PRId64 "%s", value, unit_of(i));
}

/* A number without a unit is in the threshold's unit; times and sizes may have another one. */
static bool threshold_read_value(size_t i, const char *text, int64_t *value)
{
	const char *unit = threshold_table[i].unit;
	int64_t factor;
	uint64_t bytes;
	char one[16], *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	if (end != text && !errno && (!*end || !strcmp(end, unit)))
		return true;
	snprintf(one, sizeof(one), "1%s", unit);
	if (parse_time_ns(one, &factor) && parse_time_ns(text, value) && *value % factor == 0) {
		*value /= factor;
		return true;
	}
	if (!strcmp(unit, "bytes") && parse_size_bytes(text, &bytes) && bytes <= INT64_MAX) {
		*value = (int64_t)bytes;
		return true;
	}
	return false;
}

static bool threshold_set(void *arg, size_t i, const char *text, char *error, size_t error_size)
{
	const struct threshold_info *info = &threshold_table[i];
	struct thresholds *thresholds = arg;
	char least[32], most[32];
	int64_t value;
	bool good = true;

	if (!threshold_read_value(i, text, &value)) {
		snprintf(error, error_size, "not a value for '%s': '%s' (%s)",
			 info->name, text, strcmp(info->unit, "count") ? info->unit : "a number");
		return false;
	}
	if (thresholds->model) {
		model_lock(thresholds->model);
		good = model_threshold_set(thresholds->model, (enum threshold)i, value);
		model_unlock(thresholds->model);
	}
	if (good)
		return true;
	print_value(i, info->least, least, sizeof(least));
	print_value(i, info->most, most, sizeof(most));
	snprintf(error, error_size, "out of range for '%s': '%s' (%s to %s)", info->name, text,
		 least, most);
	return false;
}

static void print(void *arg, size_t i, char *text, size_t size)
{
	struct thresholds *thresholds = arg;

	print_value(i, thresholds->model ? model_threshold(thresholds->model, (enum threshold)i)
					 : threshold_table[i].initial, text, size);
}

void thresholds_init(struct thresholds *thresholds, struct model *model)
{
	char least[32], most[32];

	memset(thresholds, 0, sizeof(*thresholds));
	thresholds->model = model;
	for (size_t i = 0; i < THRESHOLD_COUNT; i++) {
		const struct threshold_info *info = &threshold_table[i];

		print_value(i, info->initial, thresholds->initial[i],
			    sizeof(thresholds->initial[i]));
		print_value(i, info->least, least, sizeof(least));
		print_value(i, info->most, most, sizeof(most));
		snprintf(thresholds->help[i], sizeof(thresholds->help[i]), "%s; %s to %s",
			 info->help, least, most);
		thresholds->rows[i] = (struct setting_row) {
			info->name, thresholds->initial[i], "", thresholds->help[i],
		};
	}
	thresholds->more = (struct setting_more) {
		.rows = thresholds->rows, .count = THRESHOLD_COUNT,
		.set = threshold_set, .print = print, .arg = thresholds,
	};
}

/* ---- without a screen ---- */

static bool no_color(void *arg, int argc, const char *const *argv, char *error, size_t error_size)
{
	(void)arg, (void)argc, (void)argv, (void)error, (void)error_size;
	return true;
}

static void to_messages(void *arg, const char *message)
{
	model_message(arg, 1, message);
}

void thresholds_configure(struct model *model, const struct options *options)
{
	struct thresholds thresholds;
	struct settings settings;
	struct keymap keymap;
	struct config config = {
		.keymap = &keymap, .settings = &settings, .color = no_color, .columns = no_color,
		.report = to_messages, .arg = model,
	};
	char path[4096], error[512];

	if (options->no_config || !config_find(options->config, path, sizeof(path)))
		return;
	keymap_init(&keymap);
	settings_init(&settings);
	thresholds_init(&thresholds, model);
	settings.more = &thresholds.more;
	if (!config_file(&config, path, error, sizeof(error)))
		model_message(model, 1, error);
	keymap_release(&keymap);
}
