/* SPDX-License-Identifier: MIT */
/* What the host did on the critical path: each edge on the thread that it lies on. */
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/query/time.h"
#include "model/query/work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define MS INT64_C(1000000)
#define STEP (100 * MS)
#define STEPS 10
#define OTHER (PID + 1)			/* another thread of the program */

/* A model that knows the lines 40 to 49 of train.py, as frames of the same number less 39. */
static struct model *path_model(void)
{
	struct model *model = model_with_device();

	apply_one(model, ev_name(30, NAME_SOURCE, "/home/me/train.py"));
	apply_one(model, ev_name(31, NAME_SOURCE, "train"));
	apply_one(model, ev_name(33, NAME_OP, "next_batch"));
	apply_one(model, ev_name(34, NAME_OP, "matmul"));
	for (uint32_t line = 40; line < 50; line++)
		apply_one(model, ev_frame(line - 39, 0, 30, 31, line));
	return model;
}

/* What a thread did at a line, so many milliseconds after t0. */
static void did(struct model *model, int64_t t0, uint32_t tid, enum doing_kind doing,
		uint32_t line, int64_t from_ms, int64_t to_ms)
{
	apply_one(model, ev_doing(tid, doing, line - 39, 0, t0 + from_ms * MS,
				  (to_ms - from_ms) * MS));
}

static void path_op(struct model *model, int64_t t0, uint32_t tid, uint32_t name,
		    int64_t from_ms, int64_t to_ms)
{
	static uint64_t instance;
	struct event event = ev_op(name, ++instance, 0, t0 + from_ms * MS, (to_ms - from_ms) * MS,
				   0);

	event.u.op.tid = tid;
	event.u.op.framework = FW_PYTORCH;
	apply_one(model, event);
}

static void step_ends(struct model *model, int64_t t0, int64_t number)
{
	apply_one(model, (struct event) {
		.type = EVENT_STEP, .pid = PID, .tid = PID, .time_ns = BASE + t0 + STEP,
		.u.step = { .number = number, .start_ns = BASE + t0, .dur_ns = STEP },
	});
}

/* The time of a line in tenths of a millisecond; -1: it has none, or not of that kind. */
static int64_t of_line(const struct host_time_row *rows, size_t n, enum path_kind kind,
		       uint32_t line)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].line == line)
			return rows[i].class == kind ? rows[i].ns / (MS / 10) : -1;
	return -1;
}

/* The mean path, and what the host did on it. */
static size_t path_rows(struct model *model, struct critical_path *path,
			struct host_time_row **rows)
{
	struct path_part *parts;

	model_critical(model, path, 0, &parts);
	free(parts);
	return model_critical_host(model, rows);
}

/* Another thread makes the work of each step, while that of the steps waits for a lock and then for
 * the device. */
static struct model *handed_over(void)
{
	struct model *model = path_model();

	for (int i = 0; i < STEPS; i++) {
		int64_t t0 = i * STEP;
		struct event kernel = ev_launched((uint32_t)i + 1, t0 + 61 * MS, 29 * MS, MS);

		kernel.u.command.tid = OTHER;
		path_op(model, t0, OTHER, 33, 0, 20);
		apply_one(model, kernel);
		apply_one(model, (struct event) {
			.type = EVENT_WAIT, .pid = PID, .tid = PID, .time_ns = BASE + t0 + 90 * MS,
			.u.wait = { .name = 1, .queue = 1, .start_ns = BASE + t0 + 65 * MS,
				    .dur_ns = 25 * MS },
		});
		did(model, t0, PID, DOING_LOCK, 40, 0, 65);
		did(model, t0, PID, DOING_PYTHON, 42, 90, 100);
		did(model, t0, OTHER, DOING_FILE, 43, 0, 20);
		did(model, t0, OTHER, DOING_PYTHON, 41, 20, 50);	/* not the last 10 ms */
		did(model, t0, OTHER, DOING_SLEEP, 44, 61, 100);
		step_ends(model, t0, i);
	}
	model_finish(model, false);
	return model;
}

