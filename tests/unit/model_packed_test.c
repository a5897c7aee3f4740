/* SPDX-License-Identifier: MIT */
/* Packed columns, and lanes whose chunks are sealed, opened and folded. */
#include <stdlib.h>
#include <string.h>

#include "model/lanes/lane.h"
#include "model/lanes/packed.h"
#include "tests/unit/test.h"

#define VALUES 700

static void round_trip(const uint64_t *values, size_t n)
{
	uint64_t other[3] = { 0, UINT64_MAX, 1 }, out[VALUES];
	struct packed packed, after;
	size_t bytes = packed_plan(&packed, values, n), all;
	char *store;

	CHECK(bytes == packed_groups(n) * 8 * packed.width &&
	      (packed.width <= 57 || packed.width == 64));
	/* Behind others, before others, nothing beyond: ASan watches. */
	packed.offset = 5;
	all = packed.offset + bytes;
	all += packed_plan(&after, other, 3);
	after.offset = packed.offset + (uint32_t)bytes;
	store = malloc(all + PACKED_SLACK);
	memset(store, 0xaa, all + PACKED_SLACK);
	packed_write(&packed, store, values, n);
	packed_write(&after, store, other, 3);
	for (size_t i = 0; i < n; i++)
		CHECK(packed_get(&packed, store, i) == values[i]);
	for (size_t i = 0; i < 3; i++)
		CHECK(packed_get(&after, store, i) == other[i]);
	for (int round = 0; round < 5; round++) {
		size_t first = test_below(n), count = test_below(n - first) + 1;

		packed_read(&packed, store, first, count, out);
		CHECK(memcmp(out, values + first, count * sizeof(out[0])) == 0);
	}
	CHECK(store[0] == (char)0xaa && store[4] == (char)0xaa);
	free(store);
}

/* Every width, any slope, some values far off. */
TEST(model_packed_is_what_was_written)
{
	static const uint64_t far[] = {
		0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT32_MAX, 1u << 31,
		(uint64_t)INT64_MIN + 1,
	};
	uint64_t values[VALUES];

	for (int bits = 0; bits <= 64; bits++)
		for (int round = 0; round < 12; round++) {
			size_t n = 1 + test_below(round < 4 ? 4 : VALUES);
			uint64_t base = test_random(), slope = round % 3 ? 0 : test_random();

			if (round % 3 == 1)
				slope = test_below(100000);
			for (size_t i = 0; i < n; i++)
				values[i] = base + slope * i +
					    (bits ? test_random() >> (64 - bits) : 0);
			for (int k = 0; round % 2 && k < 3; k++)
				values[test_below(n)] =
					far[test_below(sizeof(far) / sizeof(far[0]))];
			round_trip(values, n);
		}
}

TEST(model_packed_takes_no_bits_for_lines)
{
	uint64_t values[VALUES];
	struct packed packed;

	for (size_t i = 0; i < VALUES; i++)
		values[i] = (uint64_t)INT64_MAX - 7 + i * 3;
	CHECK_INT(packed_plan(&packed, values, VALUES), 0);
	for (size_t i = 0; i < VALUES; i++)
		values[i] = 42;
	CHECK_INT(packed_plan(&packed, values, VALUES), 0);
	values[9] = 43;
	CHECK_INT(packed_plan(&packed, values, VALUES), packed_groups(VALUES) * 8);
}

/* ---- lanes ---- */

struct record {
	int64_t wide;
	uint16_t half;
	int32_t whole;
	uint8_t tiny;
};

static const struct lane_layout layout = {
	.size = sizeof(struct record), .n_fields = 4, .fields = {
		LANE_FIELD(record, wide, true), LANE_FIELD(record, half, false),
		LANE_FIELD(record, whole, true), LANE_FIELD(record, tiny, false),
	},
};

#define LANE_SPANS 30000

struct known {
	struct lane_span span;
	struct record record;
};

static struct known known[LANE_SPANS];
static uint32_t n_known;

static int64_t extreme(void)
{
	return test_below(200) ? (int64_t)test_below(1000) :
	       test_below(2) ? INT64_MAX - (int64_t)test_below(9) :
			       INT64_MIN + (int64_t)test_below(9);
}

static void put(struct lane *lane, int64_t start)
{
	struct known *k = &known[n_known++];

	memset(k, 0, sizeof(*k));
	k->span = (struct lane_span) {
		.start_ns = start, .dur_ns = test_below(2000) ? (int64_t)test_below(60) :
						INT64_C(2592000000000000),
		.name = test_below(500) ? (uint32_t)test_below(40) : UINT32_MAX, .id = n_known,
		.work = (uint8_t)test_below(WORK_COUNT), .flags = (uint8_t)test_below(16),
	};
	k->record.wide = extreme();
	k->record.half = (uint16_t)extreme();
	k->record.whole = (int32_t)extreme();
	k->record.tiny = (uint8_t)extreme();
	lane_insert(lane, &k->span, &k->record);
}

static size_t n_sealed(const struct lane *lane)
{
	size_t n = 0;

	for (size_t c = 0; c < lane->n; c++)
		n += lane->chunks[c]->sealed != NULL;
	return n;
}

