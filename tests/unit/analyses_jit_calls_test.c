/* SPDX-License-Identifier: MIT */
/* Calls of jitted functions that could be part of the step's own. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/query/findings.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)
#define STEP_US 200
#define CALL_US 20
#define CALLS 4

enum variant { PLAIN, KERNEL, COMPILES, NESTED, REACHES, GPU };

static struct model *jax_model(void)
{
	struct model *model = model_with_device();

	add_processor(model);
	apply_one(model, ev_name(5, NAME_OP, "jit_step"));
	apply_one(model, ev_name(6, NAME_OP, "step"));
	apply_one(model, ev_name(7, NAME_OP, "multiply"));
	apply_one(model, ev_name(8, NAME_OP_TYPE, "PjitFunction"));
	apply_one(model, ev_name(10, NAME_OP, "/home/me/train.py"));
	apply_one(model, ev_name(11, NAME_OP, "train"));
	for (uint32_t i = 1; i <= 2; i++)
		apply_one(model, (struct event) {
			.type = EVENT_FRAME, .pid = PID, .tid = PID, .time_ns = BASE,
			.u.frame = { .id = i, .file = 10, .function = 11, .line = 86 + i } });
	return model;
}

/* As probes tell kernels of the processor: nothing handed it over. */
static void kernel(struct model *model, int64_t at, int64_t dur_ns)
{
	struct event event = ev_kernel(1, 9, 0, at, dur_ns);

	event.u.command.call_ns = event.u.command.call_dur_ns = 0;
	event.u.command.queued_ticks = event.u.command.submit_ticks = 0;
	apply_one(model, event);
}

static void call(struct model *model, uint32_t name, uint32_t frame, int64_t at, int64_t dur_ns)
{
	static uint64_t instance = 1;
	struct event event = ev_op(name, instance++, 0, at, dur_ns, 0);

	event.u.op.op_type = 8;
	event.u.op.frame = frame;
	event.u.op.framework = FW_JAX;
	event.u.op.step = -1;
	apply_one(model, event);
}

/* Four short calls from line 88, 10 us between them, and the step's own, which is shorter
 * than they are; or one that they are all inside of, in this step or since the one before. */
static void jax_step(struct model *model, int i, enum variant variant)
{
	int64_t at = i * STEP_US * US, own = at + 150 * US;

	for (int k = 0; k < CALLS; k++) {
		int64_t t = at + (10 + k * (CALL_US + 10)) * US;

		call(model, 7, 2, t, CALL_US * US);
		if (variant == KERNEL)	/* half of it in the call, half behind it */
			kernel(model, t + 15 * US, 10 * US);
		if (variant == GPU)
			apply_one(model, ev_kernel(1, 1, 0, t + 15 * US, 10 * US));
		if (variant == COMPILES)
			apply_one(model, (struct event){ .type = EVENT_COMPILE,
							 .pid = PID,
							 .tid = PID,
							 .time_ns = BASE + t + 8 * US,
							 .u.compile = { .what = "XLA jit_x",
									.start_ns = BASE + t + US,
									.dur_ns = 5 * US } });
	}
	if (variant == NESTED)
		call(model, 6, 1, at + 5 * US, 180 * US);
	else if (variant == REACHES)
		call(model, 6, 1, at + 190 * US, 150 * US);
	else
		call(model, 6, 1, own, 15 * US);
	apply_one(model, (struct event) {
		.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + at + STEP_US * US,
		.u.step = { .name = 5, .number = -1, .start_ns = BASE + at,
			    .dur_ns = STEP_US * US } });
}

static int played(enum variant variant, struct finding *found)
{
	struct model *model = jax_model();
	struct findings_status status;
	struct finding *list;
	int n = 0;

	for (int i = 0; i < 22; i++)
		jax_step(model, i, variant);
	model_finish(model, false);
	model_lock(model);
	for (size_t i = 0, all = model_findings(model, &status, &list); i < all; i++) {
		if (strcmp(list[i].id, "framework-overhead"))
			continue;
		*found = list[i];
		n++;
	}
	free(list);
	model_unlock(model);
	model_free(model);
	return n;
}

TEST(jit_calls_besides_the_steps_own)
{
	struct finding found;

	CHECK_INT(played(PLAIN, &found), 1);
	CHECK_INT(found.cost_ns, (CALLS * CALL_US + (CALLS - 1) * 10) * US);
	CHECK_STR(found.title, "framework overhead: 55 % of each step is spent around calls other "
		  "than step; 4.0 of them take 27.5 µs each, most at train.py:88");
	CHECK_STR(found.lines[0],
		  "80.0 µs of it within the calls, 30.0 µs between them, in Python");
}

/* While a kernel runs, what is around it costs nothing. */
TEST(jit_calls_with_kernels)
{
	struct finding found;
	int64_t cost_ns = (CALLS * 15 + (CALLS - 1) * 5) * US;

	CHECK_INT(played(KERNEL, &found), 1);
	CHECK(found.cost_ns > cost_ns - 20 && found.cost_ns < cost_ns + 20);
}

TEST(jit_calls_not_told)
{
	struct finding found;

	CHECK_INT(played(COMPILES, &found), 0);
	CHECK_INT(played(NESTED, &found), 0);
	CHECK_INT(played(REACHES, &found), 0);
	CHECK_INT(played(GPU, &found), 0);
}
