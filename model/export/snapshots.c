/* SPDX-License-Identifier: MIT */
#include "model/export/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/columns/copies.h"
#include "model/columns/host.h"
#include "model/columns/kernels.h"
#include "model/columns/memory.h"
#include "model/columns/ops.h"
#include "model/columns/plain.h"
#include "model/query/class.h"
#include "model/query/counters.h"
#include "model/query/flows.h"
#include "model/query/input.h"
#include "model/query/optree.h"
#include "model/query/pools.h"
#include "model/query/replays.h"
#include "model/query/requests.h"
#include "model/query/waits.h"
#include "model/query/work.h"

size_t snapshot_take(const struct row_snapshot *kind, struct model *model, void **rows)
{
	size_t count;

	model_lock(model);
	count = kind->take(model, rows);
	model_unlock(model);
	return count;
}

void snapshot_release(const struct row_snapshot *kind, void *rows, size_t count)
{
	if (kind->release)
		kind->release(rows, count);
	else
		free(rows);
}

/* ---- rows as the model has them ---- */

#define TAKE(name, ask, type) \
static size_t snapshot_take_##name(struct model *model, void **rows) \
{ \
	struct type *taken; \
	size_t count = ask(model, &taken); \
\
	*rows = taken; \
	return count; \
}
#define SNAPSHOT_OF(name, type, columns_, ...) \
const struct row_snapshot snapshot_of_##name = { \
	.take = snapshot_take_##name, .size = sizeof(struct type), .columns = columns_, \
	__VA_ARGS__ \
};
#define SNAPSHOT(name, ask, type, columns) \
	TAKE(name, ask, type) SNAPSHOT_OF(name, type, columns)

SNAPSHOT(processes, model_processes, process_row, &process_columns)
SNAPSHOT(devices, model_devices, device_row, NULL)
SNAPSHOT(classes, model_kernel_classes, kernel_class_row, &kernel_class_columns)
/* The report writes the path first. */
SNAPSHOT(scopes, model_scopes, optree_row, NULL)
SNAPSHOT(calls, model_calls, call_row, &call_columns)
SNAPSHOT(waits, model_waits, wait_row, &wait_columns)
SNAPSHOT(stages, model_input_stages, input_row, &stage_columns)
SNAPSHOT(counters, model_counters, counter_row, &counter_columns)
SNAPSHOT(pools, model_pools, pool_row, &pool_columns)
SNAPSHOT(requests, model_requests, request_row, &request_columns)
SNAPSHOT(flows, model_flows, flow_row, &flow_columns)
SNAPSHOT(edges, model_edges, edge_row, &edge_columns)
SNAPSHOT(compiles, model_compiles, compile_row, &compile_columns)
SNAPSHOT(messages, model_messages, message_row, &message_columns)

static void snapshot_release_replays(void *rows, size_t count)
{
	model_replays_free(rows, count);
}

TAKE(replays, model_replays, replay_row)
SNAPSHOT_OF(replays, replay_row, &replay_columns, .release = snapshot_release_replays)

/* ---- queues ---- */

/* Where the API does not tell when work was queued, the delay is that of the launches. */
static size_t snapshot_take_queues(struct model *model, void **rows)
{
	struct queue_row *queues;
	struct queue_work *works;
	size_t count = model_queues(model, &queues), n = model_queue_work(model, &works);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < count; k++) {
			if (queues[k].id != works[i].queue || queues[k].delay_p50_ns >= 0)
				continue;
			queues[k].delay_p50_ns = works[i].delay_p50_ns;
			queues[k].delay_p99_ns = works[i].delay_p99_ns;
		}
	free(works);
	*rows = queues;
	return count;
}

SNAPSHOT_OF(queues, queue_row, &queue_columns)

/* ---- kernels, copies, lines of the host ---- */

/* A kernel's arrays are the model's row's, which the line keeps for members(). */
static size_t snapshot_take_kernels(struct model *model, void **rows)
{
	struct kernel_line *lines;
	struct kernel_row *taken;
	size_t count = model_kernels(model, &taken);

	lines = xcalloc(count, sizeof(*lines));
	for (size_t i = 0; i < count; i++) {
		kernel_line_init(&lines[i], &taken[i]);
		lines[i].row = taken[i];
	}
	free(taken);
	*rows = lines;
	return count;
}

static void snapshot_release_kernels(void *rows, size_t count)
{
	struct kernel_line *lines = rows;

	for (size_t i = 0; i < count; i++)
		model_kernel_release(&lines[i].row);
	free(lines);
}

SNAPSHOT_OF(kernels, kernel_line, &kernel_columns, .release = snapshot_release_kernels)

