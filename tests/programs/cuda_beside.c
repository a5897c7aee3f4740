/* SPDX-License-Identifier: MIT */
/*
 * cuda_beside WHAT [ROUNDS] [THREADS]: a program on the double of the driver that profiles parts of
 * its own work by CUPTI, in the order of calls of
 *	torch	PyTorch's profiler, which keeps its subscription, with a clock of its own
 *	xla	XLA's, which ends it, and CUPTI with it
 *	calls	a client that asks for callbacks of launches only
 *	exit	PyTorch's, which is still on when the process ends
 * In each round it launches 50 kernels "alone", and then 70 "profiled" while its own profiler is
 * on; in every second round the first are still running when that begins. It prints what the
 * profiler got. THREADS more launch all the time. With CUDA_BESIDE_WAIT=SECONDS it waits before
 * each round, and at the end, until another client has the device, as tftop should; its main thread
 * is called "waiting" from then on.
 *
 * Built twice: cuda_beside looks functions up by dlsym() in the libcupti that CUDA_BESIDE_LIB
 * names, as XLA does; cuda_beside_linked is linked to one, as PyTorch is.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "probes/cuda/cupti.h"
#include "tests/doubles/cuda/api.h"
#include "tests/doubles/cuda/sim.h"

#define ALONE 50
#define PROFILED 70
#define BUFFER (1u << 20)

int cuptiSubscribe(struct cupti_subscriber **handle, cupti_callback_fn *callback, void *user);
int cuptiUnsubscribe(struct cupti_subscriber *handle);
int cuptiFinalize(void);
int cuptiEnableCallback(uint32_t on, struct cupti_subscriber *handle, uint32_t domain, uint32_t id);
int cuptiEnableDomain(uint32_t on, struct cupti_subscriber *handle, uint32_t domain);
int cuptiActivityRegisterCallbacks(cupti_request_fn *request, cupti_complete_fn *complete);
int cuptiActivityRegisterTimestampCallback(cupti_timestamp_fn *clock);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);
bool cupti_double_records(void);

#ifdef LINKED
#define OF(function) function
#else
static void *library;

static void *found(const char *name)
{
	void *address = dlsym(library, name);

	if (!address) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(1);
	}
	return address;
}
#define OF(function) ((__typeof__(&function))found(#function))
#endif

static void *context, *alone, *profiled, *threaded;
static atomic_bool stop;
static int waits;	/* seconds */

/* ---- what the program's profiler gets ---- */

static struct { const char *name; unsigned n, without_end; uint64_t ns; } got[3] = {
	{ "alone", 0, 0, 0 }, { "profiled", 0, 0, 0 }, { "threaded", 0, 0, 0 },
};
static unsigned contexts_made, launches_seen;
static int64_t clock_ahead_ns;
static atomic_int buffers_out;

static void request(uint8_t **buffer, size_t *size, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*most = 0;
	atomic_fetch_add(&buffers_out, 1);
}

static void complete(void *of, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *record = NULL;

	(void)of;
	(void)stream;
	(void)size;
	while (valid && !OF(cuptiActivityGetNextRecord)(buffer, valid, &record)) {
		const struct cupti_kernel *k = record;

		for (unsigned i = 0; k->kind == CUPTI_KIND_CONCURRENT_KERNEL && i < 3; i++)
			if (!strcmp(k->name, got[i].name)) {
				got[i].n++;
				got[i].ns += k->end - k->start;
				got[i].without_end += !k->end;
			}
	}
	free(buffer);
	atomic_fetch_sub(&buffers_out, 1);
}

static void called(void *user, uint32_t domain, uint32_t id, const void *data)
{
	const struct cupti_callback *call = data;

	if (user != &contexts_made)
		_exit(3);
	contexts_made += domain == CUPTI_DOMAIN_RESOURCE && id == CUPTI_RESOURCE_CONTEXT_CREATED;
	if (domain == CUPTI_DOMAIN_RESOURCE && id != CUPTI_RESOURCE_CONTEXT_CREATED)
		_exit(4);	/* not asked for */
	if (domain == CUPTI_DOMAIN_DRIVER && call->site == CUPTI_ENTER && call->symbol &&
	    !strcmp(call->symbol, "profiled"))
		launches_seen++;
}

static uint64_t own_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)(t.tv_sec * 1000000000 + t.tv_nsec + clock_ahead_ns);
}

/* ---- its order of calls ---- */

static struct cupti_subscriber *subscriber;

