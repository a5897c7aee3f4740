/* SPDX-License-Identifier: MIT */
/* The time window against what its header promises, on random walks. */
#include "tests/unit/test.h"
#include "tui/draw/window.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)
#define FAR (INT64_C(1) << 61)

static bool sound(const struct window *w)
{
	int64_t column = window_column_ns(w);

	return w->columns >= 1 && w->columns <= WINDOW_COLUMNS_MAX && w->level >= 0 &&
	       w->level <= WINDOW_LEVEL_MAX && column >= 1 && w->t0_ns % column == 0 &&
	       window_end_ns(w) == w->t0_ns + w->columns * column && window_end_ns(w) > w->t0_ns;
}

TEST(window_levels_grow_by_the_root_of_two)
{
	int level;

	for (level = 0; level + 2 <= WINDOW_LEVEL_MAX; level++) {
		CHECK(window_level_ns(level) <= window_level_ns(level + 1));
		CHECK(level % 2 || window_level_ns(level + 2) == 2 * window_level_ns(level));
	}
	for (level = 14; level < WINDOW_LEVEL_MAX; level++) {
		int64_t here = window_level_ns(level), next = window_level_ns(level + 1);

		CHECK(next * 100 >= here * 140 && next * 100 <= here * 143);
	}
}

TEST(window_fits)
{
	struct window w;

	window_fit(&w, 100, 3 * SECOND, 4 * SECOND);
	CHECK(sound(&w));
	CHECK(w.t0_ns <= 3 * SECOND && window_end_ns(&w) > 4 * SECOND);
	CHECK(window_end_ns(&w) - w.t0_ns < 2 * SECOND);
	window_fit(&w, 100, SECOND, SECOND);
	CHECK(sound(&w) && w.level == 0 && window_column_of(&w, SECOND) == 0);
	window_fit(&w, 1, -FAR, FAR);
	CHECK(sound(&w) && w.level == WINDOW_LEVEL_MAX);
	window_fit(&w, 0, 5, 3);
	CHECK(sound(&w) && w.columns == 1);
}

TEST(window_zoom_keeps_the_anchor_in_its_column)
{
	struct window w;
	int64_t anchor = 3700 * MS, column;
	int i;

	window_fit(&w, 120, 0, 10 * SECOND);
	column = window_column_of(&w, anchor);
	for (i = 0; i < 40; i++) {
		window_zoom(&w, -1, anchor);
		CHECK(sound(&w));
		CHECK(window_column_of(&w, anchor) == column);
	}
	for (i = 0; i < 80; i++) {
		window_zoom(&w, 1, anchor);
		CHECK(sound(&w));
		CHECK(window_column_of(&w, anchor) == column);
	}
	/* a press always does something until the end is reached */
	window_fit(&w, 120, 0, 10 * SECOND);
	for (i = 0; w.level > 0; i++) {
		int64_t before = window_column_ns(&w);

		window_zoom(&w, -1, anchor);
		CHECK(window_column_ns(&w) < before || w.level == 0);
		CHECK(i < WINDOW_LEVEL_MAX);
	}
	window_zoom(&w, -1, anchor);
	CHECK(w.level == 0);
	window_zoom(&w, 10000, anchor);
	CHECK(w.level == WINDOW_LEVEL_MAX && sound(&w));
}

TEST(window_pans_by_whole_columns)
{
	struct window w;
	int64_t t0;

	window_fit(&w, 104, 0, 2 * SECOND);
	t0 = w.t0_ns;
	window_pan(&w, 10);
	CHECK(w.t0_ns == t0 + 10 * window_column_ns(&w));
	window_pan(&w, -10);
	CHECK(w.t0_ns == t0);
	window_pan(&w, 50);
	CHECK(w.t0_ns == t0 + 52 * window_column_ns(&w));
	w.columns = 5;
	t0 = w.t0_ns;
	window_pan(&w, 10);
	CHECK(w.t0_ns == t0 + window_column_ns(&w));
	window_pan(&w, -10);
	CHECK(w.t0_ns == t0);
}

