/* SPDX-License-Identifier: MIT */
/* Stages of input pipelines: sums, who holds the wait, and what is said of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/findings.h"
#include "model/query/input.h"
#include "model/query/time.h"
#include "tests/unit/model_events.h"
#include "tests/unit/model_graph.h"
#include "tests/unit/test.h"
#include "tui/draw/page_call.h"

#define US INT64_C(1000)
#define MS (1000 * US)
#define STAGES 12

static struct event event_of(enum event_type type, int64_t at_ns)
{
	return (struct event){
		.type = (uint8_t)type, .pid = PID, .tid = PID, .time_ns = BASE + at_ns
	};
}

static void define(struct model *model, uint32_t id, uint32_t parent, const char *path)
{
	struct event event = event_of(EVENT_STAGE, 0);

	event.u.stage =
		(struct event_stage){ .id = id, .parent = parent, .path = path, .what = "x:1" };
	apply_one(model, event);
}

static void did(struct model *model, uint32_t id, uint64_t calls, int64_t total_ns, int64_t self_ns,
		int64_t busy_ns, int64_t wait_ns, int32_t parallelism)
{
	struct event event = event_of(EVENT_STAGES, 900 * MS);

	event.u.stages = (struct event_stages){
		.stage = id,
		.elements = calls,
		.total_ns = total_ns,
		.self_ns = self_ns,
		.busy_ns = busy_ns,
		.wait_ns = wait_ns,
		.max_ns = calls ? total_ns / (int64_t)calls : 0,
		.begin_ns = BASE,
		.end_ns = BASE + 900 * MS,
		.parallelism = parallelism,
		.buffered = -1,
	};
	apply_one(model, event);
}

static size_t stages_of(struct model *model, struct input_row **rows)
{
	size_t n;

	model_lock(model);
	n = model_input_stages(model, rows);
	model_unlock(model);
	return n;
}

/* Told before defined, in two parts; a tree in order, and what it holds. */
TEST(model_input_tree)
{
	struct model *model = model_new(NULL);
	struct input_row *rows;

	did(model, 3, 10, 60 * MS, 50 * MS, 0, 0, -1);
	did(model, 1, 10, 100 * MS, 1 * MS, 0, 101 * MS, 4);
	define(model, 1, 0, "Root");
	define(model, 2, 1, "Prefetch");
	define(model, 4, 2, "Prefetch::Zip[1]::Range");
	define(model, 3, 2, "Prefetch::Zip[0]::Map");
	did(model, 2, 10, 99 * MS, 99 * MS, 1 * MS, 99 * MS, 2);
	did(model, 3, 10, 40 * MS, 38 * MS, 0, 0, -1);
	did(model, 4, 20, 10 * MS, 10 * MS, 0, 0, -1);
	CHECK_INT(stages_of(model, &rows), 4);
	CHECK_STR(rows[0].path, "Root");
	CHECK_INT(rows[0].parallelism, 4);
	CHECK_INT(rows[1].depth, 1);
	CHECK(rows[1].ahead && !rows[0].ahead && !rows[2].ahead);
	CHECK_STR(rows[2].path, "Prefetch::Zip[0]::Map");
	CHECK_STR(rows[2].name, "Map");
	CHECK_INT(rows[2].parent, rows[1].id);
	CHECK_INT(rows[2].calls, 20);
	CHECK_INT(rows[2].total_ns, 100 * MS);
	CHECK_INT(rows[2].self_ns, 88 * MS);
	CHECK_INT(rows[2].max_ns, 6 * MS);
	CHECK_STR(rows[3].what, "x:1");
	/* 101 ms: 1 part of 100 at the root; below by 0.5, 100 and 10 parts */
	CHECK_INT(rows[0].held_ns, 101 * MS - 101 * MS * 99 / 100);
	CHECK_INT(rows[2].held_ns, (int64_t)(101 * MS * 99 / 100 * 200 / 221));
	free(rows);
	model_free(model);
}

