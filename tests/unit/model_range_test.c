/* SPDX-License-Identifier: MIT */
/*
 * What ran within a time against a plain scan of what went in: kernels of two queues with ops
 * that launched them, copies, ops that lie in each other on two threads, some of it late, some
 * of it open; walked over at once or a few spans at a time, while more comes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/range.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define DONE 24000
#define KERNELS 9			/* names 1 ... 9 */
#define OPS 20				/* names OP0 ... */
#define OP0 30u
#define QUEUES 2
#define THREADS 2
#define DEPTH 4

struct done {
	enum range_kind kind;
	uint32_t name, op;		/* ids of names, 0 none */
	uint32_t queue;			/* from 1 */
	int parent;			/* index of an op, -1 none */
	int64_t start, end;
	uint64_t bytes;
	bool open;
};

static struct done done[DONE];
static int n_done;
static uint64_t instances;

static struct done *add(struct done what)
{
	CHECK(n_done < DONE);
	what.start += BASE;
	what.end += BASE;
	done[n_done] = what;
	return &done[n_done++];
}

/* An op and what lies in it, innermost first or last. */
static void nest(struct model *model, uint32_t thread, int parent, uint64_t parent_instance,
		 int depth, int64_t start, int64_t end)
{
	uint64_t instance = ++instances;
	uint32_t name = OP0 + (uint32_t)test_below(OPS);
	bool late = test_below(2);
	struct event event = ev_op(name, instance, parent_instance, start, end - start, 0);
	int self = n_done;

	event.u.op.depth = (uint16_t)depth;
	event.u.op.tid = PID + thread;
	add((struct done) { RANGE_OP, name, 0, 0, parent, start, end, 0, false });
	if (!late)
		apply_one(model, event);
	for (int64_t at = start; depth + 1 < DEPTH && end - at > 40; ) {
		int64_t from = at + (int64_t)test_below(30);
		int64_t to = from + 1 + (int64_t)test_below((uint64_t)(end - from));

		if (to > end || from >= end || !test_below(4))
			break;
		nest(model, thread, self, instance, depth + 1, from, to);
		at = to;
	}
	if (late)
		apply_one(model, event);
}

static void run(struct model *model, uint32_t i, int64_t start)
{
	struct done what = {
		.name = 1 + (uint32_t)test_below(KERNELS), .parent = -1,
		.op = test_below(4) ? OP0 + (uint32_t)test_below(OPS) : 0,
		.queue = 1 + (uint32_t)test_below(QUEUES), .start = start,
		.end = start + 1 + (int64_t)test_below(test_below(60) ? 900 : 30000),
	};
	struct event event;

	what.kind = test_below(3) ? RANGE_KERNEL : RANGE_COPY;
	if (what.kind == RANGE_COPY) {
		what.bytes = test_below(1 << 20);
		what.name = 0;
		event = ev_copy(what.queue, DIR_D2H, what.bytes, start, what.end - start);
	} else {
		event = ev_kernel(what.name, what.queue, i, start, what.end - start);
		what.open = !test_below(500);
	}
	event.u.command.op_name = what.op;
	event.u.command.correlation = i;
	if (what.open)
		event.u.command.flags |= CMD_OPEN;
	apply_one(model, event);
	add(what);
}

static uint32_t correlation;

static void feed(struct model *model, int rounds, int64_t *clock)
{
	for (int i = 0; i < rounds; i++) {
		int64_t late = test_below(20) ? 0 : (int64_t)test_below(50000);

		for (int k = 0; k < 3; k++)
			run(model, ++correlation, *clock + 60000 - late + (int64_t)test_below(900));
		for (uint32_t thread = 0; thread < THREADS; thread++)
			nest(model, thread, -1, 0, 0, *clock + 60000, *clock + 60700);
		*clock += 1000;
	}
}

static struct model *make(void)
{
	struct model *model = model_with_device();
	char text[16];

	n_done = 0;
	instances = 0;
	for (uint32_t i = 0; i < OPS; i++) {
		snprintf(text, sizeof(text), "op%u", i);
		apply_one(model, ev_name(OP0 + i, NAME_OP, text));
	}
	return model;
}

