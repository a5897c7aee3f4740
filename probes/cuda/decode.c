/* SPDX-License-Identifier: MIT */
#include "probes/cuda/decode.h"

#include <string.h>

/* Copies the bytes of a record that are there and zeroes the rest, so that missing fields are 0. */
#define LOAD(type, name, record, size)                                    \
	struct cupti_##type name;                                         \
	load(&name, sizeof(name), record, size)

static inline void load(void *to, size_t whole, const void *record, size_t size)
{
	if (size >= whole) {
		memcpy(to, record, whole);
		return;
	}
	memcpy(to, record, size);
	memset((char *)to + size, 0, whole - size);
}

static void set_times(struct cuda_record *out, uint64_t start, uint64_t end)
{
	out->start = start;
	out->end = end;
	if (!start || !end || end < start)
		out->flags |= CUDA_NO_TIME;
}

static void set_one_time(struct cuda_record *out, uint64_t time)
{
	set_times(out, time, time);
}

/* From 13.2 on, 0 also stands for no context and no stream. */
static void set_place(struct cuda_record *out, uint32_t device, uint32_t context, uint32_t stream,
		      uint32_t release)
{
	bool zero_is_none = release >= CUPTI_RELEASE(13, 2);

	out->device = device;
	out->context = zero_is_none && context == CUPTI_ID_NONE_132 ? CUPTI_ID_NONE : context;
	out->stream = zero_is_none && stream == CUPTI_ID_NONE_132 ? CUPTI_ID_NONE : stream;
}

/* What all records of the device's work have, by the same names. */
#define SET_WORK(out, r, release) do { \
	set_place(out, (r).device, (r).context, (r).stream, release); \
	set_times(out, (r).start, (r).end); \
	(out)->correlation = (r).correlation; \
} while (0)

/* Of what may be a node of a graph. */
#define SET_NODE(out, r, release) do { \
	SET_WORK(out, r, release); \
	(out)->graph = (r).graph; \
	(out)->node = (r).graph_node; \
} while (0)

/* Before 13.0 this was padding, which has no meaning. */
static void set_from_device(struct cuda_record *out, uint8_t from_device, uint32_t release)
{
	if (from_device && release >= CUPTI_RELEASE(13, 0))
		out->flags |= CUDA_FROM_DEVICE;
}

static void set_sizes(uint32_t to[3], const int32_t from[3])
{
	for (int i = 0; i < 3; i++)
		to[i] = from[i] > 0 ? (uint32_t)from[i] : 0;
}

static void decode_kernel(const void *record, size_t size, uint32_t release,
			  struct cuda_record *out)
{
	LOAD(kernel, k, record, size);

	out->what = CUDA_KERNEL;
	SET_NODE(out, k, release);
	set_from_device(out, k.from_device, release);
	out->kernel.name = k.name;
	set_sizes(out->kernel.grid, k.grid);
	set_sizes(out->kernel.block, k.block);
	out->kernel.registers = k.registers;
	out->kernel.shared_static = k.shared_static > 0 ? (uint32_t)k.shared_static : 0;
	out->kernel.shared_dynamic = k.shared_dynamic > 0 ? (uint32_t)k.shared_dynamic : 0;
	out->kernel.queued = k.queued;
	out->kernel.submitted = k.submitted;
}

static void decode_copy(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(copy, c, record, size);

	out->what = CUDA_COPY;
	SET_NODE(out, c, release);
	set_from_device(out, c.from_device, release);
	out->bytes = c.bytes;
	out->copy.way = c.way;
	out->copy.from = c.from;
	out->copy.to = c.to;
	out->copy.src_device = out->copy.dst_device = CUPTI_ID_NONE;
}

static void decode_copy_peer(const void *record, size_t size, uint32_t release,
			     struct cuda_record *out)
{
	LOAD(copy_peer, c, record, size);

	out->what = CUDA_COPY;
	SET_NODE(out, c, release);
	out->bytes = c.bytes;
	out->copy.peer = true;
	out->copy.way = c.way;
	out->copy.from = c.from;
	out->copy.to = c.to;
	out->copy.src_device = c.src_device;
	out->copy.dst_device = c.dst_device;
}

static void decode_fill(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(fill, f, record, size);

	out->what = CUDA_FILL;
	SET_NODE(out, f, release);
	set_from_device(out, f.from_device, release);
	out->bytes = f.bytes;
}

static void decode_memory(const void *record, size_t size, uint32_t release,
			  struct cuda_record *out)
{
	LOAD(memory, m, record, size);

	out->what = m.operation == CUPTI_MEMORY_ALLOC || m.operation == CUPTI_MEMORY_FREE ?
			    CUDA_MEMORY : CUDA_NOTHING;
	set_place(out, m.device, m.context, m.stream, release);
	set_one_time(out, m.time);
	out->correlation = m.correlation;
	out->bytes = m.bytes;
	out->memory.release = m.operation == CUPTI_MEMORY_FREE;
	out->memory.memory = (uint8_t)m.memory;
	out->memory.address = m.address;
	if (m.pool_type == CUPTI_POOL_LOCAL || m.pool_type == CUPTI_POOL_IMPORTED) {
		out->memory.pool_type = (uint8_t)m.pool_type;
		out->memory.pool = m.pool;
		out->memory.pool_used = m.pool_used;
		/* for an imported pool the field is a process */
		out->memory.pool_size = m.pool_type == CUPTI_POOL_LOCAL ? m.pool_size : 0;
	}
}