TEST(model_input_page)
{
	const struct page_call call = { .model = model_new(NULL) };
	struct page page;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	page_init(&page);
	CHECK(page_stages(&call, &page));
	define(call.model, 1, 0, "Root");
	define(call.model, 2, 1, "ParallelMapV2");
	did(call.model, 1, 10, 100 * MS, 10 * MS, 0, 100 * MS, 4);
	did(call.model, 2, 10, 90 * MS, 90 * MS, 160 * MS, 90 * MS, 2);
	CHECK(page_stages(&call, &page));
	page_write(&page, out);
	fclose(out);
	CHECK_STR(text, "no input pipeline was seen\n"
			"process 4121 waited 100 ms for its batches\n"
			"  stage                        share of it           holds    a call  own "
			"work  at once"
			"   buffer     calls\n"
			"  Root                         █            10 %   10.0 ms   10.0 ms   "
			"10.0 ms        -"
			"        -        10  x:1\n"
			"    ParallelMapV2              █████████    90 %   90.0 ms   9.00 ms    "
			"160 ms        2"
			"        -        10  x:1\n");
	free(text);
	page_release(&page);
	model_free(call.model);
}

/* Single calls of stages are nowhere: the op that waits leads on, and a node called as they are. */
TEST(model_input_page_leads_on)
{
	struct model *model = model_with_graph();
	const struct page_call call = { .model = model };
	struct page page;

	apply_one(model, ev_name(NAME0, NAME_NODE, "x:1"));
	apply_one(model, ev_name(NAME0 + 1, NAME_OP, "IteratorGetNext"));
	apply_one(model, ev_name(NAME0 + 2, NAME_OP, "IteratorGetNext_1"));
	define(model, 1, 0, "Root");
	did(model, 1, 10, 100 * MS, 10 * MS, 0, 100 * MS, 4);
	page_init(&page);
	CHECK(page_stages(&call, &page));
	CHECK_INT(page_links(&page, 0), 1);	/* the process */
	CHECK_INT(page_links(&page, 2), 0);
	page_release(&page);
	apply_one(model, node_event(1, NAME0, "", 0));
	apply_one(model, ran(NAME0 + 1, 1, BASE, 2 * MS, 1));
	apply_one(model, ran(NAME0 + 2, 2, BASE, 20 * MS, 1));
	page_init(&page);
	CHECK(page_stages(&call, &page));
	CHECK_INT(page_links(&page, 0), 2);
	CHECK_STR(page_command(&page, 0, 1), "name IteratorGetNext_1");
	CHECK_STR(page_command(&page, 2, 0), "ni x:1");
	page_release(&page);
	model_free(model);
}

struct one {
	uint32_t parent;
	bool ahead;
	int64_t total_ns, self_ns, busy_ns, held_ns;
	int32_t parallelism;
};

static void naive_hold(struct one *ones, uint32_t id, int64_t held_ns)
{
	struct one *one = &ones[id];
	int64_t own = one->ahead ? one->busy_ns / (one->parallelism > 1 ? one->parallelism : 1) :
				   one->self_ns;
	int64_t all = own, given = 0;

	for (uint32_t i = id + 1; i <= STAGES; i++)
		all += ones[i].parent == id ? ones[i].total_ns : 0;
	for (uint32_t i = id + 1; i <= STAGES && all; i++)
		if (ones[i].parent == id) {
			int64_t part = (int64_t)((__int128)held_ns * ones[i].total_ns / all);

			naive_hold(ones, i, part);
			given += part;
		}
	one->held_ns = held_ns - given;
}

