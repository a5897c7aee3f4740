/* SPDX-License-Identifier: MIT */
/*
 * host_functions SECONDS: a loop in C that launches an OpenCL kernel and, while the device waits,
 * computes in one of two functions that only the file's own table of symbols names; one of them has
 * a name of C++. The first quarter of the time is of one function, the rest of the other: what
 * alternates between two looks can be told by chance only. It prints as JSON how long it was in
 * each by its own clock. Status 0 when the device has counted right.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/programs/cl_counter.h"

#define ROUNDS 6000000u

__attribute__((noinline)) static uint32_t tokenize(uint32_t seed);
__attribute__((noinline)) static uint32_t decode(uint32_t seed) __asm__("_ZN6server6decodeEj");

static uint32_t tokenize(uint32_t seed)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		seed = seed * 1664525u + 1013904223u;
	return seed;
}

static uint32_t decode(uint32_t seed)
{
	for (uint32_t i = 0; i < ROUNDS * 2; i++)
		seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
	return seed;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	static const char *source = "kernel void count_up(global int *a) { a[0]++; }\n";
	int64_t begin_ns = now_ns(), until_ns, first_ns, at_ns, ns[2] = { 0, 0 };
	uint32_t seed = 1;
	int steps = 0, counted = 0;
	struct cl_counter counter;
	cl_command_queue queue;
	size_t one = 1;

	until_ns = begin_ns + (argc > 1 ? atoi(argv[1]) : 1) * INT64_C(1000000000);
	cl_counter_make(&counter, source, &counted, 1);
	queue = cl_counter_queue(&counter);
	first_ns = begin_ns + (until_ns - begin_ns) / 4;
	while (now_ns() < until_ns) {
		bool first = now_ns() < first_ns;

		cl_must(clEnqueueNDRangeKernel(queue, counter.kernel, 1, NULL, &one, NULL, 0, NULL,
					       NULL), "launch");
		cl_must(clFinish(queue), "finish");
		at_ns = now_ns();
		seed = first ? tokenize(seed) : decode(seed);
		ns[first ? 0 : 1] += now_ns() - at_ns;
		steps++;
	}
	cl_must(clEnqueueReadBuffer(queue, counter.buffer, CL_TRUE, 0, sizeof(counted), &counted, 0,
				    NULL, NULL), "read");
	printf("{\"tokenize\": %lld, \"decode\": %lld, \"run_ns\": %lld, \"right\": %s, "
	       "\"seed\": %u}\n", (long long)ns[0], (long long)ns[1],
	       (long long)(now_ns() - begin_ns), counted == steps ? "true" : "false", seed);
	return counted != steps;
}
