/* SPDX-License-Identifier: MIT */
/* Pane 1: ops and ranges, by their cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/work.h"
#include "tui/panes/ops_tree.h"
#include "tui/table/steps.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"

struct ops_pane {
	struct pane pane;
	struct table table;
	struct step_list steps;
	bool devices;	/* there is work other than the processor's; the table is sorted by it */
	bool pools;	/* any op was queued in a thread pool, or waited for inputs */
	bool sources;			/* any op has a source line */
	enum ops_view { OPS_FLAT, OPS_TREE, OPS_STEP, OPS_THREAD, OPS_SCOPE, OPS_VIEWS } view;
	struct ops_tree tree;
	struct op_trend *trends;	/* owned; sorted by name */
	char scope[80];			/* scope that the tree shows */
	uint64_t taken;			/* the flat table; places_stands() */
};

/* ---- the table ---- */

#define LINE(row) ((const struct op_line *)(row))

static uint64_t identity(const void *row)
{
	if (LINE(row)->id)
		return LINE(row)->id;
	return table_mix((uintptr_t)LINE(row)->op.name, (uintptr_t)LINE(row)->op.type,
			 (uint64_t)LINE(row)->op.framework + 1);
}

static unsigned depth(const void *row)
{
	return LINE(row)->depth;
}

/* In a tree, a row includes everything below it; the distribution of its times is unknown. */
static enum filter_known field(const void *row, enum filter_field by, struct filter_value *value)
{
	bool spread = by == FILTER_BY_MIN || by == FILTER_BY_MAX || by == FILTER_BY_P50 ||
		      by == FILTER_BY_P99;

	if ((by == FILTER_BY_KIND && LINE(row)->is_scope) || (spread && LINE(row)->id))
		return FILTER_UNKNOWN;
	return columns_filter(&op_list_columns, row, by, value);
}

static enum role bar_role(const void *row)
{
	return LINE(row)->op.is_range ? ROLE_WORK_RANGE : ROLE_WORK_OP;
}

/* The kinds of tables, built when the pane is opened first. */
static struct table_kind ops_kinds[2][OPS_SHAPES];

static const struct table_kind *ops_kind(bool devices, enum ops_shape shape)
{
	struct table_kind *kind = &ops_kinds[devices][shape];

	if (!kind->columns)
		*kind = (struct table_kind) {
			.columns = op_columns(devices, shape),
			.row_size = sizeof(struct op_line),
			.empty = "no op or range yet: frameworks, NVTX and ITT ranges appear here",
			.identity = identity,
			.field = field,
			.depth = depth,
			.bar = bar_role,
			.nested = shape != OPS_LIST,
			.count_key = "calls",
			.cost_key = devices ? "device-time" : "self",
		};
	return kind;
}

/* ---- the pane ---- */

static struct pane *ops_open(struct view *view)
{
	struct ops_pane *pane = xcalloc(1, sizeof(*pane));

	pane->devices = true;
	ops_tree_init(&pane->tree);
	table_setup(&pane->table, ops_kind(true, OPS_LIST), "device-time");
	return &pane->pane;
}

static void ops_close(struct pane *pane)
{
	struct ops_pane *ops = (struct ops_pane *)pane;

	table_teardown(&ops->table);
	ops_tree_release(&ops->tree);
	step_list_release(&ops->steps);
	free(ops->trends);
	free(ops);
}

/* The kind of work decides the sort column, unless the user chose one. */
static void set_devices(struct ops_pane *p, bool devices, bool any)
{
	static const enum ops_shape shapes[OPS_VIEWS] = {
		[OPS_FLAT] = OPS_LIST, [OPS_TREE] = OPS_CALLS, [OPS_STEP] = OPS_CALLS,
		[OPS_THREAD] = OPS_CALLS, [OPS_SCOPE] = OPS_SCOPES,
	};
	const struct table_kind *kind = ops_kind(devices || !any, shapes[p->view]);
	struct table *table = &p->table;
	bool same = kind == table->kind;

	if (any)
		p->devices = devices;
	table->absent = 0;
	table_become(table, kind);
	table_offer(table, "queued", p->pools);
	table_offer(table, "latency", p->pools);
	table_offer(table, "source", p->sources);
	table_offer(table, "waits", p->view != OPS_FLAT);
	if (!same && !table->chosen)
		table_sort_by(table, p->devices ? "device-time" :
				     p->view == OPS_FLAT ? "self" : "total");
}

