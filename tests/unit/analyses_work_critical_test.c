/* SPDX-License-Identifier: MIT */
/* The critical path: known ones, and any against a walk that scans everything. */
#include <stdlib.h>
#include <string.h>

#include "model/analyses/work.h"
#include "model/acts/act.h"
#include "model/core/model.h"
#include "tests/unit/analyses_work.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

#define US INT64_C(1000)

static struct act *host(struct bench *bench, enum act_kind kind, uint32_t thread, int64_t start,
			int64_t end)
{
	struct act *act = bench_act(bench, kind, BASE + start * US, BASE + end * US);

	act->thread = thread;
	return act;
}

/* Launched at call for 2 us, run [start, end) on the queue. */
static struct act *run(struct bench *bench, uint32_t name, uint32_t queue, uint32_t thread,
		       int64_t call, int64_t start, int64_t end)
{
	struct act *act = host(bench, ACT_LAUNCH, thread, call, call + 2);

	act->name = name;
	act->queue = queue;
	act = bench_kernel(bench, name, BASE + start * US, BASE + end * US);
	act->queue = queue;
	act->call_ns = BASE + call * US;
	act->call_dur_ns = 2 * US;
	act->thread = thread;
	return act;
}

static struct critical_path path_of(struct bench *bench)
{
	struct critical_path path;
	struct path_part *parts;

	critical_parts(bench->state, &bench->model->names, &path, 100, &parts);
	free(parts);
	return path;
}

static int64_t sum_of(const struct critical_path *path)
{
	int64_t sum = 0;

	for (int k = 0; k < PATH_KINDS; k++)
		sum += path->ns[k];
	return sum;
}

TEST(work_critical_worked_example)
{
	struct bench bench;
	struct critical_path path;
	struct path_part *parts;
	uint32_t a, b;

	bench_init(&bench, &analysis_critical);
	a = bench_name(&bench, "A");
	b = bench_name(&bench, "B");
	run(&bench, a, 0, 0, 0, 3, 10);
	run(&bench, b, 0, 0, 2, 11, 20);
	host(&bench, ACT_WAIT, 0, 4, 22);
	bench_step(&bench, BASE, BASE + 22 * US);
	path = path_of(&bench);
	CHECK_INT(path.steps, 1);
	CHECK_INT(path.ns[PATH_SYNC], 2 * US);
	CHECK_INT(path.ns[PATH_KERNEL], 16 * US);
	CHECK_INT(path.ns[PATH_QUEUE], 1 * US);
	CHECK_INT(path.ns[PATH_LAUNCH], 3 * US);
	CHECK_INT(sum_of(&path), 22 * US);
	CHECK_INT(critical_parts(bench.state, &bench.model->names, &path, 2, &parts), 2);
	CHECK_STR(parts[0].name, "B");
	CHECK_INT(parts[0].kind, PATH_KERNEL);
	CHECK_INT(parts[0].ns, 9 * US);
	CHECK_STR(parts[1].name, "A");
	free(parts);
	CHECK(critical_step(bench.state, BASE, &path) && path.ns[PATH_KERNEL] == 16 * US);
	CHECK(!critical_step(bench.state, BASE + 1, &path));
	bench_release(&bench);
}

/* A loop that waits for nothing: the host is done at 20, the device is behind. */
TEST(work_critical_of_a_host_that_runs_ahead)
{
	struct bench bench;
	struct critical_path path;
	struct act *copy;

	bench_init(&bench, &analysis_critical);
	for (int waits = 0; waits < 2; waits++) {
		int64_t at = waits * 20;

		host(&bench, ACT_OP, 0, at, at + 20);		/* the step */
		run(&bench, 1, 0, 0, at - 10, at - 6, at + 5);
		run(&bench, 2, 0, 0, at, at + 6, at + 18);
		run(&bench, 3, 0, 0, at + 3, at + 18, at + 40);
		/* begun later, and no kernel: some thread's next batch */
		copy = run(&bench, 4, 1, 5, at + 10, at + 19, at + 50);
		copy->command = COMMAND_COPY;
		if (waits)
			host(&bench, ACT_WAIT, 0, at + 4, at + 19);
		bench_step(&bench, BASE + at * US, BASE + (at + 20) * US);
		CHECK(critical_step(bench.state, BASE + at * US, &path));
		CHECK_INT(path.ns[PATH_HOST], waits * US);
		CHECK_INT(path.ns[PATH_SYNC], waits * US);
		CHECK_INT(path.ns[PATH_QUEUE], US);
		CHECK_INT(path.ns[PATH_KERNEL], (19 - waits * 2) * US);
	}
	bench_release(&bench);
}

