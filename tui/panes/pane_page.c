/* SPDX-License-Identifier: MIT */
#include "tui/panes/pane_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/labels.h"
#include "tui/draw/text_find.h"

#define HISTORY_MAX 100
#define TRAIL_MAX 12			/* most pages that the heading can name */
#define PATH_LEAST 24			/* least width of a path when a line is too wide */
/* the main link of the line; used until the user selects another one */
#define LINK_MAIN SIZE_MAX
#define INDENT 1			/* column of the cursor */

struct page_place {
	char *command, *title;		/* owned */
	/* owned; name of the pane in which the trail starts, NULL: the trail is continued */
	char *from;
	size_t top, cursor, link;
	int left;
};

struct page_pane {
	struct pane pane;
	struct page page;
	struct page_place history[HISTORY_MAX];
	int at, n;	/* at: index of the page that is shown, n: number of pages */
	size_t top, cursor;		/* line numbers */
	/* index of the selected link on the cursor's line, at most that of its last link;
	 * LINK_MAIN: the line's main link */
	size_t link;
	int left;			/* columns scrolled to the right */
	size_t rows;			/* height as last drawn */
	int width;
	bool ascii;
};

static struct pane *page_open_pane(struct view *view)
{
	struct page_pane *p = xcalloc(1, sizeof(*p));

	(void)view;
	page_init(&p->page);
	return &p->pane;
}

static void drop_place(struct page_place *place)
{
	free(place->command);
	free(place->title);
	free(place->from);
}

static void page_close(struct pane *pane)
{
	struct page_pane *p = (struct page_pane *)pane;

	page_release(&p->page);
	for (int i = 0; i < p->n; i++)
		drop_place(&p->history[i]);
	free(p);
}

/* ---- history ---- */

static void leave_place(struct page_pane *p)
{
	struct page_place *place = &p->history[p->at];

	if (!p->n)
		return;
	place->top = p->top;
	place->cursor = p->cursor;
	place->link = p->link;
	place->left = p->left;
}

static void enter_place(struct page_pane *p)
{
	const struct page_place *place = &p->history[p->at];

	p->top = place->top;
	p->cursor = place->cursor;
	p->link = place->link;
	p->left = place->left;
}

static void pane_page_add_place(struct page_pane *p, const char *command, const char *from)
{
	while (p->n > p->at + 1)
		drop_place(&p->history[--p->n]);
	if (p->n == HISTORY_MAX) {
		drop_place(&p->history[0]);
		memmove(p->history, p->history + 1, sizeof(p->history[0]) * (HISTORY_MAX - 1));
		p->n--;
	}
	p->at = p->n++;
	p->history[p->at] = (struct page_place){
		.command = xstrdup(command), .from = from ? xstrdup(from) : NULL,
	};
}

static void take(struct page_pane *p, struct page *page)
{
	struct page_place *place = &p->history[p->at];

	page_release(&p->page);
	p->page = *page;
	page_init(page);
	free(place->title);
	place->title = xstrdup(p->page.title ? page_text(&p->page, p->page.title) : place->command);
}

void pane_page_take(struct pane *pane, struct page *page, const char *command, const char *from)
{
	struct page_pane *p = (struct page_pane *)pane;
	bool again = p->n && !strcmp(p->history[p->at].command, command);

	leave_place(p);
	if (!again)
		pane_page_add_place(p, command, from);
	p->history[p->at].cursor = page->show;
	p->history[p->at].top = page->show > page->above ? page->show - page->above : 0;
	p->history[p->at].link = LINK_MAIN;
	p->history[p->at].left = 0;
	take(p, page);
	enter_place(p);
}

/* The line with a link to that command which is nearest to the cursor's line. */
static size_t line_with(const struct page *page, const char *command, size_t near, size_t *link)
{
	for (size_t away = 0; away <= page->n_lines; away++)
		for (int side = 0; side < 2; side++) {
			size_t line = side ? near + away : near - away, n;

			if ((!side && away > near) || line >= page->n_lines)
				continue;
			n = page_links(page, line);
			for (size_t k = 0; k < n; k++)
				if (!strcmp(page_command(page, line, k), command)) {
					*link = k;
					return line;
				}
		}
	return near;
}

