/* SPDX-License-Identifier: MIT */
/*
 * The walk over the spans that touch a range, see query/range.h.
 *
 * Idea: a lane's spans are sorted, so a walk only needs to remember its lane and the start and id
 * of the last span, which are found again whatever was added in between. Blocks of 64 spans are
 * unpacked at once. A span's sum is looked up by the span's properties (struct item); most often
 * it is one of the sums used just before.
 */
#include "model/base/hash.h"
#include "model/query/range.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/idents/idents.h"
#include "model/lanes/lane_internal.h"
#include "model/rows/rows.h"

/* The properties by which the walk groups spans; names are as they were used. */
struct range_item {
	uint32_t row;			/* of commands; NONE for ops and compilations */
	uint32_t what;			/* a name; for ops the ident */
	uint32_t op, shape;		/* names; shape: of a kernel 1 + the index of its shape */
	enum range_kind kind;
	enum work work;
	uint64_t count, open, bytes;
	int64_t time_ns, inner_ns, longest_ns;
	struct span_ref longest;
};

enum range_pass { PASS_QUEUES, PASS_COMPILES, PASS_THREADS, PASSES };

/* The op that the last child was found in. */
struct parent {
	uint32_t row, lane;
	int64_t start_ns, end_ns;
	size_t item;
};

struct range_walk {
	struct model *model;		/* borrowed */
	int64_t t0, t1;
	unsigned kinds;			/* 1 << enum range_kind, or-ed */
	enum range_pass pass;
	uint32_t row, lane;		/* the lane that is being walked over ... */
	bool begun;			/* ... up to the span with this start and id */
	int64_t last_start_ns;
	uint32_t last_id;
	uint64_t spans;
	struct range_item *items;		/* owned */
	size_t n, cap;
	struct map map;			/* hash of an item's properties -> item */
	struct parent parent;
};

struct range_walk *range_walk_new(struct model *model, int64_t t0, int64_t t1)
{
	struct range_walk *walk = xcalloc(1, sizeof(*walk));

	walk->model = model;
	walk->t0 = t0;
	walk->t1 = t1;
	walk->kinds = UINT_MAX;
	walk->parent.row = NONE;
	return walk;
}

void range_walk_only(struct range_walk *walk, enum range_kind kind)
{
	walk->kinds = 1u << kind;
}

void range_walk_free(struct range_walk *walk)
{
	if (!walk)
		return;
	map_release(&walk->map);
	free(walk->items);
	free(walk);
}

/* ---- items ---- */

static bool same(const struct range_item *a, const struct range_item *b)
{
	return a->row == b->row && a->what == b->what && a->op == b->op && a->shape == b->shape &&
	       a->kind == b->kind;
}

static size_t item_of(struct range_walk *walk, const struct range_item *like)
{
	uint64_t key = map_mix((uint64_t)like->row << 32 | like->what);
	uint32_t at;

	key = map_mix(key ^ ((uint64_t)like->op << 32 | like->shape)) + like->kind;
	while ((at = map_get(&walk->map, key)) != MAP_NONE && !same(&walk->items[at], like))
		key++;
	if (at != MAP_NONE)
		return at;
	grow(&walk->items, &walk->cap, walk->n, sizeof(*walk->items));
	walk->items[walk->n] = *like;
	map_set(&walk->map, key, (uint32_t)walk->n);
	return walk->n++;
}

static int64_t clipped(const struct range_walk *walk, int64_t start, int64_t end)
{
	int64_t from = start > walk->t0 ? start : walk->t0, to = end < walk->t1 ? end : walk->t1;

	return to > from ? to - from : 0;
}

static bool touches(const struct range_walk *walk, int64_t start, int64_t end)
{
	return start < walk->t1 && (end > walk->t0 || (start == end && start >= walk->t0));
}

static enum range_kind kind_of(const struct row *row)
{
	return row->kind == ROW_QUEUE ? RANGE_KERNEL : row->kind == ROW_COPY ? RANGE_COPY :
	       row->kind == ROW_COMPILE ? RANGE_COMPILE : RANGE_OP;
}

