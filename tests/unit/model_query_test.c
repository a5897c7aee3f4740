/* SPDX-License-Identifier: MIT */
/*
 * Questions about ranges, names and rates against a plain scan of what went in:
 * random work, late, twice, overlapping, open, and where memory is short.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/search.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define WORKS 12000
#define QUEUES 2
#define NAMES 60
#define COPIES QUEUES			/* the group of all copies, and their one row */

struct work_done {
	int64_t start, end;
	uint32_t group;			/* queue - 1, COPIES */
	uint32_t name, op;		/* 0 none */
	uint64_t bytes;
	bool open;
};

static struct work_done works[WORKS];
static size_t n_works;
static int64_t edge;			/* where open ones end */

static bool ends_in_7(void *arg, const char *name, const char *raw)
{
	(void)arg;
	CHECK(name && raw);
	return name[strlen(name) - 1] == '7';
}

static bool is_none(void *arg, const char *name, const char *raw)
{
	return ends_in_7(arg, name, raw) && false;
}

static void name_of(char *text, size_t size, uint32_t name)
{
	snprintf(text, size, "%s%u", name <= NAMES / 2 ? "kernel" : "op", name);
}

static void begin(struct model *model)
{
	char text[16];

	apply_one(model, ev_process(PID, "random"));
	apply_one(model, ev_device(1, "0000:65:00.0"));
	for (uint32_t q = 1; q <= QUEUES; q++)
		apply_one(model, ev_queue(q, 1));
	apply_one(model, ev_clock(1, BASE, TICKS));
	/* Half of the names come when they have been used already. */
	for (uint32_t i = 1; i <= NAMES; i += 2) {
		name_of(text, sizeof(text), i);
		apply_one(model, ev_name(i, i <= NAMES / 2 ? NAME_KERNEL : NAME_OP, text));
	}
	n_works = 0;
}

/* Phases in which few names are used, so that chunks differ. */
static struct event random_work(size_t i, struct work_done *work)
{
	uint32_t phase = (uint32_t)(i / 1500), half = NAMES / 2;
	struct event event;

	work->name = 1 + (phase * 5 + (uint32_t)test_below(6)) % half;
	work->op = half + 1 + (phase * 3 + (uint32_t)test_below(4)) % half;
	work->group = (uint32_t)test_below(QUEUES + 1);
	work->start = 1000000 + (int64_t)i * 400 + (int64_t)test_below(3000);
	if (!test_below(30))
		work->start -= (int64_t)test_below(200000);
	work->end = work->start + 1 + (int64_t)test_below(test_below(50) ? 700 : 20000);
	if (work->group == COPIES) {
		work->bytes = test_below(1 << 20);
		work->name = 0;
		event = ev_copy(1, DIR_H2D, work->bytes, work->start, work->end - work->start);
	} else {
		event = ev_kernel(work->name, work->group + 1, (uint32_t)i + 1, work->start,
				  work->end - work->start);
	}
	event.u.command.op_name = work->op;
	work->start += BASE;
	work->end += BASE;
	return event;
}

static void feed(struct model **models, size_t n_models, size_t count)
{
	char text[16];

	for (size_t i = 0; i < count; i++) {
		struct work_done *work = &works[n_works++];
		struct event event;

		memset(work, 0, sizeof(*work));
		event = random_work(i, work);
		work->open = work->group != COPIES && !test_below(400);
		if (work->open)
			event.u.command.flags |= CMD_OPEN;
		for (size_t m = 0; m < n_models; m++) {
			apply_one(models[m], event);
			/* What comes twice counts once. */
			if (work->group != COPIES && !test_below(20))
				apply_one(models[m], event);
		}
	}
	for (uint32_t i = 2; i <= NAMES; i += 2) {
		name_of(text, sizeof(text), i);
		for (size_t m = 0; m < n_models; m++)
			apply_one(models[m],
				  ev_name(i, i <= NAMES / 2 ? NAME_KERNEL : NAME_OP, text));
	}
}

/* An open one is drawn from its call on. */
static void settle_opens(struct model *model)
{
	struct model_status status = status_of(model);

	edge = status.live_ns > status.last_ns ? status.live_ns : status.last_ns;
	for (size_t i = 0; i < n_works; i++)
		if (works[i].open) {
			works[i].start -= 10;
			works[i].end = edge;
		}
}

static bool in_7(const struct work_done *work, bool by_op)
{
	uint32_t name = by_op ? work->op : work->name;

	return name % 10 == 7;
}

enum which { ALL, BY_NAME, BY_OP, BY_EITHER };

