/* SPDX-License-Identifier: MIT */
/*
 * host_calls SECONDS: a loop in C that launches an OpenCL kernel and, while the device waits,
 * serves a request: for a third of the time it computes, for another it waits until another thread
 * says that it is done, and then for a lock that another thread holds, which is called "keeper".
 * Each is done by a function of its own that the same one calls. It prints as JSON how long it was
 * in each by its own clock. Status 0 when the device has counted right.
 *
 * As a library: host_calls(SECONDS) does the same, for a program of Python that calls it.
 */
#include <pthread.h>
#include <stdatomic.h>
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
static pthread_mutex_t kept = PTHREAD_MUTEX_INITIALIZER;
static bool asked;
static atomic_bool done;
static atomic_uint entered;

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

/* Holds the lock, except for a moment in which the first thread gets it. */
static void *keep(void *arg)
{
	unsigned had;

	pthread_setname_np(pthread_self(), "keeper");
	pthread_mutex_lock(&kept);
	while (!done) {
		usleep(WAIT_US);
		had = entered;
		pthread_mutex_unlock(&kept);
		for (int i = 0; i < 100 && entered == had && !done; i++)
			usleep(10);
		pthread_mutex_lock(&kept);
	}
	pthread_mutex_unlock(&kept);
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

__attribute__((noinline)) static void enter(void)
{
	pthread_mutex_lock(&kept);
	entered++;
	pthread_mutex_unlock(&kept);
}

/* Returns how long it took. */
__attribute__((noinline)) static int64_t serve(int what, uint32_t *seed)
{
	int64_t at_ns = now_ns();

	if (what == 0)
		*seed = compute(*seed);
	else if (what == 1)
		take();
	else
		enter();
	return now_ns() - at_ns;
}

__attribute__((noinline, visibility("default"))) int host_calls(int seconds)
{
	static const char *source = "kernel void count_up(global int *a) { a[0]++; }\n";
	int64_t begin_ns = now_ns(), until_ns = begin_ns + seconds * INT64_C(1000000000);
	int64_t third_ns = (until_ns - begin_ns) / 3, ns[3] = { 0, 0, 0 };
	int steps = 0, counted = 0;
	struct cl_counter counter;
	cl_command_queue queue;
	pthread_t other, keeper;
	uint32_t seed = 1;
	size_t one = 1;

	if (pthread_create(&other, NULL, answer, NULL) != 0 ||
	    pthread_create(&keeper, NULL, keep, NULL) != 0)
		return 2;
	cl_counter_make(&counter, source, &counted, 1);
	queue = cl_counter_queue(&counter);
	for (; now_ns() < until_ns; steps++) {
		int64_t now = now_ns() - begin_ns;
		int what = now < third_ns ? 0 : now < third_ns * 2 ? 1 : 2;

		cl_must(clEnqueueNDRangeKernel(queue, counter.kernel, 1, NULL, &one, NULL, 0, NULL,
					       NULL), "launch");
		cl_must(clFinish(queue), "finish");
		ns[what] += serve(what, &seed);
	}
	pthread_mutex_lock(&lock);
	done = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(other, NULL);
	pthread_join(keeper, NULL);
	cl_must(clEnqueueReadBuffer(queue, counter.buffer, CL_TRUE, 0, sizeof(counted), &counted, 0,
				    NULL, NULL), "read");
	printf("{\"compute\": %lld, \"take\": %lld, \"enter\": %lld, \"run_ns\": %lld, "
	       "\"right\": %s, \"seed\": %u}\n", (long long)ns[0], (long long)ns[1],
	       (long long)ns[2], (long long)(now_ns() - begin_ns),
	       counted == steps ? "true" : "false", seed);
	return fflush(stdout) || counted != steps;
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
	return host_calls(argc > 1 ? atoi(argv[1]) : 1);
}
#endif
