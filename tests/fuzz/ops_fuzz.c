/* SPDX-License-Identifier: MIT */
/*
 * Batches of ops as a damaged recording may contain them: decoding any words ends, stays within the
 * words, and each decoded op can be packed again to the same op.
 */
#include <string.h>

#include "probes/runtime/pack.h"
#include "probes/session/decode/decode_ops.h"
#include "tests/fuzz/fuzz.h"

static void check_op(const struct event_op *op)
{
	struct event event;
	struct tft_op from = {
		.tid = op->tid, .instance = op->instance, .parent = op->parent, .name = op->name,
		.type = op->op_type, .domain = op->domain, .argb = op->argb,
		.start_ns = op->start_ns, .dur_ns = op->dur_ns, .step = op->step,
		.payload = op->payload, .depth = op->depth, .framework = op->framework,
		.flags = op->flags, .wait_ns = op->wait_ns, .waker = op->wait_ns ? op->waker : 0,
	};
	const struct event_op *again = &event.u.op;
	struct decode_ops reader;
	struct event_op head;
	struct rt_pack pack;

	rt_pack_begin(&pack, from.start_ns, from.instance);
	rt_pack_add(&pack, &from);
	head = (struct event_op){
		.start_ns = pack.base_ns, .instance = pack.first, .tid = op->tid
	};
	decode_ops_begin(&reader, &head, pack.words, pack.used);
	FUZZ_CHECK(decode_ops_next(&reader, &event) && event.type == EVENT_OP &&
		   reader.at == reader.end);
	FUZZ_CHECK(again->instance == op->instance && again->parent == op->parent &&
		   again->payload == op->payload && again->start_ns == op->start_ns &&
		   again->dur_ns == op->dur_ns && again->step == op->step &&
		   again->name == op->name && again->op_type == op->op_type &&
		   again->domain == op->domain && again->argb == op->argb &&
		   again->depth == op->depth && again->framework == op->framework &&
		   again->flags == op->flags && again->tid == op->tid &&
		   again->wait_ns == op->wait_ns && again->waker == from.waker);
}

static void check_kernel(const struct event_command *c)
{
	struct rt_kernel from = {
		.queue = c->queue, .name = c->name, .shape = c->shape, .op = c->op,
		.op_name = c->op_name, .start_ns = (int64_t)c->start_ticks,
		.end_ns = (int64_t)c->end_ticks,
	};
	struct event_op head = { .start_ns = (int64_t)c->start_ticks, .tid = c->tid };
	struct decode_ops reader;
	struct event again;
	struct rt_pack pack;

	rt_pack_begin(&pack, head.start_ns, 0);
	FUZZ_CHECK(rt_pack_kernel(&pack, &from));
	decode_ops_begin(&reader, &head, pack.words, pack.used);
	FUZZ_CHECK(decode_ops_next(&reader, &again) && again.type == EVENT_COMMAND &&
		   reader.at == reader.end);
	FUZZ_CHECK(again.u.command.name == c->name && again.u.command.shape == c->shape &&
		   again.u.command.queue == c->queue && again.u.command.op == c->op &&
		   again.u.command.op_name == c->op_name && again.u.command.how == c->how &&
		   again.u.command.start_ticks == c->start_ticks &&
		   again.u.command.end_ticks == c->end_ticks);
}

static void check_memory(const struct event *event)
{
	const struct event_alloc *a = &event->u.alloc;
	const struct event_free *f = &event->u.free;
	int64_t at_ns = event->type == EVENT_ALLOC ? a->at_ns : f->at_ns;
	struct event_op head = { .start_ns = at_ns };
	struct decode_ops reader;
	struct event again;
	struct rt_pack pack;

	rt_pack_begin(&pack, at_ns, 0);
	if (event->type == EVENT_ALLOC)
		FUZZ_CHECK(rt_pack_alloc(&pack, &(struct tft_alloc){
			.allocator = a->allocator, .device = a->device, .op_name = a->op_name,
			.address = a->address, .bytes = a->bytes, .op = a->op, .at_ns = at_ns }));
	else
		FUZZ_CHECK(rt_pack_free(&pack, &(struct tft_free){
			.allocator = f->allocator, .address = f->address, .at_ns = at_ns }));
	decode_ops_begin(&reader, &head, pack.words, pack.used);
	FUZZ_CHECK(decode_ops_next(&reader, &again) && again.type == event->type &&
		   reader.at == reader.end);
	if (event->type == EVENT_ALLOC)
		FUZZ_CHECK(again.u.alloc.allocator == a->allocator &&
			   again.u.alloc.device == a->device && again.u.alloc.op == a->op &&
			   again.u.alloc.op_name == a->op_name && again.u.alloc.bytes == a->bytes &&
			   again.u.alloc.address == a->address && again.u.alloc.at_ns == at_ns);
	else
		FUZZ_CHECK(again.u.free.allocator == f->allocator &&
			   again.u.free.address == f->address && again.u.free.at_ns == at_ns);
}

static void run(const uint8_t *data, size_t size)
{
	uint64_t words[TFT_OPS_WORDS] = { 0 };
	size_t n = size / 8 < TFT_OPS_WORDS ? size / 8 : TFT_OPS_WORDS, out = 0;
	struct event_op head = { .start_ns = 1000, .instance = 7, .tid = 3 };
	struct event event;
	struct decode_ops reader;

	memcpy(words, data, n * 8);
	decode_ops_begin(&reader, &head, words, n);
	for (; decode_ops_next(&reader, &event); out++)
		if (event.type == EVENT_COMMAND)
			check_kernel(&event.u.command);
		else if (event.type == EVENT_ALLOC || event.type == EVENT_FREE)
			check_memory(&event);
		else if (event.u.op.parent != event.u.op.instance) /* nothing says so: it is none */
			check_op(&event.u.op);
	FUZZ_CHECK(out <= n / 2 && reader.at <= reader.end);
}

FUZZ_TARGET("ops", run);
