/* SPDX-License-Identifier: MIT */
/* All events of one name, walked over some at a time, against plain sums over what went in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/name.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define RUNS 6000
#define OP0 30u
#define PARTS 8

struct ran {
	uint32_t name, queue, op;	/* name 0: a copy */
	int64_t start, dur;
};

static struct ran ran[RUNS];

static void feed(struct model *model, int from, int to)
{
	for (int i = from; i < to; i++) {
		struct ran *r = &ran[i];
		struct event event;

		*r = (struct ran){
			.name = (uint32_t)test_below(4),
			.queue = 1 + (uint32_t)test_below(2),
			.op = test_below(3) ? OP0 + (uint32_t)test_below(3) : 0,
			.start = 1000 * (int64_t)i -
				 (int64_t)test_below(test_below(9) ? 10 : 40000) + 100000,
			.dur = 1 + (int64_t)test_below(900),
		};
		event = r->name ? ev_kernel(r->name, r->queue, (uint32_t)i + 1, r->start, r->dur) :
				  ev_copy(r->queue, DIR_H2D, 4096, r->start, r->dur);
		event.u.command.correlation = (uint32_t)i + 1;
		event.u.command.op_name = r->op;
		apply_one(model, event);
	}
}

static struct model *make(void)
{
	struct model *model = model_with_device();
	char text[16];

	for (uint32_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "op%u", i);
		apply_one(model, ev_name(OP0 + i, NAME_OP, text));
	}
	return model;
}

static void walk(struct model *model, const char *name, uint64_t slice, const int64_t *bounds,
		 struct name_walk **out, struct name_sum *sum)
{
	model_lock(model);
	*out = name_walk_new(model, name, bounds, PARTS);
	while (name_walk_step(*out, slice)) {
		model_unlock(model);
		model_lock(model);
	}
	name_walk_sum(*out, sum);
	model_unlock(model);
}

static void compare_ops(const struct name_sum *sum, uint32_t wanted)
{
	for (size_t k = 0; k < sum->n_ops; k++) {
		uint64_t count = 0;
		int64_t total = 0;

		for (int i = 0; i < RUNS; i++) {
			char text[16];

			snprintf(text, sizeof(text), "op%u", ran[i].op - OP0);
			if (ran[i].name != wanted || (ran[i].op ? !sum->ops[k].name ||
			    strcmp(sum->ops[k].name, text) : sum->ops[k].name != NULL))
				continue;
			count++;
			total += ran[i].dur;
		}
		CHECK(sum->ops[k].count == count && sum->ops[k].total_ns == total);
		CHECK(!k || sum->ops[k].total_ns <= sum->ops[k - 1].total_ns);
	}
}

static void compare(const struct name_sum *sum, uint32_t wanted, const int64_t *bounds)
{
	struct name_part parts[PARTS] = { { 0, 0 } };
	uint64_t count = 0, spread = 0, placed = 0;
	int64_t total = 0, min = INT64_MAX, max = 0, first = INT64_MAX, last = 0;

	for (int i = 0; i < RUNS; i++) {
		const struct ran *r = &ran[i];
		int part = PARTS - 1;

		if (r->name != wanted)
			continue;
		count++;
		total += r->dur;
		min = r->dur < min ? r->dur : min;
		max = r->dur > max ? r->dur : max;
		first = r->start < first ? r->start : first;
		last = r->start > last ? r->start : last;
		while (part >= 0 && bounds[part] > BASE + r->start)
			part--;
		if (part < 0)
			continue;
		parts[part].count++;
		parts[part].total_ns += r->dur;
	}
	CHECK(sum->known && sum->whole && !sum->folded);
	CHECK(sum->count == count && sum->total_ns == total);
	CHECK(sum->min_ns == min && sum->max_ns == max);
	CHECK(sum->first.start_ns == BASE + first && sum->last.start_ns == BASE + last);
	CHECK(sum->n_slow == NAME_SLOWEST && sum->slow[0].dur_ns == max);
	for (size_t i = 1; i < sum->n_slow; i++)
		CHECK(sum->slow[i].dur_ns <= sum->slow[i - 1].dur_ns);
	for (size_t i = 0; i < NAME_SPREAD; i++)
		spread += sum->spread[i];
	for (size_t i = 0; i < sum->n_places; i++)
		placed += sum->places[i].count;
	CHECK(spread == count && placed == count && sum->n_places == 2);
	for (size_t i = 0; i < PARTS; i++)
		CHECK(sum->parts[i].count == parts[i].count &&
		      sum->parts[i].total_ns == parts[i].total_ns);
	compare_ops(sum, wanted);
}

TEST(name_walk_is_the_sum_of_all)
{
	static const char *const names[] = { "h2d", "kernel1", "kernel2", "kernel3" };
	struct model *model = make();
	int64_t bounds[PARTS];
	struct name_walk *w;
	struct name_sum sum;

	for (int i = 0; i < PARTS; i++)
		bounds[i] = BASE + 500000 + 700000 * (int64_t)i;
	feed(model, 0, RUNS);
	model_finish(model, false);
	for (uint32_t i = 0; i < 4; i++) {
		walk(model, names[i], test_below(2) ? 1 + test_below(900) : UINT64_MAX / 2, bounds,
		     &w, &sum);
		compare(&sum, i, bounds);
		name_walk_free(w);
	}
	walk(model, "kernel", 100, bounds, &w, &sum);
	CHECK(!sum.known && !sum.count && sum.whole);
	name_walk_free(w);
	model_free(model);
}

/* What is there when a walk begins is counted once, whatever comes while it goes on. */
TEST(name_walk_while_more_comes)
{
	struct model *model = make();
	int64_t bound = BASE, before = 0;
	struct name_walk *w;
	struct name_sum sum;
	bool more = true;
	int fed = RUNS / 2;

	feed(model, 0, fed);
	for (int i = 0; i < fed; i++)
		before += ran[i].name == 1;
	model_lock(model);
	w = name_walk_new(model, "kernel1", &bound, 1);
	while (more) {
		more = name_walk_step(w, 200);
		model_unlock(model);
		if (fed < RUNS)
			feed(model, fed, fed + 50 < RUNS ? fed + 50 : RUNS);
		fed += 50;
		model_lock(model);
	}
	name_walk_sum(w, &sum);
	CHECK(sum.count >= (uint64_t)before);
	before = 0;
	for (int i = 0; i < RUNS && i < fed; i++)
		before += ran[i].name == 1;
	CHECK(sum.count <= (uint64_t)before);
	model_unlock(model);
	name_walk_free(w);
	model_free(model);
}
