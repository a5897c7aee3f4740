/* SPDX-License-Identifier: MIT */
/* One event of an XSpace. What it is follows from its line and its statistics. */
#include "model/flows/rendezvous.h"
#include "model/import/xspace_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

void xspace_values(struct xspace *x, Xplane__XStat *const *stats, size_t count,
		   const struct xvalues *from, struct xvalues *values)
{
	static const struct xvalues none;

	*values = from ? *from : none;
	for (size_t i = 0; i < count; i++) {
		const Xplane__XStat *stat = stats[i];
		uint32_t meta = map_get(&x->stat_by_id, (uint64_t)stat->metadata_id), ref;
		enum xstat what = meta == MAP_NONE ? XSTAT_OTHER : x->stats[meta].stat;

		if (what == XSTAT_OTHER)
			continue;
		values->there[what] = true;
		switch (stat->value_case) {
		case XPLANE__XSTAT__VALUE_UINT64_VALUE:
			values->number[what] = stat->uint64_value;
			break;
		case XPLANE__XSTAT__VALUE_INT64_VALUE:
			values->number[what] = (uint64_t)stat->int64_value;
			break;
		case XPLANE__XSTAT__VALUE_DOUBLE_VALUE:
			if (stat->double_value >= 0 && stat->double_value < 1e18)
				values->number[what] = (uint64_t)stat->double_value;
			break;
		case XPLANE__XSTAT__VALUE_STR_VALUE:
			values->text[what] = build_word(x->build, stat->str_value, NAME_OP);
			values->number[what] = strtoull(stat->str_value, NULL, 0);
			break;
		case XPLANE__XSTAT__VALUE_REF_VALUE:
			ref = map_get(&x->stat_by_id, stat->ref_value);
			values->text[what] = ref == MAP_NONE ? 0 : x->stats[ref].name;
			break;
		default:
			values->there[what] = false;
		}
	}
}

/* The op of an attribution "name:Type". */
static uint32_t op_name(struct xspace *x, const struct xvalues *values)
{
	uint32_t text = values->text[XSTAT_TF_OP] ? values->text[XSTAT_TF_OP] :
						    values->text[XSTAT_HLO_OP];
	const char *name = build_text(x->build, text);
	size_t length = strlen(name), op = details_op(name, length);

	return op ? build_name(x->build, name, op, NAME_OP) : text;
}

static void fill_kernel(struct xspace *x, struct import_item *item, const struct xvalues *values)
{
	const char *details = build_text(x->build, values->text[XSTAT_KERNEL_DETAILS]);
	uint64_t grid[3], block[3];
	uint32_t local[3];

	item->kind = COMMAND_KERNEL;
	if (!details_triple(details, "grid", grid) || !details_triple(details, "block", block))
		return;
	for (int i = 0; i < 3; i++) {
		local[i] = (uint32_t)block[i];
		grid[i] *= block[i];
	}
	item->shape = build_shape(x->build, grid, local);
}

static void fill_run(struct xspace *x, struct import_item *item, const struct xvalues *values)
{
	const char *name = build_text(x->build, item->name);
	const char *copy = build_text(x->build, values->text[XSTAT_MEMCPY_DETAILS]);
	const char *fill = build_text(x->build, values->text[XSTAT_MEMSET_DETAILS]);

	if (values->there[XSTAT_KERNEL_DETAILS])
		item->kind = COMMAND_KERNEL;
	else if (values->there[XSTAT_MEMCPY_DETAILS])
		item->kind = COMMAND_COPY;
	else if (values->there[XSTAT_MEMSET_DETAILS])
		item->kind = COMMAND_FILL;
	else
		item->kind = (uint8_t)details_kind(name);
	if (item->kind == COMMAND_KERNEL) {
		fill_kernel(x, item, values);
	} else if (item->kind == COMMAND_COPY) {
		item->direction = (uint8_t)details_direction(name);
		if (!item->direction || item->direction == DIR_D2D)
			item->direction = (uint8_t)details_direction(copy);
		if (!item->direction)
			item->direction = DIR_D2D;
		if (!details_number(copy, "size", &item->bytes))
			details_number(copy, "num_bytes", &item->bytes);
	} else {
		item->direction = DIR_FILL;
		details_number(fill, "num_bytes", &item->bytes);
	}
	item->op_type = op_name(x, values);
}

