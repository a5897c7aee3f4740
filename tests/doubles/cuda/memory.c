/* SPDX-License-Identifier: MIT */
/* libcuda.so.1: memory, pools, copies, fills. See sim.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/doubles/cuda/entry.h"

#define BUCKETS 65536

struct piece {
	uint64_t address, bytes;
	enum sim_place place;
	int device;
	struct sim_context *context;
	struct sim_pool *pool;
	struct piece *next;		/* next in the same bucket */
	struct piece *later, **here;	/* next of all pieces */
};
static struct piece *pieces[BUCKETS], *all;
static pthread_mutex_t pieces_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sim_pool *pools;

static size_t bucket_of(uint64_t address)
{
	return (address >> 4) * 0x9e3779b97f4a7c15ull >> 48;
}

/* Large pieces are pages of which only those that are written need memory. */
static uint64_t get(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? 0 : (uintptr_t)p;
}

static void keep(struct piece *p)
{
	pthread_mutex_lock(&pieces_lock);
	p->next = pieces[bucket_of(p->address)];
	pieces[bucket_of(p->address)] = p;
	p->later = all;
	p->here = &all;
	if (all)
		all->here = &p->later;
	all = p;
	pthread_mutex_unlock(&pieces_lock);
}

static struct piece *take(uint64_t address)
{
	struct piece **at, *p;

	pthread_mutex_lock(&pieces_lock);
	for (at = &pieces[bucket_of(address)]; *at && (*at)->address != address; at = &(*at)->next)
		;
	p = *at;
	if (p) {
		*at = p->next;
		*p->here = p->later;
		if (p->later)
			p->later->here = p->here;
	}
	pthread_mutex_unlock(&pieces_lock);
	return p;
}

/* Most copies start at the beginning of a piece. */
enum sim_place sim_place(uint64_t address, int *device)
{
	enum sim_place place = SIM_PAGEABLE;
	struct piece *p;

	*device = sim_thread.current ? sim_thread.current->device->ordinal : 0;
	pthread_mutex_lock(&pieces_lock);
	for (p = pieces[bucket_of(address)]; p && p->address != address; p = p->next)
		;
	if (!p)
		for (p = all; p && address - p->address >= p->bytes; p = p->later)
			;
	if (p) {
		place = p->place;
		*device = p->device;
	}
	pthread_mutex_unlock(&pieces_lock);
	return !p && sim_mapped(address, device) ? SIM_ON_DEVICE : place;
}

static void tell(const struct piece *p, bool release, bool async, struct sim_stream *stream)
{
	struct sim_memory m = {
		.release = release, .async = async, .place = p->place, .address = p->address,
		.bytes = p->bytes, .at_ns = sim_now(), .device = p->device,
		.context = p->context, .stream = stream, .correlation = sim_correlation(),
		.pool = p->pool,
	};

	truth_memory(&m);
	SIM_TELL(memory, &m);
}

static int allocate(uint64_t *address, size_t bytes, enum sim_place place, struct sim_pool *pool,
		    struct sim_stream *stream)
{
	struct sim_context *c = sim_thread.current;
	struct piece *p;

	if (!c)
		return SIM_INVALID_CONTEXT;
	if (!bytes)
		return SIM_INVALID_VALUE;
	if (place == SIM_ON_DEVICE && c->device->used + bytes > c->device->memory)
		return SIM_OUT_OF_MEMORY;
	p = calloc(1, sizeof(*p));
	*p = (struct piece){ .address = get(bytes), .bytes = bytes, .place = place,
			     .device = c->device->ordinal, .context = c, .pool = pool };
	if (!p->address) {
		free(p);
		return SIM_OUT_OF_MEMORY;
	}
	if (place == SIM_ON_DEVICE)
		c->device->used += bytes;
	*address = p->address;
	keep(p);
	tell(p, false, stream != NULL, stream);
	return SIM_OK;
}

