/* SPDX-License-Identifier: MIT */
/*
 * The model alone, on a synthetic program of 10^4 ... 10^7 spans (G13: 10^8):
 * how long an event takes to go in (G8), what a span costs (G12) and how long a
 * frame's questions take at every zoom (G14; from a key to the picture:
 * key_bench.c), beside a plain array of the same spans, filled and scanned.
 * "busy" is another program: more queues, threads and launches a step, longer
 * queues, more that comes late, failures, announcements.
 * With G13 the same stream goes once more into a model of 256 MiB, and what its
 * tables say is compared with what was made.
 * SPANS=N asks for one size, VERBOSE=1 says how long each zoom took, LIMIT=MIB
 * only makes the comparison. See tests/bench/run.sh for the form of the records.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/query/query.h"
#include "model/synth/synth.h"

#define COLUMNS 200
#define ROWS_SHOWN 50
#define ROUNDS 12			/* rounds per zoom level */
#define ZOOMS 24
#define COLUMN_MIN_NS 2000		/* width of the narrowest column */
#define PLAIN_BLOCK (1u << 16)

/* An array without any index: the span and its record. */
struct plain {
	int64_t start_ns, dur_ns;
	uint32_t name;
	uint8_t work, flags;
	uint8_t record[48];
};

/* The yardstick: all spans in an array, in a quarter of their size. */
struct brief {
	int64_t start_ns, dur_ns;
};

struct bench {
	struct model *model;
	int64_t apply_ns, plain_ns;
	uint64_t events, spans;
	struct brief *array;		/* owned */
	size_t cap;
};

/* CPU time of the thread, so that waits and other processes do not count. */
static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void put_plain(struct bench *bench, const struct event *event)
{
	struct brief *brief;

	if (event->type != EVENT_COMMAND && event->type != EVENT_OP)
		return;
	if (bench->spans == bench->cap) {
		bench->cap = bench->cap ? bench->cap + bench->cap / 2 : PLAIN_BLOCK;
		bench->array = realloc(bench->array, bench->cap * sizeof(*bench->array));
		if (!bench->array)
			exit(1);
	}
	brief = &bench->array[bench->spans++];
	if (event->type == EVENT_OP) {
		brief->start_ns = event->u.op.start_ns;
		brief->dur_ns = event->u.op.dur_ns;
	} else {
		brief->start_ns = event->u.command.call_ns;
		brief->dur_ns = (int64_t)(event->u.command.end_ticks -
					  event->u.command.start_ticks);
	}
}

static void feed(void *arg, const struct event *events, size_t count)
{
	struct bench *bench = arg;
	int64_t a = now_ns(), b;

	for (size_t i = 0; i < count; i++)
		put_plain(bench, &events[i]);
	b = now_ns();
	bench->plain_ns += b - a;
	model_apply(bench->model, events, count);
	bench->apply_ns += now_ns() - b;
	bench->events += count;
}

static struct model_synth_profile profile_of(bool busy)
{
	struct model_synth_profile profile = model_synth_default;

	profile.processes = 4;
	profile.queues = 3;
	profile.kernel_ns = 20000;
	profile.late_permille = 2;
	if (busy) {
		profile.queues = 6;
		profile.input_threads = 4;
		profile.layers = 48;
		profile.kernels = 5;
		profile.late_permille = 20;
		profile.fail_permille = 1;
		profile.opens = true;
	}
	return profile;
}

