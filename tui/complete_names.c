/* SPDX-License-Identifier: MIT */
/* What there is: names of the model, of the configuration, of files. */
#include "tui/complete_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "keymap/command.h"
#include "keymap/config.h"
#include "model/base/util.h"
#include "model/query-counters.h"
#include "model/query-findings.h"
#include "model/query-lines.h"
#include "model/query-memory.h"
#include "model/query-names.h"
#include "model/query-replays.h"
#include "tui/pane.h"
#include "tui/panes.h"

#define FOLDER_MOST 20000		/* entries of a folder that are looked at */

/* ---- of the model ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static int by_time(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->name, y->name);
}

/* Each name once, with its whole time. */
static void add_named(struct gather *gather, struct named *list, size_t n)
{
	char time[FMT_MAX];
	size_t to = 0;

	if (n)
		qsort(list, n, sizeof(*list), by_name);
	for (size_t i = 0; i < n; i++) {
		if (to && !strcmp(list[to - 1].name, list[i].name))
			list[to - 1].ns += list[i].ns;
		else
			list[to++] = list[i];
	}
	if (to)
		qsort(list, to, sizeof(*list), by_time);
	for (size_t i = 0; i < to; i++)
		gather_add(gather, list[i].name, list[i].ns ? fmt_time(time, list[i].ns) : "", false);
	free(list);
}

static void add_ops(struct gather *gather)
{
	struct named *list;
	size_t n;

	model_lock(gather->ask->model);
	n = model_op_names(gather->ask->model, &list);
	model_unlock(gather->ask->model);
	add_named(gather, list, n);
}

static void add_kernels(struct gather *gather)
{
	struct named *list;
	size_t n;

	model_lock(gather->ask->model);
	n = model_kernel_names(gather->ask->model, &list);
	model_unlock(gather->ask->model);
	add_named(gather, list, n);
}

static void add_sources(struct gather *gather)
{
	struct source_row *rows;
	size_t n;

	model_lock(gather->ask->model);
	n = model_sources(gather->ask->model, NULL, &rows);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++)
		gather_add(gather, rows[i].file, rows[i].library ? "a package's" : "the program's", false);
	free(rows);
}

static void add_allocators(struct gather *gather)
{
	struct memory_row *rows;
	size_t n;

	model_lock(gather->ask->model);
	n = model_memory(gather->ask->model, &rows);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++)
		if (rows[i].allocator)
			gather_add(gather, rows[i].allocator, "", false);
	free(rows);
}

static void add_counters(struct gather *gather)
{
	struct counter_row *rows;
	size_t n;

	model_lock(gather->ask->model);
	n = model_counters(gather->ask->model, &rows);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++)
		gather_add(gather, rows[i].name, rows[i].unit, false);
	free(rows);
}

static void add_graphs(struct gather *gather)
{
	struct replay_row *rows;
	size_t n;

	model_lock(gather->ask->model);
	n = model_replays(gather->ask->model, &rows);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++)
		gather_add(gather, rows[i].name, "", false);
	model_replays_free(rows, n);
}

static void add_devices(struct gather *gather)
{
	struct device_row *rows;
	char label[16];
	size_t n;

	model_lock(gather->ask->model);
	n = model_devices(gather->ask->model, &rows);
	for (size_t i = 0; i < n; i++) {
		panes_device_label(label, sizeof(label), rows, n, rows[i].id);
		gather_add(gather, label, rows[i].name ? rows[i].name : "", false);
	}
	model_unlock(gather->ask->model);
	free(rows);
}

static void add_queues(struct gather *gather)
{
	struct queue_row *rows;
	char label[80];
	size_t n;

	model_lock(gather->ask->model);
	n = model_queues(gather->ask->model, &rows);
	for (size_t i = 0; i < n; i++) {
		panes_queue_label(label, sizeof(label), rows, n, rows[i].id);
		gather_add(gather, label, "", false);
	}
	model_unlock(gather->ask->model);
	free(rows);
}

