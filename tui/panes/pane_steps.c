/* SPDX-License-Identifier: MIT */
/* Pane 4: the steps, and how their time was spent. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/plain.h"
#include "model/columns/steps.h"
#include "model/query/requests.h"
#include "model/query/time.h"
#include "model/query/work.h"
#include "tui/draw/places.h"
#include "tui/draw/time_parts.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"
#include "tui/run/progress.h"

#define LINES_MOST 100000	/* if there are more steps, only the last ones are listed */
/* with so many steps, the table is rebuilt at most twice a second */
#define MANY_STEPS 20000
#define MANY_WAIT_NS 500000000
#define PATH_PARTS 5	/* of the critical path, that are named */

/* A row of the table. */
struct steps_pane_row {
	struct step_line line;
	bool has_path;
	struct critical_path path;
};

struct steps_pane {
	struct pane pane;
	struct table table;
	struct step_list steps;
	struct model_status status;
	int64_t taken_ns;		/* time at which the table was built */
	uint64_t breakdowns;		/* number of breakdowns at that time */
	bool has_phases;
	struct step_phases phases;
	struct request_row requests;	/* of the function with most passes */
	char requests_name[64];
	int64_t path_ns;		/* the start of the step whose path the host divides */
	struct host_time_row *path_rows;	/* owned */
	size_t n_path_rows;
	char command[48];		/* a command for the loop to run */
};

static uint64_t identity(const void *row)
{
	const struct step_line *line = row;

	return table_mix((uint64_t)line->row.number, (uint64_t)line->row.start_ns, 0);
}

/* The role shows slow steps, which users look for. */
static enum role bar_role(const void *row)
{
	const struct step_line *line = row;

	return line->row.outlier ? ROLE_ACCENT : ROLE_GOOD;
}

static const struct table_kind kind = {
	.columns = &step_columns,
	.row_size = sizeof(struct steps_pane_row),
	.empty = "no steps yet: mark them with NVTX or ITT ranges named 'step', or 'step 12'",
	.identity = identity,
	.bar = bar_role,
};

static struct pane *steps_open(struct view *view)
{
	struct steps_pane *pane = xcalloc(1, sizeof(*pane));

	table_setup(&pane->table, &kind, "start");
	return &pane->pane;
}

static void steps_close(struct pane *pane)
{
	struct steps_pane *steps = (struct steps_pane *)pane;

	table_teardown(&steps->table);
	step_list_release(&steps->steps);
	free(steps->path_rows);
	free(steps);
}

/* Leaves out the last parts of the text until it fits. */
static void cut_parts(char *text, int width)
{
	while (text_width(text) > width && strstr(text, " · ")) {
		char *last = text;

		for (char *at = text; (at = strstr(at, " · ")); at++)
			last = at;
		*last = '\0';
	}
}

static const char *steps_path_label(int class)
{
	return path_kind_label((enum path_kind)class);
}

/* Draws "critical path of step 12: kernel 62 % · sleep 20 % loader.py:25", as much as fits. */
static void path_draw(const struct steps_pane *p, const struct steps_pane_row *row, bool ascii,
		      struct area area, int y)
{
	const struct critical_path *path = &row->path;
	bool known = p->path_ns == row->line.row.start_ns;
	struct time_parts_of of = {
		.ns = path->ns, .classes = PATH_KINDS, .host = PATH_HOST,
		.name = steps_path_label, .rows = p->path_rows,
		.n_rows = known ? p->n_path_rows : 0,
	};
	struct time_part parts[TIME_PARTS];
	char text[PATH_PARTS * 96 + 64], share[FMT_MAX];
	int n = time_parts(&of, ascii, parts);
	size_t at;

