/* SPDX-License-Identifier: MIT */
/*
 * libtftop_pluggable.so: a profiler that TensorFlow loads as that of a pluggable device
 * (docs/pluggable.md). Between Start and Stop of TensorFlow's own profiler it lets the runtime of
 * tftop's probes keep what devices did (tap.h), and returns that as an XSpace.
 *
 * Always true: it links with libc only; the runtime is used if it is in the process, and its
 * absence is not an error. It has no device, changes no status, allocates nothing outside of
 * Collect, and may be called in any order.
 *
 * Threads: TensorFlow calls from one thread at a time per profiler; a lock separates several
 * profilers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probes/pluggable/api.h"
#include "probes/pluggable/space.h"

#define SETTLE_NS 100000000	/* time for what has ended and has not been written yet */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tap tap;
static bool open_now;		/* the tap was opened here */
static int64_t start_ns, stop_ns, real_ns;
static uint8_t *packed;		/* owned; NULL: there is nothing to return */
static size_t packed_bytes;

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* RTLD_NOLOAD: does not load what is not there. */
static bool find_runtime(void)
{
	void *runtime = dlopen("libtftop-runtime.so", RTLD_LAZY | RTLD_NOLOAD);

	if (!runtime)
		return false;
	tap.open = (bool (*)(void))dlsym(runtime, "rt_tap_open");
	tap.settle = (void (*)(int64_t))dlsym(runtime, "rt_tap_settle");
	tap.count = (uint32_t (*)(uint64_t *))dlsym(runtime, "rt_tap_count");
	tap.take = (bool (*)(uint32_t, struct rt_tap_work *, size_t))dlsym(runtime, "rt_tap_take");
	tap.close = (void (*)(void))dlsym(runtime, "rt_tap_close");
	dlclose(runtime);		/* it stays loaded, because it is linked with nodelete */
	return tap.open && tap.settle && tap.count && tap.take && tap.close;
}

static void forget(void)
{
	if (open_now)
		tap.close();
	open_now = false;
	free(packed);
	packed = NULL;
	packed_bytes = 0;
	stop_ns = 0;
}

static void start(const struct tp_profiler *profiler, struct tf_status *status)
{
	int saved = errno;

	(void)profiler, (void)status;
	pthread_mutex_lock(&lock);
	forget();			/* a second Start starts again */
	real_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	start_ns = clock_ns(CLOCK_MONOTONIC);
	open_now = find_runtime() && tap.open();
	pthread_mutex_unlock(&lock);
	errno = saved;
}

static void stop(const struct tp_profiler *profiler, struct tf_status *status)
{
	int saved = errno;

	(void)profiler, (void)status;
	pthread_mutex_lock(&lock);
	if (open_now && !stop_ns)
		stop_ns = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_unlock(&lock);
	errno = saved;
}

static void pack(void)
{
	if (!open_now || !stop_ns)
		return;
	tap.settle(SETTLE_NS);
	packed = space_pack(&tap, start_ns, stop_ns, real_ns, &packed_bytes);
	tap.close();
	open_now = false;
}

static void pluggable_collect(const struct tp_profiler *profiler, uint8_t *buffer, size_t *size,
			      struct tf_status *status)
{
	int saved = errno;

	(void)profiler, (void)status;
	if (!size)
		return;
	pthread_mutex_lock(&lock);
	pack();
	if (buffer && packed && *size >= packed_bytes) {
		memcpy(buffer, packed, packed_bytes);
		*size = packed_bytes;
		forget();
	} else if (buffer) {
		*size = 0;
	} else {
		*size = packed_bytes;
	}
	pthread_mutex_unlock(&lock);
	errno = saved;
}

static void destroy_profiler(struct tp_profiler *profiler)
{
	if (profiler)
		profiler->device_type = NULL;
}

static void destroy_fns(struct tp_profiler_fns *fns)
{
	pthread_mutex_lock(&lock);
	forget();
	pthread_mutex_unlock(&lock);
	if (fns)
		fns->start = fns->stop = NULL;
}

__attribute__((visibility("default")))
void TF_InitProfiler(struct tf_profiler_registration_params *params, struct tf_status *status);

/* If TensorFlow's structs are too short for what is filled in here, TensorFlow itself reports that
 * something is missing. */
void TF_InitProfiler(struct tf_profiler_registration_params *params, struct tf_status *status)
{
	(void)status;
	if (!params || params->struct_size < SIZE_WITH(tf_profiler_registration_params,
						       destroy_profiler_fns) ||
	    !params->profiler || !params->profiler_fns ||
	    params->profiler->struct_size < SIZE_WITH(tp_profiler, device_type) ||
	    params->profiler_fns->struct_size < SIZE_WITH(tp_profiler_fns, collect_data_xspace))
		return;
	params->major_version = 0;
	params->minor_version = 0;
	params->patch_version = 1;
	params->struct_size = SIZE_WITH(tf_profiler_registration_params, destroy_profiler_fns);
	params->profiler->struct_size = SIZE_WITH(tp_profiler, device_type);
	params->profiler->device_type = "TFTOP";
	params->profiler_fns->struct_size = SIZE_WITH(tp_profiler_fns, collect_data_xspace);
	params->profiler_fns->start = start;
	params->profiler_fns->stop = stop;
	params->profiler_fns->collect_data_xspace = pluggable_collect;
	params->destroy_profiler = destroy_profiler;
	params->destroy_profiler_fns = destroy_fns;
}