/* A kernel's problem size is an id of its process; most kernels have no text for it. */
static uint32_t shape_of(const struct range_walk *walk, const struct row *row, uint64_t id)
{
	uint32_t shape = map_get(&process_at(walk->model, row->process)->shapes, id);
	const struct launch_shape *known;

	if (shape == MAP_NONE)
		return 0;
	known = store_at(&walk->model->shapes, shape);
	return known->text ? shape + 1 : 0;
}

static struct range_item command_item(const struct range_walk *walk, const struct row *row,
				      uint32_t name, uint32_t op_name, uint64_t detail)
{
	return (struct range_item) {
		.row = walk->row, .what = row->kind == ROW_COPY ? 0 : name, .op = op_name,
		.shape = row->kind == ROW_QUEUE ? shape_of(walk, row, detail) : 0,
		.kind = kind_of(row),
	};
}

static struct range_item op_item(uint32_t ident, uint32_t shapes)
{
	return (struct range_item) {
		.row = NONE, .what = ident, .shape = shapes, .kind = RANGE_OP,
	};
}

/* Bytes are spread evenly over the copy's time, so that the bytes of adjacent ranges add up. */
static uint64_t moved_until(uint64_t bytes, int64_t start, int64_t dur, int64_t t)
{
	if (t <= start || !dur)
		return t <= start ? 0 : bytes;
	return t - start >= dur ? bytes : (uint64_t)((__uint128_t)bytes * (uint64_t)(t - start) /
						     (uint64_t)dur);
}

static void range_count(struct range_walk *walk, size_t at, int64_t start, int64_t end,
			uint64_t bytes, uint8_t work, struct span_ref ref)
{
	struct range_item *item = &walk->items[at];
	int64_t dur = end - start;

	item->count++;
	item->work = (enum work)work;
	add_ns(&item->time_ns, clipped(walk, start, end));
	if (bytes)
		item->bytes += moved_until(bytes, start, dur, walk->t1) -
			       moved_until(bytes, start, dur, walk->t0);
	if (!item->longest.id || dur > item->longest_ns) {
		item->longest_ns = dur;
		item->longest = ref;
	}
}

/* ---- from which op an op's time is subtracted ---- */

static bool open_parent(struct range_walk *walk, uint32_t lane, int64_t start, size_t *item)
{
	const struct model *model = walk->model;

	for (uint32_t o = row_at(model, walk->row)->opens; o != NONE; o = open_at(model, o)->next) {
		const struct open_span *open = open_at(model, o);
		struct range_item like = op_item(open->cold.op.ident, open->cold.op.shapes);

		if (open->lane != lane || open->start_ns > start)
			continue;
		*item = item_of(walk, &like);
		return true;
	}
	return false;
}

static bool closed_parent(struct range_walk *walk, uint32_t lane, int64_t start, size_t *item)
{
	const struct lane *above = &row_at(walk->model, walk->row)->lanes[lane];
	struct lane_pos pos;
	struct lane_span span;
	struct range_item like;

	if (!lane_before(above, start + 1, &pos))
		return false;
	span = lane_get(above, pos);
	if (span.start_ns + span.dur_ns <= start)
		return false;
	like = op_item((uint32_t)lane_cold_field(above, pos, OP_IN_IDENT),
		       (uint32_t)lane_cold_field(above, pos, OP_IN_SHAPES));
	*item = item_of(walk, &like);
	if (lane + 1 == walk->lane)
		walk->parent = (struct parent) {
			walk->row, walk->lane, span.start_ns, span.start_ns + span.dur_ns, *item,
		};
	return true;
}

static void take_from_parent(struct range_walk *walk, int64_t start, int64_t end)
{
	const struct parent *last = &walk->parent;
	bool found = last->row == walk->row && last->lane == walk->lane &&
		     start >= last->start_ns && start < last->end_ns;
	size_t item = last->item;

	for (uint32_t lane = walk->lane; !found && lane-- > 0; )
		found = closed_parent(walk, lane, start, &item) ||
			open_parent(walk, lane, start, &item);
	if (found)
		add_ns(&walk->items[item].inner_ns, clipped(walk, start, end));
}