static size_t link_of(const struct page_pane *p)
{
	size_t n = p->cursor < p->page.n_lines ? page_links(&p->page, p->cursor) : 0;

	if (n && p->link == LINK_MAIN)
		return page_main_link(&p->page, p->cursor);
	return p->link < n ? p->link : n ? n - 1 : 0;
}

void pane_page_refresh(struct pane *pane, struct page *page)
{
	struct page_pane *p = (struct page_pane *)pane;
	const char *command = p->cursor < p->page.n_lines ?
			      page_command(&p->page, p->cursor, link_of(p)) : NULL;
	char *kept = command ? xstrdup(command) : NULL;
	size_t was = p->cursor, line;

	take(p, page);
	if (!kept)
		return;
	line = line_with(&p->page, kept, p->cursor, &p->link);
	p->top = line > was ? p->top + (line - was) : p->top > was - line ? p->top - (was - line) :
		0;
	p->cursor = line;
	free(kept);
}

const char *pane_page_beside(const struct pane *pane, int by)
{
	const struct page_pane *p = (const struct page_pane *)pane;

	return p->at + by < 0 || p->at + by >= p->n ? NULL : p->history[p->at + by].command;
}

const char *pane_page_go(struct pane *pane, int by)
{
	struct page_pane *p = (struct page_pane *)pane;

	if (!pane_page_beside(pane, by))
		return NULL;
	leave_place(p);
	p->at += by;
	/* the page shown is another one, so nothing is looked up in it */
	page_release(&p->page);
	page_init(&p->page);
	enter_place(p);
	return p->history[p->at].command;
}

const char *pane_page_command(const struct pane *pane)
{
	const struct page_pane *p = (const struct page_pane *)pane;

	return p->n ? p->history[p->at].command : NULL;
}

const struct page *pane_page_shown(const struct pane *pane)
{
	return &((const struct page_pane *)pane)->page;
}

/* ---- drawing ---- */

/* A part of a line as it is drawn: its position and the visible text. */
struct drawn {
	const struct page_part *part;
	const char *text;
	int x, width;
	char fitted[4 * LABEL_MAX];
};

struct drawing {
	const struct page *page;
	size_t next, end;
	int x, over;	/* over: columns by which the line is too wide, 0 when scrolled */
	int width, left;
	bool ascii;
};

static struct drawing drawing_of(const struct page_pane *p, size_t line)
{
	return (struct drawing) {
		.page = &p->page, .next = p->page.lines[line].first,
		.end = page_line_end(&p->page, line), .x = INDENT - p->left,
		.over = p->left ? 0 : page_width(&p->page, line) + INDENT - p->width,
		.width = p->width, .left = p->left, .ascii = p->ascii,
	};
}

/* Draws the next part. If the line is too wide, links to files keep their ends; all else is cut at
 * the end of the line. */
static bool draw_next(struct drawing *d, struct drawn *out)
{
	int least;

	if (d->next >= d->end)
		return false;
	out->part = &d->page->parts[d->next++];
	out->text = page_text(d->page, out->part->text);
	out->width = text_width(out->text);
	out->x = d->x;
	least = out->width < PATH_LEAST ? out->width : PATH_LEAST;
	if (d->over > 0 && out->part->command && *out->text == '/') {
		least = out->width - d->over > least ? out->width - d->over : least;
		least = least < d->width - d->x ? least : d->width - d->x;
		d->over -= out->width - least;
		label_fit_end(out->fitted, sizeof(out->fitted), out->text, least, d->ascii);
		out->text = out->fitted;
	} else if (!d->left && d->over > 0 && d->x + out->width > d->width) {
		label_fit(out->fitted, sizeof(out->fitted), out->text, d->width - d->x, d->ascii);
		out->text = out->fitted;
	}
	out->width = text_width(out->text);
	d->x += out->width;
	return true;
}

