/* SPDX-License-Identifier: MIT */
/* Pane 4: the steps, and what their time went to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/time.h"
#include "model/query/work.h"
#include "model/base/util.h"
#include "tui/draw/places.h"
#include "tui/panes/pane_table.h"
#include "tui/table/table.h"
#include "tui/run/progress.h"
#include "tui/draw/ruler.h"

#define LINES_MOST 100000	/* of more, the last ones are listed */
#define MANY_STEPS 20000	/* the table is made anew twice a second, no more often */
#define MANY_WAIT_NS 500000000

struct step_line {
	struct step_row step;
	int64_t base_ns, typical_ns;
	bool known;			/* what its time went to */
	bool settling;			/* will be known soon */
	int64_t compute_ns, copy_ns, launch_ns, sync_ns, input_ns, host_ns;
	bool has_path;
	struct critical_path path;
};

struct steps_pane {
	struct pane pane;
	struct table table;
	struct step_list steps;
	struct model_status status;
	int64_t taken_ns;		/* when the table was made */
	uint64_t breakdowns;		/* there were so many */
	bool has_phases;
	struct step_phases phases;
	char command[48];		/* asked of the loop */
};

static void start_text(const void *row, bool ascii, char *text, size_t size)
{
	const struct step_line *line = row;

	ruler_time(text, size, line->step.start_ns - line->base_ns, 1000000);
}

static void delta_text(const void *row, bool ascii, char *text, size_t size)
{
	const struct step_line *line = row;
	int64_t delta = line->step.dur_ns - line->typical_ns;
	char time[FMT_MAX];

	snprintf(text, size, "%s%s", delta > 0 ? "+" : "", fmt_time(time, delta));
}

