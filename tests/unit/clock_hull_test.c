/* SPDX-License-Identifier: MIT */
/* The hull of causality against brute force, and against the truth. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/clocks/clock.h"
#include "tests/unit/test.h"

__extension__ typedef __int128 wide;

#define BOUNDS_MAX 1200

/* The same numbers each time: what is counted below is a property of them. */
static uint64_t any_number(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1du;
}

/* 0 ... n - 1 */
static uint64_t below(uint64_t n)
{
	return any_number() % n;
}

/* What was told to a clock, and the oracle over all of it. */
struct told {
	int n;
	struct { uint64_t ticks; int64_t host; bool upper; } bounds[BOUNDS_MAX];
};

static void tell(struct told *told, uint64_t ticks, int64_t host, bool upper)
{
	CHECK(told->n < BOUNDS_MAX);
	told->bounds[told->n].ticks = ticks;
	told->bounds[told->n].host = host;
	told->bounds[told->n++].upper = upper;
}

static wide down(wide num, wide den)
{
	return num / den - (num % den && num < 0);
}

/* Exact ends of host - ticks at `at`, which no bound is after: brute force over
 * all pairs. Bounds outside [from, ...) do not count. false: one-sided. */
static bool oracle(const struct told *told, uint64_t from, uint64_t at, int64_t *low, int64_t *high)
{
	int64_t most_num = 1, most_den = HULL_DRIFT, least_num = -1, least_den = HULL_DRIFT;
	bool has_low = false, has_high = false;

#define X(i) ((int64_t)(told->bounds[i].ticks - at))
#define Y(i) ((int64_t)((uint64_t)told->bounds[i].host - told->bounds[i].ticks))
#define OUT(i) ((int64_t)(told->bounds[i].ticks - from) < 0)
	for (int i = 0; i < told->n; i++)
		for (int j = 0; j < told->n && !told->bounds[i].upper && !OUT(i); j++) {
			int64_t num = Y(j) - Y(i), den = X(j) - X(i);

			if (!told->bounds[j].upper || OUT(j))
				continue;
			if (den > 0 && (wide)num * most_den < (wide)most_num * den) {
				most_num = num;
				most_den = den;
			}
			if (den < 0 && (wide)-num * least_den > (wide)least_num * -den) {
				least_num = -num;
				least_den = -den;
			}
		}
	for (int i = 0; i < told->n; i++) {
		int64_t end;

		if (OUT(i))
			continue;
		if (told->bounds[i].upper) {
			end = Y(i) - (int64_t)down((wide)most_num * X(i), most_den);
			*high = !has_high || end < *high ? end : *high;
			has_high = true;
		} else {
			end = Y(i) + (int64_t)down(-(wide)least_num * X(i), least_den);
			*low = !has_low || end > *low ? end : *low;
			has_low = true;
		}
	}
#undef X
#undef Y
#undef OUT
	return has_low && has_high;
}

static int64_t signed_below(int64_t n)
{
	return (int64_t)below(2 * (uint64_t)n + 1) - n;
}

TEST(hull_worked_example)
{
	struct hull *hull = calloc(1, sizeof(*hull));
	struct hull_range range;

	CHECK_INT(hull_bound(hull, 0, 10, false), HULL_TIGHTER);
	CHECK(!hull_two_sided(hull));
	CHECK_INT(hull_bound(hull, 1000, 1011, false), HULL_TIGHTER);
	CHECK_INT(hull_bound(hull, 0, 20, true), HULL_TIGHTER);
	CHECK_INT(hull_bound(hull, 1000, 1020, true), HULL_TIGHTER);
	range = hull_at(hull, 1000);
	CHECK(range.has_low && range.has_high);
	CHECK_INT(range.low_ns, 11);
	CHECK_INT(range.high_ns, 20);
	range = hull_at(hull, 2000);
	CHECK_INT(range.low_ns, 10);
	CHECK_INT(range.high_ns, 21);
	CHECK_INT(hull_bound(hull, 2000, 2000 + 9, true), HULL_AGAINST);
	CHECK_INT(hull_bound(hull, 2000, 2000 + 10, true), HULL_TIGHTER);
	range = hull_at(hull, 2000);
	CHECK_INT(range.low_ns, 10);
	CHECK_INT(range.high_ns, 10);
	free(hull);
}

