/* SPDX-License-Identifier: MIT */
/*
 * Pane 6: the findings of the analyses, what they cost, and what would help. Each finding takes a
 * few lines; the cursor is on one of them and stays with it when the order changes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/draw/labels.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"
#include "tui/table/where.h"

#define INDENT 3			/* column of a title, behind its mark */
#define MORE_INDENT 7			/* column of the lines below the title */
#define RIGHT_GAP 3
#define RIGHT_LEAST 70			/* width from which on the costs are at the right */
#define BLOCK_LINES (FINDING_LINES + 2)

struct findings_pane {
	struct pane pane;
	struct findings_status status;
	struct finding *list;	/* owned; all findings, of which the first `count` are shown */
	size_t count, all;
	struct filter *where;		/* owned; NULL: all are shown */
	int64_t base_ns;
	bool taken;			/* updated at least once */
	enum findings_order { BY_WORTH, BY_COST, BY_TITLE, FINDINGS_ORDERS } order;
	bool reverse, unsorted;		/* unsorted: another order was requested */
	size_t cursor;
	int top, page;			/* lines: first one on the screen, number on the screen */
};

static struct pane *findings_open(struct view *view)
{
	struct findings_pane *pane = xcalloc(1, sizeof(*pane));

	return &pane->pane;
}

static void findings_close(struct pane *pane)
{
	struct findings_pane *p = (struct findings_pane *)pane;

	filter_free(p->where);
	free(p->list);
	free(p);
}

/* Index of the finding under the cursor after an update; it may have disappeared. */
static size_t cursor_after(const struct findings_pane *p, const struct finding *list, size_t count)
{
	const struct finding *old = p->cursor < p->count ? &p->list[p->cursor] : NULL;
	size_t i;

	/* While the cursor is on the first finding, it stays on the first line. */
	for (i = 0; old && p->cursor && i < count; i++)
		if (list[i].subject == old->subject && strcmp(list[i].id, old->id) == 0)
			return i;
	return count && p->cursor >= count ? count - 1 : p->cursor;
}

static const char *const order_names[FINDINGS_ORDERS] = { "worth", "cost", "title" };

static int compare_findings(const void *a, const void *b, void *arg)
{
	const struct findings_pane *p = arg;
	const struct finding *left = a, *right = b;
	int result = p->order == BY_COST ? columns_compare_i64(right->cost_ns, left->cost_ns) :
					   strcmp(left->title, right->title);

	if (!result)
		result = strcmp(left->id, right->id);
	if (!result)
		result = columns_compare_u64(left->subject, right->subject);
	return p->reverse ? -result : result;
}

/* Sorts in the model's order (warnings first, then by cost), or as the user requested. */
static void sort_findings(struct findings_pane *p, struct finding *list, size_t count)
{
	if (p->order != BY_WORTH && count) {
		qsort_r(list, count, sizeof(*list), compare_findings, p);
		return;
	}
	for (size_t i = 0; p->reverse && i < count / 2; i++) {
		struct finding other = list[i];

		list[i] = list[count - 1 - i];
		list[count - 1 - i] = other;
	}
}

/* ---- where ---- */

static enum filter_known field(const void *arg, enum filter_field by, struct filter_value *value)
{
	const struct finding *finding = arg;

	switch (by) {
	case FILTER_BY_NAME: return filter_words(value, finding->title, finding->id);
	case FILTER_BY_ID: return filter_words(value, finding->id, NULL);
	case FILTER_BY_LEVEL: return filter_words(value, severity_name(finding->severity), NULL);
	case FILTER_BY_COST: return filter_number(value, finding->cost_ns);
	default: return FILTER_UNKNOWN;
	}
}

/* Moves the findings that match to the front, in the same order; returns their number. */
static size_t findings_choose_rows(const struct findings_pane *p, struct finding *list, size_t all)
{
	size_t kept = 0;

	for (size_t i = 0; i < all; i++) {
		struct finding one = list[i];

		if (!filter_match(p->where, field, &one))
			continue;
		memmove(&list[kept + 1], &list[kept], (i - kept) * sizeof(*list));
		list[kept++] = one;
	}
	return kept;
}

static bool is_known(const void *arg, enum filter_field by)
{
	const struct findings_pane *p = arg;
	struct filter_value value = { .number = 0 };

	return p->all && field(&p->list[0], by, &value) != FILTER_UNKNOWN;
}

