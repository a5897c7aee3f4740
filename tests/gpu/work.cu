/* SPDX-License-Identifier: MIT */
/*
 * The plain things, in turns: copies of every kind, kernels on streams of different
 * priority, on the default stream and in threads, memsets, events, allocations from the
 * device, the host and a pool, all in NVTX ranges. It knows what it did (truth.h) and checks
 * what the kernels computed.
 *
 *	work [--turns N] [--streams N] [--threads N] [--processes N] [--device N]
 *	     [--truth FILE] [--unchecked]
 *
 * Compiled with --default-stream per-thread too: then "the default stream" is another
 * one in each thread. With --processes the program starts itself so often, one after
 * another and beside each other, and all write FILE.0, FILE.1, …; --unchecked: for a device that
 * runs no code (tests/doubles).
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define DEFAULT_QUEUE NULL	/* each thread's has a number only */
#else
#define DEFAULT_QUEUE "default stream"
#endif
#define STREAMS_MAX 16
#define THREADS_MAX 32
#define ARGS_MAX 32
#define COUNT 4096		/* floats of a stream's turn */

extern char **environ;

extern "C" __global__ void add_one(float *data, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		data[i] += 1;
}

template <typename T> __global__ void scale(T *data, int count, T by)
{
	__shared__ T part[128];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count) {
		part[threadIdx.x] = data[i];
		data[i] = part[threadIdx.x] * by;
	}
}
#define SCALE_FLOAT "_Z5scaleIfEvPT_iS0_"

static struct options {
	int turns, streams, threads, processes, device;
	const char *truth;
	bool unchecked;
} options = { 10, 2, 1, 0, 0, NULL, false };

struct lane {
	cudaStream_t stream;
	cudaEvent_t done;
	char name[32];
	float *host, *device, *other;
};

struct worker {
	struct truth truth;
	struct lane lanes[STREAMS_MAX];
	int number;
	long wrong;
};

static void make_lanes(struct worker *w)
{
	int least, greatest;
	size_t bytes = COUNT * sizeof(float);

	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	for (int i = 0; i < options.streams; i++) {
		struct lane *l = &w->lanes[i];

		CHECK(cudaStreamCreateWithPriority(&l->stream, cudaStreamNonBlocking,
						   i % 2 ? greatest : least));
		snprintf(l->name, sizeof(l->name), "lane %d.%d", w->number, i);
		nvtxNameCudaStreamA(l->stream, l->name);
		CHECK(cudaEventCreateWithFlags(&l->done, cudaEventDisableTiming));
		CHECK(cudaMallocHost((void **)&l->host, bytes));
		CHECK(cudaMalloc((void **)&l->device, bytes));
		CHECK(cudaMalloc((void **)&l->other, bytes));
		truth_allocated(&w->truth, "cuda pinned", bytes);
		truth_allocated(&w->truth, "cuda device", bytes);
		truth_allocated(&w->truth, "cuda device", bytes);
	}
}

static void free_lanes(struct worker *w)
{
	size_t bytes = COUNT * sizeof(float);

	for (int i = 0; i < options.streams; i++) {
		struct lane *l = &w->lanes[i];

		CHECK(cudaFree(l->other));
		CHECK(cudaFree(l->device));
		CHECK(cudaFreeHost(l->host));
		CHECK(cudaEventDestroy(l->done));
		CHECK(cudaStreamDestroy(l->stream));
		truth_freed(&w->truth, "cuda device", bytes);
		truth_freed(&w->truth, "cuda device", bytes);
		truth_freed(&w->truth, "cuda pinned", bytes);
	}
}

/* Filled with turn, copied, + 1, * 2, copied on the device and back. */
static void lane_turn(struct worker *w, struct lane *l, int turn)
{
	size_t bytes = COUNT * sizeof(float);

	for (int i = 0; i < COUNT; i++)
		l->host[i] = turn;
	nvtxRangePushA("feed");
	CHECK(cudaMemcpyAsync(l->device, l->host, bytes, cudaMemcpyHostToDevice, l->stream));
	CHECK(cudaMemsetAsync(l->other, 0, bytes, l->stream));
	nvtxRangePop();
	nvtxRangePushA("compute");
	add_one<<<COUNT / 128, 128, 0, l->stream>>>(l->device, COUNT);
	scale<float><<<COUNT / 128, 128, 1024, l->stream>>>(l->device, COUNT, 2.0f);
	CHECK(cudaGetLastError());
	nvtxRangePop();
	nvtxRangePushA("fetch");
	CHECK(cudaMemcpyAsync(l->other, l->device, bytes, cudaMemcpyDeviceToDevice, l->stream));
	CHECK(cudaMemcpyAsync(l->host, l->other, bytes, cudaMemcpyDeviceToHost, l->stream));
	CHECK(cudaEventRecord(l->done, l->stream));
	nvtxRangePop();
	truth_copied(&w->truth, "h2d", bytes, 1);
	truth_copied(&w->truth, "fill", bytes, 1);
	truth_copied(&w->truth, "d2d", bytes, 1);
	truth_copied(&w->truth, "d2h", bytes, 1);
	truth_kernel_ran(&w->truth, "add_one", l->name, "compute", 1);
	truth_kernel_ran(&w->truth, SCALE_FLOAT, l->name, "compute", 1);
}

