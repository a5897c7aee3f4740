/* SPDX-License-Identifier: MIT */
/*
 * cuda_play [--truth FILE] [--map LIBRARY] [--quiet] SCRIPT: does on the CUDA driver's double what
 * a script says (cuda_script.h), and writes what the device did (tests/doubles/cuda/truth.c).
 * --map loads a library first (a libcupti, as a framework brings its own). At the end
 * it prints how many kernels a second were launched. Status 0; 1 when a call failed; 2 bad usage.
 */
#include "tests/programs/cuda_script.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/doubles/cuda/api.h"
#include "tests/doubles/cuda/sim.h"
#include "tests/probes/nvtx_double.h"

#define DEVICES 8

static struct script script;
static void *contexts[DEVICES], *streams[SCRIPT_NAMES], *functions[SCRIPT_NAMES];
static void *events[SCRIPT_NAMES], *graphs[SCRIPT_NAMES], *execs[SCRIPT_NAMES];
static struct sim_range *ranges[SCRIPT_NAMES];
static struct {
	uint64_t address;
	void *host;
	bool pool;
	int stream;
} allocs[SCRIPT_NAMES];
static atomic_ullong launched;
static pthread_barrier_t ready;

/* The memory that a thread copies from and to; it grows as needed. */
struct thread {
	int index;
	int64_t pace_ns, next_ns;
	uint64_t device[DEVICES], device_bytes[DEVICES], other, other_bytes;
	int other_device;
	void *host, *pinned;
	uint64_t host_bytes, pinned_bytes;
	int current;
};

static void failed(const struct line *l, const char *call, int result)
{
	if (l && l->may_fail)
		return;
	fprintf(stderr, "cuda_play: line %d: %s: error %d\n", l ? l->number : 0, call, result);
	exit(1);
}
#define DO(l, call) do { \
	int result_ = (call); \
	if (result_) \
		failed(l, #call, result_); \
} while (0)

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* --- where a line's work goes ----------------------------------------------- */

static int device_of(const struct line *l)
{
	return l->stream < 0 ? 0 : script.streams[l->stream].device;
}

static void *stream_for(struct thread *t, const struct line *l)
{
	int device = device_of(l);

	if (t->current != device) {
		DO(l, cuCtxSetCurrent(contexts[device]));
		t->current = device;
	}
	return l->stream < 0 ? NULL : streams[l->stream];
}

static uint64_t device_memory(struct thread *t, const struct line *l, int device)
{
	if (t->device_bytes[device] < l->bytes) {
		if (t->device[device])
			DO(l, cuMemFree_v2(t->device[device]));
		DO(l, cuMemAlloc_v2(&t->device[device], l->bytes));
		t->device_bytes[device] = l->bytes;
	}
	return t->device[device];
}

static void *host_memory(struct thread *t, const struct line *l)
{
	if (!l->pinned) {
		if (t->host_bytes < l->bytes) {
			t->host = realloc(t->host, l->bytes);
			t->host_bytes = l->bytes;
		}
		return t->host;
	}
	if (t->pinned_bytes < l->bytes) {
		if (t->pinned)
			DO(l, cuMemFreeHost(t->pinned));
		DO(l, cuMemAllocHost_v2(&t->pinned, l->bytes));
		t->pinned_bytes = l->bytes;
	}
	return t->pinned;
}

/* Memory at the other end of a copy between devices, or within one device. */
static uint64_t other_memory(struct thread *t, const struct line *l, int device)
{
	if (t->other_bytes < l->bytes || t->other_device != device) {
		if (t->other)
			DO(l, cuMemFree_v2(t->other));
		DO(l, cuCtxSetCurrent(contexts[device]));
		DO(l, cuMemAlloc_v2(&t->other, l->bytes));
		DO(l, cuCtxSetCurrent(contexts[t->current]));
		t->other_bytes = l->bytes;
		t->other_device = device;
	}
	return t->other;
}

