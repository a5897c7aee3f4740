/* SPDX-License-Identifier: MIT */
/* Lanes, unions, maps and percentiles against naive ones, random sequences. */
#include <stdlib.h>
#include <string.h>

#include "model/lanes/cover.h"
#include "model/base/hist.h"
#include "model/lanes/lane.h"
#include "model/base/map.h"
#include "tests/unit/test.h"

#define SPANS 6000

struct plain_span {
	int64_t start, end;
	uint32_t id;
	uint8_t work, flags;
	uint64_t bytes;
};

static struct plain_span spans[SPANS];
static size_t n_spans;

/* What the lanes here keep with a span: fields of all sizes, and gaps. */
struct record {
	uint64_t bytes;
	int8_t tiny;
	int64_t wide;
	uint16_t half;
	int32_t whole;
};

static const struct lane_layout layout = {
	.size = sizeof(struct record), .n_fields = 5, .rates = true, .fields = {
		LANE_FIELD(record, bytes, false), LANE_FIELD(record, tiny, true),
		LANE_FIELD(record, wide, true), LANE_FIELD(record, half, false),
		LANE_FIELD(record, whole, true),
	},
};

static struct record record_of(const struct plain_span *span)
{
	uint64_t random = span->id * 0x9e3779b97f4a7c15u;

