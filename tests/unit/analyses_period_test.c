/* SPDX-License-Identifier: MIT */
/* Steps that nothing marks: found where there are some, and not elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)

struct loop {
	struct model *model;
	uint32_t correlation;
	int64_t now_ns;
};

static void loop_new(struct loop *loop)
{
	*loop = (struct loop) { .model = model_with_device() };
	for (uint32_t i = 0; i < 40; i++) {
		char text[] = { 'k', (char)('a' + i % 26), (char)('a' + i / 26), '\0' };

		apply_one(loop->model, ev_name(100 + i, NAME_KERNEL, text));
	}
}

static void run(struct loop *loop, uint32_t name, int64_t pause_ns, int64_t dur_ns)
{
	loop->now_ns += pause_ns;
	apply_one(loop->model, ev_kernel(100 + name, 1, ++loop->correlation, loop->now_ns, dur_ns));
	loop->now_ns += dur_ns;
}

/* Around us, up to half more or less. */
static int64_t about(int64_t us)
{
	return us * US / 2 + (int64_t)test_below((uint64_t)(us * US) + 1);
}

static size_t steps_of(struct loop *loop, struct step_stats *stats, struct step_row **rows)
{
	size_t n;

	model_finish(loop->model, false);
	model_lock(loop->model);
	n = model_steps(loop->model, stats, rows);
	model_unlock(loop->model);
	return n;
}

/* 10 kernels a layer, 3 of them in each of 4 layers, jitter of half of
 * everything, and every tenth step one more thing. */
TEST(analyses_period_is_found_in_noise)
{
	enum { STEPS = 60 };
	int64_t begins[STEPS];
	struct step_stats stats;
	struct step_row *rows;
	struct loop loop;
	size_t n;

	loop_new(&loop);
	for (int step = 0; step < STEPS; step++) {
		/* The first work after the wait. */
		run(&loop, 0, about(900), about(20));
		begins[step] = BASE + loop.now_ns;
		for (int layer = 0; layer < 4; layer++) {
			for (uint32_t k = 0; k < 3; k++)
				run(&loop, 1 + k, about(3), about(200));
			run(&loop, 5 + (uint32_t)layer, about(3), about(30));
		}
		if (step % 10 == 9)
			run(&loop, 20, about(10), about(400));
		apply_one(loop.model, ev_alive(BASE + loop.now_ns));
	}
	n = steps_of(&loop, &stats, &rows);
	CHECK_INT(n, STEPS - 1);
	CHECK_STR(stats.source, "a guess: period of kaa");
	for (size_t i = 0; i < n; i++) {
		CHECK(begins[i] > rows[i].start_ns && begins[i] - rows[i].start_ns <= 30 * US);
		CHECK_INT(rows[i].start_ns + rows[i].dur_ns, i + 1 < n ? rows[i + 1].start_ns :
			  rows[i].start_ns + rows[i].dur_ns);
	}
	free(rows);
	model_free(loop.model);
}

/* All that runs runs several times: every third of them begins a step. */
TEST(analyses_period_of_a_name_that_repeats)
{
	struct step_stats stats;
	struct step_row *rows;
	struct loop loop;
	size_t n;

	loop_new(&loop);
	for (int step = 0; step < 80; step++)
		for (int i = 0; i < 3; i++) {
			run(&loop, 0, i ? 5 * US : 500 * US, 100 * US);
			for (int k = 0; k <= i; k++)
				run(&loop, 1, 5 * US, 40 * US);
		}
	n = steps_of(&loop, &stats, &rows);
	CHECK_INT(n, 79);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(rows[i].dur_ns, 500 * US + 2 * 5 * US + 3 * 100 * US + 6 * 45 * US);
	free(rows);
	model_free(loop.model);
}

