/* SPDX-License-Identifier: MIT */
#include "probes/session/decode/decode_ops.h"

#include "probes/schema/records.h"

/* Each of these is a word of its own. */
#define PARTS (TFT_OPS_STEP | TFT_OPS_LOOK | TFT_OPS_PAYLOAD | TFT_OPS_PLACE | TFT_OPS_FORWARD | \
	       TFT_OPS_HANDED)

void decode_ops_begin(struct decode_ops *ops, const struct event_op *head,
		      const uint64_t *words, size_t n)
{
	*ops = (struct decode_ops){
		.at = words, .end = words + n, .base_ns = head->start_ns, .step = -1,
		.instance = head->instance, .tid = head->tid,
	};
}

static void take_handed(uint64_t w, struct event_op *op)
{
	op->wait_ns = (int64_t)w & TFT_WAIT_MAX;
	op->waker = (uint32_t)(w >> TFT_WAKER_SHIFT);
}

static void read_whole_op(const uint64_t *w, struct event_op *op)
{
	op->flags = (uint8_t)(w[0] >> 8);
	op->depth = (uint16_t)(w[0] >> 16);
	op->name = (uint32_t)(w[0] >> 32);
	op->instance = w[1];
	op->parent = w[2];
	op->start_ns = (int64_t)w[3];
	op->dur_ns = (int64_t)w[4];
	op->step = (int64_t)w[5];
	op->payload = w[6];
	op->domain = (uint32_t)w[7];
	op->argb = (uint32_t)(w[7] >> 32);
	op->op_type = (uint32_t)w[8];
	op->framework = (uint8_t)(w[8] >> 32);
	op->frame = (uint32_t)w[9];
	op->shapes = (uint32_t)(w[9] >> 32);
	op->forward = w[10];
	take_handed(w[11], op);
}

/* Sums wrap around like the values from which they were computed. */
static void take_packed(const struct decode_ops *ops, const uint64_t *w, struct event_op *op)
{
	uint64_t parent = w[2] >> 16 & 0xfffffff;

	op->flags = (uint8_t)(w[0] >> 8);
	op->name = (uint32_t)(w[0] >> 16) & 0xffffff;
	op->op_type = (uint32_t)(w[0] >> 40);
	op->start_ns = (int64_t)((uint64_t)ops->base_ns + (uint64_t)(int32_t)(uint32_t)w[1]);
	op->dur_ns = (int64_t)(w[1] >> 32);
	op->framework = (uint8_t)w[2];
	op->depth = (uint8_t)(w[2] >> 8);
	op->instance = ops->instance + (uint64_t)((int64_t)w[2] >> 44);
	op->parent = parent ? op->instance - parent : 0;
}

static bool take_kernel(struct decode_ops *ops, const uint64_t *w, struct event *event)
{
	uint8_t has = (uint8_t)w[0] & (uint8_t)~TFT_OPS_KERNEL;
	size_t n = 2;

	if (has & ~(TFT_OPS_RAN_IN | TFT_OPS_RAN_ON) ||
	    (size_t)(ops->end - w) < n + (size_t)__builtin_popcount(has))
		return false;
	if (has & TFT_OPS_RAN_IN)
		ops->ran_in = w[n++];
	if (has & TFT_OPS_RAN_ON)
		ops->ran_on = w[n++];
	event->type = EVENT_COMMAND;
	event->u.command = (struct event_command){
		.tid = ops->tid, .name = (uint32_t)(w[0] >> 16) & 0xffffff,
		.shape = (uint32_t)(w[0] >> 40), .queue = (uint32_t)ops->ran_on,
		.op_name = (uint32_t)(ops->ran_on >> 32), .op = ops->ran_in,
		.how = ops->ran_in ? HOW_EXACT : HOW_NONE, .kind = COMMAND_KERNEL,
		.start_ticks = (uint64_t)ops->base_ns + (uint64_t)(int32_t)(uint32_t)w[1],
	};
	event->u.command.end_ticks = event->u.command.start_ticks + (w[1] >> 32);
	ops->at = w + n;
	return true;
}

static bool read_allocation(struct decode_ops *ops, const uint64_t *w, struct event *event)
{
	uint8_t has = (uint8_t)w[0] & (uint8_t)~TFT_OPS_MEMORY;
	bool gone = has == TFT_OPS_FREE;
	uint32_t allocator = (uint32_t)(w[0] >> 16) & 0xffffff;
	int64_t at_ns;
	size_t n = 3;

	if (!gone && has & ~(TFT_OPS_RAN_IN | TFT_OPS_DEVICE))
		return false;
	if ((size_t)(ops->end - w) < n + (gone ? 0 : (size_t)__builtin_popcount(has)))
		return false;
	at_ns = (int64_t)((uint64_t)ops->base_ns + (uint64_t)(int32_t)(uint32_t)w[1]);
	if (has & TFT_OPS_RAN_IN)
		ops->ran_in = w[n++];
	if (has & TFT_OPS_DEVICE)
		ops->device = (uint32_t)w[n++];
	if (gone) {
		event->type = EVENT_FREE;
		event->u.free = (struct event_free){
			.allocator = allocator, .address = w[2], .at_ns = at_ns,
		};
	} else {
		event->type = EVENT_ALLOC;
		event->u.alloc = (struct event_alloc){
			.allocator = allocator, .op_name = (uint32_t)(w[0] >> 40),
			.device = ops->device, .address = w[2], .bytes = w[1] >> 32,
			.op = ops->ran_in, .at_ns = at_ns,
		};
	}
	ops->at = w + n;
	return true;
}

static bool read_op(struct decode_ops *ops, const uint64_t *w, struct event_op *op)
{
	size_t left = (size_t)(ops->end - w), n = 3;
	uint8_t has = (uint8_t)w[0];

	if (has == TFT_OPS_WHOLE) {
		if (left < TFT_OPS_WHOLE_WORDS)
			return false;
		read_whole_op(w, op);
		n = TFT_OPS_WHOLE_WORDS;
		ops->step = op->step;
		ops->look = w[7];
		ops->place = w[9];
	} else {
		if (has & ~PARTS || left < n + (size_t)__builtin_popcount(has))
			return false;
		take_packed(ops, w, op);
		if (has & TFT_OPS_STEP)
			ops->step = (int64_t)w[n++];
		if (has & TFT_OPS_LOOK)
			ops->look = w[n++];
		op->payload = has & TFT_OPS_PAYLOAD ? w[n++] : 0;
		if (has & TFT_OPS_PLACE)
			ops->place = w[n++];
		op->forward = has & TFT_OPS_FORWARD ? w[n++] : 0;
		take_handed(has & TFT_OPS_HANDED ? w[n++] : 0, op);
		op->step = ops->step;
		op->domain = (uint32_t)ops->look;
		op->argb = (uint32_t)(ops->look >> 32);
		op->frame = (uint32_t)ops->place;
		op->shapes = (uint32_t)(ops->place >> 32);
	}
	op->tid = ops->tid;
	ops->instance = op->instance;
	ops->at = w + n;
	return true;
}

bool decode_ops_next(struct decode_ops *ops, struct event *event)
{
	const uint64_t *w = ops->at;

	if (w == ops->end)
		return false;
	if ((w[0] & TFT_OPS_MEMORY) == TFT_OPS_MEMORY)
		return read_allocation(ops, w, event);
	if (w[0] & TFT_OPS_KERNEL)
		return take_kernel(ops, w, event);
	event->type = EVENT_OP;
	return read_op(ops, w, &event->u.op);
}