static void handed_over_rows(const struct critical_path *path, struct host_time_row *rows,
			     size_t n)
{
	CHECK_INT(path->ns[PATH_INPUT] / MS, 20);
	CHECK_INT(path->ns[PATH_HOST] / MS, 50);
	CHECK_INT(of_line(rows, n, PATH_INPUT, 43), 200);
	CHECK_INT(of_line(rows, n, PATH_HOST, 41), 300);
	CHECK_INT(of_line(rows, n, PATH_HOST, 42), 100);
	/* neither the lock nor the sleep: nothing waited for them */
	CHECK_INT(n, 3);
	CHECK_INT(host_time_unknown(rows, n, PATH_HOST, path->ns[PATH_HOST]) / MS, 10);
	CHECK_INT(host_time_unknown(rows, n, PATH_INPUT, path->ns[PATH_INPUT]) / MS, 0);
	CHECK_INT(host_time_unknown(rows, n, PATH_KERNEL, path->ns[PATH_KERNEL]), 0);
	free(rows);
}

TEST(path_host_is_of_the_thread_of_the_edge)
{
	struct model *model = handed_over(), *copy = saved_again(model);

	for (int k = 0; k < 2; k++) {
		struct model *m = k ? copy : model;
		struct critical_path path;
		struct host_time_row *rows;
		size_t n;

		model_lock(m);
		n = path_rows(m, &path, &rows);
		handed_over_rows(&path, rows, n);
		CHECK(model_critical_step(m, BASE + 5 * STEP, &path));
		n = model_critical_step_host(m, BASE + 5 * STEP, &rows);
		handed_over_rows(&path, rows, n);
		CHECK(!model_critical_step_host(m, BASE + 5 * STEP + 1, &rows) && !rows);
		model_unlock(m);
	}
	model_free(model);
	model_free(copy);
}

/* On the processor, what lies between two ops is of their thread or, if they have two, of that of
 * the step. */
TEST(path_host_between_ops)
{
	struct model *model = path_model();
	struct host_time_row *rows;
	struct critical_path path;
	size_t n;

	for (int i = 0; i < STEPS; i++) {
		int64_t t0 = i * STEP;

		path_op(model, t0, PID, 34, 0, 20);
		path_op(model, t0, OTHER, 34, 30, 60);
		path_op(model, t0, OTHER, 34, 65, 80);
		path_op(model, t0, PID, 34, 85, 95);
		did(model, t0, PID, DOING_PYTHON, 40, 20, 30);
		did(model, t0, PID, DOING_LOCK, 41, 30, 80);
		did(model, t0, PID, DOING_PYTHON, 42, 80, 85);
		did(model, t0, OTHER, DOING_LOCK, 44, 0, 30);
		did(model, t0, OTHER, DOING_GC, 43, 60, 65);
		did(model, t0, OTHER, DOING_LOCK, 44, 80, 100);
		step_ends(model, t0, i);
	}
	model_finish(model, false);
	model_lock(model);
	n = path_rows(model, &path, &rows);
	CHECK_INT(path.ns[PATH_HOST] / MS, 25);
	CHECK_INT(of_line(rows, n, PATH_HOST, 40), 100);
	CHECK_INT(of_line(rows, n, PATH_HOST, 42), 50);
	CHECK_INT(of_line(rows, n, PATH_HOST, 43), 50);
	CHECK_INT(n, 3);
	CHECK_INT(host_time_unknown(rows, n, PATH_HOST, path.ns[PATH_HOST]) / MS, 5);
	free(rows);
	model_unlock(model);
	model_free(model);
}

/* Looks that stand for their moments may weigh more than the path has; before there are steps, all
 * is per second, and afterwards that time counts no more. */
