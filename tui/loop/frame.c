/* SPDX-License-Identifier: MIT */
/* One frame: reads the model and draws the parts of the screen. */
#include "tui/loop/loop.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/panes/pane_table.h"

#define MS INT64_C(1000000)
#define JUMP_REST_NS (500 * MS)		/* a narrow window moves at most this often */

enum key_table frame_key_table(const struct tui *tui)
{
	int table;

	if (tui->dialog)
		return TABLE_DIALOG;
	if (tui->prompt.open)
		return TABLE_PROMPT;
	if (tui->help.open)
		return TABLE_TABLE;
	if (!tui->focus_lower)
		return TABLE_TIMELINE;
	table = key_table_by_name(tui->panes[tui->lower]->ops->key_table);
	if (table == TABLE_OUTPUT && !tui_program_runs(tui))
		return TABLE_TABLE;		/* no program reads keys */
	return table < 0 ? TABLE_TABLE : (enum key_table)table;
}

int64_t frame_middle(const struct view *view)
{
	int64_t end = view->now_ns < view->t1_ns ? view->now_ns : view->t1_ns;

	if (end < view->t0_ns)
		end = view->t1_ns;
	return view->t0_ns + (end - view->t0_ns) / 2;
}

/* ---- taking ---- */

/* After the end nothing moves any more: a run that is shorter than the window is shown completely,
 * and so is a recording, which nobody watched live. */
static void stop_following(struct tui *tui)
{
	const struct model_status *status = &tui->status;
	int64_t width = window_end_ns(&tui->window) - tui->window.t0_ns;

	if (status->first_ns <= status->last_ns &&
	    (status->last_ns - status->first_ns < width || (tui->live && !live_session(tui->live))))
		window_fit(&tui->window, tui->layout.columns, status->first_ns, status->last_ns);
	tui->view.following = false;
}

static void place_window(struct tui *tui)
{
	struct view *view = &tui->view;
	const struct model_status *status = &tui->status;
	int64_t width = tui->settings.value[SETTING_WINDOW_MS] * MS;
	int64_t clock = tui_clock(tui);

	window_resize(&tui->window, tui->layout.columns);
	if (status->first_ns > status->last_ns) {
		if (!tui->window_set)
			window_fit(&tui->window, tui->layout.columns, 0, width);
	} else if (!tui->window_set) {
		tui->window_set = true;
		window_fit(&tui->window, tui->layout.columns, status->first_ns,
			   status->first_ns + width - 1);
		tui->jumped_ns = clock;
	}
	if (view->following && tui->window_set &&
	    (clock - tui->jumped_ns >= JUMP_REST_NS || tui->virtual_clock) &&
	    window_follow(&tui->window, view->now_ns, tui->settings.value[SETTING_JUMP_AT],
			  tui->settings.value[SETTING_JUMP_TO]))
		tui->jumped_ns = clock;
	if (status->finished && view->following && tui->window_set)
		stop_following(tui);
	view->t0_ns = tui->window.t0_ns;
	view->t1_ns = window_end_ns(&tui->window);
	if (view->following || !view->cursor_ns)
		view->cursor_ns = frame_middle(view);
}

static void make_layout(struct tui *tui, int header_lines)
{
	struct layout_wish wish = {
		.width = tui->width, .height = tui->height,
		.header = header_lines,
		.lower_percent = tui->settings.value[SETTING_SPLIT],
		.timeline_lines = tui->panes[0]->ops->lines(tui->panes[0]),
		.label_width = tui->settings.value[SETTING_LABEL_WIDTH],
		.focus_lower = tui->focus_lower,
		.full = tui->full && tui->focus_lower,
		.bottom = tui->settings.value[SETTING_HINTS] || tui->prompt.open ||
			  tui->dialog || tui->view.status[0] || tui->pending_count || tui->asks_key,
	};

	layout_compute(&tui->layout, &wish);
}

static void update_pane(struct tui *tui, struct pane *pane, const struct layout_part *part)
{
	if (part->height > 0 && pane->ops->update)
		pane->ops->update(pane, &tui->view, tui->width, part->height);
}

