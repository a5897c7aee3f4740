/* SPDX-License-Identifier: MIT */
/* Columns of a row: from its lanes, or from the union of the rows below it. */
#include "model/answers/parts.h"
#include "model/counters/counters.h"
#include "model/memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

struct part_list {
	struct lane_part *list;		/* owned */
	size_t n, cap;
};

static void add_part(struct part_list *parts, struct model *model, uint32_t row, uint32_t lane)
{
	struct row *r = row_at(model, row);

	grow(&parts->list, &parts->cap, parts->n, sizeof(*parts->list));
	parts->list[parts->n++] = (struct lane_part) {
		.lane = lane < r->n_lanes ? &r->lanes[lane] : NULL, .row = row, .index = lane,
	};
}

static void add_row(struct part_list *parts, struct model *model, uint32_t row, uint32_t lane)
{
	const struct row *r = row_at(model, row);

	for (uint32_t l = 0; l < r->n_lanes; l++)
		if (lane == LANE_ALL || lane == l)
			add_part(parts, model, row, l);
}

static bool in_pool(const struct model *model, const struct row *pool, const struct row *below)
{
	const struct thread *thread;

	if (below->thread == NONE)
		return false;
	thread = thread_at(model, below->thread);
	return thread->tid != process_at(model, thread->process)->pid &&
	       names_resolve(&model->names, thread->name) == pool->series;
}

/* The rows that a process's, device's or bandwidth row summarises. */
static void add_below(struct part_list *parts, struct model *model, const struct row *row)
{
	struct row_filter filter = {
		.process = row->process, .queue = NONE, .device = row->device,
		.threads = row->kind == ROW_PROCESS || row->kind == ROW_POOL,
			   .kernels = row->kind == ROW_DEVICE,
		.copies = row->kind == ROW_DEVICE || row->kind == ROW_BANDWIDTH,
	};
	struct row_walk walk = ROW_WALK(&filter);
	uint32_t i;

	while ((filter.threads || filter.copies) && (i = row_walk(model, &walk)) != NONE) {
		const struct row *below = row_at(model, i);

		if (row->kind == ROW_BANDWIDTH && below->direction != row->direction)
			continue;
		if (row->kind == ROW_POOL && !in_pool(model, row, below))
			continue;
		/* Only the outermost lane counts: nested ops lie within its time. */
		add_row(parts, model, i, filter.threads && below->thread != NONE ? 0 :
					 LANE_ALL);
	}
}

size_t parts_of(struct model *model, uint32_t row_id, uint32_t lane, struct lane_part **out)
{
	struct part_list parts = { .list = NULL };
	const struct row *row;

	*out = NULL;
	if (!row_id || row_id > model->rows.n)
		return 0;
	row = row_at(model, row_id - 1);
	if (row->kind == ROW_THREAD || row->kind == ROW_QUEUE || row->kind == ROW_COPY ||
	    row->kind == ROW_COMPILE || row->kind == ROW_GRAPH)
		add_row(&parts, model, row_id - 1, lane);
	if (lane == LANE_ALL || lane == 0)
		add_below(&parts, model, row);
	*out = parts.list;
	return parts.n;
}

/* The union to take busy time from; NULL: the lanes do not overlap. */
static const struct cover *cover_of(struct model *model, const struct row *row, uint32_t lane)
{
	const struct merged *merged = &row->merged;

	if (row->kind == ROW_PROCESS)
		merged = &process_at(model, row->process)->merged;
	else if (row->kind == ROW_DEVICE)
		merged = &device_at(model, row->device)->all;
	else if (lane != LANE_ALL || row->n_lanes < 2)
		return NULL;
	return merged->full ? &merged->cover : NULL;
}

static int64_t closed_busy(struct lane_part *parts, size_t n_parts, const struct cover *cover,
			   int64_t a, int64_t b)
{
	int64_t busy = 0;

	if (a >= b)
		return 0;
	if (cover)
		return cover_window(cover, a, b);
	for (size_t i = 0; i < n_parts; i++)
		busy += lane_busy(parts[i].lane, a, b);
	return busy < b - a ? busy : b - a;
}

static void note_edge(struct column *column, int64_t t)
{
	if (!column->edges || t < column->first_edge_ns)
		column->first_edge_ns = t;
	if (!column->edges || t > column->last_edge_ns)
		column->last_edge_ns = t;
	column->edges++;
}

static bool name_wanted(const struct lane_want *want, uint32_t name)
{
	return name < want->n && want->wanted[name];
}

bool open_wanted(const struct model *model, const struct open_span *open,
		 const struct lane_want *want)
{
	bool has_op = row_at(model, open->row)->kind != ROW_THREAD;

	return ((want->name || !has_op) && name_wanted(want, open->name)) ||
	       (want->op && has_op && name_wanted(want, open->cold.command.op_name));
}

