/* SPDX-License-Identifier: MIT */
/* What is compiled in: themes, ready key tables, and whether all keys can be reached. */
#include <stdio.h>
#include <string.h>

#include "keymap/command.h"
#include "keymap/config.h"
#include "model/base/util.h"
#include "tests/unit/test.h"
#include "tui/draw/theme.h"

struct fixture {
	struct keymap keymap;
	struct settings settings;
	struct theme theme;
	struct config config;
	struct strbuf said;
	unsigned named[ROLE_COUNT];
};

static bool set_color(void *arg, int argc, const char *const *argv, char *error, size_t size)
{
	struct fixture *f = arg;
	int role = role_by_name(argv[0]);

	if (role >= 0)
		f->named[role]++;
	return theme_set(&f->theme, argc, argv, error, size);
}

static void report(void *arg, const char *message)
{
	strbuf_addf(&((struct fixture *)arg)->said, "%s\n", message);
}

static void begin(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	keymap_init(&f->keymap);
	settings_init(&f->settings);
	theme_init(&f->theme);
	strbuf_init(&f->said);
	f->config = (struct config){
		.keymap = &f->keymap,
		.settings = &f->settings,
		.color = set_color,
		.report = report,
		.arg = f,
	};
	config_builtin(&f->config);
}

static void finish(struct fixture *f)
{
	CHECK_STR(f->said.data, "");
	strbuf_release(&f->said);
	keymap_release(&f->keymap);
}

static void run(struct fixture *f, const char *line)
{
	config_text(&f->config, "test", line, strlen(line));
}

TEST(themes_set_every_role_once)
{
	const char *name, *choices = setting_table[SETTING_THEME].choices;
	struct fixture f;
	char line[80];
	size_t n;

	begin(&f);
	for (n = 0; (name = config_builtin_name("themes", n)); n++) {
		snprintf(line, sizeof(line), "set theme = %s", name);
		memset(f.named, 0, sizeof(f.named));
		run(&f, line);
		for (int role = 0; role < ROLE_COUNT; role++)
			if (f.named[role] != 1)
				test_fail(__FILE__, __LINE__, "%s: %s %u times", name,
					  role_name((enum role)role), f.named[role]);
		CHECK_INT(f.theme.depth, !strcmp(name, "mono") ? DEPTH_MONO :
			  !strcmp(name, "16") ? DEPTH_16 : DEPTH_256);
	}
	/* as many as the option knows, and the option was set: no error was said */
	for (; *choices; choices += strcspn(choices, "|"), choices += *choices == '|')
		n--;
	CHECK_INT(n, 0);
	finish(&f);
}

/* What kinds of work look like differs in each theme that has colours. */
TEST(themes_tell_work_apart)
{
	static const char *const names[] = {"dark", "light", "contrast"};
	struct fixture f;
	char line[80];

	begin(&f);
	for (size_t i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "set theme = %s", names[i]);
		run(&f, line);
		for (int a = ROLE_WORK_MATMUL; a <= ROLE_WORK_RANGE; a++)
			for (int b = ROLE_WORK_MATMUL; b < a; b++)
				CHECK(f.theme.roles[a].fg[0] != f.theme.roles[b].fg[0]);
	}
	finish(&f);
}

TEST(theme_without_colours_has_attributes)
{
	struct cell selected = {.ch = 'x', .fg = ROLE_DEFAULT, .bg = ROLE_SELECTED};
	struct fixture f;
	struct theme_look look;

	begin(&f);
	run(&f, "set theme = mono");
	look = theme_look(&f.theme, &selected, DEPTH_256);
	CHECK(look.fg == COLOUR_DEFAULT && look.bg == COLOUR_DEFAULT && (look.attr & ATTR_REVERSE));
	finish(&f);
}

/* Every sequence of a table gives its command when it is typed there, and nothing that
 * generic has is hidden by the beginning of a longer one. */
static void all_can_be_reached(const struct fixture *f)
{
	for (int t = 0; t < KEY_TABLES; t++)
		for (size_t i = 0; i < f->keymap.tables[t].count; i++) {
			const struct binding *binding = &f->keymap.tables[t].list[i], *found;
			const char *name = key_table_name((enum key_table)t);

			for (int k = 1; k <= binding->count; k++) {
				enum key_match match = keymap_lookup(&f->keymap, (enum key_table)t,
								     binding->keys, k, &found);

				if (match == (k < binding->count ? KEY_MATCH_PREFIX
								 : KEY_MATCH_COMMAND) &&
				    (k < binding->count || found == binding))
					continue;
				test_fail(__FILE__, __LINE__, "%s: %s cannot be typed", name,
					  binding->command);
			}
			/* its first key hides none of generic's commands of one key */
			if (binding->count > 1 && key_table_falls_through((enum key_table)t) &&
			    keymap_lookup(&f->keymap, TABLE_GENERIC, binding->keys, 1, &found) ==
			    KEY_MATCH_COMMAND)
				test_fail(__FILE__, __LINE__, "%s: %s hides %s", name,
					  binding->command, found->command);
		}
}

TEST(keys_can_all_be_reached)
{
	struct fixture f;

	begin(&f);
	all_can_be_reached(&f);
	finish(&f);
}

TEST(ready_key_tables_fit_the_defaults)
{
	const char *name;
	struct fixture f;
	char line[80];

	for (size_t i = 0; (name = config_builtin_name("keys", i)); i++) {
		begin(&f);
		snprintf(line, sizeof(line), "source %s", name);
		run(&f, line);
		all_can_be_reached(&f);
		finish(&f);
	}
	CHECK(config_builtin_file("keys/vi") && config_builtin_file("keys/emacs"));
	CHECK(!config_builtin_file("keys/none"));
}

/* All keys with all modifiers: the name of what a terminal can send reads back as itself. */
TEST(key_names_read_back)
{
	char name[KEY_NAME_MAX], error[KEY_ERROR_MAX];
	unsigned read = 0;

	for (uint32_t code = 1; code <= KEYSYM_LAST;
	     code = code == 0x2fff ? KEYSYM_FIRST : code + 1)
		for (unsigned mods = 0; mods < 8; mods++) {
			struct key key = key_normalise((struct key){code, (uint8_t)mods}), back;

			if (key.code < KEYSYM_FIRST && (key.code < 0x20 ||
			    (key.code >= 0x7f && key.code < 0xa0)))
				continue;
			if (keys_parse(key_print(key, name), &back, 1, error, sizeof(error)) != 1) {
				/* the only reason there is */
				CHECK(strstr(error, "terminals do not send the key"));
				continue;
			}
			if (!key_equal(key, back))
				test_fail(__FILE__, __LINE__, "'%s' is another key", name);
			read++;
		}
	CHECK(read > 20000);
}