static void draw_line(const struct page_pane *p, size_t line, struct area area, int y, bool focused)
{
	struct area text = area_sub(area, INDENT, 0, area.width - INDENT, area.height);
	struct drawing d = drawing_of(p, line);
	bool current = line == p->cursor, several = current && page_links(&p->page, line) > 1;
	size_t link = 0, wanted = link_of(p);
	struct drawn part;

	if (current)
		area_fill(area, 0, y, area.width, 1, ' ', ROLE_DEFAULT,
			  focused ? ROLE_SELECTED : ROLE_DEFAULT, 0);
	while (draw_next(&d, &part)) {
		area_text(text, part.x - INDENT, y, (enum role)part.part->role, part.part->attr,
			  part.text);
		if (current && focused && part.part->command && link++ == wanted)
			area_tint(text, part.x - INDENT, y, part.width, ROLE_CURSOR, ATTR_BOLD);
	}
	/* The current line is marked by more than its background. */
	if (current)
		area_text(area, 0, y, ROLE_CURSOR, focused ? ATTR_BOLD : 0,
			  p->ascii ? ">" : focused ? "▸" : "▹");
	if (!several || !focused)
		return;
	d = drawing_of(p, line);
	for (link = 0; draw_next(&d, &part);)
		if (part.part->command && link++ == wanted) {
			area_text(area, part.x - 1, y, ROLE_CURSOR, ATTR_BOLD, "[");
			area_text(area, part.x + part.width, y, ROLE_CURSOR, ATTR_BOLD, "]");
		}
}

/* Draws "ops › model/conv2d_1/Conv2D › kernel conv2d_fprop", shortened from the left. */
static void draw_trail(const struct page_pane *p, struct area area, int x, int width)
{
	const char *parts[TRAIL_MAX + 1], *sign = p->ascii ? " > " : " › ";
	char fitted[4 * LABEL_MAX];
	int n = 0, wide = 0, at;

	for (at = p->at; at >= 0 && n < TRAIL_MAX; at--) {
		parts[n++] = p->history[at].title;
		if (p->history[at].from) {
			parts[n++] = p->history[at].from;
			break;
		}
	}
	/* as many pages as there is room for, counted from the last; an ellipsis stands for the
	 * first one not shown */
	for (at = 0; at < n; at++) {
		int more = text_width(parts[at]) + (at ? 3 : 0);

		if (at && wide + more + (at + 1 < n ? 4 : 0) > width)
			break;
		wide += more;
	}
	if (at < n)
		x = area_text(area, x, 0, ROLE_MUTED, 0, p->ascii ? "..." : "…");
	if (at < n)
		x = area_text(area, x, 0, ROLE_MUTED, 0, sign);
	while (at--) {
		label_fit_middle(fitted, sizeof(fitted), parts[at], width, p->ascii);
		x = area_text(area, x, 0, at ? ROLE_MUTED : ROLE_COLUMN, 0, fitted);
		if (at)
			x = area_text(area, x, 0, ROLE_MUTED, 0, sign);
	}
}

static void pane_page_draw_heading(const struct page_pane *p, struct area area)
{
	char place[80] = "", *end = place + sizeof(place), *to = place;
	int x;

	if (p->left)
		to += snprintf(to, (size_t)(end - to), " from column %d ", p->left + 1);
	if (p->page.n_lines > p->rows)
		to += snprintf(to, (size_t)(end - to), " line %zu of %zu ", p->cursor + 1,
			       p->page.n_lines);
	if (p->n > 1)
		snprintf(to, (size_t)(end - to), " page %d of %d ", p->at + 1, p->n);
	area_text(area, 1, 0, p->at > 0 ? ROLE_TITLE : ROLE_MUTED, 0, "◂");
	area_text(area, 3, 0, p->at + 1 < p->n ? ROLE_TITLE : ROLE_MUTED, 0, "▸");
	x = area_right(area, area.width, 0, ROLE_MUTED, 0, place);
	draw_trail(p, area, 6, x - 7);
}

static void scroll_to_cursor(struct page_pane *p)
{
	size_t n = p->page.n_lines;

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
}

