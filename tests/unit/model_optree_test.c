/* SPDX-License-Identifier: MIT */
/* The tree of calls against a recursion that adds up what it makes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/query/optree.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define PATHS 4096
#define THREADS 2
#define STEPS 6
#define EVENTS 20000
#define MS INT64_C(1000000)

/* What a path of ops should come to. */
struct path {
	char name[80];			/* "/step #/kernel3" */
	uint64_t count, kernels, copies, bytes;
	int64_t total_ns, device_ns, wait_ns, max_ns, children_ns;
};

/* A made-up run: its events, and the sums in all and of one step. */
struct run {
	struct event *events;
	size_t n;
	struct path *all, *one;
	size_t n_all, n_one;
	bool in_step;
	uint64_t instances;
	uint32_t correlations;
	int64_t device_ns;
	int64_t step_t0, step_t1;
};

static struct path *path_get(struct path *list, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	CHECK(*n < PATHS);
	memset(&list[*n], 0, sizeof(*list));
	snprintf(list[*n].name, sizeof(list[*n].name), "%s", name);
	return &list[(*n)++];
}

static struct event *add(struct run *run, struct event event, int64_t written_ns, uint32_t tid)
{
	CHECK(run->n < EVENTS);
	event.tid = tid;
	event.time_ns = BASE + written_ns;
	run->events[run->n] = event;
	return &run->events[run->n++];
}

static int64_t launch(struct run *run, const char *path, uint32_t tid, uint64_t op, uint32_t name,
		      int64_t t)
{
	bool kernel = test_below(3) > 0;
	int64_t dur = 1000 + (int64_t)test_below(90000);
	uint64_t bytes = 1 + test_below(100000);
	struct event event;

	if (run->device_ns < t + 2000)
		run->device_ns = t + 2000;
	event = kernel ? ev_kernel(9, 1, ++run->correlations, run->device_ns, dur) :
			 ev_copy(1, DIR_H2D, bytes, run->device_ns, dur);
	event.u.command.correlation = kernel ? run->correlations : ++run->correlations;
	event.u.command.op = op;
	event.u.command.op_name = name;
	event.u.command.tid = tid;
	event.u.command.call_ns = BASE + t;
	event.u.command.how = HOW_EXACT;
	run->device_ns += dur;
	add(run, event, run->device_ns, tid);
	for (int k = 0; k < 1 + run->in_step; k++) {
		struct path *to = k ? path_get(run->one, &run->n_one, path) :
				      path_get(run->all, &run->n_all, path);

		to->device_ns += dur;
		to->kernels += kernel;
		to->copies += !kernel;
		to->bytes += kernel ? 0 : bytes;
	}
	return t + 5000;
}

static int64_t wait(struct run *run, const char *path, uint32_t tid, int64_t t)
{
	int64_t dur = 1000 + (int64_t)test_below(200000);
	struct event event = { .type = EVENT_WAIT, .pid = PID };

	event.u.wait = (struct event_wait) { .name = 8, .start_ns = BASE + t, .dur_ns = dur };
	add(run, event, t + dur, tid);
	path_get(run->all, &run->n_all, path)->wait_ns += dur;
	if (run->in_step)
		path_get(run->one, &run->n_one, path)->wait_ns += dur;
	return t + dur + 100;
}

static void count(struct path *list, size_t *n, const char *path, int64_t dur)
{
	struct path *to = path_get(list, n, path);
	char above[80];

	to->count++;
	to->total_ns += dur;
	to->max_ns = dur > to->max_ns ? dur : to->max_ns;
	snprintf(above, sizeof(above), "%s", path);
	*strrchr(above, '/') = '\0';
	if (*above)
		path_get(list, n, above)->children_ns += dur;
}

/* An op with what it does; returns its end. Ids of names 1 ... 7, steps 20 + i. */
static int64_t op(struct run *run, const char *above, uint32_t tid, uint64_t parent,
		  unsigned depth, uint32_t name, int64_t t)
{
	uint64_t instance = ++run->instances;
	int64_t start = t;
	struct event event;
	char path[80];

	if (name >= 20)
		snprintf(path, sizeof(path), "%s/step #", above);
	else
		snprintf(path, sizeof(path), "%s/kernel%u", above, name);
	t += 1000;
	for (uint64_t i = test_below(depth ? 4 : 8); i > 0; i--) {
		switch (test_below(depth < 4 ? 4 : 2)) {
		case 0:
			t = launch(run, path, tid, instance, name, t);
			break;
		case 1:
			t = wait(run, path, tid, t);
			break;
		default:
			t = op(run, path, tid, instance, depth + 1, 1 + (uint32_t)test_below(7), t);
		}
	}
	t += 1000 + (int64_t)test_below(depth ? 100000 : 30 * MS);
	event = ev_op(name, instance, parent, start, t - start, name >= 20 ? OP_RANGE : 0);
	event.u.op.tid = tid;
	event.u.op.depth = (uint16_t)depth;
	add(run, event, t, tid);
	if (t - start > 10 * MS) {
		event.u.op.dur_ns = -1;
		add(run, event, start + 10 * MS, tid);
	}
	count(run->all, &run->n_all, path, t - start);
	if (run->in_step)
		count(run->one, &run->n_one, path, t - start);
	return t + 500;
}