/* A pause is in no step, and what comes after it goes on. */
TEST(analyses_period_leaves_pauses_out)
{
	struct step_stats stats;
	struct step_row *rows;
	struct loop loop;
	size_t n;

	loop_new(&loop);
	for (int step = 0; step < 60; step++) {
		if (step == 40)
			loop.now_ns += 100000 * US;
		for (uint32_t k = 0; k < 8; k++)
			run(&loop, k, k ? 5 * US : 200 * US, 100 * US);
	}
	n = steps_of(&loop, &stats, &rows);
	CHECK_INT(n, 58);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(rows[i].dur_ns, 200 * US + 7 * 5 * US + 8 * 100 * US);
	free(rows);
	model_free(loop.model);
}

static void none(struct loop *loop)
{
	struct step_stats stats;
	struct step_row *rows;

	CHECK_INT(steps_of(loop, &stats, &rows), 0);
	free(rows);
	model_free(loop->model);
}

TEST(analyses_period_is_not_seen_where_there_is_none)
{
	struct loop loop;

	loop_new(&loop);
	for (int i = 0; i < 3000; i++)
		run(&loop, (uint32_t)test_below(30), about(5), about(50));
	none(&loop);
	/* One kernel over and over. */
	loop_new(&loop);
	for (int i = 0; i < 3000; i++)
		run(&loop, 0, 5 * US, 50 * US);
	none(&loop);
	/* Seven turns are too few. */
	loop_new(&loop);
	for (int i = 0; i < 7 * 20; i++)
		run(&loop, (uint32_t)i % 20, 5 * US, 50 * US);
	none(&loop);
}

/* What one thread runs over and over, another one's loop now and then in between: where
 * the look falls must not make each of its runs a step. */
TEST(analyses_period_is_no_single_run)
{
	struct step_stats stats;
	struct step_row *rows;
	struct loop loop;

	for (uint32_t last = 0; last < 8; last++) {
		loop_new(&loop);
		for (uint32_t i = 0; i < 110 + last; i++)
			run(&loop, 0, 5 * US, 5 * US);
		for (uint32_t step = 0; step < 200; step++) {
			run(&loop, 1, 100 * US, 20 * US);
			run(&loop, 2, 5 * US, 60 * US);
			run(&loop, 0, 5 * US, 5 * US);
			run(&loop, 3, 5 * US, 25 * US);
		}
		CHECK(steps_of(&loop, &stats, &rows) <= 199);
		CHECK_STR(stats.source, "a guess: period of kba");
		free(rows);
		model_free(loop.model);
	}
}

/* An evaluation between two parts of a training: its steps are not the training's. */
TEST(analyses_period_of_two_loops_is_two_series)
{
	struct step_stats stats;
	struct step_row *rows;
	struct loop loop;
	size_t n;

	loop_new(&loop);
	for (int part = 0; part < 2; part++) {
		for (int step = 0; step < 100; step++)
			for (uint32_t k = 0; k < 8; k++)
				run(&loop, k, k ? 5 * US : 50 * US, 100 * US);
		for (int step = 0; step < 300 && !part; step++)
			for (uint32_t k = 10; k < 14; k++)
				run(&loop, k, k > 10 ? 5 * US : 50 * US, 90 * US);
	}
	n = steps_of(&loop, &stats, &rows);
	CHECK(n > 100);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(rows[i].dur_ns, rows[0].dur_ns);
	free(rows);
	model_free(loop.model);
}

/* A mark of the program is always better. */
TEST(analyses_period_gives_way_to_marks)
{
	struct step_stats stats;
	struct step_row *rows;
	struct loop loop;

	loop_new(&loop);
	apply_one(loop.model, ev_name(99, NAME_RANGE, "step"));
	for (int step = 0; step < 40; step++) {
		int64_t begin = loop.now_ns;

		for (uint32_t k = 0; k < 8; k++)
			run(&loop, k, 5 * US, 100 * US);
		if (step >= 30)
			apply_one(loop.model, ev_op(99, (uint64_t)step, 0, begin,
						    loop.now_ns - begin, OP_RANGE));
		apply_one(loop.model, ev_alive(BASE + loop.now_ns));
	}
	CHECK_INT(steps_of(&loop, &stats, &rows), 10);
	CHECK_STR(stats.source, "range step");
	free(rows);
	model_free(loop.model);
}