/* The device whose memory it is, from a name such as "GPU_0_bfc". */
static uint32_t device_of(struct xspace *x, const char *allocator)
{
	char key[32];
	size_t digits;

	if (strncmp(allocator, "GPU_", 4))
		return 0;
	digits = strspn(allocator + 4, "0123456789");
	if (!digits || digits > 4 || allocator[4 + digits] != '_')
		return 0;
	snprintf(key, sizeof(key), "/device:GPU:%.*s", (int)digits, allocator + 4);
	return build_device(x->build, key);
}

static void add_memory(struct xspace *x, struct import_item *item, const struct xmeta_event *meta,
		       const struct xvalues *values)
{
	item->type = meta->what == XMETA_ALLOC ? ITEM_ALLOC : ITEM_FREE;
	item->name = values->text[XSTAT_ALLOCATOR];
	item->place = values->number[XSTAT_ADDRESS];
	item->bytes = values->number[XSTAT_ALLOCATED] ? values->number[XSTAT_ALLOCATED] :
							values->number[XSTAT_REQUESTED];
	item->op_type = op_name(x, values);
	item->shape = device_of(x, build_text(x->build, item->name));
	item->dur_ns = 0;
	if (values->there[XSTAT_ADDRESS])
		build_add(x->build, item);
}

/* Adds a message for a tensor that is sent or received under a key: its name says from where to
 * where. */
static void add_message(struct xspace *x, const struct import_item *op, bool sent,
			const struct xvalues *values)
{
	const char *text = build_text(x->build, values->text[XSTAT_KEY]);
	struct import_item item = *op;
	char name[RENDEZVOUS_NAME];

	if (!rendezvous_name(text, name))
		return;
	item.type = ITEM_MESSAGE;
	item.kind = sent ? FLOW_SENT : FLOW_RECEIVED;
	item.name = build_word(x->build, name, NAME_KEY);
	item.place = values->text[XSTAT_KEY];
	item.dur_ns = 0;
	if (!sent)
		item.start_ns += op->dur_ns;
	build_add(x->build, &item);
}

/* The flow of a context's type and id; 0: there is no such context. */
static uint32_t context_flow(struct xspace *x, const struct xvalues *values, enum xstat type,
			     enum xstat id)
{
	const uint64_t both[2] = { values->number[type], values->number[id] };
	uint32_t key;

	if (!values->there[id] || values->number[id] == UINT64_MAX)
		return 0;		/* -1: an id that each eager op has */
	key = build_key(x->build, both, sizeof(both));
	return key ? build_flow(x->build, key) : 0;
}

/* An asynchronous op has an event for its start and one for its end, in any order. */
static void add_async(struct xspace *x, const struct import_item *end, bool start,
		      const struct xvalues *values)
{
	const uint64_t both[2] = {
		values->number[XSTAT_STEP_ID],
		values->number[start ? XSTAT_PRODUCER : XSTAT_CONSUMER],
	};
	uint32_t key = build_key(x->build, both, sizeof(both));
	uint32_t i = map_get(&x->async_by_id, key);
	struct import_item item = *end;
	int64_t end_ns;

	if (i == MAP_NONE || x->asyncs[i].start == start) {
		if (x->n_asyncs >= XSPACE_META_MAX || !key)
			return;
		grow(&x->asyncs, &x->cap_asyncs, x->n_asyncs, sizeof(*x->asyncs));
		x->asyncs[x->n_asyncs] = (struct xasync) {
			.ns = start ? end->start_ns : end->start_ns + end->dur_ns,
			.track = end->track, .start = start,
		};
		map_set(&x->async_by_id, key, (uint32_t)x->n_asyncs++);
		return;
	}
	map_remove(&x->async_by_id, key);
	end_ns = start ? x->asyncs[i].ns : end->start_ns + end->dur_ns;
	item.start_ns = start ? end->start_ns : x->asyncs[i].ns;
	item.track = start ? end->track : x->asyncs[i].track;
	item.dur_ns = end_ns - item.start_ns;
	item.name = values->text[XSTAT_NAME];
	item.op_type = build_word(x->build, build_text(x->build, values->text[XSTAT_KERNEL_TYPE]),
				  NAME_OP_TYPE);
	item.kind = FW_TENSORFLOW;
	item.flags = ITEM_ASYNC;
	if (item.name && item.dur_ns >= 0)
		build_add(x->build, &item);
}

