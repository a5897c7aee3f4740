/* SPDX-License-Identifier: MIT */
/* The same data, copied or converted anew in each step. */
#include <stdlib.h>
#include <string.h>

#include "model/core/model.h"
#include "model/query/findings.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)

#define COPY_US 20
#define STEP_US 200

/* Two copies on line 88 and one on 89; what they copy, 0: it is not looked at. Frame 2 is
 * line 88 as well, called from elsewhere. */
static void copying_step(struct model *model, int i, uint64_t first, uint64_t second,
			 uint64_t fresh)
{
	const uint64_t content[] = { first, second, fresh };
	const uint32_t frames[] = { i % 2 ? 1 : 2, 1, 3 };
	int64_t at = i * STEP_US * US;
	struct event event;

	for (int k = 0; k < 3; k++) {
		event = ev_op(7, (uint64_t)(i * 3 + k + 1), 0, at + (k + 1) * 50 * US,
			      COPY_US * US, 0);
		event.u.op.frame = frames[k];
		event.u.op.framework = FW_PYTORCH;
		event.u.op.payload = content[k];
		apply_one(model, event);
	}
	apply_one(model, (struct event) {
		.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + at + STEP_US * US,
		.u.step = { .name = 8, .number = -1, .start_ns = BASE + at,
			    .dur_ns = STEP_US * US } });
}

static struct model *copying_model(void)
{
	static const uint32_t lines[] = { 88, 88, 89 };
	struct model *model = model_with_device();

	apply_one(model, ev_name(7, NAME_OP, "aten::_to_copy"));
	apply_one(model, ev_name(10, NAME_OP, "/home/me/train.py"));
	apply_one(model, ev_name(11, NAME_OP, "train"));
	for (uint32_t i = 0; i < 3; i++)
		apply_one(model, (struct event) {
			.type = EVENT_FRAME, .pid = PID, .tid = PID, .time_ns = BASE,
			.u.frame = { .id = i + 1, .file = 10, .function = 11, .line = lines[i] } });
	return model;
}

/* How many findings of the same data, and the last of them; copies are none besides. */
static int same_data_findings(struct model *model, struct finding *found)
{
	struct findings_status status;
	struct finding *list;
	int n = 0;

	model_finish(model, false);
	model_lock(model);
	for (size_t i = 0, all = model_findings(model, &status, &list); i < all; i++) {
		CHECK(strcmp(list[i].id, "copy-bound"));
		if (strcmp(list[i].id, "same-data"))
			continue;
		*found = list[i];
		n++;
	}
	free(list);
	model_unlock(model);
	model_free(model);
	return n;
}

/* Looked at in half of the steps, one of the two on line 88 is the same in each; of all
 * copies of that line's, one a step. What is on line 89 is new each time. */
TEST(eager_same_data)
{
	struct model *model = copying_model();
	struct finding found;
	const int steps = 22;	/* two of them the warm-up */

	for (int i = 0; i < steps; i++)
		copying_step(model, i, i < steps / 2 ? 0xabc : 0,
			     i < steps / 2 ? (uint64_t)i + 1 : 0,
			     i < steps / 2 ? (uint64_t)i + 100 : 0);
	CHECK_INT(same_data_findings(model, &found), 1);
	CHECK_INT(found.cost_ns, COPY_US * US);
	CHECK(strstr(found.title, "_to_copy takes 20.0 µs of the step, 10 % at train.py:88"));
	CHECK(strstr(found.lines[0], "1.0 copy per step of 1 tensor whose data was the same in the "
		     "9 steps"));
	CHECK_INT(found.evidence.t1 - found.evidence.t0, COPY_US * US);
}

/* One cause, one finding: what is left of the casts when those of the same data are told. */
TEST(eager_same_data_is_no_costly_op)
{
	struct findings_status status;
	struct finding *list;

	for (int same = 0; same < 2; same++) {
		struct model *model = copying_model();
		int found = 0, costly = 0;

		for (uint64_t i = 0; i < 22; i++)
			copying_step(model, (int)i, 0xabc, same ? 0xabd : i + 50,
				     same ? 0xabe : i + 90);
		model_finish(model, false);
		model_lock(model);
		for (size_t i = 0, n = model_findings(model, &status, &list); i < n; i++) {
			found += !strcmp(list[i].id, "same-data");
			if (strcmp(list[i].id, "costly-op"))
				continue;
			costly++;
			CHECK_STR(list[i].title,
				  "costly-op: casting holds 20 % of the critical path");
			CHECK(strstr(list[i].lines[1], "copies of the same data not counted"));
			CHECK(list[i].cost_ns <= 2 * COPY_US * US);
		}
		free(list);
		model_unlock(model);
		model_free(model);
		CHECK_INT(found, same ? 2 : 1);		/* lines */
		CHECK_INT(costly, !same);
	}
}

/* A host that is ahead of its device: two copies fall into every other step. */
TEST(eager_same_data_of_a_host_that_is_ahead)
{
	struct model *model = copying_model();
	struct finding found;

	for (int i = 0; i < 23; i++)
		copying_step(model, i, i % 2 ? 0 : 0xabc, i % 2 ? 0 : 0xabc, 0);
	CHECK_INT(same_data_findings(model, &found), 1);
	CHECK(strstr(found.lines[0], "1.0 copy per step of 1 tensor whose data was the same in the "
		     "11 steps"));
}

/* In less than nine of ten steps; and in four steps, which is too few. */
TEST(eager_same_data_not_told)
{
	struct model *model = copying_model();
	struct finding found;

	for (int i = 0; i < 22; i++)
		copying_step(model, i, i % 5 ? 0xabc : (uint64_t)i + 1, (uint64_t)i + 50, 0);
	CHECK_INT(same_data_findings(model, &found), 0);
	model = copying_model();
	for (int i = 0; i < 22; i++)
		copying_step(model, i, i < 6 ? 0xabc : 0, 0, 0);
	CHECK_INT(same_data_findings(model, &found), 0);
}

/* What a thread of the processor goes on copying when its op has returned is the op's; it
 * is no finding of the copies besides. */
TEST(eager_same_data_of_another_thread)
{
	struct model *model = copying_model();
	struct finding found;
	struct event copy;

	add_processor(model);
	for (int i = 0; i < 22; i++) {
		copy = ev_copy(9, DIR_H2D, 1 << 20, (i * STEP_US + 50) * US, 3 * COPY_US * US);
		copy.u.command.op = (uint64_t)(i * 3 + 1);
		apply_one(model, copy);
		copying_step(model, i, 0xabc, 0, 0);
	}
	CHECK_INT(same_data_findings(model, &found), 1);
	/* and the line's other copy, of what was not looked at */
	CHECK(found.cost_ns > 4 * COPY_US * US - 10 && found.cost_ns <= 4 * COPY_US * US);
	CHECK(found.evidence.t1 - found.evidence.t0 > 3 * COPY_US * US - 10);
}