static void findings_update(struct pane *pane, struct view *view, int width, int height)
{
	struct findings_pane *p = (struct findings_pane *)pane;
	struct findings_status status;
	struct finding *list = NULL;
	struct model_status run;
	size_t all, count;

	model_status(view->model, &run);
	p->base_ns = places_base_ns(&run);
	model_findings(view->model, &status, NULL);
	if (p->taken && status.revision == p->status.revision && !p->unsorted) {
		p->status = status;
		return;
	}
	all = model_findings(view->model, &p->status, &list);
	sort_findings(p, list, all);
	count = findings_choose_rows(p, list, all);
	p->cursor = cursor_after(p, list, count);
	free(p->list);
	p->list = list;
	p->count = count;
	p->all = all;
	p->taken = true;
	p->unsorted = false;
}

/* ---- drawing ---- */

/* Draws a text over as many lines as it needs; returns their number. draw: draws the part that is
 * inside of the area. */
static int findings_draw_paragraph(const struct findings_pane *p, struct area area, bool draw,
				   int y, int x, int right, enum role role, unsigned attr,
				   const char *text)
{
	int width = area.width - x - right, lines = 0;

	if (width < 1)
		width = 1;
	while (*text) {
		const char *next;
		size_t bytes = text_break(text, width, &next);
		char line[FINDING_TEXT];

		if (next == text)
			break;
		snprintf(line, sizeof(line), "%.*s", (int)bytes, text);
		if (draw && y + lines - p->top >= 0 && y + lines - p->top < p->page)
			area_text(area, x, 1 + y + lines - p->top, role, attr, line);
		text = next;
		lines++;
	}
	return lines;
}

static void right_text(const struct findings_pane *p, struct area area, int y, enum role role,
		       const char *text)
{
	if (y - p->top >= 0 && y - p->top < p->page)
		area_right(area, area.width - 1, 1 + y - p->top, role, 0, text);
}

/* Draws one finding from line y on; returns the number of its lines. */
static int findings_draw_block(const struct findings_pane *p, const struct view *view,
			       struct area area, bool draw, int y, size_t i, bool focused)
{
	const struct finding *f = &p->list[i];
	bool warning = f->severity == SEVERITY_WARNING, current = i == p->cursor;
	bool beside = area.width >= RIGHT_LEAST;
	char cost[FMT_MAX], text[FINDING_TEXT + FMT_MAX + 16];
	enum role role = warning ? ROLE_ACCENT : ROLE_DEFAULT;
	int lines, right, k;

	snprintf(text, sizeof(text), "costs %s%s", fmt_time(cost, f->cost_ns),
		 p->status.step_ns ? "" : " a second");
	right = beside ? text_width(text) + RIGHT_GAP : 1;
	if (draw && current && y - p->top >= 0 && y - p->top < p->page) {
		area_fill(area, 0, 1 + y - p->top, area.width, 1, ' ', ROLE_DEFAULT, ROLE_SELECTED,
			  0);
		area_text(area, 0, 1 + y - p->top, ROLE_CURSOR, focused ? ATTR_BOLD : 0,
			  view->ascii ? ">" : focused ? "▸" : "▹");
	}
	findings_draw_paragraph(p, area, draw, y, 1, 0, role, ATTR_BOLD, warning ? "!" : "·");
	if (draw && beside && f->cost_ns)
		right_text(p, area, y, warning ? ROLE_ACCENT : ROLE_DEFAULT, text);
	lines = findings_draw_paragraph(p, area, draw, y, INDENT, right, ROLE_DEFAULT, ATTR_BOLD,
					f->title);
	if (!lines)
		lines = 1;
	if (!beside && f->cost_ns)
		lines += findings_draw_paragraph(p, area, draw, y + lines, MORE_INDENT, 1, role, 0,
						 text);
	if (draw && beside && f->evidence.kind != EVIDENCE_NONE)
		right_text(p, area, y + lines, ROLE_MUTED, "→ show");
	right = beside ? 9 + RIGHT_GAP : 1;
	for (k = 0; k < FINDING_LINES; k++)
		lines += findings_draw_paragraph(p, area, draw, y + lines, MORE_INDENT, right,
						 ROLE_DEFAULT, 0, f->lines[k]);
	lines += findings_draw_paragraph(p, area, draw, y + lines, MORE_INDENT, right, ROLE_MUTED,
					 0, f->advice);
	if (beside && f->evidence.kind != EVIDENCE_NONE && lines < 2)
		lines = 2;
	return lines;
}

