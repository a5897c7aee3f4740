/* SPDX-License-Identifier: MIT */
/* tftoprc: the defaults, errors with their places, sourcing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	const char *folder;
};

static bool set_color(void *arg, int argc, const char *const *argv, char *error, size_t error_size)
{
	return theme_set(&((struct fixture *)arg)->theme, argc, argv, error, error_size);
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
		.keymap = &f->keymap, .settings = &f->settings,
		.color = set_color, .columns = set_color, .report = report, .arg = f,
	};
	f->folder = test_folder();
}

static void finish(struct fixture *f)
{
	keymap_release(&f->keymap);
	strbuf_release(&f->said);
}

static void feed(struct fixture *f, const char *text)
{
	strbuf_reset(&f->said);
	config_text(&f->config, "rc", text, strlen(text));
}

static char *write_file(struct fixture *f, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", f->folder, name);
	FILE *file = fopen(path, "w");

	CHECK(file);
	fputs(text, file);
	fclose(file);
	return path;
}

TEST(config_defaults_are_right)
{
	struct fixture f;
	size_t i, t;

	begin(&f);
	config_builtin(&f.config);
	CHECK_STR(f.said.data, "");
	CHECK(f.config.errors == 0);
	/* each table has keys, each bound command exists with its arguments */
	for (t = 0; t < KEY_TABLES; t++) {
		CHECK(f.keymap.tables[t].count > 0);
		for (i = 0; i < f.keymap.tables[t].count; i++) {
			char error[256];
			struct words words;

			CHECK(words_split(&words, f.keymap.tables[t].list[i].command,
					  error, sizeof(error)));
			CHECK(command_check(words.argc, words.argv, error, sizeof(error)) >= 0);
			words_release(&words);
		}
	}
	/* every role has a look of its own, but for those that are plain */
	CHECK(f.theme.roles[ROLE_WORK_MATMUL].fg[0] == 32);
	CHECK(f.theme.roles[ROLE_WORK_MATMUL].fg[1] == 4);
	CHECK(f.theme.roles[ROLE_HEADER].bg[0] == 236);
	finish(&f);
}

TEST(config_errors_have_places_and_reading_goes_on)
{
	struct fixture f;

	begin(&f);
	feed(&f, "set split = 50\n"
		 "# a comment\n"
		 "sett split = 60\n"
		 "set split = 900\n"
		 "set nothing = 1\n"
		 "bind nowhere x quit\n"
		 "bind generic <Nope> quit\n"
		 "bind generic x qiut\n"
		 "bind generic x goto\n"
		 "color title\n"
		 "color tittle 1\n"
		 "color title puce\n"
		 "color title 1 2 blink\n"
		 "unbind generic Z\n"
		 "quit\n"
		 "set 'split\n"
		 "bind generic x quit\n");
	CHECK_STR(f.said.data,
		"rc:3: unknown command 'sett', did you mean 'set'\n"
		"rc:4: out of range for 'split': '900' (20 to 80)\n"
		"rc:5: unknown option 'nothing'\n"
		"rc:6: unknown key table 'nowhere'\n"
		"rc:7: unknown key name '<Nope>'\n"
		"rc:8: unknown command 'qiut', did you mean 'quit'\n"
		"rc:9: missing arguments, usage: goto start|live|TIME|mark|step|gap [WHICH]\n"
		"rc:10: missing arguments, usage: color ROLE FG [BG] [ATTR]\n"
		"rc:11: unknown role 'tittle'\n"
		"rc:12: unknown colour 'puce'\n"
		"rc:13: unknown colour or attribute 'blink'\n"
		"rc:14: not bound in generic: 'Z'\n"
		"rc:15: not a configuration command: 'quit'\n"
		"rc:16: a quote is not closed\n");
	CHECK(f.config.errors == 14);
	CHECK(f.settings.value[SETTING_SPLIT] == 50);
	CHECK(f.keymap.tables[TABLE_GENERIC].count == 1);
	finish(&f);
}

TEST(config_forms_of_set_and_bind)
{
	struct fixture f;

	begin(&f);
	feed(&f, "set split = 30\nset label-width=12\nset hints no\r\n"
		 "bind table <C-x> goto 2s\nbind table y save-screen 'a b'\n"
		 "bind timeline j none\n"
		 "color work-op bright-red|1 24 bold underline16");
	CHECK_STR(f.said.data, "");
	CHECK(f.settings.value[SETTING_SPLIT] == 30);
	CHECK(f.settings.value[SETTING_LABEL_WIDTH] == 12);
	CHECK(!f.settings.value[SETTING_HINTS]);
	CHECK_STR(f.keymap.tables[TABLE_TABLE].list[0].command, "goto 2s");
	CHECK_STR(f.keymap.tables[TABLE_TABLE].list[1].command, "save-screen 'a b'");
	CHECK_STR(f.keymap.tables[TABLE_TIMELINE].list[0].command, "none");
	CHECK(f.theme.roles[ROLE_WORK_OP].fg[0] == 9 && f.theme.roles[ROLE_WORK_OP].fg[1] == 1);
	CHECK(f.theme.roles[ROLE_WORK_OP].attr[0] == ATTR_BOLD);
	CHECK(f.theme.roles[ROLE_WORK_OP].attr[1] == (ATTR_BOLD | ATTR_UNDERLINE));
	finish(&f);
}

