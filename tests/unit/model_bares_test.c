/* SPDX-License-Identifier: MIT */
/* What is told of tftop's own cost, and of the steps without ops that it was measured by. */
#include <string.h>

#include "model/core/model.h"
#include "model/query/cost.h"
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
	CHECK_INT(cost.bare, 3);
	CHECK_INT(cost.ns, 9);
	CHECK(!cost.cpu);
	CHECK_INT(process_at(model, 0)->bares.n, 1);
	model_free(model);
}