static void page_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct page_pane *p = (struct page_pane *)pane;

	p->rows = area.height > 1 ? (size_t)area.height - 1 : 1;
	p->width = area.width;
	p->ascii = view->ascii;
	scroll_to_cursor(p);
	pane_page_draw_heading(p, area);
	for (size_t row = 0; row < p->rows && p->top + row < p->page.n_lines; row++)
		draw_line(p, p->top + row, area, (int)row + 1, focused);
}

/* Finds the link at a cell of the pane's area as last drawn: its line and its index among the
 * line's links. Returns false if the cell has no link; *line is then the line of the cell (or the
 * last one). */
static bool page_hit(const struct pane *pane, int x, int y, size_t *line, size_t *link)
{
	const struct page_pane *p = (const struct page_pane *)pane;
	struct drawing d;
	struct drawn part;

	*line = p->top + (y > 1 ? (size_t)y - 1 : 0);
	*link = 0;
	if (*line >= p->page.n_lines) {
		*line = p->page.n_lines ? p->page.n_lines - 1 : 0;
		return false;
	}
	d = drawing_of(p, *line);
	while (y > 0 && draw_next(&d, &part)) {
		if (!part.part->command)
			continue;
		if (x >= part.x && x < part.x + part.width)
			return true;
		++*link;
	}
	*link = 0;
	return false;
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

/* After a move from a line on which the user selected a link. */
static void keep_column(struct page_pane *p, size_t from)
{
	size_t last = from < p->page.n_lines ? page_links(&p->page, from) : 0;
	int width;

	if (p->link != LINK_MAIN && last && from != p->cursor)
		p->link = page_link_near(&p->page, p->cursor,
					 page_link_begin(&p->page, from, p->link < last ? p->link :
							 last - 1, &width));
}

/* Scrolls sideways so that the selected link is in view. */
static void show_link(struct page_pane *p)
{
	int width, begin = page_link_begin(&p->page, p->cursor, link_of(p), &width);
	int room = p->width - INDENT;

	if (begin + width <= room)
		p->left = 0;
	else if (begin < p->left || width > room)
		p->left = begin;
	else if (begin + width > p->left + room)
		p->left = begin + width - room;
}

/* Moves to the next or previous link; beyond the end of a line, to other lines. */
static bool move_link(struct page_pane *p, bool forward)
{
	size_t n = p->page.n_lines, line = p->cursor, link = link_of(p);

	if (!n)
		return false;
	if (forward && link + 1 < page_links(&p->page, line)) {
		p->link = link + 1;
	} else if (!forward && link > 0) {
		p->link = link - 1;
	} else {
		do
			line += forward ? 1 : SIZE_MAX;
		while (line < n && !page_links(&p->page, line));
		if (line >= n)
			return false;
		p->cursor = line;
		p->link = forward ? 0 : page_links(&p->page, line) - 1;
	}
	show_link(p);
	return true;
}

static void scroll_sideways(struct page_pane *p, int by)
{
	int most = 0;

	for (size_t row = 0; row < p->rows && p->top + row < p->page.n_lines; row++) {
		int over = page_width(&p->page, p->top + row) + INDENT - p->width;

		most = over > most ? over : most;
	}
	p->left += by;
	p->left = p->left > most ? most : p->left;
	p->left = p->left < 0 ? 0 : p->left;
}

static unsigned say(struct view *view, const char *text)
{
	snprintf(view->status, sizeof(view->status), "%s", text);
	view->status_error = true;
	return OUT_REDRAW;
}

static unsigned open_link(struct page_pane *p, struct view *view)
{
	view->run_command = p->cursor < p->page.n_lines ?
			    page_command(&p->page, p->cursor, link_of(p)) : NULL;
	return view->run_command ? OUT_RUN_COMMAND : say(view, "nothing to open on this line");
}

/* A press selects and runs the link under it; in the heading it goes back or forward. The wheel
 * scrolls, and the cursor stays in view. */
static unsigned page_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			   int width, int height)
{
	struct page_pane *p = (struct page_pane *)pane;
	size_t line, link;
	bool hit;

	if (mouse->what == MOUSE_WHEEL_LEFT || mouse->what == MOUSE_WHEEL_RIGHT) {
		scroll_sideways(p, mouse->what == MOUSE_WHEEL_LEFT ? -p->width / 4 : p->width / 4);
		return OUT_REDRAW;
	}
	if (mouse->what != MOUSE_PRESS || mouse->button != 1 ||
	    !mouse_inside(mouse, width, height))
		return mouse_is_wheel(mouse) ? OUT_UNKNOWN : OUT_NONE;
	if (!mouse->y) {
		view->run_command = mouse->x < 2 ? "back" : mouse->x < 4 ? "forward" : NULL;
		return view->run_command ? OUT_RUN_COMMAND : OUT_REDRAW;
	}
	hit = page_hit(pane, mouse->x, mouse->y, &line, &link);
	p->cursor = line;
	p->link = hit ? link : LINK_MAIN;
	return hit ? open_link(p, view) : OUT_REDRAW;
}

