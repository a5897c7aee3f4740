/* SPDX-License-Identifier: MIT */
/* Pane 1: ops and ranges, by what they cost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "tui/ops_tree.h"
#include "tui/pane_steps.h"
#include "tui/panes.h"

struct ops_pane {
	struct pane pane;
	struct table table;
	struct step_list steps;
	bool devices;			/* any work but the processor's: sorted by it */
	bool pools;			/* any op was handed to a pool, or waited for inputs */
	bool sources;			/* any has a line */
	enum ops_view { OPS_FLAT, OPS_TREE, OPS_STEP, OPS_THREAD, OPS_SCOPE, OPS_VIEWS } view;
	struct ops_tree tree;
	char scope[80];			/* of the tree */
	uint64_t taken;			/* the flat table; panes_stands() */
};

#define LINE(row) ((const struct op_line *)(row))

#define ROW(row) ((const struct op_row *)(row))

static void name_text(const struct table *table, const void *row, char *text, size_t size)
{
	const struct op_line *line = row;
	const char *mark = "  ";

	if (line->id && line->branch && table->ascii)
		mark = line->folded ? "+ " : "- ";
	else if (line->id && line->branch)
		mark = line->folded ? "▸ " : "▾ ";
	snprintf(text, size, "%*s%s%s", line->id ? 2 * (int)(line->depth < 12 ? line->depth : 12) : 0,
		 "", line->id ? mark : "", ROW(row)->name ? ROW(row)->name : "(no name)");
}

static void type_text(const struct table *table, const void *row, char *text, size_t size)
{
	const char *type = ROW(row)->type;

	if (!type || !*type)
		type = ROW(row)->is_range ? "range" : framework_name(ROW(row)->framework);
	snprintf(text, size, "%s", type);
}

static void calls_text(const struct table *table, const void *row, char *text, size_t size)
{
	char count[FMT_MAX];

	snprintf(text, size, "%s", fmt_count(count, ROW(row)->count));
}

static void self_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, ROW(row)->self_ns, ROW(row)->count > 0);
}

static void total_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, ROW(row)->total_ns, ROW(row)->count > 0);
}

static void device_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, ROW(row)->device_ns, ROW(row)->kernels + ROW(row)->copies > 0);
}

/* What an op costs: device time, where there is no device its own. */
static uint64_t cost(const void *row, bool devices)
{
	int64_t ns = devices ? ROW(row)->device_ns : ROW(row)->self_ns;

	return ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t device_part(const void *row)
{
	return cost(row, true);
}

static uint64_t self_part(const void *row)
{
	return cost(row, false);
}

/* Of a branch; by scope an op's is its self time. */
static uint64_t total_part(const void *row)
{
	return ROW(row)->total_ns > 0 ? (uint64_t)ROW(row)->total_ns : 0;
}

static void share_text(const struct table *table, const void *row, char *text, size_t size)
{
	const struct table_column *column = table->kind->columns;
	while (!column->part)
		column++;
	if (column->part(row))
		panes_share(text, size, column->part(row), table->total);
}

/* Of what it costs, per call. */
static int64_t average(const void *row, bool devices)
{
	const struct op_row *op = row;

	return op->count ? (devices ? op->device_ns : op->total_ns) / (int64_t)op->count : 0;
}

static void device_average_text(const struct table *table, const void *row, char *text,
				size_t size)
{
	const struct op_row *op = row;

	table_time(text, size, average(row, true), op->count && op->kernels + op->copies);
}

static void average_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, average(row, false), ROW(row)->count > 0);
}

static void wait_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, LINE(row)->wait_ns, LINE(row)->wait_ns > 0);
}

/* Handed to a thread pool: until a thread took them, all together. */
static void queued_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, ROW(row)->wait_ns, ROW(row)->handed > 0);
}

/* Start minus the end of the last input, on average. */
static int64_t latency(const void *row)
{
	return ROW(row)->latencies ? ROW(row)->latency_ns / (int64_t)ROW(row)->latencies : 0;
}

static void latency_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, latency(row), ROW(row)->latencies > 0);
}

static void max_text(const struct table *table, const void *row, char *text, size_t size)
{
	table_time(text, size, ROW(row)->max_ns, ROW(row)->count > 0);
}

