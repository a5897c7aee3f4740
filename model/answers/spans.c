/* SPDX-License-Identifier: MIT */
/* Questions about single spans: lists for labels, the next and the previous span, everything
 * about one span. */
#include "model/align/hosts.h"
#include "model/answers/parts.h"
#include "model/flows/flows.h"
#include "model/lines/lines.h"
#include "model/ops/ops.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

#define LOOK_BACK 4096			/* maximum number of spans examined if they overlap */

/* A span in either form: finished, in a lane, or open. */
struct span_found {
	uint32_t row, lane;
	struct lane_span span;
	union cold cold;		/* filled by span_find() */
	bool open;
};

static struct span_found found_open(const struct model *model, const struct open_span *open)
{
	int64_t dur = live_edge(model) - open->start_ns;

	return (struct span_found) {
		.row = open->row, .lane = open->lane, .open = true,
		.span = {
			.start_ns = open->start_ns, .dur_ns = dur > 0 ? dur : 0,
			.name = open->name, .id = open->id, .work = open->work,
			.flags = COLUMN_OPEN,
		},
		.cold = open->cold,
	};
}

static struct span_found found_at(const struct lane_part *part, struct lane_pos pos)
{
	return (struct span_found) {
		.row = part->row, .lane = part->index, .span = lane_get(part->lane, pos),
	};
}

static struct span_ref ref_of(const struct span_found *found)
{
	return (struct span_ref) { found->row + 1, found->lane, found->span.id };
}

static bool span_find(struct model *model, struct span_ref ref, struct span_found *found)
{
	struct row *row;
	struct lane_part part;
	struct lane_pos pos;

	if (!ref.row || ref.row > model->rows.n || !ref.id || ref.id > UINT32_MAX)
		return false;
	row = row_at(model, ref.row - 1);
	for (uint32_t o = row->opens; o != NONE; o = open_at(model, o)->next)
		if (open_at(model, o)->id == ref.id) {
			*found = found_open(model, open_at(model, o));
			return true;
		}
	part.row = ref.row - 1;
	if (!row_find(row, ref.lane, (uint32_t)ref.id, &part.index, &pos))
		return false;
	part.lane = &row->lanes[part.index];
	*found = found_at(&part, pos);
	lane_cold(part.lane, pos, &found->cold);
	return true;
}

static const char *label_of(struct model *model, const struct span_found *found)
{
	const struct row *row = row_at(model, found->row);

	if (found->span.name)
		return names_short(&model->names, found->span.name);
	if (row->kind == ROW_COPY)
		return row->direction ? direction_name(row->direction) : "copy";
	return "?";
}

/* ---- lists ---- */

static int edge_by_start(const void *a, const void *b)
{
	const struct span_edge *x = a, *y = b;

	return ASCENDING(x, y, start_ns) ?: DESCENDING(x, y, end_ns) ?: ASCENDING(x, y, ref.id);
}

static struct span_edge edge_of(struct model *model, const struct span_found *found)
{
	return (struct span_edge) {
		.ref = ref_of(found), .start_ns = found->span.start_ns,
		.end_ns = found->span.start_ns + found->span.dur_ns,
		.name = label_of(model, found), .work = (enum work)found->span.work,
		.flags = found->span.flags,
	};
}

struct span_edges {
	struct span_edge *list;		/* owned */
	size_t n, cap;
};

static bool touches(int64_t start, int64_t end, int64_t t0, int64_t t1)
{
	return start < t1 && (end > t0 || (start == end && start >= t0));
}

static void list_part(struct model *model, const struct lane_part *part, int64_t t0, int64_t t1,
		      size_t max, struct span_edges *edges)
{
	struct lane_pos pos;
	struct span_found found;
	size_t taken = 0;

	for (bool more = lane_touching(part->lane, t0, &pos); more && taken < max;
	     more = lane_next(part->lane, &pos)) {
		const struct chunk *chunk = part->lane->chunks[pos.chunk];
		int64_t start = chunk_start(chunk, pos.i);

		if (start >= t1)
			break;
		if (!touches(start, start + chunk_dur(chunk, pos.i), t0, t1))
			continue;
		found = found_at(part, pos);
		grow(&edges->list, &edges->cap, edges->n, sizeof(*edges->list));
		edges->list[edges->n++] = edge_of(model, &found);
		taken++;
	}
	for (uint32_t o = row_at(model, part->row)->opens; o != NONE; o = open_at(model, o)->next) {
		found = found_open(model, open_at(model, o));
		if (found.lane != part->index ||
		    !touches(found.span.start_ns, found.span.start_ns + found.span.dur_ns, t0, t1))
			continue;
		grow(&edges->list, &edges->cap, edges->n, sizeof(*edges->list));
		edges->list[edges->n++] = edge_of(model, &found);
	}
}