	at = (size_t)snprintf(text, sizeof(text), "critical path of %s %" PRId64 ":",
			      step_noun(p->steps.stats.passes), row->line.row.number);
	for (int i = 0; i < n && i < PATH_PARTS && parts[i].ns > path->whole_ns / 1000; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %s%s", i ? " ·" : "",
				       parts[i].name, fmt_share(share, (uint64_t)parts[i].ns,
								(uint64_t)path->whole_ns),
				       parts[i].place);
	cut_parts(text, area.width - 2);
	area_text(area, 1, y, ROLE_MUTED, 0, text);
}

/* Draws "mean step: backward 52 % · forward 31 % · ...", in the order in which phases occur. */
static void phases_draw(const struct step_phases *phases, bool passes, struct area area, int y)
{
	static const enum step_phase order[STEP_PHASES] = {
		PHASE_INPUT, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_OTHER,
	};
	char text[256], share[FMT_MAX];
	size_t at = (size_t)snprintf(text, sizeof(text), "mean %s:", step_noun(passes));
	size_t begin = at;

	for (int i = 0; i < STEP_PHASES; i++)
		if (phases->ns[order[i]] > phases->whole_ns / 1000)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %s",
					       at > begin ? " ·" : "", step_phase_name(order[i]),
					       fmt_share(share, (uint64_t)phases->ns[order[i]],
							 (uint64_t)phases->whole_ns));
	area_text(area, 1, y, ROLE_MUTED, 0, text);
}

static void take_parts(struct model *model, struct steps_pane_row *row)
{
	struct step_breakdown parts;
	int64_t start_ns = row->line.row.start_ns;

	row->has_path = model_critical_step(model, start_ns, &row->path);
	row->line.known = model_step_breakdown(model, start_ns, &parts);
	if (row->line.known)
		memcpy(row->line.ns, parts.ns, sizeof(parts.ns));
}

static void requests_take(struct steps_pane *p, struct model *model)
{
	struct request_row *rows;

	p->requests.requests = 0;
	if (model_requests(model, &rows)) {
		p->requests = rows[0];
		snprintf(p->requests_name, sizeof(p->requests_name), "%s", rows[0].name);
	}
	free(rows);
}

/* What the host did on the path of the step that the cursor is on. */
static void steps_take_path(struct steps_pane *p, struct model *model)
{
	const struct steps_pane_row *row = table_current(&p->table);
	bool has = row && row->has_path;

	if (has && p->path_rows && p->path_ns == row->line.row.start_ns)
		return;
	free(p->path_rows);
	p->path_rows = NULL;
	p->n_path_rows = 0;
	if (!has)
		return;
	p->path_ns = row->line.row.start_ns;
	p->n_path_rows = model_critical_step_host(model, p->path_ns, &p->path_rows);
}

/* Makes the table anew if that is due. */
static void steps_take(struct steps_pane *p, struct view *view)
{
	struct steps_pane_row *rows = NULL;
	size_t first, count, i;
	int64_t longest = 0;

	if (p->steps.n > MANY_STEPS && !p->status.finished &&
	    view->clock_ns - p->taken_ns < MANY_WAIT_NS && view->clock_ns >= p->taken_ns)
		return;
	if (!model_steps_update(view->model, &p->steps) &&
	    p->breakdowns == model_step_breakdowns(view->model))
		return;
	p->taken_ns = view->clock_ns;
	p->breakdowns = model_step_breakdowns(view->model);
	p->has_phases = model_step_phases(view->model, &p->phases) > 0;
	first = p->steps.n > LINES_MOST ? p->steps.n - LINES_MOST : 0;
	count = p->steps.n - first;
	if (count)
		rows = xcalloc(count, sizeof(*rows));
	for (i = 0; i < count; i++) {
		struct step_line *line = &rows[i].line;

		line->row = p->steps.rows[first + i];
		line->base_ns = places_base_ns(&p->status);
		line->typical_ns = p->steps.stats.p50_ns;
		take_parts(view->model, &rows[i]);
		if (line->row.dur_ns > longest)
			longest = line->row.dur_ns;
	}
	for (i = count; i-- && !rows[i].line.known; )
		rows[i].line.settling = !p->status.finished;
	table_take(&p->table, rows, count, (uint64_t)longest);
}

