/* SPDX-License-Identifier: MIT */
#include "tui/loop/help.h"

#include <stdlib.h>
#include <string.h>

#include "keymap/command.h"
#include "model/base/util.h"
#include "model/filter/filter.h"

#define KEYS_TEXT 96

static void help_print_keys(const struct keymap *keymap, enum key_table table, const char *command,
			    char *text, size_t size)
{
	size_t i, length;

	for (i = 0; i < keymap->tables[table].count; i++) {
		const struct binding *binding = &keymap->tables[table].list[i];
		char name[KEY_SEQUENCE_MAX * KEY_NAME_MAX];

		if (strcmp(binding->command, command))
			continue;
		keys_print(binding->keys, binding->count, name, sizeof(name));
		length = strlen(text);
		if (length + strlen(name) + 2 > size)
			return;
		snprintf(text + length, size - length, "%s%s", length ? " " : "", name);
	}
}

/* All keys that run this command line, in all tables: "w + =". */
static void help_keys_of(const struct keymap *keymap, const char *command, char *text, size_t size)
{
	int table;

	text[0] = '\0';
	for (table = 0; table < KEY_TABLES; table++)
		help_print_keys(keymap, (enum key_table)table, command, text, size);
}

/* ---- the overlay ---- */

static void help_add(struct help *help, char *left, char *middle, char *right)
{
	grow(&help->lines, &help->cap, help->count, sizeof(*help->lines));
	help->lines[help->count++] = (struct help_line){left, right, middle};
}

static void help_add_heading(struct help *help, const char *title)
{
	if (help->count)
		help_add(help, xstrdup(""), NULL, NULL);
	help_add(help, xstrdup(title), NULL, NULL);
}

/* Adds the bindings of a table; keys of the same command line share a line. */
static void help_add_table(struct help *help, const struct keymap *keymap, enum key_table table)
{
	size_t i, j, count = keymap->tables[table].count;
	const struct binding *list = keymap->tables[table].list;
	char *title = xasprintf("keys: %s%s", key_table_name(table),
				key_table_falls_through(table) ? ", then generic" : "");

	help_add_heading(help, title);
	free(title);
	for (i = 0; i < count; i++) {
		char keys[KEYS_TEXT] = "", sentence[400];
		const char *about = command_help(list[i].command, sentence, sizeof(sentence));

		for (j = 0; j < i; j++)
			if (strcmp(list[i].command, list[j].command) == 0)
				break;
		if (j < i)
			continue;
		help_print_keys(keymap, table, list[i].command, keys, sizeof(keys));
		help_add(help, xstrdup(keys), xstrdup(list[i].command),
			 xstrdup(about ? about : ""));
	}
}

static void help_add_command(struct help *help, const struct keymap *keymap, int id)
{
	const struct command_info *info = &command_table[id];
	char keys[KEYS_TEXT];

	help_keys_of(keymap, info->name, keys, sizeof(keys));
	help_add(help, xasprintf("%s%s%s", info->name, *info->usage ? " " : "", info->usage), NULL,
		 xasprintf("%s%s%s%s", info->help, *keys ? "   (" : "", keys, *keys ? ")" : ""));
}

/* ---- the whole of one command ---- */

#define WHOLE_COLUMNS 58		/* width of a text beside its label, on 80 columns */

/* Adds a label and a text, which continues below itself. */
static void help_add_text(struct help *help, const char *label, const char *text)
{
	do {
		const char *next;
		size_t length = text_break(text, WHOLE_COLUMNS, &next);

		help_add(help, xstrdup(label), NULL, xstrndup(text, length));
		label = "";
		text = next;
	} while (*text);
}

/* Adds every key whose command starts with the name. */
static void help_add_keys(struct help *help, const struct keymap *keymap, const char *name)
{
	const char *label = "keys";

	for (int table = 0; table < KEY_TABLES; table++)
		for (size_t i = 0; i < keymap->tables[table].count; i++) {
			const struct binding *binding = &keymap->tables[table].list[i];
			size_t length = strcspn(binding->command, " ");
			char keys[KEY_SEQUENCE_MAX * KEY_NAME_MAX];
			char *text;

			if (length != strlen(name) || strncmp(binding->command, name, length))
				continue;
			keys_print(binding->keys, binding->count, keys, sizeof(keys));
			text = xasprintf("%s: %s (%s)", keys, binding->command,
					 key_table_name((enum key_table)table));
			help_add_text(help, label, text);
			free(text);
			label = "";
		}
}

static void help_add_whole_command(struct help *help, const struct keymap *keymap, int id)
{
	const struct command_info *info = &command_table[id];
	char argument[64], sentence[400];
	char *title = xasprintf("%s: %s", info->name, info->help);
	char *usage = xasprintf("%s%s%s", info->name, *info->usage ? " " : "", info->usage);

	help_add_heading(help, title);
	help_add_text(help, "usage", usage);
	for (const char *at = info->details; (at = command_detail(at, argument, sizeof(argument),
								  sentence, sizeof(sentence))); )
		help_add_text(help, argument, sentence);
	if (*info->alias)
		help_add_text(help, "short form", info->alias);
	help_add_keys(help, keymap, info->name);
	if (info->needs)
		help_add_text(help, "needs", command_needs_text(info->needs));
	free(title);
	free(usage);
}