size_t model_spans(struct model *model, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
		   size_t max, struct span_edge *out)
{
	struct span_edges edges = { .list = NULL };
	struct lane_part *parts;
	size_t n = parts_of(model, row, lane, &parts);

	for (size_t i = 0; i < n; i++)
		list_part(model, &parts[i], t0, t1, max, &edges);
	if (edges.n)
		qsort(edges.list, edges.n, sizeof(*edges.list), edge_by_start);
	n = edges.n < max ? edges.n : max;
	if (n)
		memcpy(out, edges.list, n * sizeof(*out));
	free(edges.list);
	free(parts);
	return n;
}

/* ---- from one to another ---- */

/* Goes through the parts' open spans; keep() returns whether a span is better than the best so
 * far. */
typedef bool better_fn(const struct span_found *found, const struct span_found *best, int64_t t);

static void try_found(const struct span_found *found, struct span_found *best, bool *any, int64_t t,
		      better_fn *better)
{
	if (better(found, *any ? best : NULL, t)) {
		*best = *found;
		*any = true;
	}
}

static void try_opens(struct model *model, const struct lane_part *part, struct span_found *best,
		      bool *any, int64_t t, better_fn *better)
{
	for (uint32_t o = row_at(model, part->row)->opens; o != NONE; o = open_at(model, o)->next)
		if (open_at(model, o)->lane == part->index) {
			struct span_found found = found_open(model, open_at(model, o));

			try_found(&found, best, any, t, better);
		}
}

/* The innermost span at t: the one with the latest start. */
static bool better_at(const struct span_found *found, const struct span_found *best, int64_t t)
{
	int64_t start = found->span.start_ns, end = start + found->span.dur_ns;

	return start <= t && (end > t || start == t) && (!best || start >= best->span.start_ns);
}

static bool better_next(const struct span_found *found, const struct span_found *best, int64_t t)
{
	return found->span.start_ns > t && (!best || found->span.start_ns < best->span.start_ns);
}

static bool better_prev(const struct span_found *found, const struct span_found *best, int64_t t)
{
	return found->span.start_ns < t && (!best || found->span.start_ns > best->span.start_ns);
}

bool model_span_at(struct model *model, uint32_t row, uint32_t lane, int64_t t_ns,
		   struct span_ref *out)
{
	struct lane_part *parts;
	size_t n = parts_of(model, row, lane, &parts);
	struct span_found best = { .row = 0 };
	bool any = false;

	for (size_t i = 0; i < n && t_ns < INT64_MAX; i++) {
		struct lane_pos pos;
		int steps = 0;

		for (bool more = lane_before(parts[i].lane, t_ns + 1, &pos);
		     more && steps < LOOK_BACK; more = lane_prev(parts[i].lane, &pos), steps++) {
			struct span_found found = found_at(&parts[i], pos);

			if (better_at(&found, any ? &best : NULL, t_ns)) {
				best = found;
				any = true;
				break;
			}
			/* Does no earlier span reach this far? */
			if (parts[i].lane->chunks[pos.chunk]->reach_ns <= t_ns)
				break;
		}
		try_opens(model, &parts[i], &best, &any, t_ns, better_at);
	}
	free(parts);
	if (any)
		*out = ref_of(&best);
	return any;
}

static bool span_neighbour(struct model *model, uint32_t row, uint32_t lane, int64_t t,
			   bool forward, struct span_ref *out)
{
	better_fn *better = forward ? better_next : better_prev;
	struct lane_part *parts;
	size_t n = parts_of(model, row, lane, &parts);
	struct span_found best = { .row = 0 };
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		struct lane_pos pos;
		bool there = forward ? t < INT64_MAX && lane_lower(parts[i].lane, t + 1, &pos) :
				       lane_before(parts[i].lane, t, &pos);

		if (there) {
			struct span_found found = found_at(&parts[i], pos);

			try_found(&found, &best, &any, t, better);
		}
		try_opens(model, &parts[i], &best, &any, t, better);
	}
	free(parts);
	if (any)
		*out = ref_of(&best);
	return any;
}

bool model_span_next(struct model *model, uint32_t row, uint32_t lane, int64_t after_start_ns,
		     struct span_ref *out)
{
	return span_neighbour(model, row, lane, after_start_ns, true, out);
}

bool model_span_prev(struct model *model, uint32_t row, uint32_t lane, int64_t before_start_ns,
		     struct span_ref *out)
{
	return span_neighbour(model, row, lane, before_start_ns, false, out);
}