/* Says how much of the device time the rows account for. */
static void say_coverage(struct ops_pane *p, const struct model_status *status)
{
	uint64_t all = status->device_ns > 0 ? (uint64_t)status->device_ns : 0;
	char with_op[FMT_MAX], without[FMT_MAX];

	p->table.note[0] = '\0';
	if (!p->devices || !all)
		return;
	snprintf(p->table.note, sizeof(p->table.note),
		 "%s of device time was launched by a known op or range, %s by none",
		 fmt_share(with_op, (uint64_t)status->op_ns, all),
		 fmt_share(without, all - (uint64_t)status->op_ns, all));
}

static int compare_trends(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)((const struct op_trend *)a)->raw_name;
	uintptr_t right = (uintptr_t)((const struct op_trend *)b)->raw_name;

	return left < right ? -1 : left > right;
}

/* The lines point into the trends that are copied here. */
static void take_trends(struct ops_pane *p, struct model *model, struct op_line *lines,
			size_t count)
{
	size_t n, i;

	free(p->trends);
	n = model_op_trends(model, &p->trends);
	if (!n)
		return;
	qsort(p->trends, n, sizeof(*p->trends), compare_trends);
	for (i = 0; i < count; i++) {
		struct op_trend key = { .raw_name = lines[i].op.raw_name };

		lines[i].trend = bsearch(&key, p->trends, n, sizeof(key), compare_trends);
	}
}

static void update_flat(struct ops_pane *p, struct view *view)
{
	struct op_row *rows = NULL;
	size_t count = model_ops(view->model, &rows), i;
	struct model_status status;
	struct op_line *lines;
	bool devices = false;
	uint64_t total = 0;

	model_status(view->model, &status);
	model_steps_update(view->model, &p->steps);
	count = steps_merge(&p->steps.stats, rows, count);
	for (i = 0; i < count; i++) {
		devices = devices || rows[i].device_ns > rows[i].cpu_ns;
		p->sources = p->sources || rows[i].file;
		p->pools = p->pools || rows[i].handed || rows[i].latencies;
	}
	devices = devices && places_devices(view->model);
	lines = xcalloc(count, sizeof(*lines));
	for (i = 0; i < count; i++) {
		lines[i].op = rows[i];
		total += op_line_cost(&rows[i], devices || !count);
	}
	free(rows);
	take_trends(p, view->model, lines, count);
	set_devices(p, devices, count > 0);
	say_coverage(p, &status);
	table_take(&p->table, lines, count, total);
}

/* The step at the timeline's cursor; while following, the last finished step. */
static bool step_at_cursor(struct ops_pane *p, struct view *view, struct step_row *step)
{
	struct model_status status;
	size_t at;

	model_status(view->model, &status);
	model_steps_update(view->model, &p->steps);
	at = view->following ? p->steps.n :
	     steps_from(&p->steps, view->cursor_ns + 1);
	if (!at)
		return false;
	*step = p->steps.rows[at - 1];
	return true;
}

/* The thread at the timeline's cursor, else the first one; also its name. */
static uint32_t thread_at_cursor(struct view *view, char *name, size_t size)
{
	struct model_row *rows = NULL;
	size_t n = model_rows(view->model, &rows), i;
	uint32_t found = 0;

	for (i = 0; i < n; i++) {
		if (rows[i].kind != ROW_THREAD || (found && rows[i].id != view->cursor_row))
			continue;
		found = rows[i].id;
		snprintf(name, size, "%s", rows[i].label);
	}
	free(rows);
	return found;
}

static void tree_lines(struct ops_pane *p)
{
	struct op_line *lines;
	size_t count = ops_tree_lines(&p->tree, &p->table, &lines);

	table_take(&p->table, lines, count, ops_tree_total(&p->tree, p->devices));
}

static void update_tree(struct ops_pane *p, struct view *view)
{
	struct optree_question question = { .row = 0 };
	char time[FMT_MAX], name[48] = "";
	struct step_row step;

	snprintf(p->scope, sizeof(p->scope), "tree of the whole run");
	if (p->view == OPS_STEP && step_at_cursor(p, view, &step)) {
		question.t0 = step.start_ns;
		question.t1 = step.start_ns + step.dur_ns;
		snprintf(p->scope, sizeof(p->scope), "tree of step %lld, %s",
			 (long long)step.number, fmt_time(time, step.dur_ns));
	}
	if (p->view == OPS_THREAD) {
		question.row = thread_at_cursor(view, name, sizeof(name));
		snprintf(p->scope, sizeof(p->scope), "tree of thread %s", name);
	}
	if (p->view == OPS_SCOPE) {
		snprintf(p->scope, sizeof(p->scope),
			 "by scope: parts of names, functions that called them");
		ops_tree_take_scopes(&p->tree, view->model);
	} else {
		ops_tree_take(&p->tree, view->model, &question);
	}
	set_devices(p, ops_tree_has_devices(&p->tree) && places_devices(view->model),
		    p->tree.n > 0);
	tree_lines(p);
}

