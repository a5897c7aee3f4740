/* SPDX-License-Identifier: MIT */
/*
 * The walk over all events of a name. See query/name.h.
 *
 * The walk remembers its place as the start and id of the last span that it visited; both are
 * found again, whatever was added in between.
 */
#include "model/query/name.h"

#include <stdlib.h>
#include <string.h>

#include "model/answers/parts.h"
#include "model/base/hist.h"
#include "model/base/util.h"
#include "model/lanes/lane_internal.h"
#include "model/steps/steps.h"

#define CHUNK_COST 8u			/* how many visited spans skipping a chunk counts as */

struct name_walk {
	struct model *model;		/* borrowed */
	struct lane_want want;
	uint8_t *wanted;		/* owned; by name */
	enum direction direction;	/* all copies in that direction; DIR_NONE: by name */
	bool known;
	int64_t *bounds;		/* owned */
	uint32_t row, lane;		/* the lane that is being walked over ... */
	bool begun;			/* ... up to the span with this start and id */
	int64_t last_start_ns;
	uint32_t last_id;
	bool whole;
	struct name_sum sum;		/* except for the members below */
	struct hist hist;		/* owned */
	struct name_place *places;	/* owned; the last is the row being walked over */
	size_t n_places, cap_places;
	struct name_op *ops;		/* owned */
	size_t n_ops, cap_ops;
	struct map op_index;		/* name -> index */
	/* owned; the last one is the row that is being walked over */
	struct name_part *parts;
};

/* A step also has the name of its series, "step #". */
static bool is_called(struct model *model, uint32_t id, const char *text)
{
	struct names *names = &model->names;
	uint32_t plain = steps_plain(model, id);

	return !strcmp(names_raw(names, id), text) || !strcmp(names_short(names, id), text) ||
	       (plain != id && !strcmp(names_raw(names, plain), text));
}

static void name_walk_want(struct name_walk *walk, const char *text)
{
	struct names *names = &walk->model->names;

	walk->want.n = names->n;
	walk->want.name = true;
	walk->wanted = xcalloc(names->n ? names->n : 1, 1);
	for (uint32_t id = 1; id < walk->want.n; id++) {
		if (!names_defined(names, id) || !is_called(walk->model, id, text))
			continue;
		walk->wanted[id] = 1;
		walk->known = true;
		lane_mark(walk->want.marks, id);
	}
	walk->want.wanted = walk->wanted;
}

struct name_walk *name_walk_new(struct model *model, const char *name, const int64_t *bounds,
				size_t n_bounds)
{
	struct name_walk *walk = xcalloc(1, sizeof(*walk));

	walk->model = model;
	for (int d = DIR_NONE + 1; d < DIR_COUNT; d++)
		if (!strcmp(direction_name((enum direction)d), name))
			walk->direction = (enum direction)d;
	name_walk_want(walk, name);
	walk->known |= walk->direction != DIR_NONE;
	walk->sum.n_parts = n_bounds;
	walk->bounds = xcalloc(n_bounds ? n_bounds : 1, sizeof(*walk->bounds));
	walk->parts = xcalloc(n_bounds ? n_bounds : 1, sizeof(*walk->parts));
	if (n_bounds)
		memcpy(walk->bounds, bounds, n_bounds * sizeof(*bounds));
	return walk;
}

void name_walk_free(struct name_walk *walk)
{
	if (!walk)
		return;
	free(walk->wanted);
	free(walk->bounds);
	free(walk->parts);
	free(walk->places);
	free(walk->ops);
	map_release(&walk->op_index);
	hist_release(&walk->hist);
	free(walk);
}

/* ---- adding up ---- */

static void name_walk_count_part(struct name_walk *walk, const struct name_event *event)
{
	size_t low = FIRST_NOT(i, 0, walk->sum.n_parts, walk->bounds[i] <= event->start_ns);

	if (!low)
		return;
	walk->parts[low - 1].count++;
	add_ns(&walk->parts[low - 1].total_ns, event->dur_ns);
}