static void decode_pool(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(pool, p, record, size);

	(void)release;
	out->what = CUDA_POOL;
	out->device = p.device;
	set_one_time(out, p.time);
	out->correlation = p.correlation;
	out->pool.type = (uint8_t)p.type;
	out->pool.address = p.address;
	out->pool.size = p.size;
	out->pool.used = p.used;
}

static void decode_overhead(const void *record, size_t size, uint32_t release,
			    struct cuda_record *out)
{
	LOAD(overhead, o, record, size);

	(void)release;
	out->what = CUDA_OVERHEAD;
	set_times(out, o.start, o.end);
	out->correlation = o.correlation;
	out->overhead.what = o.what;
	if (o.object_kind >= CUPTI_OBJECT_DEVICE && o.object_kind <= CUPTI_OBJECT_STREAM)
		out->device = o.object.of_device.device;
	if (o.object_kind == CUPTI_OBJECT_CONTEXT || o.object_kind == CUPTI_OBJECT_STREAM)
		out->context = o.object.of_device.context;
	if (o.object_kind == CUPTI_OBJECT_STREAM)
		out->stream = o.object.of_device.stream;
}

static void decode_graph(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(graph, g, record, size);

	out->what = CUDA_GRAPH;
	SET_WORK(out, g, release);
	out->graph = g.graph;
}

static void decode_context(const void *record, size_t size, uint32_t release,
			   struct cuda_record *out)
{
	LOAD(context, c, record, size);

	(void)release;
	out->what = CUDA_CONTEXT;
	out->device = c.device;
	out->context = c.context;
	out->made_context.null_stream = c.null_stream;
	out->made_context.green = c.green;
}

static void decode_device(const void *record, size_t size, uint32_t release,
			  struct cuda_record *out)
{
	LOAD(device, d, record, size);

	(void)release;
	out->what = CUDA_DEVICE;
	out->device = d.device;
	out->of_device.bandwidth = d.bandwidth * 1000;
	out->of_device.memory = d.memory;
	out->of_device.clock = d.clock;
	out->of_device.capability = d.major * 10 + d.minor;
	out->of_device.units = d.units;
	out->of_device.threads_per_unit = d.warps_per_unit * d.warp;
	out->of_device.blocks_per_unit = d.blocks_per_unit;
	out->of_device.registers_per_unit = d.registers_per_unit;
	out->of_device.shared_per_unit = d.shared_per_unit;
	out->of_device.registers_per_block = d.registers_per_block;
	out->of_device.shared_per_block = d.shared_per_block;
	memcpy(out->of_device.uuid, d.uuid, sizeof(d.uuid));
	out->of_device.name = d.name;
	out->of_device.mig = d.mig;
	memcpy(out->of_device.mig_uuid, d.mig_uuid, sizeof(d.mig_uuid));
}

static void decode_stream(const void *record, size_t size, uint32_t release,
			  struct cuda_record *out)
{
	LOAD(stream, s, record, size);

	(void)release;
	out->what = CUDA_STREAM;
	out->context = s.context;
	out->stream = s.stream;
	out->correlation = s.correlation;
	out->made_stream.priority = s.priority;
}

static void decode_jit(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(jit, j, record, size);

	(void)release;
	out->what = CUDA_JIT;
	out->device = j.device;
	set_times(out, j.start, j.end);
	out->correlation = j.correlation;
	out->bytes = j.cache_size;
	out->jit.entry = j.entry;
	out->jit.operation = j.operation;
}

/* The shortest layout that anybody writes, and who reads it. */
static const struct kind_reader {
	uint16_t least;
	void (*read)(const void *, size_t, uint32_t, struct cuda_record *);
} readers[CUPTI_KIND_LIMIT] = {
	[CUPTI_KIND_COPY] = { 64, decode_copy },
	[CUPTI_KIND_FILL] = { 64, decode_fill },
	[CUPTI_KIND_KERNEL] = { CUPTI_KERNEL_MIN, decode_kernel },
	[CUPTI_KIND_DEVICE] = { 176, decode_device },
	[CUPTI_KIND_CONTEXT] = { 16, decode_context },
	[CUPTI_KIND_CONCURRENT_KERNEL] = { CUPTI_KERNEL_MIN, decode_kernel },
	[CUPTI_KIND_OVERHEAD] = { 40, decode_overhead },
	[CUPTI_KIND_COPY_PEER] = { 72, decode_copy_peer },
	[CUPTI_KIND_STREAM] = { 24, decode_stream },
	[CUPTI_KIND_MEMORY] = { 112, decode_memory },
	[CUPTI_KIND_POOL] = { 64, decode_pool },
	[CUPTI_KIND_GRAPH] = { 48, decode_graph },
	[CUPTI_KIND_JIT] = { 64, decode_jit },
};

bool cuda_decode(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	size_t wrote;

	memset(out, 0, sizeof(*out));
	out->device = out->context = out->stream = CUPTI_ID_NONE;
	out->what = CUDA_SHORT;
	if (size < sizeof(out->kind))
		return false;
	memcpy(&out->kind, record, sizeof(out->kind));
	if (!cupti_kind_since(out->kind)) {
		out->what = CUDA_UNKNOWN;
		return false;
	}
	out->what = CUDA_NOTHING;
	if (!readers[out->kind].read)
		return false;
	wrote = cupti_record_size(out->kind, release);
	if (release <= CUPTI_RELEASE_NEWEST && wrote && size > wrote)
		size = wrote;
	out->what = CUDA_SHORT;
	if (size < readers[out->kind].least)
		return false;
	readers[out->kind].read(record, size, release, out);
	return out->what >= CUDA_KERNEL;
}
