/* SPDX-License-Identifier: MIT */
/* libcuda.so.1: start, devices, contexts, streams, events. See sim.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/doubles/cuda/entry.h"

struct sim_event {
	uint32_t magic, id;
	int64_t at_ns;
	struct sim_stream *stream;
	bool recorded;
	/* set if recorded while a stream was captured: there is nothing to wait for, */
	struct sim_graph *capture;
	struct sim_node *noted;		/* except for nodes that follow this one */
};

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint next_event = 1;

/* --- start ------------------------------------------------------------------ */

static void write_truth(void)
{
	sim_write_truth(getenv("CUDA_DOUBLE_TRUTH"));
}

/* As the driver does it: one library, once, from within cuInit. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *h = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*init)(void) = h ? (int (*)(void))dlsym(h, "InitializeInjection") : NULL;

	if (init)
		init();
}

SIM_API int cuInit(unsigned int flags);
SIM_API int cuInit(unsigned int flags)
{
	struct { unsigned int flags; } params = { flags };
	struct sim_call call = { .domain = SIM_DRIVER, .cbid = 1, .name = "cuInit",
				 .params = &params };
	bool first;

	pthread_mutex_lock(&start_lock);
	first = !sim_state;
	if (first) {
		sim_configure();
		if (getenv("CUDA_DOUBLE_TRUTH"))
			atexit(write_truth);
		sim_state = 1;
		sim_enter(&call);
		inject();
		sim_state = 2;
	} else {
		sim_enter(&call);
	}
	pthread_mutex_unlock(&start_lock);
	return sim_leave(&call, SIM_OK);
}

/* The one call that is allowed before cuInit. */
SIM_API int cuDriverGetVersion(int *version);
SIM_API int cuDriverGetVersion(int *version)
{
	const char *given = getenv("CUDA_DOUBLE"), *at = given ? strstr(given, "version=") : NULL;

	*version = at ? atoi(at + 8) : sim_settings.version;
	return SIM_OK;
}

/* --- devices ---------------------------------------------------------------- */

static struct sim_device *device_of(int device)
{
	return device >= 0 && device < sim_settings.devices ? &sim_devices[device] : NULL;
}

ENTRY(4, cuDeviceGetCount, (int *, count))
{
	*count = sim_settings.devices;
	return SIM_OK;
}

ENTRY(3, cuDeviceGet, (int *, device), (int, ordinal))
{
	*device = ordinal;
	return device_of(ordinal) ? SIM_OK : SIM_INVALID_DEVICE;
}

ENTRY(5, cuDeviceGetName, (char *, name), (int, bytes), (int, device))
{
	if (!device_of(device))
		return SIM_INVALID_DEVICE;
	snprintf(name, (size_t)bytes, "%s", device_of(device)->name);
	return SIM_OK;
}

ENTRY(259, cuDeviceTotalMem_v2, (size_t *, bytes), (int, device))
{
	if (!device_of(device))
		return SIM_INVALID_DEVICE;
	*bytes = device_of(device)->memory;
	return SIM_OK;
}

ENTRY(482, cuDeviceGetUuid, (uint8_t *, uuid), (int, device))
{
	if (!device_of(device))
		return SIM_INVALID_DEVICE;
	memcpy(uuid, device_of(device)->uuid, 16);
	return SIM_OK;
}

ENTRY(647, cuDeviceGetUuid_v2, (uint8_t *, uuid), (int, device))
{
	return do_cuDeviceGetUuid(uuid, device);
}

ENTRY(332, cuDeviceGetPCIBusId, (char *, id), (int, bytes), (int, device))
{
	if (!device_of(device))
		return SIM_INVALID_DEVICE;
	snprintf(id, (size_t)bytes, "0000:%02x:00.0", 0x17 + device * 16);
	return SIM_OK;
}

ENTRY(312, cuDeviceCanAccessPeer, (int *, can), (int, device), (int, peer))
{
	*can = device != peer;
	return device_of(device) && device_of(peer) ? SIM_OK : SIM_INVALID_DEVICE;
}

