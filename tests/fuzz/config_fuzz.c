/* SPDX-License-Identifier: MIT */
/* tftoprc: every error is reported once, and values stay within their bounds. */
#include <string.h>

#include "keymap/config.h"
#include "tests/fuzz/fuzz.h"
#include "tui/run/thresholds.h"
#include "tui/draw/theme.h"

static int reported;

static void count_report(void *arg, const char *message)
{
	(void)arg;
	reported++;
	FUZZ_CHECK(strstr(message, "fuzz:") == message);
}

static bool set_color(void *arg, int argc, const char *const *argv, char *error, size_t error_size)
{
	return theme_set(arg, argc, argv, error, error_size);
}

/* Within a table, no key sequence is the beginning of another one, whatever was read. */
static void check_tables(const struct keymap *keymap)
{
	size_t i, j;
	int t, k;

	for (t = 0; t < KEY_TABLES; t++)
		for (i = 0; i < keymap->tables[t].count; i++)
			for (j = 0; j < keymap->tables[t].count; j++) {
				const struct binding *a = &keymap->tables[t].list[i];
				const struct binding *b = &keymap->tables[t].list[j];

				if (i == j || a->count > b->count)
					continue;
				for (k = 0; k < a->count; k++)
					if (!key_equal(a->keys[k], b->keys[k]))
						break;
				FUZZ_CHECK(k < a->count);
			}
}

static void run(const uint8_t *data, size_t size)
{
	struct keymap keymap;
	struct settings settings;
	struct thresholds thresholds;
	struct theme theme;
	struct config config = {
		.keymap = &keymap, .settings = &settings, .color = set_color, .columns = set_color,
		.report = count_report, .arg = &theme,
		.depth = CONFIG_DEPTH,		/* reads no other files */
	};
	int i;

	reported = 0;
	keymap_init(&keymap);
	settings_init(&settings);
	thresholds_init(&thresholds, NULL);
	settings.more = &thresholds.more;
	theme_init(&theme);
	config_text(&config, "fuzz", (const char *)data, size);
	FUZZ_CHECK(config.errors == reported);
	for (i = 0; i < SETTING_COUNT; i++)
		FUZZ_CHECK(settings.value[i] >= setting_table[i].least &&
		     settings.value[i] <= setting_table[i].most);
	check_tables(&keymap);
	keymap_release(&keymap);
}

FUZZ_TARGET("config", run);
