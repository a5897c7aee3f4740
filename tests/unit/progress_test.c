/* SPDX-License-Identifier: MIT */
/* Steps: steady or not, how fast, how long they will take. */
#include <string.h>

#include "model/base/util.h"
#include "tests/unit/test.h"
#include "tui/run/progress.h"

#define STEPS 400

static struct step_row rows[STEPS];
static struct step_list list;
static struct settings settings;

/* n steps of ms[i % m] each, one after the other. */
static void make(size_t n, int64_t first, const int *ms, size_t m)
{
	int64_t at_ns = 1000;

	memset(rows, 0, sizeof(rows));
	settings_init(&settings);
	list = (struct step_list){ .rows = rows, .n = n, .stats.period_ns = -1 };
	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct step_row){ .number = first + (int64_t)i, .start_ns = at_ns,
					     .dur_ns = ms[i % m] * 1000000LL };
		at_ns += rows[i].dur_ns;
	}
}

static const char *said(bool ended)
{
	static char text[256];
	struct progress p;

	progress_of(&list, &settings, ended, &p);
	return progress_sentence(&p, text, sizeof(text));
}

TEST(progress_of_nothing)
{
	make(0, 0, (int[]){ 1 }, 1);
	CHECK_STR(said(false), "no steps");
	make(1, 0, (int[]){ 1 }, 1);
	CHECK_STR(said(false), "too few steps to say whether they are steady");
}

TEST(progress_steady_from_the_start_and_after_a_slow_one)
{
	struct progress p;

	make(100, 1, (int[]){ 10 }, 1);
	CHECK_STR(said(false), "steady since step 1 · now 100.0 steps/s");
	for (size_t i = 0; i < 20; i++)
		rows[i].dur_ns *= 3;
	progress_of(&list, &settings, false, &p);
	CHECK_INT(p.state, PROGRESS_STEADY);
	CHECK_INT(p.since, 21);
	/* one slow step is no end of it */
	rows[60].dur_ns *= 10;
	progress_of(&list, &settings, false, &p);
	CHECK_INT(p.since, 21);
}

TEST(progress_that_moves)
{
	struct progress p;

	make(100, 1, (int[]){ 10 }, 1);
	for (size_t i = 95; i < 100; i++)
		rows[i].dur_ns = 15000000;
	progress_of(&list, &settings, false, &p);
	CHECK_INT(p.state, PROGRESS_MOVING);
	CHECK(p.change_milli > 490 && p.change_milli <= 500);
	CHECK(strstr(said(false), "not steady: the last 5 steps took 4") != NULL);
	CHECK(strstr(said(false), "% more than those before") != NULL);
	rows[97].compiled = true;
	CHECK(strstr(said(false), "warming up: 1 of the last 10 steps") != NULL);
}

TEST(progress_to_go)
{
	struct progress p;

	make(100, 1, (int[]){ 10 }, 1);
	settings.value[SETTING_STEPS_TOTAL] = 1100;
	settings.value[SETTING_SAMPLES_PER_STEP] = 64;
	progress_of(&list, &settings, false, &p);
	CHECK_INT(p.done, 100);
	CHECK_INT(p.left_ns, 10000000000LL);
	CHECK_STR(said(false), "steady since step 1 · now 100.0 steps/s · "
			       "6 400 samples/s · 100 of 1100 steps · to go 0:00:10.0");
	CHECK(!strstr(said(true), "to go"));
	/* numbers from 0 on, and more than were said */
	make(100, 0, (int[]){ 10 }, 1);
	settings.value[SETTING_STEPS_TOTAL] = 60;
	progress_of(&list, &settings, false, &p);
	CHECK_INT(p.done, 100);
	CHECK_INT(p.left_ns, 0);
}

TEST(progress_of_steps_without_time)
{
	struct progress p;

	make(50, 0, (int[]){ 0 }, 1);
	progress_of(&list, &settings, false, &p);
	CHECK_INT(p.period_ns, 0);
	CHECK_STR(said(false), "steady since step 0");
	progress_of(&list, NULL, false, &p);
	CHECK_INT(p.total, 0);
}

/* While the run goes on, the rate is the present one; afterwards it is that of the report. */
TEST(progress_rate_of_an_ended_run)
{
	make(100, 0, (int[]){ 10 }, 1);
	for (size_t i = 50; i < 100; i++)
		rows[i].start_ns = rows[i - 1].start_ns + 20000000;
	list.stats.period_ns = (rows[99].start_ns - rows[0].start_ns) / 99;
	CHECK(strstr(said(false), "now 50.0 steps/s") != NULL);
	CHECK(strstr(said(true), " · 66.4 steps/s") != NULL);
}

/* Steps that go from one level to another are not noise that hides the change. */
TEST(progress_steady_since_the_last_level)
{
	static const int levels[] = { 51, 19, 48, 95, 64 };
	struct progress p;

	make(60, 0, (int[]){ 1 }, 1);
	for (size_t i = 0; i < 60; i++)
		rows[i].dur_ns = (levels[i / 12] + (int)(i % 3)) * 1000000LL;
	list.stats.mad_ns = 14000000;
	progress_of(&list, &settings, false, &p);
	CHECK_INT(p.state, PROGRESS_STEADY);
	CHECK(p.since >= 45 && p.since <= 50);
}