/* An open one is drawn from its call to the edge. */
static void settle_opens(struct model *model)
{
	struct model_status status = status_of(model);

	for (int i = 0; i < n_done; i++)
		if (done[i].open) {
			done[i].start -= 10;
			done[i].end = status.live_ns > status.last_ns ? status.live_ns :
									status.last_ns;
			done[i].open = false;
		}
}

/* ---- the scan ---- */

struct sum {
	uint64_t count, bytes;
	int64_t time, self;
};

static int64_t clip(const struct done *what, int64_t a, int64_t b)
{
	int64_t from = what->start > a ? what->start : a, to = what->end < b ? what->end : b;

	return to > from ? to - from : 0;
}

static uint64_t moved(const struct done *what, int64_t t)
{
	int64_t at = t < what->start ? what->start : t > what->end ? what->end : t;

	return what->bytes * (uint64_t)(at - what->start) / (uint64_t)(what->end - what->start);
}

static void name_of(char text[16], uint32_t id)
{
	if (id >= OP0)
		snprintf(text, 16, "op%u", id - OP0);
	else
		snprintf(text, 16, "kernel%u", id);
}

static bool is_in(const struct done *what, const struct range_part *part)
{
	char name[16], op[16];

	if (what->kind != part->kind)
		return false;
	name_of(name, what->name);
	name_of(op, what->op);
	if (what->kind == RANGE_OP)
		return strcmp(name, part->name) == 0;
	return (what->kind == RANGE_COPY || strcmp(name, part->name) == 0) &&
	       part->queue + 1 == what->queue &&
	       (what->op ? part->op && strcmp(op, part->op) == 0 : !part->op);
}

static struct sum scan(const struct range_part *part, int64_t a, int64_t b)
{
	struct sum sum = { 0, 0, 0, 0 };

	for (int i = 0; i < n_done; i++) {
		int64_t ns = clip(&done[i], a, b);

		if (!ns)
			continue;
		if (done[i].parent >= 0 && is_in(&done[done[i].parent], part))
			sum.self -= ns;
		if (!is_in(&done[i], part))
			continue;
		sum.count++;
		sum.time += ns;
		sum.self += ns;
		sum.bytes += moved(&done[i], b) - moved(&done[i], a);
	}
	return sum;
}

static void check(struct model *model, int64_t a, int64_t b, uint64_t at_once)
{
	struct range_walk *walk;
	struct range_part *parts;
	struct range_state state;
	uint64_t count = 0, all = 0;
	size_t n;

	model_lock(model);
	walk = range_walk_new(model, a, b);
	while (range_walk_step(walk, at_once)) {
		model_unlock(model);
		model_lock(model);
	}
	n = range_walk_parts(walk, &parts);
	range_walk_state(walk, &state);
	model_unlock(model);
	n = range_fold(parts, n, RANGE_BY_ALL);
	CHECK(state.whole && !state.folded);
	for (size_t i = 0; i < n; i++) {
		struct sum want = scan(&parts[i], a, b);

		CHECK_INT(parts[i].count, want.count);
		CHECK_INT(parts[i].time_ns, want.time);
		CHECK_INT(parts[i].self_ns, want.self);
		CHECK_INT(parts[i].bytes, want.bytes);
		CHECK(i == 0 || parts[i].time_ns <= parts[i - 1].time_ns);
		count += parts[i].count;
	}
	for (int i = 0; i < n_done; i++)
		all += clip(&done[i], a, b) > 0;
	CHECK_INT(count, all);
	free(parts);
	range_walk_free(walk);
}

TEST(model_range_like_a_scan)
{
	struct model *model = make();
	int64_t clock = 0, end;

	feed(model, 1300, &clock);
	settle_opens(model);
	end = BASE + clock + 60000;
	for (int round = 0; round < 25; round++) {
		int64_t a = BASE + (int64_t)test_below((uint64_t)(clock + 60000));
		int64_t b = a + 1 + (int64_t)test_below((uint64_t)(round % 2 ? 3000 : end - a + 5));

		check(model, a, b, test_below(2) ? 1 : 1 + test_below(100000));
	}
	check(model, BASE, end + 1000000, 777);
	model_free(model);
}

