/* SPDX-License-Identifier: MIT */
/*
 * cuda_stress WHAT [THREADS] [COUNT]: what is hard on a profiler, on the double of the driver.
 *	launch	threads launch COUNT kernels each, on streams of their own
 *	streams	the same, each kernel on a stream that is made for it
 *	threads	COUNT threads for each of THREADS, one after another, launch once each
 *	fork	launch, while the first thread forks a child per 1000 launches: "children N"
 *	exit	threads launch until the process has ended; its end comes after COUNT ms
 * Its last line is "kB A B C ns T": of the process in memory before, after half and all of it;
 * CPU time of a launch.
 * CUDA_DOUBLE_TRUTH has what the device did. NAME_BYTES in the environment: so long is a
 * kernel's name.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/doubles/cuda/api.h"
#include "tests/doubles/cuda/sim.h"
#include "tests/probes/nvtx_double.h"

#define THREADS 64
#define NAMES 16

static void *context, *functions[NAMES];
static atomic_long launched, cpu_ns, launches_n;
static long count;
static atomic_int started;
static bool for_ever, fresh;

static void launch(void *stream, long i)
{
	sim_next(100);
	MUST(cuLaunchKernel(functions[i % NAMES], 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
	atomic_fetch_add_explicit(&launched, 1, memory_order_relaxed);
}

static void *launches(void *arg)
{
	void *stream = NULL;
	struct timespec t;

	(void)arg;
	MUST(cuCtxSetCurrent(context));
	if (!fresh)
		MUST(cuStreamCreate(&stream, 1));
	atomic_fetch_add(&started, 1);
	for (long i = 0; for_ever || i < count; i++) {
		if (fresh)
			MUST(cuStreamCreate(&stream, 1));
		if (i % 8 == 0) {
			nvtxRangePushA("some op");
			sim_range_push(sim_range("some op"));
		}
		launch(stream, i);
		if (i % 8 == 7) {
			nvtxRangePop();
			sim_range_pop();
		}
		if (fresh)
			MUST(cuStreamDestroy_v2(stream));
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	atomic_fetch_add(&cpu_ns, t.tv_sec * 1000000000 + t.tv_nsec);
	atomic_fetch_add(&launches_n, count);
	return NULL;
}

static void *launches_once(void *arg)
{
	(void)arg;
	MUST(cuCtxSetCurrent(context));
	launch(NULL, 0);
	return NULL;
}

static void start(void)
{
	const char *wish = getenv("NAME_BYTES");
	size_t bytes = wish ? strtoul(wish, NULL, 10) : 0;
	void *module;

	nvtxInitialize(NULL);
	MUST(cuInit(0));
	MUST(cuDevicePrimaryCtxRetain(&context, 0));
	MUST(cuCtxSetCurrent(context));
	MUST(cuModuleLoadData(&module, "image"));
	for (int i = 0; i < NAMES; i++) {
		char name[4096] = "";

		if (bytes > 64 && bytes < sizeof(name))
			memset(name, 'v', bytes - 16);
		snprintf(name + strlen(name), 64, "kernel_%d", i);
		MUST(cuModuleGetFunction(&functions[i], module, name));
	}
}

static long resident_kb(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static long forked;

static void children(int threads)
{
	while (atomic_load(&launched) < threads * count) {
		long next = atomic_load(&launched) + 1000;
		pid_t pid = fork();
		int status;

		if (!pid) {
			nvtxRangePushA("in a child");
			nvtxRangePop();
			exit(0);
		}
		MUST(pid < 0 || waitpid(pid, &status, 0) != pid || status);
		forked++;
		while (atomic_load(&launched) < next && atomic_load(&launched) < threads * count)
			sched_yield();
	}
}

static void side_by_side(int n, void *(*work)(void *), bool forks)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < n; i++)
		MUST(pthread_create(&threads[i], NULL, work, NULL));
	if (forks)
		children(n);
	for (int i = 0; i < n; i++)
		MUST(pthread_join(threads[i], NULL));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int threads = argc > 2 ? atoi(argv[2]) : 8;
	long before, half;

	count = argc > 3 ? atol(argv[3]) : 1000;
	if (threads < 1 || threads > THREADS)
		return 2;
	start();
	before = half = resident_kb();
	fresh = !strcmp(what, "streams");
	if (!strcmp(what, "threads")) {
		for (long i = 0; i < count; i++) {
			side_by_side(threads, launches_once, false);
			if (i == count / 2)
				half = resident_kb();
		}
	} else if (!strcmp(what, "exit")) {
		struct timespec t = { count / 1000, count % 1000 * 1000000 };
		pthread_t thread;

		for_ever = true;
		for (int i = 0; i < threads; i++)
			MUST(pthread_create(&thread, NULL, launches, NULL));
		while (atomic_load(&started) < threads)
			sched_yield();
		nanosleep(&t, NULL);
		return 0;
	} else if (fresh || !strcmp(what, "launch") || !strcmp(what, "fork")) {
		count /= 2;
		cpu_ns = 0;
		side_by_side(threads, launches, !strcmp(what, "fork"));
		half = resident_kb();
		atomic_store(&launched, 0);
		side_by_side(threads, launches, !strcmp(what, "fork"));
	} else {
		return 2;
	}
	MUST(cuCtxSynchronize());
	if (forked)
		printf("children %ld\n", forked);
	printf("kB %ld %ld %ld ns %ld\n", before, half, resident_kb(),
	       launches_n ? cpu_ns / launches_n : 0);
	return 0;
}
