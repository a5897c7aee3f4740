/* SPDX-License-Identifier: MIT */
/*
 * Ops that were written together, as they may lie in a damaged recording: any
 * words end, within themselves, and what is told of an op is packed again and
 * comes out the same.
 */
#include <string.h>

#include "probes/runtime/pack.h"
#include "probes/session/decode_ops.h"
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
	FUZZ_CHECK(decode_ops_next(&reader, &event) && event.type == EVENT_OP && reader.at == reader.end);
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
		else if (event.u.op.parent != event.u.op.instance)	/* nothing says so: it is none */
			check_op(&event.u.op);
	FUZZ_CHECK(out <= n / 2 && reader.at <= reader.end);
}

FUZZ_TARGET("ops", run);
