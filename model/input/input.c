/* SPDX-License-Identifier: MIT */
/*
 * The stages of input pipelines. They are kept by process and id, and summed up as reports
 * arrive. A stage's parent has a lower id, so going through a process's stages by id meets
 * parents first, and the time that the program waits is handed down in one pass.
 *
 * Bounds: STAGES_MAX stages of all processes. Complexity: O(1) for an event, O(n log n) for a
 * question.
 */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/input/input.h"

#define STAGES_MAX 2048u

void inputs_new(struct model *model)
{
	model->inputs = xcalloc(1, sizeof(*model->inputs));
	store_init(&model->inputs->stages, sizeof(struct input_stage));
}

void inputs_free(struct model *model)
{
	store_release(&model->inputs->stages);
	map_release(&model->inputs->by_id);
	free(model->inputs);
}

size_t inputs_bytes(const struct model *model)
{
	const struct inputs *inputs = model->inputs;

	return sizeof(*inputs) + inputs->stages.n * sizeof(struct input_stage) +
	       map_bytes(&inputs->by_id);
}

static struct input_stage *stage_at(const struct model *model, uint32_t i)
{
	return store_at(&model->inputs->stages, i);
}

/* ---- events ---- */

static struct input_stage *stage_get(struct model *model, uint32_t process, uint32_t id)
{
	uint64_t key = (uint64_t)process << 32 | id;
	uint32_t index = map_get(&model->inputs->by_id, key);
	struct input_stage *stage;

	if (index != MAP_NONE)
		return stage_at(model, index);
	if (!id || model->inputs->stages.n >= STAGES_MAX) {
		model_bad(model, id ? BAD_FULL : BAD_ID);
		return NULL;
	}
	stage = store_new(&model->inputs->stages);
	stage->process = process;
	stage->id = id;
	stage->parallelism = stage->buffered = -1;
	map_set(&model->inputs->by_id, key, model->inputs->stages.n - 1);
	return stage;
}

void apply_stage(struct model *model, const struct arrival *in)
{
	const struct event_stage *def = &in->event->u.stage;
	struct input_stage *stage = stage_get(model, in->process->index, def->id);

	if (!stage)
		return;
	if (def->parent >= def->id) {
		model_bad(model, BAD_ID);
		return;
	}
	stage->parent = def->parent;
	stage->parallelism_set = def->parallelism < -1 ? -1 : def->parallelism;
	stage->buffer = def->buffer < -1 ? -1 : def->buffer;
	stage->path = names_intern(&model->names, def->path && *def->path ? def->path : "?");
	if (def->what && *def->what)
		stage->what = names_intern(&model->names, def->what);
}

static bool possible(int64_t ns)
{
	return ns >= 0 && ns < TIME_MAX;
}

static void add_count(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}

/* A call that was going on at the time of a report may have a part of its sums in the next
 * report. */
void apply_stages(struct model *model, const struct arrival *in)
{
	const struct event_stages *did = &in->event->u.stages;
	struct input_stage *stage;

	if (!possible(did->total_ns) || !possible(did->self_ns) || !possible(did->busy_ns) ||
	    !possible(did->wait_ns) || !possible(did->max_ns) ||
	    !time_ok(did->begin_ns) || !time_ok(did->end_ns) || did->end_ns < did->begin_ns) {
		model_bad(model, BAD_FAR);
		return;
	}
	stage = stage_get(model, in->process->index, did->stage);
	if (!stage)
		return;
	add_count(&stage->calls, did->elements);
	add_count(&stage->bytes, did->bytes);
	add_ns(&stage->total_ns, did->total_ns);
	add_ns(&stage->self_ns, did->self_ns);
	add_ns(&stage->busy_ns, did->busy_ns);
	add_ns(&stage->wait_ns, did->wait_ns);
	if (did->max_ns > stage->max_ns)
		stage->max_ns = did->max_ns;
	if (!stage->begin_ns || did->begin_ns < stage->begin_ns)
		stage->begin_ns = did->begin_ns;
	/* the latest report says what is in force */
	if (did->end_ns < stage->end_ns)
		return;
	stage->end_ns = did->end_ns;
	if (did->parallelism >= 0)
		stage->parallelism = did->parallelism;
	if (did->buffered >= 0)
		stage->buffered = did->buffered;
}

/* ---- queries ---- */

static const char *last_part(const char *path)
{
	const char *part = path;

	for (const char *at = path; (at = strstr(at, "::")); )
		part = at += 2;
	return part;
}

static struct input_row row_of(struct model *model, uint32_t index)
{
	const struct input_stage *stage = stage_at(model, index);
	const struct process *process = process_at(model, stage->process);
	const char *path = names_raw(&model->names, stage->path);
	bool ahead = stage->parent && stage->wait_ns > 0;