bool model_span_longest(struct model *model, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
			struct span_ref *out)
{
	struct column column;

	model_columns(model, row, lane, t0, t1, 1, &column);
	*out = column.longest;
	return column.longest.id != 0;
}

/* ---- all details of a span ---- */

static void tell_op(struct model *model, const struct span_found *found, struct span *out)
{
	const struct row *row = row_at(model, found->row);
	const struct op_cold *cold = &found->cold.op;
	const struct ident *ident = ident_at(model, cold->ident);
	uint32_t state = map_get(&process_at(model, row->process)->ops, cold->instance);

	out->tid = row->thread == NONE ? 0 : thread_at(model, row->thread)->tid;
	out->thread = row->thread == NONE ? "ranges" : thread_label(model, row->thread);
	out->instance = cold->instance;
	out->op_type = names_short(&model->names, ident->type);
	out->domain = names_short(&model->names, ident->domain);
	out->depth = cold->depth;
	out->step = cold->step;
	out->wait_ns = cold->wait_ns;
	out->waker = cold->waker ? thread_label(model, cold->waker - 1) : NULL;
	out->device_ns = cold->device_ns;
	out->kernels = cold->kernels;
	if (state != MAP_NONE) {
		const struct op_state *s = store_at(&model->op_states, state);

		out->device_ns = s->device_ns;
		out->kernels = s->kernels;
	}
	out->is_range = found->span.work == WORK_RANGE && !out->kernels;
	out->is_op = !out->is_range;
}

static void tell_command(struct model *model, const struct span_found *found, struct span *out)
{
	const struct row *row = row_at(model, found->row);
	const struct process *process = process_at(model, row->process);
	const struct command_cold *cold = &found->cold.command;
	const struct queue *queue = queue_at(model, row->queue);
	uint32_t thread = map_get(&process->threads, cold->tid), shape;
	uint32_t device = queue_device(model, queue);
	const struct launch_shape *known;

	out->kind = (enum command_kind)(cold->kind_how & 31);
	out->how = (enum how)(cold->kind_how >> 5);
	out->status = cold->status;
	out->tid = cold->tid;
	out->thread = thread == MAP_NONE ? NULL : thread_label(model, thread);
	out->queue = queue_label(model, row->queue);
	out->device = device_label(model, device);
	out->api = device == NONE ? NULL : names_raw(&model->names, device_at(model, device)->api);
	if (out->kind == COMMAND_KERNEL)
		out->class = names_class(&model->names, found->span.name);
	out->op = names_short(&model->names, cold->op_name);
	if (row->kind == ROW_QUEUE && cold->place) {
		const struct source_frame *frame = frame_at(model->lines, cold->place - 1);

		out->file = names_raw(&model->names, frame->file);
		out->line = frame->line;
	}
	out->instance = cold->op;
	out->call_ns = cold->call_ns;
	out->call_dur_ns = cold->call_dur_ns;
	out->queued_ns = cold->queued ? out->start_ns - unpack_delta(cold->queued) : 0;
	out->submit_ns = cold->submit ? out->start_ns - unpack_delta(cold->submit) : 0;
	out->direction = row->direction;
	if (queue->view != NONE)
		out->clock_error_ns = clock_error_of(&view_at(model, queue->view)->clock,
						     out->start_ns, cold->segment);
	add_ns(&out->clock_error_ns, hosts_error(model, process_at(model, queue->process)->host));
	if (row->kind == ROW_COPY) {
		out->bytes = cold->detail;
		return;
	}
	if (row->kind == ROW_GRAPH)
		out->kernels = (uint32_t)cold->detail;
	shape = row->kind == ROW_GRAPH ? MAP_NONE : map_get(&process->shapes, cold->detail);
	if (shape == MAP_NONE)
		return;
	known = store_at(&model->shapes, shape);
	out->dims = known->dims;
	memcpy(out->global, known->global, sizeof(out->global));
	memcpy(out->local, known->local, sizeof(out->local));
	out->shape = known->text ? names_raw(&model->names, known->text) : NULL;
	out->flop = known->flop;
}

static void tell_compile(struct model *model, const struct span_found *found, struct span *out)
{
	const struct process *process = process_at(model, row_at(model, found->row)->process);
	const struct compile_cold *cold = &found->cold.compile;
	uint32_t thread = map_get(&process->threads, cold->tid);

	out->tid = cold->tid;
	out->thread = thread == MAP_NONE ? NULL : thread_label(model, thread);
	out->status = cold->result;
	out->cause = cold->cause ? names_raw(&model->names, cold->cause) : NULL;
}