/* Ranges that are on no stack may overlap in their row. */
static bool has_stack(const struct row *row)
{
	return row->kind == ROW_THREAD && row->thread != NONE;
}

/* ---- spans ---- */

struct block_of {
	uint64_t start[LANE_BLOCK], dur[LANE_BLOCK], name[LANE_BLOCK], work[LANE_BLOCK];
	uint64_t a[LANE_BLOCK], b[LANE_BLOCK];	/* detail and op's name; ident and shapes */
};

static void read_block(const struct lane *lane, const struct chunk *chunk, const struct row *row,
		       uint32_t first, uint32_t n, struct block_of *out)
{
	chunk_read(lane, chunk, LANE_START, first, n, out->start);
	chunk_read(lane, chunk, LANE_DUR, first, n, out->dur);
	chunk_read(lane, chunk, LANE_NAME, first, n, out->name);
	chunk_read(lane, chunk, LANE_WORK, first, n, out->work);
	if (row->kind == ROW_COMPILE)
		return;
	chunk_read(lane, chunk, LANE_COLD + (row->kind == ROW_THREAD ? OP_IN_IDENT : 0), first, n,
		   out->a);
	chunk_read(lane, chunk, LANE_COLD + (row->kind == ROW_THREAD ? OP_IN_SHAPES :
					     COMMAND_OP_NAME), first, n, out->b);
}

static void range_walk_take(struct range_walk *walk, const struct row *row,
			    const struct chunk *chunk, const struct block_of *block, uint32_t first,
			    uint32_t i)
{
	int64_t start = (int64_t)block->start[i], end = start + (int64_t)block->dur[i];
	struct span_ref ref = { walk->row + 1, walk->lane, chunk_id(chunk, first + i) };
	uint64_t bytes = row->kind == ROW_COPY ? block->a[i] : 0;
	struct range_item like;

	if (!touches(walk, start, end))
		return;
	if (row->kind == ROW_THREAD)
		like = op_item((uint32_t)block->a[i], (uint32_t)block->b[i]);
	else if (row->kind == ROW_COMPILE)
		like = (struct range_item) { .row = NONE, .what = (uint32_t)block->name[i],
				       .kind = RANGE_COMPILE };
	else
		like = command_item(walk, row, (uint32_t)block->name[i], (uint32_t)block->b[i],
				    block->a[i]);
	range_count(walk, item_of(walk, &like), start, end, bytes, (uint8_t)block->work[i], ref);
	if (walk->lane && has_stack(row))
		take_from_parent(walk, start, end);
}

/* The place at which the walk of a lane continues; false: there is none. */
static bool range_walk_place(const struct range_walk *walk, const struct lane *lane,
			     struct lane_pos *pos)
{
	if (!walk->begun)
		return lane_touching(lane, walk->t0, pos);
	return lane_after_span(lane, walk->last_start_ns, walk->last_id, pos);
}

/* Walks over the lane; returns whether there is more. */
static bool range_walk_lane(struct range_walk *walk, const struct row *row, const struct lane *lane,
			    uint64_t until)
{
	struct block_of block;
	struct lane_pos pos;

	for (bool more = range_walk_place(walk, lane, &pos); more; more = pos.chunk < lane->n) {
		const struct chunk *chunk = lane->chunks[pos.chunk];
		uint32_t n = chunk->n - pos.i < LANE_BLOCK ? chunk->n - pos.i : LANE_BLOCK;

		if (walk->spans >= until)
			return true;
		read_block(lane, chunk, row, pos.i, n, &block);
		for (uint32_t i = 0; i < n; i++) {
			if ((int64_t)block.start[i] >= walk->t1)
				return false;
			range_walk_take(walk, row, chunk, &block, pos.i, i);
		}
		walk->spans += n;
		walk->begun = true;
		walk->last_start_ns = (int64_t)block.start[n - 1];
		walk->last_id = chunk_id(chunk, pos.i + n - 1);
		pos.i += n;
		if (pos.i >= chunk->n)
			pos = (struct lane_pos) { pos.chunk + 1, 0 };
	}
	return false;
}