static void kernels_text(const struct table *table, const void *row, char *text, size_t size)
{
	char count[FMT_MAX];

	snprintf(text, size, "%s", ROW(row)->kernels ? fmt_count(count, ROW(row)->kernels) : "–");
}

/* "train.py:88", and how many more. */
static void source_text(const struct table *table, const void *row, char *text, size_t size)
{
	const char *file = ROW(row)->file, *slash = file ? strrchr(file, '/') : NULL;
	char more[24] = "";

	if (ROW(row)->lines > 1)
		snprintf(more, sizeof(more), " +%u", ROW(row)->lines - 1);
	if (file)
		snprintf(text, size, "%s:%u%s", slash ? slash + 1 : file, ROW(row)->line, more);
	else
		snprintf(text, size, "%s", "");
}

static int by_source(const void *a, const void *b)
{
	int order = table_compare_text(ROW(a)->file, ROW(b)->file);

	return order ? order : table_compare_u64(ROW(a)->line, ROW(b)->line);
}

static int by_name(const void *a, const void *b)
{
	return table_compare_text(ROW(a)->name, ROW(b)->name);
}

static int by_type(const void *a, const void *b)
{
	return table_compare_text(ROW(a)->type, ROW(b)->type);
}

static int by_calls(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->count, ROW(b)->count);
}

static int by_self(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->self_ns, ROW(b)->self_ns);
}

static int by_total(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->total_ns, ROW(b)->total_ns);
}

static int by_device(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->device_ns, ROW(b)->device_ns);
}

static int by_device_average(const void *a, const void *b)
{
	return table_compare_i64(average(a, true), average(b, true));
}

static int by_average(const void *a, const void *b)
{
	return table_compare_i64(average(a, false), average(b, false));
}

static int by_wait(const void *a, const void *b)
{
	return table_compare_i64(LINE(a)->wait_ns, LINE(b)->wait_ns);
}

static int by_queued(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->wait_ns, ROW(b)->wait_ns);
}

static int by_latency(const void *a, const void *b)
{
	return table_compare_i64(latency(a), latency(b));
}

static int by_max(const void *a, const void *b)
{
	return table_compare_i64(ROW(a)->max_ns, ROW(b)->max_ns);
}

static int by_kernels(const void *a, const void *b)
{
	return table_compare_u64(ROW(a)->kernels, ROW(b)->kernels);
}

static uint64_t identity(const void *row)
{
	if (LINE(row)->id)
		return LINE(row)->id;
	return table_mix((uintptr_t)ROW(row)->name, (uintptr_t)ROW(row)->type,
			 (uint64_t)ROW(row)->framework + 1);
}

static enum role bar_role(const void *row)
{
	return ROW(row)->is_range ? ROLE_WORK_RANGE : ROLE_WORK_OP;
}

#define COLUMNS(share_title, share_part, avg_title, avg_text, by_avg, ...) { \
	{"op", "op", 24, 42, 64, false, false, 0, name_text, by_name, NULL}, \
	{"type", "type", 8, 18, 24, false, false, 5, type_text, by_type, NULL}, \
	{"calls", "calls", 9, 0, 0, true, true, 2, calls_text, by_calls, NULL}, \
	{"self", "self", 9, 0, 0, true, true, 1, self_text, by_self, NULL}, \
	{"device time", "device-time", 13, 0, 0, true, true, 0, device_text, by_device, NULL}, \
	{share_title, NULL, 14, 14, 20, false, false, 3, share_text, NULL, share_part}, \
	{avg_title, "avg", 9, 0, 0, true, true, 4, avg_text, by_avg, NULL}, \
	{"max call", "max", 9, 0, 0, true, true, 6, max_text, by_max, NULL}, \
	{"kernels", "kernels", 9, 0, 0, true, true, 7, kernels_text, by_kernels, NULL}, \
	__VA_ARGS__ \
}
#define DEVICE_COLUMNS(...) COLUMNS("share of it", device_part, "avg", device_average_text, \
				    by_device_average, __VA_ARGS__)
#define SELF_COLUMNS(...) COLUMNS("share of self", self_part, "avg call", average_text, \
				  by_average, __VA_ARGS__)