/* --- statements ------------------------------------------------------------- */

static void keep_pace(struct thread *t)
{
	if (!t->pace_ns)
		return;
	t->next_ns += t->pace_ns;
	for (int64_t left; (left = t->next_ns - now_ns()) > 0;) {
		struct timespec ts = { t->next_ns / 1000000000, t->next_ns % 1000000000 };

		if (left > 100000)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
}

static void do_kernel(struct thread *t, const struct line *l)
{
	void *stream = stream_for(t, l), *function = functions[l->object];
	bool own = l->stream >= 0 && script.streams[l->stream].per_thread;

	sim_function_set(function, l->registers, l->shared);
	for (int64_t i = 0; i < l->count; i++) {
		keep_pace(t);
		sim_next(l->dur_ns);
		DO(l, (own ? cuLaunchKernel_ptsz : cuLaunchKernel)
			(function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
			 l->block[2], l->dynamic, stream, NULL, NULL));
	}
	atomic_fetch_add_explicit(&launched, (uint64_t)l->count, memory_order_relaxed);
}

static void do_copy(struct thread *t, const struct line *l)
{
	void *stream = stream_for(t, l);
	int device = device_of(l);
	uint64_t memory = device_memory(t, l, device), other = 0;
	void *host = NULL;

	if (l->way == WAY_H2D || l->way == WAY_D2H)
		host = host_memory(t, l);
	else
		other = other_memory(t, l, l->way == WAY_P2P ? l->to_device : device);
	for (int64_t i = 0; i < l->count; i++) {
		sim_next(l->dur_ns);
		if (l->way == WAY_D2D)
			DO(l, cuMemcpyDtoDAsync_v2(other, memory, l->bytes, stream));
		else if (l->way == WAY_P2P)
			DO(l, cuMemcpyPeerAsync(other, contexts[l->to_device], memory,
						contexts[device], l->bytes, stream));
		else if (l->sync && l->way == WAY_H2D)
			DO(l, cuMemcpyHtoD_v2(memory, host, l->bytes));
		else if (l->sync)
			DO(l, cuMemcpyDtoH_v2(host, memory, l->bytes));
		else if (l->way == WAY_H2D)
			DO(l, cuMemcpyHtoDAsync_v2(memory, host, l->bytes, stream));
		else
			DO(l, cuMemcpyDtoHAsync_v2(host, memory, l->bytes, stream));
	}
}

static void do_fill(struct thread *t, const struct line *l)
{
	void *stream = stream_for(t, l);
	uint64_t memory = device_memory(t, l, device_of(l));

	for (int64_t i = 0; i < l->count; i++) {
		sim_next(l->dur_ns);
		DO(l, cuMemsetD8Async(memory, 0, l->bytes, stream));
	}
}

static void do_alloc(struct thread *t, const struct line *l)
{
	void *stream = stream_for(t, l);

	if (l->pinned)
		DO(l, cuMemAllocHost_v2(&allocs[l->object].host, l->bytes));
	else if (l->managed)
		DO(l, cuMemAllocManaged(&allocs[l->object].address, l->bytes, 1));
	else if (l->pool)
		DO(l, cuMemAllocAsync(&allocs[l->object].address, l->bytes, stream));
	else
		DO(l, cuMemAlloc_v2(&allocs[l->object].address, l->bytes));
	allocs[l->object].pool = l->pool;
	allocs[l->object].stream = l->stream;
}

static void do_free(struct thread *t, const struct line *l)
{
	struct line where = *l;

	where.stream = allocs[l->object].stream;
	if (allocs[l->object].host)
		DO(l, cuMemFreeHost(allocs[l->object].host));
	else if (allocs[l->object].pool)
		DO(l, cuMemFreeAsync(allocs[l->object].address, stream_for(t, &where)));
	else
		DO(l, cuMemFree_v2(allocs[l->object].address));
	allocs[l->object].host = NULL;
	allocs[l->object].address = 0;
}

static void do_sync(struct thread *t, const struct line *l)
{
	void *stream = stream_for(t, l);

	if (l->event >= 0)
		DO(l, cuEventSynchronize(events[l->event]));
	else if (l->stream >= 0)
		DO(l, cuStreamSynchronize(stream));
	else
		DO(l, cuCtxSynchronize());
}

static void do_load(const struct line *l)
{
	void *module;

	DO(l, cuModuleLoadData(&module, l->ptx ? "// PTX" : "\177ELF"));
	DO(l, cuModuleUnload(module));
}

static void do_context(struct thread *t, const struct line *l)
{
	void *context;

	DO(l, cuCtxCreate_v2(&context, 0, 0));
	DO(l, cuCtxDestroy_v2(context));
	DO(l, cuCtxSetCurrent(contexts[t->current]));
}

static void write_truth(void);

static void simple(struct thread *t, const struct line *l)
{
	switch (l->what) {
	case S_KERNEL: do_kernel(t, l); break;
	case S_COPY: do_copy(t, l); break;
	case S_FILL: do_fill(t, l); break;
	case S_ALLOC: do_alloc(t, l); break;
	case S_FREE: do_free(t, l); break;
	case S_SYNC: do_sync(t, l); break;
	case S_LOAD: do_load(l); break;
	case S_CONTEXT: do_context(t, l); break;
	case S_LAUNCH:
		for (int64_t i = 0; i < l->count; i++)
			DO(l, cuGraphLaunch(execs[l->object], stream_for(t, l)));
		break;
	case S_RECORD: DO(l, cuEventRecord(events[l->object], stream_for(t, l))); break;
	case S_AWAIT: DO(l, cuStreamWaitEvent(stream_for(t, l), events[l->object], 0)); break;
	case S_QUERY: (void)cuStreamQuery(stream_for(t, l)); break;
	case S_WAIT: sim_sleep_until(sim_now() + l->dur_ns); break;
	case S_PACE:
		t->pace_ns = l->count ? 1000000000 / l->count : 0;
		t->next_ns = now_ns();
		break;
	case S_EXIT:
		sim_sleep_until(sim_now() + l->dur_ns);
		write_truth();
		exit(0);
	default: break;
	}
}

static void run(struct thread *t, const struct line *lines, int from, int to);

static void repeat(struct thread *t, const struct line *lines, int at)
{
	const struct line *l = &lines[at];
	int64_t end = now_ns() + l->dur_ns;

	for (int64_t i = 0; l->dur_ns ? now_ns() < end : i < l->count; i++)
		run(t, lines, at + 1, l->end);
}

static void capture(struct thread *t, const struct line *lines, int at)
{
	const struct line *l = &lines[at];
	void *stream = stream_for(t, l);

	DO(l, cuStreamBeginCapture_v2(stream, 0));
	run(t, lines, at + 1, l->end);
	DO(l, cuStreamEndCapture(stream, &graphs[l->object]));
	DO(l, cuGraphInstantiateWithFlags(&execs[l->object], graphs[l->object], 0));
}

static void run(struct thread *t, const struct line *lines, int from, int to)
{
	for (int i = from; i < to; i++) {
		const struct line *l = &lines[i];

		if (l->what == S_REPEAT) {
			repeat(t, lines, i);
			i = l->end;
		} else if (l->what == S_CAPTURE) {
			capture(t, lines, i);
			i = l->end;
		} else if (l->what == S_PROFILE) {
			DO(l, cuProfilerStart());
			run(t, lines, i + 1, l->end);
			DO(l, cuProfilerStop());
			i = l->end;
		} else if (l->what == S_RANGE) {
			sim_range_push(ranges[l->object]);
			nvtxRangePushA(script.ranges[l->object]);
			run(t, lines, i + 1, l->end);
			nvtxRangePop();
			sim_range_pop();
			i = l->end;
		} else {
			simple(t, l);
		}
	}
}

static void *thread_main(void *data)
{
	struct thread t = { .index = (int)(intptr_t)data };

	DO(NULL, cuCtxSetCurrent(contexts[0]));
	pthread_barrier_wait(&ready);
	run(&t, script.lines[t.index], 0, script.n_lines[t.index]);
	return NULL;
}

/* --- start and end ---------------------------------------------------------- */

static const char *truth;

static void write_truth(void)
{
	int error = truth ? sim_write_truth(truth) : 0;

	if (error) {
		fprintf(stderr, "cuda_play: '%s': %s\n", truth, strerror(error));
		exit(2);
	}
}

/* Settings of the script take precedence over the environment. */
static void set(const char *name, const char *words)
{
	const char *given = getenv(name);
	char all[2048];

	snprintf(all, sizeof(all), "%s %s", words, given ? given : "");
	if (*words)
		setenv(name, all, 1);
}

static void prepare(void)
{
	void *module;
	int devices;

	DO(NULL, cuInit(0));
	DO(NULL, cuDeviceGetCount(&devices));
	for (int i = 0; i < devices && i < DEVICES; i++)
		DO(NULL, cuDevicePrimaryCtxRetain(&contexts[i], i));
	for (int i = 0; i < script.n_streams; i++) {
		const struct script_stream *s = &script.streams[i];

		if (s->device >= devices) {
			fprintf(stderr, "cuda_play: stream '%s' is of device %d\n", s->name,
				s->device);
			exit(2);
		}
		DO(NULL, cuCtxSetCurrent(contexts[s->device]));
		if (s->per_thread)
			streams[i] = (void *)2;
		else
			DO(NULL,
			   cuStreamCreateWithPriority(&streams[i], s->non_blocking, s->priority));
	}
	DO(NULL, cuCtxSetCurrent(contexts[0]));
	DO(NULL, cuModuleLoadData(&module, "\177ELF"));
	for (int i = 0; i < script.n_kernels; i++)
		DO(NULL, cuModuleGetFunction(&functions[i], module, script.kernels[i]));
	for (int i = 0; i < script.n_ranges; i++)
		ranges[i] = sim_range(script.ranges[i]);
	for (int i = 0; i < script.n_events; i++)
		DO(NULL, cuEventCreate(&events[i], 0));
}

int main(int argc, char **argv)
{
	pthread_t threads[SCRIPT_THREADS];
	bool quiet = false;
	int64_t start, took;
	int at = 1;

	for (; at < argc - 1 && argv[at][0] == '-'; at++)
		if (!strcmp(argv[at], "--quiet"))
			quiet = true;
		else if (!strcmp(argv[at], "--truth"))
			truth = argv[++at];
		else if (!strcmp(argv[at], "--map") && !dlopen(argv[++at], RTLD_NOW | RTLD_GLOBAL))
			return fprintf(stderr, "cuda_play: %s\n", dlerror()), 2;
	if (at != argc - 1)
		return fprintf(stderr, "usage: cuda_play [--truth FILE] [--map LIBRARY] [--quiet] "
				       "SCRIPT\n"),
		       2;
	script_read(&script, argv[at]);
	set("CUDA_DOUBLE", script.device);
	set("CUPTI_DOUBLE", script.cupti);
	nvtxInitialize(NULL);
	prepare();
	pthread_barrier_init(&ready, NULL, (unsigned int)script.threads);
	start = now_ns();
	for (int i = 1; i < script.threads; i++)
		pthread_create(&threads[i], NULL, thread_main, (void *)(intptr_t)i);
	thread_main(NULL);
	for (int i = 1; i < script.threads; i++)
		pthread_join(threads[i], NULL);
	took = now_ns() - start;
	DO(NULL, cuCtxSynchronize());
	write_truth();
	if (!quiet)
		printf("%llu kernels in %.3f s, %.0f a second\n", atomic_load(&launched),
		       (double)took / 1e9, (double)atomic_load(&launched) * 1e9 / (double)took);
	return 0;
}