static void run_make(struct run *run)
{
	int64_t t = 1000;

	memset(run, 0, sizeof(*run));
	run->events = calloc(EVENTS, sizeof(*run->events));
	run->all = calloc(PATHS, sizeof(*run->all));
	run->one = calloc(PATHS, sizeof(*run->one));
	for (uint32_t i = 0; i < STEPS; i++) {
		run->in_step = i == STEPS / 2;
		if (run->in_step)
			run->step_t0 = BASE + t;
		t = op(run, "", PID, 0, 0, 20 + i, t);
		if (run->in_step)
			run->step_t1 = BASE + t - 500;
	}
	run->in_step = false;
	t = 2000;
	for (int i = 0; i < 20; i++)
		t = op(run, "", PID + 1, 0, 0, 1 + (uint32_t)test_below(7), t);
}

static void run_release(struct run *run)
{
	free(run->events);
	free(run->all);
	free(run->one);
}

static struct model *run_model(void)
{
	struct model *model = model_with_device();
	char name[16];

	for (uint32_t i = 0; i < STEPS; i++) {
		snprintf(name, sizeof(name), "step %u", i);
		apply_one(model, ev_name(20 + i, NAME_RANGE, name));
	}
	return model;
}

/* Sums over a path and all that is below it. */
static struct path below(const struct path *list, size_t n, const char *name)
{
	struct path sum = { .count = 0 };
	size_t length = strlen(name);

	for (size_t i = 0; i < n; i++) {
		if (strncmp(list[i].name, name, length) ||
		    (list[i].name[length] && list[i].name[length] != '/'))
			continue;
		sum.kernels += list[i].kernels;
		sum.copies += list[i].copies;
		sum.bytes += list[i].bytes;
		sum.device_ns += list[i].device_ns;
		sum.wait_ns += list[i].wait_ns;
	}
	return sum;
}

static void check_tree(struct model *model, struct optree_question question,
		       const struct path *list, size_t n)
{
	char paths[PATHS / 8][80];
	struct optree_row *rows;
	bool waits;
	size_t got;

	model_lock(model);
	got = model_optree(model, &question, &waits, &rows);
	model_unlock(model);
	CHECK(waits);
	CHECK_INT(got, n);
	for (size_t i = 0; i < got; i++) {
		const struct optree_row *row = &rows[i];
		const struct path *want = NULL;
		struct path sum;

		CHECK(row->parent == OPTREE_TOP || row->parent < i);
		CHECK_INT(row->depth, row->parent == OPTREE_TOP ? 0 : rows[row->parent].depth + 1);
		snprintf(paths[i], sizeof(paths[i]), "%.60s/%.12s",
			 row->parent == OPTREE_TOP ? "" : paths[row->parent], row->name);
		for (size_t k = 0; k < n && !want; k++)
			if (!strcmp(list[k].name, paths[i]))
				want = &list[k];
		CHECK(want != NULL);
		sum = below(list, n, paths[i]);
		CHECK_INT(row->count, want->count);
		CHECK_INT(row->total_ns, want->total_ns);
		CHECK_INT(row->self_ns, want->total_ns - want->children_ns);
		CHECK_INT(row->max_ns, want->max_ns);
		CHECK_INT(row->device_self_ns, want->device_ns);
		CHECK_INT(row->device_ns, sum.device_ns);
		CHECK_INT(row->kernels, sum.kernels);
		CHECK_INT(row->copies, sum.copies);
		CHECK_INT(row->copy_bytes, sum.bytes);
		CHECK_INT(row->wait_ns, sum.wait_ns);
		/* The dearest of those beside it comes first. */
		for (size_t k = 0; k < i; k++)
			if (rows[k].parent == row->parent)
				CHECK(rows[k].device_ns >= row->device_ns);
	}
	free(rows);
}

