/* SPDX-License-Identifier: MIT */
/* What is told of tftop's own cost, and of the steps without ops that it was measured by. */
#include <stdlib.h>
#include <string.h>

#include "model/core/model.h"
#include "model/query/cost.h"
#include "model/query/lines.h"
#include "model/query/optree.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

static struct event of(enum event_type type, int64_t time_ns)
{
	struct event event = {
		.type = (uint8_t)type, .pid = 7, .tid = 7, .time_ns = INT64_C(5000000000) + time_ns,
	};

	if (type == EVENT_PROCESS)
		event.u.process = (struct event_process) {
			.schema = EVENT_SCHEMA, .start_ns = event.time_ns, .rank = -1, .world = -1,
			.host = "here", .command = "program",
		};
	return event;
}

static struct event bare_of(int64_t start_ns, int64_t dur_ns, uint32_t steps)
{
	struct event event = of(EVENT_BARE, start_ns + dur_ns);

	event.u.bare = (struct event_bare) {
		.tid = 7, .steps = steps, .start_ns = event.time_ns - dur_ns, .dur_ns = dur_ns,
	};
	return event;
}

/* What was measured of tftop's own cost, and in which steps ops are missing. */
TEST(bares_are_exported)
{
	struct model *model = model_new(NULL), *copy;
	struct event event = of(EVENT_COST, 9000);
	struct own_cost cost, kept;

	apply_one(model, of(EVENT_PROCESS, 0));
	CHECK(!model_own_cost(model, &cost));
	event.u.cost = (struct event_cost) {
		.pairs = 9, .every = 4, .budget = 2, .steps = 100, .bare = 30, .step_ns = 1000,
		.wall_ns = 90, .wall_low_ns = -10, .wall_high_ns = 200,
		.cpu_ns = 80, .cpu_low_ns = 60, .cpu_high_ns = 110,
	};
	apply_one(model, event);
	apply_one(model, bare_of(1000, 500, 1));
	apply_one(model, bare_of(1500, 500, 2));
	apply_one(model, bare_of(5000, 100, 1));
	copy = saved_again(model);
	CHECK(model_own_cost(model, &cost) && model_own_cost(copy, &kept));
	CHECK(!memcmp(&cost, &kept, sizeof(cost)));
	CHECK_INT(cost.pairs, 9);
	CHECK_INT(cost.every, 4);
	CHECK_INT(cost.budget, 2);
	CHECK_INT(cost.bare, 30);
	CHECK(cost.cpu);
	CHECK_INT(cost.high_ns, 110);
	CHECK_INT(own_cost_step_ns(copy), 80);
	for (int i = 0; i < 2; i++) {
		const struct process *p = process_at(i ? copy : model, 0);

		CHECK_INT(p->bares.n, 2);
		CHECK_INT(p->bares.list[0].end_ns - p->bares.list[0].start_ns, 1000);
		CHECK_INT(p->bares.list[0].steps, 3);
		CHECK(bares_count(i ? copy : model, 0, p->bares.list[0].start_ns,
				  p->bares.list[1].end_ns));
		CHECK(!bares_count(i ? copy : model, 0, p->bares.list[0].end_ns,
				   p->bares.list[1].start_ns));
	}
	model_free(model);
	model_free(copy);
}

/* What cannot be is counted as impossible and changes nothing. */
TEST(bares_impossible)
{
	struct model *model = model_new(NULL);
	struct event event = of(EVENT_COST, 9000), wrong;
	struct model_status status;
	struct own_cost cost;

	apply_one(model, of(EVENT_PROCESS, 0));
	event.u.cost = (struct event_cost) {
		.pairs = 9, .every = 1, .steps = 10, .bare = 3, .step_ns = 1000, .wall_ns = 9,
		.wall_low_ns = 8, .wall_high_ns = 10, .cpu_ns = 9, .cpu_high_ns = 900,
	};
	apply_one(model, event);
	wrong = event;
	wrong.u.cost.bare = 11;
	apply_one(model, wrong);
	wrong = event;
	wrong.u.cost.step_ns = 0;
	apply_one(model, wrong);
	wrong = event;
	wrong.u.cost.wall_low_ns = 10;
	apply_one(model, wrong);
	apply_one(model, bare_of(1000, 500, 1));
	apply_one(model, bare_of(1400, 500, 1));	/* within the one before */
	apply_one(model, bare_of(3000, -5, 1));
	model_status(model, &status);
	CHECK_INT(status.bad, 5);
	CHECK(model_own_cost(model, &cost));
	/* an interval around 0 */
	wrong = event;
	wrong.u.cost.wall_low_ns = -1;
	apply_one(model, wrong);
	CHECK_INT(own_cost_step_ns(model), 0);
	apply_one(model, event);
	CHECK_INT(own_cost_step_ns(model), 9);
	CHECK(model_own_cost(model, &cost));
	CHECK_INT(cost.bare, 3);
	CHECK_INT(cost.ns, 9);
	CHECK(!cost.cpu);
	CHECK_INT(process_at(model, 0)->bares.n, 1);
	model_free(model);
}

