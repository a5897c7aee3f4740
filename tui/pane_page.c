/* SPDX-License-Identifier: MIT */
#include "tui/pane_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/labels.h"

#define HISTORY_MAX 32
#define PATH_LEAST 24			/* of a path, when a line is too wide */

struct place {
	char *command;			/* owned */
	size_t top, cursor;
};

struct page_pane {
	struct pane pane;
	struct page page;
	struct place history[HISTORY_MAX];
	int at, n;			/* at: the one that is shown, n: of them */
	size_t top, cursor;		/* lines */
	size_t rows;			/* of the last draw */
};

static struct pane *page_open_pane(struct view *view)
{
	struct page_pane *p = xcalloc(1, sizeof(*p));

	(void)view;
	page_init(&p->page);
	return &p->pane;
}

static void page_close(struct pane *pane)
{
	struct page_pane *p = (struct page_pane *)pane;

	page_release(&p->page);
	for (int i = 0; i < p->n; i++)
		free(p->history[i].command);
	free(p);
}

/* ---- history ---- */

static void leave_place(struct page_pane *p)
{
	if (p->n) {
		p->history[p->at].top = p->top;
		p->history[p->at].cursor = p->cursor;
	}
}

static void add_place(struct page_pane *p, const char *command)
{
	while (p->n > p->at + 1)
		free(p->history[--p->n].command);
	if (p->n == HISTORY_MAX) {
		free(p->history[0].command);
		memmove(p->history, p->history + 1, sizeof(p->history[0]) * (HISTORY_MAX - 1));
		p->n--;
	}
	p->at = p->n++;
	p->history[p->at] = (struct place){ .command = xstrdup(command) };
}

void pane_page_take(struct pane *pane, struct page *page, const char *command, bool new_place)
{
	struct page_pane *p = (struct page_pane *)pane;

	if (new_place) {
		leave_place(p);
		add_place(p, command);
		p->history[p->at].top = page->show;
		p->history[p->at].cursor = page->show;
	}
	page_release(&p->page);
	p->page = *page;
	page_init(page);
	p->top = p->history[p->at].top;
	p->cursor = p->history[p->at].cursor;
}

const char *pane_page_go(struct pane *pane, int by)
{
	struct page_pane *p = (struct page_pane *)pane;

	if (p->at + by < 0 || p->at + by >= p->n)
		return NULL;
	leave_place(p);
	p->at += by;
	return p->history[p->at].command;
}

/* ---- drawing ---- */

static int line_width(const struct page *page, size_t line)
{
	int width = 0;

	for (size_t i = page->lines[line].first; i < page_line_end(page, line); i++)
		width += text_width(page_text(page, page->parts[i].text));
	return width;
}

/* What is too wide: links to files keep their ends, else the line's end is cut. */
static void draw_line(const struct page *page, size_t line, struct area area, int y, bool ascii)
{
	int x = 1, over = line_width(page, line) + x - area.width;
	char fitted[4 * LABEL_MAX];

	for (size_t i = page->lines[line].first; i < page_line_end(page, line); i++) {
		const struct page_part *part = &page->parts[i];
		const char *text = page_text(page, part->text);
		int width = text_width(text), least = width < PATH_LEAST ? width : PATH_LEAST;

		if (over > 0 && part->command && *text == '/') {
			least = width - over > least ? width - over : least;
			least = least < area.width - x ? least : area.width - x;
			over -= width - least;
			label_fit_end(fitted, sizeof(fitted), text, least, ascii);
			text = fitted;
		} else if (over > 0 && x + width > area.width) {
			label_fit(fitted, sizeof(fitted), text, area.width - x, ascii);
			text = fitted;
		}
		x = area_text(area, x, y, (enum role)part->role, part->attr, text);
	}
}

static void page_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct page_pane *p = (struct page_pane *)pane;
	size_t n = p->page.n_lines;
	char place[40];

	area_text(area, 1, 0, p->at > 0 ? ROLE_TITLE : ROLE_MUTED, 0, "◂");
	area_text(area, 3, 0, p->at + 1 < p->n ? ROLE_TITLE : ROLE_MUTED, 0, "▸");
	area_text(area, 6, 0, ROLE_COLUMN, 0, p->n ? p->history[p->at].command : "");
	p->rows = area.height > 1 ? (size_t)area.height - 1 : 1;
	if (p->cursor >= n)
		p->cursor = n ? n - 1 : 0;
	if (p->cursor < p->top)
		p->top = p->cursor;
	if (p->cursor >= p->top + p->rows)
		p->top = p->cursor - p->rows + 1;
	if (n > p->rows && p->top > n - p->rows)
		p->top = n - p->rows;
	if (n <= p->rows)
		p->top = 0;
	snprintf(place, sizeof(place), " %zu of %zu ", n ? p->cursor + 1 : 0, n);
	area_right(area, area.width, 0, ROLE_MUTED, 0, place);
	for (size_t row = 0; row < p->rows && p->top + row < n; row++) {
		draw_line(&p->page, p->top + row, area, (int)row + 1, view->ascii);
		if (focused && p->top + row == p->cursor)
			area_tint(area, 0, (int)row + 1, area.width, ROLE_SELECTED, 0);
	}
}

/* ---- commands ---- */

static void move(struct page_pane *p, bool down, size_t by)
{
	size_t last = p->page.n_lines ? p->page.n_lines - 1 : 0;

	if (down)
		p->cursor = last - p->cursor > by ? p->cursor + by : last;
	else
		p->cursor = p->cursor > by ? p->cursor - by : 0;
}

static unsigned page_command_run(struct pane *pane, struct view *view,
				 const struct command_call *call)
{
	struct page_pane *p = (struct page_pane *)pane;
	const char *name = call->argv[0];
	size_t by = call->argc > 1 && atoi(call->argv[1]) > 0 ? (size_t)atoi(call->argv[1]) : 1;
	size_t all = p->page.n_lines;

	if (!strcmp(name, "row-down") || !strcmp(name, "row-up")) {
		move(p, name[4] == 'd', by);
	} else if (!strcmp(name, "page-down") || !strcmp(name, "page-up")) {
		move(p, name[5] == 'd', p->rows > 1 ? p->rows - 1 : 1);
	} else if (!strcmp(name, "first-row") || !strcmp(name, "last-row")) {
		move(p, name[0] == 'l', all);
	} else if (!strcmp(name, "open") && p->cursor < all) {
		view->run_command = page_command(&p->page, p->cursor);
		if (view->run_command)
			return OUT_RUN_COMMAND;
		snprintf(view->status, sizeof(view->status), "nothing to open on this line");
		view->status_error = true;
	} else {
		return OUT_UNKNOWN;
	}
	return OUT_REDRAW;
}

const struct pane_ops pane_page = {
	.name = "page",
	.key_table = "table",
	.open = page_open_pane,
	.close = page_close,
	.draw = page_draw,
	.command = page_command_run,
};
