/* SPDX-License-Identifier: MIT */
/*
 * Devices, and streams as queues.
 *
 * A stream becomes known from a record (by its number), from a callback (by its handle), or when
 * the program waits for it; whoever is first enters it into the table. CUPTI never gives the
 * number of a destroyed stream to another one, but the driver reuses handles, so a handle is
 * forgotten when its stream is about to be destroyed. Readers of the tables take no lock; writers
 * take one, which is held around the tables only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/cuda/probe.h"
#include "probes/runtime/spin.h"

#define SLOTS (2 * QUEUES_MAX)	/* size of the hash tables, a power of two */
/* places of the handle table that are searched; if a handle is not there, CUPTI is asked */
#define PROBES 64u
#define PER_THREAD 2u		/* CU_STREAM_PER_THREAD; the thread is stored above it */

static struct cuda_device devices[DEVICES_MAX];
static atomic_uint n_devices;
/* After the last one: work on further streams of a device. */
static struct cuda_queue queues[QUEUES_MAX + DEVICES_MAX];
static atomic_uint n_queues;
/* Index + 1 of a queue; by number, and by handle. */
static _Atomic uint16_t by_number[SLOTS];
static struct {
	_Atomic uint64_t handle;
	_Atomic uint32_t context;	/* 0: the entry is unused */
	_Atomic uint16_t queue;		/* index + 1; 0: unused */
} by_handle[SLOTS];
static _Atomic uint32_t busy;
static uint32_t names_seen;
static atomic_bool rest_sent[DEVICES_MAX];

/* ---- devices ---- */

struct cuda_device *device_at(unsigned index)
{
	return index < atomic_load_explicit(&n_devices, memory_order_acquire) ? &devices[index] :
										NULL;
}

static void device_send(struct cuda_device *d)
{
	struct tft_device def = atomic_load(&d->told) ? d->def : d->plain;
	char name[240], user[sizeof(d->user)] = "";

	if (rt_spin_lock(&busy)) {
		memcpy(user, d->user, sizeof(user));
		rt_spin_unlock(&busy);
	}
	if (*user) {
		snprintf(name, sizeof(name), "%s \"%s\"", def.name, user);
		def.name = name;
	}
	def.id = atomic_load(&d->id);
	rt_emit_device(&def);
}

/* Describes a device of which only the number is known; its record has the rest. */
static void device_plain(struct cuda_device *d, uint32_t number)
{
	char name[64];

	snprintf(name, sizeof(name), "CUDA device %u", number);
	d->number = number;
	d->plain = (struct tft_device){
		.gpu = 1, .index = number, .api = "cuda", .name = strdup(name),
		.vendor = "NVIDIA", .platform = "CUDA", .driver = "", .address = "",
	};
	if (!d->plain.name)
		d->plain.name = "";
}

struct cuda_device *cuda_device_get(uint32_t number)
{
	unsigned n = atomic_load_explicit(&n_devices, memory_order_acquire);
	struct cuda_device *d = NULL;

	for (unsigned i = 0; i < n; i++)
		if (devices[i].number == number)
			return &devices[i];
	if (!rt_spin_lock(&busy))
		return NULL;
	n = atomic_load(&n_devices);
	for (unsigned i = 0; i < n; i++)
		if (devices[i].number == number)
			d = &devices[i];
	if (!d && n < DEVICES_MAX) {
		d = &devices[n];
		device_plain(d, number);
		atomic_store(&d->id, rt_device_id());
		atomic_store_explicit(&n_devices, n + 1, memory_order_release);
	}
	rt_spin_unlock(&busy);
	if (!d)
		rt_dropped(1);
	return d;
}

static char *uuid_text(const char *prefix, const uint8_t *u)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%s-", prefix);

	for (int i = 0; i < 16; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%02x",
			      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
	return strdup(text);
}

