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

/* Whether a field is within the bytes that were read. */
#define HAS(type, field, size)                                                              \
	((size) >= offsetof(struct cupti_##type, field) +                                   \
			   sizeof(((const struct cupti_##type *)0)->field))

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
	set_place(out, k.device, k.context, k.stream, release);
	set_times(out, k.start, k.end);
	set_from_device(out, k.from_device, release);
	out->correlation = k.correlation;
	out->graph = k.graph;
	out->node = k.graph_node;
	out->source_graph = k.source_graph;
	out->source_node = k.source_node;
	out->kernel.name = k.name;
	set_sizes(out->kernel.grid, k.grid);
	set_sizes(out->kernel.block, k.block);
	memcpy(out->kernel.cluster, k.cluster, sizeof(k.cluster));
	out->kernel.registers = k.registers;
	out->kernel.shared_static = k.shared_static > 0 ? (uint32_t)k.shared_static : 0;
	out->kernel.shared_dynamic = k.shared_dynamic > 0 ? (uint32_t)k.shared_dynamic : 0;
	out->kernel.shared_executed = k.shared_executed;
	out->kernel.local = k.local_per_thread;
	out->kernel.queued = k.queued;
	out->kernel.submitted = k.submitted;
	out->kernel.launch_type = k.launch_type;
	if (HAS(kernel, priority, size)) {
		out->kernel.priority = k.priority;
		out->flags |= CUDA_HAS_PRIORITY;
	}
}

static void decode_copy(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(copy, c, record, size);

	out->what = CUDA_COPY;
	set_place(out, c.device, c.context, c.stream, release);
	set_times(out, c.start, c.end);
	set_from_device(out, c.from_device, release);
	out->flags |= c.flags & CUPTI_FLAG_ASYNC ? CUDA_ASYNC : 0;
	out->flags |= c.count > 1 ? CUDA_MANY : 0;
	out->correlation = c.correlation;
	out->graph = c.graph;
	out->node = c.graph_node;
	out->source_graph = c.source_graph;
	out->source_node = c.source_node;
	out->bytes = c.bytes;
	out->copy.way = c.way;
	out->copy.from = c.from;
	out->copy.to = c.to;
	out->copy.count = c.count ? c.count : 1;
	out->copy.src_device = out->copy.dst_device = CUPTI_ID_NONE;
}

static void decode_copy_peer(const void *record, size_t size, uint32_t release,
			     struct cuda_record *out)
{
	LOAD(copy_peer, c, record, size);

	out->what = CUDA_COPY;
	set_place(out, c.device, c.context, c.stream, release);
	set_times(out, c.start, c.end);
	out->flags |= c.flags & CUPTI_FLAG_ASYNC ? CUDA_ASYNC : 0;
	out->correlation = c.correlation;
	out->graph = c.graph;
	out->node = c.graph_node;
	out->bytes = c.bytes;
	out->copy.peer = true;
	out->copy.way = c.way;
	out->copy.from = c.from;
	out->copy.to = c.to;
	out->copy.count = 1;
	out->copy.src_device = c.src_device;
	out->copy.dst_device = c.dst_device;
}

static void decode_fill(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(fill, f, record, size);

	out->what = CUDA_FILL;
	set_place(out, f.device, f.context, f.stream, release);
	set_times(out, f.start, f.end);
	set_from_device(out, f.from_device, release);
	out->flags |= f.flags & CUPTI_FLAG_ASYNC ? CUDA_ASYNC : 0;
	out->correlation = f.correlation;
	out->graph = f.graph;
	out->node = f.graph_node;
	out->source_graph = f.source_graph;
	out->source_node = f.source_node;
	out->bytes = f.bytes;
	out->fill.value = f.value;
	out->fill.memory = (uint8_t)f.memory;
}

static void decode_memory(const void *record, size_t size, uint32_t release,
			  struct cuda_record *out)
{
	LOAD(memory, m, record, size);

	out->what = m.operation == CUPTI_MEMORY_ALLOC || m.operation == CUPTI_MEMORY_FREE ?
			    CUDA_MEMORY : CUDA_NOTHING;
	set_place(out, m.device, m.context, m.stream, release);
	set_one_time(out, m.time);
	out->flags |= m.async ? CUDA_ASYNC : 0;
	out->correlation = m.correlation;
	out->bytes = m.bytes;
	out->memory.release = m.operation == CUPTI_MEMORY_FREE;
	out->memory.memory = (uint8_t)m.memory;
	out->memory.process = m.process;
	out->memory.address = m.address;
	out->memory.pc = m.pc;
	out->memory.name = m.name;
	out->memory.source = m.source;
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
	out->pool.operation = (uint8_t)p.operation;
	out->pool.type = (uint8_t)p.type;
	out->pool.managed = p.managed;
	out->pool.process = p.process;
	out->pool.address = p.address;
	out->pool.size = p.size;
	out->pool.used = p.used;
	out->pool.threshold = p.threshold;
	out->pool.keep = p.keep;
}

static void decode_sync_record(const void *record, size_t size, uint32_t release,
			       struct cuda_record *out)
{
	LOAD(sync, s, record, size);

	out->what = CUDA_SYNC;
	set_place(out, CUPTI_ID_NONE, s.context, s.stream, release);
	set_times(out, s.start, s.end);
	out->correlation = s.correlation;
	out->sync.type = s.type;
	out->sync.event = s.event;
	out->sync.result = s.result;
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
	out->overhead.object_kind = o.object_kind;
	out->overhead.process = out->overhead.thread = CUPTI_ID_NONE;
	if (o.object_kind == CUPTI_OBJECT_PROCESS || o.object_kind == CUPTI_OBJECT_THREAD)
		out->overhead.process = o.object.of_host.process;
	if (o.object_kind == CUPTI_OBJECT_THREAD)
		out->overhead.thread = o.object.of_host.thread;
	if (o.object_kind >= CUPTI_OBJECT_DEVICE && o.object_kind <= CUPTI_OBJECT_STREAM)
		out->device = o.object.of_device.device;
	if (o.object_kind == CUPTI_OBJECT_CONTEXT || o.object_kind == CUPTI_OBJECT_STREAM)
		out->context = o.object.of_device.context;
	if (o.object_kind == CUPTI_OBJECT_STREAM)
		out->stream = o.object.of_device.stream;
}

static void decode_call(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(api, a, record, size);

	(void)release;
	out->what = a.kind == CUPTI_KIND_DRIVER ? CUDA_DRIVER_CALL : CUDA_RUNTIME_CALL;
	set_times(out, a.start, a.end);
	out->correlation = a.correlation;
	out->call.number = a.number;
	out->call.process = a.process;
	out->call.thread = a.thread;
	out->call.result = a.result;
}

static void decode_external(const void *record, size_t size, uint32_t release,
			    struct cuda_record *out)
{
	LOAD(external, e, record, size);

	(void)release;
	out->what = CUDA_EXTERNAL;
	out->correlation = e.correlation;
	out->external.kind = e.external_kind;
	out->external.id = e.id;
}

static void decode_graph(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(graph, g, record, size);

	out->what = CUDA_GRAPH;
	set_place(out, g.device, g.context, g.stream, release);
	set_times(out, g.start, g.end);
	out->correlation = g.correlation;
	out->graph = g.graph;
	out->graph_end.device = out->graph_end.context = CUPTI_ID_NONE;
	if (HAS(graph, end_context, size)) {
		out->graph_end.device = g.end_device;
		out->graph_end.context = g.end_context;
	}
}

static void decode_context(const void *record, size_t size, uint32_t release,
			   struct cuda_record *out)
{
	LOAD(context, c, record, size);

	(void)release;
	out->what = CUDA_CONTEXT;
	out->device = c.device;
	out->context = c.context;
	out->made_context.api = c.api;
	out->made_context.null_stream = c.null_stream;
	out->made_context.parent = c.parent;
	out->made_context.units = HAS(context, cig_mode, size) ? c.units : 0;
	out->made_context.green = c.green;
	out->made_context.process = c.process;
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
	out->of_device.copy_engines = d.copy_engines;
	out->of_device.warp = d.warp;
	out->of_device.l2 = d.l2;
	out->of_device.threads_per_unit = d.warps_per_unit * d.warp;
	out->of_device.blocks_per_unit = d.blocks_per_unit;
	out->of_device.registers_per_unit = d.registers_per_unit;
	out->of_device.shared_per_unit = d.shared_per_unit;
	out->of_device.registers_per_block = d.registers_per_block;
	out->of_device.shared_per_block = d.shared_per_block;
	out->of_device.threads_per_block = d.threads_per_block;
	memcpy(out->of_device.uuid, d.uuid, sizeof(d.uuid));
	out->of_device.name = d.name;
	out->of_device.visible = d.visible;
	out->of_device.mig = d.mig;
	out->of_device.gpu_instance = d.gpu_instance;
	out->of_device.compute_instance = d.compute_instance;
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
	out->made_stream.flag = s.flag;
}

static void decode_name(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(name, n, record, size);

	out->what = CUDA_NAME;
	out->name.object_kind = n.object_kind;
	out->name.text = n.name;
	out->name.process = out->name.thread = CUPTI_ID_NONE;
	if (n.object_kind == CUPTI_OBJECT_PROCESS || n.object_kind == CUPTI_OBJECT_THREAD) {
		out->name.process = n.object.of_host.process;
		out->name.thread = n.object.of_host.thread;
	} else {
		set_place(out, n.object.of_device.device, n.object.of_device.context,
			  n.object.of_device.stream, release);
	}
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
	out->jit.process = j.process;
	out->jit.thread = j.thread;
	out->jit.cache = j.cache_path;
}

static void decode_module(const void *record, size_t size, uint32_t release,
			  struct cuda_record *out)
{
	LOAD(module, m, record, size);

	(void)release;
	out->what = CUDA_MODULE;
	out->context = m.context;
	out->bytes = m.size;
	out->module.module = m.module;
}

static void decode_event(const void *record, size_t size, uint32_t release, struct cuda_record *out)
{
	LOAD(event, e, record, size);

	(void)release;
	out->what = CUDA_EVENT;
	set_place(out, HAS(event, device, size) ? e.device : CUPTI_ID_NONE, e.context, e.stream,
		  release);
	set_one_time(out, e.time);
	out->correlation = e.correlation;
	out->graph = e.graph;
	out->node = e.graph_node;
	out->source_graph = e.source_graph;
	out->source_node = e.source_node;
	out->event.event = e.event;
}

static void decode_decompress(const void *record, size_t size, uint32_t release,
			      struct cuda_record *out)
{
	LOAD(decompress, d, record, size);

	out->what = CUDA_DECOMPRESS;
	set_place(out, d.device, d.context, d.stream, release);
	set_times(out, d.start, d.end);
	out->correlation = d.correlation;
	out->bytes = d.bytes;
	out->decompress.operations = d.operations;
}

static void decode_host_launch(const void *record, size_t size, uint32_t release,
			       struct cuda_record *out)
{
	LOAD(host_launch, h, record, size);

	out->what = CUDA_HOST;
	set_place(out, h.device, h.context, h.stream, release);
	set_times(out, h.start, h.end);
	out->correlation = h.correlation;
	out->host.process = h.process;
	out->host.thread = h.thread;
}

static void decode_graph_host(const void *record, size_t size, uint32_t release,
			      struct cuda_record *out)
{
	LOAD(graph_host, h, record, size);

	out->what = CUDA_HOST;
	set_place(out, h.device, h.context, h.stream, release);
	set_times(out, h.start, h.end);
	out->correlation = h.correlation;
	out->graph = h.graph;
	out->node = h.graph_node;
	out->host.process = h.process;
	out->host.thread = h.thread;
}

/* The shortest layout of each kind that any release writes, and the function that reads it. */
static const struct kind_reader {
	uint16_t least;
	void (*read)(const void *, size_t, uint32_t, struct cuda_record *);
} readers[CUPTI_KIND_LIMIT] = {
	[CUPTI_KIND_COPY] = { 64, decode_copy },
	[CUPTI_KIND_FILL] = { 64, decode_fill },
	[CUPTI_KIND_KERNEL] = { CUPTI_KERNEL_MIN, decode_kernel },
	[CUPTI_KIND_DRIVER] = { 40, decode_call },
	[CUPTI_KIND_RUNTIME] = { 40, decode_call },
	[CUPTI_KIND_DEVICE] = { 176, decode_device },
	[CUPTI_KIND_CONTEXT] = { 16, decode_context },
	[CUPTI_KIND_CONCURRENT_KERNEL] = { CUPTI_KERNEL_MIN, decode_kernel },
	[CUPTI_KIND_NAME] = { 32, decode_name },
	[CUPTI_KIND_OVERHEAD] = { 40, decode_overhead },
	[CUPTI_KIND_COPY_PEER] = { 72, decode_copy_peer },
	[CUPTI_KIND_MODULE] = { 24, decode_module },
	[CUPTI_KIND_EVENT] = { 24, decode_event },
	[CUPTI_KIND_STREAM] = { 24, decode_stream },
	[CUPTI_KIND_SYNC] = { 40, decode_sync_record },
	[CUPTI_KIND_EXTERNAL] = { 24, decode_external },
	[CUPTI_KIND_MEMORY] = { 112, decode_memory },
	[CUPTI_KIND_POOL] = { 64, decode_pool },
	[CUPTI_KIND_GRAPH] = { 48, decode_graph },
	[CUPTI_KIND_JIT] = { 64, decode_jit },
	[CUPTI_KIND_DECOMPRESS] = { 64, decode_decompress },
	[CUPTI_KIND_GRAPH_HOST] = { 56, decode_graph_host },
	[CUPTI_KIND_HOST_LAUNCH] = { 48, decode_host_launch },
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