static bool taken(const struct work_done *work, uint32_t group, enum which which)
{
	if (group != UINT32_MAX && work->group != group)
		return false;
	if (which == BY_EITHER)
		return in_7(work, false) || in_7(work, true);
	return which == ALL || in_7(work, which == BY_OP);
}

static int by_start(const void *a, const void *b)
{
	const struct work_done *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* The plain scan; works are sorted by start. group UINT32_MAX: all. */
static struct range_sum scan(uint32_t group, enum which which, int64_t a, int64_t b)
{
	struct range_sum sum = { .count = 0 };
	int64_t covered = a;

	for (size_t i = 0; i < n_works; i++) {
		const struct work_done *work = &works[i];
		int64_t from = work->start > a ? work->start : a;
		int64_t to = work->end < b ? work->end : b;

		if (!taken(work, group, which) || from >= to)
			continue;
		sum.count++;
		sum.time_ns += to - from;
		if (to > covered) {
			sum.busy_ns += to - (from > covered ? from : covered);
			covered = to;
		}
		sum.bytes += (uint64_t)((__uint128_t)work->bytes * (uint64_t)(to - work->start) /
					(uint64_t)(work->end - work->start)) -
			     (uint64_t)((__uint128_t)work->bytes * (uint64_t)(from - work->start) /
					(uint64_t)(work->end - work->start));
	}
	return sum;
}

/* A row and what should be in it. */
struct place {
	uint32_t row, group;
};

static size_t places(struct model *model, struct place *list)
{
	struct model_row *rows;
	size_t n = model_rows(model, &rows), k = 0, queues = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].kind == ROW_QUEUE)
			list[k++] = (struct place) { rows[i].id, (uint32_t)queues++ };
		else if (rows[i].kind == ROW_COPY)
			list[k++] = (struct place) { rows[i].id, COPIES };
		else if (rows[i].kind == ROW_DEVICE)
			list[k++] = (struct place) { rows[i].id, UINT32_MAX };
	}
	free(rows);
	CHECK(queues == QUEUES && k == QUEUES + 2);
	return k;
}

static void check_range(struct model *model, const struct place *place, int64_t a, int64_t b)
{
	struct range_sum want = scan(place->group, ALL, a, b), got;

	CHECK(model_range(model, place->row, LANE_ALL, a, b, &got));
	CHECK_INT(got.count, want.count);
	CHECK_INT(got.time_ns, want.time_ns);
	if (place->group < COPIES) {
		CHECK_INT(got.busy_ns, want.busy_ns);
	} else if (place->group == COPIES) {
		CHECK_INT(got.busy_ns, want.busy_ns);
		CHECK_INT(got.bytes, want.bytes);
	}
}

static void check_search(struct search *search, enum which which, const struct place *place,
			 int64_t a, int64_t b)
{
	enum { COLUMNS = 17 };
	struct column columns[COLUMNS];
	int64_t w = (b - a) / COLUMNS;

	search_columns(search, place->row, LANE_ALL, a, a + w * COLUMNS, COLUMNS, columns);
	for (int c = 0; c < COLUMNS; c++) {
		struct range_sum want = scan(place->group, which, a + w * c, a + w * (c + 1));
		int64_t time = 0;

		for (int k = 0; k < WORK_COUNT; k++)
			time += columns[c].work_ns[k];
		CHECK_INT(columns[c].count, want.count);
		CHECK_INT(columns[c].busy_ns, want.busy_ns);
		CHECK_INT(time, want.time_ns);
	}
}

static void check_all(struct model *model, int64_t from, int64_t to, int rounds)
{
	struct search *by_name = search_new(model, SEARCH_NAME, ends_in_7, NULL);
	struct search *by_op = search_new(model, SEARCH_OP, ends_in_7, NULL);
	struct search *either = search_new(model, SEARCH_EITHER, ends_in_7, NULL);
	struct search *none = search_new(model, SEARCH_NAME, is_none, NULL);
	struct place list[QUEUES + 2];
	struct column column;
	size_t n;

	model_lock(model);
	n = places(model, list);
	for (int round = 0; round < rounds; round++) {
		const struct place *place = &list[test_below(n)];
		int64_t a = from + (int64_t)test_below((uint64_t)(to - from));
		int64_t b = a + 20 + (int64_t)(test_random() >> (22 + test_below(36)));

		if (round % 20 == 0)
			a = from;
		check_range(model, place, a, b);
		check_search(by_name, BY_NAME, place, a, b);
		check_search(by_op, BY_OP, place, a, b);
		check_search(either, BY_EITHER, place, a, b);
		search_columns(none, place->row, LANE_ALL, a, b, 1, &column);
		CHECK(!column.count && !column.busy_ns);
	}
	model_unlock(model);
	search_free(by_name);
	search_free(by_op);
	search_free(either);
	search_free(none);
}

