/* SPDX-License-Identifier: MIT */
/* Completes names of the configuration, of the screen, and of files. */
#include "tui/prompt/complete_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "keymap/command.h"
#include "keymap/config.h"
#include "model/base/util.h"
#include "model/export/foreign.h"
#include "model/filter/filter.h"
#include "tui/lists/list.h"
#include "tui/timeline/marks.h"
#include "tui/draw/pane.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"
#include "tui/timeline/row_choice.h"
#include "tui/timeline/when.h"

#define FOLDER_MOST 20000		/* most entries of a folder that are read */

/* ---- of the configuration ---- */

static void add_options(struct gather *gather)
{
	const struct settings *settings = gather->ask->settings;

	for (int i = 0; i < setting_count(settings); i++) {
		struct setting_row row = setting_row(settings, i);

		gather_add(gather, row.name, row.help, false);
	}
}

/* For the named option: its possible values, else its current value. */
static void add_option_values(struct gather *gather)
{
	const struct settings *settings = gather->ask->settings;
	char now[64], error[160];
	int id = gather->argc > 1 ? setting_find(settings, gather->argv[1], error, sizeof(error))
				  : -1;
	const char *values;

	if (id < 0)
		return;
	values = setting_row(settings, id).values;
	setting_print(settings, id, now, sizeof(now));
	if (!*values)
		gather_add(gather, now, "its value now", false);
	while (*values) {
		char *one = xstrndup(values, strcspn(values, "|"));

		gather_add(gather, one, !strcmp(one, now) ? "its value now" : "", false);
		values += strlen(one);
		values += *values == '|';
		free(one);
	}
}

static void add_roles(struct gather *gather)
{
	for (int i = 0; i < ROLE_COUNT; i++)
		gather_add(gather, role_name((enum role)i), "", false);
}

void gather_words(struct gather *gather, const char *words)
{
	while (*words) {
		size_t length = strcspn(words, " ");
		char *one = xstrndup(words, length);

		gather_add(gather, one, "", false);
		free(one);
		words += length + (words[length] == ' ');
	}
}

static void add_colours(struct gather *gather)
{
	gather_words(gather, "default black red green yellow blue magenta cyan white bright-black "
		  "bright-red bright-green bright-yellow bright-blue bright-magenta bright-cyan "
		  "bright-white");
}

static void add_attributes(struct gather *gather)
{
	gather_words(gather, "bold underline reverse dim");
}

static void add_tables(struct gather *gather)
{
	for (int i = 0; i < KEY_TABLES; i++)
		gather_add(gather, key_table_name((enum key_table)i), "", false);
}

/* Adds the keys that are bound in the named table. */
static void add_keys(struct gather *gather)
{
	int table = gather->argc > 1 ? key_table_by_name(gather->argv[1]) : -1;
	char name[KEY_SEQUENCE_MAX * KEY_NAME_MAX];

	for (size_t i = 0; table >= 0 && i < gather->ask->keymap->tables[table].count; i++) {
		const struct binding *binding = &gather->ask->keymap->tables[table].list[i];

		keys_print(binding->keys, binding->count, name, sizeof(name));
		gather_add(gather, name, binding->command, false);
	}
}

static void add_panes(struct gather *gather)
{
	for (size_t i = 0; i < gather->ask->n_panes; i++)
		if (gather->ask->panes[i])
			gather_add(gather, gather->ask->panes[i]->ops->name, "", false);
}

static void add_command_names(struct gather *gather)
{
	for (int i = 0; i < COMMAND_ID_COUNT; i++)
		gather_add(gather, command_table[i].name, command_table[i].help, false);
}

static void add_formats(struct gather *gather)
{
	char word[FOREIGN_WORD_MAX];

	for (size_t i = 0; foreign_word(i, word); i++)
		gather_add(gather, word, "", false);
}

static void add_themes(struct gather *gather)
{
	char *words = xstrdup(setting_table[SETTING_THEME].choices);

	for (char *bar = words; (bar = strchr(bar, '|')) != NULL; )
		*bar = ' ';
	gather_words(gather, words);
	free(words);
}

static void add_filters(struct gather *gather)
{
	const struct filter_names *names = gather->ask->filters;
	const char *name, *text;

	for (size_t i = 0; names && (name = filter_names_at(names, i, &text)); i++)
		gather_add(gather, name, text, false);
}

/* ---- of tables and lists ---- */

static void add_key(struct gather *gather, const char *sign, const char *key, const char *about)
{
	char *word = xasprintf("%s%s", sign, key);

	gather_add(gather, word, about, false);
	free(word);
}

static void add_kind(struct gather *gather, const char *sign, const struct table_kind *kind)
{
	for (size_t i = 0; kind && i < kind->columns->n; i++)
		add_key(gather, sign, kind->columns->column[i].key,
			kind->columns->column[i].help);
	for (size_t i = 0; kind && i < table_n_own_columns; i++)
		add_key(gather, sign, table_own_columns[i].key, table_own_columns[i].help);
}

/* Adds the columns of the list or table that the command applies to. */
static void add_columns(struct gather *gather, const char *sign)
{
	const struct list_kind *list = list_kind_of(gather->command);
	const struct table_kind *kind = gather->argc > 1 ? pane_kind(gather->argv[1]) : NULL;
	const struct table *table = gather->ask->table;
	struct list_column columns[LIST_COLUMNS_MAX];
	size_t n = list ? list_kind_columns(list, columns) : 0;

	if (gather->command == COMMAND_ID_HELP && !gather_after(gather, "column"))
		return;
	for (size_t i = 0; i < n; i++)
		gather_add(gather, columns[i].key, "", false);
	if (!list)
		add_kind(gather, sign, kind ? kind : table ? table->kind : NULL);
}