	return (struct record) {
		.bytes = span->bytes, .tiny = (int8_t)random, .half = (uint16_t)(random >> 8),
		.wide = random % 300 ? (int64_t)(random >> 40) : INT64_MIN + (int64_t)span->id,
		.whole = random % 7 ? (int32_t)span->id : -1,
	};
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- unions ---- */

#define MOMENTS 20000

static int64_t count_bits(const uint8_t *bits, int64_t from, int64_t to)
{
	int64_t n = 0;

	for (int64_t t = most(from, 0); t < least(to, MOMENTS); t++)
		n += bits[t];
	return n;
}

static void cover_case(int64_t scale, int64_t longest, size_t count)
{
	static uint8_t bits[MOMENTS];
	struct cover cover = { .n = 0 };
	int64_t columns[37];

	memset(bits, 0, sizeof(bits));
	for (size_t i = 0; i < count; i++) {
		int64_t start = (int64_t)test_below(MOMENTS);
		int64_t end = least(start + (int64_t)test_below((uint64_t)longest), MOMENTS);

		if (test_below(3) == 0 && i > count / 2) {
			/* Mostly in order, as it is live. */
			start = (int64_t)(i * MOMENTS / count);
			end = least(start + longest / 2, MOMENTS);
		}
		cover_add(&cover, start * scale, end * scale);
		for (int64_t t = start; t < end; t++)
			bits[t] = 1;
	}
	CHECK_INT(cover.total_ns, count_bits(bits, 0, MOMENTS) * scale);
	for (int round = 0; round < 50; round++) {
		int64_t a = (int64_t)test_below(MOMENTS), b = (int64_t)test_below(MOMENTS);

		if (a > b)
			continue;
		CHECK_INT(cover_window(&cover, a * scale, b * scale),
			  count_bits(bits, a, b) * scale);
	}
	memset(columns, 0, sizeof(columns));
	cover_columns(&cover, -300 * scale, 600 * scale, 37, columns, sizeof(columns[0]));
	for (int c = 0; c < 37; c++)
		CHECK_INT(columns[c], count_bits(bits, -300 + 600 * c, 300 + 600 * c) * scale);
	cover_cut(&cover, MOMENTS / 3 * scale);
	CHECK_INT(cover.total_ns, count_bits(bits, 0, MOMENTS / 3) * scale);
	CHECK_INT(cover_window(&cover, 0, MOMENTS * scale), cover.total_ns);
	cover_release(&cover);
	CHECK_INT(cover.bytes, 0);
}

TEST(model_cover_against_bits)
{
	cover_case(1, 12, 4000);
	cover_case(1, 400, 500);
	cover_case(1, 2, 9000);
	/* Longer than a block can reach: 2^32 ns. */
	cover_case(3000000000, 12, 3000);
	cover_case(40000000, 300, 2000);
}

TEST(model_cover_fold_keeps_total)
{
	struct cover cover = { .n = 0 };
	size_t bytes;

	for (int64_t i = 0; i < 100000; i++) {
		int64_t start = i * 100000 + (int64_t)test_below(50000);

		cover_add(&cover, start, start + 50000);
	}
	CHECK_INT(cover.total_ns, 5000000000);
	bytes = cover.bytes;
	cover_fold(&cover, 9000000000);
	CHECK(cover.bytes < bytes / 4);
	CHECK_INT(cover.total_ns, 5000000000);
	CHECK_INT(cover_window(&cover, INT64_MIN / 2, INT64_MAX / 2), 5000000000);
	CHECK_INT(cover_window(&cover, 9500000000, 9500100000), 50000);
	cover_release(&cover);
}

/* ---- maps and percentiles ---- */

TEST(model_map_against_array)
{
	static uint32_t values[512];
	struct map map = { .size = 0 };

	memset(values, 0xff, sizeof(values));
	for (int i = 0; i < 40000; i++) {
		uint64_t key = test_below(512);
		uint64_t spread = key * 0x10000000000u;

		CHECK(map_get(&map, spread) == values[key]);
		if (test_below(3)) {
			values[key] = (uint32_t)test_below(1000);
			map_set(&map, spread, values[key]);
		} else {
			values[key] = MAP_NONE;
			map_remove(&map, spread);
		}
	}
	map_release(&map);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

TEST(model_percentiles_within_two_per_cent)
{
	static int64_t values[10001];
	static const unsigned ranks[] = { 10, 500, 900, 990, 1000 };

	for (int round = 0; round < 30; round++) {
		struct hist hist = { .n = 0 }, half = { .n = 0 };
		size_t n = 1 + test_below(10000);
		unsigned bits = 1 + (unsigned)test_below(61);

		for (size_t i = 0; i < n; i++) {
			values[i] = (int64_t)(test_random() >> (64 - bits));
			hist_add(i % 2 ? &half : &hist, values[i]);
		}
		hist_merge(&hist, &half);
		qsort(values, n, sizeof(values[0]), by_value);
		for (size_t k = 0; k < sizeof(ranks) / sizeof(ranks[0]); k++) {
			size_t rank = (n * ranks[k] + 999) / 1000;
			int64_t want = values[rank ? rank - 1 : 0];
			int64_t got = hist_percentile(&hist, ranks[k]);

			CHECK(llabs(got - want) <= want / 50 + 1);
		}
		hist_release(&hist);
		hist_release(&half);
	}
}

TEST(model_percentile_of_nothing)
{
	struct hist hist = { .n = 0 };

	CHECK_INT(hist_percentile(&hist, 500), -1);
}

/* ---- lanes ---- */

static void insert_as(struct lane *lane, int64_t start, int64_t end, int work, int flags)
{
	struct plain_span *span = &spans[n_spans++];
	struct lane_span given;
	struct record record;

	*span = (struct plain_span) {
		.start = start, .end = end, .id = (uint32_t)n_spans,
		.work = (uint8_t)work, .flags = (uint8_t)flags, .bytes = test_below(1000000),
	};
	/* Some are as fast as none else, however long they are. */
	if (!test_below(100))
		span->bytes = (uint64_t)(end - start) * 2000000;
	given = (struct lane_span) {
		.start_ns = start, .dur_ns = end - start, .name = span->id * 3, .id = span->id,
		.work = span->work, .flags = span->flags,
	};
	record = record_of(span);
	lane_insert(lane, &given, &record);
}

static void insert(struct lane *lane, int64_t start, int64_t end)
{
	int work = (int)test_below(WORK_COUNT);

	insert_as(lane, start, end, work, test_below(50) ? 0 : COLUMN_APPROX);
}

/* Spans in order, apart, some late; `mess`: any order, overlapping. */
static void fill(struct lane *lane, size_t count, bool mess)
{
	int64_t at = 1000;
	int64_t starts[SPANS], ends[SPANS];

	n_spans = 0;
	lane_init(lane, &layout);
	for (size_t i = 0; i < count; i++) {
		at += (int64_t)test_below(40) * (int64_t)test_below(3);
		starts[i] = at;
		at += (int64_t)test_below(100);
		ends[i] = at;
		if (mess) {
			starts[i] = 1000 + (int64_t)test_below(50 * count);
			ends[i] = starts[i] + (int64_t)test_below(test_below(20) ? 100 : 5000);
		}
	}
	/* Late ones: swap within reach. */
	for (size_t i = 0; i + 100 < count; i++) {
		size_t k = i + (test_below(10) ? 0 : test_below(100));
		int64_t start = starts[i], end = ends[i];

		starts[i] = starts[k];
		ends[i] = ends[k];
		starts[k] = start;
		ends[k] = end;
	}
	for (size_t i = 0; i < count; i++)
		insert(lane, starts[i], ends[i]);
}

static int64_t naive_busy(int64_t a, int64_t b)
{
	static uint8_t marks[2000000];
	int64_t n = 0;

	CHECK(b - a <= (int64_t)sizeof(marks));
	memset(marks, 0, (size_t)(b - a));
	for (size_t i = 0; i < n_spans; i++)
		for (int64_t t = most(spans[i].start, a); t < least(spans[i].end, b); t++)
			marks[t - a] = 1;
	for (int64_t t = 0; t < b - a; t++)
		n += marks[t];
	return n;
}

static void naive_edge(struct column *column, int64_t t, int64_t a, int64_t b)
{
	if (t < a || t >= b)
		return;
	if (!column->edges || t < column->first_edge_ns)
		column->first_edge_ns = t;
	if (!column->edges || t > column->last_edge_ns)
		column->last_edge_ns = t;
	column->edges++;
}

/* Bytes and the fastest: differences of running totals, so that columns add up. */
static void naive_rate(const struct plain_span *span, int64_t a, int64_t b, struct column *column)
{
	int64_t dur = span->end - span->start;
	int64_t from = most(span->start, a), to = least(span->end, b);

	if (!dur) {
		column->value += span->bytes;
		return;
	}
	column->value += span->bytes * (uint64_t)(to - span->start) / (uint64_t)dur -
			 span->bytes * (uint64_t)(from - span->start) / (uint64_t)dur;
	if (column->value_max < span->bytes * 1000000000u / (uint64_t)dur)
		column->value_max = span->bytes * 1000000000u / (uint64_t)dur;
}

static void naive_column(int64_t a, int64_t b, struct column *column, int64_t *longest)
{
	memset(column, 0, sizeof(*column));
	*longest = -1;
	column->busy_ns = naive_busy(a, b);
	for (size_t i = 0; i < n_spans; i++) {
		const struct plain_span *span = &spans[i];
		int64_t clip = least(span->end, b) - most(span->start, a);

		naive_edge(column, span->start, a, b);
		naive_edge(column, span->end, a, b);
		if (clip < 0 || (clip == 0 && (span->start != span->end || span->start >= b)))
			continue;
		column->count++;
		column->flags |= span->flags;
		column->work_ns[span->work] += clip;
		*longest = most(*longest, span->end - span->start);
		naive_rate(span, a, b, column);
	}
}

static void compare_columns(struct lane *lane, int64_t t0, int64_t w, size_t n)
{
	struct column *got = calloc(n, sizeof(*got)), want;
	int64_t *lengths = calloc(n, sizeof(*lengths)), longest;

	lane_columns(lane, 7, 2, t0, w, n, got, lengths);
	for (size_t c = 0; c < n; c++) {
		int64_t a = t0 + w * (int64_t)c;

		naive_column(a, a + w, &want, &longest);
		CHECK_INT(got[c].busy_ns, want.busy_ns);
		CHECK_INT(got[c].count, want.count);
		CHECK_INT(got[c].edges, want.edges);
		CHECK_INT(got[c].flags, want.flags);
		CHECK_INT(got[c].value, want.value);
		CHECK_INT(got[c].value_max, want.value_max);
		for (int k = 0; k < WORK_COUNT; k++)
			CHECK_INT(got[c].work_ns[k], want.work_ns[k]);
		if (want.edges) {
			CHECK_INT(got[c].first_edge_ns, want.first_edge_ns);
			CHECK_INT(got[c].last_edge_ns, want.last_edge_ns);
		}
		CHECK((got[c].longest.id != 0) == (want.count > 0));
		if (want.count) {
			const struct plain_span *span = &spans[got[c].longest.id - 1];

			CHECK_INT(span->end - span->start, longest);
			CHECK(got[c].longest.row == 7 && got[c].longest.lane == 2);
		}
	}
	free(got);
	free(lengths);
}

static void columns_case(size_t count, bool mess)
{
	struct lane lane;
	int64_t end;

	fill(&lane, count, mess);
	CHECK_INT(lane.count, count);
	end = lane.max_end_ns;
	compare_columns(&lane, 0, end / 20 + 1, 23);
	compare_columns(&lane, end / 2, 17, 40);
	compare_columns(&lane, end / 3, end / 50 + 1, 20);
	compare_columns(&lane, 1000, 1, 100);
	compare_columns(&lane, end - 5, 1, 10);
	compare_columns(&lane, 0, end + 100, 1);
	CHECK_INT(lane_busy(&lane, 0, end), naive_busy(0, end));
	lane_release(&lane);
}

TEST(model_lane_columns_in_order)
{
	columns_case(1, false);
	columns_case(40, false);
	columns_case(5000, false);
}

TEST(model_lane_columns_any_order_overlapping)
{
	columns_case(2, true);
	columns_case(300, true);
	columns_case(3000, true);
}

/* Packed, none empty or marked: blocks at the borders are split, not read. */
TEST(model_lane_columns_split_blocks)
{
	for (int round = 0; round < 6; round++) {
		struct lane lane;
		int64_t at = 1000;

		n_spans = 0;
		lane_init(&lane, &layout);
		for (int i = 0; i < 4000; i++) {
			int64_t start = at + (int64_t)test_below((uint64_t)round + 1);

			at = start + 1 + (int64_t)test_below(test_below(100) ? 30 : 900);
			insert_as(&lane, start, at, (int)test_below(round % 2 ? 1 : 3), 0);
		}
		lane_squeeze(&lane);
		compare_columns(&lane, 0, at / 20 + 1, 23);
		compare_columns(&lane, at / 3, at / 90 + 1, 20);
		compare_columns(&lane, at / 2, 700, 30);
		lane_release(&lane);
	}
}

TEST(model_lane_bytes_add_up)
{
	struct lane lane;
	struct column columns[50];
	int64_t lengths[50];
	uint64_t want = 0, got = 0;

	fill(&lane, 3000, false);
	memset(columns, 0, sizeof(columns));
	lane_columns(&lane, 1, 0, 0, lane.max_end_ns / 49, 50, columns, lengths);
	for (size_t i = 0; i < n_spans; i++)
		want += spans[i].bytes;
	for (int c = 0; c < 50; c++)
		got += columns[c].value;
	CHECK_INT(got, want);
	lane_release(&lane);
}

/* The span is there with all that belongs to it. */
static void check_span(const struct lane *lane, const struct plain_span *span)
{
	struct record want = record_of(span), got;
	struct lane_pos pos;
	struct lane_span found;

	CHECK(lane_find(lane, span->id, &pos));
	found = lane_get(lane, pos);
	CHECK_INT(found.start_ns, span->start);
	CHECK_INT(found.dur_ns, span->end - span->start);
	CHECK_INT(found.name, span->id * 3);
	CHECK_INT(found.id, span->id);
	CHECK_INT(found.work, span->work);
	CHECK_INT(found.flags, span->flags);
	lane_cold(lane, pos, &got);
	CHECK(got.bytes == want.bytes && got.tiny == want.tiny && got.wide == want.wide &&
	      got.half == want.half && got.whole == want.whole);
	CHECK(lane_cold_field(lane, pos, 2) == (uint64_t)want.wide);
	CHECK(lane_cold_field(lane, pos, 4) == (uint64_t)(int64_t)want.whole);
}

TEST(model_lane_places)
{
	struct lane lane;
	struct lane_pos pos;

	fill(&lane, 4000, true);
	for (size_t i = 0; i < n_spans; i += 7) {
		const struct plain_span *span = &spans[i];

		check_span(&lane, span);
	}
	CHECK(!lane_find(&lane, 4001, &pos));
	for (int round = 0; round < 300; round++) {
		int64_t t = (int64_t)test_below((uint64_t)lane.max_end_ns + 100), next = INT64_MAX,
			before = INT64_MIN;

		for (size_t i = 0; i < n_spans; i++) {
			if (spans[i].start >= t)
				next = least(next, spans[i].start);
			else
				before = most(before, spans[i].start);
		}
		CHECK(lane_lower(&lane, t, &pos) == (next != INT64_MAX));
		if (next != INT64_MAX)
			CHECK_INT(lane_get(&lane, pos).start_ns, next);
		CHECK(lane_before(&lane, t, &pos) == (before != INT64_MIN));
		if (before != INT64_MIN)
			CHECK_INT(lane_get(&lane, pos).start_ns, before);
	}
	lane_release(&lane);
}

static int64_t move_by(void *arg, int64_t start, void *cold)
{
	(void)cold;
	return start + *(int64_t *)arg;
}

TEST(model_lane_moves_keep_order)
{
	static const int64_t shifts[] = { 5, -3, 1000, -40000, 0 };
	struct lane lane;

	fill(&lane, 3000, false);
	for (size_t k = 0; k < sizeof(shifts) / sizeof(shifts[0]); k++) {
		int64_t shift = shifts[k], from = lane.max_end_ns / 2;
		bool moved = lane_move(&lane, from, move_by, &shift);

		CHECK(moved == (shift != 0));
		for (size_t i = 0; i < n_spans; i++)
			if (spans[i].start >= from) {
				spans[i].start += shift;
				spans[i].end += shift;
			}
		CHECK_INT(lane.count, n_spans);
		compare_columns(&lane, 0, lane.max_end_ns / 20 + 1, 22);
	}
	lane_release(&lane);
}

TEST(model_lane_is_free_like_naive)
{
	struct lane lane;

	fill(&lane, 2000, false);
	for (int round = 0; round < 3000; round++) {
		int64_t a = (int64_t)test_below((uint64_t)lane.max_end_ns + 50);
		int64_t b = a + (int64_t)test_below(60);
		bool want = true;

		for (size_t i = 0; i < n_spans; i++)
			want &= a >= b || spans[i].start >= spans[i].end || spans[i].end <= a ||
				spans[i].start >= b;
		CHECK(lane_is_free(&lane, a, b) == want);
	}
	lane_release(&lane);
}

TEST(model_lane_fold_keeps_sums)
{
	struct lane lane;
	struct column columns[20];
	int64_t lengths[20], busy, total = 0, work = 0, want_work = 0;
	size_t bytes;

	fill(&lane, 5000, false);
	busy = lane_busy(&lane, 0, lane.max_end_ns);
	bytes = lane.bytes;
	CHECK(lane_fold_oldest(&lane, false) > 0 && lane_fold_oldest(&lane, false) > 0);
	CHECK(lane.bytes < bytes && lane.count == 5000);
	CHECK_INT(lane_busy(&lane, 0, lane.max_end_ns + 1), busy);
	memset(columns, 0, sizeof(columns));
	lane_columns(&lane, 1, 0, 0, lane.max_end_ns / 19, 20, columns, lengths);
	for (int c = 0; c < 20; c++) {
		total += columns[c].busy_ns;
		for (int k = 0; k < WORK_COUNT; k++)
			work += columns[c].work_ns[k];
	}
	for (size_t i = 0; i < n_spans; i++)
		want_work += spans[i].end - spans[i].start;
	/* Spread evenly: a few ns a column are lost to rounding. */
	CHECK(llabs(total - busy) < 100);
	CHECK(llabs(work - want_work) < 500);
	CHECK(columns[1].flags & COLUMN_APPROX);
	/* Late ones still find their place. */
	insert(&lane, 1001, 1005);
	CHECK_INT(lane.count, 5001);
	lane_release(&lane);
}