/* ---- totals of ops are estimated ---- */

#define STEPS 200
#define FIRST 8			/* steps that are never bare */
#define STEP_NS 10000

enum { OP_INIT = 1, OP_MM, OP_STEP, OP_RANGE_NAME, OP_AFTER, OP_CHECK };

static uint64_t last_instance;

static void put_run(struct model *model, uint32_t name, int64_t start_ns, int64_t dur_ns,
		    unsigned flags)
{
	struct event event = ev_op(name, ++last_instance, 0, start_ns, dur_ns, flags);

	event.u.op.framework = FW_PYTORCH;
	event.u.op.step = -1;
	event.u.op.frame = name == OP_MM ? 1 : 0;
	apply_one(model, event);
}

static void put_step(struct model *model, int64_t start_ns, int64_t end_ns)
{
	apply_one(model, (struct event) {
		.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + end_ns,
		.u.step = { .name = 8, .number = -1, .start_ns = BASE + start_ns,
			    .dur_ns = end_ns - start_ns } });
}

static void put_bare(struct model *model, int64_t start_ns, int64_t end_ns, uint32_t steps)
{
	apply_one(model, (struct event) {
		.type = EVENT_BARE, .pid = PID, .tid = PID, .time_ns = BASE + end_ns,
		.u.bare = { .tid = PID, .steps = steps, .start_ns = BASE + start_ns,
			    .dur_ns = end_ns - start_ns } });
}

/* Three ops, each with a kernel, if they are seen; an optimizer and a range that always are. */
static void put_ops(struct model *model, int64_t at, bool seen)
{
	for (int i = 0; i < 3; i++) {
		struct event kernel = ev_kernel(1, 1, (uint32_t)last_instance + 1000000,
						at + 1000 * (i + 1) + 200, 300);

		if (seen)
			put_run(model, OP_MM, at + 1000 * (i + 1), 700, 0);
		kernel.u.command.call_ns = BASE + at + 1000 * (i + 1) + 100;
		kernel.u.command.call_dur_ns = 50;
		kernel.u.command.correlation += (uint32_t)i;
		kernel.u.command.op = seen ? last_instance : 0;
		kernel.u.command.op_name = seen ? OP_MM : 0;
		apply_one(model, kernel);
	}
	put_run(model, OP_STEP, at + 8000, 1000, 0);
	put_run(model, OP_RANGE_NAME, at + 500, 9000, OP_RANGE);
}

/* Steps of which one in `every` is bare, or if it is negative is seen; step 100 was to be bare, and
 * was given up for a validation of 50 ops. 60 or 61, the one after a bare one, waits for 29 times
 * what others take before it runs its ops. Right after the last step other ops run. late: ops of a
 * step come after its end. */
static struct model *sampled(int every, bool late)
{
	static const char *const names[] = {
		"aten::uniform_", "aten::mm", "Optimizer.step#SGD.step", "my range",
		"aten::save", "aten::validate",
	};
	struct model *model = model_with_device();
	int64_t at = STEP_NS;

