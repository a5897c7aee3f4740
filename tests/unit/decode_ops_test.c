/* SPDX-License-Identifier: MIT */
/* What the runtime packs of ops and kernels is what the decoder takes out of it. */
#include <stdio.h>
#include <string.h>

#include "probes/runtime/pack.h"
#include "probes/session/decode/decode_ops.h"
#include "tests/unit/test.h"

/* Now and then a value that does not fit into the short form. */
static uint64_t some(unsigned int bits)
{
	uint64_t value = (uint64_t)test_below(1u << 31) << 33 ^
			 (uint64_t)test_below(1u << 31) << 11 ^ (uint64_t)test_below(1u << 11);

	return test_below(64) ? value & ((UINT64_C(1) << bits) - 1) : value >> test_below(64);
}

static void make(struct tft_op *op, const struct tft_op *before, uint32_t tid)
{
	*op = (struct tft_op){
		.tid = tid, .instance = before->instance + some(6) - 20,
		.name = (uint32_t)some(20), .type = (uint32_t)some(10), .domain = before->domain,
		.argb = before->argb, .start_ns = (int64_t)((uint64_t)before->start_ns + some(24)),
		.dur_ns = (int64_t)(some(16) & INT64_MAX), .step = before->step,
		.depth = (uint16_t)some(3), .framework = (uint8_t)some(3),
		.flags = (uint8_t)some(8),
	};
	if (test_below(2))
		op->parent = op->instance - 1 - some(20);
	if (!test_below(8))
		op->domain = (uint32_t)some(20);
	if (!test_below(8))
		op->argb = (uint32_t)some(32);
	if (!test_below(8))
		op->step = (int64_t)some(60);
	if (!test_below(8))
		op->payload = some(32);
	if (!test_below(3))
		op->frame = (uint32_t)some(20);
	if (!test_below(3))
		op->shapes = (uint32_t)some(20);
	if (!test_below(4))
		op->forward = op->instance - 1 - some(20);
	if (!test_below(8)) {
		op->wait_ns = (int64_t)(some(39) & (TFT_WAIT_MAX >> 1)) + 1;
		op->waker = (uint32_t)some(22) & 0x3fffff;
	}
}

static void same(const struct tft_op *op, const struct event *event)
{
	const struct event_op *got = &event->u.op;

	CHECK_INT(event->type, EVENT_OP);
	CHECK(op->instance == got->instance && op->parent == got->parent);
	CHECK(op->payload == got->payload && op->step == got->step);
	CHECK(op->forward == got->forward && op->frame == got->frame && op->shapes == got->shapes);
	CHECK(op->start_ns == got->start_ns && op->dur_ns == got->dur_ns);
	CHECK_INT(op->tid, got->tid);
	CHECK_INT(op->name, got->name);
	CHECK_INT(op->type, got->op_type);
	CHECK_INT(op->domain, got->domain);
	CHECK_INT(op->argb, got->argb);
	CHECK_INT(op->depth, got->depth);
	CHECK_INT(op->framework, got->framework);
	CHECK_INT(op->flags, got->flags);
	CHECK_INT(op->wait_ns, got->wait_ns);
	CHECK_INT(op->waker, got->waker);
}

/* Packs until it is full; returns how many. */
static uint32_t pack_some(struct rt_pack *pack, struct tft_op *ops)
{
	struct tft_op before = { .instance = some(40), .start_ns = (int64_t)some(50), .step = -1 };
	uint32_t n = 0;

	for (; n < TFT_OPS_MAX && (!n || rt_pack_has_room(pack)); n++) {
		make(&ops[n], n ? &ops[n - 1] : &before, 77);
		if (!n)
			rt_pack_begin(pack, ops[0].start_ns, ops[0].instance);
		rt_pack_add(pack, &ops[n]);
		CHECK(pack->used <= TFT_OPS_WORDS);
	}
	return n;
}

TEST(ops_come_out_as_they_went_in)
{
	struct tft_op ops[TFT_OPS_MAX];
	struct decode_ops reader;
	struct rt_pack pack;
	struct event got;
	size_t whole = 0, all = 0;

	for (int round = 0; round < 5000; round++) {
		uint32_t n = pack_some(&pack, ops);
		struct event_op head = {
			.start_ns = pack.base_ns, .instance = pack.first, .tid = 77
		};

		decode_ops_begin(&reader, &head, pack.words, pack.used);
		for (uint32_t i = 0; i < n; i++) {
			whole += (uint8_t)*reader.at == TFT_OPS_WHOLE;
			CHECK(decode_ops_next(&reader, &got));
			same(&ops[i], &got);
		}
		CHECK(!decode_ops_next(&reader, &got) && reader.at == reader.end);
		all += n;
	}
	/* both forms are tried, neither is the rule */
	CHECK(whole > all / 100 && whole < all / 2);
}

