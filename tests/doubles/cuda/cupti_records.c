/* SPDX-License-Identifier: MIT */
/* The double of CUPTI: the work of the device, as records of its release. See cupti_double.h. */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/doubles/cuda/cupti_double.h"

/* Any record, with room for fields that a later release may append. */
union record {
	uint32_t kind;
	struct cupti_kernel kernel;
	struct cupti_copy copy;
	struct cupti_copy_peer peer;
	struct cupti_fill fill;
	struct cupti_memory memory;
	struct cupti_pool pool;
	struct cupti_sync sync;
	struct cupti_overhead overhead;
	struct cupti_api api;
	struct cupti_external external;
	struct cupti_graph graph;
	struct cupti_context context;
	struct cupti_device device;
	struct cupti_stream stream;
	struct cupti_jit jit;
	struct cupti_event event;
	uint8_t room[1024];
};

struct size {
	uint32_t kind, release, bytes;
};
/* The size of each kind of record, by the release in which it changed; the last matching row
 * counts. */
static const struct size sizes[] = {
	{ CUPTI_KIND_COPY, 11010, 80 }, { CUPTI_KIND_COPY, 11060, 88 },
	{ CUPTI_KIND_COPY, 12080, 96 }, { CUPTI_KIND_COPY, 13040, 112 },
	{ CUPTI_KIND_FILL, 11010, 80 }, { CUPTI_KIND_FILL, 11060, 88 },
	{ CUPTI_KIND_FILL, 13040, 104 },
	{ CUPTI_KIND_CONCURRENT_KERNEL, 11020, 168 }, { CUPTI_KIND_CONCURRENT_KERNEL, 11060, 176 },
	{ CUPTI_KIND_CONCURRENT_KERNEL, 11080, 200 }, { CUPTI_KIND_CONCURRENT_KERNEL, 12000, 208 },
	{ CUPTI_KIND_CONCURRENT_KERNEL, 13000, 216 }, { CUPTI_KIND_CONCURRENT_KERNEL, 13010, 224 },
	{ CUPTI_KIND_CONCURRENT_KERNEL, 13030, 232 }, { CUPTI_KIND_CONCURRENT_KERNEL, 13040, 248 },
	{ CUPTI_KIND_DRIVER, 0, 40 }, { CUPTI_KIND_RUNTIME, 0, 40 },
	{ CUPTI_KIND_DEVICE, 0, 176 }, { CUPTI_KIND_DEVICE, 12020, 184 },
	{ CUPTI_KIND_DEVICE, 13020, 192 },
	{ CUPTI_KIND_CONTEXT, 0, 16 }, { CUPTI_KIND_CONTEXT, 12040, 24 },
	{ CUPTI_KIND_CONTEXT, 12050, 32 }, { CUPTI_KIND_CONTEXT, 13010, 40 },
	{ CUPTI_KIND_NAME, 0, 32 }, { CUPTI_KIND_MARKER, 0, 56 },
	{ CUPTI_KIND_OVERHEAD, 0, 40 }, { CUPTI_KIND_OVERHEAD, 12030, 48 },
	{ CUPTI_KIND_OVERHEAD, 12040, 56 },
	{ CUPTI_KIND_COPY_PEER, 11010, 88 }, { CUPTI_KIND_COPY_PEER, 11060, 96 },
	{ CUPTI_KIND_EVENT, 0, 24 }, { CUPTI_KIND_EVENT, 12080, 56 },
	{ CUPTI_KIND_EVENT, 13050, 80 },
	{ CUPTI_KIND_STREAM, 0, 24 },
	{ CUPTI_KIND_SYNC, 0, 40 }, { CUPTI_KIND_SYNC, 12080, 56 },
	{ CUPTI_KIND_EXTERNAL, 0, 24 },
	{ CUPTI_KIND_MEMORY, 11020, 112 }, { CUPTI_KIND_MEMORY, 11070, 120 },
	{ CUPTI_KIND_MEMORY, 12060, 128 },
	{ CUPTI_KIND_POOL, 11020, 64 }, { CUPTI_KIND_POOL, 11070, 72 },
	{ CUPTI_KIND_POOL, 13000, 80 },
	{ CUPTI_KIND_GRAPH, 11040, 48 }, { CUPTI_KIND_GRAPH, 12030, 56 },
	{ CUPTI_KIND_JIT, 11080, 64 }, { CUPTI_KIND_JIT, 12040, 72 },
};

