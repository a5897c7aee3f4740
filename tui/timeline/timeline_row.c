/* SPDX-License-Identifier: MIT */
#include "tui/timeline/timeline_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/labels.h"

/* ---- what is folded ---- */

void fold_set_release(struct fold_set *set)
{
	free(set->list);
	memset(set, 0, sizeof(*set));
}

static enum fold fold_get(const struct fold_set *set, uint32_t row)
{
	size_t i;

	for (i = 0; i < set->count; i++)
		if (set->list[i].row == row)
			return set->list[i].fold;
	return FOLD_DEFAULT;
}

void fold_put(struct fold_set *set, uint32_t row, enum fold fold)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		if (set->list[i].row != row)
			continue;
		set->list[i].fold = fold;
		return;
	}
	grow(&set->list, &set->cap, set->count, sizeof(*set->list));
	set->list[set->count].row = row;
	set->list[set->count++].fold = fold;
}

/* ---- lines ---- */

void line_list_release(struct line_list *list)
{
	free(list->lines);
	memset(list, 0, sizeof(*list));
}

static bool is_group(enum row_kind kind)
{
	return kind == ROW_PROCESS || kind == ROW_DEVICE || kind == ROW_POOL;
}

/* The threads of a pool are one line until the user opens it, and so are counters that belong
 * together, and very many devices: seeing all of them at once is worth more than seeing the queues
 * of the first ones. */
static bool is_shut(enum row_kind kind, enum fold fold, bool many_devices)
{
	if (fold == FOLD_DEFAULT)
		return kind == ROW_POOL || kind == ROW_COUNTER ||
		       (kind == ROW_DEVICE && many_devices);
	return (is_group(kind) || kind == ROW_COUNTER) && fold == FOLD_CLOSED;
}

static bool has_many_devices(const struct model_row *rows, size_t n)
{
	size_t devices = 0;

	for (size_t i = 0; i < n; i++)
		devices += rows[i].kind == ROW_DEVICE;
	return devices > DEVICES_OPEN;
}

bool row_worth_a_line(const struct model_row *row)
{
	if (is_group(row->kind))
		return true;
	if (row_is_counter(row->kind))
		return row->peak > 0;
	return row->count > 0 || row->looked_at;
}

static struct timeline_line *timeline_add_line(struct line_list *list,
						const struct model_row *row, uint32_t lane,
						int indent)
{
	struct timeline_line *line;

	grow(&list->lines, &list->cap, list->count, sizeof(*list->lines));
	line = &list->lines[list->count++];
	*line = (struct timeline_line){
		.row = row->id,
		.lane = lane,
		.parent = row->parent,
		.kind = row->kind,
		.direction = row->direction,
		.indent = indent,
		.first = true,
		.label = row->label ? row->label : "",
		.peak = row->peak,
		.base = row->base,
		.unit = row->unit,
	};
	return line;
}

/*
 * Adds the lines of one row. When folded, a thread shows its outermost ops and a queue shows
 * everything in one line; else each lane has a line. An open thread has one more, in which it is
 * seen what it did within its innermost ops. holds: a counter with others below it.
 */
static void timeline_add_row(struct line_list *list, const struct model_row *row, int indent,
			     enum fold fold, bool foremost, bool many_devices, bool holds)
{
	bool thread = row->kind == ROW_THREAD;
	bool lanes = (row->lanes > 1 || (row->looked_at && row->count)) && !is_group(row->kind) &&
		     !row_is_counter(row->kind);
	uint32_t shown = 1, lane;
	struct timeline_line *line;

	if (is_group(row->kind)) {
		line = timeline_add_line(list, row, LANE_ALL, indent);
		line->foldable = true;
		line->folded = is_shut(row->kind, fold, many_devices);
		return;
	}
	if (lanes && fold == FOLD_OPEN)
		shown = row->lanes + row->looked_at;
	else if (lanes && fold == FOLD_DEFAULT && thread && foremost)
		shown = row->lanes < LANES_DEFAULT ? row->lanes : LANES_DEFAULT;
	line = timeline_add_line(list, row, thread || shown > 1 ? 0 : LANE_ALL, indent);
	line->foldable = lanes || holds;
	line->folded = holds ? is_shut(row->kind, fold, many_devices) : shown == 1;
	for (lane = 1; lane < shown; lane++)
		timeline_add_line(list, row, lane, indent)->first = false;
}