static void name_walk_count_op(struct name_walk *walk, uint32_t op, int64_t dur_ns)
{
	uint32_t name = op ? names_resolve(&walk->model->names, op) : 0;
	uint32_t at = map_get(&walk->op_index, (uint64_t)name + 1);

	if (at == MAP_NONE) {
		grow(&walk->ops, &walk->cap_ops, walk->n_ops, sizeof(*walk->ops));
		at = (uint32_t)walk->n_ops++;
		walk->ops[at] = (struct name_op) {
			.name = name ? names_raw(&walk->model->names, name) : NULL,
		};
		map_set(&walk->op_index, (uint64_t)name + 1, at);
	}
	walk->ops[at].count++;
	add_ns(&walk->ops[at].total_ns, dur_ns);
}

static void name_sum_keep_slow(struct name_sum *sum, const struct name_event *event)
{
	size_t at = sum->n_slow;

	while (at && sum->slow[at - 1].dur_ns < event->dur_ns)
		at--;
	if (at == NAME_SLOWEST)
		return;
	if (sum->n_slow < NAME_SLOWEST)
		sum->n_slow++;
	memmove(&sum->slow[at + 1], &sum->slow[at],
		(sum->n_slow - 1 - at) * sizeof(sum->slow[0]));
	sum->slow[at] = *event;
}

static struct name_place *place_of(struct name_walk *walk)
{
	uint32_t id = walk->row + 1;

	if (!walk->n_places || walk->places[walk->n_places - 1].row != id) {
		grow(&walk->places, &walk->cap_places, walk->n_places, sizeof(*walk->places));
		walk->places[walk->n_places++] = (struct name_place) {
			.row = id, .kind = row_at(walk->model, walk->row)->kind,
		};
	}
	return &walk->places[walk->n_places - 1];
}

static void name_walk_take(struct name_walk *walk, const struct row *row, uint32_t op,
			   const struct name_event *event)
{
	struct name_place *place = place_of(walk);
	struct name_sum *sum = &walk->sum;

	if (!sum->count || event->dur_ns < sum->min_ns)
		sum->min_ns = event->dur_ns;
	if (event->dur_ns > sum->max_ns)
		sum->max_ns = event->dur_ns;
	if (!sum->count || event->start_ns < sum->first.start_ns)
		sum->first = *event;
	if (!sum->count || event->start_ns >= sum->last.start_ns)
		sum->last = *event;
	sum->count++;
	add_ns(&sum->total_ns, event->dur_ns);
	hist_add(&walk->hist, event->dur_ns);
	name_sum_keep_slow(sum, event);
	place->count++;
	add_ns(&place->total_ns, event->dur_ns);
	if (!place->longest.ref.id || event->dur_ns > place->longest.dur_ns)
		place->longest = *event;
	if (row->kind == ROW_QUEUE || row->kind == ROW_COPY || row->kind == ROW_GRAPH)
		name_walk_count_op(walk, op, event->dur_ns);
	name_walk_count_part(walk, event);
}

/* ---- spans ---- */

static bool all_of(const struct name_walk *walk, const struct row *row)
{
	return walk->direction != DIR_NONE && row->kind == ROW_COPY &&
	       row->direction == walk->direction;
}

static void name_walk_take_block(struct name_walk *walk, const struct row *row,
				 const struct lane *lane, const struct chunk *chunk, uint32_t first,
				 uint32_t n)
{
	uint64_t start[LANE_BLOCK], dur[LANE_BLOCK], op[LANE_BLOCK] = { 0 };
	uint64_t bits = all_of(walk, row) ? n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX :
					    chunk_wanted(lane, chunk, &walk->want, first, n);

	if (!bits)
		return;
	chunk_read(lane, chunk, LANE_START, first, n, start);
	chunk_read(lane, chunk, LANE_DUR, first, n, dur);
	if (lane->layout.op_field)
		chunk_read(lane, chunk, LANE_COLD + lane->layout.op_field - 1u, first, n, op);
	for (; bits; bits &= bits - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(bits);
		struct name_event event = {
			{ walk->row + 1, walk->lane, chunk_id(chunk, first + i) },
			(int64_t)start[i], (int64_t)dur[i],
		};

		name_walk_take(walk, row, (uint32_t)op[i], &event);
	}
}

/* The place at which the walk of a lane continues; false: there is none. */
static bool name_walk_place(const struct name_walk *walk, const struct lane *lane,
			    struct lane_pos *pos)
{
	if (!walk->begun)
		return lane_lower(lane, INT64_MIN, pos);
	return lane_after_span(lane, walk->last_start_ns, walk->last_id, pos);
}