/* Any scale up to the largest, any order: the ends are those of brute force,
 * and what is refused is what leaves no line. */
TEST(hull_exact_at_every_scale)
{
	struct hull *hull = calloc(1, sizeof(*hull));
	static struct told told;

	for (int round = 0; round < 1500; round++) {
		/* Within a window at small scales; one slice each at large ones. */
		int scale = 8 + (int)below(25);
		int64_t spread = INT64_C(1) << scale, noise = 1 + (spread >> below(20));
		int64_t drift = signed_below(90);
		uint64_t base = any_number(), offset = any_number();
		uint64_t edge = base + 2 * (uint64_t)spread;

		hull_reset(hull);
		told.n = 0;
		for (int i = 0; i < 40; i++) {
			int64_t x = (int64_t)below((uint64_t)spread), low, high;
			bool upper = below(2);
			int64_t late = (int64_t)below((uint64_t)noise + 1);
			int64_t y = x / 100000 * drift + (upper ? late : -late) +
				    (below(20) ? 0 : signed_below(noise));
			uint64_t ticks = base + (uint64_t)x;
			int64_t host = (int64_t)(ticks + offset + (uint64_t)y);
			enum hull_result result = hull_bound(hull, ticks, host, upper);
			struct hull_range range;

			CHECK(result != HULL_IGNORED);
			tell(&told, ticks, host, upper);
			/* Shifted, so that the oracle's numbers do not wrap. */
			for (int k = told.n - 1; k < told.n; k++)
				told.bounds[k].host = (int64_t)((uint64_t)host - offset);
			if (result == HULL_AGAINST) {
				told.n--;
				continue;
			}
			if (!oracle(&told, base, edge, &low, &high))
				continue;
			range = hull_at(hull, edge);
			CHECK_INT((uint64_t)range.low_ns - offset, low);
			CHECK_INT((uint64_t)range.high_ns - offset, high);
			CHECK(low <= high);
		}
	}
	free(hull);
}

/* As far apart as bounds can be, around the wrap of the ticks. */
TEST(hull_extreme_values)
{
	struct hull *hull = calloc(1, sizeof(*hull));
	const int64_t far = HULL_FAR - 1, s = 1000000000;
	const uint64_t base = UINT64_MAX - 5;
	struct hull_range range;

	/* Origin offset 0: bounds at (0, 0) (1 s, -far) and (2 s, far) (1 s, far). */
	CHECK_INT(hull_bound(hull, base, (int64_t)base, false), HULL_TIGHTER);
	CHECK_INT(hull_bound(hull, base + s, (int64_t)(base + s - far), false), HULL_INSIDE);
	CHECK_INT(hull_bound(hull, base + 2 * s, (int64_t)(base + 2 * s + far), true),
		  HULL_TIGHTER);
	CHECK_INT(hull_bound(hull, base + s, (int64_t)(base + s + far), true), HULL_TIGHTER);
	range = hull_at(hull, base + 2 * s);
	CHECK_INT(range.low_ns, -2 * s / HULL_DRIFT);
	CHECK_INT(range.high_ns, far);
	range = hull_at(hull, base + far);
	CHECK_INT(range.low_ns, -(far / HULL_DRIFT) - (far % HULL_DRIFT > 0));
	/* From 2 s on, one per thousand; rounded outwards. */
	CHECK_INT(range.high_ns, far + (far - 2 * s) / HULL_DRIFT + 1);
	range = hull_at(hull, base - far);
	CHECK_INT(range.low_ns, -(far / HULL_DRIFT) - (far % HULL_DRIFT > 0));
	CHECK_INT(range.high_ns, far + (far + s) / HULL_DRIFT + ((far + s) % HULL_DRIFT > 0));
	/* One further is out of reach. */
	CHECK_INT(hull_bound(hull, base + far + 1, 0, true), HULL_IGNORED);
	CHECK_INT(hull_bound(hull, base - far - 1, 0, true), HULL_IGNORED);
	CHECK_INT(hull_bound(hull, base, (int64_t)(base + far + 1), true), HULL_IGNORED);
	range = hull_at(hull, base + far + 1);
	CHECK(!range.has_low && !range.has_high);
	/* And the far end of the scale contradicts nothing near it. */
	CHECK_INT(hull_bound(hull, base + 3 * s, (int64_t)(base + 3 * s - far), true),
		  HULL_AGAINST);
	CHECK_INT(hull_bound(hull, base + 3 * s, (int64_t)(base + 3 * s), true), HULL_TIGHTER);
	free(hull);
}