TEST(window_shows_with_a_margin)
{
	struct window w;
	int64_t t0;

	window_fit(&w, 80, 0, SECOND);
	t0 = w.t0_ns;
	CHECK(!window_show(&w, SECOND / 2) && w.t0_ns == t0);
	CHECK(window_show(&w, 5 * SECOND));
	CHECK(window_column_of(&w, 5 * SECOND) == 69);
	CHECK(window_show(&w, 2 * SECOND));
	CHECK(window_column_of(&w, 2 * SECOND) == 10);
}

TEST(window_clamps_to_what_there_is)
{
	struct window w;

	window_fit(&w, 80, 0, SECOND);
	window_place(&w, 90 * SECOND, 0);
	window_clamp(&w, 0, 10 * SECOND);
	CHECK(sound(&w) && window_column_of(&w, 10 * SECOND) == 0);
	window_place(&w, -90 * SECOND, 0);
	window_clamp(&w, 0, 10 * SECOND);
	CHECK(sound(&w) && window_column_of(&w, 0) == 79);
	window_clamp(&w, 5, 4);
	CHECK(sound(&w));
}

/* The window stands still while the edge sweeps, and jumps at the mark. */
TEST(window_follows_by_sweep)
{
	struct window w;
	int64_t live, last_t0;
	int jumps = 0;

	window_fit(&w, 100, 0, 2 * SECOND);
	last_t0 = w.t0_ns;
	for (live = 0; live < 20 * SECOND; live += 10 * MS) {
		bool jumped = window_follow(&w, live, 90, 35);
		int64_t at = window_column_of(&w, live);

		CHECK(sound(&w));
		CHECK(jumped == (w.t0_ns != last_t0));
		CHECK(at >= 0 && at < 90);
		if (jumped)
			CHECK(at == 35);
		jumps += jumped;
		last_t0 = w.t0_ns;
	}
	/* 20 s, each jump 55 of 100 columns of 2^25 / 2 ns or so */
	CHECK(jumps >= 10 && jumps <= 20);
	/* far away: it comes at once, from either side */
	CHECK(window_follow(&w, 500 * SECOND, 90, 35));
	CHECK(window_column_of(&w, 500 * SECOND) == 35);
	CHECK(window_follow(&w, SECOND, 90, 35));
	/* it stays with one column, and when asked to jump past the mark */
	w.columns = 1;
	window_follow(&w, 7 * SECOND, 90, 35);
	CHECK(window_column_of(&w, 7 * SECOND) == 0);
	w.columns = 100;
	window_follow(&w, 70 * SECOND, 50, 80);
	CHECK(window_column_of(&w, 70 * SECOND) < 50);
	CHECK(!window_follow(&w, 70 * SECOND, 50, 80));
}

TEST(window_random_walk_stays_sound)
{
	struct window w;
	int i;

	window_fit(&w, 77, 0, SECOND);
	for (i = 0; i < 200000; i++) {
		uint64_t seed = test_random();
		int64_t t = (int64_t)(seed >> (seed >> 58)) - (int64_t)(seed >> 3);
		switch (seed >> 33 & 7) {
		case 0: window_zoom(&w, (int)(seed >> 40 & 15) - 8, t); break;
		case 1: window_pan(&w, (int)(seed >> 40 & 255) - 128); break;
		case 2: window_show(&w, t); break;
		case 3: window_place(&w, t, (int)(seed >> 40 & 127) % 101); break;
		case 4: window_clamp(&w, t, t + (int64_t)(seed & 0xffffffff)); break;
		case 5: window_follow(&w, t, 90, 35); break;
		case 6: window_resize(&w, (int)(seed >> 40 & 1023)); break;
		default: window_fit(&w, (int)(seed >> 40 & 511), t, -t); break;
		}
		CHECK(sound(&w));
	}
}