static void findings_draw_heading(const struct findings_pane *p, struct area area)
{
	char text[160], time[FMT_MAX], steps[FMT_MAX], more[48] = "", count[48] = "";
	int64_t to_ns = p->status.settled_ns - p->base_ns;
	int end = area_text(area, 1, 0, ROLE_COLUMN, 0, "findings");

	if (p->order != BY_WORTH || p->reverse)
		end = area_printf(area, end + 1, 0, ROLE_MUTED, 0, "by %s%s", order_names[p->order],
				  p->reverse ? ", reversed" : "");
	if (!p->taken || p->status.settled_ns == INT64_MIN || !p->base_ns)
		return;
	if (p->status.more)
		snprintf(more, sizeof(more), "%zu more cost less   ", p->status.more);
	if (p->status.steps)
		snprintf(count, sizeof(count), ", %s",
			 fmt_many(steps, p->status.steps, step_noun(p->status.passes)));
	snprintf(text, sizeof(text), "%s%s %s%s", more,
		 p->status.final ? "final at" : "settled up to",
		 fmt_time(time, to_ns > 0 ? to_ns : 0), count);
	if (end + 2 + text_width(text) < area.width)
		area_right(area, area.width - 1, 0, ROLE_MUTED, 0, text);
}

static void draw_none(const struct findings_pane *p, struct area area)
{
	char none[192];

	area.height = area.height > 1 ? area.height - 1 : area.height;
	if (p->all)
		where_say_none(p->where, is_known, p, none, sizeof(none));
	area_text(area, 1, 1, ROLE_MUTED, 0, p->all ? none :
		  !p->status.steps && !p->status.final ?
		  "nothing found yet: some steps must have settled first" :
		  "nothing found that costs enough to be reported");
}

static void findings_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct findings_pane *p = (struct findings_pane *)pane;
	int y = 0, begin = 0, end = 0;
	size_t i;

	area = where_draw(p->where, p->count, p->all, area, view->ascii);
	findings_draw_heading(p, area);
	p->page = area.height > 1 ? area.height - 1 : 0;
	if (!p->count) {
		draw_none(p, area);
		return;
	}
	for (i = 0; i < p->count; i++) {
		if (i == p->cursor)
			begin = y;
		y += findings_draw_block(p, view, area, false, y, i, focused);
		if (i == p->cursor)
			end = y;
	}
	/* The finding under the cursor is in view, at least its title. */
	if (p->top + p->page < end)
		p->top = end - p->page;
	if (p->top > y - p->page)
		p->top = y > p->page ? y - p->page : 0;
	if (p->top > begin)
		p->top = begin;
	for (y = 0, i = 0; i < p->count; i++)
		y += findings_draw_block(p, view, area, true, y, i, focused);
}

/* ---- commands ---- */

/* Shows the evidence: the time on the timeline or the row of a table. */
static unsigned findings_show(struct view *view, const struct finding *finding)
{
	static const char *const panes[EVIDENCE_KIND_COUNT] = {
		[EVIDENCE_OP] = "ops", [EVIDENCE_KERNEL] = "kernels", [EVIDENCE_COPIES] = "copies",
		[EVIDENCE_STEPS] = "steps", [EVIDENCE_MEMORY] = "memory",
		[EVIDENCE_HOST] = "host",
	};
	const struct evidence *evidence = &finding->evidence;
	unsigned outcome = OUT_REDRAW;

	if (evidence->t0 && evidence->t0 <= evidence->t1) {
		view->range_t0_ns = evidence->t0;
		view->range_t1_ns = evidence->t1;
		view->cursor_ns = evidence->t0;
		view->selected = (struct span_ref){0};
		if (evidence->row) {
			view->cursor_row = evidence->row;
			view->cursor_lane = LANE_ALL;
		}
		outcome |= OUT_FREEZE |
			   (evidence->t0 < evidence->t1 ? OUT_SHOW_RANGE : OUT_SHOW_CURSOR);
	}
	if (panes[evidence->kind]) {
		view->show_pane = panes[evidence->kind];
		view->show_key = evidence->key;
		return outcome | OUT_SHOW_PANE;
	}
	if (outcome != OUT_REDRAW)
		return outcome | OUT_FOCUS_TIMELINE;
	snprintf(view->status, sizeof(view->status),
		 "this finding has no single place on the timeline; see its numbers");
	view->status_error = true;
	return OUT_REDRAW;
}

static unsigned about(struct view *view, const struct finding *finding)
{
	char id[FINDING_ID + 12];

	snprintf(id, sizeof(id), "%s:%" PRIu32, finding->id, finding->subject);
	return places_about(view, "finding", id);
}