static char *driver_text(void)
{
	char text[64] = "";
	int version = cupti->driver;

	if (version > 0)
		snprintf(text, sizeof(text), "CUDA %d.%d", version / 1000, version % 1000 / 10);
	return strdup(text);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* Copies the name that the user gave to the thing since the last call; true: the name is new. */
static bool user_named(enum rt_thing what, uint64_t id, char own[NAME_BYTES])
{
	char name[NAME_BYTES];
	bool taken = false;

	if (!rt_thing_named(what, id, name, sizeof(name)) || !rt_spin_lock(&busy))
		return false;
	if (strcmp(name, own) != 0) {
		memcpy(own, name, sizeof(name));
		taken = true;
	}
	rt_spin_unlock(&busy);
	return taken;
}

static void device_known(const struct cuda_record *r)
{
	struct cuda_device *d = cuda_device_get(r->device);
	char name[160];

	if (!d || atomic_load(&d->told))
		return;
	d->def = d->plain;
	snprintf(name, sizeof(name), "%s%s", or_empty(r->of_device.name),
		 r->of_device.mig ? " (MIG)" : "");
	d->def.name = or_empty(strdup(name));
	d->def.driver = or_empty(driver_text());
	d->def.address = or_empty(r->of_device.mig ? uuid_text("MIG", r->of_device.mig_uuid) :
						     uuid_text("GPU", r->of_device.uuid));
	d->def.units = r->of_device.units;
	d->def.clock_mhz = r->of_device.clock / 1000;
	d->def.memory_bytes = r->of_device.memory;
	d->def.capability = r->of_device.capability;
	d->def.threads_per_unit = r->of_device.threads_per_unit;
	d->def.blocks_per_unit = r->of_device.blocks_per_unit;
	d->def.registers_per_unit = r->of_device.registers_per_unit;
	d->def.registers_per_block = r->of_device.registers_per_block;
	d->def.shared_per_unit = r->of_device.shared_per_unit;
	d->def.shared_per_block = r->of_device.shared_per_block;
	d->def.bandwidth = r->of_device.bandwidth;
	atomic_store(&d->told, true);
	user_named(RT_THING_CUDA_DEVICE, d->number, d->user);
	device_send(d);
	if (r->of_device.mig)
		cuda_tell(0, "device %u is a part of a GPU, %s: its sensors may be those of the "
			  "whole GPU, or missing", d->number, d->def.address);
}

void objects_unknown(struct cuda_device *d)
{
	struct cuda_record record;
	char name[128];

	if (before_device(d->number, &record, name, sizeof(name)))
		device_known(&record);
	else
		device_send(d);
}

/* ---- streams ---- */

static void queue_told(const struct cuda_queue *q, uint32_t flags, int32_t priority)
{
	struct tft_queue def = {
		.id = atomic_load(&q->id), .device = q->device ? atomic_load(&q->device->id) : 0,
		.context = q->context, .flags = flags, .priority = priority,
	};
	char name[sizeof(q->name)] = "";

	if (rt_spin_lock(&busy)) {
		memcpy(name, q->name, sizeof(name));
		rt_spin_unlock(&busy);
	}
	if (!*name && def.flags & TFT_QUEUE_DEFAULT)
		snprintf(name, sizeof(name), "default stream");
	else if (!*name && atomic_load(&q->own_stream))
		snprintf(name, sizeof(name), "per-thread default stream %u", q->stream);
	else if (!*name)
		snprintf(name, sizeof(name), "stream %u", q->stream);
	def.name = name;
	rt_emit_queue(&def);
}

/* A thread that was interrupted before it sent an older state sends the newer one, too: the last
 * state counts, and another thread may have sent that before. */
static void queue_send(struct cuda_queue *q)
{
	uint32_t flags;
	int32_t priority;

	do {
		flags = atomic_load(&q->flags);
		priority = atomic_load(&q->priority);
		queue_told(q, flags, priority);
	} while (flags != atomic_load(&q->flags) || priority != atomic_load(&q->priority));
}

static struct cuda_queue *by_number_find(uint32_t context, uint32_t stream, uint32_t *slot)
{
	uint32_t i = objects_hash(context, stream) & (SLOTS - 1);

	for (;; i = (i + 1) & (SLOTS - 1)) {
		uint16_t at = atomic_load_explicit(&by_number[i], memory_order_acquire);

		*slot = i;
		if (!at)
			return NULL;
		if (queues[at - 1].stream == stream && queues[at - 1].context == context)
			return &queues[at - 1];
	}
}

/* The lock must be held. */
static struct cuda_queue *queue_rest(struct cuda_device *device)
{
	struct cuda_queue *q = &queues[QUEUES_MAX + (device - devices)];

	if (!atomic_load(&q->id)) {
		q->device = device;
		memcpy(q->name, "further streams", sizeof("further streams"));
		atomic_store(&q->flags, TFT_QUEUE_PROFILED);
		atomic_store(&q->id, rt_queue_id());
	}
	return q;
}

static bool is_rest(const struct cuda_queue *q)
{
	return q >= &queues[QUEUES_MAX];
}

/* The lock must be held. */
static struct cuda_queue *queue_enter(uint32_t context, uint32_t stream, struct cuda_device *device,
				      uint32_t slot)
{
	unsigned n = atomic_load(&n_queues);
	struct cuda_queue *q = &queues[n];

	if (n == QUEUES_MAX)
		return NULL;
	q->context = context;
	q->stream = stream;
	q->device = device;
	atomic_store(&q->flags, TFT_QUEUE_IN_ORDER | TFT_QUEUE_PROFILED);
	atomic_store(&q->id, rt_queue_id());
	atomic_store_explicit(&n_queues, n + 1, memory_order_release);
	atomic_store_explicit(&by_number[slot], (uint16_t)(n + 1), memory_order_release);
	return q;
}

struct cuda_queue *cuda_queue_get(uint32_t context, uint32_t stream, uint32_t device)
{
	uint32_t slot;
	struct cuda_queue *q = by_number_find(context, stream, &slot);
	struct cuda_device *d;
	bool made;

	if (likely(q != NULL))
		return q;
	d = cuda_device_get(device);
	if (!d || !rt_spin_lock(&busy)) {
		rt_dropped(1);
		return NULL;
	}
	q = by_number_find(context, stream, &slot);
	made = !q;
	if (!q)
		q = queue_enter(context, stream, d, slot);
	if (!q) {
		q = queue_rest(d);
		made = !atomic_exchange(&rest_sent[d - devices], true);
	}
	rt_spin_unlock(&busy);
	if (made)
		queue_send(q);
	if (made && is_rest(q))
		cuda_say(SAID_STREAMS, 1,
			 "more than %u streams: what runs on the others is shown as if on "
			 "one stream", QUEUES_MAX);
	return q;
}

struct cuda_queue *cuda_queue_of(uint32_t context, uint64_t handle)
{
	uint32_t i = objects_hash(handle, context) & (SLOTS - 1);

	for (unsigned n = 0; n < PROBES; n++, i = (i + 1) & (SLOTS - 1)) {
		uint32_t whose = atomic_load_explicit(&by_handle[i].context, memory_order_acquire);
		uint64_t have = atomic_load_explicit(&by_handle[i].handle, memory_order_acquire);
		uint16_t at = atomic_load_explicit(&by_handle[i].queue, memory_order_acquire);

		if (!at)
			return NULL;
		/* its place may belong to another stream by now */
		if (have == handle && whose == context &&
		    atomic_load_explicit(&by_handle[i].context, memory_order_relaxed) == context &&
		    atomic_load_explicit(&by_handle[i].handle, memory_order_relaxed) == handle)
			return &queues[at - 1];
	}
	return NULL;
}

/* The entry of a forgotten handle can be reused: as many places are in use as there ever were
 * streams at a time. */
static void handle_enter(struct cuda_queue *q, uint64_t handle)
{
	uint32_t i = objects_hash(handle, q->context) & (SLOTS - 1), place = SLOTS;

	if (is_rest(q) || cuda_queue_of(q->context, handle) == q || !rt_spin_lock(&busy))
		return;
	for (unsigned n = 0; n < PROBES; n++, i = (i + 1) & (SLOTS - 1)) {
		bool was = atomic_load(&by_handle[i].queue) != 0;
		uint32_t whose = atomic_load(&by_handle[i].context);

		if (place == SLOTS && !whose)
			place = i;
		if (whose == q->context && atomic_load(&by_handle[i].handle) == handle)
			place = i;
		if (!was || (place == i && whose))
			break;
	}
	if (place < SLOTS) {
		atomic_store(&by_handle[place].context, 0);
		atomic_store(&by_handle[place].queue, (uint16_t)(q - queues + 1));
		atomic_store(&by_handle[place].handle, handle);
		atomic_store_explicit(&by_handle[place].context, q->context, memory_order_release);
		atomic_store(&q->handle, handle);
	}
	rt_spin_unlock(&busy);
}

static void handle_forget(uint32_t context, uint64_t handle)
{
	uint32_t i = objects_hash(handle, context) & (SLOTS - 1);

	for (unsigned n = 0; n < PROBES; n++, i = (i + 1) & (SLOTS - 1)) {
		if (!atomic_load_explicit(&by_handle[i].queue, memory_order_acquire))
			return;
		if (atomic_load(&by_handle[i].handle) == handle &&
		    atomic_load(&by_handle[i].context) == context)
			atomic_store(&by_handle[i].context, 0);
	}
}

/* The calling thread's own default stream has the same handle on all threads. */
static uint64_t handle_key(uint64_t handle, bool own_stream, uint32_t tid)
{
	if (handle == PER_THREAD || (own_stream && !handle))
		return PER_THREAD | (uint64_t)tid << 32;
	return handle;
}

static int handles_refused(int r)
{
	return cuda_asked(r, SAID_HANDLES, 1,
			  "CUPTI does not say which stream or context is which: names "
			  "of streams, launches of graphs and what a wait is for may be missing");
}

/* CUPTI's numbers for the handles of a callback. false: CUPTI does not return them, which is
 * reported unless the program's handle is invalid. */
static bool numbers_of(void *context, uint64_t handle, bool own_stream, uint32_t *stream,
		       uint32_t *device)
{
	int r = cupti->get_stream_id(context, (void *)(uintptr_t)handle, own_stream, stream);

	if (!r)
		r = cupti->get_device_id(context, device);
	if (r && r != CUPTI_INVALID_PARAMETER && r != CUPTI_INVALID_CONTEXT &&
	    r != CUPTI_INVALID_STREAM && r != CUPTI_INVALID_DEVICE)
		handles_refused(r);
	return !r;
}

/* Default streams are not created by a call: they are recognised by their handles. */
static void default_stream_met(struct cuda_queue *q, uint64_t key)
{
	bool legacy = !key, own = (uint32_t)key == PER_THREAD;

	if ((legacy && !(atomic_fetch_or(&q->flags, TFT_QUEUE_DEFAULT) & TFT_QUEUE_DEFAULT)) ||
	    (own && !atomic_exchange(&q->own_stream, true)))
		queue_send(q);
}

struct cuda_queue *cuda_queue_of_call(const struct cuda_call *call, void *context)
{
	uint64_t key = handle_key(call->stream, call->own_stream, call->tid);
	struct cuda_queue *q = cuda_queue_of(call->context, key);
	uint32_t stream = 0, device = 0;

	if (q || !context || !numbers_of(context, call->stream, call->own_stream, &stream, &device))
		return q;
	q = cuda_queue_get(call->context, stream, device);
	if (!q || is_rest(q))
		return q;
	handle_enter(q, key);
	default_stream_met(q, key);
	return q;
}

void objects_default_stream(const struct cuda_call *call, void *context)
{
	uint64_t key = handle_key(call->stream, call->own_stream, call->tid);

	if (!key || (uint32_t)key == PER_THREAD)
		cuda_queue_of_call(call, context);
}

static void stream_made(const struct cupti_resource *r)
{
	uint32_t context = 0, stream = 0, device = 0;
	struct cuda_queue *q;

	if (!r->context || handles_refused(cupti->get_context_id(r->context, &context)) ||
	    !numbers_of(r->context, (uint64_t)(uintptr_t)r->stream, false, &stream, &device))
		return;
	q = cuda_queue_get(context, stream, device);
	if (q)
		handle_enter(q, (uint64_t)(uintptr_t)r->stream);
}

static bool name_taken(struct cuda_queue *q)
{
	return user_named(RT_THING_CUDA_STREAM, atomic_load(&q->handle), q->name);
}

/* Its handle may be reused by another stream, so its name is taken before it is destroyed. */
static void stream_goes(const struct cupti_resource *r)
{
	uint64_t handle = (uint64_t)(uintptr_t)r->stream;
	uint32_t context = 0;
	struct cuda_queue *q;

	if (!r->context || cupti->get_context_id(r->context, &context))
		return;
	q = cuda_queue_of(context, handle);
	if (q && atomic_load(&q->handle) == handle) {
		if (name_taken(q))
			queue_send(q);
		atomic_store(&q->handle, 0);
	}
	handle_forget(context, handle);
	rt_thing_name(RT_THING_CUDA_STREAM, handle, NULL);
}

void objects_resource(uint32_t id, const struct cupti_resource *resource)
{
	switch (id) {
	case CUPTI_RESOURCE_STREAM_CREATED:
		stream_made(resource);
		break;
	case CUPTI_RESOURCE_STREAM_DESTROY:
		stream_goes(resource);
		break;
	default:
		graphs_resource(id, resource->descriptor);
		break;
	}
}

/* ---- from records, from the user, and sent again ---- */

static void queue_is_default(uint32_t context, uint32_t stream, uint32_t device)
{
	struct cuda_queue *q = cuda_queue_get(context, stream, device);

	if (!q)
		return;
	handle_enter(q, 0);
	if (!(atomic_fetch_or(&q->flags, TFT_QUEUE_DEFAULT) & TFT_QUEUE_DEFAULT))
		queue_send(q);
}

void objects_record(const struct cuda_record *r)
{
	struct cuda_queue *q;
	uint32_t slot;

	switch (r->what) {
	case CUDA_DEVICE:
		device_known(r);
		break;
	case CUDA_CONTEXT:
		if (!r->made_context.green && r->device != CUPTI_ID_NONE)
			queue_is_default(r->context, r->made_context.null_stream, r->device);
		break;
	case CUDA_STREAM:
		/* the record has no device: take that of the stream, if it is known */
		q = by_number_find(r->context, r->stream, &slot);
		if (q && atomic_exchange(&q->priority, r->made_stream.priority) !=
				 r->made_stream.priority)
			queue_send(q);
		break;
	default:
		break;
	}
}

void objects_names(void)
{
	uint32_t now = rt_things();
	unsigned n = atomic_load(&n_queues);
	struct cuda_device *d;

	if (now == names_seen)
		return;
	names_seen = now;
	for (unsigned i = 0; (d = device_at(i)); i++)
		if (user_named(RT_THING_CUDA_DEVICE, d->number, d->user))
			device_send(d);
	for (unsigned i = 0; i < n; i++)
		if (atomic_load(&queues[i].handle) && name_taken(&queues[i]))
			queue_send(&queues[i]);
}

void objects_dump(void)
{
	unsigned n = atomic_load(&n_queues);
	struct cuda_device *d;

	for (unsigned i = 0; (d = device_at(i)); i++)
		device_send(d);
	for (unsigned i = 0; i < n; i++)
		queue_send(&queues[i]);
	for (unsigned i = 0; i < DEVICES_MAX; i++)
		if (atomic_load(&rest_sent[i]))
			queue_send(&queues[QUEUES_MAX + i]);
}