/* The op that made a context is linked to the ops that run in it. */
static void add_contexts(struct xspace *x, struct import_item *item, const struct xvalues *values)
{
	uint32_t from = context_flow(x, values, XSTAT_CONSUMER_TYPE, XSTAT_CONSUMER);

	item->correlation = context_flow(x, values, XSTAT_PRODUCER_TYPE, XSTAT_PRODUCER);
	item->flags = (uint8_t)((item->correlation ? ITEM_GIVES : 0) | (from ? ITEM_TAKES : 0));
	item->place = from;
}

static void xspace_add_host(struct xspace *x, struct import_item *item,
			    const struct xmeta_event *meta, const struct xvalues *values)
{
	struct import_item step = *item;

	if (meta->what == XMETA_ALLOC || meta->what == XMETA_FREE) {
		add_memory(x, item, meta, values);
		return;
	}
	if (meta->what == XMETA_SEND || meta->what == XMETA_RECV)
		add_message(x, item, meta->what == XMETA_SEND, values);
	else if (meta->what)
		add_async(x, item, meta->what == XMETA_ASYNC_START, values);
	else
		add_contexts(x, item, values);
	item->name = meta->op;
	item->op_type = meta->type;
	item->kind = meta->type ? FW_TENSORFLOW : FW_NONE;
	if (values->there[XSTAT_CORRELATION] && values->number[XSTAT_CORRELATION]) {
		item->flags = ITEM_CALL;
		item->correlation = build_correlation(x->build, values->number[XSTAT_CORRELATION]);
	}
	build_add(x->build, item);
	if (!values->there[XSTAT_STEP_NUM])
		return;
	step.type = ITEM_STEP;
	step.name = meta->name;
	step.place = values->number[XSTAT_STEP_NUM];
	build_add(x->build, &step);
}

static void add_step(struct xspace *x, struct import_item *item)
{
	const char *name = build_text(x->build, item->name);
	char *end;

	item->type = ITEM_STEP;
	item->place = strtoull(name, &end, 10);
	if (end == name || *end)
		return;
	item->name = build_name(x->build, "Steps", 5, NAME_OP);
	build_add(x->build, item);
}

/* Converts picoseconds after the line's start to ns: both ends are rounded down, so that what lies
 * within stays within. */
static bool times(const struct xspace *x, const Xplane__XEvent *event, struct import_item *item)
{
	__int128 start = (__int128)x->line_ns * 1000 + event->offset_ps;
	__int128 end = start + event->duration_ps;

	if (start < 0 || end < 0 || end >= (__int128)INT64_MAX * 1000)
		return false;
	item->start_ns = (int64_t)(start / 1000);
	item->dur_ns = (int64_t)(end / 1000) - item->start_ns;
	return true;
}

void xspace_event(struct xspace *x, const Xplane__XEvent *event)
{
	static const struct xmeta_event none;
	uint32_t known = map_get(&x->event_by_id, (uint64_t)event->metadata_id);
	const struct xmeta_event *meta = known == MAP_NONE ? &none : &x->events[known];
	struct import_item item = { .type = ITEM_SPAN, .track = x->track };
	struct xvalues values;

	if (event->data_case == XPLANE__XEVENT__DATA_NUM_OCCURRENCES)
		return;			/* a sum, which has no time */
	if (!times(x, event, &item)) {
		build_drop(x->build, "event", "at an impossible time");
		return;
	}
	if (known == MAP_NONE)
		build_problem(x->build, "an event whose metadata is missing", "metadata id",
			      (uint64_t)event->metadata_id);
	item.name = meta->name ? meta->name : build_name(x->build, "(without a name)", 16, NAME_OP);
	xspace_values(x, event->stats, event->n_stats, meta->values, &values);
	switch (x->kind) {
	case XLINE_HOST:
		if (!meta->op)
			build_add(x->build, &item);
		else
			xspace_add_host(x, &item, meta, &values);
		break;
	case XLINE_STREAM:
		fill_run(x, &item, &values);
		if (values.number[XSTAT_CORRELATION])
			item.correlation = build_correlation(x->build,
							     values.number[XSTAT_CORRELATION]);
		build_add(x->build, &item);
		break;
	case XLINE_STEPS:
		add_step(x, &item);
		break;
	case XLINE_SKIP:
		break;
	}
}