/* Shares of the step: what it waited for, and what is left of it. */
#define PART(part) \
static void part##_text(const void *row, bool ascii, char *text, size_t size) \
{ \
	const struct step_line *line = row; \
\
	text[0] = '\0'; \
	if (line->known && line->part##_ns > 0) \
		places_share(text, size, (uint64_t)line->part##_ns, (uint64_t)line->step.dur_ns); \
} \
static bool part##_value(const void *row, int64_t *value) \
{ \
	const struct step_line *line = row; \
\
	*value = line->part##_ns; \
	return line->known; \
}
PART(compute)
PART(copy)
PART(launch)
PART(sync)
PART(input)
PART(host)

/* The first of them also says why there is nothing yet. */
static void parts_text(const void *row, bool ascii, char *text, size_t size)
{
	compute_text(row, ascii, text, size);
	if (((const struct step_line *)row)->settling)
		snprintf(text, size, "settling");
}

#define VALUE(name, number) \
static bool name##_value(const void *row, int64_t *value) \
{ \
	const struct step_line *line = row; \
\
	*value = number; \
	return true; \
}
VALUE(number, line->step.number)
VALUE(start, line->step.start_ns - line->base_ns)
VALUE(duration, line->step.dur_ns)
VALUE(delta, line->step.dur_ns - line->typical_ns)

static uint64_t duration_part(const void *row)
{
	int64_t dur = ((const struct step_line *)row)->step.dur_ns;

	return dur > 0 ? (uint64_t)dur : 0;
}

static enum filter_known field(const void *row, enum filter_field by, struct filter_value *value)
{
	const struct step_line *line = row;
	const struct step_row *step = &line->step;
	int64_t start_ns = step->start_ns - line->base_ns;

	switch (by) {
	case FILTER_BY_KIND: return filter_number(value, FILTER_STEP);
	case FILTER_BY_STEP:
	case FILTER_BY_NUMBER: return filter_number(value, step->number);
	case FILTER_BY_DUR: return filter_number(value, step->dur_ns);
	case FILTER_BY_START: return filter_number(value, start_ns);
	case FILTER_BY_END: return filter_number(value, start_ns + step->dur_ns);
	case FILTER_BY_WARM_UP: return filter_number(value, step->warm_up);
	case FILTER_BY_OUTLIER: return filter_number(value, step->outlier);
	case FILTER_BY_COMPILED: return filter_number(value, step->compiled);
	default: return FILTER_UNKNOWN;
	}
}

static uint64_t identity(const void *row)
{
	const struct step_line *line = row;

	return table_mix((uint64_t)line->step.number, (uint64_t)line->step.start_ns, 0);
}

/* Slow steps are what one looks for. */
static enum role bar_role(const void *row)
{
	const struct step_line *line = row;

	return line->step.outlier ? ROLE_ACCENT : ROLE_GOOD;
}

#define OF_STEP " of the step, as a share of it; sorted by the time"

static const struct table_column column_list[] = {
	{"step", "step", 7, 0, 0, 0, UNIT_NUMBER, 0, .value = number_value,
	 .help = "the step's number, as the program counts"},
	{"start", "start", 12, 0, 0, 1, UNIT_TIME, 0, .value = start_value, .text = start_text,
	 .help = "since the start of the run"},
	{"duration", "duration", 10, 0, 0, 0, UNIT_TIME, TABLE_SUMS, .value = duration_value,
	 .help = "from its start to its end"},
	{"of the longest", "share", 16, 16, 26, 4, UNIT_SHARE, .part = duration_part,
	 .help = "its duration, as a share of the longest one's"},
	{"to the typical", "delta", 14, 0, 0, 5, UNIT_TIME, 0, .value = delta_value, .text = delta_text,
	 .help = "its duration less that of the median step"},
	{"compute", "compute", 8, 0, 0, 2, UNIT_TIME, 0, .value = compute_value, .text = parts_text,
	 .help = "kernels ran: part" OF_STEP},
	{"input", "input", 7, 0, 0, 2, UNIT_TIME, 0, .value = input_value, .text = input_text,
	 .help = "the host fetched or waited for a batch, and no device worked: part" OF_STEP},
	{"copies", "copies", 7, 0, 0, 3, UNIT_TIME, 0, .value = copy_value, .text = copy_text,
	 .help = "copies ran and no kernel: part" OF_STEP},
	{"launch", "launch", 7, 0, 0, 2, UNIT_TIME, 0, .value = launch_value, .text = launch_text,
	 .help = "work was being handed over or on its way, and no device worked: part" OF_STEP},
	{"sync", "sync", 7, 0, 0, 2, UNIT_TIME, 0, .value = sync_value, .text = sync_text,
	 .help = "the host waited for a device that did nothing: part" OF_STEP},
	{"host", "host", 7, 0, 0, 2, UNIT_TIME, 0, .value = host_value, .text = host_text,
	 .help = "the host computed, compiled, or nothing is known, and no device worked: part" OF_STEP},
};

static const struct table_columns columns = {
	.name = "steps", TABLE_COLUMNS_OF(column_list, 0), .kind = -1,
};

static const struct table_kind kind = {
	.columns = &columns,
	.row_size = sizeof(struct step_line),
	.empty = "no steps yet: mark them with NVTX or ITT ranges named 'step', or 'step 12'",
	.identity = identity,
	.field = field,
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
	free(steps);
}

/* "the path of step 12: kernel 62 % · launch 20 %": what held it up. */
static void path_draw(const struct step_line *line, struct area area, int y)
{
	const struct critical_path *path = &line->path;
	int64_t last_ns = INT64_MAX;
	char text[256], share[FMT_MAX];
	size_t at;

	at = (size_t)snprintf(text, sizeof(text), "critical path of step %" PRId64 ":",
			      line->step.number);
	for (int i = 0; i < 5; i++) {
		int most = -1;

		/* the next smaller one; of two that are equal the first will do */
		for (int k = 0; k < PATH_KINDS; k++)
			if (path->ns[k] < last_ns && path->ns[k] > path->whole_ns / 1000 &&
			    (most < 0 || path->ns[k] > path->ns[most]))
				most = k;
		if (most < 0)
			break;
		last_ns = path->ns[most];
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %s", i ? " ·" : "",
				       path_kind_name((enum path_kind)most),
				       fmt_share(share, (uint64_t)last_ns,
						 (uint64_t)path->whole_ns));
		if (text_width(text) > area.width - 16)
			break;
	}
	area_text(area, 1, y, ROLE_MUTED, 0, text);
}

/* "a step: backward 52 % · forward 31 % · ...": in the order of an epoch, on average. */
static void phases_draw(const struct step_phases *phases, struct area area, int y)
{
	static const enum step_phase order[STEP_PHASES] = {
		PHASE_INPUT, PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_OTHER,
	};
	char text[256] = "a step, on average:", share[FMT_MAX];
	size_t at = strlen(text), begin = at;

	for (int i = 0; i < STEP_PHASES; i++)
		if (phases->ns[order[i]] > phases->whole_ns / 1000)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %s",
					       at > begin ? " ·" : "", step_phase_name(order[i]),
					       fmt_share(share, (uint64_t)phases->ns[order[i]],
							 (uint64_t)phases->whole_ns));
	area_text(area, 1, y, ROLE_MUTED, 0, text);
}

static void take_parts(struct model *model, struct step_line *line)
{
	struct step_breakdown parts;

	line->has_path = model_critical_step(model, line->step.start_ns, &line->path);
	line->known = model_step_breakdown(model, line->step.start_ns, &parts);
	if (!line->known)
		return;
	line->compute_ns = parts.ns[STEP_COMPUTE] + parts.ns[STEP_COMM];
	line->copy_ns = parts.ns[STEP_H2D] + parts.ns[STEP_D2H] + parts.ns[STEP_D2D];
	line->launch_ns = parts.ns[STEP_LAUNCH];
	line->sync_ns = parts.ns[STEP_SYNC];
	line->input_ns = parts.ns[STEP_INPUT];
	line->host_ns = parts.ns[STEP_HOST] + parts.ns[STEP_COMPILE] + parts.ns[STEP_OTHER];
}