TEST(work_critical_input_and_host)
{
	struct bench bench;
	struct critical_path path;

	bench_init(&bench, &analysis_critical);
	host(&bench, ACT_OP, 0, 0, 100);		/* the step */
	host(&bench, ACT_OP, 0, 10, 50)->work = WORK_INPUT;
	host(&bench, ACT_OP, 0, 20, 40);		/* decoding, within */
	host(&bench, ACT_COMPILE, 0, 60, 65);
	host(&bench, ACT_OP, 0, 65, 68)->flags = ACT_WORKS;	/* a framework's */
	host(&bench, ACT_OP, 1, 0, 100)->work = WORK_INPUT;	/* another thread: hidden */
	run(&bench, 1, 0, 0, 70, 80, 95);
	host(&bench, ACT_WAIT, 0, 75, 95);
	bench_step(&bench, BASE, BASE + 100 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_INPUT], 40 * US);
	CHECK_INT(path.ns[PATH_OTHER], 5 * US);
	CHECK_INT(path.ns[PATH_KERNEL], 15 * US);
	CHECK_INT(path.ns[PATH_LAUNCH], 10 * US);
	CHECK_INT(path.ns[PATH_OP], 3 * US);
	CHECK_INT(path.ns[PATH_HOST], 27 * US);
	bench_release(&bench);
}

/* A copy on another queue that a kernel waits for; a thread that launches for
 * another one. */
TEST(work_critical_across_queues_and_threads)
{
	struct bench bench;
	struct critical_path path;
	struct act *act;

	bench_init(&bench, &analysis_critical);
	host(&bench, ACT_OP, 7, 0, 60);
	run(&bench, 1, 0, 7, 0, 5, 10);
	act = run(&bench, 2, 1, 8, 2, 6, 30);
	act->command = COMMAND_COPY;
	run(&bench, 3, 0, 7, 5, 31, 50);	/* ready since 7, held up by the copy */
	host(&bench, ACT_WAIT, 7, 10, 52)->queue = 0;
	bench_step(&bench, BASE, BASE + 60 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_HOST], 8 * US + 2 * US);		/* after, and thread 8 before */
	CHECK_INT(path.ns[PATH_SYNC], 2 * US);
	CHECK_INT(path.ns[PATH_KERNEL], 19 * US);
	CHECK_INT(path.ns[PATH_QUEUE], 1 * US);
	CHECK_INT(path.ns[PATH_COPY], 24 * US);
	CHECK_INT(path.ns[PATH_LAUNCH], 4 * US);
	CHECK_INT(sum_of(&path), 60 * US);
	bench_release(&bench);
}

/* Its call lasts until the work is done, and is no launch of that length. */
TEST(work_critical_through_a_blocking_copy)
{
	struct bench bench;
	struct critical_path path;
	struct act *act;

	bench_init(&bench, &analysis_critical);
	run(&bench, 1, 0, 0, 0, 3, 40);
	act = bench_copy(&bench, DIR_D2H, 4, 0, BASE + 41 * US, BASE + 43 * US);
	act->flags = ACT_BLOCKING;
	act->call_ns = BASE + 2 * US;
	act->call_dur_ns = 43 * US;
	act = host(&bench, ACT_LAUNCH, 0, 2, 45);
	act->queue = 0;
	act->flags = ACT_BLOCKING;
	bench_step(&bench, BASE, BASE + 45 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_SYNC], 2 * US);
	CHECK_INT(path.ns[PATH_COPY], 2 * US);
	CHECK_INT(path.ns[PATH_QUEUE], 1 * US);
	CHECK_INT(path.ns[PATH_KERNEL], 37 * US);
	CHECK_INT(path.ns[PATH_LAUNCH], 3 * US);
	bench_release(&bench);
}

