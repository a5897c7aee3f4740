/* SPDX-License-Identifier: MIT */
/* Parallel regions whose number, threads and results are known: omp_test [TIMES]. */
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000

static long numbers[N];

static __attribute__((noinline)) long plain(void)
{
	long sum = 0;

#pragma omp parallel num_threads(3)
	{
#pragma omp atomic
		sum += omp_get_thread_num() + 10 * omp_get_num_threads();
	}
	return sum;
}

/* Started from a function that has the loop's bounds among its arguments. */
static __attribute__((noinline)) long loop(void)
{
	long sum = 0;

#pragma omp parallel for schedule(dynamic, 7) num_threads(2) reduction(+ : sum)
	for (int i = 3; i < N; i++)
		sum += numbers[i] * i;
	return sum;
}

static __attribute__((noinline)) long sections(void)
{
	long a = 0, b = 0;

#pragma omp parallel sections num_threads(2)
	{
#pragma omp section
		a = 5;
#pragma omp section
		b = 6;
	}
	return a * 10 + b;
}

/* A region in each thread of another. */
static __attribute__((noinline)) long nested(void)
{
	long sum = 0;

#pragma omp parallel num_threads(2)
	{
#pragma omp parallel num_threads(2)
		{
#pragma omp atomic
			sum += 1 + omp_get_level();
		}
	}
	return sum;
}

static long all(int times)
{
	long sum = 0;

	for (int i = 0; i < times; i++)
		sum += plain() + loop() + sections() + nested();
	return sum;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;

	omp_set_dynamic(0);
	omp_set_max_active_levels(2);
	for (int i = 0; i < N; i++)
		numbers[i] = i % 17;
	errno = 9;
	printf("%ld", all(times));
	printf(" errno %d\n", errno);
	return 6;
}