static void ops_update(struct pane *pane, struct view *view, int width, int height)
{
	struct ops_pane *p = (struct ops_pane *)pane;

	p->table.given = p->view != OPS_FLAT;
	if (p->view != OPS_FLAT) {
		p->table.note[0] = '\0';
		p->taken = 0;
		update_tree(p, view);
	} else if (!places_stands(view, &p->taken)) {
		update_flat(p, view);
	}
}

static void ops_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct ops_pane *p = (struct ops_pane *)pane;

	p->table.above = p->view != OPS_FLAT && area.height >= 4;
	if (p->table.above) {
		area_text(area, 1, 0, ROLE_MUTED, 0, p->scope);
		area = area_sub(area, 0, 1, area.width, area.height - 1);
	}
	table_draw(&p->table, view, area, focused);
}

/* Implements tree [off|all|step|thread|scope]; without an argument, the next mode. */
static unsigned tree_command(struct ops_pane *p, struct view *view,
			     const struct command_call *call)
{
	static const char *const words[OPS_VIEWS] = { "off", "all", "step", "thread", "scope" };
	int next = ((int)p->view + 1) % OPS_VIEWS;

	for (int i = 0; call->argc > 1 && i <= OPS_VIEWS; i++) {
		if (i == OPS_VIEWS) {
			snprintf(view->status, sizeof(view->status),
				 "no tree '%.40s'; there are: off all step thread scope",
				 call->argv[1]);
			view->status_error = true;
			return OUT_REDRAW;
		}
		next = i;
		if (!strcmp(words[i], call->argv[1]))
			break;
	}
	p->view = (enum ops_view)next;
	model_lock(view->model);
	ops_update(&p->pane, view, 0, 0);
	model_unlock(view->model);
	return OUT_REDRAW;
}

/* A scope is no event, so there is nothing to open. */
static bool fold_command(struct ops_pane *p, const struct command_call *call, bool scope)
{
	const struct op_line *line = call->argc > 1 ? NULL : table_current(&p->table);
	const char *name = call->argv[0];

	if (p->view == OPS_FLAT)
		return false;
	if (strcmp(name, "toggle-fold") == 0 || (scope && strcmp(name, "open") == 0))
		ops_tree_fold(&p->tree, line, FOLD_TURN);
	else if (strcmp(name, "fold") == 0)
		ops_tree_fold(&p->tree, line, FOLD_SHUT);
	else if (strcmp(name, "unfold") == 0)
		ops_tree_fold(&p->tree, line, FOLD_SPREAD);
	else
		return false;
	return true;
}

static unsigned ops_command(struct pane *pane, struct view *view, const struct command_call *call)
{
	struct ops_pane *p = (struct ops_pane *)pane;
	const struct op_line *line;
	unsigned outcome;

	if (strcmp(call->argv[0], "tree") == 0)
		return tree_command(p, view, call);
	line = table_current(&p->table);
	if (line && strcmp(call->argv[0], "about") == 0)
		return places_about(view, "ni", line->op.raw_name);
	if (fold_command(p, call, line && line->is_scope)) {
		tree_lines(p);
		return OUT_REDRAW;
	}
	if (strcmp(call->argv[0], "open") != 0) {
		outcome = table_command(&p->table, view, call);
		if (p->view != OPS_FLAT && p->table.unsorted)
			tree_lines(p);
		return outcome;
	}
	if (!line)
		return OUT_NONE;
	return places_find_event(view, line->op.name, ROW_THREAD, UINT32_MAX);
}

static bool is_row(const void *row, const char *key)
{
	return strcmp(((const struct op_row *)row)->name, key) == 0;
}

static bool ops_reveal(struct pane *pane, struct view *view, const char *key)
{
	return key && table_reveal(&((struct ops_pane *)pane)->table, is_row, key);
}

static struct table *ops_the_table(struct pane *pane)
{
	return &((struct ops_pane *)pane)->table;
}

/* The kind of table of this pane with the most columns. */
static const struct table_kind *ops_most(void)
{
	return ops_kind(true, OPS_LIST);
}

static unsigned ops_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			  int width, int height)
{
	return table_mouse(ops_the_table(pane), view, mouse);
}

const struct pane_ops pane_ops_table = {
	.name = "ops",
	.key_table = "table",
	.open = ops_open,
	.close = ops_close,
	.update = ops_update,
	.draw = ops_draw,
	.command = ops_command,
	.reveal = ops_reveal,
	.mouse = ops_mouse,
	.table = ops_the_table,
	.kind = ops_most,
};