/* Attributes by their numbers, of a device with compute capability 9.0. */
ENTRY(9, cuDeviceGetAttribute, (int *, value), (int, attribute), (int, device))
{
	static const struct { int attribute, value; } known[] = {
		{ 1, 1024 }, { 2, 1024 }, { 3, 1024 }, { 4, 64 }, { 5, 0x7fffffff }, { 6, 65535 },
		{ 7, 65535 }, { 8, 49152 }, { 10, 32 }, { 12, 65536 }, { 13, 1755000 }, { 16, 132 },
		{ 33, 0x17 }, { 36, 2619000 }, { 37, 5120 }, { 38, 52428800 }, { 39, 2048 },
		{ 41, 1 }, { 75, 9 }, { 76, 0 }, { 81, 233472 }, { 82, 65536 }, { 102, 1 },
		{ 106, 32 },
	};

	*value = 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].attribute == attribute)
			*value = known[i].value;
	return device_of(device) ? SIM_OK : SIM_INVALID_DEVICE;
}

/* --- contexts --------------------------------------------------------------- */

static void made(struct sim_context *c)
{
	SIM_TELL(object, SIM_CONTEXT, c, false);
	SIM_TELL(object, SIM_STREAM, c->null_stream, false);
}

ENTRY(386, cuDevicePrimaryCtxRetain, (void **, context), (int, device))
{
	struct sim_device *d = device_of(device);
	bool new;

	if (!d)
		return SIM_INVALID_DEVICE;
	pthread_mutex_lock(&start_lock);
	new = !d->primary;
	if (new)
		d->primary = sim_context_make(d);
	d->primary_refs++;
	*context = d->primary;
	pthread_mutex_unlock(&start_lock);
	if (new)
		made(d->primary);
	return SIM_OK;
}

/* A primary context is not freed, so that its handles never dangle in a test. */
ENTRY(544, cuDevicePrimaryCtxRelease_v2, (int, device))
{
	struct sim_device *d = device_of(device);

	if (!d || !d->primary_refs)
		return SIM_INVALID_CONTEXT;
	d->primary_refs--;
	return SIM_OK;
}

ENTRY(392, cuDevicePrimaryCtxGetState, (int, device), (unsigned int *, flags), (int *, active))
{
	if (!device_of(device))
		return SIM_INVALID_DEVICE;
	*flags = 0;
	*active = device_of(device)->primary_refs > 0;
	return SIM_OK;
}

ENTRY(235, cuCtxCreate_v2, (void **, context), (unsigned int, flags), (int, device))
{
	struct sim_context *c;

	if (!device_of(device))
		return SIM_INVALID_DEVICE;
	*context = c = sim_context_make(device_of(device));
	sim_thread.current = c;
	made(c);
	return SIM_OK;
}

static void drain_context(struct sim_context *c)
{
	struct sim_stream *s;

	pthread_mutex_lock(&c->lock);
	s = c->streams;
	pthread_mutex_unlock(&c->lock);
	for (; s; s = s->next)
		sim_drain(s);
}

/* The memory is not freed: records contain the context's number. */
ENTRY(322, cuCtxDestroy_v2, (void *, context))
{
	struct sim_context *c = context;

	if (!sim_context_of(context))
		return SIM_INVALID_CONTEXT;
	drain_context(c);
	SIM_TELL(object, SIM_CONTEXT, c, true);
	c->magic = 0;
	if (sim_thread.current == c)
		sim_thread.current = NULL;
	return SIM_OK;
}

ENTRY(304, cuCtxGetCurrent, (void **, context))
{
	*context = sim_thread.current;
	return SIM_OK;
}

ENTRY(303, cuCtxSetCurrent, (void *, context))
{
	if (context && !sim_context_of(context))
		return SIM_INVALID_CONTEXT;
	sim_thread.current = context;
	return SIM_OK;
}

ENTRY(323, cuCtxPushCurrent_v2, (void *, context))
{
	if (!sim_context_of(context) || sim_thread.depth >= 8)
		return SIM_INVALID_CONTEXT;
	sim_thread.stack[sim_thread.depth++] = sim_thread.current;
	sim_thread.current = context;
	return SIM_OK;
}

ENTRY(324, cuCtxPopCurrent_v2, (void **, context))
{
	if (context)
		*context = sim_thread.current;
	sim_thread.current = sim_thread.depth ? sim_thread.stack[--sim_thread.depth] : NULL;
	return SIM_OK;
}

ENTRY(16, cuCtxGetDevice, (int *, device))
{
	if (!sim_thread.current)
		return SIM_INVALID_CONTEXT;
	*device = sim_thread.current->device->ordinal;
	return SIM_OK;
}

ENTRY(296, cuCtxGetApiVersion, (void *, context), (unsigned int *, version))
{
	*version = 3020;
	return SIM_OK;
}

