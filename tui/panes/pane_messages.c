/* SPDX-License-Identifier: MIT */
/* Pane 8: tftop's messages, the latest at the bottom. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/labels.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/draw/ruler.h"
#include "tui/table/where.h"

struct messages_pane {
	struct pane pane;
	struct message_row *rows;	/* owned; the messages that are shown */
	size_t count, all;
	struct filter *where;		/* owned; NULL: all are shown */
	int64_t base_ns;
	size_t back;			/* lines scrolled back from the end */
	size_t lines;			/* number of all lines as last drawn */
	int page, width;		/* width of the texts as last drawn */
	size_t found;			/* message that a search found */
};

static struct pane *messages_open(struct view *view)
{
	struct messages_pane *pane = xcalloc(1, sizeof(*pane));

	pane->width = 1;
	pane->found = SIZE_MAX;
	return &pane->pane;
}

static void messages_close(struct pane *pane)
{
	struct messages_pane *messages = (struct messages_pane *)pane;

	filter_free(messages->where);
	free(messages->rows);
	free(messages);
}

static enum filter_known field(const void *arg, enum filter_field by, struct filter_value *value)
{
	static const char *const levels[] = { "note", "warning", "error" };
	const struct message_row *row = arg;
	int level = row->level < 0 ? 0 : row->level > 2 ? 2 : row->level;

	switch (by) {
	case FILTER_BY_NAME:
	case FILTER_BY_TEXT: return filter_words(value, row->text, NULL);
	case FILTER_BY_LEVEL: return filter_words(value, levels[level], NULL);
	default: return FILTER_UNKNOWN;
	}
}

static bool is_known(const void *arg, enum filter_field by)
{
	return by == FILTER_BY_NAME || by == FILTER_BY_TEXT || by == FILTER_BY_LEVEL;
}

static void messages_update(struct pane *pane, struct view *view, int width, int height)
{
	struct messages_pane *p = (struct messages_pane *)pane;
	struct model_status status;

	model_status(view->model, &status);
	p->base_ns = places_base_ns(&status);
	free(p->rows);
	p->rows = NULL;
	p->all = model_messages(view->model, &p->rows);
	p->count = 0;
	for (size_t i = 0; i < p->all; i++)
		if (filter_match(p->where, field, &p->rows[i]))
			p->rows[p->count++] = p->rows[i];
}

#define INDENT 16

static size_t lines_of(const char *text, int width)
{
	size_t lines = 0;

	do {
		const char *next;

		text_break(text, width, &next);
		lines++;
		if (next == text)
			break;
		text = next;
	} while (*text);
	return lines;
}

static void draw_message(const struct messages_pane *p, const struct message_row *row,
			 const struct view *view, struct area area, int64_t y, int indent)
{
	static const enum role roles[] = { ROLE_DEFAULT, ROLE_WARN, ROLE_BAD };
	static const char *const marks[] = { " ", "!", "!" };
	int level = row->level < 0 ? 0 : row->level > 2 ? 2 : row->level;
	const char *text = row->text ? row->text : "";
	int width = area.width - indent;
	char line[1024], time[40];

	if (indent == INDENT && y >= 0 && y < area.height) {
		time[0] = '\0';
		if (row->time_ns > 0 && p->base_ns > 0 && row->time_ns >= p->base_ns)
			ruler_time(time, sizeof(time), row->time_ns - p->base_ns, 1000000);
		area_right(area, INDENT - 4, (int)y, ROLE_MUTED, 0, time);
	}
	if (y >= 0 && y < area.height)
		area_text(area, indent - 2, (int)y, roles[level], ATTR_BOLD, marks[level]);
	do {
		const char *next;
		size_t bytes = text_break(text, width > 0 ? width : 1, &next);

		if (bytes >= sizeof(line))
			bytes = sizeof(line) - 1;
		memcpy(line, text, bytes);
		line[bytes] = '\0';
		if (y >= 0 && y < area.height)
			area_text(area, indent, (int)y, roles[level], 0, line);
		y++;
		if (next == text)
			break;
		text = next;
	} while (*text);
}

