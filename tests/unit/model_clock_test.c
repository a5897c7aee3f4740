/* SPDX-License-Identifier: MIT */
/* Device clocks: segments, and that what was drawn moves with the map. */
#include <stdlib.h>
#include <string.h>

#include "model/clocks/clock.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

static void pair(struct clock *clock, uint64_t ticks, int64_t host, int64_t error, int quality)
{
	struct event_clock event = {
		.device = 1, .quality = (uint8_t)quality, .ticks = ticks, .host_ns = host,
		.error_ns = error,
	};
	struct clock_change change;

	clock_add(clock, &event, &change);
	free(change.before);
}

TEST(model_clock_segments)
{
	struct clock clock = { .n = 0 };
	uint8_t id, other;

	CHECK(!clock_has(&clock));
	pair(&clock, 1000, 5000, 2, CLOCK_DRIVER);
	CHECK_INT(clock_map(&clock, 2000, &id), 6000);
	CHECK_INT(clock_map(&clock, 10, &id), 4010);
	pair(&clock, 1800, 5810, 2, CLOCK_DRIVER);
	CHECK_INT(clock_map(&clock, 2000, &other), 6010);
	CHECK_INT(clock_map(&clock, 1700, &id), 5700);
	CHECK(id != other);
	/* Within the error bars, or worse: nothing new. */
	pair(&clock, 2500, 6511, 2, CLOCK_DRIVER);
	pair(&clock, 2500, 9999, 0, CLOCK_ESTIMATE);
	CHECK_INT(clock.n, 2);
	CHECK_INT(clock_map(&clock, 2600, &id), 6610);
	/* Better: only it counts. Ticks wrap like the device's. */
	pair(&clock, UINT64_MAX - 99, 100000, 1, CLOCK_DRIVER);
	CHECK_INT(clock_map(&clock, UINT64_MAX, &id), 100099);
	clock_release(&clock);
}

TEST(model_clock_quality_replaces)
{
	struct clock clock = { .n = 0 };
	uint8_t id;

	pair(&clock, 1000, 5000, 100, CLOCK_ESTIMATE);
	pair(&clock, 9000, 14000, 100, CLOCK_ESTIMATE);
	CHECK_INT(clock.n, 2);
	pair(&clock, 5000, 5000, 0, CLOCK_KNOWN);
	CHECK_INT(clock.n, 1);
	CHECK_INT(clock.quality, CLOCK_KNOWN);
	CHECK_INT(clock_map(&clock, 9000, &id), 9000);
	pair(&clock, 5000, 7000, 0, CLOCK_ESTIMATE);
	CHECK_INT(clock_map(&clock, 9000, &id), 9000);
	clock_release(&clock);
}

/* Where it must be: the latest pair at or before its ticks. */
struct naive_pair {
	uint64_t ticks;
	int64_t offset;
};

TEST(model_clock_moves_like_mapped_afresh)
{
	enum { TIMES = 200 };
	uint64_t ticks[TIMES];
	int64_t host[TIMES];
	uint8_t ids[TIMES];

	for (int round = 0; round < 300; round++) {
		struct clock clock = { .n = 0 }, fresh;
		struct clock_change change;

		pair(&clock, 1000, 500000, 0, CLOCK_DRIVER);
		for (int i = 0; i < TIMES; i++) {
			ticks[i] = test_below(100000);
			host[i] = clock_map(&clock, ticks[i], &ids[i]);
		}
		for (int k = 0; k < 20; k++) {
			struct event_clock event = { .quality = CLOCK_DRIVER };

			event.ticks = test_below(100000);
			event.host_ns = (int64_t)event.ticks + 499000 + (int64_t)test_below(50);
			clock_add(&clock, &event, &change);
			for (int i = 0; i < TIMES && change.changed; i++)
				if (host[i] >= change.from_ns)
					host[i] =
						clock_move(&clock, change.before, host[i], &ids[i]);
			free(change.before);
		}
		fresh = clock;
		for (int i = 0; i < TIMES; i++) {
			uint8_t id;

			CHECK_INT(host[i], clock_map(&fresh, ticks[i], &id));
			CHECK_INT(ids[i], id);
		}
		clock_release(&clock);
	}
}

TEST(model_clock_many_segments)
{
	struct clock clock = { .n = 0 };
	uint8_t id;

	for (uint64_t i = 0; i < 1000; i++)
		pair(&clock, i * 1000000, (int64_t)(i * 1000025 + 5000), 0, CLOCK_DRIVER);
	CHECK_INT(clock.n, CLOCK_SEGMENTS);
	CHECK_INT(clock_map(&clock, 999000005, &id), 999024975 + 5000 + 5);
	clock_release(&clock);
}

/* ---- in the model ---- */

