/* SPDX-License-Identifier: MIT */
/*
 * Small kernels at a given rate: what a launch costs, and what of it arrives. Each thread
 * has a stream of its own, and launches in bunches of ten each time it is due, so that the
 * clock is not what is measured; in a range when --ranges.
 *
 *	rate [--per-second N] [--count N] [--threads N] [--ranges] [--pauses MS]
 *	     [--truth FILE] [--ends FILE] [--ready FILE] [--until FILE]
 *
 * --per-second 0: as fast as it goes. Prints one line: the kernels, how long it took from
 * the first launch to the last end, CPU time of the process meanwhile, and the median of the
 * bunches' times by kernel, all in ns. With --pauses it launches one at a time, waits for it
 * and writes to --ends when it had ended (CLOCK_REALTIME, s), then pauses so long. --ready is
 * written after the first of these; with --until it goes on until that file exists.
 */
#include <algorithm>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "truth.h"

#define BUNCH 10
#define THREADS_MAX 32

extern "C" __global__ void tick(int *data)
{
	data[threadIdx.x] = blockIdx.x;
}

static long per_second, count = 100000, pauses;
static int thread_count = 1;
static bool ranges;
static const char *truth_path, *ends_path, *ready_path, *until_path;
static pthread_barrier_t ready;

struct thread {
	pthread_t id;
	int64_t begin, end;
	std::vector<int64_t> bunches;	/* ns of each */
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_until(int64_t due)
{
	struct timespec t = { due / 1000000000, due % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void *launch_all(void *arg)
{
	struct thread *t = (struct thread *)arg;
	long bunches = count / BUNCH / thread_count;
	cudaStream_t stream;
	int *data;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&data, 4096));
	tick<<<1, 32, 0, stream>>>(data);
	CHECK(cudaStreamSynchronize(stream));
	t->bunches.reserve((size_t)bunches);
	pthread_barrier_wait(&ready);
	t->begin = now_ns(CLOCK_MONOTONIC);
	for (long i = 0; i < bunches; i++) {
		int64_t begin;

		if (per_second)
			wait_until(t->begin + i * BUNCH * thread_count * 1000000000 / per_second);
		begin = now_ns(CLOCK_MONOTONIC);
		if (ranges)
			nvtxRangePushA("bunch");
		for (int j = 0; j < BUNCH; j++)
			tick<<<1, 32, 0, stream>>>(data);
		if (ranges)
			nvtxRangePop();
		t->bunches.push_back(now_ns(CLOCK_MONOTONIC) - begin);
	}
	CHECK(cudaStreamSynchronize(stream));
	t->end = now_ns(CLOCK_MONOTONIC);
	return NULL;
}

static void launch_slowly(void)
{
	FILE *ends = fopen(ends_path ? ends_path : "/dev/null", "w");
	cudaStream_t stream;
	int *data;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc((void **)&data, 4096));
	if (!ends)
		exit(1);
	for (long i = 0; until_path ? access(until_path, F_OK) != 0 : i < count; i++) {
		tick<<<1, 32, 0, stream>>>(data);
		CHECK(cudaStreamSynchronize(stream));
		if (i == 0 && ready_path)
			close(creat(ready_path, 0644));
		fprintf(ends, "%.6f\n", (double)now_ns(CLOCK_REALTIME) / 1e9);
		fflush(ends);
		wait_until(now_ns(CLOCK_MONOTONIC) + pauses * 1000000);
	}
	fclose(ends);
}

static void read_options(char **argv)
{
	for (char **a = argv + 1; *a; a++) {
		if (strcmp(*a, "--ranges") == 0)
			ranges = true;
		else if (!a[1])
			exit(2);
		else if (strcmp(*a, "--per-second") == 0)
			per_second = atol(*++a);
		else if (strcmp(*a, "--count") == 0)
			count = atol(*++a);
		else if (strcmp(*a, "--threads") == 0)
			thread_count = std::min(std::max(atoi(*++a), 1), THREADS_MAX);
		else if (strcmp(*a, "--pauses") == 0)
			pauses = atol(*++a);
		else if (strcmp(*a, "--truth") == 0)
			truth_path = *++a;
		else if (strcmp(*a, "--ends") == 0)
			ends_path = *++a;
		else if (strcmp(*a, "--ready") == 0)
			ready_path = *++a;
		else if (strcmp(*a, "--until") == 0)
			until_path = *++a;
		else
			exit(2);
	}
}

int main(int argc, char **argv)
{
	static struct thread threads[THREADS_MAX];
	std::vector<int64_t> all;
	int64_t cpu, begin = INT64_MAX, end = 0;
	struct truth truth = {};
	long launched;

	(void)argc;
	read_options(argv);
	CHECK(cudaFree(0));
	if (pauses) {
		launch_slowly();
		truth_kernel_ran(&truth, "tick", NULL, NULL, count);
		truth_write(&truth, truth_path);
		return 0;
	}
	pthread_barrier_init(&ready, NULL, (unsigned)thread_count + 1);
	for (int i = 0; i < thread_count; i++)
		pthread_create(&threads[i].id, NULL, launch_all, &threads[i]);
	pthread_barrier_wait(&ready);
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < thread_count; i++) {
		pthread_join(threads[i].id, NULL);
		begin = std::min(begin, threads[i].begin);
		end = std::max(end, threads[i].end);
		all.insert(all.end(), threads[i].bunches.begin(), threads[i].bunches.end());
	}
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	std::sort(all.begin(), all.end());
	launched = (long)all.size() * BUNCH;
	printf("kernels %ld wall %lld cpu %lld launch %.0f\n", launched, (long long)(end - begin),
	       (long long)cpu, all.empty() ? 0.0 : (double)all[all.size() / 2] / BUNCH);
	truth_kernel_ran(&truth, "tick", NULL, NULL, launched + thread_count);
	truth_write(&truth, truth_path);
	return 0;
}