static void steps_update(struct pane *pane, struct view *view, int width, int height)
{
	struct steps_pane *p = (struct steps_pane *)pane;

	model_status(view->model, &p->status);
	requests_take(p, view->model);
	steps_take(p, view);
	steps_take_path(p, view->model);
}

/* Draws where the steps come from and statistics of all of them: as many as fit, none of them
 * cut. */
static void summary_draw(const struct step_stats *stats, struct area area)
{
	uint64_t left = stats->warm_up + stats->compiled;
	char mean[2 * FMT_MAX + 48], p50[FMT_MAX], p99[FMT_MAX], count[FMT_MAX],
		text[5 * FMT_MAX + 128];
	char steady[FMT_MAX];
	const char *what = step_nouns(stats->passes);
	int used;

	fmt_time(mean, stats->mean_ns);
	if (stats->steady_ns >= 0 && left)
		snprintf(mean + strlen(mean), sizeof(mean) - strlen(mean),
			 ", steady %s (%s left out)", fmt_time(steady, stats->steady_ns),
			 fmt_count(count, left));
	fmt_time(p50, stats->p50_ns);
	fmt_time(p99, stats->p99_ns);
	used = snprintf(text, sizeof(text), "%" PRIu64 " %s from %s: mean %s, p50 %s, p99 %s",
			stats->count, what, stats->source ? stats->source : "marks", mean, p50,
			p99);
	if (stats->outliers && used < (int)sizeof(text))
		snprintf(text + used, sizeof(text) - (size_t)used, ", %s far longer than usual",
			 fmt_count(count, stats->outliers));
	if (text_width(text) > area.width - 2)
		snprintf(text, sizeof(text), "%" PRIu64 " %s: mean %s, p50 %s, p99 %s",
			 stats->count, what, mean, p50, p99);
	if (text_width(text) > area.width - 2)
		snprintf(text, sizeof(text), "%" PRIu64 " %s", stats->count, what);
	area_text(area, 1, 0, ROLE_MUTED, 0, text);
}

/* Draws "6 requests to generate: 2.1/s, first token p50 40 ms", and what else fits. */
static void requests_draw(const struct steps_pane *p, struct area area)
{
	const struct request_row *r = &p->requests;
	char text[512], rate[24], time[FMT_MAX], count[FMT_MAX + 16];
	size_t at;

	at = (size_t)snprintf(text, sizeof(text), "%s to %s",
			      fmt_many(count, r->requests, "request"), p->requests_name);
	request_rate_text(r->requests_milli, rate, sizeof(rate));
	if (*rate)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " · %s requests/s", rate);
	request_rate_text(r->tokens_milli, rate, sizeof(rate));
	if (*rate)
		at += (size_t)snprintf(text + at, sizeof(text) - at, " · ≈%s tokens/s", rate);
	at += (size_t)snprintf(text + at, sizeof(text) - at, " · first token p50 %s",
			       fmt_time(time, r->first_p50_ns));
	if (r->token_ns >= 0)
		snprintf(text + at, sizeof(text) - at, " · %s per token",
			 fmt_time(time, r->token_ns));
	cut_parts(text, area.width - 2);
	area_text(area, 1, 0, ROLE_DEFAULT, 0, text);
}

/* Draws whether step times are steady, their rate, and the estimated end. */
static void progress_draw(const struct steps_pane *p, const struct view *view, struct area area)
{
	struct progress progress;
	char text[256];

	progress_of(&p->steps, view->settings, p->status.finished, &progress);
	progress_sentence(&progress, text, sizeof(text));
	cut_parts(text, area.width - 2);
	area_text(area, 1, 0, ROLE_DEFAULT, 0, text);
}

