/* SPDX-License-Identifier: MIT */
/* Impossible events: never fatal, and each kind is one message with its count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

/* How often the message with that text says it happened; 0: there is none. */
static unsigned times_of(struct model *model, const char *text)
{
	struct message_row *rows;
	unsigned times = 0, n_found = 0;
	size_t n;

	model_lock(model);
	n = model_messages(model, &rows);
	for (size_t i = 0; i < n; i++) {
		const char *at = strstr(rows[i].text, text);

		if (!at)
			continue;
		CHECK(sscanf(at + strlen(text), ", %u time", &times) == 1);
		CHECK(rows[i].level == 1 && rows[i].time_ns >= BASE);
		n_found++;
	}
	model_unlock(model);
	free(rows);
	CHECK(n_found <= 1);
	return times;
}

static uint64_t kernels_of(struct model *model)
{
	return status_of(model).kernels;
}

TEST(model_odd_ends_before_starts)
{
	struct model *model = model_with_device();

	for (int i = 0; i < 3; i++) {
		struct event event = ev_kernel(1, 1, 10 + (uint32_t)i, 5000, 100);

		event.u.command.end_ticks = event.u.command.start_ticks - 1;
		apply_one(model, event);
	}
	apply_one(model, ev_op(1, 5, 0, 1000, -7, 0));
	CHECK_INT(times_of(model, "an end before its start"), 4);
	CHECK_INT(status_of(model).bad, 4);
	model_free(model);
}

/* A program that says it has settled what is still to come, and one that lost more than can be. */
TEST(model_odd_settled_and_lost)
{
	struct model *model = model_with_device();
	struct event settled = ev_op(1, 5, 0, 1000, 100, 0), lost = settled;

	settled.type = EVENT_SETTLED;
	settled.u.settled.settled_ns = settled.time_ns + 1000000000000;
	apply_one(model, settled);
	CHECK_INT(times_of(model, "a time far from all others"), 1);
	CHECK(status_of(model).settled_ns < settled.u.settled.settled_ns);
	lost.type = EVENT_LOST;
	lost.pid = lost.tid = 0;
	lost.u.lost = (struct event_lost){ BASE, BASE + 1000, UINT64_MAX - 5, 0, 0 };
	apply_one(model, lost);
	CHECK_INT(status_of(model).lost_events, 1);
	CHECK_INT(status_of(model).bad, 2);
	model_free(model);
}

TEST(model_odd_times_far_off)
{
	struct model *model = model_with_device();
	struct event event = ev_op(1, 5, 0, 1000, 100, 0);

	event.u.op.start_ns = INT64_MAX - 5;
	apply_one(model, event);
	event.u.op.start_ns = -1;
	apply_one(model, event);
	apply_one(model, ev_alive(-BASE - 9));
	CHECK_INT(times_of(model, "a time far from all others"), 3);
	model_free(model);
}

TEST(model_odd_the_same_twice)
{
	struct model *model = model_with_device();

	for (int i = 0; i < 2; i++) {
		apply_one(model, ev_kernel(1, 1, 7, 5000, 100));
		apply_one(model, ev_op(2, 5, 0, 1000, 100, 0));
	}
	CHECK_INT(times_of(model, "a duplicate"), 2);
	CHECK_INT(kernels_of(model), 1);
	/* The number comes back for another run: that is one. */
	apply_one(model, ev_kernel(1, 1, 7, 9000, 100));
	CHECK_INT(kernels_of(model), 2);
	CHECK_INT(times_of(model, "a duplicate"), 2);
	model_free(model);
}

TEST(model_odd_ids)
{
	struct model *model = model_with_device();
	struct event event = ev_queue(1, 2);

	apply_one(model, ev_device(2, "0000:b3:00.0"));
	apply_one(model, event);
	CHECK_INT(times_of(model, "an id used for something else"), 1);
	apply_one(model, ev_queue(0, 1));
	apply_one(model, ev_name(0, NAME_KERNEL, "none"));
	CHECK_INT(times_of(model, "an impossible id"), 2);
	CHECK_INT(times_of(model, "a queue that was never defined"), 0);
	/* It has no clock either: taken in at the end. */
	apply_one(model, ev_kernel(1, 77, 7, 5000, 100));
	apply_one(model, ev_kernel(1, 77, 8, 6000, 100));
	model_finish(model, false);
	CHECK_INT(times_of(model, "a queue that was never defined"), 1);
	CHECK_INT(kernels_of(model), 2);
	CHECK_INT(status_of(model).bad, 3);
	model_free(model);
}

TEST(model_odd_kinds)
{
	struct model *model = model_with_device();
	struct event event = ev_kernel(1, 1, 7, 5000, 100);

	event.u.command.kind = 200;
	apply_one(model, event);
	event.type = EVENT_TYPE_COUNT;
	apply_one(model, event);
	CHECK_INT(times_of(model, "an impossible kind or value"), 2);
	model_free(model);
}