static int64_t start_of(struct model *model, int number)
{
	struct model_row row = row_of(model, ROW_QUEUE, 0);
	struct span_ref ref;
	struct span span = { .start_ns = 0 };

	for (int i = 0; i <= number; i++) {
		if (!model_span_next(model, row.id, LANE_ALL, span.start_ns, &ref))
			return -1;
		CHECK(model_span(model, ref, &span));
	}
	return span.start_ns - BASE;
}

TEST(model_late_pair_moves_what_it_concerns)
{
	struct model *model = model_with_device();
	struct device_row device;

	for (uint32_t i = 0; i < 10; i++)
		apply_one(model, ev_kernel(1, 1, i + 1, 1000 + 1000 * (int64_t)i, 400));
	CHECK_INT(start_of(model, 0), 1000);
	CHECK_INT(start_of(model, 9), 10000);
	/* From 6500 on the device's clock was 300 further. */
	apply_one(model, ev_clock(1, BASE + 6500, TICKS - 300));
	CHECK_INT(start_of(model, 0), 1000);
	CHECK_INT(start_of(model, 5), 6000);
	CHECK_INT(start_of(model, 6), 7300);
	CHECK_INT(start_of(model, 9), 10300);
	CHECK_INT(status_of(model).last_ns, BASE + 10700);
	CHECK(model_device_window(model, 0, BASE, BASE + 100000, &device));
	CHECK_INT(device.busy_ns, 4000);
	CHECK_INT(device.kernel_ns, 4000);
	CHECK(model_device_window(model, 0, BASE + 10000, BASE + 10500, &device));
	CHECK_INT(device.busy_ns, 200);
	/* Back, so far that two runs overlap: time is counted once. */
	apply_one(model, ev_clock(1, BASE + 9300, TICKS + 600));
	CHECK_INT(start_of(model, 9), 9400);
	CHECK(model_device_window(model, 0, BASE, BASE + 100000, &device));
	CHECK_INT(device.busy_ns, 4000 - 300);
	model_free(model);
}

TEST(model_pairs_before_and_after_agree)
{
	for (int round = 0; round < 30; round++) {
		struct model *early = model_with_device(), *late = model_with_device();
		struct event clocks[8], exact = ev_clock(1, BASE, TICKS);
		struct device_row *a, *b;

		exact.u.clock.error_ns = 0;
		apply_one(early, exact);
		apply_one(late, exact);

		for (int k = 0; k < 8; k++) {
			/* All differ: a pair that says nothing new is not kept. */
			clocks[k] =
				ev_clock(1, BASE + 20000 * (k + 1),
					 TICKS + 1 + k * 5 % 8 * 300 + (int64_t)test_below(299));
			/* No slack: what is within it depends on what came first. */
			clocks[k].u.clock.error_ns = 0;
		}
		for (int k = 0; k < 8; k++)
			apply_one(early, clocks[k]);
		for (uint32_t i = 0; i < 100; i++) {
			struct event event = ev_kernel(1, 1 + i % 2, i + 1, 2000 * (int64_t)i,
						       1 + (int64_t)test_below(2500));

			apply_one(early, event);
			apply_one(late, event);
		}
		for (int k = 7; k >= 0; k--)
			apply_one(late, clocks[k]);
		for (int i = 0; i < 50; i += 3)
			CHECK_INT(start_of(late, i), start_of(early, i));
		CHECK_INT(model_devices(early, &a), 1);
		CHECK_INT(model_devices(late, &b), 1);
		CHECK_INT(b[0].busy_ns, a[0].busy_ns);
		CHECK_INT(b[0].kernel_ns, a[0].kernel_ns);
		CHECK_INT(status_of(late).last_ns, status_of(early).last_ns);
		free(a);
		free(b);
		model_free(early);
		model_free(late);
	}
}

TEST(model_approximate_times_do_not_move)
{
	struct model *model = model_with_device();
	struct event event = ev_kernel(1, 1, 1, 1000, 400);
	struct kernel_row *rows;
	struct copy_row *copies;

	event.u.command.flags = CMD_APPROX;
	event.u.command.start_ticks -= TICKS;
	event.u.command.end_ticks -= TICKS;
	apply_one(model, event);
	apply_one(model, ev_clock(1, BASE - 500, TICKS - 300));
	CHECK_INT(start_of(model, 0), 1000);
	CHECK_INT(model_kernels(model, &rows), 1);
	CHECK_INT(rows[0].approx, 1);
	model_kernels_free(rows, 1);
	event.u.command.kind = COMMAND_COPY;
	event.u.command.direction = DIR_H2D;
	event.u.command.correlation = 2;
	apply_one(model, event);
	CHECK_INT(model_copies(model, &copies), 1);
	CHECK_INT(copies[0].approx, 1);
	free(copies);
	model_free(model);
}
