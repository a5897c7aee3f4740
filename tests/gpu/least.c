/* SPDX-License-Identifier: MIT */
/*
 * The least that a client of CUPTI does: a library for CUDA_INJECTION64_PATH that enables the
 * calls and kinds that the probe enables by default, with a callback that returns, buffers of the
 * probe's size that are returned unread, and a thread that flushes every 50 ms. Its cost is that of
 * CUPTI, or of its double; what the probe costs beyond that is our own cost. CUDA_CLIENT_CUPTI is
 * the path of libcupti. Needs none of CUDA's headers:
 *
 *	cc -shared -fPIC -I. -o libtftop-least.so tests/gpu/least.c -lpthread -ldl
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "probes/cuda/cupti.h"

#define BUFFER_BYTES (32u << 10)
#define BUFFERS 512

__attribute__((visibility("default"))) int InitializeInjection(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *unused[BUFFERS];
static int n_unused;
static int (*flush_all)(uint32_t flags);

static void request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&lock);
	*buffer = n_unused ? unused[--n_unused] : NULL;
	pthread_mutex_unlock(&lock);
	if (!*buffer)
		*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size, (void)valid;
	pthread_mutex_lock(&lock);
	if (n_unused < BUFFERS)
		unused[n_unused++] = buffer;
	else
		free(buffer);
	pthread_mutex_unlock(&lock);
}

static void callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
	(void)user, (void)domain, (void)id, (void)data;
}

static void *flusher(void *arg)
{
	const struct timespec every = { 0, 50000000 };

	for (;;) {
		nanosleep(&every, NULL);
		flush_all(0);
	}
	return arg;
}

static void *find(void *library, const char *name)
{
	void *f = dlsym(library, name);

	if (!f) {
		fprintf(stderr, "least: no '%s'\n", name);
		exit(1);
	}
	return f;
}

int InitializeInjection(void)
{
	static const uint32_t kinds[] = {
		CUPTI_KIND_DEVICE, CUPTI_KIND_CONTEXT, CUPTI_KIND_STREAM,
		CUPTI_KIND_CONCURRENT_KERNEL,
		CUPTI_KIND_COPY, CUPTI_KIND_COPY_PEER, CUPTI_KIND_FILL, CUPTI_KIND_MEMORY,
		CUPTI_KIND_POOL, CUPTI_KIND_OVERHEAD, CUPTI_KIND_JIT,
	};
	const char *path = getenv("CUDA_CLIENT_CUPTI");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*subscribe)(struct cupti_subscriber **, cupti_callback_fn *, void *);
	int (*enable_callback)(uint32_t, struct cupti_subscriber *, uint32_t, uint32_t);
	int (*buffers)(cupti_request_fn *, cupti_complete_fn *);
	int (*enable)(uint32_t);
	struct cupti_subscriber *us;
	pthread_t thread;

	if (!library) {
		fprintf(stderr, "least: no libcupti: %s\n", path ? dlerror() : "not named");
		return 0;
	}
	subscribe = find(library, "cuptiSubscribe");
	enable_callback = find(library, "cuptiEnableCallback");
	buffers = find(library, "cuptiActivityRegisterCallbacks");
	enable = find(library, "cuptiActivityEnable");
	flush_all = find(library, "cuptiActivityFlushAll");
	if (subscribe(&us, callback, NULL) || buffers(request, complete))
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		enable(kinds[i]);
#define CALL(domain, name, number, cls, at) enable_callback(1, us, CUPTI_DOMAIN_##domain, number);
	CUPTI_DRIVER_CALLS(CALL)
	CUPTI_RUNTIME_CALLS(CALL)
#undef CALL
	return pthread_create(&thread, NULL, flusher, NULL) == 0;
}