static void name_walk_remember(struct name_walk *walk, const struct chunk *chunk, uint32_t i)
{
	walk->begun = true;
	walk->last_start_ns = chunk_start(chunk, i);
	walk->last_id = chunk_id(chunk, i);
}

/* Walks over the lane; returns whether there is more. */
static bool name_walk_lane(struct name_walk *walk, const struct row *row, struct lane *lane,
			   uint64_t until)
{
	struct lane_pos pos;

	for (bool more = name_walk_place(walk, lane, &pos); more; more = pos.chunk < lane->n) {
		struct chunk *chunk = lane->chunks[pos.chunk];
		bool may = all_of(walk, row) || chunk_may_have(lane, chunk, &walk->want);

		if (walk->sum.spans >= until)
			return true;
		walk->sum.spans += may ? chunk->n - pos.i : CHUNK_COST;
		while (may && pos.i < chunk->n) {
			uint32_t n = chunk->n - pos.i < LANE_BLOCK ? chunk->n - pos.i : LANE_BLOCK;

			name_walk_take_block(walk, row, lane, chunk, pos.i, n);
			pos.i += n;
		}
		name_walk_remember(walk, chunk, chunk->n - 1);
		pos = (struct lane_pos) { pos.chunk + 1, 0 };
	}
	return false;
}

static void name_walk_take_opens(struct name_walk *walk, const struct row *row)
{
	for (uint32_t o = row->opens; o != NONE; o = open_at(walk->model, o)->next) {
		const struct open_span *open = open_at(walk->model, o);
		int64_t dur = live_edge(walk->model) - open->start_ns;

		if (!all_of(walk, row) && !open_wanted(walk->model, open, &walk->want))
			continue;
		walk->sum.open++;
		walk->sum.open_one = (struct name_event) {
			{ walk->row + 1, open->lane, open->id }, open->start_ns, dur > 0 ? dur : 0,
		};
	}
}

static bool has_events(const struct row *row)
{
	return row->kind == ROW_THREAD || row->kind == ROW_QUEUE || row->kind == ROW_COPY ||
	       row->kind == ROW_COMPILE || row->kind == ROW_GRAPH;
}

bool name_walk_step(struct name_walk *walk, uint64_t spans)
{
	uint64_t until = walk->sum.spans + (spans ? spans : 1);

	for (; walk->row < walk->model->rows.n; walk->row++, walk->lane = 0) {
		struct row *row = row_at(walk->model, walk->row);

		if (!has_events(row))
			continue;
		for (; walk->lane < row->n_lanes; walk->lane++, walk->begun = false)
			if (name_walk_lane(walk, row, &row->lanes[walk->lane], until))
				return true;
		name_walk_take_opens(walk, row);
	}
	walk->whole = true;
	return false;
}

static int place_by_time(const void *a, const void *b)
{
	const struct name_place *x = a, *y = b;

	return DESCENDING(x, y, total_ns) ?: ASCENDING(x, y, row);
}

static int op_by_time(const void *a, const void *b)
{
	const struct name_op *x = a, *y = b;

	return DESCENDING(x, y, total_ns) ?:
	       strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static int64_t within(int64_t ns, const struct name_sum *sum)
{
	return ns < sum->min_ns ? sum->min_ns : ns > sum->max_ns ? sum->max_ns : ns;
}

void name_walk_sum(struct name_walk *walk, struct name_sum *out)
{
	struct name_sum *sum = &walk->sum;

	sum->known = walk->known;
	sum->whole = walk->whole;
	sum->folded = walk->model->folded_ns != INT64_MIN;
	/* sort only at the end: until then the last place is still being added to */
	if (walk->whole && walk->n_places)
		qsort(walk->places, walk->n_places, sizeof(*walk->places), place_by_time);
	if (walk->whole && walk->n_ops)
		qsort(walk->ops, walk->n_ops, sizeof(*walk->ops), op_by_time);
	sum->places = walk->places;
	sum->n_places = walk->n_places;
	sum->ops = walk->ops;
	sum->n_ops = walk->n_ops;
	sum->parts = walk->parts;
	if (sum->count) {
		sum->p50_ns = within(hist_percentile(&walk->hist, 500), sum);
		sum->p99_ns = within(hist_percentile(&walk->hist, 990), sum);
		hist_spread(&walk->hist, sum->min_ns, sum->max_ns, NAME_SPREAD, sum->spread);
	}
	*out = *sum;
}
