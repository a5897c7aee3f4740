/* SPDX-License-Identifier: MIT */
/* The list of steps that is kept up to date, against one that is made of all. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)

static void apply_mark(struct model *model, int64_t number, int64_t start_ns, int64_t dur_ns)
{
	struct event step = {
		.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + start_ns + dur_ns,
		.u.step = { .number = number, .start_ns = BASE + start_ns, .dur_ns = dur_ns },
	};

	apply_one(model, step);
}

static void apply_compiled(struct model *model, int64_t start_ns, int64_t dur_ns)
{
	struct event compile = {
		.type = EVENT_COMPILE, .pid = PID, .tid = PID, .time_ns = BASE + start_ns + dur_ns,
		.u.compile = { .start_ns = BASE + start_ns, .dur_ns = dur_ns, .what = "step",
			       .options = "", .log = "" },
	};

	apply_one(model, compile);
}

static void check_same(struct model *model, const struct step_list *list)
{
	struct step_stats stats;
	struct step_row *rows;
	size_t n = model_steps(model, &stats, &rows), steady = 0, outliers = 0, compiled = 0;
	int64_t sum_ns = 0;

	CHECK_INT(list->n, n);
	CHECK(memcmp(&list->stats, &stats, sizeof(stats)) == 0);
	for (size_t i = 0; i < n; i++) {
		const struct step_row *row = &list->rows[i];

		CHECK(row->start_ns == rows[i].start_ns && row->dur_ns == rows[i].dur_ns &&
		      row->number == rows[i].number && row->warm_up == rows[i].warm_up &&
		      row->compiled == rows[i].compiled && row->outlier == rows[i].outlier);
		CHECK(!i || rows[i - 1].start_ns <= rows[i].start_ns);
		CHECK(row->warm_up == (i < stats.warm_up));
		outliers += row->outlier && !row->warm_up;
		compiled += row->compiled && !row->warm_up;
		if (row->warm_up || row->compiled)
			continue;
		steady++;
		sum_ns += row->dur_ns;
	}
	CHECK_INT(stats.outliers, outliers);
	CHECK_INT(stats.compiled, compiled);
	CHECK_INT(stats.steady_ns, steady ? sum_ns / (int64_t)steady : -1);
	free(rows);
}

#define COMPILE_NS (2 * MS)

/* Steps after the warm-up of which what was compiled took a tenth and more. */
static size_t with_compiling(const struct step_list *list, const int64_t *told_ns, size_t n_told)
{
	size_t n = 0;

	for (size_t i = list->stats.warm_up; i < list->n; i++) {
		int64_t begin = list->rows[i].start_ns, end = begin + list->rows[i].dur_ns, in = 0;

		for (size_t k = 0; k < n_told; k++) {
			int64_t from = BASE + told_ns[k], to = from + COMPILE_NS;

			from = from > begin ? from : begin;
			to = to < end ? to : end;
			in += to > from ? to - from : 0;
		}
		n += in >= list->rows[i].dur_ns / 10;
	}
	return n;
}

/* Steps of two speeds, some late, some that compile, told at once or later. */
TEST(model_steps_are_kept_up_to_date)
{
	struct model *model = model_with_device();
	struct step_list list = { .rows = NULL };
	int64_t at = 0, compiled_at = 0, late_at = 0, told_ns[3000];
	size_t told = 0;

	CHECK(!model_steps_update(model, &list));
	for (int i = 0; i < 3000; i++) {
		int64_t dur = (i / 700 % 2 ? 9 : 5) * MS + (int64_t)test_below(MS);
		bool compiles = i % 50 == 0 || test_below(100) == 0;

		if (compiles)
			dur *= 3;
		if (compiles && !compiled_at)
			compiled_at = at;
		if (test_below(20) == 0 && !late_at)
			late_at = at;	/* it comes after the next */
		else
			apply_mark(model, i, at, dur);
		at += dur;
		if (late_at && test_below(3) == 0 && late_at < at - dur) {
			apply_mark(model, i, late_at, 5 * MS);
			late_at = 0;
		}
		if (compiled_at && test_below(2)) {
			apply_compiled(model, compiled_at, COMPILE_NS);
			told_ns[told++] = compiled_at;
			compiled_at = 0;
		}
		if (test_below(10) == 0) {
			model_steps_update(model, &list);
			check_same(model, &list);
		}
	}
	model_steps_update(model, &list);
	CHECK(!model_steps_update(model, &list));
	check_same(model, &list);
	CHECK_INT(list.stats.compiled, with_compiling(&list, told_ns, told));
	CHECK(list.stats.compiled > 20);
	step_list_release(&list);
	model_free(model);
}

/* A step that compiles is in no steady time, after the warm-up either. */
TEST(model_steps_that_compile)
{
	static const int64_t compiling_ms[] = { 60, 40, 20, 5, 0, 0, 1, 0, 30, 0 };
	struct model *model = model_with_device();
	struct step_stats stats;
	struct step_row *rows;
	int64_t at = 0;

	for (int i = 0; i < 10; i++) {
		int64_t compiling = compiling_ms[i] * MS, dur = 20 * MS + compiling;

		if (compiling)
			apply_compiled(model, at, compiling);
		apply_mark(model, i, at, dur);
		at += dur;
	}
	CHECK_INT(model_steps(model, &stats, &rows), 10);
	CHECK_INT(stats.warm_up, 2);
	CHECK_INT(stats.compiled, 3);
	CHECK(rows[8].compiled && !rows[6].compiled);
	CHECK_INT(stats.mean_ns, (200 + 156) * MS / 10);
	CHECK_INT(stats.steady_ns, (20 * 5 + 1) * MS / 5);
	free(rows);
	model_free(model);
}

/* What lies between two steps is in none of them, and in the rate. */
TEST(model_steps_from_one_to_the_next)
{
	struct model *model = model_with_device();
	struct step_stats stats;
	struct step_row *rows;

	apply_mark(model, 0, 0, 20 * MS);
	model_steps(model, &stats, &rows);
	CHECK_INT(stats.period_ns, -1);
	free(rows);
	for (int i = 1; i < 5; i++)
		apply_mark(model, i, i * 50 * MS, 20 * MS);
	model_steps(model, &stats, &rows);
	CHECK_INT(stats.period_ns, 50 * MS);
	CHECK_INT(stats.mean_ns, 20 * MS);
	free(rows);
	model_free(model);
}