/* Random trees, told in any order: as the definition says, nothing is lost. */
TEST(model_input_holds_random)
{
	for (int round = 0; round < 200; round++) {
		struct model *model = model_new(NULL);
		struct one ones[STAGES + 1] = { { 0 } };
		struct input_row *rows;
		int64_t sum = 0, wait_ns = (int64_t)test_below(1000000000) + 1;
		uint32_t order[STAGES];

		for (uint32_t i = 0; i < STAGES; i++)
			order[i] = i + 1;
		for (uint32_t i = STAGES - 1; i > 0; i--) {
			uint32_t k = (uint32_t)test_below(i + 1), id = order[k];

			order[k] = order[i];
			order[i] = id;
		}
		for (uint32_t i = 1; i <= STAGES; i++) {
			struct one *one = &ones[i];

			one->parent = i > 1 ? 1 + (uint32_t)test_below(i - 1) : 0;
			one->ahead = i > 1 && test_below(2);
			one->parallelism = (int32_t)test_below(4);
			one->self_ns = (int64_t)test_below(1000000) + 1;
			one->total_ns = one->self_ns + (int64_t)test_below(1000000);
			one->busy_ns = (int64_t)test_below(2000000);
		}
		naive_hold(ones, 1, wait_ns);
		for (uint32_t i = 0; i < STAGES; i++) {
			const struct one *one = &ones[order[i]];
			char path[32];

			snprintf(path, sizeof(path), "Stage%u", order[i]);
			define(model, order[i], one->parent, path);
			did(model, order[i], 5, one->total_ns, one->self_ns, one->busy_ns,
			    order[i] == 1 ? wait_ns : one->ahead ? one->self_ns : 0,
			    one->parallelism);
		}
		CHECK_INT(stages_of(model, &rows), STAGES);
		for (int i = 0; i < STAGES; i++) {
			uint32_t id = (uint32_t)atoi(rows[i].path + 5);

			CHECK_INT(rows[i].held_ns, ones[id].held_ns);
			CHECK(!i || rows[i].depth <= rows[i - 1].depth + 1);
			sum += rows[i].held_ns;
		}
		CHECK_INT(sum, wait_ns);
		free(rows);
		model_free(model);
	}
}

TEST(model_input_odd)
{
	struct model *model = model_new(NULL);
	struct input_row *rows;

	define(model, 0, 0, "no id");
	define(model, 3, 3, "its own parent");
	define(model, 5, 9, "a later parent");
	did(model, 7, 1, -5, 0, 0, 0, 1);
	did(model, 7, 1, 9, 5, INT64_MAX, 0, 1);
	did(model, 8, 1, 5, 5, 0, 0, 1);		/* never defined */
	CHECK_INT(status_of(model).bad, 5);
	CHECK_INT(stages_of(model, &rows), 0);
	free(rows);
	define(model, 9, 4, "B");			/* 4 is never defined */
	for (uint32_t id = 10; id < 5000; id++)
		define(model, id, id - 1, "C");
	did(model, UINT32_MAX, UINT64_MAX, 5, 5, 0, 0, 1);
	CHECK(status_of(model).bad > 2000);
	CHECK(stages_of(model, &rows) > 1000);
	CHECK_INT(rows[0].parent, 0);
	free(rows);
	model_free(model);
}

/* ---- the finding, without a device ---- */

enum { STEP = 20, EAGER, KERNEL };

static void op(struct model *model, uint32_t name, uint32_t tid, int64_t start_ns, int64_t dur_ns,
	       unsigned flags)
{
	static uint64_t instance;
	struct event event = ev_op(name, ++instance, 0, start_ns, dur_ns, flags);

	event.tid = event.u.op.tid = tid;
	apply_one(model, event);
}

struct shape {
	int64_t eager_ns;		/* between steps, on the thread that runs them */
	int64_t fetch_ns;		/* within a step, asynchronous */
	int64_t ahead_ns;		/* on another thread, all the time */
	int64_t rest_ns;
};