static void help_add_settings(struct help *help, const struct settings *settings)
{
	char value[64];
	int i;

	help_add_heading(help, "options: set NAME = VALUE");
	for (i = 0; i < setting_count(settings); i++) {
		struct setting_row row = setting_row(settings, i);

		help_add(help, xasprintf("%s = %s", row.name,
					 setting_print(settings, i, value, sizeof(value))), NULL,
			 xstrdup(row.help));
	}
}

static void help_add_fields(struct help *help)
{
	help_add_heading(help, "fields of filters, as in dur > 1ms & name ~ /conv/ | !failed; "
			       "kinds and flags need no value");
	for (int i = 0; i < FILTER_FIELDS; i++)
		help_add(help, xasprintf("%s, %s", filter_fields[i].name,
					 filter_type_name(filter_fields[i].type)), NULL,
			 xstrdup(filter_fields[i].help));
}

/* Adds the first key of a command, and a word for it, to the text. */
static void help_add_first_key(struct strbuf *text, const struct keymap *keymap,
			       const char *command, const char *word)
{
	const struct binding *binding = keymap_find(keymap, TABLE_TABLE, command);
	char name[KEY_SEQUENCE_MAX * KEY_NAME_MAX];

	if (binding)
		strbuf_addf(text, "%s%s%s",
			    text->length && text->data[text->length - 1] != ' ' ? " " : "",
			    keys_print(binding->keys, binding->count, name, sizeof(name)), word);
}

/* Adds one page for users who see the screen for the first time: the parts of the screen and the
 * first keys. */
static void help_add_reading(struct help *help, const struct keymap *keymap)
{
	static const char *const lines[][2] = {
		{"top line", "state, step, its duration, steps per second, lost events"},
		{"device lines", "share of time busy, and idle by cause; together 100 %"},
		{"! line", "the costliest finding; pane 6 says what would help"},
		{"timeline", "a row per thread and queue; the higher, the busier;"},
		{"", "zoom in for names; fading end: running; ░ may change; ╱ off"},
		{"", "thin lines: what a thread does where it runs no op"},
		{"its last line", "the event under the cursor, in one sentence"},
		{"below", "tables, findings, output, messages, pages: press a number"},
		{":help tasks", "questions you may have, each with its command"},
	};
	static const struct { const char *title, *commands[6][2];
	} keys[] = {
	    {"to begin",
	     {{"toggle-follow", " freeze, "},
	      {"zoom-in", ""},
	      {"zoom-out", " zoom, "},
	      {"pan-left", ""},
	      {"pan-right", " pan, "},
	      {"focus", " to the table"}}},
	    {"then",
	     {{"open", " shows it, "}, {"about", " shows all details, "}, {"back", " back"}}},
	    {"also",
	     {{"prompt find", " finds, "},
	      {"next-match", " again, "},
	      {"prompt", " takes commands, "},
	      {"cancel", " closes help"}}},
	};
	struct strbuf text;

	help_add_heading(help, "how to read this screen");
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		help_add(help, xstrdup(lines[i][0]), NULL, xstrdup(lines[i][1]));
	strbuf_init(&text);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		strbuf_reset(&text);
		for (size_t k = 0; k < 6 && keys[i].commands[k][0]; k++)
			help_add_first_key(&text, keymap, keys[i].commands[k][0],
					   keys[i].commands[k][1]);
		help_add(help, xstrdup(keys[i].title), NULL, xstrdup(text.data));
	}
	strbuf_release(&text);
}

void help_open(struct help *help, const struct keymap *keymap,
	       const struct settings *settings, const char *about)
{
	static const enum key_table tables[] = {
		TABLE_GENERIC, TABLE_TIMELINE, TABLE_TABLE, TABLE_PAGE, TABLE_OUTPUT,
		TABLE_PROMPT,
	};
	size_t t;
	int group, id;

	help->open = true;
	if (!about)
		help_add_reading(help, keymap);
	for (t = 0; !about && t < sizeof(tables) / sizeof(*tables); t++)
		help_add_table(help, keymap, tables[t]);
	for (id = 0; about && id < COMMAND_ID_COUNT; id++)
		if (!strcmp(about, command_table[id].name))
			help_add_whole_command(help, keymap, id);
	for (group = 0; !about && group < GROUP_COUNT; group++) {
		help_add_heading(help, command_group_title((enum command_group)group));
		for (id = 0; id < COMMAND_ID_COUNT; id++)
			if ((int)command_table[id].group == group)
				help_add_command(help, keymap, id);
	}
	if (about && (strcmp(about, "filter") == 0 || strcmp(about, "where") == 0))
		help_add_fields(help);
	if (!about || strcmp(about, "set") == 0)
		help_add_settings(help, settings);
}