TEST(ops_usual_ones_take_three_words)
{
	struct tft_op op = { .tid = 1,
			     .instance = 5000,
			     .parent = 4990,
			     .name = 1 << 20,
			     .type = 400,
			     .step = -1,
			     .start_ns = INT64_C(1) << 50,
			     .dur_ns = 4000000000,
			     .depth = 255,
			     .framework = 3,
			     .flags = TFT_OP_INNER };
	struct rt_pack pack;

	rt_pack_begin(&pack, op.start_ns, op.instance);
	rt_pack_add(&pack, &op);
	CHECK_INT(pack.used, 3);
	op.instance += 64;
	op.start_ns += 2000000000;
	rt_pack_add(&pack, &op);
	CHECK_INT(pack.used, 6);
	op.step = 12;
	rt_pack_add(&pack, &op);
	CHECK_INT(pack.used, 10);
	rt_pack_add(&pack, &op);
	CHECK_INT(pack.used, 13);
	op.wait_ns = TFT_WAIT_MAX;
	op.waker = (1u << 22) - 1;
	rt_pack_add(&pack, &op);
	CHECK_INT(pack.used, 17);
}

static void same_kernel(const struct rt_kernel *k, uint32_t tid, const struct event *event)
{
	const struct event_command *got = &event->u.command;

	CHECK_INT(event->type, EVENT_COMMAND);
	CHECK_INT(tid, got->tid);
	CHECK_INT(k->queue, got->queue);
	CHECK_INT(k->name, got->name);
	CHECK_INT(k->shape, got->shape);
	CHECK_INT(k->op_name, got->op_name);
	CHECK_INT(TFT_KIND_KERNEL, got->kind);
	CHECK_INT(k->op ? TFT_HOW_EXACT : TFT_HOW_NONE, got->how);
	CHECK(k->op == got->op && !got->call_ns && !got->correlation && !got->bytes);
	CHECK((uint64_t)k->start_ns == got->start_ticks && (uint64_t)k->end_ns == got->end_ticks);
}

/* Kernels among ops: neither changes what the other takes over. */
TEST(ops_and_kernels_go_together)
{
	struct tft_op ops[16], before = { .instance = 900, .start_ns = 1 << 20, .step = -1 };
	struct rt_kernel k[16] = { 0 };

	for (int round = 0; round < 2000; round++) {
		struct event_op head = { .tid = 77 };
		struct decode_ops reader;
		struct rt_pack pack;
		struct event got;

		for (uint32_t i = 0; i < 16; i++) {
			make(&ops[i], i ? &ops[i - 1] : &before, 77);
			k[i] = (struct rt_kernel){
				.name = test_below(1u << 24),
				.shape = test_below(1u << 24),
				.queue = i && test_below(4) ? k[i - 1].queue : (uint32_t)some(32),
				.op_name =
					i && test_below(4) ? k[i - 1].op_name : (uint32_t)some(24),
				.op = i && test_below(4) ? k[i - 1].op : some(40),
				.start_ns = before.start_ns - 500 + (int64_t)test_below(1000),
			};
			k[i].end_ns = k[i].start_ns + (int64_t)test_below(100000);
		}
		rt_pack_begin(&pack, before.start_ns, before.instance);
		for (uint32_t i = 0; i < 12; i++) {
			rt_pack_add(&pack, &ops[i]);
			CHECK(rt_pack_kernel(&pack, &k[i]));
		}
		head.start_ns = pack.base_ns;
		head.instance = pack.first;
		decode_ops_begin(&reader, &head, pack.words, pack.used);
		for (uint32_t i = 0; i < 12; i++) {
			CHECK(decode_ops_next(&reader, &got));
			same(&ops[i], &got);
			CHECK(decode_ops_next(&reader, &got));
			same_kernel(&k[i], 77, &got);
		}
		CHECK(!decode_ops_next(&reader, &got) && reader.at == reader.end);
	}
}

TEST(ops_kernels_of_one_op_take_two_words)
{
	struct rt_kernel k = {
		.name = (1 << 24) - 1, .shape = (1 << 24) - 1, .queue = TFT_OWN_IDS + 1, .op = 12,
		.op_name = 7, .start_ns = 5000,
		.end_ns = INT64_C(5000) + UINT32_MAX,
	};
	struct rt_pack pack;

	rt_pack_begin(&pack, 5000 + (INT64_C(1) << 31), 12);
	CHECK(rt_pack_kernel(&pack, &k));
	CHECK_INT(pack.used, 4);
	CHECK(rt_pack_kernel(&pack, &k));
	CHECK_INT(pack.used, 6);
	/* what does not fit leaves nothing */
	k.start_ns--;
	CHECK(!rt_pack_kernel(&pack, &k));
	k.start_ns++;
	k.end_ns++;
	CHECK(!rt_pack_kernel(&pack, &k));
	k.end_ns--;
	k.shape++;
	CHECK(!rt_pack_kernel(&pack, &k));
	CHECK_INT(pack.used, 6);
}