void add_opens(struct model *model, const struct lane_part *part, const struct lane_want *want,
	       int64_t t0, int64_t w, size_t n, struct column *out, int64_t *longest_ns,
	       int64_t *least)
{
	int64_t edge = live_edge(model), t1 = t0 + w * (int64_t)n;

	for (uint32_t o = row_at(model, part->row)->opens; o != NONE; o = open_at(model, o)->next) {
		const struct open_span *open = open_at(model, o);
		int64_t from = open->start_ns > t0 ? open->start_ns : t0;
		int64_t to = edge < t1 ? edge : t1;

		if (open->lane != part->index || (want && !open_wanted(model, open, want)))
			continue;
		if (open->start_ns < *least)
			*least = open->start_ns;
		if (open->start_ns >= t0 && open->start_ns < t1)
			note_edge(&out[(open->start_ns - t0) / w], open->start_ns);
		for (size_t c = (size_t)((from - t0) / w); from < to; c++) {
			int64_t border = t0 + w * (int64_t)(c + 1);
			int64_t stop = to < border ? to : border;

			out[c].count++;
			out[c].flags |= COLUMN_OPEN;
			out[c].work_ns[open->work] += stop - from;
			if (!out[c].longest.id || edge - open->start_ns > longest_ns[c]) {
				longest_ns[c] = edge - open->start_ns;
				out[c].longest = (struct span_ref) {
					part->row + 1, part->index, open->id,
				};
			}
			from = stop;
		}
	}
}

/* From the first open start to the live edge all is busy. */
static void widen_busy(struct model *model, struct lane_part *parts, size_t n_parts,
		       const struct cover *cover, int64_t least, int64_t t0, int64_t w, size_t n,
		       struct column *out)
{
	int64_t edge = live_edge(model);

	for (size_t c = least > t0 ? (size_t)((least - t0) / w) : 0; c < n; c++) {
		int64_t c0 = t0 + w * (int64_t)c, c1 = c0 + w;
		int64_t from = least > c0 ? least : c0, to = edge < c1 ? edge : c1;

		if (from >= to)
			return;
		out[c].busy_ns = closed_busy(parts, n_parts, cover, c0, from) + (to - from) +
				 closed_busy(parts, n_parts, cover, to, c1);
	}
}

static void mark_losses(struct model *model, int64_t t0, int64_t w, size_t n, struct column *out)
{
	int64_t t1 = t0 + w * (int64_t)n;
	/* columns before this one are done: losses are sorted by begin */
	int64_t marked = 0;

	for (size_t i = 0; i < model->n_losses && model->losses[i].begin_ns < t1; i++) {
		int64_t from = model->losses[i].begin_ns, to = model->losses[i].end_ns;
		int64_t c;

		if (to < t0)
			continue;
		c = from < t0 ? 0 : (from - t0) / w;
		for (c = c < marked ? marked : c; c < (int64_t)n && t0 + c * w <= to; c++)
			out[c].flags |= COLUMN_LOST;
		if (c > marked)
			marked = c;
	}
}

/* A row without a device stands for all processes. */
static void mark_pauses(struct model *model, uint32_t device, int64_t t0, int64_t w, size_t n,
			struct column *out)
{
	struct model_pause *list;
	size_t count = model_pauses(model, device, t0, t0 + w * (int64_t)n, &list);

	for (size_t i = 0; i < count; i++)
		for (int64_t c = (list[i].begin_ns - t0) / w;
		     c < (int64_t)n && t0 + c * w < list[i].end_ns; c++)
			out[c].flags |= COLUMN_PAUSED;
	free(list);
}

static void mark_unseen(struct model *model, uint32_t device, int64_t t0, int64_t w, size_t n,
			struct column *out)
{
	mark_losses(model, t0, w, n, out);
	mark_pauses(model, device, t0, w, n, out);
}

/* Rate of the slowest copy in [a, b), 0 when there is a moment without any. */
static uint64_t least_rate(const struct lane_part *parts, size_t n_parts, int64_t a, int64_t b)
{
	struct cover cover = { .n = 0 };
	uint64_t least = UINT64_MAX;
	bool whole;

	for (size_t i = 0; i < n_parts; i++) {
		struct lane_pos pos;

		for (bool more = lane_touching(parts[i].lane, a, &pos); more;
		     more = lane_next(parts[i].lane, &pos)) {
			struct lane_span span = lane_get(parts[i].lane, pos);
			int64_t end = span.start_ns + span.dur_ns;
			uint64_t rate;

			if (span.start_ns >= b)
				break;
			if (end <= a || !span.dur_ns)
				continue;
			cover_add(&cover, span.start_ns > a ? span.start_ns : a, end < b ? end : b);
			rate = bytes_per_s(lane_cold_field(parts[i].lane, pos, 0), span.dur_ns);
			least = rate < least ? rate : least;
		}
	}
	whole = cover.total_ns == b - a;
	cover_release(&cover);
	return whole ? least : 0;
}

/* Converts the bytes of a column to bytes per second and clears everything that a counter does
 * not have. */