static uint32_t bytes_of(uint32_t kind)
{
	uint32_t bytes = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i].kind == kind && sizes[i].release <= RELEASE)
			bytes = sizes[i].bytes;
	return bytes;
}

uint32_t cu_bytes(uint32_t kind)
{
	static uint32_t known[CUPTI_KIND_LIMIT];

	if (kind == CU_KIND_UNKNOWN && cu.unknown)
		return CU_UNKNOWN_BYTES;
	if (kind == CUPTI_KIND_KERNEL)
		kind = CUPTI_KIND_CONCURRENT_KERNEL;
	if (kind >= CUPTI_KIND_LIMIT)
		return 0;
	if (!known[kind])
		known[kind] = bytes_of(kind);
	if (kind == CUPTI_KIND_CONCURRENT_KERNEL || kind == CUPTI_KIND_COPY ||
	    kind == CUPTI_KIND_FILL)
		return known[kind] + (cu.future + 7) / 8 * 8;
	return known[kind];
}

/* --- work of the device ----------------------------------------------------- */

static bool no_times(void)
{
	static atomic_uint n;
	unsigned int i;

	/* from 12.6 to 13.0, a client's own clock set some of the times to 0 */
	bool bug = cu_own_clock && RELEASE >= CUPTI_RELEASE(12, 6) && RELEASE < CUPTI_RELEASE(13,
											      1);

	if (!cu.zero && !bug)
		return false;
	i = atomic_fetch_add(&n, 1) + 1;
	return (cu.zero && i % cu.zero == 0) || (bug && i % 16 == 0);
}

static bool recorded(const struct sim_call *call)
{
	return (call->domain == SIM_DRIVER ? cu_driver_api : cu_runtime_api)[call->cbid % 1024];
}

static bool any_api(void)
{
	for (int i = 0; i < 1024; i++)
		if (cu_driver_api[i] || cu_runtime_api[i])
			return true;
	return false;
}

/* By the settings only where calls are recorded, any or those that run on this thread. */
static uint32_t correlation_of(uint32_t correlation)
{
	const struct sim_call *call = sim_thread.call;

	if (cu.uncorrelated && !any_api())
		return 0;
	while (cu.by_call && call && !recorded(call))
		call = call->outer;
	return cu.by_call && !call ? 0 : correlation;
}

static void kernel_record(union record *r, const struct sim_op *op)
{
	struct cupti_kernel *k = &r->kernel;
	const struct sim_stream *s = op->stream;

	k->kind = CUPTI_KIND_CONCURRENT_KERNEL;
	k->registers = (uint16_t)op->function->registers;
	k->start = (uint64_t)cu_time(op->start_ns);
	k->end = k->completed = (uint64_t)cu_time(op->end_ns);
	k->device = (uint32_t)s->context->device->ordinal;
	k->context = s->context->uid;
	k->stream = s->id;
	for (int i = 0; i < 3; i++) {
		k->grid[i] = (int32_t)op->grid[i];
		k->block[i] = (int32_t)op->block[i];
	}
	k->shared_static = op->function->shared_static;
	k->shared_dynamic = (int32_t)op->shared_dynamic;
	k->correlation = correlation_of(op->correlation);
	k->name = op->name;
	if (cu_latency) {
		k->queued = (uint64_t)cu_time(op->queued_ns);
		k->submitted = k->queued + 500;
	}
	k->graph_node = op->node;
	k->graph = op->graph;
	k->channel = s->id;
	k->channel_type = 1;
	k->priority = s->priority;
}

static uint8_t way_of(const struct sim_op *op)
{
	bool from = op->from == SIM_ON_DEVICE || op->from == SIM_MANAGED;
	bool to = op->to == SIM_ON_DEVICE || op->to == SIM_MANAGED;

	return from ? to ? CUPTI_COPY_D2D : CUPTI_COPY_D2H : to ? CUPTI_COPY_H2D : CUPTI_COPY_H2H;
}