static void add_processes(struct gather *gather)
{
	struct process_row *rows;
	char pid[16];
	size_t n;

	model_lock(gather->ask->model);
	n = model_processes(gather->ask->model, &rows);
	for (size_t i = 0; i < n; i++) {
		snprintf(pid, sizeof(pid), "%u", rows[i].pid);
		gather_add(gather, pid, rows[i].command ? rows[i].command : "", false);
	}
	model_unlock(gather->ask->model);
	free(rows);
}

static void add_findings(struct gather *gather)
{
	struct findings_status status;
	struct finding *list = NULL;
	size_t n;

	if (gather->command != COMMAND_ID_FINDING)
		return;
	model_lock(gather->ask->model);
	n = model_findings(gather->ask->model, &status, &list);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++)
		gather_add(gather, list[i].id, list[i].title, false);
	free(list);
}

/* ---- of the configuration ---- */

static void add_options(struct gather *gather)
{
	const struct settings *settings = gather->ask->settings;

	for (int i = 0; i < setting_count(settings); i++) {
		struct setting_row row = setting_row(settings, i);

		gather_add(gather, row.name, row.help, false);
	}
}

/* Of the option that was named: what it may be, or its value now. */
static void add_option_values(struct gather *gather)
{
	const struct settings *settings = gather->ask->settings;
	char now[64], error[160];
	int id = gather->argc > 1 ? setting_find(settings, gather->argv[1], error, sizeof(error)) : -1;
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

static void add_words(struct gather *gather, const char *words)
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
	add_words(gather, "default black red green yellow blue magenta cyan white bright-black "
		  "bright-red bright-green bright-yellow bright-blue bright-magenta bright-cyan "
		  "bright-white");
}

static void add_attributes(struct gather *gather)
{
	add_words(gather, "bold underline reverse dim");
}

static void add_tables(struct gather *gather)
{
	for (int i = 0; i < KEY_TABLES; i++)
		gather_add(gather, key_table_name((enum key_table)i), "", false);
}

/* Those that are bound in the table that was named. */
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

/* NAME of `pane`; elsewhere it is a name that is made. */
static void add_panes(struct gather *gather)
{
	if (gather->command != COMMAND_ID_PANE)
		return;
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
	add_words(gather, "chrome chrome,memory chrome,no-dataflow perfetto perfetto,memory dot csv:ops "
		  "csv:kernels csv:copies csv:steps csv:memory csv:findings csv:calls csv:devices "
		  "csv:queues csv:edges csv:processes");
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

/* Names of what lies in `folder` ("" here), with a slash behind folders; *n of them. */
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
	char *folder = slash ? xstrndup(typed, (size_t)(slash - typed) + 1) : xstrdup(""), *whole = NULL;
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
	if (gather->command == COMMAND_ID_PRINT_SOURCE)
		add_sources(gather);
	gather_files(gather, false);
}

static void add_folders(struct gather *gather)
{
	gather_files(gather, true);
}

void gather_values(struct gather *gather, const char *value)
{
	static const struct { const char *value; void (*add)(struct gather *gather); } values[] = {
		{"OP", add_ops}, {"KERNEL", add_kernels}, {"FILE", add_files}, {"DIR", add_folders},
		{"OPTION", add_options}, {"VALUE", add_option_values}, {"ROLE", add_roles},
		{"FG", add_colours}, {"BG", add_colours}, {"ATTR", add_attributes},
		{"TABLE", add_tables}, {"KEYS", add_keys}, {"NAME", add_panes},
		{"COMMAND", add_command_names}, {"FORMAT", add_formats},
		{"ALLOCATOR", add_allocators}, {"COUNTER", add_counters}, {"GRAPH", add_graphs},
		{"DEVICE", add_devices}, {"QUEUE", add_queues}, {"PID", add_processes},
		{"ID", add_findings},
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (!strcmp(values[i].value, value))
			values[i].add(gather);
}
