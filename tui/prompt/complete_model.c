/* SPDX-License-Identifier: MIT */
/* Completes names from the model. */
#include "tui/prompt/complete_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/class.h"
#include "model/query/counters.h"
#include "model/query/findings.h"
#include "model/query/host.h"
#include "model/query/lines.h"
#include "model/query/memory.h"
#include "model/query/name.h"
#include "model/query/replays.h"
#include "model/query/query.h"
#include "tui/draw/places.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name_total *)a)->name, ((const struct name_total *)b)->name);
}

static int by_time(const void *a, const void *b)
{
	const struct name_total *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->name, y->name);
}

/* Adds each name once, with its total time. */
static void gather_named(struct gather *gather, struct name_total *list, size_t n)
{
	char time[FMT_MAX];
	size_t to = 0;

	if (n)
		qsort(list, n, sizeof(*list), by_name);
	for (size_t i = 0; i < n; i++) {
		if (to && !strcmp(list[to - 1].name, list[i].name))
			list[to - 1].ns += list[i].ns;
		else
			list[to++] = list[i];
	}
	if (to)
		qsort(list, to, sizeof(*list), by_time);
	for (size_t i = 0; i < to; i++)
		gather_add(gather, list[i].name, list[i].ns ? fmt_time(time, list[i].ns) : "",
			   false);
	free(list);
}

static void add_ops(struct gather *gather)
{
	struct name_total *list;
	size_t n;

	model_lock(gather->ask->model);
	n = model_op_names(gather->ask->model, &list);
	model_unlock(gather->ask->model);
	gather_named(gather, list, n);
}

static void add_kernels(struct gather *gather)
{
	struct name_total *list;
	size_t n;

	model_lock(gather->ask->model);
	n = model_kernel_names(gather->ask->model, &list);
	model_unlock(gather->ask->model);
	gather_named(gather, list, n);
}

static void add_sources(struct gather *gather)
{
	struct source_row *rows;
	size_t n;

	model_lock(gather->ask->model);
	n = model_sources(gather->ask->model, NULL, &rows);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++)
		gather_add(gather, rows[i].file, rows[i].library ? "a package's" : "the program's",
			   false);
	free(rows);
}

/* Adds the functions in which threads were seen. */
static void add_functions(struct gather *gather)
{
	struct name_total *list;
	struct stack_node *nodes;
	size_t n, named = 0;

	model_lock(gather->ask->model);
	n = model_stacks(gather->ask->model, &(struct stacks_of) { 0 }, &nodes);
	model_unlock(gather->ask->model);
	list = xcalloc(n + 1, sizeof(*list));
	for (size_t i = 0; i < n; i++)
		if (nodes[i].kind == STACK_FRAME && *nodes[i].function)
			list[named++] = (struct name_total) {
				.name = nodes[i].function, .ns = nodes[i].ns,
			};
	gather_named(gather, list, named);
	free(nodes);
}

static void add_allocators(struct gather *gather)
{
	struct memory_row *rows;
	size_t n;

	model_lock(gather->ask->model);
	n = model_memory(gather->ask->model, &rows);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++)
		if (rows[i].allocator)
			gather_add(gather, rows[i].allocator, "", false);
	free(rows);
}

static void add_counters(struct gather *gather)
{
	struct counter_row *rows;
	size_t n;

	model_lock(gather->ask->model);
	n = model_counters(gather->ask->model, &rows);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++)
		gather_add(gather, rows[i].name, rows[i].unit, false);
	free(rows);
}

static void add_graphs(struct gather *gather)
{
	struct replay_row *rows;
	size_t n;

	model_lock(gather->ask->model);
	n = model_replays(gather->ask->model, &rows);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++)
		gather_add(gather, rows[i].name, "", false);
	model_replays_free(rows, n);
}

static void gather_devices(struct gather *gather)
{
	struct device_row *rows;
	char label[16];
	size_t n;

	model_lock(gather->ask->model);
	n = model_devices(gather->ask->model, &rows);
	for (size_t i = 0; i < n; i++) {
		places_device_label(label, sizeof(label), rows, n, rows[i].id);
		gather_add(gather, label, rows[i].name ? rows[i].name : "", false);
	}
	model_unlock(gather->ask->model);
	free(rows);
}

static void gather_queues(struct gather *gather)
{
	struct queue_row *rows;
	char label[80];
	size_t n;

	model_lock(gather->ask->model);
	n = model_queues(gather->ask->model, &rows);
	for (size_t i = 0; i < n; i++) {
		places_queue_label(label, sizeof(label), rows, n, rows[i].id);
		gather_add(gather, label, "", false);
	}
	model_unlock(gather->ask->model);
	free(rows);
}