static void add_column(struct gather *gather)
{
	add_columns(gather, "");
}

static void add_column_more(struct gather *gather)
{
	add_columns(gather, "+");
}

static void add_column_less(struct gather *gather)
{
	add_columns(gather, "-");
}

/* ---- of the timeline ---- */

static void add_marks(struct gather *gather)
{
	const struct marks *marks = gather->ask->marks;

	for (size_t i = 0; marks && i < marks->n; i++)
		gather_add(gather, marks->list[i].name, marks->list[i].note, false);
}

static void add_when(struct gather *gather, enum when_words which)
{
	const char *word;

	for (size_t i = 0; (word = when_word(which, i)); i++)
		gather_add(gather, word, "", false);
}

static void add_ranges(struct gather *gather)
{
	add_when(gather, WHEN_RANGES);
	add_when(gather, WHEN_STEPS);
	add_marks(gather);
}

/* The second word of a moment or a range: the step, mark or gap, or the end of the range. */
static void add_which(struct gather *gather)
{
	if (gather_after(gather, "step")) {
		add_when(gather, WHEN_STEPS);
		gather_values(gather, "STEP");
	} else if (gather_after(gather, "gap")) {
		gather_words(gather, "next previous longest");
	} else if (gather_after(gather, "mark")) {
		add_marks(gather);
	} else if (gather->argc > 1 && gather->ask->marks &&
		   marks_find(gather->ask->marks, gather->argv[gather->argc - 1])) {
		add_marks(gather);
		gather_words(gather, "start end cursor");
	}
}

/* Adds values for A or B of diff. */
static void add_sides(struct gather *gather)
{
	add_which(gather);
	if (gather->out->total)
		return;
	add_when(gather, WHEN_STEPS);
	gather_words(gather, "step");
	add_marks(gather);
	gather_values(gather, "STEP");
	gather_files(gather, false);
}

static void add_orders(struct gather *gather)
{
	for (int i = 0; gather_after(gather, "order") && i < ROW_ORDERS; i++)
		gather_add(gather, row_order_name((enum row_order)i), "", false);
}

/* ---- files ---- */

static int entry_order(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;

	return strcmp(x, y);
}

static bool is_folder(const char *folder, const struct dirent *entry)
{
	struct stat st;
	char *path;
	bool is;

	if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
		return entry->d_type == DT_DIR;
	path = xasprintf("%s%s", folder, entry->d_name);
	is = !stat(path, &st) && S_ISDIR(st.st_mode);
	free(path);
	return is;
}

/* Returns the names in `folder` ("" is the current one), with a slash behind folders; *n is their
 * number. */
static char **read_folder(const char *folder, bool hidden, bool only_folders, size_t *n)
{
	DIR *dir = opendir(*folder ? folder : ".");
	struct dirent *entry;
	char **names = NULL;
	size_t cap = 0;
	int looked = 0;

	*n = 0;
	while (dir && looked++ < FOLDER_MOST && (entry = readdir(dir))) {
		bool is;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    (entry->d_name[0] == '.' && !hidden))
			continue;
		is = is_folder(folder, entry);
		if (only_folders && !is)
			continue;
		grow(&names, &cap, *n, sizeof(*names));
		names[(*n)++] = xasprintf("%s%s%s", folder, entry->d_name, is ? "/" : "");
	}
	if (dir)
		closedir(dir);
	if (*n)
		qsort(names, *n, sizeof(*names), entry_order);
	return names;
}

void gather_files(struct gather *gather, bool only_folders)
{
	const char *slash = strrchr(gather->typed, '/'), *home = getenv("HOME");
	const char *rest = slash ? slash + 1 : gather->typed, *typed = gather->typed;
	char *folder = slash ? xstrndup(typed, (size_t)(slash - typed) + 1) : xstrdup(""),
	     *whole = NULL;
	size_t n;
	char **names;

	if (!strncmp(typed, "~/", 2) && home && *home) {
		char *there = xasprintf("%s%s", home, folder + 1);

		free(folder);
		folder = there;
		gather->typed = whole = xasprintf("%s%s", home, typed + 1);
	}
	names = read_folder(folder, *rest == '.', only_folders, &n);
	for (size_t i = 0; i < n; i++) {
		gather_add(gather, names[i], "", names[i][strlen(names[i]) - 1] == '/');
		free(names[i]);
	}
	free(names);
	gather->typed = typed;
	free(whole);
	free(folder);
}

static void add_files(struct gather *gather)
{
	gather_files(gather, false);
}

static void add_source_files(struct gather *gather)
{
	gather_values(gather, "SOURCE");
	gather_files(gather, false);
}

static void add_folders(struct gather *gather)
{
	gather_files(gather, true);
}

const struct gather_value gather_own[] = {
	{"FILE", add_files}, {"FILE[:LINE]", add_source_files}, {"DIR", add_folders},
	{"OPTION", add_options}, {"VALUE", add_option_values}, {"ROLE", add_roles},
	{"FG", add_colours}, {"BG", add_colours}, {"ATTR", add_attributes}, {"THEME", add_themes},
	{"TABLE", add_tables}, {"KEYS", add_keys}, {"PANE", add_panes}, {"FILTER", add_filters},
	{"COMMAND", add_command_names}, {"FORMAT", add_formats}, {"COLUMN", add_column},
	{"+COLUMN", add_column_more}, {"-COLUMN", add_column_less}, {"COLUMN,COLUMN", add_column},
	{"MARK", add_marks}, {"RANGE", add_ranges}, {"WHICH", add_which}, {"A", add_sides},
	{"B", add_sides}, {"ORDER", add_orders},
	{NULL, NULL},
};