static void steps_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct steps_pane *p = (struct steps_pane *)pane;
	const struct steps_pane_row *row;
	int top = area.y;

	p->table.first_title = p->steps.stats.passes ? step_noun(true) : NULL;
	if (p->steps.n && area.height >= 4) {
		summary_draw(&p->steps.stats, area);
		area = area_sub(area, 0, 1, area.width, area.height - 1);
	}
	if (p->requests.requests && area.height >= 5) {
		requests_draw(p, area);
		area = area_sub(area, 0, 1, area.width, area.height - 1);
	}
	if (p->steps.n && area.height >= 6) {
		progress_draw(p, view, area);
		area = area_sub(area, 0, 1, area.width, area.height - 1);
	}
	row = table_current(&p->table);
	if (row && row->has_path && area.height >= 6) {
		path_draw(p, row, view->ascii, area, area.height - 1);
		area.height--;
	}
	if (p->has_phases && area.height >= 6) {
		phases_draw(&p->phases, p->steps.stats.passes, area, area.height - 1);
		area.height--;
	}
	p->table.above = area.y - top;
	table_draw(&p->table, view, area, focused);
}

static unsigned steps_command(struct pane *pane, struct view *view, const struct command_call *call)
{
	struct steps_pane *p = (struct steps_pane *)pane;
	const struct step_line *line = table_current(&p->table);
	char number[24];

	if (line && strcmp(call->argv[0], "about") == 0) {
		snprintf(number, sizeof(number), "%" PRId64, line->row.number);
		return places_about(view, "step", number);
	}
	if (line && strcmp(call->argv[0], "diff") == 0) {
		snprintf(p->command, sizeof(p->command), "diff step %" PRId64, line->row.number);
		view->run_command = p->command;
		return OUT_RUN_COMMAND;
	}
	if (strcmp(call->argv[0], "open") != 0)
		return table_command(&p->table, view, call);
	if (!line)
		return OUT_NONE;
	view->cursor_ns = line->row.start_ns;
	view->selected = (struct span_ref){0};
	return OUT_REDRAW | OUT_FREEZE | OUT_SHOW_CURSOR | OUT_FOCUS_TIMELINE;
}

/* "12" means that step. */
static bool is_row(const void *row, const char *key)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRId64, ((const struct step_line *)row)->row.number);
	return strcmp(number, key) == 0;
}

/* Without a name, reveals the step that the timeline shows. */
static bool steps_reveal(struct pane *pane, struct view *view, const char *key)
{
	struct steps_pane *p = (struct steps_pane *)pane;
	char number[24];
	size_t i;

	if (key)
		return table_reveal(&p->table, is_row, key);
	for (i = 0; i < p->steps.n; i++) {
		const struct step_row *step = &p->steps.rows[i];

		if (step->start_ns > view->range_t0_ns ||
		    step->start_ns + step->dur_ns <= view->range_t0_ns)
			continue;
		snprintf(number, sizeof(number), "%" PRId64, step->number);
		return table_reveal(&p->table, is_row, number);
	}
	return false;
}

static struct table *steps_table(struct pane *pane)
{
	return &((struct steps_pane *)pane)->table;
}

static const struct table_kind *steps_kind(void)
{
	return &kind;
}

static unsigned steps_mouse(struct pane *pane, struct view *view, const struct mouse *mouse,
			  int width, int height)
{
	return table_mouse(steps_table(pane), view, mouse);
}

static void steps_tab(struct pane *pane, struct view *view, char *text, size_t size)
{
	(void)view;
	if (((struct steps_pane *)pane)->steps.stats.passes)
		snprintf(text, size, "4 %s", step_nouns(true));
}

const struct pane_ops pane_steps = {
	.name = "steps",
	.key_table = "table",
	.open = steps_open,
	.close = steps_close,
	.update = steps_update,
	.draw = steps_draw,
	.command = steps_command,
	.reveal = steps_reveal,
	.mouse = steps_mouse,
	.table = steps_table,
	.kind = steps_kind,
	.tab = steps_tab,
};