static void fill(struct bench *bench, uint64_t spans, bool busy)
{
	struct model_synth_profile profile = profile_of(busy);
	struct model_synth *synth;
	int64_t at = 1000000000;

	synth = model_synth_new(1, &profile, at);
	while (bench->spans < spans) {
		at += spans < 1000000 ? 1000000 : 50000000;
		model_synth_advance(synth, at, feed, bench);
	}
	model_synth_free(synth);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Makes all queries of one frame: columns and labels of the rows. */
static int64_t frame(struct bench *bench, int64_t t0, int64_t t1)
{
	static struct column columns[COLUMNS];
	static struct span_edge edges[COLUMNS];
	struct model_row *rows;
	int64_t begin = now_ns(), end;
	size_t n;

	model_lock(bench->model);
	n = model_rows(bench->model, &rows);
	for (size_t i = 0; i < n && i < ROWS_SHOWN; i++) {
		model_columns(bench->model, rows[i].id, LANE_ALL, t0, t1, COLUMNS, columns);
		if (columns[0].count <= 1)
			model_spans(bench->model, rows[i].id, 0, t0, t1, COLUMNS, edges);
	}
	end = now_ns();
	model_unlock(bench->model);
	free(rows);
	return end - begin;
}

/* Busy time per column of one row as long as all the spans together. */
static int64_t scan(const struct bench *bench, int64_t t0, int64_t t1)
{
	static int64_t busy[COLUMNS + 1];
	int64_t w = (t1 - t0) / COLUMNS, begin = now_ns();

	for (uint64_t i = 0; i < bench->spans; i++) {
		const struct brief *brief = &bench->array[i];

		if (brief->start_ns >= t0 && brief->start_ns < t1)
			busy[(brief->start_ns - t0) / w] += brief->dur_ns;
	}
	__asm__ volatile("" : : "r"(busy) : "memory");
	return now_ns() - begin;
}

struct times {
	/* worst: median of the slowest zoom level */
	int64_t p50_ns, p99_ns, worst_ns, scan_ns;
	int n;
};

/* Queries frames from the whole run down to a few us a column, at places all over the run. */
static struct times frames(struct bench *bench)
{
	static int64_t times[ROUNDS * ZOOMS];
	struct model_status status;
	struct times result = { .n = 0 };
	int64_t whole, width;

	model_lock(bench->model);
	model_status(bench->model, &status);
	model_unlock(bench->model);
	whole = status.last_ns - status.first_ns;
	result.scan_ns = scan(bench, status.first_ns, status.last_ns);
	width = whole;
	for (int zoom = 0; zoom < ZOOMS && width > COLUMN_MIN_NS * COLUMNS; zoom++) {
		int64_t *these = &times[result.n];

		for (int round = 0; round < ROUNDS; round++) {
			/* Each query is different: a repeated one would be answered from a
			 * cache. */
			int64_t t0 = status.first_ns + (whole - width) / ROUNDS * round +
				     width / 1024 * round;

			times[result.n++] = frame(bench, t0, t0 + width);
		}
		qsort(these, ROUNDS, sizeof(times[0]), by_value);
		if (these[ROUNDS / 2] > result.worst_ns)
			result.worst_ns = these[ROUNDS / 2];
		if (getenv("VERBOSE"))
			fprintf(stderr, "%9.3f ms a column: %6.2f ms, at most %6.2f\n",
				(double)width / COLUMNS / 1e6, (double)these[ROUNDS / 2] / 1e6,
				(double)these[ROUNDS - 1] / 1e6);
		width = zoom % 2 ? width / 2 : width / 3;
	}
	qsort(times, (size_t)result.n, sizeof(times[0]), by_value);
	result.p50_ns = times[result.n / 2];
	result.p99_ns = times[result.n - 1 - result.n / 100];
	return result;
}

/* Resident memory of the process. */
static double resident_mib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long all, resident = 0;

	if (file) {
		if (fscanf(file, "%lu %lu", &all, &resident) != 2)
			resident = 0;
		fclose(file);
	}
	return (double)resident * 4096 / 1048576;
}

static bool wanted(const char *id)
{
	const char *only = getenv("ONLY"), *at = only ? strstr(only, id) : NULL;
	size_t length = strlen(id);

	return at && (at == only || at[-1] == ' ') &&
	       (!at[length] || at[length] == ' ' || at[length] == '.');
}

static const char *verdict(bool bound, bool ok)
{
	return !bound ? "null" : ok ? "true" : "false";
}

