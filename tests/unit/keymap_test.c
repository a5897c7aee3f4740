/* SPDX-License-Identifier: MIT */
/* Keys, words, tables and the command table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/arguments.h"
#include "keymap/command.h"
#include "keymap/config.h"
#include "keymap/key.h"
#include "keymap/setting.h"
#include "keymap/table.h"
#include "keymap/words.h"
#include "tests/unit/test.h"

static bool one(const char *text, uint32_t code, unsigned mods)
{
	char error[KEY_ERROR_MAX];
	struct key key[2];

	return keys_parse(text, key, 2, error, sizeof(error)) == 1 && key[0].code == code &&
	       key[0].mods == mods;
}

static bool printed(const char *text, const char *want)
{
	char error[KEY_ERROR_MAX], out[256];
	struct key keys[8];
	int count = keys_parse(text, keys, 8, error, sizeof(error));

	return count > 0 && strcmp(keys_print(keys, count, out, sizeof(out)), want) == 0;
}

static bool refused(const char *text, const char *why)
{
	char error[KEY_ERROR_MAX] = "";
	struct key keys[KEY_SEQUENCE_MAX];

	return keys_parse(text, keys, KEY_SEQUENCE_MAX, error, sizeof(error)) < 0 &&
	       strstr(error, why);
}

TEST(key_names_are_read)
{
	CHECK(one("a", 'a', 0));
	CHECK(one("é", 0xe9, 0));
	CHECK(one("<Down>", KEYSYM_DOWN, 0));
	CHECK(one("<down>", KEYSYM_DOWN, 0));
	CHECK(one("<Space>", ' ', 0));
	CHECK(one("<C-l>", 'l', MOD_CTRL));
	CHECK(one("<A-x>", 'x', MOD_ALT));
	CHECK(one("<S-Left>", KEYSYM_LEFT, MOD_SHIFT));
	CHECK(one("<C-A-S-PageUp>", KEYSYM_PAGE_UP, MOD_CTRL | MOD_ALT | MOD_SHIFT));
	CHECK(one("<F12>", KEYSYM_F1 + 11, 0));
	CHECK(one("<", '<', 0));
	CHECK(one(">", '>', 0));
	CHECK(one("<Lt>", '<', 0));
	CHECK(one("<->", '-', 0));
	CHECK(one("<C-->", '-', MOD_CTRL) == false);
}

TEST(key_names_that_terminals_cannot_tell_apart_are_one)
{
	CHECK(one("<C-i>", KEYSYM_TAB, 0));
	CHECK(one("<C-m>", KEYSYM_ENTER, 0));
	CHECK(one("<C-[>", KEYSYM_ESC, 0));
	CHECK(one("<C-A>", 'a', MOD_CTRL));
	CHECK(one("<S-a>", 'A', 0));
	CHECK(one("<C-@>", ' ', MOD_CTRL));
	CHECK(one("<C-?>", KEYSYM_BACKSPACE, 0));
}

TEST(key_names_round_trip)
{
	CHECK(printed("gg", "gg"));
	CHECK(printed("<Esc>q", "<Esc>q"));
	CHECK(printed("m<Space>", "m<Space>"));
	CHECK(printed("<pgdn><return>", "<PageDown><Enter>"));
	CHECK(printed("<", "<Lt>"));
	CHECK(printed("#", "<Hash>"));
	CHECK(printed("<f3>é日", "<F3>é日"));
}

TEST(key_names_wrong_are_refused)
{
	CHECK(refused("", "no key given"));
	CHECK(refused("<Nope>", "unknown key name '<Nope>'"));
	CHECK(refused("<F21>", "unknown key name"));
	CHECK(refused("<C-é>", "terminals do not send the key"));
	CHECK(refused("<C-1>", "terminals do not send the key"));
	CHECK(refused("\xff", "not UTF-8"));
	CHECK(refused("a\x01", "control character"));
	CHECK(refused("abcdefghi", "more than 8 keys"));
}

static bool bind(struct keymap *keymap, enum key_table table, const char *text, const char *command)
{
	char error[KEY_ERROR_MAX];
	struct key keys[KEY_SEQUENCE_MAX];
	int count = keys_parse(text, keys, KEY_SEQUENCE_MAX, error, sizeof(error));

	return count > 0 && keymap_bind(keymap, table, keys, count, command, error, sizeof(error));
}

/* The command that keys give in a table; "…" while more may come, "" none. */
static const char *look(struct keymap *keymap, enum key_table table, const char *text)
{
	char error[KEY_ERROR_MAX];
	struct key keys[KEY_SEQUENCE_MAX];
	int count = keys_parse(text, keys, KEY_SEQUENCE_MAX, error, sizeof(error));
	const struct binding *found;

	switch (keymap_lookup(keymap, table, keys, count, &found)) {
	case KEY_MATCH_COMMAND: return found->command;
	case KEY_MATCH_PREFIX: return "…";
	default: return "";
	}
}