static int give_back(uint64_t address, bool host, struct sim_stream *stream)
{
	struct piece *p = address ? take(address) : NULL;

	if (!address)
		return SIM_OK;
	if (!p || host != (p->place == SIM_PINNED)) {
		if (p)
			keep(p);
		return SIM_INVALID_VALUE;
	}
	if (p->place == SIM_ON_DEVICE)
		sim_devices[p->device].used -= p->bytes;
	if (p->pool) {
		pthread_mutex_lock(&p->pool->lock);
		p->pool->used -= p->bytes;
		pthread_mutex_unlock(&p->pool->lock);
	}
	tell(p, true, stream != NULL, stream);
	munmap((void *)(uintptr_t)p->address, p->bytes);
	free(p);
	return SIM_OK;
}

/* Of the attributes only the context, the type of the memory and the device. */
ENTRY(310, cuPointerGetAttribute, (void *, value), (int, attribute), (uint64_t, address))
{
	int device;
	enum sim_place place = sim_place(address, &device);

	if (place == SIM_PAGEABLE)
		return SIM_INVALID_VALUE;
	switch (attribute) {
	case 1:
		*(void **)value = sim_devices[device].primary;
		return SIM_OK;
	case 2:
		*(unsigned int *)value = place == SIM_PINNED ? 1 : 2;
		return SIM_OK;
	case 9:
		*(int *)value = device;
		return SIM_OK;
	default:
		return SIM_NOT_SUPPORTED;
	}
}

ENTRY(243, cuMemAlloc_v2, (uint64_t *, address), (size_t, bytes))
{
	return allocate(address, bytes, SIM_ON_DEVICE, NULL, NULL);
}

ENTRY(245, cuMemFree_v2, (uint64_t, address))
{
	/* As in the driver: running work may still use the memory. */
	if (address && sim_thread.current)
		sim_sleep_until(sim_thread.current->blocking_end);
	return give_back(address, false, NULL);
}

ENTRY(371, cuMemAllocManaged, (uint64_t *, address), (size_t, bytes), (unsigned int, flags))
{
	return allocate(address, bytes, SIM_MANAGED, NULL, NULL);
}

ENTRY(294, cuMemAllocHost_v2, (void **, address), (size_t, bytes))
{
	uint64_t a = 0;
	int result = allocate(&a, bytes, SIM_PINNED, NULL, NULL);

	*address = (void *)(uintptr_t)a;
	return result;
}

ENTRY(39, cuMemHostAlloc, (void **, address), (size_t, bytes), (unsigned int, flags))
{
	return do_cuMemAllocHost_v2(address, bytes);
}

ENTRY(38, cuMemFreeHost, (void *, address))
{
	return give_back((uintptr_t)address, true, NULL);
}

ENTRY(242, cuMemGetInfo_v2, (size_t *, unused), (size_t *, total))
{
	if (!sim_thread.current)
		return SIM_INVALID_CONTEXT;
	*total = sim_thread.current->device->memory;
	*unused = *total - sim_thread.current->device->used;
	return SIM_OK;
}

/* --- pools ------------------------------------------------------------------ */

static struct sim_pool *pool_make(int device)
{
	struct sim_pool *p = calloc(1, sizeof(*p));

	p->magic = SIM_MAGIC_POOL;
	p->device = device;
	p->address = (uintptr_t)p;
	pthread_mutex_init(&p->lock, NULL);
	pthread_mutex_lock(&pieces_lock);
	p->next = pools;
	pools = p;
	pthread_mutex_unlock(&pieces_lock);
	SIM_TELL(pool, p, 1, sim_correlation());
	return p;
}

static struct sim_pool *default_pool(int device)
{
	static struct sim_pool *of[SIM_DEVICES];

	if (!of[device])
		of[device] = pool_make(device);
	return of[device];
}

ENTRY(606, cuDeviceGetDefaultMemPool, (void **, pool), (int, device))
{
	*pool = default_pool(device);
	return SIM_OK;
}

ENTRY(607, cuMemPoolCreate, (void **, pool), (const void *, properties))
{
	*pool = pool_make(sim_thread.current ? sim_thread.current->device->ordinal : 0);
	return SIM_OK;
}

ENTRY(608, cuMemPoolDestroy, (void *, pool))
{
	struct sim_pool *p = pool;

	if (!p || p->magic != SIM_MAGIC_POOL)
		return SIM_INVALID_VALUE;
	SIM_TELL(pool, p, 2, sim_correlation());
	p->magic = 0;
	return SIM_OK;
}