static void copy_record(union record *r, const struct sim_op *op)
{
	struct cupti_copy *c = &r->copy;
	const struct sim_stream *s = op->stream;

	c->kind = CUPTI_KIND_COPY;
	c->way = way_of(op);
	c->from = (uint8_t)op->from;
	c->to = (uint8_t)op->to;
	c->flags = op->async ? CUPTI_FLAG_ASYNC : 0;
	c->bytes = op->bytes;
	c->start = (uint64_t)cu_time(op->start_ns);
	c->end = (uint64_t)cu_time(op->end_ns);
	c->device = (uint32_t)s->context->device->ordinal;
	c->context = s->context->uid;
	c->stream = s->id;
	c->correlation = correlation_of(op->correlation);
	c->runtime_correlation = correlation_of(op->runtime_correlation);
	c->graph_node = op->node;
	c->graph = op->graph;
	c->channel = 40;
	c->channel_type = 2;
	c->count = 1;
}

static void peer_record(union record *r, const struct sim_op *op)
{
	struct cupti_copy_peer *c = &r->peer;
	const struct sim_stream *s = op->stream;

	c->kind = CUPTI_KIND_COPY_PEER;
	c->way = CUPTI_COPY_P2P;
	c->from = c->to = CUPTI_MEM_DEVICE;
	c->flags = op->async ? CUPTI_FLAG_ASYNC : 0;
	c->bytes = op->bytes;
	c->start = (uint64_t)cu_time(op->start_ns);
	c->end = (uint64_t)cu_time(op->end_ns);
	c->device = (uint32_t)s->context->device->ordinal;
	c->context = s->context->uid;
	c->stream = s->id;
	c->src_device = (uint32_t)op->from_device;
	c->dst_device = (uint32_t)op->to_device;
	c->src_context = c->dst_context = s->context->uid;
	c->correlation = correlation_of(op->correlation);
	c->graph_node = op->node;
	c->graph = op->graph;
}

static void fill_record(union record *r, const struct sim_op *op)
{
	struct cupti_fill *f = &r->fill;
	const struct sim_stream *s = op->stream;

	f->kind = CUPTI_KIND_FILL;
	f->value = op->value;
	f->bytes = op->bytes;
	f->start = (uint64_t)cu_time(op->start_ns);
	f->end = (uint64_t)cu_time(op->end_ns);
	f->device = (uint32_t)s->context->device->ordinal;
	f->context = s->context->uid;
	f->stream = s->id;
	f->correlation = correlation_of(op->correlation);
	f->flags = op->async ? CUPTI_FLAG_ASYNC : 0;
	f->memory = (uint16_t)op->to;
	f->graph_node = op->node;
	f->graph = op->graph;
}

static bool kernels_on(void)
{
	return cu_kind[CUPTI_KIND_CONCURRENT_KERNEL] || cu_kind[CUPTI_KIND_KERNEL];
}

/* A graph that is recorded as a whole has no records of its nodes; the setting at the start of its
 * launch counts. */
static bool whole(uint32_t correlation)
{
	static __thread uint32_t launch;
	static __thread bool kind;

	if (launch != correlation || cu.torn)
		kind = cu_kind[CUPTI_KIND_GRAPH];
	launch = correlation;
	return kind;
}

static void told_op(const struct sim_op *op)
{
	union record r;

	if ((op->graph && whole(op->correlation)) || op->kind == SIM_HOST ||
	    (op->kind == SIM_KERNEL && !kernels_on()) ||
	    (op->kind == SIM_COPY && !cu_kind[CUPTI_KIND_COPY]) ||
	    (op->kind == SIM_PEER && !cu_kind[CUPTI_KIND_COPY_PEER]) ||
	    (op->kind == SIM_FILL && !cu_kind[CUPTI_KIND_FILL]))
		return;
	memset(&r, 0, sizeof(struct cupti_kernel) + cu.future);
	if (op->kind == SIM_KERNEL)
		kernel_record(&r, op);
	else if (op->kind == SIM_COPY)
		copy_record(&r, op);
	else if (op->kind == SIM_PEER)
		peer_record(&r, op);
	else
		fill_record(&r, op);
	if (no_times())	/* both are at the same offsets in all four */
		r.kernel.start = r.kernel.end = 0;
	cu_append(&r, op->end_ns);
}

