/* SPDX-License-Identifier: MIT */
/*
 * facts: what a program pays on this machine for what tftop's probes do for each event: the
 * processor's counter, the clock, the processor's number. Prints "NAME NS" for each, the median of
 * 21 rounds. tests/gpu/run builds and runs it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#define ROUNDS 21
#define TIMES 100000

static volatile uint64_t sink;

static void counter(void)
{
	sink = __rdtsc();
}

static void monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	sink = (uint64_t)t.tv_nsec;
}

static void processor(void)
{
	sink = (uint64_t)sched_getcpu();
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int lower_first(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} what[] = {
		{ "rdtsc", counter }, { "clock_gettime", monotonic }, { "getcpu", processor },
	};

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		int64_t took[ROUNDS];

		for (int round = 0; round < ROUNDS; round++) {
			int64_t begin = now_ns();

			for (int k = 0; k < TIMES; k++)
				what[i].run();
			took[round] = now_ns() - begin;
		}
		qsort(took, ROUNDS, sizeof(took[0]), lower_first);
		printf("%s %.2f\n", what[i].name, (double)took[ROUNDS / 2] / TIMES);
	}
	return 0;
}
