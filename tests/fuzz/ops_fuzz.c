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

static void check_again(const struct event_op *op)
{
	struct tft_op from = {
		.tid = op->tid, .instance = op->instance, .parent = op->parent, .name = op->name,
		.type = op->op_type, .domain = op->domain, .argb = op->argb,
		.start_ns = op->start_ns, .dur_ns = op->dur_ns, .step = op->step,
		.payload = op->payload, .depth = op->depth, .framework = op->framework,
		.flags = op->flags, .wait_ns = op->wait_ns, .waker = op->wait_ns ? op->waker : 0,
	};
	struct decode_ops reader;
	struct event_op head, again;
	struct rt_pack pack;

	rt_pack_begin(&pack, &from);
	rt_pack_add(&pack, &from);
	head = (struct event_op){
		.start_ns = pack.base_ns, .instance = pack.first, .tid = op->tid
	};
	decode_ops_begin(&reader, &head, pack.words, pack.used);
	FUZZ_CHECK(decode_ops_next(&reader, &again) && reader.at == reader.end);
	FUZZ_CHECK(again.instance == op->instance && again.parent == op->parent &&
		   again.payload == op->payload && again.start_ns == op->start_ns &&
		   again.dur_ns == op->dur_ns && again.step == op->step &&
		   again.name == op->name && again.op_type == op->op_type &&
		   again.domain == op->domain && again.argb == op->argb &&
		   again.depth == op->depth && again.framework == op->framework &&
		   again.flags == op->flags && again.tid == op->tid &&
		   again.wait_ns == op->wait_ns && again.waker == from.waker);
}

static void run(const uint8_t *data, size_t size)
{
	uint64_t words[TFT_OPS_WORDS] = { 0 };
	size_t n = size / 8 < TFT_OPS_WORDS ? size / 8 : TFT_OPS_WORDS, out = 0;
	struct event_op head = { .start_ns = 1000, .instance = 7, .tid = 3 }, op;
	struct decode_ops reader;

	memcpy(words, data, n * 8);
	decode_ops_begin(&reader, &head, words, n);
	for (; decode_ops_next(&reader, &op); out++)
		if (op.parent != op.instance)	/* nothing says so: it is none */
			check_again(&op);
	FUZZ_CHECK(out <= n / 3 && reader.at <= reader.end);
}

FUZZ_TARGET("ops", run);