static void span_fill(struct model *model, const struct span_found *found, struct span *out)
{
	const struct row *row = row_at(model, found->row);

	memset(out, 0, sizeof(*out));
	out->ref = ref_of(found);
	out->row_kind = row->kind;
	out->work = (enum work)found->span.work;
	out->name = label_of(model, found);
	out->raw_name = found->span.name ? names_raw(&model->names, found->span.name) : out->name;
	out->start_ns = found->span.start_ns;
	out->end_ns = found->span.start_ns + found->span.dur_ns;
	out->open = found->open;
	out->approx = (found->span.flags & COLUMN_APPROX) != 0;
	out->pid = process_at(model, row->process)->pid;
	out->step = -1;
	if (row->kind == ROW_THREAD)
		tell_op(model, found, out);
	else if (row->kind == ROW_COMPILE)
		tell_compile(model, found, out);
	else
		tell_command(model, found, out);
}

bool model_span(struct model *model, struct span_ref ref, struct span *out)
{
	struct span_found found;

	memset(out, 0, sizeof(*out));
	if (!span_find(model, ref, &found))
		return false;
	span_fill(model, &found, out);
	return true;
}

void span_tell(struct model *model, const struct lane_part *part, struct lane_pos pos,
	       struct span *out)
{
	struct span_found found = found_at(part, pos);

	lane_cold(part->lane, pos, &found.cold);
	span_fill(model, &found, out);
}

void span_tell_open(struct model *model, const struct open_span *open, struct span *out)
{
	struct span_found found = found_open(model, open);

	span_fill(model, &found, out);
}

/* ---- launch and launched ---- */

/* The op of an instance that was open at a time on a thread. */
static bool op_ref(struct model *model, uint32_t process, uint32_t tid, uint64_t op,
		   int64_t around_ns, struct span_ref *out)
{
	uint32_t index = map_get(&process_at(model, process)->ops, op);
	const struct op_state *state;
	struct lane_part part;
	struct lane_pos pos;
	struct span_found found;

	if (!op)
		return false;
	if (index != MAP_NONE) {
		state = store_at(&model->op_states, index);
		if (state->open != NONE) {
			found = found_open(model, open_at(model, state->open));
			*out = ref_of(&found);
			return true;
		}
		if (state->row == NONE)
			return false;
		*out = (struct span_ref) { state->row + 1, state->lane, state->id };
		return true;
	}
	if (!op_find(model, process, tid, op, around_ns, &part.row, &part.index, &pos))
		return false;
	part.lane = &row_at(model, part.row)->lanes[part.index];
	found = found_at(&part, pos);
	*out = ref_of(&found);
	return true;
}

/* The other end of the message that an op sent or received, if the op launched nothing. */
static bool far_end(struct model *model, uint32_t process, uint64_t op, struct span_ref *out)
{
	const struct flow_peer *peer = flow_peer(model, process, op);

	return peer && op_ref(model, peer->process, peer->tid, peer->op, peer->at_ns, out);
}

/* The innermost op of its thread when a compilation began. */
static bool op_around(struct model *model, uint32_t process, const struct span_found *compile,
		      struct span_ref *out)
{
	uint32_t thread = thread_find(model, process, compile->cold.compile.tid);
	uint32_t row = thread == NONE ? NONE : thread_at(model, thread)->row;

	return row != NONE &&
	       model_span_at(model, row + 1, LANE_ALL, compile->span.start_ns, out);
}

bool model_span_peer(struct model *model, struct span_ref ref, struct span_ref *out)
{
	struct span_found found;
	const struct row *row;
	const struct op_cold *op;
	struct lane_pos pos;
	uint32_t state, first_row, first_id, lane;

	if (!span_find(model, ref, &found))
		return false;
	row = row_at(model, found.row);
	if (row->kind == ROW_COMPILE)
		return op_around(model, row->process, &found, out);
	if (row->kind != ROW_THREAD)
		return op_ref(model, row->process, found.cold.command.tid, found.cold.command.op,
			      found.cold.command.call_ns, out);
	op = &found.cold.op;
	first_row = op->first_row;
	first_id = op->first_id;
	state = map_get(&process_at(model, row->process)->ops, op->instance);
	if (state != MAP_NONE) {
		first_row = ((struct op_state *)store_at(&model->op_states, state))->first_row;
		first_id = ((struct op_state *)store_at(&model->op_states, state))->first_id;
	}
	if (first_row == NONE)
		return far_end(model, row->process, op->instance, out);
	if (!row_find(row_at(model, first_row), 0, first_id, &lane, &pos))
		return false;
	*out = (struct span_ref) { first_row + 1, lane, first_id };
	return true;
}