TEST(hull_window_forgets)
{
	struct hull *hull = calloc(1, sizeof(*hull));
	const uint64_t s = 1000000000;
	struct hull_range range;

	/* Tight at first, then loose for two minutes. */
	hull_bound(hull, 1000, 1000 - 1, false);
	hull_bound(hull, 1000, 1000 + 1, true);
	for (uint64_t t = 1; t <= 120; t++) {
		hull_bound(hull, t * s, (int64_t)(t * s) - 5000, false);
		hull_bound(hull, t * s, (int64_t)(t * s) + 7000, true);
		range = hull_at(hull, 1000);
		if (t < 60) {
			CHECK_INT(range.low_ns, -1);
			CHECK_INT(range.high_ns, 1);
		} else if (t >= 66) {
			CHECK(range.low_ns < -5000 && range.high_ns > 7000);
		}
	}
	range = hull_at(hull, 120 * s);
	CHECK_INT(range.low_ns, -5000);
	CHECK_INT(range.high_ns, 7000);
	/* What comes that late is not heard. */
	CHECK_INT(hull_bound(hull, 2000, 0, true), HULL_IGNORED);
	/* A tight one that was hidden by a tighter one comes back. */
	hull_reset(hull);
	hull_bound(hull, 0, -10, false);
	hull_bound(hull, 0, 10, true);
	hull_bound(hull, 30 * s, (int64_t)(30 * s) - 10, false);
	hull_bound(hull, 30 * s, (int64_t)(30 * s) + 12, true);
	hull_bound(hull, 31 * s, (int64_t)(31 * s) + 13, true);
	hull_bound(hull, 70 * s, (int64_t)(70 * s) + 500, true);
	range = hull_at(hull, 30 * s);
	CHECK_INT(range.low_ns, -10);
	CHECK_INT(range.high_ns, 12);
	free(hull);
}

TEST(hull_of_a_million_stays_small)
{
	struct hull *hull = calloc(1, sizeof(*hull));
	int64_t vertices = 0;

	for (int64_t i = 0; i < 1000000; i++) {
		int64_t x = i * 100000 + (int64_t)below(90000);	/* 100 s in all */
		int64_t y = x / 40000;					/* 25 ppm */
		bool upper = below(20) == 0;
		int64_t late = 4000 + (int64_t)(below(1000) * below(1000) *
						(1 + below(20)) / 50);

		CHECK(hull_bound(hull, (uint64_t)x, x + y + (upper ? late : -late), upper) !=
		      HULL_AGAINST);
	}
	for (unsigned s = 0; s < HULL_SLICES; s++)
		vertices += hull->slices[s].low.n + hull->slices[s].high.n;
	CHECK_INT(hull->bounds, 1000000);
	CHECK(hull->low.chain.n < HULL_CHAIN && hull->high.chain.n < HULL_CHAIN);
	CHECK(vertices < 13 * 60);
	printf("# hull: %d fits\n", (int)hull->fits);
	/* All but few cost an append and a look. */
	CHECK(hull->fits < 10000);
	free(hull);
}

/* ---- clocks under drift, steps, asymmetry and jitter ---- */

struct run {
	int64_t length, min_launch, min_wait, jitter, step_at, step;
	int64_t drift_ppb, waits;	/* one of so many is waited for */
	int n;
};