/* Of programs that hand ops to thread pools, or whose graphs are known. */
#define SOURCE_COLUMN \
	{"source", "source", 14, 20, 28, false, false, 9, source_text, by_source, NULL}
#define POOL_COLUMNS \
	{"queued", "queued", 9, 0, 0, true, true, 6, queued_text, by_queued, NULL}, \
	{"latency", "latency", 9, 0, 0, true, true, 8, latency_text, by_latency, NULL}

/* Trees: total is of all in a branch, self of what is right in it. */
#define TREE_COLUMNS(title, total_rank, device_rank, share_title, share_part, ...) { \
	{title, "op", 24, 42, 64, false, false, 0, name_text, by_name, NULL}, \
	{"type", "type", 8, 18, 24, false, false, 6, type_text, by_type, NULL}, \
	{"calls", "calls", 9, 0, 0, true, true, 2, calls_text, by_calls, NULL}, \
	{"total", "total", 9, 0, 0, true, true, total_rank, total_text, by_total, NULL}, \
	{"self", "self", 9, 0, 0, true, true, 1, self_text, by_self, NULL}, \
	{"device time", "device-time", 13, 0, 0, true, true, device_rank, device_text, by_device, NULL}, \
	{share_title, NULL, 14, 14, 20, false, false, 4, share_text, NULL, share_part}, \
	{"kernels", "kernels", 9, 0, 0, true, true, 8, kernels_text, by_kernels, NULL}, \
	__VA_ARGS__ \
}
#define CALL_COLUMNS(avg_title, avg_text, by_avg) \
	{avg_title, "avg", 9, 0, 0, true, true, 5, avg_text, by_avg, NULL}, \
	{"max call", "max", 9, 0, 0, true, true, 7, max_text, by_max, NULL}, \
	{"waits", "waits", 9, 0, 0, true, true, 7, wait_text, by_wait, NULL}

static const struct table_column device_columns[] = DEVICE_COLUMNS();
static const struct table_column device_pool_columns[] = DEVICE_COLUMNS(POOL_COLUMNS);
static const struct table_column device_source_columns[] = DEVICE_COLUMNS(SOURCE_COLUMN);
static const struct table_column device_pool_source_columns[] =
	DEVICE_COLUMNS(POOL_COLUMNS, SOURCE_COLUMN);
static const struct table_column device_tree_columns[] =
	TREE_COLUMNS("op", 3, 0, "share of it", device_part,
		     CALL_COLUMNS("avg", device_average_text, by_device_average));
static const struct table_column device_scope_columns[] =
	TREE_COLUMNS("scope", 3, 0, "share of it", device_part);
static const struct table_column self_columns[] = SELF_COLUMNS();
static const struct table_column self_pool_columns[] = SELF_COLUMNS(POOL_COLUMNS);
static const struct table_column self_source_columns[] = SELF_COLUMNS(SOURCE_COLUMN);
static const struct table_column self_pool_source_columns[] =
	SELF_COLUMNS(POOL_COLUMNS, SOURCE_COLUMN);
static const struct table_column self_tree_columns[] =
	TREE_COLUMNS("op", 0, 4, "share of total", total_part,
		     CALL_COLUMNS("avg call", average_text, by_average));
static const struct table_column self_scope_columns[] =
	TREE_COLUMNS("scope", 0, 4, "share of total", total_part);

#define KIND(list) { \
	.columns = list, \
	.n_columns = sizeof(list) / sizeof(list[0]), \
	.row_size = sizeof(struct op_line), \
	.empty = "no op or range yet: frameworks, NVTX and ITT ranges appear here", \
	.identity = identity, \
	.bar = bar_role, \
}

/* Flat ones: as the bits say. */
enum { KIND_FLAT, KIND_POOLS = 1, KIND_SOURCE = 2, KIND_TREE = 4, KIND_SCOPE, KINDS };
static const struct table_kind kinds[2][KINDS] = {	/* by own time, by the devices' */
	{
		KIND(self_columns), KIND(self_pool_columns), KIND(self_source_columns),
		KIND(self_pool_source_columns), KIND(self_tree_columns), KIND(self_scope_columns),
	},
	{
		KIND(device_columns), KIND(device_pool_columns), KIND(device_source_columns),
		KIND(device_pool_source_columns), KIND(device_tree_columns), KIND(device_scope_columns),
	},
};