ENTRY(602, cuMemPoolTrimTo, (void *, pool), (size_t, at_least))
{
	struct sim_pool *p = pool;

	if (!p || p->magic != SIM_MAGIC_POOL)
		return SIM_INVALID_VALUE;
	pthread_mutex_lock(&p->lock);
	p->reserved = p->used > at_least ? p->used : at_least;
	pthread_mutex_unlock(&p->lock);
	SIM_TELL(pool, p, 3, sim_correlation());
	return SIM_OK;
}

static int from_pool(uint64_t *address, size_t bytes, struct sim_pool *p, void *handle)
{
	struct sim_stream *s = sim_stream(handle);

	if (!s)
		return SIM_INVALID_HANDLE;
	if (!p)
		p = default_pool(s->context->device->ordinal);
	if (p->magic != SIM_MAGIC_POOL)
		return SIM_INVALID_VALUE;
	pthread_mutex_lock(&p->lock);
	p->used += bytes;
	if (p->reserved < p->used)	/* the pool grows by 2 MiB */
		p->reserved = (p->used + (2u << 20) - 1) & ~(uint64_t)((2u << 20) - 1);
	pthread_mutex_unlock(&p->lock);
	return allocate(address, bytes, SIM_ON_DEVICE, p, s);
}

ENTRY(598, cuMemAllocAsync, (uint64_t *, address), (size_t, bytes), (void *, stream))
{
	return from_pool(address, bytes, NULL, stream);
}

ENTRY(599, cuMemAllocAsync_ptsz, (uint64_t *, address), (size_t, bytes), (void *, stream))
{
	return from_pool(address, bytes, NULL, stream ? stream : (void *)2);
}

ENTRY(611, cuMemAllocFromPoolAsync, (uint64_t *, address), (size_t, bytes), (void *, pool),
      (void *, stream))
{
	return from_pool(address, bytes, pool, stream);
}

static int free_async(uint64_t address, void *handle)
{
	struct sim_stream *s = sim_stream(handle);

	return s ? give_back(address, false, s) : SIM_INVALID_HANDLE;
}

ENTRY(600, cuMemFreeAsync, (uint64_t, address), (void *, stream))
{
	return free_async(address, stream);
}

ENTRY(601, cuMemFreeAsync_ptsz, (uint64_t, address), (void *, stream))
{
	return free_async(address, stream ? stream : (void *)2);
}

/* --- copies ----------------------------------------------------------------- */

void sim_copy(const struct sim_op *op, void *to, const void *from)
{
	if (op->kind == SIM_COPY || op->kind == SIM_PEER)
		memmove(to, from, op->bytes);
	else if (op->kind == SIM_FILL && to)
		memset(to, (int)op->value, op->bytes);
}

int sim_do(struct sim_op *op, void *to, const void *from)
{
	if (op->stream->capture)
		return graph_note(op->stream->capture, op, to, from, NULL);
	sim_copy(op, to, from);
	return sim_submit(op);
}

static int copy(uint64_t to, uint64_t from, size_t bytes, void *handle, bool async)
{
	struct sim_op op = { .kind = SIM_COPY, .stream = sim_stream(handle), .bytes = bytes,
			     .async = async };
	int result;

	if (!op.stream)
		return sim_thread.current ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	op.to = sim_place(to, &op.to_device);
	op.from = sim_place(from, &op.from_device);
	if (op.to == SIM_ON_DEVICE && op.from == SIM_ON_DEVICE && op.to_device != op.from_device)
		op.kind = SIM_PEER;
	result = sim_do(&op, (void *)(uintptr_t)to, (const void *)(uintptr_t)from);
	if (!result && !async) {
		sim_sleep_until(op.end_ns);
		truth_blocked();
	}
	return result;
}

ENTRY(305, cuMemcpy, (uint64_t, to), (uint64_t, from), (size_t, bytes))
{
	return copy(to, from, bytes, NULL, false);
}

ENTRY(306, cuMemcpyAsync, (uint64_t, to), (uint64_t, from), (size_t, bytes), (void *, stream))
{
	return copy(to, from, bytes, stream, true);
}