TEST(work_critical_of_nothing)
{
	struct bench bench;
	struct critical_path path;

	bench_init(&bench, &analysis_critical);
	bench_step(&bench, BASE, BASE + 10 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_OTHER], 10 * US);
	/* a device alone, of which nobody knows who launched */
	bench_kernel(&bench, 1, BASE + 20 * US, BASE + 50 * US);
	bench_step(&bench, BASE + 10 * US, BASE + 60 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_KERNEL], 15 * US);
	CHECK_INT(path.ns[PATH_OTHER], 15 * US);
	bench_release(&bench);
}

/* ---- runs on the processor, which nothing launches ---- */

static struct act *part(struct bench *bench, uint32_t name, uint32_t thread, int64_t start,
			int64_t end)
{
	struct act *act = bench_kernel(bench, name, BASE + start * US, BASE + end * US);

	act->queue = thread;
	act->thread = thread;
	act->flags = ACT_WORKS;
	return act;
}

/* Thread 0 prepares a batch and calls; thread 5 runs what was called, in an op; thread 0 waits. */
TEST(work_critical_through_what_another_thread_ran)
{
	struct bench bench;
	struct critical_path path;
	struct path_part *parts;

	bench_init(&bench, &analysis_critical);
	host(&bench, ACT_OP, 0, 30, 36);		/* the call */
	host(&bench, ACT_WAIT, 0, 38, 92)->name = bench_name(&bench, "Await");
	part(&bench, bench_name(&bench, "copied"), 0, 33, 34);
	host(&bench, ACT_OP, 5, 40, 90)->name = bench_name(&bench, "jit_update");
	part(&bench, bench_name(&bench, "A"), 5, 42, 60);
	part(&bench, bench_name(&bench, "B"), 5, 61, 89);
	bench_step(&bench, BASE, BASE + 93 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_KERNEL], (18 + 28 + 1) * US);
	CHECK_INT(path.ns[PATH_SYNC], 3 * US);		/* after B */
	CHECK_INT(path.ns[PATH_QUEUE], 2 * US);		/* until thread 5 began */
	/* 92 to 93; in the op, between its parts; before the wait, around the copy of the call */
	CHECK_INT(path.ns[PATH_HOST], (1 + 3 + 2 + 2 + 3 + 30) * US);
	CHECK_INT(path.ns[PATH_OTHER], 0);
	CHECK_INT(sum_of(&path), 93 * US);
	CHECK_INT(critical_parts(bench.state, &bench.model->names, &path, 1, &parts), 1);
	CHECK_INT(parts[0].kind, PATH_HOST);
	free(parts);
	bench_release(&bench);
}

/* The op and its first part begin together. What ran on that thread before, for another op, did not
 * delay them: the time between is that of the thread that called, and is no queue. */
TEST(work_critical_of_an_op_that_begins_with_its_part)
{
	struct bench bench;
	struct critical_path path;

	bench_init(&bench, &analysis_critical);
	host(&bench, ACT_OP, 5, 2, 4);
	part(&bench, 1, 5, 3, 5);			/* and ends after it, by the clock */
	host(&bench, ACT_OP, 0, 60, 66);		/* the call */
	host(&bench, ACT_WAIT, 0, 66, 90);
	host(&bench, ACT_OP, 5, 64, 88);
	part(&bench, 2, 5, 64, 75);
	part(&bench, 3, 5, 75, 88);
	bench_step(&bench, BASE, BASE + 90 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_KERNEL], 24 * US);
	CHECK_INT(path.ns[PATH_SYNC], 2 * US);
	CHECK_INT(path.ns[PATH_QUEUE], 0);
	CHECK_INT(path.ns[PATH_HOST], 64 * US);
	bench_release(&bench);
}

