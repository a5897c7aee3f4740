/* SPDX-License-Identifier: MIT */
/* Gaps of rows against a plain scan: one lane, several that overlap, a device, what is open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/gaps.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define WORKS 6000
#define MAX 40

struct piece { int64_t start, end; uint32_t queue; };

static struct piece works[WORKS];
static struct row_gap want[WORKS];
static size_t n_want;
static int64_t open_ns;

static int by_start(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int longest_first(const void *a, const void *b)
{
	const struct row_gap *x = a, *y = b;
	int64_t dx = x->end_ns - x->start_ns, dy = y->end_ns - y->start_ns;

	if (dx != dy)
		return dx > dy ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : 1;
}

/* Of the queue, 0: of both. */
static void scan(uint32_t queue)
{
	int64_t covered = INT64_MIN;

	n_want = 0;
	for (size_t i = 0; i < WORKS; i++) {
		if (queue && works[i].queue != queue)
			continue;
		if (works[i].start > open_ns) {
			if (covered < open_ns)
				want[n_want++] = (struct row_gap) { covered, open_ns };
			return;
		}
		if (covered != INT64_MIN && works[i].start > covered)
			want[n_want++] = (struct row_gap) { covered, works[i].start };
		if (works[i].end > covered)
			covered = works[i].end;
	}
}

static void make(struct model *model)
{
	int64_t at = 1000;

	for (uint32_t i = 0; i < WORKS; i++) {
		uint32_t queue = 1 + (uint32_t)test_below(2);
		int64_t dur = 1 + (int64_t)test_below(test_below(30) ? 300 : 5000);

		/* some come late, some lie over others */
		at += (int64_t)test_below(test_below(40) ? 250 : 9000);
		works[i] = (struct piece) { BASE + at, BASE + at + dur, queue };
		apply_one(model, ev_kernel(1 + i % 9, queue, i + 1, at, dur));
	}
	qsort(works, WORKS, sizeof(works[0]), by_start);
}

static void check(struct model *model, uint32_t row, uint32_t queue)
{
	struct row_gap got[MAX], gap;
	bool more;

	scan(queue);
	model_lock(model);
	for (int round = 0; round < 60; round++) {
		int64_t t =
			BASE + (int64_t)test_below((uint64_t)(works[WORKS - 1].end - BASE + 4000));
		int64_t least = round % 3 ? (int64_t)test_below(3000) : 1;
		const struct row_gap *next = NULL, *prev = NULL;

		for (size_t i = 0; i < n_want; i++) {
			if (want[i].end_ns - want[i].start_ns < least)
				continue;
			if (want[i].start_ns < t)
				prev = &want[i];
			if (want[i].start_ns > t && !next)
				next = &want[i];
		}
		CHECK(model_gap_next(model, row, LANE_ALL, t, least, &gap) == (next != NULL));
		CHECK(!next || (gap.start_ns == next->start_ns && gap.end_ns == next->end_ns));
		CHECK(model_gap_prev(model, row, LANE_ALL, t, least, &gap) == (prev != NULL));
		CHECK(!prev || (gap.start_ns == prev->start_ns && gap.end_ns == prev->end_ns));
	}
	qsort(want, n_want, sizeof(want[0]), longest_first);
	CHECK_INT(model_gaps_longest(model, row, LANE_ALL, BASE, INT64_MAX, MAX, got, &more), MAX);
	CHECK(more);
	for (size_t i = 0; i < MAX; i++)
		CHECK(got[i].start_ns == want[i].start_ns && got[i].end_ns == want[i].end_ns);
	model_unlock(model);
}

static void check_rows(struct model *model)
{
	struct model_row *rows;
	size_t n;
	uint32_t queue = 0;

	model_lock(model);
	n = model_rows(model, &rows);
	model_unlock(model);
	for (size_t i = 0; i < n; i++)
		if (rows[i].kind == ROW_QUEUE)
			check(model, rows[i].id, ++queue);
		else if (rows[i].kind == ROW_DEVICE)
			check(model, rows[i].id, 0);
	CHECK_INT(queue, 2);
	free(rows);
}

TEST(model_gaps_like_a_scan)
{
	struct model *model = model_with_device();

	open_ns = INT64_MAX;
	make(model);
	check_rows(model);
	model_free(model);
}

/* From what is open on there is no gap any more. */
TEST(model_gaps_until_what_is_open)
{
	struct model *model = model_with_device();
	struct event event;

	make(model);
	open_ns = works[WORKS / 2].start + 3;
	for (uint32_t queue = 1; queue <= 2; queue++) {
		event = ev_kernel(3, queue, WORKS + queue, open_ns + 10 - BASE, 5);
		event.u.command.flags |= CMD_OPEN;
		apply_one(model, event);
	}
	check_rows(model);
	model_free(model);
}

TEST(model_gaps_of_nothing)
{
	struct model *model = model_with_device();
	struct row_gap gap;
	bool more;

	model_lock(model);
	CHECK(!model_gap_next(model, 0, LANE_ALL, 0, 1, &gap));
	CHECK(!model_gap_next(model, 12345, LANE_ALL, 0, 1, &gap));
	CHECK(!model_gap_prev(model, 1, LANE_ALL, INT64_MAX, 1, &gap));
	CHECK_INT(model_gaps_longest(model, 1, LANE_ALL, INT64_MIN, INT64_MAX, 1, &gap, &more), 0);
	model_unlock(model);
	apply_one(model, ev_kernel(1, 1, 1, 100, 50));
	model_lock(model);
	CHECK(!model_gap_next(model, 1, LANE_ALL, 0, 1, &gap));
	CHECK(!model_gap_prev(model, 1, LANE_ALL, INT64_MAX, 1, &gap));
	model_unlock(model);
	model_free(model);
}