void frame_set_colours(struct tui *tui)
{
	tui->view.colour = tui->depth != DEPTH_MONO && tui->theme.depth != DEPTH_MONO;
	tui->view.shades = tui->depth == DEPTH_256 && tui->theme.depth == DEPTH_256;
}

/* Extends the range that is being measured to the cursor. The caller holds the model's lock. */
static void frame_extend_measure(struct view *view)
{
	struct span span;
	int64_t to = view->cursor_ns, from = view->measure.from_ns;

	if (!view->measure.open)
		return;
	if (view->selected.id && model_span(view->model, view->selected, &span))
		to = span.end_ns > from ? span.end_ns : span.start_ns;
	view->measure.t0_ns = from < to ? from : to;
	view->measure.t1_ns = from < to ? to : from;
	if (view->measure.t1_ns == view->measure.t0_ns)
		view->measure.t1_ns++;
}

void frame_update(struct tui *tui, bool all)
{
	struct view *view = &tui->view;

	model_lock(tui->model);
	model_status(tui->model, &tui->status);
	model_findings(tui->model, &view->findings, NULL);
	view->warnings = tui->status.warnings;
	view->clock_ns = tui_clock(tui);
	view->screen_rows = tui->height;
	view->now_ns = tui->status.finished ? tui->status.last_ns : tui->status.live_ns;
	if (view->now_ns < tui->status.last_ns && tui->status.first_ns <= tui->status.last_ns)
		view->now_ns = tui->status.last_ns;
	view->minimap = tui->settings.value[SETTING_MINIMAP];
	view->keys_to_program = frame_key_table(tui) == TABLE_OUTPUT;
	/* estimated first, because the header may need to know the number of columns */
	make_layout(tui, layout_header_max(tui->height));
	view->gutter = tui->layout.gutter;
	view->columns = tui->layout.columns;
	if (!tui->layout.too_small) {
		place_window(tui);
		if (all)
			tui->header_lines = header_update(tui->header, view, tui->width,
							  layout_header_max(tui->height));
		make_layout(tui, tui->header_lines);
		frame_extend_measure(view);
		model_yield(tui->model);
		update_pane(tui, tui->panes[0], &tui->layout.timeline);
		model_yield(tui->model);
		if (all)
			update_pane(tui, tui->panes[tui->lower], &tui->layout.lower);
	}
	model_unlock(tui->model);
}

/* ---- drawing ---- */

static struct area part_area(struct tui *tui, const struct layout_part *part)
{
	return area_sub(grid_area(&tui->grid), 0, part->y, tui->width, part->height);
}

/* How much text the tabs show, depending on the room. */
enum tab_size {
	TAB_FULL,			/* with status texts, as far as they fit */
	TAB_DENSE,			/* the same with one blank between tabs */
	TAB_NAME,
	TAB_TIGHT,			/* with one blank between tabs */
	TAB_FEW,			/* the messages have their number only */
	TAB_NUMBER,			/* only the active tab has its name */
};

#define TAB_CUT 24			/* most columns by which a tab may be shortened */

static void tab_text(struct tui *tui, int i, enum tab_size size, int cut, char *text,
		     size_t text_size)
{
	struct pane *pane = tui->panes[i];
	const char *end = text;

	snprintf(text, text_size, "%d %s", i, pane->ops->name);
	if (pane->ops->tab)
		pane->ops->tab(pane, &tui->view, text, text_size);
	if (size > TAB_DENSE)
		text[strcspn(text, ":")] = '\0';
	else if (cut > 0 && strchr(text, ':'))
		for (int width = text_width(text) - cut; width > 0 && *end; width--)
			text_next(&end);
	if (end > text)
		text[end - text] = '\0';
	if (i != tui->lower && (size == TAB_NUMBER ||
				(size == TAB_FEW && pane->ops == &pane_messages)))
		snprintf(text, text_size, "%d%s", i, strchr(text, '!') ? "!" : "");
}

static bool is_tight(enum tab_size size)
{
	return size == TAB_DENSE || size >= TAB_TIGHT;
}