/* What was called ran in the call itself, and what the thread does before it is its own. */
TEST(work_critical_through_what_the_call_ran)
{
	struct bench bench;
	struct critical_path path;

	bench_init(&bench, &analysis_critical);
	part(&bench, 1, 0, -20, -2);			/* of the step before */
	host(&bench, ACT_OP, 0, 30, 80);
	part(&bench, 1, 0, 35, 50);
	part(&bench, 2, 0, 50, 78);
	part(&bench, 3, 6, 60, 70);			/* hidden: nobody waits for it */
	bench_step(&bench, BASE, BASE + 90 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_KERNEL], 43 * US);
	CHECK_INT(path.ns[PATH_HOST], (10 + 2 + 5 + 30) * US);
	CHECK_INT(sum_of(&path), 90 * US);
	bench_release(&bench);
}

/* Where a device works, a library's kernel on the processor is the host's, as in the steps. */
TEST(work_critical_beside_a_device)
{
	struct bench bench;
	struct critical_path path;

	bench_init(&bench, &analysis_critical);
	host(&bench, ACT_OP, 0, 0, 40);			/* a range */
	part(&bench, 1, 0, 10, 30);
	run(&bench, 2, 1, 0, 50, 55, 90);
	host(&bench, ACT_WAIT, 0, 60, 90);
	bench_step(&bench, BASE, BASE + 90 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_KERNEL], 35 * US);
	CHECK_INT(path.ns[PATH_LAUNCH], 5 * US);
	CHECK_INT(path.ns[PATH_HOST], 50 * US);
	bench_release(&bench);
}

/* Threads that run no op: each part follows the one that finished last, as long as they were waited
 * for, and the first one the thread that waited. */
TEST(work_critical_through_parts_outside_of_ops)
{
	struct bench bench;
	struct critical_path path;

	bench_init(&bench, &analysis_critical);
	part(&bench, 1, 7, 2, 9);			/* before anybody waited */
	host(&bench, ACT_OP, 0, 10, 20)->flags = ACT_WORKS;
	host(&bench, ACT_WAIT, 0, 25, 70);
	part(&bench, 1, 5, 30, 40);
	part(&bench, 1, 6, 44, 65);
	part(&bench, 1, 5, 43, 55);			/* beside it, and sooner done */
	bench_step(&bench, BASE, BASE + 70 * US);
	path = path_of(&bench);
	CHECK_INT(path.ns[PATH_SYNC], 5 * US + 5 * US);
	CHECK_INT(path.ns[PATH_KERNEL], (21 + 10) * US);
	CHECK_INT(path.ns[PATH_QUEUE], 4 * US);
	CHECK_INT(path.ns[PATH_OP], 10 * US);
	CHECK_INT(path.ns[PATH_HOST], (5 + 10) * US);
	CHECK_INT(sum_of(&path), 70 * US);
	bench_release(&bench);
}

/* ---- naive: every question by a scan of all acts ---- */

struct naive {
	struct act acts[64];
	bool entered[64];
	int n;
	int64_t t0, t;
	int64_t ns[PATH_KINDS];
};

static void back(struct naive *w, int64_t to, enum path_kind kind)
{
	if (to < w->t0)
		to = w->t0;
	if (to >= w->t)
		return;
	w->ns[kind] += w->t - to;
	w->t = to;
}

static int last_run(const struct naive *w, uint32_t queue)
{
	int best = -1;

	for (int i = 0; i < w->n; i++)
		if (w->acts[i].kind == ACT_RUN && !w->entered[i] &&
		    w->acts[i].end_ns <= w->t + 2 * US &&
		    (queue == NONE || w->acts[i].queue == queue) &&
		    (best < 0 || w->acts[i].end_ns >= w->acts[best].end_ns))
			best = i;
	return best;
}

/* The innermost act on the thread in the instant before t. */
static int on_top(const struct naive *w)
{
	int best = -1;

	for (int i = 0; i < w->n; i++)
		if (w->acts[i].kind != ACT_RUN && w->acts[i].start_ns < w->t &&
		    w->acts[i].end_ns >= w->t &&
		    (best < 0 || w->acts[i].start_ns > w->acts[best].start_ns))
			best = i;
	return best;
}