static void told_launched(const struct sim_graph *graph, const struct sim_stream *s,
			  uint32_t correlation, int64_t start_ns, int64_t end_ns)
{
	union record r = { .graph = {
		.kind = CUPTI_KIND_GRAPH, .correlation = correlation_of(correlation),
		.start = (uint64_t)cu_time(start_ns), .end = (uint64_t)cu_time(end_ns),
		.device = (uint32_t)s->context->device->ordinal, .graph = graph->id,
		.context = s->context->uid, .stream = s->id,
		.end_device = (uint32_t)s->context->device->ordinal,
		.end_context = s->context->uid } };

	if (whole(correlation))
		cu_append(&r, end_ns);
}

/* --- memory, waiting -------------------------------------------------------- */

static void told_memory(const struct sim_memory *m)
{
	union record r = { .memory = {
		.kind = CUPTI_KIND_MEMORY, .memory = m->place, .correlation = m->correlation,
		.operation = m->release ? CUPTI_MEMORY_FREE : CUPTI_MEMORY_ALLOC,
		.address = m->address, .bytes = m->bytes, .time = (uint64_t)cu_time(m->at_ns),
		.process = (uint32_t)getpid(), .device = (uint32_t)m->device,
		.context = m->context->uid, .stream = m->stream ? m->stream->id : CUPTI_ID_NONE,
		.async = m->async } };

	if (!cu_kind[CUPTI_KIND_MEMORY])
		return;
	if (m->pool) {
		r.memory.pool_type = CUPTI_POOL_LOCAL;
		r.memory.pool = m->pool->address;
		r.memory.pool_threshold = m->pool->threshold;
		r.memory.pool_size = m->pool->reserved;
		r.memory.pool_used = m->pool->used;
	}
	cu_append(&r, 0);
}

static void told_pool(const struct sim_pool *p, int operation, uint32_t correlation)
{
	union record r = { .pool = {
		.kind = CUPTI_KIND_POOL, .operation = (uint32_t)operation, .type = CUPTI_POOL_LOCAL,
		.correlation = correlation, .process = (uint32_t)getpid(),
		.device = (uint32_t)p->device, .address = p->address, .size = p->reserved,
		.threshold = p->threshold, .time = (uint64_t)cu_time(sim_now()),
		.used = p->used } };

	if (cu_kind[CUPTI_KIND_POOL])
		cu_append(&r, 0);
}

static void told_wait(const struct sim_wait *w)
{
	struct cupti_sync_data data = { w->context, w->type == SIM_SYNC_STREAM ? w->stream : NULL };
	union record r = { .sync = {
		.kind = CUPTI_KIND_SYNC, .type = w->type, .start = (uint64_t)cu_time(w->start_ns),
		.end = (uint64_t)cu_time(w->end_ns), .correlation = w->correlation,
		.context = w->context->uid, .stream = w->stream ? w->stream->id : CUPTI_ID_NONE,
		.event = w->event ? w->event : CUPTI_ID_NONE } };

	if (cu_kind[CUPTI_KIND_SYNC])
		cu_append(&r, 0);
	if (w->type == SIM_SYNC_STREAM || w->type == SIM_SYNC_CONTEXT)
		cu_callback(CUPTI_DOMAIN_SYNC, w->type == SIM_SYNC_STREAM ? CUPTI_SYNC_STREAM_DONE :
			    CUPTI_SYNC_CONTEXT_DONE, &data);
}

static void told_event(const struct sim_stream *s, uint32_t event, uint32_t correlation)
{
	union record r = { .event = {
		.kind = CUPTI_KIND_EVENT, .correlation = correlation, .context = s->context->uid,
		.stream = s->id, .event = event,
		.device = (uint32_t)s->context->device->ordinal } };

	if (cu_kind[CUPTI_KIND_EVENT])
		cu_append(&r, 0);
}