/* Device ticks to true host time. */
static int64_t truth(const struct run *run, uint64_t start, int64_t offset, uint64_t ticks)
{
	int64_t x = (int64_t)(ticks - start);

	return (int64_t)ticks + offset + (int64_t)((wide)x * run->drift_ppb / 1000000000) +
	       (x >= run->step_at ? run->step : 0);
}

static int64_t jitter(const struct run *run)
{
	/* Mostly short, with a long tail. */
	int64_t j = (int64_t)below((uint64_t)run->jitter + 1);

	return below(10) ? j / 10 : below(20) ? j : 20 * j;
}

static struct run random_run(void)
{
	struct run run = {
		.length = INT64_C(50000000) << below(11),		/* 50 ms to 51 s */
		.min_launch = 500 + (int64_t)below(50000),
		.min_wait = 500 + (int64_t)below(50000),
		.jitter = 1000 + (int64_t)below(300000),
		.drift_ppb = signed_below(100000), .step_at = INT64_MAX,
		.waits = 2 + (int64_t)below(18), .n = 100 + (int)below(300),
	};

	/* A step beyond what latency can hide. */
	if (below(4) == 0) {
		run.step_at = (int64_t)below((uint64_t)run.length);
		run.step = (below(2) ? 1 : -1) *
			   (INT64_C(200000) << below(10));
	}
	return run;
}

/* Feeds a run, neighbours swapped now and then; returns the last ticks told. */
static uint64_t feed(const struct run *run, struct clock *clock, struct told *told, uint64_t start,
		     int64_t offset)
{
	uint64_t edge = start;

	told->n = 0;
	for (int i = 0; i < run->n; i++) {
		int64_t slot = run->length / run->n;
		uint64_t at = start + (uint64_t)(i * slot) + below((uint64_t)slot);
		uint64_t end = at + below((uint64_t)slot);

		if (below(8) == 0 && i > 0)
			at -= below((uint64_t)slot);
		tell(told, at, truth(run, start, offset, at) - run->min_launch - jitter(run),
		     false);
		if (below((uint64_t)run->waits) == 0)
			tell(told, end,
			     truth(run, start, offset, end) + run->min_wait + jitter(run), true);
	}
	for (int i = 0; i < told->n; i++) {
		struct clock_change change;

		clock_bound(clock, told->bounds[i].ticks, told->bounds[i].host,
			    told->bounds[i].upper, &change);
		free(change.before);
		if ((int64_t)(told->bounds[i].ticks - edge) > 0)
			edge = told->bounds[i].ticks;
	}
	return edge;
}

static bool holds(const struct clock *clock, const struct run *run, uint64_t start, int64_t offset,
		  uint64_t ticks)
{
	uint8_t id;
	int64_t off = clock_map(clock, ticks, &id) - truth(run, start, offset, ticks);

	return (off < 0 ? -off : off) <= clock_error_at(clock, ticks);
}

/*
 * The bar at a random place of each run, and at its very end: both hold in all
 * but one of a thousand runs. The best there can be is known of runs whose step,
 * if any, has shown as a contradiction; before it has, the bar is right to be
 * wide. TEST_RUNS=10000 as in the bench, else fewer.
 */