static void gather_processes(struct gather *gather)
{
	struct process_row *rows;
	char pid[16];
	size_t n;

	model_lock(gather->ask->model);
	n = model_processes(gather->ask->model, &rows);
	for (size_t i = 0; i < n; i++) {
		snprintf(pid, sizeof(pid), "%u", rows[i].pid);
		gather_add(gather, pid, rows[i].command ? rows[i].command : "", false);
	}
	model_unlock(gather->ask->model);
	free(rows);
}

/* Adds findings by their ids; where several have the same id, with their subjects. */
static void add_findings(struct gather *gather)
{
	struct findings_status status;
	struct finding *list = NULL;
	size_t n;

	model_lock(gather->ask->model);
	n = model_findings(gather->ask->model, &status, &list);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++) {
		char id[FINDING_ID + 12];
		bool alone = true;

		for (size_t k = 0; k < n; k++)
			alone &= k == i || strcmp(list[k].id, list[i].id);
		snprintf(id, sizeof(id), alone ? "%s" : "%s:%" PRIu32, list[i].id, list[i].subject);
		gather_add(gather, id, list[i].title, false);
	}
	free(list);
}

static void gather_steps(struct gather *gather)
{
	char number[24], time[FMT_MAX];
	struct step_stats stats;
	struct step_row *rows;
	size_t n;

	model_lock(gather->ask->model);
	n = model_steps(gather->ask->model, &stats, &rows);
	model_unlock(gather->ask->model);
	for (size_t i = 0; i < n; i++) {
		snprintf(number, sizeof(number), "%" PRId64, rows[i].number);
		gather_add(gather, number, fmt_time(time, rows[i].dur_ns), false);
	}
	free(rows);
}

/* Adds numbers of timeline rows or of threads. */
static void add_row_ids(struct gather *gather, bool threads)
{
	struct model_row *rows;
	char text[16];
	size_t n;

	model_lock(gather->ask->model);
	n = model_rows(gather->ask->model, &rows);
	for (size_t i = 0; i < n; i++) {
		if (threads && rows[i].kind != ROW_THREAD)
			continue;
		snprintf(text, sizeof(text), "%u", threads ? rows[i].tid : rows[i].id);
		gather_add(gather, text, rows[i].label ? rows[i].label : "", false);
	}
	model_unlock(gather->ask->model);
	free(rows);
}

/* Adds the names of rows, each name once. */
static void add_row_names(struct gather *gather, bool threads)
{
	struct model_row *rows;
	struct name_total *list;
	size_t n, named = 0;

	model_lock(gather->ask->model);
	n = model_rows(gather->ask->model, &rows);
	list = xcalloc(n ? n : 1, sizeof(*list));
	for (size_t i = 0; i < n; i++)
		if (rows[i].label && (!threads || rows[i].kind == ROW_THREAD))
			list[named++] =
				(struct name_total){.name = rows[i].label, .ns = rows[i].busy_ns};
	gather_named(gather, list, named);
	model_unlock(gather->ask->model);
	free(rows);
}

static void add_row_numbers(struct gather *gather)
{
	add_row_ids(gather, false);
}

static void add_row_labels(struct gather *gather)
{
	if (gather_after(gather, "hide") || gather_after(gather, "show") ||
	    gather_after(gather, "only") || gather_after(gather, "find"))
		add_row_names(gather, false);
}

static void add_threads(struct gather *gather)
{
	add_row_names(gather, true);
}

static void add_thread_ids(struct gather *gather)
{
	add_row_ids(gather, true);
}

/* Adds the names of events. */
static void add_names(struct gather *gather)
{
	add_ops(gather);
	add_kernels(gather);
}

static void add_directions(struct gather *gather)
{
	for (int i = DIR_NONE + 1; i < DIR_COUNT; i++)
		gather_add(gather, direction_name((enum direction)i), "", false);
}

static void add_classes(struct gather *gather)
{
	for (int i = 0; i < KERNEL_KINDS; i++)
		gather_add(gather, kernel_kind_name((enum kernel_kind)i), "", false);
}

static void add_dtypes(struct gather *gather)
{
	for (int i = 0; i < KERNEL_TYPES; i++)
		gather_add(gather, kernel_type_name((enum kernel_type)i), "", false);
}

const struct gather_value gather_of_model[] = {
	{"OP", add_ops}, {"KERNEL", add_kernels}, {"NAME", add_names}, {"SOURCE", add_sources},
	{"ALLOCATOR", add_allocators}, {"COUNTER", add_counters}, {"GRAPH", add_graphs},
	{"DEVICE", gather_devices}, {"QUEUE", gather_queues}, {"PID", gather_processes},
	{"FINDING", add_findings}, {"STEP", gather_steps}, {"ROW", add_row_numbers},
	{"ROW[:LANE:ID]", add_row_numbers}, {"/REGEX/", add_row_labels}, {"THREAD", add_threads},
	{"TID", add_thread_ids}, {"DIRECTION", add_directions}, {"CLASS", add_classes},
	{"DTYPE", add_dtypes}, {"FUNCTION", add_functions},
	{NULL, NULL},
};