static int tabs_width(struct tui *tui, enum tab_size size, int cut)
{
	char text[160];
	int i, width = is_tight(size);

	for (i = 1; i < TUI_PANES_MAX; i++)
		if (tui->panes[i]) {
			tab_text(tui, i, size, cut, text, sizeof(text));
			width += text_width(text) + (is_tight(size) ? 1 : 2);
		}
	return width;
}

/* By how many columns a tab is shortened so that all tabs fit; 0: that would be too many. */
static int tabs_cut(struct tui *tui, enum tab_size size, int width)
{
	int cut = tabs_width(tui, size, 0) - width;

	return cut > TAB_CUT ? 0 : cut;
}

static void draw_tabs(struct tui *tui, struct area area)
{
	enum tab_size size = TAB_FULL;
	char text[160];
	int i, x = 0, cut = tabs_cut(tui, size, area.width);

	while (size < TAB_NUMBER && tabs_width(tui, size, cut) > area.width)
		cut = tabs_cut(tui, ++size, area.width);
	area_fill(area, 0, 0, area.width, 1, ' ', ROLE_TAB, ROLE_DEFAULT, 0);
	for (i = 1; i < TUI_PANES_MAX; i++) {
		bool active = i == tui->lower;
		int width;

		if (!tui->panes[i])
			continue;
		tab_text(tui, i, size, cut, text, sizeof(text));
		width = text_width(text) + 2;
		if (active)
			area_fill(area, x, 0, width, 1, ' ', ROLE_TAB_ACTIVE, ROLE_TAB_ACTIVE,
				  tui->focus_lower ? ATTR_BOLD : 0);
		area_text(area, x + 1, 0, active ? ROLE_TAB_ACTIVE : ROLE_TAB, !active ? 0 :
			  tui->focus_lower ? ATTR_BOLD | ATTR_UNDERLINE : ATTR_BOLD, text);
		if (!tui->help.open) {
			snprintf(text, sizeof(text), "pane %d", i);
			hits_add(&tui->hits, area, x, 0, width, text);
		}
		x += width - is_tight(size);
	}
}

/* Hints in the line of keys: two commands and a word, the most useful first. Those that do not fit
 * are left out from the end. */
static const struct { const char *commands[2]; const char *word; } hints[] = {
	{{"toggle-follow", NULL}, NULL},
	{{"pan-left", "pan-right"}, "pan"},
	{{"zoom-in", "zoom-out"}, "zoom"},
	{{"row-down", "row-up"}, "row"},
	{{"prev-link", "next-link"}, "link"},
	{{"prev-event", "next-event"}, "event"},
	{{"focus", NULL}, "pane"},
	{{"to-op", "to-kernel"}, "op↔kernel"},
	{{"next-sort", "reverse"}, "sort"},
	{{"prompt find", NULL}, "find"},
	{{"open", NULL}, "open"},
	{{"prompt", NULL}, "command"},
	{{"toggle-fold", NULL}, "fold"},
	{{"fit", NULL}, "fit"},
};

static const struct { const char *commands[2]; const char *word; } last_hints[] = {
	{{"help", NULL}, "help"},
	{{"quit", NULL}, "quit"},
};

/* Formats a key for the hint line: "space", "a d", "C-]". */
static bool hint_keys(const struct tui *tui, const char *const commands[2], char *text, size_t size)
{
	enum key_table table = frame_key_table(tui);
	size_t length = 0;
	int i;

	text[0] = '\0';
	for (i = 0; i < 2 && commands[i]; i++) {
		const struct binding *binding = keymap_find(&tui->keymap, table, commands[i]);
		char name[KEY_SEQUENCE_MAX * KEY_NAME_MAX], *p = name;

		if (!binding)
			return false;
		keys_print(binding->keys, binding->count, name, sizeof(name));
		length = strlen(name);
		if (length > 2 && name[0] == '<' && name[length - 1] == '>' &&
		    !strchr(name + 1, '<')) {
			name[length - 1] = '\0';
			p++;
			if (p[1] != '-')
				*p = (char)tolower((unsigned char)*p);
		}
		length = strlen(text);
		snprintf(text + length, size - length, "%s%s", i ? " " : "", p);
	}
	return true;
}