static void run(struct model *model, const struct shape *s, int steps)
{
	int64_t now = 0;

	apply_one(model, ev_process(PID, "python train.py"));
	apply_one(model, ev_name(STEP, NAME_OP, "train_step"));
	apply_one(model, ev_name(EAGER, NAME_OP, "eager IteratorGetNext"));
	apply_one(model, ev_name(KERNEL, NAME_OP, "IteratorGetNext"));
	for (int i = 0; i < steps; i++) {
		int64_t dur_ns = s->fetch_ns + s->rest_ns;
		struct event event;

		if (s->eager_ns) {
			op(model, KERNEL, PID, now + US, s->eager_ns - 2 * US, 0);
			op(model, EAGER, PID, now, s->eager_ns, 0);
			now += s->eager_ns;
		}
		event = event_of(EVENT_STEP, now + dur_ns);
		if (s->ahead_ns) {
			op(model, KERNEL, PID + 1, now + US, s->ahead_ns - 2 * US, 0);
			op(model, EAGER, PID + 1, now, s->ahead_ns, 0);
		}
		if (s->fetch_ns)
			op(model, KERNEL, PID + 2, now + US, s->fetch_ns, OP_ASYNC);
		op(model, STEP, PID, now + 100, dur_ns - 200, 0);
		event.u.step = (struct event_step) { .name = STEP, .number = -1,
						     .start_ns = BASE + now, .dur_ns = dur_ns };
		apply_one(model, event);
		now += dur_ns;
	}
}

static size_t findings(struct model *model, struct finding *out)
{
	struct findings_status status;
	struct finding *list;
	size_t n;

	model_finish(model, false);
	model_lock(model);
	n = model_findings(model, &status, &list);
	model_unlock(model);
	if (n)
		*out = list[0];
	free(list);
	return n;
}

/* Ten times as long as the step, and between the steps. */
TEST(model_input_eager_wait)
{
	const struct shape shape = { .eager_ns = 10 * MS, .rest_ns = 1 * MS };
	struct model *model = model_new(NULL);
	struct finding finding;

	run(model, &shape, 20);
	define(model, 1, 0, "Root");
	define(model, 2, 1, "Batch");
	define(model, 3, 2, "Batch::Map");
	did(model, 1, 20, 199 * MS, 0, 0, 200 * MS, 8);
	did(model, 2, 20, 199 * MS, 7 * MS, 0, 0, -1);
	did(model, 3, 640, 192 * MS, 192 * MS, 0, 0, -1);
	CHECK_INT(findings(model, &finding), 1);
	CHECK_STR(finding.id, "input-bound");
	CHECK(finding.cost_ns > 9400 * US && finding.cost_ns <= 10 * MS);
	CHECK_STR(finding.lines[0], "Batch::Map runs on one thread and accounts for 96 % of that "
		  "wait");
	CHECK(strstr(finding.lines[1], "its work per batch takes 9.60 ms"));
	CHECK(strstr(finding.advice,
		     "with num_parallel_calls=8 the stage would need about 1.20 ms; "
		     "prefetch(1) would hide 1.00 ms of it behind the step: a step would take "
		     "1.5"));
	model_free(model);
}

/* A function that fetches its own batch waits for it, whatever thread that is on. */
TEST(model_input_wait_inside)
{
	const struct shape shape = { .fetch_ns = 3 * MS, .rest_ns = 1 * MS };
	struct model *model = model_new(NULL);
	struct finding finding;

	run(model, &shape, 20);
	define(model, 1, 0, "Root");
	define(model, 2, 1, "MapAndBatch");
	did(model, 1, 20, 60 * MS, 0, 0, 60 * MS, 4);
	did(model, 2, 20, 60 * MS, 60 * MS, 240 * MS, 60 * MS, 4);
	CHECK_INT(findings(model, &finding), 1);
	CHECK_STR(finding.id, "input-bound");
	CHECK(strstr(finding.title, "input-bound: 75 % of each step waits for IteratorGetNext"));
	CHECK_INT(finding.cost_ns, 3 * MS);
	CHECK(strstr(finding.lines[0], "MapAndBatch runs 4 calls at once and accounts for 100 %"));
	CHECK(strstr(finding.advice, "only less work per batch"));
	model_free(model);
}

/* What another thread fetches ahead of time costs nothing. */
TEST(model_input_fetched_ahead)
{
	const struct shape shape = { .ahead_ns = 900 * US, .rest_ns = 1 * MS };
	struct model *model = model_new(NULL);
	struct finding finding;

	run(model, &shape, 20);
	define(model, 1, 0, "Root");
	did(model, 1, 20, 18 * MS, 18 * MS, 0, 18 * MS, 4);
	CHECK_INT(findings(model, &finding), 0);
	model_free(model);
}