static void range_take_opens(struct range_walk *walk, const struct row *row)
{
	int64_t edge = live_edge(walk->model);

	for (uint32_t o = row->opens; o != NONE; o = open_at(walk->model, o)->next) {
		const struct open_span *open = open_at(walk->model, o);
		struct span_ref ref = { walk->row + 1, open->lane, open->id };
		int64_t end = edge > open->start_ns ? edge : open->start_ns;
		bool is_op = row->kind == ROW_THREAD;
		struct range_item like;
		size_t item;

		if (!touches(walk, open->start_ns, end))
			continue;
		like = is_op ? op_item(open->cold.op.ident, open->cold.op.shapes) :
			       command_item(walk, row, open->name, open->cold.command.op_name,
					    open->cold.command.detail);
		item = item_of(walk, &like);
		/* How much a running copy has moved so far is unknown. */
		range_count(walk, item, open->start_ns, end, 0, open->work, ref);
		walk->items[item].open++;
		walk->lane = open->lane;
		if (open->lane && has_stack(row))
			take_from_parent(walk, open->start_ns, end);
	}
	walk->lane = 0;
}

static bool in_pass(const struct row *row, enum range_pass pass)
{
	switch (pass) {
	case PASS_QUEUES:
		return row->kind == ROW_QUEUE || row->kind == ROW_COPY;
	case PASS_COMPILES:
		return row->kind == ROW_COMPILE;
	default:
		return row->kind == ROW_THREAD;
	}
}

static bool walk_row(struct range_walk *walk, uint64_t until)
{
	const struct row *row = row_at(walk->model, walk->row);

	if (!in_pass(row, walk->pass) || !(walk->kinds & 1u << kind_of(row)))
		return false;
	for (; walk->lane < row->n_lanes; walk->lane++) {
		if (range_walk_lane(walk, row, &row->lanes[walk->lane], until))
			return true;
		walk->begun = false;
	}
	if (row->kind != ROW_COMPILE)
		range_take_opens(walk, row);
	return false;
}

bool range_walk_step(struct range_walk *walk, uint64_t spans)
{
	uint64_t until = walk->spans + (spans ? spans : 1);

	for (; walk->pass < PASSES; walk->pass++, walk->row = 0)
		for (; walk->row < walk->model->rows.n; walk->row++, walk->lane = 0)
			if (walk_row(walk, until))
				return true;
	return false;
}

void range_walk_state(const struct range_walk *walk, struct range_state *out)
{
	*out = (struct range_state) {
		.spans = walk->spans, .whole = walk->pass == PASSES,
		.folded = walk->model->folded_ns > walk->t0,
	};
}

/* ---- results ---- */

static struct range_part range_part_of(struct model *model, const struct range_item *item)
{
	struct names *names = &model->names;
	uint32_t name = item->what;
	struct range_part part = {
		.kind = item->kind, .queue = NONE, .device = NONE, .work = item->work,
		.count = item->count, .open = item->open, .bytes = item->bytes,
		.time_ns = item->time_ns, .self_ns = item->time_ns,
		.longest_ns = item->longest_ns, .longest = item->longest,
	};

	if (item->kind == RANGE_OP) {
		const struct ident *ident = ident_at(model, item->what);

		name = ident->name;
		part.type = names_short(names, ident->type);
		part.shape = item->shape ? names_raw(names, item->shape) : NULL;
		part.self_ns = item->time_ns > item->inner_ns ? item->time_ns - item->inner_ns : 0;
	} else if (item->kind != RANGE_COMPILE) {
		const struct row *row = row_at(model, item->row);

		part.queue = row->queue;
		part.device = queue_device(model, queue_at(model, row->queue));
		part.direction = row->direction;
		part.op = names_short(names, item->op);
		if (item->shape)
			part.shape = names_raw(names, ((const struct launch_shape *)
				store_at(&model->shapes, item->shape - 1))->text);
	}
	part.name = names_short(names, name);
	part.raw_name = names_raw(names, name);
	if (!part.name && item->kind != RANGE_COPY)
		part.name = part.raw_name = "?";
	return part;
}

