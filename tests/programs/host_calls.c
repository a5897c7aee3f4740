/* SPDX-License-Identifier: MIT */
/*
 * host_calls SECONDS: a loop in C that launches an OpenCL kernel and, while the device waits,
 * serves a request: it computes for the first half of the time, and waits for another thread in the
 * rest.
 * Each is done by a function of its own that the same one calls. It prints as JSON how long it was
 * in each by its own clock. Status 0 when the device has counted right.
 *
 * As a library: host_calls(SECONDS) does the same, for a program of Python that calls it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/cl_counter.h"

#define ROUNDS 6000000u
#define WAIT_US 10000

int host_calls(int seconds);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool asked, done;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The other thread: it takes its time for each request. */
static void *answer(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!done) {
		if (!asked) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		pthread_mutex_unlock(&lock);
		usleep(WAIT_US);
		pthread_mutex_lock(&lock);
		asked = false;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

__attribute__((noinline)) static uint32_t compute(uint32_t seed)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		seed = seed * 1664525u + 1013904223u;
	return seed;
}

__attribute__((noinline)) static void take(void)
{
	pthread_mutex_lock(&lock);
	asked = true;
	pthread_cond_broadcast(&changed);
	while (asked)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* Returns how long it took. */
__attribute__((noinline)) static int64_t serve(bool computes, uint32_t *seed)
{
	int64_t at_ns = now_ns();

	if (computes)
		*seed = compute(*seed);
	else
		take();
	return now_ns() - at_ns;
}

__attribute__((noinline, visibility("default"))) int host_calls(int seconds)
{
	static const char *source = "kernel void count_up(global int *a) { a[0]++; }\n";
	int64_t begin_ns = now_ns(), until_ns = begin_ns + seconds * INT64_C(1000000000);
	int64_t half_ns = begin_ns + (until_ns - begin_ns) / 2, ns[2] = { 0, 0 };
	int steps = 0, counted = 0;
	struct cl_counter counter;
	cl_command_queue queue;
	pthread_t other;
	uint32_t seed = 1;
	size_t one = 1;

	if (pthread_create(&other, NULL, answer, NULL) != 0)
		return 2;
	cl_counter_make(&counter, source, &counted, 1);
	queue = cl_counter_queue(&counter);
	for (; now_ns() < until_ns; steps++) {
		bool computes = now_ns() < half_ns;

		cl_must(clEnqueueNDRangeKernel(queue, counter.kernel, 1, NULL, &one, NULL, 0, NULL,
					       NULL), "launch");
		cl_must(clFinish(queue), "finish");
		ns[computes] += serve(computes, &seed);
	}
	pthread_mutex_lock(&lock);
	done = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(other, NULL);
	cl_must(clEnqueueReadBuffer(queue, counter.buffer, CL_TRUE, 0, sizeof(counted), &counted, 0,
				    NULL, NULL), "read");
	printf("{\"take\": %lld, \"compute\": %lld, \"run_ns\": %lld, \"right\": %s, "
	       "\"seed\": %u}\n", (long long)ns[0], (long long)ns[1],
	       (long long)(now_ns() - begin_ns), counted == steps ? "true" : "false", seed);
	return fflush(stdout) || counted != steps;
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
	return host_calls(argc > 1 ? atoi(argv[1]) : 1);
}
#endif
