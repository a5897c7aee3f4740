/* SPDX-License-Identifier: MIT */
/* When the level was off: of one process, of several on a device, of very many, saved. */
#include <stdlib.h>

#include "model/recording/export.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define PAUSES_MAX 8192		/* model/core/pauses.h */

static void set_level(struct model *model, uint32_t pid, int64_t at, int level)
{
	struct event event = { .type = EVENT_LEVEL, .pid = pid, .tid = pid, .time_ns = BASE + at };

	event.u.level_now = (struct event_level_now) { BASE + at, (uint8_t)level };
	apply_one(model, event);
}

static void set_taken(struct model *model, uint32_t pid, int64_t at, bool taken)
{
	struct event event = { .type = EVENT_TAKEN, .pid = pid, .tid = pid, .time_ns = BASE + at };

	event.u.taken = (struct event_taken) { BASE + at, taken };
	apply_one(model, event);
}

static void come(struct model *model, int64_t at)
{
	apply_one(model, (struct event) { .type = EVENT_ALIVE, .time_ns = BASE + at });
}

static void pauses_are(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		       const int64_t (*wanted)[2], size_t n)
{
	struct model_pause *list;

	model_lock(model);
	CHECK_INT(model_pauses(model, device, BASE + t0, BASE + t1, &list), n);
	for (size_t i = 0; i < n; i++) {
		CHECK_INT(list[i].begin_ns - BASE, wanted[i][0]);
		CHECK_INT(list[i].end_ns - BASE, wanted[i][1]);
	}
	model_unlock(model);
	free(list);
}
#define ARE(model, device, t0, t1, ...) do { \
	static const int64_t wanted_[][2] = { __VA_ARGS__ }; \
	pauses_are(model, device, t0, t1, wanted_, sizeof(wanted_) / sizeof(wanted_[0])); \
} while (0)

TEST(model_pauses_of_one)
{
	struct model *model = model_with_device();

	come(model, 10000);
	pauses_are(model, 0, 0, 10000, NULL, 0);
	set_level(model, PID, 100, 2);
	set_level(model, PID, 1000, 0);
	set_level(model, PID, 1500, 0);
	set_level(model, PID, 2000, 1);
	set_level(model, PID, 3000, 3);
	set_level(model, PID, 4000, 0);
	ARE(model, 0, 0, 20000, { 1000, 2000 }, { 4000, 10000 });
	ARE(model, UINT32_MAX, 1500, 5000, { 1500, 2000 }, { 4000, 5000 });
	pauses_are(model, 0, 2000, 4000, NULL, 0);
	set_level(model, PID, 3500, 2);		/* before it began */
	ARE(model, 0, 0, 20000, { 1000, 2000 }, { 4000, 10000 });
	set_level(model, PID, INT64_MAX - BASE, 2);
	ARE(model, 0, 0, 20000, { 1000, 2000 }, { 4000, 10000 });
	model_free(model);
}

/* A device is looked at while one of those that use it is; and so are all rows. */
TEST(model_pauses_of_two)
{
	struct model *model = model_with_device();
	struct event other = ev_device(1, "0000:65:00.0");

	other.pid = PID + 1;
	other.time_ns = BASE;
	come(model, 10000);
	set_level(model, PID + 1, 500, 0);
	set_level(model, PID + 1, 3000, 2);
	set_level(model, PID, 1000, 0);
	ARE(model, 0, 0, 10000, { 1000, 10000 });
	ARE(model, UINT32_MAX, 0, 10000, { 1000, 3000 });
	apply_one(model, other);
	ARE(model, 0, 0, 10000, { 1000, 3000 });
	apply_one(model, (struct event) { .type = EVENT_EXIT, .pid = PID + 1, .tid = PID + 1,
					  .time_ns = BASE + 6000 });
	ARE(model, 0, 0, 10000, { 1000, 3000 }, { 6000, 10000 });
	model_free(model);
}