static size_t snapshot_take_copies(struct model *model, void **rows)
{
	struct copy_line *lines;
	struct copy_row *taken;
	size_t count = model_copies(model, &taken);

	lines = xcalloc(count, sizeof(*lines));
	for (size_t i = 0; i < count; i++)
		copy_line_init(&lines[i], &taken[i]);
	free(taken);
	*rows = lines;
	return count;
}

SNAPSHOT_OF(copies, copy_line, &copy_columns)

static size_t snapshot_take_host(struct model *model, void **rows)
{
	struct host_line_row *taken;
	size_t count = model_host_lines(model, &taken);

	*rows = host_lines_of(taken, count);
	free(taken);
	return count;
}

SNAPSHOT_OF(host, host_line, &host_columns)

/* ---- ops and source lines ---- */

/* Names are the model's: equal ones are the same. */
static int by_backward(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct pass_pair *)a)->backward;
	uintptr_t y = (uintptr_t)((const struct pass_pair *)b)->backward;

	return x < y ? -1 : x > y;
}

static size_t snapshot_take_ops(struct model *model, void **rows)
{
	struct op_line *lines;
	struct op_row *taken;
	struct pass_pair *pairs, *pair;
	size_t count = model_ops(model, &taken), n_pairs = model_passes(model, &pairs);

	if (n_pairs)
		qsort(pairs, n_pairs, sizeof(*pairs), by_backward);
	lines = xcalloc(count, sizeof(*lines));
	for (size_t i = 0; i < count; i++) {
		lines[i].op = taken[i];
		pair = n_pairs ? bsearch(&(struct pass_pair) { .backward = taken[i].name }, pairs,
					 n_pairs, sizeof(*pairs), by_backward) : NULL;
		if (pair) {
			lines[i].backward_of = pair->forward;
			lines[i].backward_links = pair->links;
		}
	}
	free(pairs);
	free(taken);
	*rows = lines;
	return count;
}

SNAPSHOT_OF(ops, op_line, &op_list_columns)

/* A line of a file, by what it costs. */
static int source_compare_cost(const void *a, const void *b)
{
	const struct source_place *x = a, *y = b;

	return DESCENDING(x, y, line.cost.total_ns) ?:
	       x->file != y->file ? strcmp(x->file, y->file) : ASCENDING(x, y, line.line);
}

/* The user's lines that anything ran of. */
static size_t snapshot_take_sources(struct model *model, void **rows)
{
	struct source_place *places = NULL;
	struct source_row *files;
	size_t n = 0, cap = 0, n_files;

	n_files = model_sources(model, NULL, &files);
	for (size_t i = 0; i < n_files; i++) {
		struct source_line *lines;
		size_t n_lines = files[i].library ? 0 :
			model_source_lines(model, files[i].file, &lines);

		for (size_t k = 0; k < n_lines; k++) {
			if (!lines[k].cost.calls)
				continue;
			grow(&places, &cap, n, sizeof(*places));
			places[n++] = (struct source_place) { files[i].file, lines[k] };
		}
		if (!files[i].library)
			free(lines);
	}
	free(files);
	if (n)
		qsort(places, n, sizeof(*places), source_compare_cost);
	*rows = places;
	return n;
}

SNAPSHOT_OF(sources, source_place, &source_columns)

/* ---- memory ---- */

static size_t snapshot_take_memory(struct model *model, void **rows)
{
	struct model_status status;
	struct memory_line *lines;
	struct memory_row *taken;
	size_t count = model_memory(model, &taken);

	model_status(model, &status);
	lines = xcalloc(count, sizeof(*lines));
	for (size_t i = 0; i < count; i++)
		lines[i] = (struct memory_line) {
			.row = taken[i], .base_ns = status.first_ns, .steps = true,
		};
	free(taken);
	*rows = lines;
	return count;
}

/* Of allocators that hand out pieces, as the run ended. */
static size_t snapshot_take_chunks(struct model *model, void **rows)
{
	struct allocator_chunks *lines;
	struct memory_row *taken;
	size_t count = model_memory(model, &taken), kept = 0;

	lines = xcalloc(count, sizeof(*lines));
	for (size_t i = 0; i < count; i++) {
		lines[kept].allocator = taken[i].allocator;
		if (model_memory_chunks(model, taken[i].account, &lines[kept].chunks) &&
		    lines[kept].chunks.known)
			kept++;
	}
	free(taken);
	*rows = lines;
	return kept;
}

SNAPSHOT_OF(memory, memory_line, &allocator_columns)
SNAPSHOT_OF(chunks, allocator_chunks, &chunk_columns)