/* `tail` is the part of the ids that names the size. Bars apply where the design sets one. */
static void measure(uint64_t spans, const char *tail, bool busy)
{
	struct model_options options = { .memory_limit = (size_t)12 << 30 };
	struct bench bench = { .model = model_new(&options) };
	struct model_status status;
	struct times times;
	double each, rate, bytes, plain_each, resident = resident_mib();
	bool big = spans >= 10000000;
	int64_t limit_ms = spans > 10000000 ? 50 : 12;

	fill(&bench, spans, busy);
	resident = resident_mib() - resident -
		   (double)bench.spans * sizeof(*bench.array) / 1048576; /* what was touched */
	times = frames(&bench);
	model_finish(bench.model, false);
	model_lock(bench.model);
	model_status(bench.model, &status);
	model_unlock(bench.model);
	each = (double)bench.apply_ns / (double)bench.events;
	plain_each = (double)bench.plain_ns / (double)bench.events;
	rate = 1e3 / each;
	bytes = (double)status.memory_bytes / (double)bench.spans;
	printf("G8.%s|an event into the model, %.2f M/s|%.0f|ns|low|into an array|%.0f|%.1f|>= 0.7 "
	       "M/s|1||%s\n",
	       tail, rate, each, plain_each, each / plain_each, verdict(big, rate >= 0.7));
	printf("%s.%s|memory per span, %.0f MiB in all, resident %.0f|%.1f|B|low|in an "
	       "array|%zu|%.2f|<= 45 B|1||%s\n",
	       spans > 10000000 ? "G13" : "G12", tail, (double)status.memory_bytes / 1048576,
	       resident, bytes, sizeof(struct plain), bytes / (double)sizeof(struct plain),
	       verdict(big, bytes <= 45));
	printf("G14.%s|a frame's questions, p99 (p50 %.2f ms, slowest zoom "
	       "%.2f)|%.2f|ms|low|scanning an array|%.2f|%.2f|<= %d ms|%d||%s\n",
	       tail, (double)times.p50_ns / 1e6, (double)times.worst_ns / 1e6,
	       (double)times.p99_ns / 1e6, (double)times.scan_ns / 1e6,
	       (double)times.p99_ns / (double)times.scan_ns, (int)limit_ms, times.n,
	       verdict(big, times.p99_ns <= limit_ms * 1000000));
	fflush(stdout);
	model_free(bench.model);
	free(bench.array);
}

/* ---- short of memory ---- */

struct sums {
	uint64_t kernels, failed, copies, bytes, ops;
	int64_t kernel_ns, copy_ns;
};

static void feed_model(void *arg, const struct event *events, size_t count)
{
	struct bench *bench = arg;
	int64_t begin = now_ns();

	model_apply(bench->model, events, count);
	bench->apply_ns += now_ns() - begin;
	bench->events += count;
	for (size_t i = 0; i < count; i++)
		bench->spans += events[i].type == EVENT_COMMAND || events[i].type == EVENT_OP;
}

static struct sums sums_of(struct model *model)
{
	struct sums sums = { .kernels = 0 };
	struct kernel_row *kernels;
	struct copy_row *copies;
	struct op_row *ops;
	size_t n = model_kernels(model, &kernels);

	for (size_t i = 0; i < n; i++) {
		sums.failed += kernels[i].failed;
		sums.kernel_ns += kernels[i].total_ns;
	}
	model_kernels_free(kernels, n);
	n = model_copies(model, &copies);
	for (size_t i = 0; i < n; i++) {
		sums.copies += copies[i].count;
		sums.bytes += copies[i].bytes;
		sums.copy_ns += copies[i].total_ns;
	}
	free(copies);
	n = model_ops(model, &ops);
	for (size_t i = 0; i < n; i++)
		sums.ops += ops[i].count;
	free(ops);
	return sums;
}