/* Long ones stay, and the one that lasts. */
TEST(model_pauses_very_many)
{
	struct model *model = model_with_device();
	struct model_pause *list;
	size_t n, found = 0;

	come(model, 40 * PAUSES_MAX);
	for (int i = 0; i < 3 * PAUSES_MAX; i++) {
		set_level(model, PID, 10 * i, 0);
		set_level(model, PID, 10 * i + (i % 100 ? 1 + i % 3 : 9), 2);
	}
	set_level(model, PID, 39 * PAUSES_MAX, 0);
	model_lock(model);
	n = model_pauses(model, 0, BASE, BASE + 40 * PAUSES_MAX, &list);
	model_unlock(model);
	CHECK(n <= PAUSES_MAX);
	for (size_t i = 0; i < n; i++)
		found += list[i].end_ns - list[i].begin_ns == 9;
	CHECK_INT(found, (3 * PAUSES_MAX + 99) / 100);
	CHECK_INT(list[n - 1].begin_ns - BASE, 39 * PAUSES_MAX);
	free(list);
	model_free(model);
}

/* The own profiler of a program has its device: a pause of the device, not of its process. */
TEST(model_pauses_taken)
{
	struct model *model = model_with_device();
	struct model_pause *list;

	come(model, 10000);
	set_taken(model, PID, 1000, true);
	set_taken(model, PID, 1200, true);
	set_taken(model, PID, 2000, false);
	set_taken(model, PID, 3000, true);
	set_level(model, PID, 3500, 0);
	set_taken(model, PID, 4000, false);
	set_level(model, PID, 5000, 2);
	set_taken(model, PID, 8000, true);
	ARE(model, 0, 0, 20000, { 1000, 2000 }, { 3000, 3500 }, { 3500, 5000 }, { 8000, 10000 });
	ARE(model, UINT32_MAX, 0, 20000, { 3500, 5000 });
	model_lock(model);
	CHECK_INT(model_pauses(model, 0, BASE, BASE + 20000, &list), 4);
	CHECK(list[0].taken && list[1].taken && !list[2].taken && list[3].taken);
	free(list);
	CHECK_INT(model_taken(model, BASE, BASE + 20000, &list), 3);
	CHECK_INT(list[1].end_ns - BASE, 3500);
	free(list);
	model_unlock(model);
	model_free(model);
}

TEST(model_pauses_are_saved)
{
	struct model *model = model_with_device(), *copy = model_new(NULL);
	struct model_export *export;
	struct event events[64];
	size_t n;

	apply_one(model, ev_kernel(1, 1, 1, 100, 9900));
	set_level(model, PID, 1000, 0);
	set_level(model, PID, 2000, 1);
	set_taken(model, PID, 2500, true);
	set_taken(model, PID, 3000, false);
	set_level(model, PID, 4000, 0);
	export = model_export_new(model, INT64_MIN);
	while ((n = model_export_next(export, events, 64)) > 0)
		model_apply(copy, events, n);
	model_export_free(export);
	ARE(copy, 0, 0, 20000, { 1000, 2000 }, { 2500, 3000 }, { 4000, 10000 });
	ARE(copy, UINT32_MAX, 0, 20000, { 1000, 2000 }, { 4000, 10000 });
	model_free(copy);
	model_free(model);
}

/* Columns of the rows of a device, and of those of none. */
TEST(model_pauses_and_their_columns)
{
	struct model *model = model_with_device();
	struct column columns[10];
	uint32_t row;

	apply_one(model, ev_kernel(1, 1, 1, 0, 10000));
	set_level(model, PID, 2500, 0);
	set_level(model, PID, 4000, 2);
	set_level(model, PID, 8000, 0);
	row = row_of(model, ROW_QUEUE, 0).id;
	model_lock(model);
	model_columns(model, row, LANE_ALL, BASE, BASE + 20000, 10, columns);
	for (int c = 0; c < 10; c++)
		CHECK(!(columns[c].flags & COLUMN_PAUSED) == !(c == 1 || c == 4));
	model_unlock(model);
	model_free(model);
}
