/* SPDX-License-Identifier: MIT */
/* The pages options, bindings, colors and probe: the settings and how to change them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/command.h"
#include "keymap/config.h"
#include "model/base/util.h"
#include "model/query/query.h"
#include "tui/run/live.h"
#include "tui/draw/page_call.h"
#include "tui/draw/theme.h"

#define OPTION_COLUMNS 22
#define VALUE_COLUMNS 10

/* Adds a text of the given width that opens the prompt with these words in it. */
static void link_to_prompt(struct page *page, int columns, const char *text, int argc,
			   const char *const *words)
{
	const char *argv[8] = {"prompt"};
	int width = text_width(text);

	memcpy(argv + 1, words, (size_t)argc * sizeof(*argv));
	page_link(page, text, argc + 1, argv);
	page_add(page, ROLE_DEFAULT, 0, "%*s", width < columns ? columns - width : 1, "");
}

/* ---- options ---- */

static void page_config_add_option(struct page *page, const struct settings *settings, int id)
{
	struct setting_row row = setting_row(settings, id);
	const char *const words[] = {"set", row.name, "="};
	char value[64], range[64] = "";
	bool changed;

	setting_print(settings, id, value, sizeof(value));
	changed = strcmp(value, row.initial) != 0;
	if (id < SETTING_COUNT && setting_table[id].type == SETTING_INT)
		snprintf(range, sizeof(range), "; %d to %d", setting_table[id].least,
			 setting_table[id].most);
	else if (*row.values)
		snprintf(range, sizeof(range), "; %s", row.values);
	link_to_prompt(page, OPTION_COLUMNS, row.name, 3, words);
	page_cell(page, changed ? ROLE_ACCENT : ROLE_DEFAULT, -VALUE_COLUMNS, value);
	page_cell(page, ROLE_MUTED, -VALUE_COLUMNS, changed ? row.initial : "");
	page_say(page, ROLE_DEFAULT, 0, "%s%s", row.help, range);
}

bool page_set(const struct page_call *call, struct page *page)
{
	page_add(page, ROLE_COLUMN, 0, "%-*s%-*s%-*s", OPTION_COLUMNS, "option", VALUE_COLUMNS,
		 "value", VALUE_COLUMNS, "at first");
	page_say(page, ROLE_COLUMN, 0, "what for");
	for (int id = 0; id < setting_count(call->settings); id++) {
		if (id == SETTING_COUNT)
			page_say(page, ROLE_MUTED, 0, "thresholds: the value from which something "
				 "is a finding");
		page_config_add_option(page, call->settings, id);
	}
	return true;
}

/* ---- bindings ---- */

#define KEYS_COLUMNS 14
#define COMMAND_COLUMNS 24

static void page_config_add_binding(struct page *page, const char *table,
				    const struct binding *binding)
{
	char keys[KEY_SEQUENCE_MAX * KEY_NAME_MAX], sentence[400];
	const char *words[] = {"bind", table, keys};
	const char *about = command_help(binding->command, sentence, sizeof(sentence));

	keys_print(binding->keys, binding->count, keys, sizeof(keys));
	page_add(page, ROLE_DEFAULT, 0, "  ");
	link_to_prompt(page, KEYS_COLUMNS, keys, 3, words);
	page_cell(page, ROLE_DEFAULT, -COMMAND_COLUMNS, binding->command);
	page_say(page, ROLE_MUTED, 0, " %s", about ? about :
		 "does nothing, even if generic binds it");
}

bool page_bindings(const struct page_call *call, struct page *page)
{
	for (int t = 0; t < KEY_TABLES; t++) {
		const char *name = key_table_name((enum key_table)t);

		page_say(page, ROLE_COLUMN, 0, "%s%s", name,
			 key_table_falls_through((enum key_table)t) ? ", then generic" : "");
		for (size_t i = 0; i < call->keymap->tables[t].count; i++)
			page_config_add_binding(page, name, &call->keymap->tables[t].list[i]);
	}
	page_add(page, ROLE_MUTED, 0, "tables that come with tftop:");
	for (size_t i = 0; config_builtin_name("keys", i); i++) {
		const char *const argv[] = {"source", config_builtin_name("keys", i)};

		page_add(page, ROLE_DEFAULT, 0, "  ");
		page_link(page, argv[1], 2, argv);
	}
	page_end(page);
	return true;
}

/* ---- colours ---- */