static bool is_true(const struct sums *sums, const struct model_synth_truth *truth)
{
	return sums->kernels == truth->kernels && sums->failed == truth->failed &&
	       sums->kernel_ns == truth->kernel_ns && sums->copies == truth->copies &&
	       sums->bytes == truth->bytes && sums->copy_ns == truth->copy_ns &&
	       sums->ops == truth->ops;
}

/* Stays within the limit, and the totals are right. */
static void measure_limit(uint64_t spans, const char *tail, size_t limit)
{
	struct model_synth_profile profile = profile_of(false);
	struct model_options options = { .memory_limit = limit };
	struct bench bench = { .model = model_new(&options) };
	struct model_synth *synth = model_synth_new(1, &profile, 1000000000);
	struct model_status status;
	struct sums sums;
	size_t most = 0;
	bool ok;

	for (int64_t at = 1000000000; bench.spans < spans; ) {
		at += 50000000;
		model_synth_advance(synth, at, feed_model, &bench);
		model_lock(bench.model);
		model_status(bench.model, &status);
		model_unlock(bench.model);
		most = status.memory_bytes > most ? status.memory_bytes : most;
	}
	model_synth_end(synth, feed_model, &bench);
	model_finish(bench.model, false);
	model_lock(bench.model);
	model_status(bench.model, &status);
	sums = sums_of(bench.model);
	model_unlock(bench.model);
	sums.kernels = status.kernels;
	ok = most <= limit && status.bad == 0 && is_true(&sums, model_synth_truth(synth));
	printf("G13.%s|memory at most, detail of the last %.1f of %.1f s|%.1f|MiB|low|the "
	       "limit|%.0f|%.2f|totals right|1||%s\n",
	       tail, (double)(status.last_ns - status.folded_ns) / 1e9,
	       (double)(status.last_ns - status.first_ns) / 1e9, (double)most / 1048576,
	       (double)limit / 1048576, (double)most / (double)limit, verdict(true, ok));
	if (!ok)
		fprintf(stderr, "model_bench: with a limit the totals are not what was made\n");
	model_synth_free(synth);
	model_free(bench.model);
}

/*
 * Whether the model keeps up with 0.7 M events/s for 30 s: batches of 10 ms arrive when they are
 * due and wait for the batches before them by the CPU time of the thread, so that other work of the
 * machine does not count.
 */
static void measure_live(void)
{
	const uint64_t rate = 700000, batch = rate / 100;
	struct model_options options = { .memory_limit = (size_t)1 << 30 };
	struct bench bench = { .model = model_new(&options) };
	struct model_synth_profile profile = profile_of(false);
	struct model_synth *synth = model_synth_new(1, &profile, 1000000000);
	int64_t at = 1000000000, done_ns = 0, lag_ns = 0;

	while (bench.events < rate * 30) {
		uint64_t before = bench.events;
		int64_t worked_ns = bench.apply_ns, due_ns;

		while (bench.events < before + batch) {
			at += 1000000;
			model_synth_advance(synth, at, feed_model, &bench);
		}
		due_ns = (int64_t)((__uint128_t)bench.events * 1000000000 / rate);
		done_ns = (done_ns > due_ns ? done_ns : due_ns) + bench.apply_ns - worked_ns;
		if (done_ns - due_ns > lag_ns)
			lag_ns = done_ns - due_ns;
	}
	printf("G8.live30|0.7 M events/s for 30 s, the model: lag at most|%.0f|ms|low|the "
	       "whole|30000|%.3f|<= 1 s|1||%s\n",
	       (double)lag_ns / 1e6, (double)lag_ns / 3e10, verdict(true, lag_ns <= 1000000000));
	model_synth_free(synth);
	model_free(bench.model);
}

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void apply_step(struct model *model, int64_t number)
{
	struct event step = {
		.type = EVENT_STEP, .pid = 1, .tid = 1, .time_ns = 1000 + (number + 1) * 100000,
		.u.step = { .number = number, .start_ns = 1000 + number * 100000,
			    .dur_ns = 90000 + number * 7919 % 5000 },
	};

	model_apply(model, &step, 1);
}