/* Nothing is seen twice and what was there is seen, whatever comes between. */
TEST(model_range_while_more_comes)
{
	struct model *model = make();
	int64_t clock = 0, a, b;
	struct range_walk *walk;
	struct range_part *parts;
	uint64_t before = 0, after = 0, count = 0;
	size_t n;

	feed(model, 400, &clock);
	a = BASE + 100000;
	b = BASE + clock + 60000;
	settle_opens(model);
	for (int i = 0; i < n_done; i++)
		before += clip(&done[i], a, b) > 0;
	walk = range_walk_new(model, a, b);
	for (bool more = true; more; ) {
		model_lock(model);
		more = range_walk_step(walk, 90);
		model_unlock(model);
		feed(model, 1, &clock);
		run(model, ++correlation, a - BASE + (int64_t)test_below((uint64_t)(b - a)));
	}
	for (int i = 0; i < n_done; i++)
		after += !done[i].open && clip(&done[i], a, b) > 0;
	CHECK(after > before);
	model_lock(model);
	n = range_walk_parts(walk, &parts);
	n = range_fold(parts, n, RANGE_BY_ALL);
	model_unlock(model);
	for (size_t i = 0; i < n; i++)
		count += parts[i].count;
	CHECK(count >= before && count <= after);
	free(parts);
	range_walk_free(walk);
	model_free(model);
}

TEST(model_range_parts_fold)
{
	struct model *model = make();
	int64_t clock = 0;
	struct range_walk *walk;
	struct range_part *parts;
	struct range_part sum[RANGE_KINDS] = { { .count = 0 } };
	size_t n;

	feed(model, 50, &clock);
	model_lock(model);
	walk = range_walk_new(model, BASE, BASE + 1000000);
	while (range_walk_step(walk, 1000))
		;
	n = range_walk_parts(walk, &parts);
	n = range_fold(parts, n, RANGE_BY_ALL);
	for (size_t i = 0; i < n; i++) {
		sum[parts[i].kind].count += parts[i].count;
		sum[parts[i].kind].time_ns += parts[i].time_ns;
		sum[parts[i].kind].bytes += parts[i].bytes;
	}
	n = range_fold(parts, n, 0);
	model_unlock(model);
	CHECK_INT(n, 3);
	for (size_t i = 0; i < n; i++) {
		CHECK_INT(parts[i].count, sum[parts[i].kind].count);
		CHECK_INT(parts[i].time_ns, sum[parts[i].kind].time_ns);
		CHECK_INT(parts[i].bytes, sum[parts[i].kind].bytes);
		CHECK(!parts[i].name && !parts[i].op && !parts[i].shape);
		CHECK(parts[i].queue == UINT32_MAX);
	}
	free(parts);
	range_walk_free(walk);
	model_free(model);
}

static bool rest_until(void *arg)
{
	unsigned *left = arg;

	return *left && --*left;
}

/* What nobody waits for any more ends within a few thousand parts. */
TEST(model_range_ends_where_it_rests)
{
	enum { N = 20000 };
	struct range_part *parts = calloc(N, sizeof(*parts));
	struct model *model = make();
	unsigned left = 100;
	size_t n;

	for (uint32_t i = 0; parts && i < N; i++)
		parts[i] = (struct range_part) { .kind = RANGE_KERNEL, .queue = i, .count = 1 };
	model_rest_with(rest_until, &left);
	n = range_fold(parts, N, RANGE_BY_QUEUE);
	CHECK_INT(n, N);
	CHECK(left < 100);
	left = 3;
	n = range_fold(parts, N, RANGE_BY_QUEUE);
	CHECK(n > 0 && n < N / 2);
	model_lock(model);
	CHECK(!model_yield(model));
	model_rest_with(NULL, NULL);
	CHECK(model_yield(model));
	model_unlock(model);
	free(parts);
	model_free(model);
}