/* Pageable memory, blocking calls, the default stream, and memory of a pool. */
static void default_turn(struct worker *w, int turn)
{
	float host[256], *device;

	for (int i = 0; i < 256; i++)
		host[i] = turn;
	nvtxRangePushA("plain");
	CHECK(cudaMallocAsync((void **)&device, sizeof(host), 0));
	CHECK(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
	add_one<<<2, 128>>>(device, 256);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
	CHECK(cudaFreeAsync(device, 0));
	nvtxRangePop();
	for (int i = 0; i < 256; i++)
		w->wrong += host[i] != turn + 1;
	truth_allocated(&w->truth, "cuda pool", sizeof(host));
	truth_freed(&w->truth, "cuda pool", sizeof(host));
	truth_copied(&w->truth, "h2d", sizeof(host), 1);
	truth_copied(&w->truth, "d2h", sizeof(host), 1);
	truth_kernel_ran(&w->truth, "add_one", DEFAULT_QUEUE, "plain", 1);
	truth_called(&w->truth, "cudaMallocAsync", false);
}

static void *work(void *arg)
{
	struct worker *w = (struct worker *)arg;

	CHECK(cudaSetDevice(options.device));
	make_lanes(w);
	for (int turn = 0; turn < options.turns; turn++) {
		for (int i = 0; i < options.streams; i++)
			lane_turn(w, &w->lanes[i], turn);
		/* the first lane's next turn is after all others' */
		for (int i = 1; i < options.streams; i++)
			CHECK(cudaStreamWaitEvent(w->lanes[0].stream, w->lanes[i].done, 0));
		for (int i = 0; i < options.streams; i++) {
			if (i % 2)
				CHECK(cudaEventSynchronize(w->lanes[i].done));
			else
				CHECK(cudaStreamSynchronize(w->lanes[i].stream));
			truth_called(&w->truth, i % 2 ? "cudaEventSynchronize" :
				     "cudaStreamSynchronize", false);
			for (int j = 0; j < COUNT; j++)
				w->wrong += w->lanes[i].host[j] != (turn + 1) * 2.0f;
		}
		default_turn(w, turn);
	}
	free_lanes(w);
	return NULL;
}

/* This program again, several times at once; the status of the first that failed. */
static int spawn_all(int argc, char **argv)
{
	char *args[ARGS_MAX + 3], path[4096];
	pid_t pids[64];
	int count = 0, status, bad = 0;

	for (int i = 0; i < argc && count < ARGS_MAX; i++) {
		if (strcmp(argv[i], "--processes") == 0 || strcmp(argv[i], "--truth") == 0)
			i++;
		else
			args[count++] = argv[i];
	}
	args[count] = (char *)"--truth";
	args[count + 1] = path;
	args[count + 2] = NULL;
	if (!options.truth)
		args[count] = NULL;
	for (int i = 0; i < options.processes; i++) {
		snprintf(path, sizeof(path), "%s.%d", options.truth ? options.truth : "", i);
		if (posix_spawn(&pids[i], "/proc/self/exe", NULL, NULL, args, environ) != 0) {
			perror("posix_spawn");
			return 1;
		}
	}
	for (int i = 0; i < options.processes; i++) {
		waitpid(pids[i], &status, 0);
		if (status && !bad)
			bad = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	return bad;
}

static int limited(const char *text, int most)
{
	int value = text ? atoi(text) : 0;

	if (value < 0 || value > most || !text) {
		fprintf(stderr, "work: a number up to %d, not '%s'\n", most, text ? text : "");
		exit(2);
	}
	return value;
}

static void read_options(char **argv)
{
	for (char **a = argv + 1; *a; a++) {
		if (strcmp(*a, "--unchecked") == 0)
			options.unchecked = true;
		else if (strcmp(*a, "--turns") == 0)
			options.turns = limited(*++a, 1000000);
		else if (strcmp(*a, "--streams") == 0)
			options.streams = limited(*++a, STREAMS_MAX);
		else if (strcmp(*a, "--threads") == 0)
			options.threads = limited(*++a, THREADS_MAX);
		else if (strcmp(*a, "--processes") == 0)
			options.processes = limited(*++a, 64);
		else if (strcmp(*a, "--device") == 0)
			options.device = limited(*++a, 64);
		else if (strcmp(*a, "--truth") == 0 && a[1])
			options.truth = *++a;
		else {
			fprintf(stderr, "work: what is '%s'?\n", *a);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS_MAX];
	pthread_t threads[THREADS_MAX];
	long wrong = 0;

	read_options(argv);
	if (options.processes)
		return spawn_all(argc, argv);
	for (int i = 0; i < options.threads; i++) {
		workers[i].number = i;
		if (i)
			pthread_create(&threads[i], NULL, work, &workers[i]);
	}
	work(&workers[0]);
	for (int i = 0; i < options.threads; i++) {
		if (i) {
			pthread_join(threads[i], NULL);
			truth_add(&workers[0].truth, &workers[i].truth);
		}
		wrong += workers[i].wrong;
	}
	truth_write(&workers[0].truth, options.truth);
	if (wrong && !options.unchecked) {
		fprintf(stderr, "work: %ld numbers are wrong\n", wrong);
		return 1;
	}
	return 0;
}
