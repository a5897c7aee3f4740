/* SPDX-License-Identifier: MIT */
/* A device's clock from launches and waits alone, as the model sees them. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

enum { OFFSET = 123456789, PPM = 80 };

static int64_t stepped_ns;

/* Ticks of a device 80 ppm slow against the host, whose clock nobody tells. */
static uint64_t ticks_at(int64_t host_ns)
{
	return (uint64_t)(host_ns + OFFSET + stepped_ns - (host_ns - BASE) * PPM / 1000000);
}

static struct event timed_kernel(uint32_t correlation, int64_t call_ns, int64_t start_ns,
				 int64_t end_ns)
{
	struct event event = ev_kernel(1, 1, correlation, 0, 0);

	event.time_ns = end_ns + 50000;
	event.u.command.call_ns = call_ns;
	event.u.command.call_dur_ns = 2000;
	event.u.command.queued_ticks = ticks_at(call_ns + 1500);
	event.u.command.submit_ticks = ticks_at(call_ns + 1700);
	event.u.command.start_ticks = ticks_at(start_ns);
	event.u.command.end_ticks = ticks_at(end_ns);
	return event;
}

static struct event wait_for(uint32_t correlation, int64_t begin_ns, int64_t end_ns)
{
	struct event event = ev_alive(end_ns);

	event.type = EVENT_WAIT;
	event.pid = PID;
	event.u.wait = (struct event_wait) {
		.queue = 1, .correlation = correlation, .start_ns = begin_ns,
		.dur_ns = end_ns - begin_ns,
	};
	return event;
}

TEST(model_clock_from_launches_and_waits)
{
	for (int order = 0; order < 2; order++) {
		struct model *model = model_new(NULL);
		struct device_row *devices;
		struct span_ref ref;
		struct span span;
		int64_t from = 0;
		uint32_t row;

		apply_one(model, ev_process(PID, "p"));
		apply_one(model, ev_name(1, NAME_KERNEL, "k"));
		apply_one(model, ev_device(1, ""));
		apply_one(model, ev_queue(1, 1));
		for (int64_t i = 0; i < 3000; i++) {
			int64_t t = BASE + i * 1000000;
			uint32_t c = (uint32_t)i + 1;
			struct event kernel = timed_kernel(c, t, t + 10000, t + 700000);
			struct event wait = wait_for(c, t + 5000, t + 703000 + i % 7 * 1000);

			apply_one(model, order ? wait : kernel);
			if (i % 10)
				continue;
			apply_one(model, order ? kernel : wait);
			/* Read too late: it was enqueued after this wait began. */
			apply_one(model, wait_for(c, t - 9000, t + 100000));
		}
		row = row_of(model, ROW_QUEUE, 0).id;
		model_lock(model);
		CHECK_INT(model_devices(model, &devices), 1);
		CHECK(devices[0].clock_known && devices[0].clock_quality == CLOCK_ESTIMATE);
		CHECK_INT(devices[0].clock_violations, 0);
		CHECK(devices[0].clock_error_ns < 5000);
		for (uint32_t n = 0; n < (order ? 300u : 3000u); n++) {
			int64_t true_ns, off;

			CHECK(model_span_next(model, row, LANE_ALL, from, &ref));
			CHECK(model_span(model, ref, &span));
			from = span.start_ns;
			true_ns = span.call_ns + 10000;
			off = span.start_ns - true_ns;
			CHECK(llabs(off) <= span.clock_error_ns + 1);
			CHECK(span.clock_error_ns < 400000);
			/* Its length is the host's, not the device's. */
			CHECK(n < 1000 || llabs(span.end_ns - span.start_ns - 690000) <= 10);
		}
		model_unlock(model);
		free(devices);
		model_free(model);
	}
}

/* A step of the device's clock is counted, told once, and spanned by the bars. */
TEST(model_clock_step_is_told)
{
	struct model *model = model_new(NULL);
	struct device_row *devices;
	struct message_row *messages;
	int64_t marks[4];
	size_t n, steps = 0;

	apply_one(model, ev_process(PID, "p"));
	apply_one(model, ev_device(1, ""));
	apply_one(model, ev_queue(1, 1));
	for (int64_t i = 0; i < 400; i++) {
		int64_t t = BASE + i * 1000000;

		stepped_ns = i >= 200 ? 250000 : 0;
		apply_one(model, timed_kernel((uint32_t)i + 1, t, t + 10000, t + 700000));
		apply_one(model, wait_for((uint32_t)i + 1, t + 5000, t + 703000));
	}
	model_lock(model);
	CHECK_INT(model_devices(model, &devices), 1);
	CHECK_INT(devices[0].clock_violations, 1);
	n = model_messages(model, &messages);
	for (size_t i = 0; i < n; i++)
		if (strstr(messages[i].text, "stepped by")) {
			CHECK(llabs(messages[i].time_ns - (BASE + 200000000)) < 2000000);
			steps++;
		}
	/* And has its place on the ruler. */
	CHECK_INT(model_clock_steps(model, BASE, BASE + 1000000000, marks, 4), 1);
	CHECK(llabs(marks[0] - (BASE + 200000000)) < 2000000);
	CHECK_INT(model_clock_steps(model, BASE, marks[0], marks, 4), 0);
	model_unlock(model);
	CHECK_INT(steps, 1);
	free(messages);
	free(devices);
	model_free(model);
}