TEST(key_tables_fall_through_and_mask)
{
	struct keymap keymap;

	keymap_init(&keymap);
	CHECK(bind(&keymap, TABLE_GENERIC, "q", "quit"));
	CHECK(bind(&keymap, TABLE_GENERIC, "j", "row-down"));
	CHECK(bind(&keymap, TABLE_TIMELINE, "j", "next-event"));
	CHECK(bind(&keymap, TABLE_TABLE, "q", "none"));
	CHECK_STR(look(&keymap, TABLE_TIMELINE, "j"), "next-event");
	CHECK_STR(look(&keymap, TABLE_TIMELINE, "q"), "quit");
	CHECK_STR(look(&keymap, TABLE_TABLE, "q"), "");
	CHECK_STR(look(&keymap, TABLE_TABLE, "j"), "row-down");
	CHECK_STR(look(&keymap, TABLE_PROMPT, "q"), "");
	CHECK_STR(look(&keymap, TABLE_OUTPUT, "q"), "");
	CHECK_STR(look(&keymap, TABLE_DIALOG, "q"), "");
	keymap_release(&keymap);
}

TEST(key_sequences)
{
	struct keymap keymap;
	char error[KEY_ERROR_MAX];
	struct key g = {'g', 0};

	keymap_init(&keymap);
	CHECK(bind(&keymap, TABLE_GENERIC, "gg", "goto start"));
	CHECK(bind(&keymap, TABLE_GENERIC, "gl", "goto live"));
	CHECK_STR(look(&keymap, TABLE_TIMELINE, "g"), "…");
	CHECK_STR(look(&keymap, TABLE_TIMELINE, "gg"), "goto start");
	CHECK_STR(look(&keymap, TABLE_TIMELINE, "gx"), "");
	CHECK(!bind(&keymap, TABLE_GENERIC, "g", "quit"));
	CHECK(!bind(&keymap, TABLE_GENERIC, "ggg", "quit"));
	CHECK(bind(&keymap, TABLE_GENERIC, "gg", "fit all"));
	CHECK_STR(look(&keymap, TABLE_GENERIC, "gg"), "fit all");
	/* a table of its own may use the beginning */
	CHECK(bind(&keymap, TABLE_TABLE, "g", "first-row"));
	CHECK_STR(look(&keymap, TABLE_TABLE, "g"), "first-row");
	CHECK(!keymap_unbind(&keymap, TABLE_GENERIC, &g, 1, error, sizeof(error)));
	CHECK(strstr(error, "not bound in generic: 'g'"));
	CHECK(keymap_unbind(&keymap, TABLE_TABLE, &g, 1, error, sizeof(error)));
	CHECK_STR(look(&keymap, TABLE_TABLE, "g"), "…");
	keymap_release(&keymap);
}

static bool splits(const char *line, int argc, const char *first, const char *last)
{
	char error[KEY_ERROR_MAX];
	struct words words;
	bool good;

	if (!words_split(&words, line, error, sizeof(error)))
		return false;
	good = words.argc == argc && !words.argv[argc] &&
	       (!argc || (!strcmp(words.argv[0], first) && !strcmp(words.argv[argc - 1], last)));
	words_release(&words);
	return good;
}

TEST(words_of_a_line)
{
	char error[KEY_ERROR_MAX], line[3 * WORDS_MAX];
	struct words words;
	int i;

	CHECK(splits("", 0, NULL, NULL));
	CHECK(splits("   # all of it", 0, NULL, NULL));
	CHECK(splits("set a = 'b c' # d", 4, "set", "b c"));
	CHECK(splits("a#b", 1, "a#b", "a#b"));
	CHECK(splits("wait-for ^x\\.y\\[0\\]$", 2, "wait-for", "^x\\.y\\[0\\]$"));
	CHECK(splits("a\\ b \\#", 2, "a b", "#"));
	CHECK(splits("\"it's \\\"so\\\"\" ''", 2, "it's \"so\"", ""));
	CHECK(splits("\ta\tb\r\n", 2, "a", "b"));
	CHECK(!words_split(&words, "a 'b", error, sizeof(error)) && strstr(error, "not closed"));
	for (i = 0; i <= WORDS_MAX; i++)
		memcpy(line + 2 * i, "x ", 3);
	CHECK(!words_split(&words, line, error, sizeof(error)) && strstr(error, "more than"));
}