ENTRY(370, cuCtxGetStreamPriorityRange, (int *, least), (int *, greatest))
{
	*least = 0;
	*greatest = -5;
	return SIM_OK;
}

ENTRY(313, cuCtxEnablePeerAccess, (void *, peer), (unsigned int, flags))
{
	return sim_context_of(peer) ? SIM_OK : SIM_INVALID_CONTEXT;
}

/* --- waiting ---------------------------------------------------------------- */

static int waited(struct sim_wait *w)
{
	w->end_ns = sim_now();
	w->correlation = sim_correlation();
	truth_blocked();
	SIM_TELL(wait, w);
	return SIM_OK;
}

ENTRY0(308, cuProfilerStart)
{
	return SIM_OK;
}

ENTRY0(309, cuProfilerStop)
{
	return SIM_OK;
}

ENTRY0(17, cuCtxSynchronize)
{
	struct sim_wait w = { .type = SIM_SYNC_CONTEXT, .context = sim_thread.current,
			      .start_ns = sim_now() };

	if (!w.context)
		return SIM_INVALID_CONTEXT;
	drain_context(w.context);
	return waited(&w);
}

static int stream_synchronize(void *handle)
{
	struct sim_wait w = { .type = SIM_SYNC_STREAM, .stream = sim_stream(handle),
			      .start_ns = sim_now() };

	if (!w.stream)
		return SIM_INVALID_HANDLE;
	w.context = w.stream->context;
	sim_drain(w.stream);
	if (w.stream->legacy)
		sim_sleep_until(w.context->blocking_end);
	return waited(&w);
}

ENTRY(126, cuStreamSynchronize, (void *, stream))
{
	return stream_synchronize(stream);
}

ENTRY(440, cuStreamSynchronize_ptsz, (void *, stream))
{
	return stream_synchronize(stream ? stream : (void *)2);
}

ENTRY(125, cuStreamQuery, (void *, stream))
{
	struct sim_stream *s = sim_stream(stream);

	if (!s)
		return SIM_INVALID_HANDLE;
	return s->last_end > sim_now() ? SIM_NOT_READY : SIM_OK;
}

/* --- streams ---------------------------------------------------------------- */

static int stream_create(void **stream, unsigned int flags, int priority)
{
	struct sim_stream *s;

	if (!sim_thread.current)
		return SIM_INVALID_CONTEXT;
	priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
	*stream = s = sim_stream_make(sim_thread.current, flags & 1, priority);
	SIM_TELL(object, SIM_STREAM, s, false);
	return SIM_OK;
}

ENTRY(124, cuStreamCreate, (void **, stream), (unsigned int, flags))
{
	return stream_create(stream, flags, 0);
}

ENTRY(367, cuStreamCreateWithPriority, (void **, stream), (unsigned int, flags), (int, priority))
{
	return stream_create(stream, flags, priority);
}

ENTRY(326, cuStreamDestroy_v2, (void *, stream))
{
	struct sim_stream *s = sim_stream(stream);

	if (!s || s->legacy)
		return SIM_INVALID_HANDLE;
	SIM_TELL(object, SIM_STREAM, s, true);
	s->destroyed = true;
	return SIM_OK;
}

ENTRY(368, cuStreamGetPriority, (void *, stream), (int *, priority))
{
	struct sim_stream *s = sim_stream(stream);

	if (!s)
		return SIM_INVALID_HANDLE;
	*priority = s->priority;
	return SIM_OK;
}

/* --- events ----------------------------------------------------------------- */

static struct sim_event *event_of(void *handle)
{
	struct sim_event *e = handle;

	return e && e->magic == SIM_MAGIC_EVENT ? e : NULL;
}

ENTRY(118, cuEventCreate, (void **, event), (unsigned int, flags))
{
	struct sim_event *e = calloc(1, sizeof(*e));

	e->magic = SIM_MAGIC_EVENT;
	e->id = atomic_fetch_add(&next_event, 1);
	*event = e;
	return SIM_OK;
}

ENTRY(325, cuEventDestroy_v2, (void *, event))
{
	if (!event_of(event))
		return SIM_INVALID_HANDLE;
	event_of(event)->magic = 0;
	free(event);
	return SIM_OK;
}

