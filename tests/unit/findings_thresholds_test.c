/* SPDX-License-Identifier: MIT */
/* Each threshold of the analyses is a setting, with its unit and its bounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keymap/config.h"
#include "model/query/query.h"
#include "model/base/util.h"
#include "tests/unit/test.h"
#include "tui/run/thresholds.h"

struct fixture {
	struct model *model;
	struct keymap keymap;
	struct settings settings;
	struct thresholds thresholds;
	struct config config;
};

static bool no_color(void *arg, int argc, const char *const *argv, char *error, size_t size)
{
	return true;
}

static void no_report(void *arg, const char *message)
{
	test_fail(__FILE__, __LINE__, "%s", message);
}

static void begin(struct fixture *f)
{
	f->model = model_new(NULL);
	keymap_init(&f->keymap);
	settings_init(&f->settings);
	thresholds_init(&f->thresholds, f->model);
	f->settings.more = &f->thresholds.more;
	f->config = (struct config){
		.keymap = &f->keymap,
		.settings = &f->settings,
		.color = no_color,
		.columns = no_color,
		.report = no_report,
	};
}

static void finish(struct fixture *f)
{
	keymap_release(&f->keymap);
	model_free(f->model);
}

static bool set_to(struct fixture *f, const char *name, const char *value, char *error,
		   size_t size)
{
	const char *const argv[] = { "set", name, "=", value };

	error[0] = '\0';
	return config_command(&f->config, NULL, NULL, 4, argv, error, size);
}

TEST(thresholds_are_settings_each_of_them)
{
	char error[200], text[40], beyond[40];
	struct fixture f;

	begin(&f);
	CHECK_INT(setting_count(&f.settings), SETTING_COUNT + THRESHOLD_COUNT);
	for (int i = 0; i < (int)THRESHOLD_COUNT; i++) {
		const struct threshold_info *info = &threshold_table[i];
		int id = setting_find(&f.settings, info->name, error, sizeof(error));

		CHECK_INT(id, SETTING_COUNT + i);
		CHECK(info->least <= info->initial && info->initial <= info->most);
		CHECK(!strcmp(info->unit, "%") || !strcmp(info->unit, "us") ||
		      !strcmp(info->unit, "ms") || !strcmp(info->unit, "ns") ||
		      !strcmp(info->unit, "count") || !strcmp(info->unit, "bytes"));
		CHECK(strstr(setting_row(&f.settings, id).help, info->help));
		CHECK_STR(setting_print(&f.settings, id, text, sizeof(text)),
			  setting_row(&f.settings, id).initial);
		/* what is printed can be read, and so can the bounds */
		CHECK(set_to(&f, info->name, text, error, sizeof(error)));
		CHECK_INT(model_threshold(f.model, (enum threshold)i), info->initial);
		snprintf(text, sizeof(text), "%lld", (long long)info->most);
		CHECK(set_to(&f, info->name, text, error, sizeof(error)));
		CHECK_INT(model_threshold(f.model, (enum threshold)i), info->most);
		snprintf(beyond, sizeof(beyond), "%lld", (long long)info->least - 1);
		CHECK(!set_to(&f, info->name, beyond, error, sizeof(error)));
		CHECK(strstr(error, "out of range for '") && strstr(error, info->name));
		CHECK(!set_to(&f, info->name, "1 apple", error, sizeof(error)));
		CHECK(strstr(error, "not a value for '"));
		CHECK_INT(model_threshold(f.model, (enum threshold)i), info->most);
		for (int j = 0; j < setting_count(&f.settings); j++)
			CHECK(j == id || strcmp(setting_row(&f.settings, j).name, info->name));
	}
	CHECK(!set_to(&f, "no-such-threshold", "1", error, sizeof(error)));
	CHECK_STR(error, "unknown option 'no-such-threshold'");
	finish(&f);
}

TEST(thresholds_come_from_the_configuration_without_a_screen)
{
	char path[TEST_PATH_MAX];
	struct options options = { .config = path };
	struct model *model = model_new(NULL);
	struct message_row *messages = NULL;
	size_t count;
	FILE *file;

	snprintf(path, sizeof(path), "%s/rc", test_folder());
	file = fopen(path, "w");
	CHECK(file);
	fputs("set finding-steps = 17\nset split = 30\nset warm-up-steps = x\n", file);
	fclose(file);
	thresholds_configure(model, &options);
	CHECK_INT(model_threshold(model, THRESHOLD_MIN_STEPS), 17);
	CHECK_INT(model_threshold(model, THRESHOLD_WARM_UP),
		  threshold_table[THRESHOLD_WARM_UP].initial);
	model_lock(model);
	count = model_messages(model, &messages);
	model_unlock(model);
	CHECK_INT(count, 1);
	CHECK(strstr(messages[0].text, ":3: not a value for 'warm-up-steps': 'x' (a number)"));
	free(messages);
	model_free(model);
}
