/* SPDX-License-Identifier: MIT */
/*
 * The model alone: how fast events go in (G8.model), what a span costs (G12)
 * and how long a frame's questions take (G14.model), on a synthetic program of
 * SPANS spans (environment, default 10 000 000). See tests/bench/run.sh for the
 * form of the records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/query.h"
#include "model/synth.h"

#define COLUMNS 200
#define ROWS_SHOWN 50
#define ROUNDS 9
#define ZOOMS 8

struct bench {
	struct model *model;
	int64_t apply_ns, copy_ns;
	uint64_t events, spans;
	struct event *scratch;
};

/* The thread's own time: one thread, nothing to wait for, no noise of others. */
static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The yardstick: only copying the events away. */
static void feed(void *arg, const struct event *events, size_t count)
{
	struct bench *bench = arg;
	int64_t a = now_ns(), b;

	memcpy(bench->scratch, events, count * sizeof(*events));
	__asm__ volatile("" : : "r"(bench->scratch) : "memory");
	b = now_ns();
	bench->copy_ns += b - a;
	model_apply(bench->model, events, count);
	bench->apply_ns += now_ns() - b;
	bench->events += count;
	for (size_t i = 0; i < count; i++)
		bench->spans += events[i].type == EVENT_COMMAND || events[i].type == EVENT_OP;
}

static struct model_synth *fill(struct bench *bench, uint64_t spans)
{
	struct model_synth_profile profile = model_synth_default;
	struct model_synth *synth;
	int64_t at = 1000000000;

	profile.processes = 4;
	profile.queues = 3;
	profile.kernel_ns = 20000;
	profile.late_permille = 2;
	synth = model_synth_new(1, &profile, at);
	while (bench->spans < spans) {
		at += 50000000;
		model_synth_advance(synth, at, feed, bench);
	}
	return synth;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* All questions of one frame: columns and labels of the rows. */
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

/* Reads every column's worth of an array as long as the spans once. */
static int64_t scan(uint64_t spans)
{
	int64_t *array = malloc(spans * sizeof(*array)), sum = 0, begin;

	if (!array)
		return 0;
	memset(array, 1, spans * sizeof(*array));
	begin = now_ns();
	for (uint64_t i = 0; i < spans; i++)
		sum += array[i];
	__asm__ volatile("" : : "r"(sum));
	begin = now_ns() - begin;
	free(array);
	return begin;
}

static void frames(struct bench *bench, int64_t *p50, int64_t *p99)
{
	static int64_t times[ROUNDS * ZOOMS];
	struct model_status status;
	int64_t width, middle;
	int n = 0;

	model_lock(bench->model);
	model_status(bench->model, &status);
	model_unlock(bench->model);
	width = status.last_ns - status.first_ns;
	middle = status.first_ns + width / 2;
	frame(bench, status.first_ns, status.last_ns);	/* summaries are made once */
	for (int zoom = 0; zoom < ZOOMS; zoom++, width /= 8)
		for (int round = 0; round < ROUNDS; round++) {
			int64_t shift = width / 16 * round;

			times[n++] = frame(bench, middle - width / 2 + shift,
					   middle + width / 2 + shift);
		}
	qsort(times, (size_t)n, sizeof(times[0]), by_value);
	*p50 = times[n / 2];
	*p99 = times[n - 1];
}

int main(int argc, char **argv)
{
	const char *wanted = getenv("SPANS");
	uint64_t spans = wanted ? strtoull(wanted, NULL, 10) : 10000000;
	struct model_options options = { .memory_limit = (size_t)8 << 30 };
	struct bench bench = { .model = model_new(&options) };
	struct model_synth *synth;
	struct model_status status;
	int64_t p50, p99, scan_ns;
	double rate, each;

	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		puts("G8.model G12.model G14.model");
		model_free(bench.model);
		return 0;
	}
	bench.scratch = malloc(1024 * sizeof(*bench.scratch));
	if (!bench.scratch)
		return 1;
	synth = fill(&bench, spans);
	rate = (double)bench.events * 1e3 / (double)bench.apply_ns;
	frames(&bench, &p50, &p99);
	model_finish(bench.model, false);
	model_lock(bench.model);
	model_status(bench.model, &status);
	model_unlock(bench.model);
	each = (double)status.memory_bytes / (double)bench.spans;
	scan_ns = scan(bench.spans);
	printf("G8.model|events into the model|%.2f|M/s|high|copying them|%.2f|%.3f|>= 0.7 M/s|1||%s\n",
	       rate, (double)bench.events * 1e3 / (double)bench.copy_ns,
	       (double)bench.copy_ns / (double)bench.apply_ns, rate >= 0.7 ? "true" : "false");
	printf("G12.model|memory per span, %llu spans|%.1f|B|low|start and end|16|%.2f|<= 45 B|1||%s\n",
	       (unsigned long long)bench.spans, each, each / 16, each <= 45 ? "true" : "false");
	printf("G14.model|a frame's questions, p99 (p50 %.2f ms)|%.2f|ms|low|reading 8 bytes a span|%.2f|%.2f|<= 16 ms|%d||%s\n",
	       (double)p50 / 1e6, (double)p99 / 1e6, (double)scan_ns / 1e6,
	       (double)p99 / (double)scan_ns, ROUNDS * ZOOMS, p99 <= 16000000 ? "true" : "false");
	model_synth_free(synth);
	model_free(bench.model);
	free(bench.scratch);
	return 0;
}