TEST(clock_bar_holds_the_truth_and_is_tight)
{
	const char *wanted = getenv("TEST_RUNS");
	int runs = wanted ? atoi(wanted) : 2000;
	int outside = 0, at_end = 0, shown = 0, steps = 0, seen = 0;
	int too_wide = 0, compared = 0;
	static struct told told;

	for (int r = 0; r < runs; r++) {
		struct run run = random_run();
		struct clock clock = { .n = 0 };
		uint64_t start = INT64_C(1000000000000) + below(INT64_C(1) << 40);
		int64_t offset = signed_below(INT64_C(1) << 38), low, high;
		uint64_t edge = feed(&run, &clock, &told, start, offset), from;

		steps += run.step != 0;
		seen += run.step != 0 && clock.violations > 0;
		if (!run.step)
			CHECK_INT(clock.violations, 0);
		from = clock.stepped ? clock.since_ticks : start - (uint64_t)run.length;
		if (!clock_has(&clock)) {
			/* Only when nobody waited. */
			CHECK(!oracle(&told, from, edge, &low, &high));
			clock_release(&clock);
			continue;
		}
		shown++;
		outside += !holds(&clock, &run, start, offset,
				  start + below(edge - start + 1));
		at_end += !holds(&clock, &run, start, offset, edge);
		/* The best from what belongs to the segment, since a step if any. */
		if (clock.hulled && (!run.step || clock.violations) &&
		    oracle(&told, from, edge, &low, &high)) {
			compared++;
			too_wide += clock_error_at(&clock, edge) > 2 * ((high - low + 1) / 2) + 2;
		}
		clock_release(&clock);
	}
	printf("# clock: %d runs, outside the bar %d, at the end %d; %d with steps, %d seen; "
	       "%d compared, wider than twice the best %d\n", shown, outside, at_end, steps, seen,
	       compared, too_wide);
	CHECK(runs >= 1000 && shown > runs / 100 * 98 && compared > runs / 10 * 9);
	CHECK(outside <= runs / 1000);
	CHECK(at_end <= runs / 1000);
	CHECK_INT(too_wide, 0);
}

TEST(clock_steps_start_a_new_segment)
{
	struct clock clock = { .n = 0 };
	struct clock_change change;
	uint8_t id, other;

	for (int64_t i = 0; i < 2000; i++) {
		int64_t ticks = 1000000000 + i * 1000000,
			host = ticks + 5000 + (i >= 1000 ? 80000 : 0);

		clock_bound(&clock, (uint64_t)ticks, host - 3000, false, &change);
		free(change.before);
		clock_bound(&clock, (uint64_t)ticks + 100, host + 100 + 3000, true, &change);
		free(change.before);
		if (i == 0)
			CHECK(hull_two_sided(clock.hull));
	}
	CHECK_INT(clock.violations, 1);
	CHECK(hull_two_sided(clock.hull));
	CHECK(clock.hull->last - clock.hull->first < 1000000000);
	CHECK(clock.hulled && clock.n >= 2);
	CHECK(clock_error(&clock) <= 6010 && clock_error(&clock) >= 2900);
	CHECK(llabs(clock_map(&clock, 1500000000, &id) - 1500005000) <= 3100);
	CHECK(llabs(clock_map(&clock, 2500000000, &other) - 2500085000) <= 3100);
	CHECK(id != other);
	clock_release(&clock);
}

/* Spans that follow each change are where a fresh mapping puts them, to the
 * nanosecond, whatever the rate. */
TEST(clock_moves_exactly_at_any_rate)
{
	enum { SPANS = 400 };
	static struct told told;

	for (int round = 0; round < 60; round++) {
		struct run run = random_run();
		struct clock clock = { .n = 0 }, unused = { .n = 0 };
		uint64_t ticks[SPANS], start = 1000000000000;
		int64_t host[SPANS];
		uint8_t ids[SPANS], id;
		int n = 0;

		feed(&run, &unused, &told, start, -500000000);
		clock_release(&unused);
		for (int i = 0; i < told.n; i++) {
			struct clock_change change;

			clock_bound(&clock, told.bounds[i].ticks, told.bounds[i].host,
				    told.bounds[i].upper, &change);
			for (int k = 0; k < n && change.changed; k++)
				if (host[k] >= change.from_ns)
					host[k] =
						clock_move(&clock, change.before, host[k], &ids[k]);
			free(change.before);
			if (!clock_has(&clock) || n == SPANS)
				continue;
			ticks[n] = told.bounds[i].ticks + below(1000);
			host[n] = clock_map(&clock, ticks[n], &ids[n]);
			n++;
		}
		for (int k = 0; k < n; k++) {
			CHECK_INT(host[k], clock_map(&clock, ticks[k], &id));
			CHECK_INT(ids[k], id);
		}
		clock_release(&clock);
	}
}