static int draw_hint(struct tui *tui, struct area area, int x, int limit,
		     const char *const commands[2], const char *word)
{
	char keys[64];
	size_t second;
	int width;

	if (!word)
		word = tui->view.following ? "freeze" : "follow";
	if (!hint_keys(tui, commands, keys, sizeof(keys)))
		return x;
	width = text_width(keys) + 1 + text_width(word);
	if (x + width > limit)
		return x;
	/* a click on the second of two keys runs its command, any other click the first one's */
	second = commands[1] ? strcspn(keys, " ") + 1 : 0;
	if (second)
		hits_add(&tui->hits, area, x + (int)second, 0, text_width(keys + second),
			 commands[1]);
	hits_add(&tui->hits, area, x, 0, width, commands[0]);
	x = area_text(area, x, 0, ROLE_HINT, ATTR_BOLD, keys) + 1;
	return area_text(area, x, 0, ROLE_HINT, 0, word) + 2;
}

static void draw_hints(struct tui *tui, struct area area)
{
	size_t i;
	int x = 1, limit = area.width - 1, last = 0;
	char keys[64];

	area_fill(area, 0, 0, area.width, 1, ' ', ROLE_HINT, ROLE_HINT, 0);
	if (tui->view.keys_to_program) {
		static const char *const back[2] = {"focus timeline", NULL};
		static const char *const scroll[2] = {"page-up", "page-down"};

		x = area_printf(area, x, 0, ROLE_HINT, 0, "keys%s go to %s",
				output_wants_mouse(tui->output) ? " and mouse" : "",
				tui_program_name(tui)) + 3;
		x = draw_hint(tui, area, x, limit, back, "back");
		draw_hint(tui, area, x, limit, scroll, "scroll");
		return;
	}
	for (i = 0; i < sizeof(last_hints) / sizeof(*last_hints); i++)
		if (hint_keys(tui, last_hints[i].commands, keys, sizeof(keys)))
			last += text_width(keys) + text_width(last_hints[i].word) + 3;
	/* the first hint is follow and freeze, which mean nothing after the end */
	for (i = tui->status.finished; i < sizeof(hints) / sizeof(*hints); i++)
		x = draw_hint(tui, area, x, limit - last, hints[i].commands, hints[i].word);
	for (i = 0; i < sizeof(last_hints) / sizeof(*last_hints); i++)
		x = draw_hint(tui, area, x, limit, last_hints[i].commands, last_hints[i].word);
}

/* Shows the keys of an incomplete key sequence and the keys that can follow. */
static void draw_pending(struct tui *tui, struct area area)
{
	enum key_table table = frame_key_table(tui);
	char keys[KEY_SEQUENCE_MAX * KEY_NAME_MAX];
	int x;

	area_fill(area, 0, 0, area.width, 1, ' ', ROLE_HINT, ROLE_HINT, 0);
	keys_print(tui->pending, tui->pending_count, keys, sizeof(keys));
	x = area_printf(area, 1, 0, ROLE_HINT, ATTR_BOLD, "%s", keys) + 2;
	for (int more = 0; more < 2; more++) {
		enum key_table in = more ? TABLE_GENERIC : table;

		for (size_t i = 0; i < tui->keymap.tables[in].count; i++) {
			const struct binding *binding = &tui->keymap.tables[in].list[i];

			if (!binding_begins(binding, tui->pending, tui->pending_count))
				continue;
			keys_print(binding->keys + tui->pending_count,
				   binding->count - tui->pending_count, keys, sizeof(keys));
			x = area_text(area, x, 0, ROLE_HINT, ATTR_BOLD, keys) + 1;
			x = area_text(area, x, 0, ROLE_HINT, 0, binding->command) + 2;
		}
		if (table == TABLE_GENERIC || !key_table_falls_through(table))
			break;
	}
	x = area_text(area, x, 0, ROLE_HINT, ATTR_BOLD, "esc") + 1;
	area_text(area, x, 0, ROLE_HINT, 0, "none of these");
}