	last_instance = 0;
	for (uint32_t i = 0; i < 6; i++)
		apply_one(model, ev_name(i + 1, i == 3 ? NAME_RANGE : NAME_OP, names[i]));
	apply_one(model, ev_name(10, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, (struct event) {
		.type = EVENT_FRAME, .pid = PID, .tid = PID, .time_ns = BASE,
		.u.frame = { .id = 1, .file = 10, .function = 10, .line = 88 } });
	put_run(model, OP_INIT, 0, 100, 0);
	for (int i = 0; i < STEPS; i++, at += STEP_NS) {
		bool bare = i >= FIRST && (every > 0 ? i % every == 0 : i % -every != 0);
		int64_t wait_ns = !bare && (i == 60 || i == 61) ? 29 * STEP_NS : 0;
		int64_t end = at + wait_ns + STEP_NS;

		if (i == 100) {
			end += 100 * STEP_NS;
			put_bare(model, at, at + STEP_NS, 0);
			for (int k = 0; k < 50; k++)
				put_run(model, OP_CHECK, at + STEP_NS * (k + 2), 100, 0);
			put_run(model, OP_STEP, end - 1000, 500, 0);
			put_step(model, at, end);
			at += 100 * STEP_NS;
			continue;
		}
		if (!late)
			put_ops(model, at + wait_ns, !bare);
		if (bare)
			put_bare(model, at, end, 1);
		put_step(model, at, end);
		if (late)
			put_ops(model, at + wait_ns, !bare);
		at += wait_ns;
	}
	for (int i = 0; i < 5; i++)
		put_run(model, OP_AFTER, at + i * STEP_NS, 100, 0);
	model_finish(model, false);
	return model;
}

static void check_line(struct model *model, const struct op_row *mm)
{
	struct source_line *lines;
	struct optree_row *tree;
	size_t n = model_source_lines(model, "/home/me/train.py", &lines);

	CHECK_INT(n, 1);
	CHECK_INT(lines[0].cost.calls, mm->count);
	CHECK_INT(lines[0].cost.seen, mm->seen);
	CHECK_INT(lines[0].cost.total_ns, mm->total_ns);
	CHECK_INT(lines[0].cost.kernels, mm->kernels);
	CHECK_INT(lines[0].op[0].count, mm->count);
	free(lines);
	for (int i = 0; i < 2; i++) {
		uint64_t count = 0, seen = 0;
		bool known;

		n = i ? model_scopes(model, &tree) :
		    model_optree(model, &(struct optree_question) { .row = 0 }, &known, &tree);
		for (size_t k = 0; k < n; k++) {
			if (!tree[k].name || strcmp(tree[k].name, "mm") != 0)
				continue;
			count += tree[k].count;
			seen += tree[k].seen;
			CHECK_INT(tree[k].total_ns, mm->total_ns);
			CHECK_INT(tree[k].device_ns, mm->device_ns);
		}
		CHECK_INT(count, mm->count);
		CHECK_INT(seen, mm->seen);
		free(tree);
	}
}

static const struct op_row *row_named(const struct op_row *rows, size_t n, const char *name)
{
	static const struct op_row none;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(rows[i].raw_name, name))
			return &rows[i];
	test_fail(__FILE__, __LINE__, "no %s", name);
	return &none;
}

/* mm: how often the op ran up to the last step that was looked at; seen: how often it was seen */
static void check_estimates(struct model *model, uint64_t mm, uint64_t seen)
{
	static const struct { const char *name; uint64_t count; } exact[] = {
		{ "aten::uniform_", 1 }, { "Optimizer.step#SGD.step", STEPS },
		{ "my range", STEPS - 1 }, { "aten::validate", 50 }, { "aten::save", 5 },
	};
	const struct op_row *row;
	struct kernel_row *kernels;
	struct op_row *rows;
	size_t n;

	model_lock(model);
	n = model_ops(model, &rows);
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		row = row_named(rows, n, exact[i].name);
		CHECK_INT(row->count, exact[i].count);
		CHECK_INT(row->seen, exact[i].count);
	}
	row = row_named(rows, n, "aten::mm");
	CHECK_INT(row->count, mm);
	CHECK_INT(row->seen, seen);
	CHECK_INT(row->total_ns, (int64_t)mm * 700);
	CHECK_INT(row->mean_ns, 700);
	CHECK_INT(row->device_ns, (int64_t)mm * 300);
	CHECK_INT(row->kernels, mm);
	check_line(model, row);
	free(rows);
	/* that of the kernels is exact */
	n = model_kernels(model, &kernels);
	CHECK_INT(n, 1);
	CHECK_INT(kernels[0].count, 3 * (STEPS - 1));
	for (size_t i = 0; i < n; i++)
		model_kernel_release(&kernels[i]);
	free(kernels);
	model_unlock(model);
}

TEST(bares_ops_are_estimated)
{
	static const struct { int every; uint64_t mm, seen; } cases[] = {
		/* one in ten is bare; step 100 is, too, and ran none */
		{ 10, 3 * STEPS, 3 * (STEPS - 19) },
		/* eight, and then one in ten: 10, 20, ... 190, of which the last stands for
		 * itself and those from 181 on; 100 is the given up one */
		{ -10, 3 * 191, 3 * (FIRST + 18) },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int late = 0; late < 2; late++) {
			struct model *model = sampled(cases[i].every, late), *copy;

			check_estimates(model, cases[i].mm, cases[i].seen);
			copy = saved_again(model);
			check_estimates(copy, cases[i].mm, cases[i].seen);
			model_free(copy);
			model_free(model);
		}
}