TEST(clock_driver_pairs_give_a_rate)
{
	struct clock clock = { .n = 0 };
	struct clock_change change;
	int64_t off, worst = 0;
	uint8_t id;

	for (int64_t s = 0; s < 100; s++) {
		struct event_clock pair = {
			.quality = CLOCK_DRIVER, .ticks = (uint64_t)(s * 1000000000 + 7777),
			.error_ns = 500,
		};

		/* 40 ppm off, told with up to 400 ns of error. */
		pair.host_ns = (int64_t)pair.ticks + s * 40000 + signed_below(400);
		clock_add(&clock, &pair, &change);
		free(change.before);
		/* Between two pairs, where a rate of 0 would be 20 us off. */
		off = clock_map(&clock, pair.ticks + 500000000, &id) -
		      ((int64_t)pair.ticks + 500000000 + s * 40000 + 20000);
		off = off < 0 ? -off : off;
		if (s >= 5 && off > worst)
			worst = off;
		/* Causality that contradicts it is counted and changes nothing. */
		clock_bound(&clock, pair.ticks, pair.host_ns + 50000, false, &change);
		CHECK(!change.changed);
	}
	CHECK(clock.hulled);
	CHECK(worst < 1500);
	CHECK(clock_error(&clock) < 1000);
	CHECK(clock.violations >= 95);
	clock_release(&clock);
}

TEST(clock_known_stays_an_identity)
{
	struct clock clock = { .n = 0 };
	struct event_clock pair = { .quality = CLOCK_KNOWN, .ticks = 5000, .host_ns = 5000 };
	struct clock_change change;
	uint8_t id;

	clock_add(&clock, &pair, &change);
	for (int64_t t = 0; t < 1000; t++) {
		clock_bound(&clock, (uint64_t)(t * 1000000), t * 1000000 - 2000, false, &change);
		CHECK(!change.changed);
		clock_bound(&clock, (uint64_t)(t * 1000000), t * 1000000 + 9000, true, &change);
		CHECK(!change.changed);
	}
	CHECK_INT(clock.violations, 0);
	clock_bound(&clock, 1000000000, 1000000000 + CLOCK_SLACK_NS + 1, false, &change);
	CHECK_INT(clock.violations, 1);
	CHECK_INT(clock_map(&clock, 123456789, &id), 123456789);
	CHECK_INT(clock.n, 1);
	clock_release(&clock);
}

/* Before all segments that are left? */
static bool before_all(const struct clock *clock, uint64_t ticks)
{
	return ticks < clock->segments[0].from_ticks;
}

/* A clock that never rests: tables stay whole and bounded, and what follows each
 * change is where a fresh mapping puts it, unless its segment was let go. */
TEST(clock_that_steps_all_the_time)
{
	enum { SPANS = 300 };

	for (int round = 0; round < 30; round++) {
		struct clock clock = { .n = 0 };
		uint64_t ticks[SPANS], from = UINT64_C(1) << 40;
		int64_t host[SPANS], offset = 0;
		uint8_t ids[SPANS], id;
		int n = 0;

		for (int i = 0; i < 3000; i++) {
			struct clock_change change;
			bool upper = below(3) == 0;
			int64_t late = 1000 + (int64_t)below(20000);
			uint64_t at = from + (uint64_t)i * 300000 - below(1000000);

			if (below(12) == 0)
				offset += signed_below(2000000);
			clock_bound(&clock, at, (int64_t)at + offset + (upper ? late : -late),
				    upper, &change);
			CHECK(clock.n <= CLOCK_SEGMENTS);
			for (uint32_t k = 1; k < clock.n; k++)
				CHECK(clock.segments[k - 1].from_ticks <=
				      clock.segments[k].from_ticks);
			for (int k = 0; k < n && change.changed; k++)
				if (host[k] >= change.from_ns)
					host[k] =
						clock_move(&clock, change.before, host[k], &ids[k]);
			free(change.before);
			if (clock_has(&clock) && i % 10 == 0 && n < SPANS) {
				ticks[n] = at;
				host[n] = clock_map(&clock, at, &ids[n]);
				n++;
			}
		}
		for (int k = 0; k < n; k++)
			if (ids[k] != CLOCK_FIXED && !before_all(&clock, ticks[k]))
				CHECK_INT(host[k], clock_map(&clock, ticks[k], &id));
		clock_release(&clock);
	}
}