static void draw_bottom(struct tui *tui, struct area area)
{
	if (area.height < 1)
		return;
	if (tui->dialog) {
		dialog_draw(tui, area);
	} else if (tui->prompt.open) {
		prompt_draw(&tui->prompt, area);
	} else if (tui->asks_key) {
		area_printf(area, 1, 0, ROLE_PROMPT, ATTR_BOLD, "%s… a letter", tui->asks_key);
	} else if (tui->pending_count) {
		draw_pending(tui, area);
	} else if (tui->view.status[0]) {
		area_text(area, 1, 0, tui->view.status_error ? ROLE_ERROR : ROLE_PROMPT, 0,
			  tui->view.status);
	} else {
		draw_hints(tui, area);
	}
}

static void draw_pane(struct tui *tui, struct pane *pane, const struct layout_part *part,
		      bool focused)
{
	if (part->height > 0)
		pane->ops->draw(pane, &tui->view, part_area(tui, part), focused);
}

/* Marks matches in the lower pane, below the heading of a table or page. */
static void mark_found(struct tui *tui, struct area area)
{
	const struct pane_ops *ops = tui->panes[tui->lower]->ops;
	int heading = ops->table || !strcmp(ops->key_table, "page");

	if (area.height > heading)
		text_find_mark(&tui->text_find,
			       area_sub(area, 0, heading, area.width, area.height - heading));
}

static void draw_header(struct tui *tui, struct area area)
{
	int line;

	header_draw(tui->header, &tui->view, area);
	line = header_finding_line(tui->header);
	if (line >= 0)
		hits_add(&tui->hits, area, 0, line, area.width, "pane findings");
}

static void draw_too_small(struct tui *tui)
{
	struct area area = grid_area(&tui->grid);
	char text[80];

	snprintf(text, sizeof(text), "tftop needs %dx%d, not %dx%d%s", LAYOUT_LEAST_COLUMNS,
		 LAYOUT_LEAST_ROWS, tui->width, tui->height,
		 tui->live && (!live_session(tui->live) || live_phase(tui->live) >= LIVE_ENDING) ?
		 "" : "; collecting goes on");
	if (text_width(text) > tui->width)
		snprintf(text, sizeof(text), "needs %dx%d", LAYOUT_LEAST_COLUMNS,
			 LAYOUT_LEAST_ROWS);
	area_text(area, 0, 0, ROLE_WARN, 0, text);
	if (tui->height > 1)
		draw_bottom(tui, area_sub(area, 0, tui->height - 1, tui->width,
					  tui->prompt.open || tui->dialog ? 1 : 0));
}

void frame_draw(struct tui *tui)
{
	struct screen_layout *layout = &tui->layout;

	grid_clear(&tui->grid);
	hits_clear(&tui->hits);
	if (layout->too_small) {
		draw_too_small(tui);
	} else {
		draw_header(tui, part_area(tui, &layout->header));
		draw_pane(tui, tui->panes[0], &layout->timeline, !tui->focus_lower);
		draw_tabs(tui, part_area(tui, &layout->tabs));
		draw_pane(tui, tui->panes[tui->lower], &layout->lower, tui->focus_lower);
		if (tui->focus_lower && !tui->help.open)
			mark_found(tui, part_area(tui, &layout->lower));
		if (tui->help.open)
			help_draw(&tui->help,
				  area_sub(grid_area(&tui->grid), 0, layout->header.height,
					   tui->width,
					   tui->height - layout->header.height -
						   layout->bottom.height),
				  &tui->text_find);
		draw_bottom(tui, part_area(tui, &layout->bottom));
		if (tui->prompt.open && tui->prompt.boxed)
			prompt_draw_box(
				&tui->prompt,
				area_sub(grid_area(&tui->grid), 0, 0, tui->width, layout->bottom.y),
				tui->view.ascii);
	}
	if (tui->view.ascii)
		grid_to_ascii(&tui->grid);
}