/* Where what is on top began to be, back from t: its start, or the end of what
 * was inside it, or of anything at all. */
static int64_t border(const struct naive *w, int top)
{
	int64_t at = top < 0 ? INT64_MIN : w->acts[top].start_ns;

	for (int i = 0; i < w->n; i++)
		if (w->acts[i].kind != ACT_RUN && w->acts[i].end_ns < w->t &&
		    w->acts[i].end_ns > at)
			at = w->acts[i].end_ns;
	return at;
}

static int host_back(struct naive *w)
{
	int top = on_top(w);
	int64_t from = border(w, top);
	int wanted;

	if (top < 0) {
		back(w, from, PATH_HOST);
	} else if (w->acts[top].kind == ACT_WAIT) {
		wanted = last_run(w, w->acts[top].queue);
		if (wanted >= 0 && w->acts[wanted].end_ns > from) {
			back(w, w->acts[wanted].end_ns, PATH_SYNC);
			return wanted;
		}
		back(w, from, PATH_SYNC);
	} else {
		back(w, from, w->acts[top].kind == ACT_LAUNCH ? PATH_LAUNCH : PATH_HOST);
	}
	return -1;
}

static int run_back(struct naive *w, int at)
{
	const struct act *act = &w->acts[at];
	int64_t launched = act->call_ns + act->call_dur_ns;
	int before;

	back(w, act->start_ns, PATH_KERNEL);
	if (launched > w->t)
		launched = w->t;
	before = last_run(w, NONE);	/* all of one process: its own queue's is among them */
	if (before >= 0 && w->acts[before].end_ns >= launched) {
		back(w, w->acts[before].end_ns, PATH_QUEUE);
		return before;
	}
	back(w, act->call_ns, PATH_LAUNCH);
	return -1;
}

/* One thread: ops that nest, launches, waits; ends all differ. */
static void random_step(struct naive *w, struct bench *bench)
{
	int64_t t = 3, device[2] = { 0, 0 };

	while (t < 2000 && w->n < 58) {
		uint64_t what = test_below(4);
		uint32_t queue = (uint32_t)test_below(2);
		int64_t start;

		if (what == 0) {
			host(bench, ACT_OP, 0, t, t + 40 + (int64_t)test_below(30));
			t += 3 + (int64_t)test_below(5);
			host(bench, ACT_LAUNCH, 0, t, t + 5)->queue = queue;
			t += 90;
		} else if (what == 1) {
			host(bench, ACT_WAIT, 0, t, t + 60)->queue =
				test_below(2) ? queue : NONE;
			t += 60 + (int64_t)test_below(20);
		} else {
			start = t + (int64_t)test_below(30);
			start = start < device[queue] ? device[queue] : start;
			device[queue] = start + 1 + (int64_t)test_below(60);
			run(bench, 1, queue, 0, t, start, device[queue])->end_ns +=
				(int64_t)bench->n;	/* no two end at once */
			t += 2 + (int64_t)test_below(3);
		}
		w->n = (int)bench->n;
	}
	memcpy(w->acts, bench->acts, bench->n * sizeof(*w->acts));
}

TEST(work_critical_against_naive)
{
	for (int round = 0; round < 300; round++) {
		struct naive w = { .t0 = BASE, .t = BASE + 1900 * US };
		struct bench bench;
		struct critical_path path;
		int at = -1;

		bench_init(&bench, &analysis_critical);
		random_step(&w, &bench);
		while (w.t > w.t0) {
			at = at < 0 ? host_back(&w) : run_back(&w, at);
			if (at >= 0)
				w.entered[at] = true;
		}
		bench_step(&bench, BASE, BASE + 1900 * US);
		path = path_of(&bench);
		CHECK_INT(sum_of(&path), 1900 * US);
		for (int k = 0; k < PATH_KINDS; k++)
			CHECK_INT(path.ns[k], w.ns[k]);
		bench_release(&bench);
	}
}