static int by_time(const void *a, const void *b)
{
	const struct range_part *x = a, *y = b;

	return DESCENDING(x, y, time_ns) ?: ASCENDING(x, y, kind) ?:
	       strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

#define PARTS_AT_ONCE 2048u		/* how many parts are handled until the lock is yielded */

size_t range_walk_parts(struct range_walk *walk, struct range_part **out)
{
	*out = xcalloc(walk->n ? walk->n : 1, sizeof(**out));
	for (size_t i = 0; i < walk->n; i++) {
		(*out)[i] = range_part_of(walk->model, &walk->items[i]);
		if (i % PARTS_AT_ONCE == PARTS_AT_ONCE - 1 && !model_yield(walk->model))
			return i + 1;
	}
	return walk->n;
}

static uint64_t text_hash(uint64_t hash, const char *text)
{
	return map_mix(hash_string(hash, text));
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static uint64_t part_hash(const struct range_part *part, unsigned by)
{
	uint64_t hash = map_mix((uint64_t)part->kind + 1);

	hash = text_hash(hash, by & RANGE_BY_NAME ? part->raw_name : NULL);
	hash = text_hash(hash, by & RANGE_BY_OP ? part->op : NULL);
	hash = text_hash(hash, by & RANGE_BY_SHAPE ? part->shape : NULL);
	hash = map_mix(hash ^ (by & RANGE_BY_QUEUE ? part->queue : 0));
	hash = map_mix(hash ^ (by & RANGE_BY_DEVICE ? part->device : 0));
	return map_mix(hash ^ (by & RANGE_BY_DIRECTION ? part->direction : 0));
}

static bool same_part(const struct range_part *a, const struct range_part *b, unsigned by)
{
	return a->kind == b->kind &&
	       (!(by & RANGE_BY_NAME) || (same_text(a->raw_name, b->raw_name) &&
					  same_text(a->type, b->type))) &&
	       (!(by & RANGE_BY_OP) || same_text(a->op, b->op)) &&
	       (!(by & RANGE_BY_SHAPE) || same_text(a->shape, b->shape)) &&
	       (!(by & RANGE_BY_QUEUE) || a->queue == b->queue) &&
	       (!(by & RANGE_BY_DEVICE) || a->device == b->device) &&
	       (!(by & RANGE_BY_DIRECTION) || a->direction == b->direction);
}

static void range_part_merge(struct range_part *into, const struct range_part *from)
{
	if (!same_text(into->raw_name, from->raw_name))
		into->name = into->raw_name = NULL;
	if (!same_text(into->op, from->op))
		into->op = NULL;
	if (!same_text(into->type, from->type))
		into->type = NULL;
	if (!same_text(into->shape, from->shape))
		into->shape = NULL;
	if (into->queue != from->queue)
		into->queue = NONE;
	if (into->device != from->device)
		into->device = NONE;
	if (into->direction != from->direction)
		into->direction = DIR_NONE;
	into->count += from->count;
	into->open += from->open;
	into->bytes += from->bytes;
	add_ns(&into->time_ns, from->time_ns);
	add_ns(&into->self_ns, from->self_ns);
	if (from->longest_ns > into->longest_ns) {
		into->longest_ns = from->longest_ns;
		into->longest = from->longest;
	}
}

/* A part is found by the fields that `by` names. Merging changes only the other fields, so the
 * first part of a key is still found. */
size_t range_fold(struct range_part *parts, size_t n, unsigned by)
{
	struct map map = { .size = 0 };
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t key = part_hash(&parts[i], by);
		uint32_t at;

		if (i % PARTS_AT_ONCE == PARTS_AT_ONCE - 1 && !model_rest())
			break;
		while ((at = map_get(&map, key)) != MAP_NONE &&
		       !same_part(&parts[at], &parts[i], by))
			key++;
		if (at != MAP_NONE) {
			range_part_merge(&parts[at], &parts[i]);
			continue;
		}
		map_set(&map, key, (uint32_t)kept);
		parts[kept++] = parts[i];
	}
	map_release(&map);
	if (kept)
		qsort(parts, kept, sizeof(*parts), by_time);
	return kept;
}