TEST(commands_are_found)
{
	char error[256];

	CHECK(command_find("quit", error, sizeof(error)) == COMMAND_ID_QUIT);
	CHECK(command_find("q", error, sizeof(error)) == COMMAND_ID_QUIT);
	CHECK(command_find("assert", error, sizeof(error)) == COMMAND_ID_ASSERT_SCREEN);
	CHECK(command_find("zoom", error, sizeof(error)) < 0 && strstr(error, "'zoom' may be"));
	CHECK(command_find("qiut", error, sizeof(error)) < 0 &&
	      strstr(error, "did you mean 'quit'"));
	CHECK(command_find("xyzzyxyzzy", error, sizeof(error)) < 0 &&
	      !strcmp(error, "unknown command 'xyzzyxyzzy'"));
	CHECK(command_find("", error, sizeof(error)) < 0);
	CHECK(command_check(1, (const char *[]){"goto"}, error, sizeof(error)) < 0 &&
	      strstr(error, "missing arguments"));
	CHECK(command_check(4, (const char *[]){ "goto", "1s", "2s", "3s" }, error, sizeof(error)) <
		      0 &&
	      strstr(error, "too many"));
}

/* Each flag of the usage, and no other, has a sentence among the details. */
static bool flags_are_explained(const struct command_info *info)
{
	char argument[64], sentence[400];
	struct arguments arguments;
	int flags = 0, explained = 0;

	arguments_parse(info->usage, &arguments);
	for (int i = 0; i < arguments.count; i++)
		flags += arguments.list[i].flag;
	for (const char *at = info->details; (at = command_detail(at, argument, sizeof(argument),
								  sentence, sizeof(sentence))); ) {
		bool known = false;

		if (!*sentence)
			return false;
		if (*argument != '-' || !strcmp(argument, "-COLUMN"))
			continue;
		for (int i = 0; i < arguments.count; i++)
			known |= arguments.list[i].flag &&
				 !strncmp(arguments.list[i].text, argument, 2);
		if (!known)
			return false;
		explained++;
	}
	return flags == explained;
}

TEST(commands_rows_are_sound)
{
	int i, j;

	for (i = 0; i < COMMAND_ID_COUNT; i++) {
		const struct command_info *a = &command_table[i];

		CHECK(a->name && a->name[0] && a->help[0]);
		CHECK(flags_are_explained(a));
		CHECK((a->most == 0) == (a->usage[0] == '\0'));
		CHECK(a->most < 0 || a->least <= a->most);
		for (j = 0; j < i; j++) {
			CHECK(strcmp(a->name, command_table[j].name));
			CHECK(!a->alias[0] || strcmp(a->alias, command_table[j].alias));
		}
	}
}

TEST(settings_keep_their_bounds)
{
	struct settings settings;
	char error[160], text[64];
	int i;

	settings_init(&settings);
	for (i = 0; i < SETTING_COUNT; i++) {
		CHECK_STR(setting_print(&settings, i, text, sizeof(text)),
			      setting_table[i].initial);
		CHECK(settings.value[i] >= setting_table[i].least);
		CHECK(settings.value[i] <= setting_table[i].most);
	}
	CHECK(setting_set(&settings, SETTING_SPLIT, "50", error, sizeof(error)));
	CHECK(settings.value[SETTING_SPLIT] == 50);
	CHECK(!setting_set(&settings, SETTING_SPLIT, "81", error, sizeof(error)));
	CHECK(strstr(error, "out of range for 'split': '81' (20 to 80)"));
	CHECK(!setting_set(&settings, SETTING_SPLIT, "4x", error, sizeof(error)));
	CHECK(settings.value[SETTING_SPLIT] == 50);
	CHECK(setting_set(&settings, SETTING_HINTS, "off", error, sizeof(error)));
	CHECK(!settings.value[SETTING_HINTS]);
	CHECK(!setting_set(&settings, SETTING_HINTS, "", error, sizeof(error)));
	CHECK(setting_set(&settings, SETTING_QUIT_RUNNING, "stop", error, sizeof(error)));
	CHECK_STR(setting_print(&settings, SETTING_QUIT_RUNNING, text, sizeof(text)), "stop");
	CHECK(!setting_set(&settings, SETTING_QUIT_RUNNING, "ask|stop", error, sizeof(error)));
}

static void rest_is(const char *line, int n, const char *want)
{
	char *rest = words_rest(line, n);

	CHECK_STR(rest, want);
	free(rest);
}

TEST(words_rest_is_as_typed)
{
	rest_is("where dur > 1ms", 1, "dur > 1ms");
	rest_is("  where   name = \"a  b\" ", 1, "name = \"a  b\"");
	rest_is("where name ~ /a\\/b/ # why", 1, "name ~ /a\\/b/");
	rest_is("find -w (op ~ '#x y') & dur > 1ms", 2, "(op ~ '#x y') & dur > 1ms");
	rest_is("'a b' c", 1, "c");
	rest_is("where", 1, "");
	rest_is("where  ", 1, "");
	rest_is("where # nothing", 1, "");
	rest_is("", 3, "");
	rest_is("a b", 0, "a b");
}