static void messages_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct messages_pane *p = (struct messages_pane *)pane;
	int indent = area.width >= 60 ? INDENT : 2;
	int width = area.width - indent > 0 ? area.width - indent : 1;
	char none[192];
	size_t i, most;
	int64_t y;

	area = where_draw(p->where, p->count, p->all, area, view->ascii);
	p->page = area.height;
	p->width = width;
	if (!p->count) {
		if (p->all)
			where_say_none(p->where, is_known, p, none, sizeof(none));
		area_text(area, 1, 0, ROLE_MUTED, 0,
			  p->all ? none : "no messages: tftop itself had no trouble");
		return;
	}
	p->lines = 0;
	for (i = 0; i < p->count; i++)
		p->lines += lines_of(p->rows[i].text ? p->rows[i].text : "", width);
	most = p->lines > (size_t)area.height ? p->lines - (size_t)area.height : 0;
	if (p->back > most)
		p->back = most;
	y = -(int64_t)(most - p->back);
	for (i = 0; i < p->count; i++) {
		draw_message(p, &p->rows[i], view, area, y, indent);
		y += (int64_t)lines_of(p->rows[i].text ? p->rows[i].text : "", width);
	}
}

static unsigned messages_command(struct pane *pane, struct view *view,
				 const struct command_call *call)
{
	struct messages_pane *p = (struct messages_pane *)pane;
	const char *name = call->argv[0];
	size_t page = p->page > 1 ? (size_t)p->page - 1 : 1;
	size_t rows = call->argc > 1 && atoi(call->argv[1]) > 0 ? (size_t)atoi(call->argv[1]) : 1;

	if (strcmp(name, "where") == 0) {
		if (where_take(&p->where, view, call)) {
			model_lock(view->model);
			messages_update(pane, view, 0, 0);
			model_unlock(view->model);
		}
		return OUT_REDRAW;
	}
	if (strcmp(name, "page-down") == 0 || strcmp(name, "page-up") == 0)
		rows = page;
	if (strcmp(name, "row-up") == 0 || strcmp(name, "page-up") == 0)
		p->back += rows;
	else if (strcmp(name, "row-down") == 0 || strcmp(name, "page-down") == 0)
		p->back = p->back > rows ? p->back - rows : 0;
	else if (strcmp(name, "first-row") == 0)
		p->back = p->lines;
	else if (strcmp(name, "last-row") == 0)
		p->back = 0;
	else
		return OUT_UNKNOWN;
	return OUT_REDRAW;
}

/* "8 messages 2!": the number of warnings among them follows. */
static void messages_tab(struct pane *pane, struct view *view, char *text, size_t size)
{
	if (view->warnings)
		snprintf(text, size, "8 messages %zu!", view->warnings);
	else
		snprintf(text, size, "8 messages");
}

/* There is no cursor; searching starts from the last match, else from the end. */
static size_t messages_texts(struct pane *pane, const struct view *view, size_t *at)
{
	const struct messages_pane *p = (struct messages_pane *)pane;

	*at = p->found < p->count ? p->found : p->count;
	return p->count;
}

static void messages_text(struct pane *pane, const struct view *view, size_t line,
			  struct strbuf *out)
{
	const char *text = ((struct messages_pane *)pane)->rows[line].text;

	strbuf_adds(out, text ? text : "");
}

/* Scrolls so far back that the message is the last one in view; to the first page if all are in
 * view there. */
static void messages_go(struct pane *pane, const struct view *view, size_t line,
			const struct text_find *find)
{
	struct messages_pane *p = (struct messages_pane *)pane;

	p->found = line;
	p->back = 0;
	for (size_t i = line + 1; i < p->count; i++)
		p->back += lines_of(p->rows[i].text ? p->rows[i].text : "", p->width);
}

const struct pane_ops pane_messages = {
	.name = "messages",
	.key_table = "table",
	.open = messages_open,
	.close = messages_close,
	.update = messages_update,
	.draw = messages_draw,
	.command = messages_command,
	.texts = messages_texts,
	.text = messages_text,
	.go = messages_go,
	.tab = messages_tab,
};