void line_list_build(struct line_list *list, const struct model_row *rows, size_t n_rows,
		     size_t n_first, const struct fold_set *folds)
{
	struct { uint32_t id; bool hides; } stack[16];
	size_t depth = 0, i;
	uint32_t foremost_of = 0;
	bool many = has_many_devices(rows, n_rows);

	list->count = list->pinned = 0;
	for (i = 0; i < n_rows; i++) {
		const struct model_row *row = &rows[i];
		enum fold fold = fold_get(folds, row->id);
		bool hidden = false, foremost = false;
		bool holds = row->kind == ROW_COUNTER && i + 1 < n_rows &&
			     row[1].parent == row->id;
		size_t level;

		while (depth && stack[depth - 1].id != row->parent)
			depth--;
		for (level = 0; level < depth; level++)
			hidden = hidden || stack[level].hides;
		if (row->kind == ROW_THREAD && depth < 2 && row_worth_a_line(row) &&
		    row->parent != foremost_of) {
			foremost = true;	/* the busiest thread of a process comes first */
			foremost_of = row->parent;
		}
		if (!hidden && row_worth_a_line(row))
			timeline_add_row(list, row, (int)depth, fold, foremost, many,
					 holds);
		if (depth < sizeof(stack) / sizeof(stack[0])) {
			stack[depth].id = row->id;
			stack[depth++].hides = is_shut(row->kind, fold, many);
		}
		if (i < n_first)
			list->pinned = list->count;
	}
}

int64_t line_list_find(const struct line_list *list, uint32_t row, uint32_t lane)
{
	int64_t first = -1;
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (list->lines[i].row != row)
			continue;
		if (list->lines[i].lane == lane)
			return (int64_t)i;
		if (first < 0)
			first = (int64_t)i;
	}
	return first;
}

size_t line_list_home(const struct line_list *list)
{
	size_t i, thread = list->count;

	for (i = 0; i < list->count; i++) {
		if (list->lines[i].kind == ROW_QUEUE)
			return i;
		if (list->lines[i].kind == ROW_THREAD && thread == list->count)
			thread = i;
	}
	return thread < list->count ? thread : 0;
}

/* ---- labels ---- */

static const char *marker(const struct timeline_line *line, bool ascii)
{
	if (!line->foldable || !line->first)
		return " ";
	if (ascii)
		return line->folded ? "+" : "-";
	return line->folded ? "▸" : "▾";
}

/* Shortens "queue 0 (28153)" to "q0 (28153)": the process distinguishes it from the other queues 0
 * of the device. */
static void fit_queue(char *out, size_t size, const char *label, int width, bool ascii)
{
	char brief[LABEL_MAX];
	size_t length;

	if (text_width(label) > width && strncmp(label, "queue ", 6) == 0) {
		snprintf(brief, sizeof(brief), "q%s", label + 6);
		label = brief;
	}
	length = strlen(label);
	(length && label[length - 1] == ')' ? label_fit_middle : label_fit)(out, size, label,
										  width, ascii);
}

/* Whether several words fit: all of them, or the first and a part of the second. */
static bool has_words(const char *label, int width)
{
	size_t word = strcspn(label, " ");

	return label[word] && (text_width(label) <= width || (int)word + 4 <= width);
}

/* Shortens to "mklcpu rese…" or "a.very…counter". */
static void fit_counter(char *out, size_t size, const char *label, int width, bool ascii)
{
	(has_words(label, width) ? label_fit : label_fit_middle)(out, size, label, width, ascii);
}

/* Names of several words are not shortened for the value: the sentence shows it as well. */
static bool has_room(const struct timeline_line *line, int width)
{
	return width >= 4 && (line->kind != ROW_COUNTER || !strchr(line->label, ' ') ||
			      has_words(line->label, width - 1));
}

void line_label_draw(const struct timeline_line *line, const char *value, struct area area,
		     int y, bool current, bool ascii)
{
	bool group = is_group(line->kind);
	int x = 3, right = area.width - 1, width, at;
	char number[32] = "", text[LABEL_MAX];
	unsigned attr = group || current ? ATTR_BOLD : 0;

	if (area.width < 1)
		return;
	if (area.width < 10)
		x = 2;
	if (line->kind == ROW_COPY && !strstr(line->label, direction_name(line->direction)))
		snprintf(number, sizeof(number), "%s", direction_name(line->direction));
	if (!value)
		value = number;
	area_text(area, x - 2, y, ROLE_LABEL, attr, marker(line, ascii));
	if (line->first) {
		width = right - x;
		at = right - text_width(value);
		if (*value && has_room(line, at - x)) {
			area_text(area, at, y, ROLE_LABEL, 0, value);
			width = at - x - 1;
		}
		if (line->kind == ROW_QUEUE)
			fit_queue(text, sizeof(text), line->label, width, ascii);
		else if (line->kind == ROW_COUNTER)
			fit_counter(text, sizeof(text), line->label, width, ascii);
		else if (line->kind == ROW_POOL)
			label_fit_middle(text, sizeof(text), line->label, width, ascii);
		else
			(group ? label_fit_words : label_fit)(
				text, sizeof(text),
				line->kind == ROW_MEMORY && width < 6 ? "mem" : line->label, width,
				ascii);
		area_text(area, x, y, ROLE_LABEL, attr, text);
	}
	if (current)
		area_tint(area, 0, y, right, ROLE_SELECTED, 0);
	area_put(area, right, y, ascii ? '|' : 0x2502, ROLE_UNSETTLED, ROLE_DEFAULT, 0);
}
