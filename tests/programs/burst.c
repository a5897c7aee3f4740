/* SPDX-License-Identifier: MIT */
/*
 * Pushes and pops NVTX ranges at a given pace: the load of the benches for
 * bursts (G9), live ingest (G8) and latency (G7). Prints what it did, one line:
 * "ranges N ns T".
 *
 *	burst EVENTS PER_SECOND [THREADS]	names "r0" ... "r15"
 *	burst --until FILE EVENTS PER_SECOND	EVENTS again and again until FILE exists, and
 *						once more after that
 *	burst --steps COUNT PERIOD_MS [FILE]	names "step 1" ...; prints per step
 *						"step N T", T its end on CLOCK_MONOTONIC;
 *						ends early when FILE exists
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "examples/marks.h"

struct work {
	long events;
	double per_second;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void until(int64_t t_ns)
{
	struct timespec t = { t_ns / 1000000000, t_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

/* Pushes the events of each millisecond at once, which is harder on the buffers than a smooth
 * flow. */
static void *push_all(void *arg)
{
	const struct work *w = arg;
	long each = (long)(w->per_second / 1000.0) + 1, done = 0;
	int64_t start = now_ns();

	for (int64_t tick = 0; done < w->events; tick++) {
		for (long i = 0; i < each && done < w->events; i++, done++) {
			marks_push("r%ld", done & 15);
			marks_pop();
		}
		until(start + (tick + 1) * 1000000);
	}
	return NULL;
}

static int steps(long count, long period_ms, const char *file)
{
	int64_t start = now_ns();

	for (long i = 1; i <= count && (!file || access(file, F_OK)); i++) {
		until(start + i * period_ms * 1000000);
		marks_push("step %ld", i);
		until(now_ns() + 1000000);
		marks_pop();
		printf("step %ld %lld\n", i, (long long)now_ns());
		fflush(stdout);
	}
	marks_release();
	return 0;
}

/* Counts until the file exists; a minute at most, so that a test that never creates the file
 * ends. */
static long until_there(const char *file, struct work *work)
{
	int64_t last_ns = now_ns() + INT64_C(60000000000);
	long ranges = 0;
	bool more = true;

	while (more) {
		more = access(file, F_OK) && now_ns() < last_ns;
		push_all(work);
		ranges += work->events;
	}
	return ranges;
}

int main(int argc, char **argv)
{
	pthread_t thread[16];
	struct work work;
	int threads;
	int64_t start;

	if (argc < 3) {
		fprintf(stderr,
			"usage: burst EVENTS PER_SECOND [THREADS] | "
			"--steps COUNT PERIOD_MS [FILE] | --until FILE EVENTS PER_SECOND\n");
		return 2;
	}
	marks_init(MARKS_NVTX);
	if (!strcmp(argv[1], "--steps") && (argc == 4 || argc == 5))
		return steps(atol(argv[2]), atol(argv[3]), argv[4]);
	if (!strcmp(argv[1], "--until") && argc == 5 && atol(argv[3]) > 0 && atof(argv[4]) >= 1) {
		work = (struct work){ .events = atol(argv[3]), .per_second = atof(argv[4]) };
		start = now_ns();
		work.events = until_there(argv[2], &work);
		printf("ranges %ld ns %lld\n", work.events, (long long)(now_ns() - start));
		marks_release();
		return 0;
	}
	threads = argc > 3 ? atoi(argv[3]) : 1;
	if (threads < 1 || threads > 16 || atol(argv[1]) < 1 || atof(argv[2]) < 1) {
		fprintf(stderr,
			"burst: wrong numbers: events and pace at least 1, threads 1 to 16\n");
		return 2;
	}
	work.events = atol(argv[1]) / threads;
	work.per_second = atof(argv[2]) / threads;
	start = now_ns();
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, push_all, &work)) {
			perror("burst: no thread");
			return 1;
		}
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("ranges %ld ns %lld\n", work.events * threads, (long long)(now_ns() - start));
	marks_release();
	return 0;
}
