/* SPDX-License-Identifier: MIT */
/* Pane 7: the program's output, the latest at the bottom. Scrolled back, it does not move while
 * more output arrives. If the program asked for the mouse it gets its events, except those with
 * Shift or Alt held, and those while the pane is scrolled back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "probes/session/session.h"
#include "tui/draw/labels.h"
#include "tui/run/live.h"
#include "tui/terminal/output.h"
#include "tui/panes/pane_table.h"

#define MARGIN 1			/* columns at the left of the text */

struct output_pane {
	struct pane pane;
	bool back;			/* scrolled back: `top` stays unchanged */
	uint64_t top;	/* number of the first line in view, counted from the start of the output */
	int page;
	bool looked;			/* `found` is valid: a search found a line */
	uint64_t found;			/* number of that line, counted as for top */
	bool pressed;	/* PROGRAM got the press of a button and not yet its release */
};

static struct pane *output_open(struct view *view)
{
	struct output_pane *pane = xcalloc(1, sizeof(*pane));

	return &pane->pane;
}

static void output_close(struct pane *pane)
{
	free(pane);
}

static void output_update(struct pane *pane, struct view *view, int width, int height)
{
	((struct output_pane *)pane)->page = height;
}

/* Index of the first line on a page of `height` lines. */
static size_t top_line(struct output_pane *p, const struct program_output *output, int height)
{
	size_t count = output_count(output);
	size_t last = count > (size_t)height ? count - (size_t)height : 0;
	uint64_t first = output_first(output);
	uint64_t index;

	if (!p->back)
		return last;
	index = p->top > first ? p->top - first : 0;	/* the oldest lines may have been dropped */
	return index < last ? (size_t)index : last;
}

/* Why there is no output. */
static const char *output_none(const struct view *view)
{
	if (!view->live)
		return "no program runs here";
	if (!live_session(view->live))
		return live_phase(view->live) == LIVE_DONE ? "the recording has no output" :
							     "no output has been read yet";
	return live_phase(view->live) >= LIVE_ENDING ? "the program printed nothing" :
						       "the program has printed nothing yet";
}

static void output_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct output_pane *p = (struct output_pane *)pane;
	size_t count = output_count(view->output), top, i;
	char text[OUTPUT_LINE_MAX + 1];

	p->page = area.height;
	if (area.width < 2 || area.height < 1)
		return;
	if (!count) {
		area_text(area, 1, 0, ROLE_MUTED, 0, output_none(view));
		return;
	}
	top = top_line(p, view->output, area.height);
	for (i = 0; i < (size_t)area.height && top + i < count; i++) {
		label_fit(text, sizeof(text), output_line(view->output, top + i), area.width - 1,
			  view->ascii);
		area_text(area, MARGIN, (int)i, ROLE_DEFAULT, 0, text);
	}
	if (top + (size_t)area.height < count) {
		char below[64];

		snprintf(below, sizeof(below), " %zu more below ",
			 count - top - (size_t)area.height);
		area_right(area, area.width, area.height - 1, ROLE_ACCENT, 0, below);
	}
}

static unsigned scroll_by(struct output_pane *p, const struct program_output *output, int64_t lines)
{
	size_t count = output_count(output);
	size_t page = p->page > 0 ? (size_t)p->page : 1;
	size_t last = count > page ? count - page : 0;
	int64_t at = (int64_t)top_line(p, output, (int)page) + lines;

	at = at < 0 ? 0 : at;
	p->back = at < (int64_t)last;
	p->top = output_first(output) + (uint64_t)at;
	return OUT_REDRAW;
}