static void colour_text(char *text, size_t size, const short colours[2])
{
	char one[2][8];

	for (int i = 0; i < 2; i++)
		if (colours[i] == COLOUR_DEFAULT)
			snprintf(one[i], sizeof(one[i]), "default");
		else
			snprintf(one[i], sizeof(one[i]), "%d", colours[i]);
	snprintf(text, size, "%s%s%s", one[0], strcmp(one[0], one[1]) ? "|" : "",
		 strcmp(one[0], one[1]) ? one[1] : "");
}

/* Reads the first sentence of a theme's file, which follows the line with its licence. */
static void theme_about(char *text, size_t size, const char *name)
{
	char path[64];
	const char *at, *end;
	size_t n = 0;

	snprintf(path, sizeof(path), "themes/%s", name);
	at = strchr(config_builtin_file(path), '\n') + 1;
	for (; at[0] == '#' && n + 1 < size; at = end + (*end == '\n')) {
		end = at + strcspn(at, ".\n");
		if (end < at + 2)
			continue;
		n += (size_t)snprintf(text + n, size - n, "%s%.*s", n ? " " : "",
				      (int)(end - at) - 2, at + 2);
		if (*end == '.')
			break;
	}
}

/* Adds a line for each theme; Enter selects it. The current theme is marked and in view. */
static void page_config_add_themes(struct page *page, const char *now)
{
	page_add(page, ROLE_COLUMN, 0, "theme %s", now);
	page_say(page, ROLE_MUTED, 0, "   Enter chooses another theme, color changes one of its "
		 "roles");
	for (size_t i = 0; config_builtin_name("themes", i); i++) {
		const char *const argv[] = {"set", "theme", config_builtin_name("themes", i)};
		bool chosen = !strcmp(argv[2], now);
		char about[160];

		theme_about(about, sizeof(about), argv[2]);
		if (chosen)
			page->show = page->n_lines;
		page_add(page, ROLE_ACCENT, 0, chosen ? " * " : "   ");
		page_link(page, argv[2], 3, argv);
		page_say(page, ROLE_DEFAULT, 0, "%*s%s", 12 - (int)strlen(argv[2]), "", about);
	}
	page->above = page->show;
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
}

bool page_colors(const struct page_call *call, struct page *page)
{
	char now[64];

	setting_print(call->settings, SETTING_THEME, now, sizeof(now));
	page_config_add_themes(page, now);
	page_say(page, ROLE_COLUMN, 0, "roles");
	for (int role = 0; role < ROLE_COUNT; role++) {
		const char *const words[] = {"color", role_name((enum role)role)};
		char fg[24], bg[24];

		colour_text(fg, sizeof(fg), call->theme->roles[role].fg);
		colour_text(bg, sizeof(bg), call->theme->roles[role].bg);
		link_to_prompt(page, 20, words[1], 2, words);
		page_add(page, (enum role)role, 0, "sample 123 ▁▂▃▄▅▆▇█");
		page_say(page, ROLE_MUTED, 0, "   %s on %s", fg, bg);
	}
	return true;
}

/* ---- probes ---- */

/* While a session runs, only the level can be changed; probes are chosen before it starts. */
bool page_probe(const struct page_call *call, struct page *page)
{
	struct process_row *rows;
	size_t n, seen = 0;

	if (call->argc > 1) {
		snprintf(call->error, call->error_size,
			 "probes are chosen when the program is started: "
			 "'tftop --probe %s%s -- PROGRAM'; while the program runs, 'level' changes "
			 "how much they record", call->argc > 2 &&
			 !strcmp(call->argv[2], "off") ? "auto,-" : "auto,+", call->argv[1]);
		return false;
	}
	model_lock(call->model);
	n = model_processes(call->model, &rows);
	for (size_t i = 0; i < n; i++) {
		page_say(page, ROLE_COLUMN, 0, "%u  %s", rows[i].pid,
			 rows[i].command ? rows[i].command : "?");
		for (size_t k = 0; k < rows[i].n_probes; k++) {
			bool blind = rows[i].blind[k] && *rows[i].blind[k];

			page_add(page, ROLE_GOOD, 0, "  %-12s on", rows[i].probes[k]);
			page_say(page, blind ? ROLE_WARN : ROLE_MUTED, 0, "   %s%s",
				 blind ? "does not see: " : "no limits reported",
				 blind ? rows[i].blind[k] : "");
			seen++;
		}
		if (!rows[i].n_probes)
			page_say(page, ROLE_MUTED, 0, "  none: the program loaded no library that "
				 "a probe knows");
	}
	model_unlock(call->model);
	free(rows);
	if (!n)
		page_say(page, ROLE_MUTED, 0, "no process has reported yet");
	page_say(page, ROLE_MUTED, 0, "%zu in all; others are chosen at the start: tftop --probe "
		 "LIST -- PROGRAM", seen);
	return true;
}