ENTRY(119, cuEventRecord, (void *, event), (void *, stream))
{
	struct sim_event *e = event_of(event);
	struct sim_stream *s = sim_stream(stream);

	if (!e || !s)
		return SIM_INVALID_HANDLE;
	e->capture = s->capture;
	e->noted = s->noted;
	if (s->capture)
		return SIM_OK;
	pthread_mutex_lock(&s->lock);
	e->at_ns = s->last_end > sim_now() ? s->last_end : sim_now();
	pthread_mutex_unlock(&s->lock);
	e->stream = s;
	e->recorded = true;
	SIM_TELL(event, s, e->id, sim_correlation());
	return SIM_OK;
}

ENTRY(295, cuStreamWaitEvent, (void *, stream), (void *, event), (unsigned int, flags))
{
	struct sim_event *e = event_of(event);
	struct sim_stream *s = sim_stream(stream);

	if (!e || !s)
		return SIM_INVALID_HANDLE;
	/* a stream that waits for captured work is captured too */
	if (e->capture) {
		if (s->capture != e->capture)
			s->noted = NULL;
		s->capture = e->capture;
		for (int i = 0; i < SIM_AWAITS && e->noted; i++) {
			if (s->awaits[i] && i + 1 < SIM_AWAITS)
				continue;
			s->awaits[i] = e->noted;
			break;
		}
		return SIM_OK;
	}
	pthread_mutex_lock(&s->lock);
	if (s->last_end < e->at_ns)
		s->last_end = e->at_ns;
	pthread_mutex_unlock(&s->lock);
	return SIM_OK;
}

ENTRY(120, cuEventQuery, (void *, event))
{
	if (!event_of(event))
		return SIM_INVALID_HANDLE;
	return event_of(event)->at_ns > sim_now() ? SIM_NOT_READY : SIM_OK;
}

ENTRY(121, cuEventSynchronize, (void *, event))
{
	struct sim_event *e = event_of(event);
	struct sim_wait w = { .type = SIM_SYNC_EVENT, .start_ns = sim_now() };

	if (!e)
		return SIM_INVALID_HANDLE;
	w.event = e->id;
	w.stream = e->stream;
	w.context = e->stream ? e->stream->context : sim_thread.current;
	sim_sleep_until(e->at_ns);
	return waited(&w);
}

ENTRY(123, cuEventElapsedTime, (float *, ms), (void *, start), (void *, end))
{
	if (!event_of(start) || !event_of(end) || !event_of(start)->recorded ||
	    !event_of(end)->recorded)
		return SIM_INVALID_HANDLE;
	*ms = (float)(event_of(end)->at_ns - event_of(start)->at_ns) / 1e6f;
	return SIM_OK;
}

/* --- names ------------------------------------------------------------------ */

SIM_API int cuGetErrorString(int error, const char **text);
SIM_API int cuGetErrorString(int error, const char **text)
{
	static __thread char said[32];

	snprintf(said, sizeof(said), "error %d of the double", error);
	*text = error ? said : "no error";
	return SIM_OK;
}

SIM_API int cuGetErrorName(int error, const char **text);
SIM_API int cuGetErrorName(int error, const char **text)
{
	return cuGetErrorString(error, text);
}

/* A name means its newest version, or the per-thread-stream version if that was requested. */
SIM_API int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags,
				int *status);
SIM_API int cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags,
				int *status)
{
	static const char *const plain[] = { "_v2", "" }, *const per_thread[] = {
		"_v2_ptsz", "_ptsz", "_v2", "" };
	const char *const *suffix = flags & 2 ? per_thread : plain;
	void *own = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	char full[96];

	*address = NULL;
	for (int i = 0; own && !*address && i < (flags & 2 ? 4 : 2); i++) {
		snprintf(full, sizeof(full), "%s%s", name, suffix[i]);
		*address = dlsym(own, full);
	}
	if (own)
		dlclose(own);
	if (status)
		*status = *address ? 0 : 1;
	return *address ? SIM_OK : SIM_NOT_FOUND;
}

SIM_API int cuGetProcAddress(const char *name, void **address, int version, uint64_t flags);
SIM_API int cuGetProcAddress(const char *name, void **address, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, address, version, flags, NULL);
}

/* The undocumented tables are not offered, so that a genuine runtime does not use them. */
SIM_API int cuGetExportTable(const void **table, const void *id);
SIM_API int cuGetExportTable(const void **table, const void *id)
{
	*table = NULL;
	return SIM_NOT_FOUND;
}