void help_close(struct help *help)
{
	size_t i;

	for (i = 0; i < help->count; i++) {
		free(help->lines[i].left);
		free(help->lines[i].middle);
		free(help->lines[i].right);
	}
	free(help->lines);
	memset(help, 0, sizeof(*help));
}

void help_scroll(struct help *help, int lines)
{
	int64_t top = (int64_t)help->top + lines;
	int64_t most = (int64_t)help->count - help->page;

	if (top > most)
		top = most;
	help->top = top < 0 ? 0 : (size_t)top;
	if (lines)
		help->found = help->top;
}

void help_text(const struct help *help, size_t line, struct strbuf *out)
{
	const struct help_line *at = &help->lines[line];

	strbuf_addf(out, "%s %s %s", at->left, at->middle ? at->middle : "",
		    at->right ? at->right : "");
}

void help_go(struct help *help, size_t line)
{
	size_t above = help->page > 0 ? (size_t)help->page / 3 : 0;

	help->top = line > above ? line - above : 0;
	help_scroll(help, 0);
	help->found = line;
}

/* Draws the text of one column, with an ellipsis where it is cut off. */
static void help_draw_column(struct area area, int x, int y, int width, enum role role,
			     const char *text)
{
	area_text(area_sub(area, x, y, width, 1), 0, 0, role, 0, text);
	if (text_width(text) > width && width > 0)
		area_put(area, x + width - 1, y, 0x2026, ROLE_MUTED, ROLE_DEFAULT, 0);
}

static void help_draw_line(struct area area, int y, const struct help_line *line)
{
	int left = area.width < 100 ? 16 : 30, middle = 22, x;

	if (!line->right) {
		area_text(area, 1, y, ROLE_COLUMN, 0, line->left);
		return;
	}
	help_draw_column(area, 2, y, left, ROLE_TITLE, line->left);
	x = left + 3;
	/* on a narrow screen, the command is shown only where it adds something */
	if (line->middle && (area.width >= 100 || strchr(line->middle, ' '))) {
		help_draw_column(area, x, y, middle, ROLE_MUTED, line->middle);
		x += area.width >= 100 ? middle + 1 : text_width(line->middle) + 2;
	}
	help_draw_column(area, x, y, area.width - x - 1, ROLE_DEFAULT, line->right);
}

void help_draw(struct help *help, struct area area, const struct text_find *find)
{
	int y;

	area_fill(area, 0, 0, area.width, area.height, ' ', ROLE_DEFAULT, ROLE_DEFAULT, 0);
	area_fill(area, 0, 0, area.width, 1, ' ', ROLE_TITLE, ROLE_HEADER, 0);
	area_text(area, 1, 0, ROLE_TITLE, ATTR_BOLD, "help");
	help->page = area.height - 1;
	help_scroll(help, 0);
	if (help->count > (size_t)help->page && help->page > 0)
		area_printf(area, 8, 0, ROLE_MUTED, 0, "lines %zu to %zu%s", help->top + 1,
			    help->top + (size_t)help->page,
			    help->top + (size_t)help->page < help->count ? ", more below" : "");
	for (y = 1; y < area.height && help->top + (size_t)y - 1 < help->count; y++)
		help_draw_line(area, y, &help->lines[help->top + (size_t)y - 1]);
	if (area.height > 1)
		text_find_mark(find, area_sub(area, 0, 1, area.width, area.height - 1));
}

/* ---- as text, for --help, the man page and completion ---- */

void help_write_keys(const struct keymap *keymap, FILE *out)
{
	int table;
	size_t i;

	for (table = 0; table < KEY_TABLES; table++)
		for (i = 0; i < keymap->tables[table].count; i++) {
			const struct binding *binding = &keymap->tables[table].list[i];
			char name[KEY_SEQUENCE_MAX * KEY_NAME_MAX];

			keys_print(binding->keys, binding->count, name, sizeof(name));
			fprintf(out, "%s\t%s\t%s\n", key_table_name((enum key_table)table),
				name, binding->command);
		}
}

void help_write_commands(const struct keymap *keymap, FILE *out)
{
	for (int id = 0; id < COMMAND_ID_COUNT; id++) {
		const struct command_info *info = &command_table[id];
		char keys[KEYS_TEXT], argument[64], sentence[400];

		help_keys_of(keymap, info->name, keys, sizeof(keys));
		fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\n", info->name, info->alias,
			command_group_title(info->group), info->usage, keys, info->help);
		for (const char *at = info->details;
		     (at = command_detail(at, argument, sizeof(argument), sentence,
					  sizeof(sentence))); )
			fprintf(out, "\t%s\t%s\n", argument, sentence);
	}
}

void help_write_settings(const struct settings *settings, FILE *out)
{
	int i;

	for (i = 0; i < setting_count(settings); i++) {
		struct setting_row row = setting_row(settings, i);

		fprintf(out, "%s\t%s\t%s\t%s\n", row.name, row.initial, row.values, row.help);
	}
}
