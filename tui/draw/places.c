/* SPDX-License-Identifier: MIT */
#include "tui/draw/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keymap/words.h"
#include "model/base/util.h"

void places_device_label(char *text, size_t size, const struct device_row *devices,
			size_t count, uint32_t device)
{
	static const char *const sorts[] = { "cpu", "gpu", "dev" };
	unsigned number = 0;
	size_t i;

	snprintf(text, size, "–");
	for (i = 0; i < count && devices[i].id != device; i++)
		;
	if (i == count)
		return;
	for (size_t j = 0; j < i; j++)
		number += devices[j].gpu == devices[i].gpu;
	snprintf(text, size, "%s%u", sorts[devices[i].gpu < 3 ? devices[i].gpu : 2], number);
}

/* Whether another process on the same device has a queue of this number: each process numbers its
 * own queues. */
static bool has_twin(const struct queue_row *queues, size_t count, size_t which)
{
	for (size_t i = 0; i < count; i++)
		if (queues[i].device == queues[which].device &&
		    queues[i].number == queues[which].number && queues[i].pid != queues[which].pid)
			return true;
	return false;
}

void places_queue_label(char *text, size_t size, const struct queue_row *queues,
		       size_t count, uint32_t queue)
{
	size_t i;

	snprintf(text, size, "–");
	for (i = 0; i < count; i++) {
		if (queues[i].id != queue)
			continue;
		if (queues[i].name && *queues[i].name)
			snprintf(text, size, "%s", queues[i].name);
		else if (has_twin(queues, count, i))
			snprintf(text, size, "q%u (%u)", queues[i].number, queues[i].pid);
		else
			snprintf(text, size, "queue %u", queues[i].number);
	}
}

bool places_stands(const struct view *view, uint64_t *taken)
{
	uint64_t now = model_generation(view->model) + 1;
	struct model_status status;
	bool stands;

	model_status(view->model, &status);
	stands = status.finished && *taken == now;
	*taken = status.finished ? now : 0;
	return stands;
}

int64_t places_base_ns(const struct model_status *status)
{
	return status->first_ns <= status->last_ns ? status->first_ns : 0;
}

char *places_cost(char *text, size_t size, int64_t cost_ns, int64_t step_ns)
{
	char cost[FMT_MAX], step[FMT_MAX];
	const char *cost_unit, *step_unit;

	fmt_time(cost, cost_ns);
	fmt_time(step, step_ns);
	cost_unit = strchr(cost, ' ');
	step_unit = strchr(step, ' ');
	if (step_ns <= 0)
		snprintf(text, size, "%s a second", cost);
	else if (cost_unit && step_unit && strcmp(cost_unit, step_unit) == 0)
		snprintf(text, size, "%.*s of %s", (int)(cost_unit - cost), cost, step);
	else
		snprintf(text, size, "%s of %s", cost, step);
	return text;
}

void places_share(char *text, size_t size, uint64_t part, uint64_t whole)
{
	char share[FMT_MAX];

	snprintf(text, size, "%s", fmt_share(share, part, whole));
}

/* ---- from a table to the timeline ---- */

#define LOOK_SPANS 4096		/* spans that are asked for at once */
#define LOOK_TIMES 64		/* how often, in all lanes together */
#define LOOK_BACK 4000		/* how many earlier events are looked at, in all rows together */

/* "step #" matches all numbered steps. */
static bool named(const char *name, const char *wanted)
{
	size_t head;

	if (!name || name == wanted)
		return name != NULL;
	head = strcspn(wanted, "#");
	if (strncmp(name, wanted, head) != 0)
		return false;
	if (!wanted[head] || wanted[head + 1])
		return strcmp(name, wanted) == 0;
	return name[head] && !name[head + strspn(name + head, "0123456789")];
}

/* Takes the longest span of that name from the lane's spans in the window. */
static void look_in_window(struct view *view, const struct model_row *row, uint32_t lane,
			   const char *name, struct span_edge *spans, int64_t *best_ns, int *times)
{
	int64_t from_ns = view->t0_ns;
	size_t n;

	do {
		n = model_spans(view->model, row->id, lane, from_ns, view->t1_ns, LOOK_SPANS,
				spans);
		for (size_t i = 0; i < n; i++) {
			int64_t dur = spans[i].end_ns - spans[i].start_ns;

			if (dur <= *best_ns || !named(spans[i].name, name))
				continue;
			*best_ns = dur;
			view->selected = spans[i].ref;
		}
		/* the spans of a lane do not overlap */
		from_ns = n ? spans[n - 1].end_ns : view->t1_ns;
	} while (n == LOOK_SPANS && from_ns < view->t1_ns && --*times > 0);
}