static void to_rates(const struct lane_part *parts, size_t n_parts, int64_t t0, int64_t w, size_t n,
		     struct column *out, bool counter)
{
	for (size_t c = 0; c < n; c++) {
		/* Most columns have a gap, which is quick to see. */
		uint64_t low = out[c].busy_ns >= w ?
			       least_rate(parts, n_parts, t0 + w * (int64_t)c,
					  t0 + w * (int64_t)(c + 1)) : 0;
		uint64_t value = bytes_per_s(out[c].value, w);
		uint64_t peak = out[c].value_max > value ? out[c].value_max : value;

		if (counter)
			out[c] = (struct column) { .flags = out[c].flags };
		out[c].value = value;
		out[c].value_min = low < value ? low : value;
		out[c].value_max = peak;
	}
}

/* Fills in everything except rates and losses; bytes are not converted yet. */
static void parts_columns(struct model *model, struct lane_part *parts, size_t n_parts,
			  const struct row *row, uint32_t lane, int64_t t0, int64_t w, size_t n,
			  struct column *out)
{
	const struct cover *cover = cover_of(model, row, lane);
	int64_t *longest_ns = xcalloc(n, sizeof(*longest_ns)), least = INT64_MAX;

	for (size_t i = 0; i < n_parts; i++)
		lane_columns(parts[i].lane, parts[i].row + 1, parts[i].index, t0, w, n, out,
			     longest_ns);
	if (cover) {
		for (size_t c = 0; c < n; c++)
			out[c].busy_ns = 0;
		cover_columns(cover, t0, w, n, &out->busy_ns, sizeof(*out));
	}
	/* A pool's busy time is the mean over its threads. */
	for (size_t c = 0; row->kind == ROW_POOL && c < n; c++)
		out[c].busy_ns /= n_parts ? (int64_t)n_parts : 1;
	/* There is no union yet while it is being made for the first time. */
	for (size_t c = 0; !cover && c < n; c++)
		if (out[c].busy_ns > w)
			out[c].busy_ns = w;
	if (row->kind != ROW_BANDWIDTH)
		for (size_t i = 0; i < n_parts; i++)
			add_opens(model, &parts[i], NULL, t0, w, n, out, longest_ns, &least);
	if (least != INT64_MAX)
		widen_busy(model, parts, n_parts, cover, least, t0, w, n, out);
	free(longest_ns);
}

void model_columns(struct model *model, uint32_t row_id, uint32_t lane, int64_t t0, int64_t t1,
		   size_t n, struct column *out)
{
	const struct row *row;
	struct lane_part *parts;
	size_t n_parts;
	int64_t span, w;

	memset(out, 0, n * sizeof(*out));
	if (!n || __builtin_sub_overflow(t1, t0, &span) || span <= 0 || !row_id ||
	    row_id > model->rows.n)
		return;
	w = span / (int64_t)n;
	if (w < 1)
		w = 1;
	row = row_at(model, row_id - 1);
	if (row->kind == ROW_MEMORY) {
		memory_columns(model, row->device, t0, w, n, out);
		mark_unseen(model, row->device, t0, w, n, out);
		return;
	}
	if (row->kind == ROW_COUNTER) {
		counters_columns(model, row->series, t0, w, n, out);
		mark_unseen(model, NONE, t0, w, n, out);
		return;
	}
	n_parts = parts_of(model, row_id, lane, &parts);
	parts_columns(model, parts, n_parts, row, lane, t0, w, n, out);
	if (row->kind == ROW_BANDWIDTH || row->kind == ROW_COPY)
		to_rates(parts, n_parts, t0, w, n, out, row->kind == ROW_BANDWIDTH);
	mark_unseen(model, row->device, t0, w, n, out);
	free(parts);
}

bool model_range(struct model *model, uint32_t row_id, uint32_t lane, int64_t t0, int64_t t1,
		 struct range_sum *out)
{
	struct column column = { .busy_ns = 0 };
	struct lane_part *parts;
	int64_t span;
	size_t n_parts;

	memset(out, 0, sizeof(*out));
	if (__builtin_sub_overflow(t1, t0, &span) || span <= 0 || !row_id ||
	    row_id > model->rows.n || row_at(model, row_id - 1)->kind == ROW_MEMORY ||
	    row_at(model, row_id - 1)->kind == ROW_COUNTER)
		return false;
	n_parts = parts_of(model, row_id, lane, &parts);
	parts_columns(model, parts, n_parts, row_at(model, row_id - 1), lane, t0, span, 1, &column);
	free(parts);
	out->busy_ns = column.busy_ns < span ? column.busy_ns : span;
	out->count = column.count;
	out->bytes = column.value;
	out->approx = column.flags & COLUMN_APPROX;
	for (int k = 0; k < WORK_COUNT; k++) {
		out->work_ns[k] = column.work_ns[k];
		add_ns(&out->time_ns, column.work_ns[k]);
	}
	return true;
}