static unsigned output_command(struct pane *pane, struct view *view,
			       const struct command_call *call)
{
	struct output_pane *p = (struct output_pane *)pane;
	const char *name = call->argv[0];
	int64_t page = p->page > 1 ? p->page - 1 : 1;
	int64_t rows = call->argc > 1 ? atoi(call->argv[1]) : 1;

	if (strcmp(name, "row-down") == 0)
		return scroll_by(p, view->output, rows);
	if (strcmp(name, "row-up") == 0)
		return scroll_by(p, view->output, -rows);
	if (strcmp(name, "page-down") == 0)
		return scroll_by(p, view->output, page);
	if (strcmp(name, "page-up") == 0)
		return scroll_by(p, view->output, -page);
	if (strcmp(name, "first-row") == 0)
		return scroll_by(p, view->output, INT32_MIN);
	if (strcmp(name, "last-row") == 0)
		return scroll_by(p, view->output, INT32_MAX);
	return OUT_UNKNOWN;
}

static int within(int at, int least, int most)
{
	return at < least ? least : at > most ? most : at;
}

static unsigned output_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			     int width, int height)
{
	struct output_pane *p = (struct output_pane *)pane;
	bool press = mouse->what == MOUSE_PRESS || mouse->what == MOUSE_DOUBLE;
	bool rest = mouse->what == MOUSE_DRAG || mouse->what == MOUSE_RELEASE;
	struct mouse its = *mouse;
	char bytes[OUTPUT_MOUSE_MAX];
	size_t size;

	if (!view->live || !live_session(view->live) || live_phase(view->live) >= LIVE_ENDING)
		return OUT_UNKNOWN;
	if (rest ? !p->pressed : p->back || (mouse->mods & (MOD_SHIFT | MOD_ALT)))
		return OUT_UNKNOWN;
	its.x = within(mouse->x - MARGIN, 0, width - 1 - MARGIN);
	its.y = (int)top_line(p, view->output, height) + within(mouse->y, 0, height - 1);
	size = output_mouse_bytes(view->output, &its, (size_t)view->screen_rows, bytes);
	if (press || mouse->what == MOUSE_RELEASE)
		p->pressed = press && size;
	if (!size)
		return rest ? OUT_NONE : OUT_UNKNOWN;
	session_input(live_session(view->live), bytes, size);
	return OUT_NONE;
}

#define TAB_WIDTH 34

/* The width is constant, so that the tabs behind it do not move. */
static void output_tab(struct pane *pane, struct view *view, char *text, size_t size)
{
	const char *last = output_last(view->output);
	char line[LABEL_MAX];
	int width;

	if (!*last)
		return;
	label_fit(line, sizeof(line), last, TAB_WIDTH, view->ascii);
	width = text_width(line);
	snprintf(text, size, "7 output: %s%*s", line, TAB_WIDTH > width ? TAB_WIDTH - width : 0,
		 "");
}

/* There is no cursor; searching starts from the last match, else from the end. */
static size_t output_texts(struct pane *pane, const struct view *view, size_t *at)
{
	const struct output_pane *p = (struct output_pane *)pane;
	size_t count = output_count(view->output);
	uint64_t first = output_first(view->output);

	*at = p->looked && p->found >= first && p->found - first < count ?
		(size_t)(p->found - first) : count;
	return count;
}

static void output_text(struct pane *pane, const struct view *view, size_t line,
			struct strbuf *out)
{
	strbuf_adds(out, output_line(view->output, line));
}

/* Moves the line to the middle of the pane. */
static void output_go(struct pane *pane, const struct view *view, size_t line,
		const struct text_find *find)
{
	struct output_pane *p = (struct output_pane *)pane;
	size_t half = p->page > 0 ? (size_t)p->page / 2 : 0;

	p->looked = true;
	p->found = output_first(view->output) + line;
	scroll_by(p, view->output, INT32_MIN);
	scroll_by(p, view->output, line > half ? (int64_t)(line - half) : 0);
}

const struct pane_ops pane_output = {
	.name = "output",
	.key_table = "output",
	.open = output_open,
	.close = output_close,
	.update = output_update,
	.draw = output_draw,
	.command = output_command,
	.mouse = output_mouse,
	.texts = output_texts,
	.text = output_text,
	.go = output_go,
	.tab = output_tab,
};