static bool look_back(struct view *view, const struct model_row *row, const char *name,
		      int *budget)
{
	int64_t before = view->t1_ns;
	struct span_ref ref;
	struct span span;

	while (*budget > 0 && model_span_prev(view->model, row->id, LANE_ALL, before, &ref) &&
	       model_span(view->model, ref, &span)) {
		if (named(span.name, name)) {
			view->selected = ref;
			return true;
		}
		before = span.start_ns;
		--*budget;
	}
	return false;
}

static bool places_search_event(struct view *view, const char *name, enum row_kind kind,
				uint32_t device)
{
	struct span_edge *spans = xreallocarray(NULL, LOOK_SPANS, sizeof(*spans));
	struct model_row *rows = NULL;
	size_t n_rows = model_rows(view->model, &rows), i;
	int budget = LOOK_BACK, times = LOOK_TIMES;
	int64_t best = -1;
	bool found;

	for (i = 0; i < n_rows; i++)
		if (rows[i].kind == kind && (device == UINT32_MAX || rows[i].device == device))
			for (uint32_t lane = 0; lane < rows[i].lanes && lane < 32; lane++)
				look_in_window(view, &rows[i], lane, name, spans, &best, &times);
	found = best >= 0;
	for (i = 0; i < n_rows && !found; i++)
		if (rows[i].kind == kind && (device == UINT32_MAX || rows[i].device == device))
			found = look_back(view, &rows[i], name, &budget);
	free(rows);
	free(spans);
	return found;
}

/* Selects the event that was found and gives the focus to the timeline. */
static unsigned show_found(struct view *view, const char *name, bool found)
{
	struct span span;

	model_lock(view->model);
	found = found && model_span(view->model, view->selected, &span);
	model_unlock(view->model);
	if (!found) {
		snprintf(view->status, sizeof(view->status),
			 "no event of '%.80s' in the window or shortly before it", name);
		view->status_error = true;
		return OUT_REDRAW;
	}
	view->cursor_row = view->selected.row;
	view->cursor_lane = view->selected.lane;
	view->cursor_ns = span.start_ns;
	return OUT_REDRAW | OUT_FREEZE | OUT_SHOW_CURSOR | OUT_FOCUS_TIMELINE;
}

bool places_devices(struct model *model)
{
	struct device_row *rows = NULL;
	size_t n = model_devices(model, &rows);
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any = any || (rows[i].busy_ns && (!rows[i].api || strcmp(rows[i].api, "cpu")));
	free(rows);
	return any;
}

unsigned places_find_event(struct view *view, const char *name, enum row_kind kind,
			  uint32_t device)
{
	bool found;

	if (!name)
		return OUT_NONE;
	model_lock(view->model);
	found = places_search_event(view, name, kind, device);
	model_unlock(view->model);
	return show_found(view, name, found);
}

unsigned places_find_copy(struct view *view, uint32_t queue, enum direction direction)
{
	struct model_row *rows = NULL;
	struct span_ref ref;
	bool found = false;
	size_t n, i;

	model_lock(view->model);
	n = model_rows(view->model, &rows);
	for (i = 0; i < n && !found; i++) {
		if (rows[i].kind != ROW_COPY || rows[i].queue != queue ||
		    rows[i].direction != direction)
			continue;
		found = model_span_longest(view->model, rows[i].id, LANE_ALL, view->t0_ns,
					   view->t1_ns, &ref) ||
			model_span_prev(view->model, rows[i].id, LANE_ALL, view->t1_ns, &ref);
		if (found)
			view->selected = ref;
	}
	model_unlock(view->model);
	free(rows);
	return show_found(view, direction_name(direction), found);
}

unsigned places_run(struct view *view, const char *const *argv)
{
	static char *line;	/* the text of view->run_command, valid until the next one */
	int argc = 0;

	while (argv[argc])
		argc++;
	free(line);
	line = words_join(argc, argv);
	view->run_command = line;
	return OUT_RUN_COMMAND;
}

unsigned places_about(struct view *view, const char *command, const char *name)
{
	return places_run(view, (const char *[]){ command, name, NULL });
}
