/* SPDX-License-Identifier: MIT */
/* The same program in two models, one short of memory: what stays the same. */
#include <stdlib.h>
#include <string.h>

#include "model/synth/synth.h"
#include "tests/unit/model_events.h"
#include "tests/unit/test.h"

struct pair {
	struct model *tight, *ample;
};

static void feed(void *arg, const struct event *events, size_t count)
{
	struct pair *pair = arg;

	model_apply(pair->tight, events, count);
	model_apply(pair->ample, events, count);
}

static void same_kernels(const struct pair *pair)
{
	struct kernel_row *a, *b;
	size_t n = model_kernels(pair->tight, &a);

	CHECK(n > 0 && model_kernels(pair->ample, &b) == n);
	for (size_t i = 0; i < n; i++) {
		CHECK_STR(a[i].raw_name, b[i].raw_name);
		CHECK_INT(a[i].count, b[i].count);
		CHECK_INT(a[i].total_ns, b[i].total_ns);
		CHECK_INT(a[i].min_ns, b[i].min_ns);
		CHECK_INT(a[i].max_ns, b[i].max_ns);
		CHECK_INT(a[i].p99_ns, b[i].p99_ns);
	}
	model_kernels_free(a, n);
	model_kernels_free(b, n);
}

static void same_ops_and_copies(const struct pair *pair)
{
	struct copy_row *c, *d;
	struct op_row *a, *b;
	size_t n = model_ops(pair->tight, &a);

	CHECK(n > 0 && model_ops(pair->ample, &b) == n);
	for (size_t i = 0; i < n; i++) {
		CHECK_STR(a[i].name, b[i].name);
		CHECK_INT(a[i].count, b[i].count);
		CHECK_INT(a[i].total_ns, b[i].total_ns);
		CHECK_INT(a[i].self_ns, b[i].self_ns);
		CHECK_INT(a[i].device_ns, b[i].device_ns);
	}
	n = model_copies(pair->tight, &c);
	CHECK(n > 0 && model_copies(pair->ample, &d) == n);
	for (size_t i = 0; i < n; i++) {
		CHECK_INT(c[i].count, d[i].count);
		CHECK_INT(c[i].bytes, d[i].bytes);
		CHECK_INT(c[i].total_ns, d[i].total_ns);
	}
	free(a);
	free(b);
	free(c);
	free(d);
}

/* Unions too: they are not sums of what was folded. */
static void same_devices(const struct pair *pair)
{
	struct device_row *a, *b;
	struct queue_row *c, *d;
	size_t n = model_devices(pair->tight, &a);

	CHECK(n > 0 && model_devices(pair->ample, &b) == n);
	for (size_t i = 0; i < n; i++) {
		CHECK_INT(a[i].span_ns, b[i].span_ns);
		CHECK_INT(a[i].busy_ns, b[i].busy_ns);
		CHECK_INT(a[i].kernel_ns, b[i].kernel_ns);
		CHECK_INT(a[i].copy_ns, b[i].copy_ns);
		CHECK_INT(a[i].overlap_ns, b[i].overlap_ns);
	}
	n = model_queues(pair->tight, &c);
	CHECK(n > 0 && model_queues(pair->ample, &d) == n);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(c[i].busy_ns, d[i].busy_ns);
	free(a);
	free(b);
	free(c);
	free(d);
}

/* Each row's count and time by class, asked as one column; the last tenth of
 * the run, which is not folded, in many. */
static void same_rows(const struct pair *pair)
{
	static struct column a[100], b[100];
	struct model_status status;
	struct model_row *rows;
	size_t n = model_rows(pair->tight, &rows);
	int64_t late;

	/* Asking makes the rows of processes and devices. */
	free(rows);
	CHECK(model_rows(pair->ample, &rows) == n);

	model_status(pair->tight, &status);
	CHECK(status.folded_ns > status.first_ns && status.folded_ns < status.last_ns);
	late = status.last_ns - (status.last_ns - status.folded_ns) / 2;
	for (size_t i = 0; i < n; i++) {
		model_columns(pair->tight, rows[i].id, LANE_ALL, status.first_ns,
			      status.last_ns + 1, 1, a);
		model_columns(pair->ample, rows[i].id, LANE_ALL, status.first_ns,
			      status.last_ns + 1, 1, b);
		CHECK_INT(a[0].count, b[0].count);
		CHECK(memcmp(a[0].work_ns, b[0].work_ns, sizeof(a[0].work_ns)) == 0);
		if (rows[i].kind == ROW_DEVICE || rows[i].kind == ROW_PROCESS)
			CHECK_INT(a[0].busy_ns, b[0].busy_ns);
		model_columns(pair->tight, rows[i].id, LANE_ALL, late, status.last_ns, 100, a);
		model_columns(pair->ample, rows[i].id, LANE_ALL, late, status.last_ns, 100, b);
		for (size_t c = 0; c < 100; c++) {
			CHECK_INT(a[c].busy_ns, b[c].busy_ns);
			CHECK_INT(a[c].count, b[c].count);
		}
	}
	free(rows);
}