	return (struct input_row) {
		.id = index + 1, .host = process->host, .pid = process->pid,
		.path = path, .name = last_part(path),
		.what = stage->what ? names_raw(&model->names, stage->what) : NULL,
		.calls = stage->calls, .bytes = stage->bytes, .total_ns = stage->total_ns,
		.self_ns = stage->self_ns, .wait_ns = stage->wait_ns,
		.busy_ns = stage->busy_ns, .max_ns = stage->max_ns, .ahead = ahead,
		.work_ns = ahead ? stage->busy_ns : stage->self_ns,
		.parallelism = stage->parallelism, .parallelism_set = stage->parallelism_set,
		.buffer = stage->buffer, .buffered = stage->buffered,
	};
}

/* The time that work takes if the given number of calls share it. */
static int64_t elapsed(int64_t work_ns, int32_t parallelism)
{
	return parallelism > 1 ? work_ns / parallelism : work_ns;
}

static int64_t part(int64_t ns, int64_t of, int64_t whole)
{
	return whole > 0 ? (int64_t)((__int128)ns * of / whole) : 0;
}

/* Hands down the time of row `up` to the rows below it in the same process; its own work stays
 * with it. */
static void hand_down(struct input_row *rows, size_t n, size_t up)
{
	struct input_row *row = &rows[up];
	/* only here do the stages below run several calls at once */
	int32_t beside = strstr(row->name, "Interleave") ? row->parallelism : 1;
	int64_t own_ns = elapsed(row->work_ns, row->ahead ? row->parallelism : 1);
	int64_t all_ns = own_ns, held_ns = row->held_ns;

	for (size_t i = up + 1; i < n; i++)
		if (rows[i].parent == row->id)
			add_ns(&all_ns, elapsed(rows[i].total_ns, beside));
	for (size_t i = up + 1; i < n; i++)
		if (rows[i].parent == row->id) {
			rows[i].depth = row->depth + 1;
			rows[i].held_ns = part(held_ns, elapsed(rows[i].total_ns, beside), all_ns);
			row->held_ns -= rows[i].held_ns;
		}
}

struct stage_key { uint32_t process, id, index; };

static int by_id(const void *a, const void *b)
{
	const struct stage_key *x = a, *y = b;

	return ASCENDING(x, y, process) ?: ASCENDING(x, y, id);
}

/* Collects the defined stages, by process and id. */
static size_t rows_of(struct model *model, uint32_t process, struct input_row **out)
{
	const struct inputs *inputs = model->inputs;
	struct stage_key *keys = xreallocarray(NULL, inputs->stages.n + 1, sizeof(*keys));
	struct input_row *rows;
	size_t n = 0;

	for (uint32_t i = 0; i < inputs->stages.n; i++) {
		const struct input_stage *stage = stage_at(model, i);

		if (stage->path && (process == NONE || stage->process == process))
			keys[n++] = (struct stage_key) { stage->process, stage->id, i };
	}
	qsort(keys, n, sizeof(*keys), by_id);
	rows = xreallocarray(NULL, n + 1, sizeof(*rows));
	for (size_t i = 0; i < n; i++) {
		const struct input_stage *stage = stage_at(model, keys[i].index);
		uint32_t up = stage->parent ? map_get(&inputs->by_id,
				(uint64_t)stage->process << 32 | stage->parent) : MAP_NONE;

		rows[i] = row_of(model, keys[i].index);
		if (up != MAP_NONE && stage_at(model, up)->path)
			rows[i].parent = up + 1;
		if (!stage->parent)
			rows[i].held_ns = rows[i].wait_ns;
	}
	for (size_t i = 0; i < n; i++)
		hand_down(rows, n, i);
	free(keys);
	*out = rows;
	return n;
}

/* Moves the row and all rows below it to the output. */
static size_t put_tree(const struct input_row *rows, size_t n, size_t i, struct input_row *out)
{
	size_t put = 1;

	out[0] = rows[i];
	for (size_t k = i + 1; k < n; k++)
		if (rows[k].parent == rows[i].id)
			put += put_tree(rows, n, k, out + put);
	return put;
}

size_t model_input_stages(struct model *model, struct input_row **out)
{
	struct input_row *rows;
	size_t n = rows_of(model, NONE, &rows), put = 0;

	*out = xreallocarray(NULL, n + 1, sizeof(**out));
	for (size_t i = 0; i < n; i++)
		if (!rows[i].parent)
			put += put_tree(rows, n, i, *out + put);
	free(rows);
	return put;
}

bool input_holder(struct model *model, uint32_t process, struct input_hold *hold)
{
	struct input_row *rows;
	size_t n = rows_of(model, process, &rows), best = 0, top;

	*hold = (struct input_hold) { .prefetched = false };
	for (size_t i = 1; i < n; i++)
		if (rows[i].held_ns > rows[best].held_ns)
			best = i;
	if (!n || !rows[best].held_ns) {
		free(rows);
		return false;
	}
	/* a parent comes before its children */
	for (top = best; rows[top].parent; ) {
		for (size_t i = top, up = rows[top].parent; i-- > 0; )
			if (rows[i].id == up)
				top = i;
		hold->prefetched |= rows[top].ahead;
	}
	hold->prefetched |= rows[best].ahead;
	hold->root = rows[top];
	hold->most = rows[best];
	free(rows);
	return true;
}