TEST(config_source_is_relative_and_bounded)
{
	struct fixture f;
	char error[512], *a, *b, want[256];

	begin(&f);
	a = write_file(&f, "a", "set split = 44\nsource b\nset nope = 1\n");
	b = write_file(&f, "b", "set label-width = 9\nset wrong\n");
	CHECK(config_file(&f.config, a, error, sizeof(error)));
	CHECK(f.settings.value[SETTING_SPLIT] == 44 && f.settings.value[SETTING_LABEL_WIDTH] == 9);
	snprintf(want, sizeof(want), "%s:2: usage: set NAME = VALUE\n%s:3: unknown option 'nope'\n",
		 b, a);
	CHECK_STR(f.said.data, want);
	free(b);
	/* itself again and again: told once, then it goes on */
	strbuf_reset(&f.said);
	b = write_file(&f, "b", "source b\nset split = 33\n");
	CHECK(config_file(&f.config, b, error, sizeof(error)));
	CHECK(strstr(f.said.data, "b:1: 'source' is nested more than 8 deep: 'b'"));
	CHECK(strchr(f.said.data, '\n') == f.said.data + f.said.length - 1);
	CHECK(f.settings.value[SETTING_SPLIT] == 33);
	CHECK(!config_file(&f.config, f.folder, error, sizeof(error)) &&
	      strstr(error, "not a file"));
	CHECK(!config_file(&f.config, "/nonexistent/rc", error, sizeof(error)) &&
	      strstr(error, "cannot read the configuration '/nonexistent/rc'"));
	/* what would wait or never end */
	CHECK(!mkfifo(b, 0600) || (!unlink(b) && !mkfifo(b, 0600)));
	CHECK(!config_file(&f.config, b, error, sizeof(error)) &&
	      strstr(error, "it is a pipe, not a file"));
	CHECK(!config_file(&f.config, "/dev/zero", error, sizeof(error)) &&
	      strstr(error, "it is a device, not a file"));
	CHECK(!truncate(a, INT64_C(1) << 30) && !config_file(&f.config, a, error, sizeof(error)) &&
	      strstr(error, "too large for a configuration"));
	free(a);
	free(b);
	finish(&f);
}

TEST(config_bytes_that_are_no_text)
{
	static const char bytes[] = "set\0x\n\xff\xfe\nbind generic \xff quit\n";
	struct fixture f;
	char line[CONFIG_LINE_MAX + 2];

	begin(&f);
	config_text(&f.config, "rc", bytes, sizeof(bytes) - 1);
	CHECK(strstr(f.said.data, "rc:1: not a text file: it has a zero byte\n"));
	CHECK(strstr(f.said.data, "rc:2: unknown command"));
	CHECK(strstr(f.said.data, "rc:3: a key name is not UTF-8\n"));
	memset(line, 'x', sizeof(line));
	strbuf_reset(&f.said);
	config_text(&f.config, "rc", line, sizeof(line));
	CHECK_STR(f.said.data, "rc:1: line too long\n");
	finish(&f);
}

TEST(config_file_is_looked_for)
{
	struct fixture f;
	char path[512], *rc, *folder;

	begin(&f);
	CHECK(config_find("/else/where", path, sizeof(path)) && !strcmp(path, "/else/where"));
	folder = xasprintf("%s/tftop", f.folder);
	setenv("XDG_CONFIG_HOME", f.folder, 1);
	setenv("HOME", f.folder, 1);
	CHECK(!config_find(NULL, path, sizeof(path)));
	rc = xasprintf("%s/.tftoprc", f.folder);
	fclose(fopen(rc, "w"));
	CHECK(config_find(NULL, path, sizeof(path)) && !strcmp(path, rc));
	unlink(rc);
	free(rc);
	CHECK(mkdir(folder, 0700) == 0);
	rc = xasprintf("%s/tftoprc", folder);
	fclose(fopen(rc, "w"));
	CHECK(config_find(NULL, path, sizeof(path)) && !strcmp(path, rc));
	free(rc);
	free(folder);
	finish(&f);
}