ENTRY(276, cuMemcpyHtoD_v2, (uint64_t, to), (const void *, from), (size_t, bytes))
{
	return copy(to, (uintptr_t)from, bytes, NULL, false);
}

ENTRY(278, cuMemcpyDtoH_v2, (void *, to), (uint64_t, from), (size_t, bytes))
{
	return copy((uintptr_t)to, from, bytes, NULL, false);
}

ENTRY(280, cuMemcpyDtoD_v2, (uint64_t, to), (uint64_t, from), (size_t, bytes))
{
	return copy(to, from, bytes, NULL, true);
}

ENTRY(277, cuMemcpyHtoDAsync_v2, (uint64_t, to), (const void *, from), (size_t, bytes),
      (void *, stream))
{
	return copy(to, (uintptr_t)from, bytes, stream, true);
}

ENTRY(421, cuMemcpyHtoDAsync_v2_ptsz, (uint64_t, to), (const void *, from), (size_t, bytes),
      (void *, stream))
{
	return copy(to, (uintptr_t)from, bytes, stream ? stream : (void *)2, true);
}

ENTRY(279, cuMemcpyDtoHAsync_v2, (void *, to), (uint64_t, from), (size_t, bytes), (void *, stream))
{
	return copy((uintptr_t)to, from, bytes, stream, true);
}

ENTRY(422, cuMemcpyDtoHAsync_v2_ptsz, (void *, to), (uint64_t, from), (size_t, bytes),
      (void *, stream))
{
	return copy((uintptr_t)to, from, bytes, stream ? stream : (void *)2, true);
}

ENTRY(281, cuMemcpyDtoDAsync_v2, (uint64_t, to), (uint64_t, from), (size_t, bytes),
      (void *, stream))
{
	return copy(to, from, bytes, stream, true);
}

static int peer(uint64_t to, struct sim_context *tc, uint64_t from, struct sim_context *fc,
		size_t bytes, void *handle, bool async)
{
	struct sim_op op = { .kind = SIM_PEER, .stream = sim_stream(handle), .bytes = bytes,
			     .from = SIM_ON_DEVICE, .to = SIM_ON_DEVICE, .async = async };
	int result;

	if (!op.stream || !sim_context_of(tc) || !sim_context_of(fc))
		return SIM_INVALID_CONTEXT;
	op.to_device = tc->device->ordinal;
	op.from_device = fc->device->ordinal;
	result = sim_do(&op, (void *)(uintptr_t)to, (const void *)(uintptr_t)from);
	if (!result && !async) {
		sim_sleep_until(op.end_ns);
		truth_blocked();
	}
	return result;
}

ENTRY(318, cuMemcpyPeer, (uint64_t, to), (void *, to_context), (uint64_t, from),
      (void *, from_context), (size_t, bytes))
{
	return peer(to, to_context, from, from_context, bytes, NULL, false);
}

ENTRY(319, cuMemcpyPeerAsync, (uint64_t, to), (void *, to_context), (uint64_t, from),
      (void *, from_context), (size_t, bytes), (void *, stream))
{
	return peer(to, to_context, from, from_context, bytes, stream, true);
}

static int fill(uint64_t to, unsigned int value, size_t bytes, void *handle)
{
	struct sim_op op = { .kind = SIM_FILL, .stream = sim_stream(handle), .bytes = bytes,
			     .value = value, .async = true };

	if (!op.stream)
		return SIM_INVALID_HANDLE;
	op.to = sim_place(to, &op.to_device);
	return sim_do(&op, (void *)(uintptr_t)to, NULL);
}

ENTRY(249, cuMemsetD8_v2, (uint64_t, to), (unsigned char, value), (size_t, count))
{
	return fill(to, value, count, NULL);
}

ENTRY(251, cuMemsetD32_v2, (uint64_t, to), (unsigned int, value), (size_t, count))
{
	return fill(to, value, count * 4, NULL);
}

ENTRY(216, cuMemsetD8Async, (uint64_t, to), (unsigned char, value), (size_t, count),
      (void *, stream))
{
	return fill(to, value, count, stream);
}

ENTRY(220, cuMemsetD32Async, (uint64_t, to), (unsigned int, value), (size_t, count),
      (void *, stream))
{
	return fill(to, value, count * 4, stream);
}