static void check_run(struct model *model, const struct run *run)
{
	check_tree(model, (struct optree_question) { .row = 0 }, run->all, run->n_all);
	check_tree(model, (struct optree_question) { .t0 = run->step_t0, .t1 = run->step_t1,
						     .row = row_of(model, ROW_THREAD, 0).id },
		   run->one, run->n_one);
	CHECK_INT(model_optree_dropped(model), 0);
	CHECK_INT(status_of(model).bad, 0);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

TEST(optree_in_any_order)
{
	struct run run;

	for (int round = 0; round < 20; round++) {
		struct model *model = run_model();

		run_make(&run);
		for (size_t i = run.n; i > 1; i--) {
			size_t other = test_below(i);
			struct event swap = run.events[i - 1];

			run.events[i - 1] = run.events[other];
			run.events[other] = swap;
		}
		for (size_t i = 0; i < run.n; i++) {
			struct optree_question all = { .row = 0 };
			struct optree_row *rows;
			bool waits;

			apply_one(model, run.events[i]);
			if (test_below(100))
				continue;
			model_lock(model);
			model_optree(model, &all, &waits, &rows);
			model_unlock(model);
			free(rows);
		}
		model_finish(model, false);
		check_run(model, &run);
		run_release(&run);
		model_free(model);
	}
}

/* As it is live: in order of writing but for a millisecond, with what lasts
 * long announced, settled step by step. */
TEST(optree_as_it_settles)
{
	struct run run;

	for (int round = 0; round < 20; round++) {
		struct model *model = run_model();

		run_make(&run);
		for (size_t i = 0; i < run.n; i++)
			run.events[i].time_ns += (int64_t)test_below(1 * MS);
		qsort(run.events, run.n, sizeof(*run.events), by_time);
		for (size_t i = 0; i < run.n; i++) {
			int64_t now = run.events[i].time_ns;

			apply_one(model, run.events[i]);
			if (!test_below(20))
				apply_one(model, ev_alive(now - 2 * MS));
		}
		apply_one(model, ev_alive(run.events[run.n - 1].time_ns + 100 * MS));
		check_run(model, &run);
		model_finish(model, false);
		check_run(model, &run);
		run_release(&run);
		model_free(model);
	}
}

static size_t rows_of(struct model *model, struct optree_row **rows)
{
	struct optree_question all = { .row = 0 };
	bool waits;
	size_t n;

	model_lock(model);
	n = model_optree(model, &all, &waits, rows);
	model_unlock(model);
	return n;
}

/* Asynchronous ops end elsewhere: at the top, in nobody's self time. */
TEST(optree_asynchronous_ops)
{
	struct model *model = model_with_device();
	struct event async = ev_op(2, 2, 1, 100, 5000, OP_ASYNC);
	struct optree_row *rows;

	async.u.op.tid = PID + 7;
	apply_one(model, async);
	apply_one(model, ev_op(1, 1, 0, 0, 1000, 0));
	model_finish(model, false);
	CHECK_INT(rows_of(model, &rows), 2);
	CHECK_STR(rows[0].name, "kernel2");
	CHECK(rows[0].is_async && rows[0].parent == OPTREE_TOP);
	CHECK_INT(rows[0].total_ns, 5000);
	CHECK_STR(rows[1].name, "kernel1");
	CHECK_INT(rows[1].self_ns, 1000);
	CHECK_INT(rows[1].children, 0);
	free(rows);
	model_free(model);
}

/* A parent that never comes, one of another thread, two that are each other's. */
TEST(optree_parents_that_are_none)
{
	struct model *model = model_with_device();
	struct event other = ev_op(2, 2, 1, 10, 20, 0), cycle = ev_op(4, 4, 5, 5000, 10, 0);
	struct event wait = { .type = EVENT_WAIT, .pid = PID, .tid = PID, .time_ns = BASE + 9000 };
	struct optree_row *rows;
	size_t n;

	apply_one(model, ev_op(1, 1, 0, 0, 1000, 0));
	other.u.op.tid = PID + 1;
	apply_one(model, other);
	apply_one(model, ev_op(3, 3, 77, 3000, 500, 0));
	apply_one(model, cycle);
	cycle.u.op.instance = 5;
	cycle.u.op.parent = 4;
	cycle.u.op.start_ns += 100;
	apply_one(model, cycle);
	/* The same as its own parent. */
	apply_one(model, ev_op(5, 6, 6, 6000, 10, 0));
	wait.u.wait = (struct event_wait) { .name = 8, .start_ns = BASE + 8000, .dur_ns = 900 };
	apply_one(model, wait);
	model_finish(model, false);
	n = rows_of(model, &rows);
	for (size_t i = 0; i < n; i++)
		if (rows[i].name &&
		    (!strcmp(rows[i].name, "kernel2") || !strcmp(rows[i].name, "kernel3")))
			CHECK_INT(rows[i].parent, OPTREE_TOP);
	/* What a thread waits for outside of ops has a row. */
	CHECK(rows[n - 1].name == NULL);
	CHECK_INT(rows[n - 1].wait_ns, 900);
	free(rows);
	model_free(model);
}