TEST(path_host_never_exceeds_the_path)
{
	for (int steps = 0; steps < 2; steps++) {
		struct model *model = path_model();
		int64_t sum = 0, t0 = 0;
		struct host_time_row *rows;
		struct critical_path path;
		size_t n;

		for (int i = 0; i < 60; i++, t0 += STEP) {
			bool in_steps = steps && i >= 40;
			struct event kernel = ev_launched((uint32_t)i + 1, t0 + 90 * MS, 10 * MS,
							  1000);
			struct event look = ev_doing(PID, DOING_PYTHON, in_steps ? 3 : 1, 0,
						     t0 - STEP, 4 * STEP);

			look.u.doing.at_ns = BASE + t0 + 50 * MS;
			look.u.doing.looks = 1;
			apply_one(model, kernel);
			if (i % 4 == 1)
				apply_one(model, look);
			if (in_steps)
				step_ends(model, t0, i);
		}
		model_finish(model, false);
		model_lock(model);
		n = path_rows(model, &path, &rows);
		for (size_t i = 0; i < n; i++)
			sum += rows[i].ns;
		CHECK_INT(path.steps > 0, steps);
		CHECK_INT(n, 1);
		CHECK_INT(rows[0].line, steps ? 42 : 40);
		CHECK(sum > 0 && sum <= path.ns[PATH_HOST]);
		free(rows);
		model_unlock(model);
		model_free(model);
	}
}

/* ---- who makes the next batch ---- */

struct making {
	enum doing_kind own;		/* what the thread of the steps does, at line 40 */
	bool holder;			/* and who holds its lock is known */
	enum doing_kind other;		/* of another thread, at line 44; for so long */
	int64_t other_ms;
	bool on_pool;			/* the op is run by a thread that is not looked at */
	uint32_t line;			/* of which the input is then */
};

static void making_step(struct model *model, const struct making *how, int64_t t0)
{
	struct event own = ev_doing(PID, how->own, 1, 0, t0, 60 * MS);

	own.u.doing.what = how->holder ? 31 : 0;
	path_op(model, t0, how->on_pool ? OTHER + 1 : PID, 33, 0, 60);
	path_op(model, t0, PID, 34, 60, 100);
	apply_one(model, own);
	if (how->other_ms)
		did(model, t0, OTHER, how->other, 44, 0, how->other_ms);
	if (how->other_ms)
		did(model, t0, OTHER, DOING_LOCK, 45, how->other_ms, 100);
}

static void making_check(const struct making *how)
{
	struct model *model = path_model();
	struct host_time_row *rows;
	struct critical_path path;
	size_t n;

	for (int i = 0; i < STEPS; i++) {
		making_step(model, how, i * STEP);
		step_ends(model, i * STEP, i);
	}
	model_finish(model, false);
	model_lock(model);
	n = path_rows(model, &path, &rows);
	CHECK_INT(path.ns[PATH_INPUT] / MS, 60);
	CHECK(n > 0);
	CHECK_INT(rows[0].line, how->line);
	CHECK_INT(rows[0].class, PATH_INPUT);
	free(rows);
	/* where a step goes says the same */
	n = model_step_host_mean(model, &rows);
	CHECK(n > 0);
	CHECK_INT(rows[0].line, how->line);
	CHECK_INT(rows[0].class, STEP_INPUT);
	free(rows);
	model_unlock(model);
	model_free(model);
}

TEST(path_host_input_is_of_who_makes_it)
{
	static const struct making cases[] = {
		{ DOING_LOCK, false, DOING_SLEEP, 60, false, 44 },
		{ DOING_LOCK, false, DOING_PYTHON, 50, false, 44 },
		{ DOING_LOCK, false, DOING_SLEEP, 60, true, 44 },
		/* nobody makes it for most of the time */
		{ DOING_LOCK, false, DOING_PYTHON, 20, false, 40 },
		{ DOING_LOCK, false, DOING_LOCK, 60, false, 40 },
		{ DOING_LOCK, false, DOING_OTHER, 0, true, 40 },
		/* it does that itself, or waits for something else */
		{ DOING_FILE, false, DOING_SLEEP, 60, false, 40 },
		{ DOING_PIPE, false, DOING_SLEEP, 60, false, 40 },
		{ DOING_LOCK, true, DOING_SLEEP, 60, false, 40 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		making_check(&cases[i]);
}