TEST(model_query_ranges_and_names_like_a_scan)
{
	struct model *model = model_new(NULL);

	begin(model);
	feed(&model, 1, WORKS);
	settle_opens(model);
	qsort(works, n_works, sizeof(works[0]), by_start);
	check_all(model, BASE, edge, 250);
	model_free(model);
}

/* What is not folded is found as before. */
TEST(model_query_ranges_and_names_where_it_is_not_folded)
{
	struct model_options options = { .memory_limit = 1500000 };
	struct model *model = model_new(&options);
	struct model_status status;

	begin(model);
	feed(&model, 1, WORKS);
	settle_opens(model);
	qsort(works, n_works, sizeof(works[0]), by_start);
	status = status_of(model);
	CHECK(status.folded_ns > status.first_ns && status.folded_ns < status.last_ns);
	model_lock(model);
	{
		struct place list[QUEUES + 2];
		struct range_sum sum, want;

		for (size_t i = places(model, list); i-- > 0; ) {
			want = scan(list[i].group, ALL, 0, edge + 1);
			CHECK(model_range(model, list[i].row, LANE_ALL, BASE, edge + 1, &sum));
			CHECK_INT(sum.count, want.count);
			CHECK_INT(sum.time_ns, want.time_ns);
		}
	}
	model_unlock(model);
	check_all(model, status.folded_ns, edge, 100);
	model_free(model);
}

/* Copies that are always under way, with one gap. */
TEST(model_query_least_rate_of_copies)
{
	struct model *model = model_with_device();
	uint64_t rates[40];
	struct column columns[4];
	struct model_row row;
	int64_t at = 1000;

	for (int i = 0; i < 40; i++) {
		uint64_t bytes = 1000 + test_below(100000);

		rates[i] = bytes * 1000000000 / 1000;
		apply_one(model, ev_copy(1, DIR_H2D, bytes, at, 1000));
		at += i == 25 ? 1001 : 1000;
	}
	row = row_of(model, ROW_BANDWIDTH, 0);
	for (int kind = 0; kind < 2; kind++) {
		model_lock(model);
		model_columns(model, row.id, LANE_ALL, BASE + 1000, BASE + 41000, 4, columns);
		model_unlock(model);
		for (int c = 0; c < 4; c++) {
			uint64_t least = UINT64_MAX, most = 0;

			for (int i = 10 * c; i < 10 * c + 10; i++) {
				least = rates[i] < least ? rates[i] : least;
				most = rates[i] > most ? rates[i] : most;
			}
			/* Behind the gap, one of the column before reaches in. */
			if (c == 3 && rates[29] < least)
				least = rates[29];
			if (c == 3 && rates[29] > most)
				most = rates[29];
			CHECK_INT(columns[c].value_min, c == 2 ? 0 : least);
			CHECK_INT(columns[c].value_max, most);
			CHECK(columns[c].value >= columns[c].value_min &&
			      columns[c].value <= columns[c].value_max);
		}
		row = row_of(model, ROW_COPY, 0);
	}
	model_free(model);
}

/* Against what the events say themselves, with what was kept of another window. */
TEST(model_query_names_of_columns)
{
	struct model *model = model_new(NULL);
	struct column_name names[40] = { { .name = 0 } };
	struct column columns[40];
	size_t named = 0;

	begin(model);
	feed(&model, 1, 6000);
	for (int turn = 0; turn < 300; turn++) {
		struct model_row row = row_of(model, test_below(3) ? ROW_QUEUE : ROW_COPY, 0);
		int64_t t0 = BASE + (int64_t)test_below(3500000);
		int64_t w = 1 + (int64_t)test_below(turn % 2 ? 100 : 100000);

		model_lock(model);
		model_columns(model, row.id, LANE_ALL, t0, t0 + 40 * w, 40, columns);
		model_column_names(model, columns, 40, t0, w, names);
		for (int i = 0; i < 40; i++) {
			struct span span;

			if (!model_span(model, columns[i].longest, &span)) {
				CHECK(!columns[i].longest.id && !names[i].name && !names[i].op);
				continue;
			}
			CHECK_STR(model_name(model, names[i].op), span.op ? span.op : "");
			if (row.kind == ROW_QUEUE)
				CHECK_STR(model_name(model, names[i].name), span.name);
			named++;
		}
		model_unlock(model);
	}
	CHECK(named > 1000);
	model_free(model);
}