void cu_overhead_record(uint32_t kind, int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
	union record r = { .overhead = {
		.kind = CUPTI_KIND_OVERHEAD, .what = kind, .object_kind = CUPTI_OBJECT_THREAD,
		.object.of_host = { (uint32_t)getpid(), (uint32_t)syscall(SYS_gettid) },
		.start = (uint64_t)cu_time(start_ns), .end = (uint64_t)cu_time(end_ns),
		.correlation = correlation } };

	if (cu_kind[CUPTI_KIND_OVERHEAD])
		cu_append(&r, 0);
}

static void told_compiled(int device, int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
	union record r = { .jit = {
		.kind = CUPTI_KIND_JIT, .entry = CUPTI_JIT_PTX, .operation = CUPTI_JIT_COMPILE,
		.device = (uint32_t)device, .start = (uint64_t)cu_time(start_ns),
		.end = (uint64_t)cu_time(end_ns), .correlation = correlation,
		.process = (uint32_t)getpid(), .thread = (uint32_t)syscall(SYS_gettid) } };

	cu_overhead_record(CUPTI_OVERHEAD_COMPILER, start_ns, end_ns, correlation);
	if (cu_kind[CUPTI_KIND_JIT])
		cu_append(&r, 0);
}

/* --- things ----------------------------------------------------------------- */

/* When the driver has started, and never again: a client that comes later gets none. */
static void devices_told(void)
{
	for (int i = 0; i < sim_settings.devices; i++) {
		const struct sim_device *d = &sim_devices[i];
		union record r = { .device = {
			.kind = CUPTI_KIND_DEVICE, .flags = 1, .bandwidth = 3352320000,
			.memory = d->memory, .constant_memory = 65536, .l2 = 52428800, .warp = 32,
			.clock = 1755000, .copy_engines = 3, .units = 132, .ipc = 4,
			.warps_per_unit = 64, .blocks_per_unit = 32, .shared_per_unit = 233472,
			.registers_per_unit = 65536, .registers_per_block = 65536,
			.shared_per_block = 49152, .threads_per_block = 1024,
			.block_max = { 1024, 1024, 64 }, .grid_max = { 0x7fffffff, 65535, 65535 },
			.major = 9, .minor = 0, .device = (uint32_t)i, .ecc = 1,
			.name = d->name, .visible = 1 } };

		memcpy(r.device.uuid, d->uuid, 16);
		if (cu_kind[CUPTI_KIND_DEVICE])
			cu_append(&r, 0);
	}
}

static void stream_record(const struct sim_stream *s)
{
	union record r = { .stream = {
		.kind = CUPTI_KIND_STREAM, .context = s->context->uid, .stream = s->id,
		.priority = s->priority,
		.flag = s->legacy ? CUPTI_STREAM_NULL :
			s->non_blocking ? CUPTI_STREAM_NON_BLOCKING : CUPTI_STREAM_DEFAULT } };

	if (cu_kind[CUPTI_KIND_STREAM])
		cu_append(&r, 0);
}

static void context_record(const struct sim_context *c)
{
	union record r = { .context = {
		.kind = CUPTI_KIND_CONTEXT, .context = c->uid,
		.device = (uint32_t)c->device->ordinal, .api = 1,
		.null_stream = (uint16_t)c->null_stream->id, .units = 132,
		.process = (uint64_t)getpid() } };

	if (cu_kind[CUPTI_KIND_CONTEXT])
		cu_append(&r, 0);
}

static void graph_object(enum sim_object kind, const void *object, bool gone)
{
	struct cupti_graph_resource g = { 0 };
	struct cupti_resource data = { .context = sim_thread.current, .descriptor = &g };
	const struct sim_graph *graph = object;
	const struct sim_node *node = object;
	uint32_t id;

	if (kind == SIM_NODE || kind == SIM_CLONE) {
		g.node = (void *)(uintptr_t)node;
		g.original_node = node->original;
		g.node_type = node->op.kind == SIM_KERNEL ? CUPTI_NODE_KERNEL :
			node->op.kind == SIM_FILL ? CUPTI_NODE_FILL : CUPTI_NODE_COPY;
		id = kind == SIM_CLONE ? CUPTI_RESOURCE_NODE_CLONED : CUPTI_RESOURCE_NODE_CREATED;
	} else if (kind == SIM_EXEC) {
		g.exec = (void *)(uintptr_t)graph;
		g.graph = graph->original;
		id = gone ? CUPTI_RESOURCE_EXEC_DESTROY : CUPTI_RESOURCE_EXEC_CREATED;
	} else {
		g.graph = (void *)(uintptr_t)graph;
		id = gone ? CUPTI_RESOURCE_GRAPH_DESTROY : CUPTI_RESOURCE_GRAPH_CREATED;
	}
	cu_callback(CUPTI_DOMAIN_RESOURCE, id, &data);
}