static void compare(const struct pair *pair, size_t limit)
{
	CHECK(status_of(pair->tight).memory_bytes <= limit);
	CHECK(status_of(pair->ample).folded_ns == INT64_MIN);
	model_lock(pair->tight);
	model_lock(pair->ample);
	same_kernels(pair);
	same_ops_and_copies(pair);
	same_devices(pair);
	same_rows(pair);
	model_unlock(pair->ample);
	model_unlock(pair->tight);
}

/* The thread sanitizer is ten times as slow, and finds as much in less. */
#if defined(__SANITIZE_THREAD__)
#define LENGTH_NS INT64_C(400000000)
#else
#define LENGTH_NS INT64_C(1000000000)
#endif

static void run_case(const struct model_synth_profile *profile, size_t limit)
{
	struct model_options options = { .memory_limit = limit };
	struct pair pair = { .tight = model_new(&options) };
	struct model_synth *synth = model_synth_new(test_random(), profile, BASE);

	options.memory_limit = (size_t)1 << 40;
	pair.ample = model_new(&options);
	for (int i = 1; i <= 20; i++)
		model_synth_advance(synth, BASE + i * LENGTH_NS / 20, feed, &pair);
	model_synth_end(synth, feed, &pair);
	model_finish(pair.tight, false);
	model_finish(pair.ample, false);
	compare(&pair, limit);
	model_synth_free(synth);
	model_free(pair.tight);
	model_free(pair.ample);
}

TEST(model_budget_keeps_totals)
{
	struct model_synth_profile profile = model_synth_default;

	profile.kernel_ns = 5000;
	profile.queues = 3;
	run_case(&profile, 7 << 20);	/* of which tables and analyses take 5.5 */
}

TEST(model_budget_keeps_totals_of_several_processes)
{
	struct model_synth_profile profile = model_synth_default;

	profile.kernel_ns = 10000;
	profile.processes = 2;
	profile.queues = 2;
	profile.opens = true;
	run_case(&profile, 8 << 20);
}

/* Thousands of queues with one chunk each: they are found at once, and their
 * chunks can go, too. */
TEST(model_budget_of_many_queues)
{
	const size_t limit = 24 << 20;
	struct model_options options = { .memory_limit = limit };
	struct model *model = model_new(&options);
	const uint32_t queues = 4000, each = 40;
	struct device_row *devices;
	struct queue_row *rows;
	uint64_t kernels = 0;

	apply_one(model, ev_process(PID, "many"));
	apply_one(model, ev_name(1, NAME_KERNEL, "kernel1"));
	apply_one(model, ev_device(1, "0000:01:00.0"));
	apply_one(model, ev_clock(1, BASE, TICKS));
	for (uint32_t q = 1; q <= queues; q++)
		apply_one(model, ev_queue(q, 1));
	for (uint32_t k = 0; k < each; k++)
		for (uint32_t q = 1; q <= queues; q++)
			apply_one(model, ev_kernel(1, q, k * queues + q,
						   ((int64_t)k * queues + q) * 1000, 1500));
	apply_one(model, ev_alive(BASE + INT64_C(1000000000)));
	model_finish(model, false);
	CHECK(status_of(model).memory_bytes <= limit);
	model_lock(model);
	CHECK_INT(model_queues(model, &rows), queues);
	for (uint32_t q = 0; q < queues; q++) {
		kernels += rows[q].kernels;
		CHECK_INT(rows[q].busy_ns, each * 1500);
	}
	CHECK_INT(kernels, queues * each);
	CHECK_INT(model_devices(model, &devices), 1);
	CHECK_INT(devices[0].busy_ns, (int64_t)queues * each * 1000 + 500);
	model_unlock(model);
	free(rows);
	free(devices);
	model_free(model);
}