static void steps_update(struct pane *pane, struct view *view, int width, int height)
{
	struct steps_pane *p = (struct steps_pane *)pane;
	struct step_line *lines = NULL;
	size_t first, count, i;
	int64_t longest = 0;

	model_status(view->model, &p->status);
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
		lines = xcalloc(count, sizeof(*lines));
	for (i = 0; i < count; i++) {
		lines[i].step = p->steps.rows[first + i];
		lines[i].base_ns = places_base_ns(&p->status);
		lines[i].typical_ns = p->steps.stats.p50_ns;
		take_parts(view->model, &lines[i]);
		if (lines[i].step.dur_ns > longest)
			longest = lines[i].step.dur_ns;
	}
	for (i = count; i-- && !lines[i].known; )
		lines[i].settling = !p->status.finished;
	table_take(&p->table, lines, count, (uint64_t)longest);
}

/* What made them, and how they are in all: what fits, never half a number. */
static void summary_draw(const struct step_stats *stats, struct area area)
{
	uint64_t left = stats->warm_up + stats->compiled;
	char mean[2 * FMT_MAX + 48], p50[FMT_MAX], p99[FMT_MAX], count[FMT_MAX], text[5 * FMT_MAX + 128];
	char steady[FMT_MAX];
	int used;

	fmt_time(mean, stats->mean_ns);
	if (stats->steady_ns >= 0 && left)
		snprintf(mean + strlen(mean), sizeof(mean) - strlen(mean), ", steady %s (%s left out)",
			 fmt_time(steady, stats->steady_ns), fmt_count(count, left));
	fmt_time(p50, stats->p50_ns);
	fmt_time(p99, stats->p99_ns);
	used = snprintf(text, sizeof(text), "%" PRIu64 " steps from %s: mean %s, p50 %s, p99 %s",
			stats->count, stats->source ? stats->source : "marks", mean, p50, p99);
	if (stats->outliers && used < (int)sizeof(text))
		snprintf(text + used, sizeof(text) - (size_t)used, ", %s far longer than usual",
			 fmt_count(count, stats->outliers));
	if (text_width(text) > area.width - 2)
		snprintf(text, sizeof(text), "%" PRIu64 " steps: mean %s, p50 %s, p99 %s",
			 stats->count, mean, p50, p99);
	if (text_width(text) > area.width - 2)
		snprintf(text, sizeof(text), "%" PRIu64 " steps", stats->count);
	area_text(area, 1, 0, ROLE_MUTED, 0, text);
}

/* Whether they are steady, how fast, when they will be done. */
static void progress_draw(const struct steps_pane *p, const struct view *view, struct area area)
{
	struct progress progress;
	char text[256];

	progress_of(&p->steps, view->settings, &progress);
	progress_sentence(&progress, p->status.finished, text, sizeof(text));
	while (text_width(text) > area.width - 2 && strstr(text, " · ")) {
		char *last = text;

		for (char *at = text; (at = strstr(at, " · ")); at++)
			last = at;
		*last = '\0';
	}
	area_text(area, 1, 0, ROLE_DEFAULT, 0, text);
}

static void steps_draw(struct pane *pane, struct view *view, struct area area, bool focused)
{
	struct steps_pane *p = (struct steps_pane *)pane;
	const struct step_line *line;
	int top = area.y;

	if (p->steps.n && area.height >= 4) {
		summary_draw(&p->steps.stats, area);
		area = area_sub(area, 0, 1, area.width, area.height - 1);
	}
	if (p->steps.n && area.height >= 6) {
		progress_draw(p, view, area);
		area = area_sub(area, 0, 1, area.width, area.height - 1);
	}
	line = table_current(&p->table);
	if (line && line->has_path && area.height >= 6) {
		path_draw(line, area, area.height - 1);
		area.height--;
	}
	if (p->has_phases && area.height >= 6) {
		phases_draw(&p->phases, area, area.height - 1);
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
		snprintf(number, sizeof(number), "%" PRId64, line->step.number);
		return places_about(view, "step", number);
	}
	if (line && strcmp(call->argv[0], "diff") == 0) {
		snprintf(p->command, sizeof(p->command), "diff step %" PRId64, line->step.number);
		view->run_command = p->command;
		return OUT_RUN_COMMAND;
	}
	if (strcmp(call->argv[0], "open") != 0)
		return table_command(&p->table, view, call);
	if (!line)
		return OUT_NONE;
	view->cursor_ns = line->step.start_ns;
	view->selected = (struct span_ref){0};
	return OUT_REDRAW | OUT_FREEZE | OUT_SHOW_CURSOR | OUT_FOCUS_TIMELINE;
}

/* "12": that step. */
static bool is_row(const void *row, const char *key)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRId64, ((const struct step_line *)row)->step.number);
	return strcmp(number, key) == 0;
}

/* Without a name the step that is shown on the timeline. */
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
};