/* Among ops and kernels, of any op and device. */
TEST(ops_memory_comes_out_as_it_went_in)
{
	int64_t base = INT64_C(1) << 50;

	for (int round = 0; round < 2000; round++) {
		struct event_op head = { .tid = 77, .start_ns = base, .instance = 900 };
		struct tft_op op, before = { .instance = 900, .start_ns = base, .step = -1 };
		struct tft_alloc a[8] = { 0 };
		struct decode_ops reader;
		struct rt_pack pack;
		struct event got;

		rt_pack_begin(&pack, base, 900);
		make(&op, &before, 77);
		rt_pack_add(&pack, &op);
		for (uint32_t i = 0; i < 8; i++) {
			a[i] = (struct tft_alloc){
				.allocator = test_below(1u << 24), .op_name = test_below(1u << 24),
				.device = i && test_below(3) ? a[i - 1].device : (uint32_t)some(32),
				.op = i && test_below(3) ? a[i - 1].op : some(40),
				.address = some(58), .bytes = test_below(UINT64_C(1) << 32),
				.at_ns = base - 1000 + i,
			};
			CHECK(rt_pack_alloc(&pack, &a[i]));
			CHECK(rt_pack_free(&pack, &(struct tft_free){
				.allocator = a[i].allocator, .address = a[i].address,
				.at_ns = base + i }));
		}
		decode_ops_begin(&reader, &head, pack.words, pack.used);
		CHECK(decode_ops_next(&reader, &got));
		same(&op, &got);
		for (uint32_t i = 0; i < 8; i++) {
			CHECK(decode_ops_next(&reader, &got) && got.type == EVENT_ALLOC);
			CHECK_INT(got.u.alloc.allocator, a[i].allocator);
			CHECK_INT(got.u.alloc.op_name, a[i].op_name);
			CHECK_INT(got.u.alloc.device, a[i].device);
			CHECK_INT(got.u.alloc.op, a[i].op);
			CHECK_INT(got.u.alloc.address, a[i].address);
			CHECK_INT(got.u.alloc.bytes, a[i].bytes);
			CHECK_INT(got.u.alloc.at_ns, base - 1000 + i);
			CHECK(decode_ops_next(&reader, &got) && got.type == EVENT_FREE);
			CHECK_INT(got.u.free.allocator, a[i].allocator);
			CHECK_INT(got.u.free.address, a[i].address);
			CHECK_INT(got.u.free.at_ns, base + i);
		}
		CHECK(!decode_ops_next(&reader, &got) && reader.at == reader.end);
	}
}

TEST(ops_memory_that_does_not_fit_leaves_nothing)
{
	struct tft_alloc a = { .allocator = 1, .bytes = UINT32_MAX, .op = 12, .device = 3,
			       .at_ns = 5000 };
	struct tft_free f = { .allocator = 1, .at_ns = 5000 + (INT64_C(1) << 31) };
	struct rt_pack pack;

	rt_pack_begin(&pack, 5000, 12);
	CHECK(rt_pack_alloc(&pack, &a));
	CHECK_INT(pack.used, 5);
	CHECK(rt_pack_alloc(&pack, &a));
	CHECK_INT(pack.used, 8);
	a.bytes++;
	CHECK(!rt_pack_alloc(&pack, &a));
	CHECK(!rt_pack_free(&pack, &f));
	f.at_ns--;
	f.allocator = 1 << 24;
	CHECK(!rt_pack_free(&pack, &f));
	CHECK_INT(pack.used, 8);
}

/* Cut anywhere, bits turned: what comes out ends within the words. */
TEST(ops_damaged_words_end)
{
	struct tft_op ops[TFT_OPS_MAX];
	struct decode_ops reader;
	struct rt_pack pack;
	struct event got;

	for (int round = 0; round < 2000; round++) {
		uint32_t n = pack_some(&pack, ops), out = 0, cut = test_below(pack.used + 1);
		struct event_op head = {
			.start_ns = pack.base_ns, .instance = pack.first, .tid = 77
		};

		decode_ops_begin(&reader, &head, pack.words, cut);
		for (; decode_ops_next(&reader, &got); out++)
			same(&ops[out], &got);
		CHECK(out <= n && reader.at <= reader.end);
		CHECK((out == n) == (cut == pack.used));
		for (int i = 0; i < 5; i++)
			pack.words[test_below(pack.used)] ^= UINT64_C(1) << test_below(64);
		decode_ops_begin(&reader, &head, pack.words, pack.used);
		for (out = 0; decode_ops_next(&reader, &got); out++)
			;
		CHECK(out <= pack.used / 2 && reader.at <= reader.end);
	}
}