static struct pane *ops_open(struct view *view)
{
	struct ops_pane *pane = xcalloc(1, sizeof(*pane));

	pane->devices = true;
	ops_tree_init(&pane->tree);
	table_setup(&pane->table, &kinds[1][KIND_FLAT], "device-time");
	return &pane->pane;
}

static void ops_close(struct pane *pane)
{
	struct ops_pane *ops = (struct ops_pane *)pane;

	table_teardown(&ops->table);
	ops_tree_release(&ops->tree);
	step_list_release(&ops->steps);
	free(ops);
}

/* What is looked at changes what the table is sorted by, unless the user did. */
static void set_devices(struct ops_pane *p, bool devices, bool any)
{
	static const int of_view[OPS_VIEWS] = {
		[OPS_TREE] = KIND_TREE, [OPS_STEP] = KIND_TREE, [OPS_THREAD] = KIND_TREE,
		[OPS_SCOPE] = KIND_SCOPE,
	};
	struct table *table = &p->table;
	const struct table_kind *old = table->kind;
	const char *key = old->columns[table->sort].key;
	bool reverse = table->reverse;

	table->kind = &kinds[devices || !any][p->view != OPS_FLAT ? of_view[p->view] :
					      (p->pools ? KIND_POOLS : 0) |
					      (p->sources ? KIND_SOURCE : 0)];
	if (any)
		p->devices = devices;
	if (old == table->kind)
		return;
	if (!table->chosen || !table_sort_by(table, key))
		table_sort_by(table, p->devices ? "device-time" :
				     p->view == OPS_FLAT ? "self" : "total");
	else
		table->reverse = reverse;
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
	devices = devices && panes_devices(view->model);
	lines = xcalloc(count, sizeof(*lines));
	for (i = 0; i < count; i++) {
		lines[i].op = rows[i];
		total += cost(&rows[i], devices || !count);
	}
	free(rows);
	set_devices(p, devices, count > 0);
	table_take(&p->table, lines, count, total);
}

/* The step around the timeline's cursor; following, the last that is finished. */
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

/* The thread that the timeline's cursor is on, else the first there is; its name. */
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
	set_devices(p, ops_tree_has_devices(&p->tree) && panes_devices(view->model), p->tree.n > 0);
	tree_lines(p);
}

static void ops_update(struct pane *pane, struct view *view, int width, int height)
{
	struct ops_pane *p = (struct ops_pane *)pane;

	p->table.given = p->view != OPS_FLAT;
	if (p->view != OPS_FLAT) {
		p->taken = 0;
		update_tree(p, view);
	} else if (!panes_stands(view, &p->taken)) {
		update_flat(p, view);
	}
}

static void ops_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct ops_pane *p = (struct ops_pane *)pane;

	if (p->view != OPS_FLAT && area.height >= 4) {
		area_text(area, 1, 0, ROLE_MUTED, 0, p->scope);
		area = area_sub(area, 0, 1, area.width, area.height - 1);
	}
	table_draw(&p->table, view, area, focused);
}

/* tree [off|all|step|thread|scope]: without a word the next of them. */
static unsigned tree_command(struct ops_pane *p, struct view *view,
			     const struct command_call *call)
{
	static const char *const words[OPS_VIEWS] = { "off", "all", "step", "thread", "scope" };
	int next = ((int)p->view + 1) % OPS_VIEWS;

	for (int i = 0; call->argc > 1 && i <= OPS_VIEWS; i++) {
		if (i == OPS_VIEWS) {
			snprintf(view->status, sizeof(view->status),
				 "no tree '%.40s'; there are: off all step thread scope", call->argv[1]);
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

/* A scope is no event that could be opened. */
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
		return panes_about(view, "ni", line->op.raw_name);
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
	return panes_find_event(view, line->op.name, ROW_THREAD, UINT32_MAX);
}

static bool is_row(const void *row, const char *key)
{
	return strcmp(((const struct op_row *)row)->name, key) == 0;
}

static bool ops_reveal(struct pane *pane, struct view *view, const char *key)
{
	return key && table_reveal(&((struct ops_pane *)pane)->table, is_row, key);
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
};