static unsigned page_command_run(struct pane *pane, struct view *view,
				 const struct command_call *call)
{
	struct page_pane *p = (struct page_pane *)pane;
	const char *name = call->argv[0];
	int number = call->argc > 1 ? atoi(call->argv[1]) : 0;
	size_t by = number > 0 ? (size_t)number : 1, all = p->page.n_lines, from;

	if (p->cursor >= all)		/* the page has fewer lines than it had */
		p->cursor = all ? all - 1 : 0;
	from = p->cursor;
	if (!strcmp(name, "row-down") || !strcmp(name, "row-up")) {
		move(p, name[4] == 'd', by);
		keep_column(p, from);
	} else if (!strcmp(name, "page-down") || !strcmp(name, "page-up")) {
		move(p, name[5] == 'd', p->rows > 1 ? p->rows - 1 : 1);
	} else if (!strcmp(name, "first-row") || !strcmp(name, "last-row")) {
		move(p, name[0] == 'l', all);
	} else if (!strcmp(name, "next-link") || !strcmp(name, "prev-link")) {
		if (!move_link(p, name[0] == 'n'))
			return say(view, name[0] == 'n' ? "no link after this one" :
							  "no link before this one");
	} else if (!strcmp(name, "scroll-right") || !strcmp(name, "scroll-left")) {
		by = number > 0 ? by : (size_t)p->width / 2;
		scroll_sideways(p, name[7] == 'r' ? (int)by : -(int)by);
	} else if (!strcmp(name, "open") || !strcmp(name, "about")) {
		return open_link(p, view);
	} else {
		return OUT_UNKNOWN;
	}
	return OUT_REDRAW;
}

static size_t page_texts(struct pane *pane, const struct view *view, size_t *at)
{
	*at = ((struct page_pane *)pane)->cursor;
	return ((struct page_pane *)pane)->page.n_lines;
}

static void page_text_of(struct pane *pane, const struct view *view, size_t line,
			 struct strbuf *out)
{
	const struct page *page = &((struct page_pane *)pane)->page;

	for (size_t i = page->lines[line].first; i < page_line_end(page, line); i++)
		strbuf_adds(out, page_text(page, page->parts[i].text));
}

/* Selects the line, and on it the first link that matches. */
static void page_go(struct pane *pane, const struct view *view, size_t line,
		    const struct text_find *find)
{
	struct page_pane *p = (struct page_pane *)pane;
	size_t link = 0;

	p->cursor = line;
	p->link = LINK_MAIN;
	for (size_t i = p->page.lines[line].first; i < page_line_end(&p->page, line); i++)
		if (p->page.parts[i].command && p->link == LINK_MAIN && ++link &&
		    text_find_in(find, page_text(&p->page, p->page.parts[i].text)))
			p->link = link - 1;
}

const struct pane_ops pane_page = {
	.name = "page",
	.key_table = "page",
	.open = page_open_pane,
	.close = page_close,
	.draw = page_draw,
	.command = page_command_run,
	.texts = page_texts,
	.text = page_text_of,
	.go = page_go,
	.mouse = page_mouse,
};