/* Sorts or selects the findings anew. */
static void show_again(struct findings_pane *p, struct view *view)
{
	p->unsorted = true;
	model_lock(view->model);
	findings_update(&p->pane, view, 0, 0);
	model_unlock(view->model);
}

/* Implements sort worth|cost|title, next-sort, prev-sort, reverse. */
static unsigned findings_sort_command(struct findings_pane *p, struct view *view,
				      const struct command_call *call)
{
	const char *name = call->argv[0];
	int order = (int)p->order;

	if (strcmp(name, "reverse") == 0) {
		p->reverse = !p->reverse;
	} else if (strcmp(name, "sort") != 0) {
		order += strcmp(name, "next-sort") ? FINDINGS_ORDERS - 1 : 1;
		order %= FINDINGS_ORDERS;
		p->reverse = false;
	} else {
		for (order = 0; order < FINDINGS_ORDERS; order++)
			if (call->argc > 1 && !strcmp(order_names[order], call->argv[1]))
				break;
		if (order == FINDINGS_ORDERS) {
			snprintf(view->status, sizeof(view->status),
				 "findings are not sorted by '%.40s'; there are: worth cost title",
				 call->argc > 1 ? call->argv[1] : "");
			view->status_error = true;
			return OUT_REDRAW;
		}
		p->reverse = false;
	}
	p->order = (enum findings_order)order;
	show_again(p, view);
	return OUT_REDRAW;
}

static unsigned findings_command(struct pane *pane, struct view *view,
				 const struct command_call *call)
{
	struct findings_pane *p = (struct findings_pane *)pane;
	const char *name = call->argv[0];
	int64_t by = call->argc > 1 && atoi(call->argv[1]) > 0 ? atoi(call->argv[1]) : 1;
	int64_t at = (int64_t)p->cursor, last = (int64_t)p->count - 1;

	if (!strcmp(name, "sort") || strstr(name, "-sort") || !strcmp(name, "reverse"))
		return findings_sort_command(p, view, call);
	if (strcmp(name, "where") == 0) {
		if (where_take(&p->where, view, call))
			show_again(p, view);
		return OUT_REDRAW;
	}
	if (strcmp(name, "open") == 0)
		return p->count ? findings_show(view, &p->list[p->cursor]) : OUT_NONE;
	if (strcmp(name, "about") == 0)
		return p->count ? about(view, &p->list[p->cursor]) : OUT_NONE;
	if (strcmp(name, "row-down") == 0)
		at += by;
	else if (strcmp(name, "row-up") == 0)
		at -= by;
	else if (strcmp(name, "page-down") == 0)
		at += p->page / BLOCK_LINES > 1 ? p->page / BLOCK_LINES : 1;
	else if (strcmp(name, "page-up") == 0)
		at -= p->page / BLOCK_LINES > 1 ? p->page / BLOCK_LINES : 1;
	else if (strcmp(name, "first-row") == 0)
		at = 0;
	else if (strcmp(name, "last-row") == 0)
		at = last;
	else
		return OUT_UNKNOWN;
	at = at > last ? last : at;
	p->cursor = at < 0 ? 0 : (size_t)at;
	return OUT_REDRAW;
}

/* "6 findings 3!": the number of warnings follows. */
static void findings_tab(struct pane *pane, struct view *view, char *text, size_t size)
{
	size_t all = view->findings.count + view->findings.more;

	if (all)
		snprintf(text, size, "6 findings %zu%s", all, view->findings.warnings ? "!" : "");
	else
		snprintf(text, size, "6 findings");
}

static size_t findings_texts(struct pane *pane, const struct view *view, size_t *at)
{
	*at = ((struct findings_pane *)pane)->cursor;
	return ((struct findings_pane *)pane)->count;
}

static void findings_text(struct pane *pane, const struct view *view, size_t line,
			  struct strbuf *out)
{
	const struct finding *finding = &((struct findings_pane *)pane)->list[line];

	strbuf_addf(out, "%s %s", finding->id, finding->title);
	for (int i = 0; i < FINDING_LINES; i++)
		strbuf_addf(out, " %s", finding->lines[i]);
}

static void findings_go(struct pane *pane, const struct view *view, size_t line,
			const struct text_find *find)
{
	((struct findings_pane *)pane)->cursor = line;
}

const struct pane_ops pane_findings = {
	.name = "findings",
	.key_table = "table",
	.open = findings_open,
	.close = findings_close,
	.update = findings_update,
	.draw = findings_draw,
	.command = findings_command,
	.texts = findings_texts,
	.text = findings_text,
	.go = findings_go,
	.tab = findings_tab,
};