static void begin(const char *what)
{
	static const uint32_t kinds[] = { CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_KIND_COPY };
	bool torch = strcmp(what, "xla") && strcmp(what, "calls");

	for (unsigned i = 0; i < 3; i++)
		got[i].n = got[i].without_end = 0, got[i].ns = 0;
	launches_seen = 0;
	if (!subscriber) {
		MUST(OF(cuptiSubscribe)(&subscriber, called, &contexts_made));
		if (torch)
			MUST(OF(cuptiEnableCallback)(1, subscriber, CUPTI_DOMAIN_RESOURCE,
						   CUPTI_RESOURCE_CONTEXT_CREATED));
	}
	if (!torch)
		MUST(OF(cuptiEnableDomain)(1, subscriber, CUPTI_DOMAIN_DRIVER));
	if (!strcmp(what, "calls"))
		return;
	if (torch) {
		clock_ahead_ns = 3600ll * 1000000000;
		MUST(OF(cuptiActivityRegisterTimestampCallback)(own_clock));
	}
	MUST(OF(cuptiActivityRegisterCallbacks)(request, complete));
	for (unsigned i = 0; i < 2; i++)
		MUST(OF(cuptiActivityEnable)(kinds[i]));
}

static void end(const char *what)
{
	bool torch = strcmp(what, "xla") && strcmp(what, "calls");

	if (!torch)
		MUST(OF(cuptiEnableDomain)(0, subscriber, CUPTI_DOMAIN_DRIVER));
	if (strcmp(what, "calls") != 0) {
		MUST(OF(cuptiActivityDisable)(CUPTI_KIND_CONCURRENT_KERNEL));
		MUST(OF(cuptiActivityDisable)(CUPTI_KIND_COPY));
		MUST(OF(cuptiActivityFlushAll)(CUPTI_FLUSH_FORCED));
	}
	if (!torch) {
		MUST(OF(cuptiUnsubscribe)(subscriber));
		subscriber = NULL;
	}
	if (!strcmp(what, "xla"))
		MUST(OF(cuptiFinalize)());
}

/* ---- its work ---- */

static void launch(void *function, int n, void *stream, int64_t ns)
{
	for (int i = 0; i < n; i++) {
		sim_next(ns);
		MUST(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
	}
}

static void *launches(void *arg)
{
	void *stream;

	MUST(cuCtxSetCurrent(context));
	MUST(cuStreamCreate(&stream, 1));
	while (!atomic_load(&stop)) {
		launch(threaded, 20, stream, 1000);
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
	}
	MUST(cuStreamSynchronize(stream));
	return arg;
}

static void wait_other(void)
{
	for (int i = 0; waits && !OF(cupti_double_records)(); i++) {
		if (i == waits * 1000) {
			fprintf(stderr, "no other client has taken the device\n");
			_exit(5);
		}
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

static void start(void)
{
	void *module;

#ifndef LINKED
	library = dlopen(getenv("CUDA_BESIDE_LIB"), RTLD_NOW | RTLD_LOCAL);
#endif
	waits = getenv("CUDA_BESIDE_WAIT") ? atoi(getenv("CUDA_BESIDE_WAIT")) : 0;
	MUST(cuInit(0));
	MUST(cuDevicePrimaryCtxRetain(&context, 0));
	MUST(cuCtxSetCurrent(context));
	MUST(cuModuleLoadData(&module, "image"));
	MUST(cuModuleGetFunction(&alone, module, "alone"));
	MUST(cuModuleGetFunction(&profiled, module, "profiled"));
	MUST(cuModuleGetFunction(&threaded, module, "threaded"));
	if (waits)
		prctl(PR_SET_NAME, "waiting");
}

static void tell(int round, const char *what)
{
	if (!strcmp(what, "calls"))
		printf("round %d: %u launches\n", round, launches_seen);
	else
		printf("round %d: profiled %u in %llu ns, %u without an end, alone %u, %d buffers "
		       "out\n", round, got[1].n, (unsigned long long)got[1].ns,
		       got[1].without_end, got[0].n, atomic_load(&buffers_out));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int rounds = argc > 2 ? atoi(argv[2]) : 3, n = argc > 3 ? atoi(argv[3]) : 0;
	pthread_t threads[16];

	start();
	for (int i = 0; i < n && i < 16; i++)
		MUST(pthread_create(&threads[i], NULL, launches, NULL));
	for (int round = 0; round < rounds; round++) {
		wait_other();
		launch(alone, ALONE, NULL, round % 2 ? 400000 : 20000);
		if (round % 2 == 0)
			MUST(cuCtxSynchronize());
		begin(what);
		launch(profiled, PROFILED, NULL, 30000);
		MUST(cuCtxSynchronize());
		if (!strcmp(what, "exit") && round == rounds - 1)
			exit(0);
		end(what);
		tell(round, what);
	}
	wait_other();
	launch(alone, ALONE, NULL, 20000);
	atomic_store(&stop, true);
	for (int i = 0; i < n && i < 16; i++)
		pthread_join(threads[i], NULL);
	MUST(cuCtxSynchronize());
	return 0;
}