static void told_object(enum sim_object kind, const void *object, bool gone)
{
	struct cupti_module_resource module = { .module = *(const uint32_t *)object };
	struct cupti_resource data = { .context = sim_thread.current };

	switch (kind) {
	case SIM_CONTEXT:
		data.context = (void *)(uintptr_t)object;
		if (!gone)
			context_record(object);
		cu_callback(CUPTI_DOMAIN_RESOURCE, gone ? CUPTI_RESOURCE_CONTEXT_DESTROY :
			    CUPTI_RESOURCE_CONTEXT_CREATED, &data);
		return;
	case SIM_STREAM:
		data.stream = (void *)(uintptr_t)object;
		data.context = ((const struct sim_stream *)object)->context;
		if (!gone)
			stream_record(object);
		/* The default stream is not created by a call. */
		if (!((const struct sim_stream *)object)->legacy)
			cu_callback(CUPTI_DOMAIN_RESOURCE, gone ? CUPTI_RESOURCE_STREAM_DESTROY :
				    CUPTI_RESOURCE_STREAM_CREATED, &data);
		return;
	case SIM_MODULE:
		data.descriptor = &module;
		cu_callback(CUPTI_DOMAIN_RESOURCE, gone ? CUPTI_RESOURCE_MODULE_UNLOAD :
			    CUPTI_RESOURCE_MODULE_LOADED, &data);
		return;
	default:
		graph_object(kind, object, gone);
	}
}

/* --- calls ------------------------------------------------------------------ */

static void call_back(struct sim_call *call, bool leaving)
{
	struct cupti_callback data = {
		.site = leaving ? CUPTI_EXIT : CUPTI_ENTER, .function_name = call->name,
		.params = call->params, .result = leaving ? &call->result : NULL,
		.symbol = call->symbol, .context = call->context,
		.context_id = call->context ? call->context->uid : 0,
		.correlation_data = &call->data, .correlation = call->correlation,
	};

	if (cu_wanted(call->domain, call->cbid))
		cu_callback(call->domain, call->cbid, &data);
}

static void told_enter(struct sim_call *call)
{
	if (recorded(call))
		call->start_ns = sim_now();
	call_back(call, false);
}

static void told_leave(struct sim_call *call)
{
	bool init = call->domain == SIM_DRIVER && call->cbid == 1;

	if (init) {
		struct cupti_resource data = { 0 };

		devices_told();
		cu_callback(CUPTI_DOMAIN_RESOURCE, CUPTI_RESOURCE_INIT_FINISHED, &data);
	}
	call_back(call, true);
	if (recorded(call) && call->start_ns) {
		union record r = { .api = {
			.kind = call->domain == SIM_DRIVER ? CUPTI_KIND_DRIVER : CUPTI_KIND_RUNTIME,
			.number = call->cbid, .start = (uint64_t)cu_time(call->start_ns),
			.end = (uint64_t)cu_time(sim_now()), .process = (uint32_t)getpid(),
			.thread = (uint32_t)syscall(SYS_gettid), .correlation = call->correlation,
			.result = (uint32_t)call->result } };

		cu_append(&r, 0);
	}
}

const struct sim_tool cu_tool = {
	.enter = told_enter, .leave = told_leave, .op = told_op, .launched = told_launched,
	.memory = told_memory, .pool = told_pool, .wait = told_wait, .event = told_event,
	.object = told_object, .overhead = cu_overhead_record, .compiled = told_compiled,
};