/* All that was put in is there once, in order; what was folded is the oldest. */
static void check_all(const struct lane *lane)
{
	struct lane_pos pos;
	int64_t before = INT64_MIN;
	uint64_t folded = 0, seen = 0;

	for (size_t g = 0; g < lane->n_ghosts; g++)
		folded += lane->ghosts[g].n_spans;
	for (bool more = lane_lower(lane, INT64_MIN, &pos); more; more = lane_next(lane, &pos)) {
		struct lane_span span = lane_get(lane, pos);
		const struct known *k = &known[span.id - 1];
		struct record record;

		CHECK(span.id && span.id <= n_known && span.start_ns >= before);
		before = span.start_ns;
		CHECK(span.start_ns == k->span.start_ns && span.dur_ns == k->span.dur_ns);
		CHECK(span.name == k->span.name && span.work == k->span.work &&
		      span.flags == k->span.flags);
		lane_cold(lane, pos, &record);
		CHECK(record.wide == k->record.wide && record.half == k->record.half &&
		      record.whole == k->record.whole && record.tiny == k->record.tiny);
		CHECK(lane_cold_field(lane, pos, 2) == (uint64_t)(int64_t)k->record.whole);
		seen++;
	}
	CHECK_INT(seen + folded, lane->count);
	CHECK_INT(lane->count, n_known);
}

static void fill(struct lane *lane, uint32_t count, int64_t late)
{
	lane_init(lane, &layout);
	n_known = 0;
	for (uint32_t i = 0; i < count; i++)
		put(lane, 1000000000 + (int64_t)i * 50 -
			  (late && !test_below(20) ? (int64_t)test_below((uint64_t)late) : 0));
}

TEST(model_lane_sealed_in_order)
{
	struct lane lane;

	fill(&lane, LANE_SPANS, 0);
	/* Only the last is open, and it costs less. */
	CHECK_INT(n_sealed(&lane), lane.n - 1);
	CHECK(lane.bytes < LANE_SPANS * (26 + sizeof(struct record)));
	check_all(&lane);
	lane_release(&lane);
}

TEST(model_lane_late_into_sealed)
{
	static const int64_t lates[] = { 100, 20000, 400000, 1500000 };

	for (size_t i = 0; i < sizeof(lates) / sizeof(lates[0]); i++) {
		struct lane lane;

		fill(&lane, LANE_SPANS, lates[i]);
		CHECK(n_sealed(&lane) >= lane.n - 1 - LANE_OPEN);
		check_all(&lane);
		lane_release(&lane);
	}
}

static int64_t move_some(void *arg, int64_t start, void *cold)
{
	struct record *record = cold;
	int64_t to = start + *(int64_t *)arg;

	record->tiny++;
	return to;
}

TEST(model_lane_edits_sealed)
{
	struct lane lane;
	struct lane_pos pos;
	int64_t shift, from = 1000000000 + LANE_SPANS / 2 * 50;

	fill(&lane, LANE_SPANS, 0);
	for (int i = 0; i < 3000; i++) {
		uint32_t id = 1 + (uint32_t)test_below(LANE_SPANS);

		CHECK(lane_find(&lane, id, &pos));
		known[id - 1].record.wide = extreme();
		((struct record *)lane_edit(&lane, pos))->wide = known[id - 1].record.wide;
	}
	check_all(&lane);
	CHECK(n_sealed(&lane) >= lane.n - 1 - LANE_OPEN);
	for (uint32_t id = 1; id <= n_known; id++)
		if (known[id - 1].span.name == UINT32_MAX)
			known[id - 1].span.work = WORK_COMM;
	lane_reclassify(&lane, UINT32_MAX, WORK_COMM);
	check_all(&lane);
	for (shift = 700; shift >= -9000; shift -= 9700) {
		for (uint32_t id = 1; id <= n_known; id++)
			if (known[id - 1].span.start_ns >= from) {
				known[id - 1].span.start_ns += shift;
				known[id - 1].record.tiny++;
			}
		CHECK(lane_move(&lane, from, move_some, &shift));
		check_all(&lane);
	}
	CHECK(n_sealed(&lane) >= lane.n - 1 - LANE_OPEN);
	lane_release(&lane);
}

/* Folding while late ones come: counts and class times stay exact. */
TEST(model_lane_folds_sealed)
{
	struct lane lane;
	struct column column;
	int64_t longest, work[WORK_COUNT] = { 0 };

	fill(&lane, LANE_SPANS / 2, 20000);
	for (int i = 0; i < LANE_SPANS / 2; i++) {
		put(&lane, 1000000000 + (int64_t)n_known * 50 - (int64_t)test_below(40000));
		if (i % 600 == 0)
			CHECK(lane_fold_oldest(&lane, false) > 0);
	}
	check_all(&lane);
	while (lane_fold_oldest(&lane, false))
		check_all(&lane);
	memset(&column, 0, sizeof(column));
	lane_columns(&lane, 1, 0, 0, INT64_MAX / 4, 1, &column, &longest);
	CHECK_INT(column.count, n_known);
	for (uint32_t i = 0; i < n_known; i++)
		work[known[i].span.work] += known[i].span.dur_ns;
	for (int k = 0; k < WORK_COUNT; k++)
		CHECK_INT(column.work_ns[k], work[k]);
	lane_release(&lane);
	CHECK_INT(lane.bytes, 0);
}
