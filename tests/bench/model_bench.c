/* SPDX-License-Identifier: MIT */
/*
 * The model alone, on a synthetic program of 10^4 ... 10^7 spans (G13: 10^8):
 * how long an event takes to go in (G8), what a span costs (G12) and how long a
 * frame's questions take (G14), beside a plain array of the same spans, filled
 * and scanned. "busy" is another program: more queues, threads and launches a
 * step, longer queues, more that comes late, failures, announcements.
 * SPANS=N asks for one size. See tests/bench/run.sh for the form of the records.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/query.h"
#include "model/synth.h"

#define COLUMNS 200
#define ROWS_SHOWN 50
#define ROUNDS 25
#define ZOOMS 9
#define PLAIN_BLOCK (1u << 16)

/* What an array without any index would keep: the span and its record. */
struct plain {
	int64_t start_ns, dur_ns;
	uint32_t name;
	uint8_t work, flags;
	uint8_t record[48];
};

/* The yardstick: all spans in a row, a quarter of what they would take. */
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

/* The thread's own time: one thread, nothing to wait for, no noise of others. */
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
	int64_t p50_ns, p99_ns, scan_ns;
};

static struct times frames(struct bench *bench)
{
	static int64_t times[ROUNDS * ZOOMS];
	struct model_status status;
	struct times result;
	int64_t width, middle;
	int n = 0;

	model_lock(bench->model);
	model_status(bench->model, &status);
	model_unlock(bench->model);
	width = status.last_ns - status.first_ns;
	middle = status.first_ns + width / 2;
	result.scan_ns = scan(bench, status.first_ns, status.last_ns);
	for (int zoom = 0; zoom < ZOOMS; zoom++, width /= 8)
		for (int round = 0; round < ROUNDS && width > 64 * COLUMNS; round++) {
			/* Never the same twice: that would be answered from memory. */
			int64_t shift = width / 1024 * round;

			times[n++] = frame(bench, middle - width / 2 + shift,
					   middle + width / 2 + shift);
			if (getenv("VERBOSE"))
				fprintf(stderr, "%d %.2f\n", zoom, (double)times[n - 1] / 1e6);
		}
	qsort(times, (size_t)n, sizeof(times[0]), by_value);
	result.p50_ns = times[n / 2];
	result.p99_ns = times[n - 1 - n / 100];
	return result;
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

/* `tail` of the ids: the size. Bars hold where the design has one. */
static void measure(uint64_t spans, const char *tail, bool busy)
{
	struct model_options options = { .memory_limit = (size_t)12 << 30 };
	struct bench bench = { .model = model_new(&options) };
	struct model_status status;
	struct times times;
	double each, rate, bytes, plain_each;
	bool big = spans >= 10000000;
	int64_t limit_ms = spans > 10000000 ? 50 : 12;

	fill(&bench, spans, busy);
	times = frames(&bench);
	model_finish(bench.model, false);
	model_lock(bench.model);
	model_status(bench.model, &status);
	model_unlock(bench.model);
	each = (double)bench.apply_ns / (double)bench.events;
	plain_each = (double)bench.plain_ns / (double)bench.events;
	rate = 1e3 / each;
	bytes = (double)status.memory_bytes / (double)bench.spans;
	printf("G8.%s|an event into the model, %.2f M/s|%.0f|ns|low|into an array|%.0f|%.1f|>= 0.7 M/s|1||%s\n",
	       tail, rate, each, plain_each, each / plain_each, verdict(big, rate >= 0.7));
	printf("%s.%s|memory per span, %.0f MiB in all|%.1f|B|low|in an array|%zu|%.2f|<= 45 B|1||%s\n",
	       spans > 10000000 ? "G13" : "G12", tail, (double)status.memory_bytes / 1048576, bytes,
	       sizeof(struct plain), bytes / (double)sizeof(struct plain), verdict(big, bytes <= 45));
	printf("G14.%s|a frame's questions, p99 (p50 %.2f ms)|%.2f|ms|low|scanning an array|%.2f|%.2f|<= %d ms|%d||%s\n",
	       tail, (double)times.p50_ns / 1e6, (double)times.p99_ns / 1e6,
	       (double)times.scan_ns / 1e6, (double)times.p99_ns / (double)times.scan_ns,
	       (int)limit_ms, ROUNDS * ZOOMS,
	       verdict(big, times.p99_ns <= limit_ms * 1000000));
	fflush(stdout);
	model_free(bench.model);
	free(bench.array);
}

int main(int argc, char **argv)
{
	const char *size = getenv("SPANS");

	if (argc > 1 && strcmp(argv[1], "--list") == 0) {
		puts("G8.model G12.model G13 G14.model");
		return 0;
	}
	if (size) {
		measure(strtoull(size, NULL, 10), "model", getenv("BUSY") != NULL);
		return 0;
	}
	if (wanted("G13")) {
		measure(100000000, "1e8", false);
		return 0;
	}
	measure(10000, "1e4", false);
	measure(100000, "1e5", false);
	measure(1000000, "1e6", false);
	measure(10000000, "model", false);
	measure(10000000, "busy", true);
	return 0;
}