/* Compares adding one step to a list of many steps with building the whole list. */
static void measure_steps(void)
{
	enum { STEPS = 1000000, MORE = 1000 };
	struct model *model = model_new(NULL);
	struct step_list list = { .rows = NULL };
	struct step_stats stats;
	struct step_row *rows;
	int64_t begin, all_ns, more_ns = 0;

	for (int64_t i = 0; i < STEPS; i++)
		apply_step(model, i);
	model_lock(model);
	model_steps_update(model, &list);
	model_unlock(model);
	for (int64_t i = 0; i < MORE; i++) {
		apply_step(model, STEPS + i);
		model_lock(model);
		begin = cpu_ns();
		model_steps_update(model, &list);
		more_ns += cpu_ns() - begin;
		model_unlock(model);
	}
	model_lock(model);
	begin = cpu_ns();
	model_steps(model, &stats, &rows);
	all_ns = cpu_ns() - begin;
	model_unlock(model);
	printf("G14.steps|one step more than a million, CPU|%.2f|us|low|all of them "
	       "anew|%.0f|%.5f|<= 50 us|%d||%s\n",
	       (double)more_ns / MORE / 1e3, (double)all_ns / 1e3,
	       (double)more_ns / MORE / (double)all_ns, MORE,
	       verdict(true, more_ns / MORE <= 50000));
	free(rows);
	step_list_release(&list);
	model_free(model);
}

/* The first query of a frame, the rows, for a program with many queues. */
static void measure_rows(void)
{
	enum { ROUNDS_OF = 200 };
	struct model_synth_profile profile = model_synth_default;
	struct bench bench = { .model = model_new(NULL) };
	struct model_synth *synth;
	struct model_row *rows;
	int64_t begin, ns;
	size_t n = 0;

	profile.queues = 4000;
	profile.spans = 40000;
	synth = model_synth_new(1, &profile, 1000000000);
	for (int64_t at = 1000000000; !model_synth_over(synth); at += 1000000)
		model_synth_advance(synth, at, feed_model, &bench);
	model_lock(bench.model);
	begin = cpu_ns();
	for (int i = 0; i < ROUNDS_OF; i++) {
		n = model_rows(bench.model, &rows);
		free(rows);
	}
	ns = (cpu_ns() - begin) / ROUNDS_OF;
	model_unlock(bench.model);
	printf("G14.rows|the rows of %u queues (%zu), CPU|%.0f|us|low|a frame|50000|%.4f|<= 1 "
	       "ms|%d||%s\n",
	       profile.queues, n, (double)ns / 1e3, (double)ns / 5e7, ROUNDS_OF,
	       verdict(true, ns <= 1000000));
	model_synth_free(synth);
	model_free(bench.model);
}

int main(int argc, char **argv)
{
	const char *size = getenv("SPANS");

	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		puts("G8.model G8.live30 G12.model G13 G14.model G14.steps G14.rows");
		return 0;
	}
	if (getenv("LIMIT")) {
		measure_limit(size ? strtoull(size, NULL, 10) : 10000000, "limit",
			      (size_t)strtoull(getenv("LIMIT"), NULL, 10) << 20);
		return 0;
	}
	if (size) {
		measure(strtoull(size, NULL, 10), "model", getenv("BUSY") != NULL);
		return 0;
	}
	if (wanted("G8.live30")) {
		measure_live();
		return 0;
	}
	if (wanted("G14.steps") || wanted("G14.rows")) {
		measure_steps();
		measure_rows();
		return 0;
	}
	if (wanted("G13")) {
		measure(100000000, "1e8", false);
		measure_limit(100000000, "limit", (size_t)256 << 20);
		return 0;
	}
	measure_steps();
	measure_rows();
	measure(10000, "1e4", false);
	measure(100000, "1e5", false);
	measure(1000000, "1e6", false);
	measure(10000000, "model", false);
	measure(10000000, "busy", true);
	return 0;
}
