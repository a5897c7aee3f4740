/* SPDX-License-Identifier: MIT */
/*
 * cuda_test WHAT: a CUDA program on the double of the driver that does what scripts do not say.
 *	names	streams that the user names, before and after they are used, and whose handles
 *		come back
 *	own	threads with default streams of their own
 *	attach	CUDA is in use before the probe is loaded (its library: second argument)
 *	refused	the same, and the probe must not come
 *	fork	a child goes on, without CUDA
 *	_exit	the end comes without a word
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/doubles/cuda/api.h"
#include "tests/doubles/cuda/sim.h"
#include "tests/probes/nvtx_double.h"

#define DO(call) do { \
	int result_ = (call); \
	if (result_) { \
		printf("%s: error %d\n", #call, result_); \
		_exit(1); \
	} \
} while (0)

static void *context, *module;

static void *function(const char *name)
{
	void *f;

	DO(cuModuleGetFunction(&f, module, name));
	return f;
}

static void launch(const char *name, void *stream, int64_t ns)
{
	sim_next(ns);
	DO(cuLaunchKernel(function(name), 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
}

static void start(void)
{
	DO(cuInit(0));
	DO(cuDevicePrimaryCtxRetain(&context, 0));
	DO(cuCtxSetCurrent(context));
	DO(cuModuleLoadData(&module, "image"));
}

/* Waits until all work so far has been delivered: a flush that started afterwards was followed by
 * another one. */
static void seen(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	void *h = dlopen(getenv("TFTOP_CUPTI"), RTLD_NOW | RTLD_NOLOAD);
	union {
		void *object;
		unsigned long (*function)(void);
	} flushes = { h ? dlsym(h, "cupti_double_flushes") : NULL };
	unsigned long until;

	DO(cuCtxSynchronize());
	DO(!flushes.object);
	until = flushes.function() + 2;
	for (int i = 0; flushes.function() < until; i++) {
		DO(i == 10000);
		nanosleep(&nap, NULL);
	}
}

static void names(void)
{
	void *before, *after, *again;

	DO(cuStreamCreate(&before, 1));
	nvtxNameCuStreamA(before, "named first");
	DO(cuStreamCreate(&after, 1));
	launch("a", before, 1000);
	launch("b", after, 1000);
	seen();
	nvtxNameCuStreamA(after, "named later");
	nvtxNameCuDeviceA(0, "the left one");
	seen();
	DO(cuStreamDestroy_v2(before));
	DO(cuStreamCreate(&again, 1));
	launch("c", again, 1000);
	seen();
}

static void *own_stream(void *arg)
{
	DO(cuCtxSetCurrent(context));
	for (int i = 0; i < 3; i++) {
		sim_next(1000);
		DO(cuLaunchKernel_ptsz(function(arg), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	}
	DO(cuStreamSynchronize((void *)2));
	return NULL;
}

static void own(void)
{
	static char theirs[] = "theirs", mine[] = "mine";
	pthread_t thread;

	DO(pthread_create(&thread, NULL, own_stream, theirs));
	DO(pthread_join(thread, NULL));
	own_stream(mine);
	launch("shared", NULL, 1000);
	seen();
}

static int (*attach_entry(const char *library))(void)
{
	void *h = dlopen(library, RTLD_NOW);
	union {
		void *object;
		int (*function)(void);
	} entry = { h ? dlsym(h, "tftop_probe_attach") : NULL };

	if (!entry.object || entry.function() <= 0) {
		printf("attach before cuInit: %s\n", h ? "not refused" : dlerror());
		_exit(1);
	}
	start();
	return entry.function;
}

static void refused(const char *library)
{
	int (*entry)(void) = attach_entry(library);

	launch("unseen", NULL, 1000);
	if (entry() >= 0 || entry() >= 0)
		puts("attach: not refused");
	launch("unseen", NULL, 1000);
	DO(cuCtxSynchronize());
}

static void attach(const char *library)
{
	int (*entry)(void) = attach_entry(library);
	void *stream;

	DO(cuStreamCreate(&stream, 1));
	launch("unseen", stream, 1000);
	if (entry()) {
		puts("attach: refused");
		_exit(1);
	}
	if (entry())
		puts("attach: refused the second time");
	launch("seen", stream, 1000);
	launch("seen too", NULL, 1000);
	seen();
}

static void child(void)
{
	pid_t pid;
	int status;

	launch("parent", NULL, 1000);
	pid = fork();
	if (!pid) {
		nvtxRangePushA("in the child");
		nvtxRangePop();
		_exit(0);
	}
	DO(pid < 0 || waitpid(pid, &status, 0) != pid || status);
	launch("parent again", NULL, 1000);
	seen();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	nvtxInitialize(NULL);
	if (!strcmp(what, "attach") && argc > 2) {
		attach(argv[2]);
		return 0;
	}
	if (!strcmp(what, "refused") && argc > 2) {
		refused(argv[2]);
		return 0;
	}
	start();
	if (!strcmp(what, "names"))
		names();
	else if (!strcmp(what, "own"))
		own();
	else if (!strcmp(what, "fork"))
		child();
	else if (!strcmp(what, "_exit")) {
		launch("last", NULL, 1000);
		DO(cuCtxSynchronize());
		_exit(3);
	} else {
		return 2;
	}
	return 0;
}
