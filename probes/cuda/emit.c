/* SPDX-License-Identifier: MIT */
/*
 * Turns records of CUPTI into events. Runs on the flusher's thread only.
 *
 * The record of a blocking copy may come before the call has returned. It waits for the return,
 * because the event contains the duration of the call. Device times are sent unchanged, with a
 * pair of clock readings before them; times that are sent as host times are converted here.
 */
#include <stdlib.h>
#include <string.h>

#include "probes/cuda/probe.h"

#define WAITING 4096u
#define WAIT_NS 1000000000
#define POOLS 64u
#define CLOCK_STEP_NS 500
#define CLOCK_EVERY_NS 1000000000
#define FOREIGN_NS 1000000		/* if it differs by more, the clock is not CLOCK_REALTIME */
#define STEP_NS 1000000			/* if it differs by more, the clock was set */

static _Atomic int64_t emit_offset_ns;	/* times of records - CLOCK_MONOTONIC */
bool emit_unfinished;

static struct {
	struct cuda_record record;
	int64_t since_ns;
} waiting[WAITING];
static unsigned n_waiting;
static uint64_t graph_nodes;

static struct {
	uint64_t address;
	uint32_t device, reserved, used;	/* device: CUPTI's number; reserved, used: series */
} pools[POOLS];
static unsigned n_pools;

/* ---- clocks ---- */

static struct {
	int64_t offset_ns, at_ns;
} sent[DEVICES_MAX];
static bool foreign;		/* CUPTI's clock is not CLOCK_REALTIME */

static int64_t device_now(void)
{
	uint64_t t = 0;

	if (foreign && cupti->timestamp && !cupti->timestamp(&t))
		return (int64_t)t;
	return rt_clock_ns(CLOCK_REALTIME);
}

static bool clock_known;

void emit_clock_anew(void)
{
	clock_known = false;
}

static void look_at_clock(void)
{
	uint64_t t = 0;
	int64_t off_ns;

	if (clock_known)
		return;
	clock_known = true;
	if (cuda_asked(cupti->timestamp(&t), SAID_CLOCK, 0, "CUPTI does not tell its time: "
		       "CLOCK_REALTIME is taken for its clock"))
		return;
	off_ns = (int64_t)t - rt_clock_ns(CLOCK_REALTIME);
	foreign = off_ns > FOREIGN_NS || off_ns < -FOREIGN_NS;
}

/* The offset before the last step of the clock, for times from before. */
static int64_t before_step_ns, looked_ns;

/* When the clock was set: what ran since the last look may use the new clock already, so its line
 * starts there. */
static int64_t clock_begins(int64_t offset_ns, int64_t now_ns)
{
	int64_t old_ns = atomic_load(&emit_offset_ns), begin_ns = now_ns;

	if (looked_ns && (offset_ns - old_ns > STEP_NS || old_ns - offset_ns > STEP_NS)) {
		before_step_ns = old_ns;
		begin_ns = looked_ns;
	}
	if (!looked_ns)
		before_step_ns = offset_ns;
	looked_ns = now_ns;
	return begin_ns;
}

void emit_clock(void)
{
	int64_t error_ns = INT64_MAX, offset_ns = 0, now_ns = 0;
	struct cuda_device *d;

	look_at_clock();
	for (int i = 0; i < 5; i++) {
		int64_t before_ns = rt_now_ns(), other_ns = device_now(), after_ns = rt_now_ns();

		if ((after_ns - before_ns + 1) / 2 >= error_ns)
			continue;
		error_ns = (after_ns - before_ns + 1) / 2;
		now_ns = before_ns + (after_ns - before_ns) / 2;
		offset_ns = other_ns - now_ns;
	}
	now_ns = clock_begins(offset_ns, now_ns);
	atomic_store(&emit_offset_ns, offset_ns);
	for (unsigned i = 0; (d = device_at(i)); i++) {
		int64_t step_ns = offset_ns - sent[i].offset_ns;
		struct tft_clock clock = {
			.device = atomic_load(&d->id),
			.quality = foreign ? TFT_CLOCK_DRIVER : TFT_CLOCK_KNOWN,
			.ticks = (uint64_t)(now_ns + offset_ns), .host_ns = now_ns,
			.error_ns = error_ns,
		};

		if (now_ns - sent[i].at_ns < CLOCK_EVERY_NS && step_ns < CLOCK_STEP_NS &&
		    step_ns > -CLOCK_STEP_NS)
			continue;
		sent[i].offset_ns = offset_ns;
		sent[i].at_ns = now_ns;
		rt_emit_clock(&clock);
	}
}

/* Converts a time near a step of the clock: with the offset that puts it closer to now. */
static int64_t host_ns(uint64_t ticks)
{
	int64_t by_new = (int64_t)ticks - atomic_load(&emit_offset_ns);
	int64_t by_old = (int64_t)ticks - before_step_ns;

	if (!ticks)
		return 0;
	return llabs(by_new - looked_ns) <= llabs(by_old - looked_ns) ? by_new : by_old;
}

/* ---- commands ---- */

static uint32_t emit_shape_of(const struct cuda_record *r)
{
	const uint32_t *grid = r->kernel.grid, *block = r->kernel.block;
	struct tft_shape shape = {
		.registers = r->kernel.registers, .shared_static = r->kernel.shared_static,
		.shared_dynamic = r->kernel.shared_dynamic,
	};

	shape.dims = grid[2] * block[2] > 1 ? 3 : grid[1] * block[1] > 1 ? 2 : 1;
	for (unsigned i = 0; i < 3; i++) {
		shape.global[i] = (uint64_t)grid[i] * block[i];
		shape.local[i] = block[i];
	}
	return rt_shape(&shape);
}

static uint8_t emit_direction_of(const struct cuda_record *r)
{
	bool from_host = r->copy.from == CUPTI_MEM_PAGEABLE || r->copy.from == CUPTI_MEM_PINNED;
	bool to_host = r->copy.to == CUPTI_MEM_PAGEABLE || r->copy.to == CUPTI_MEM_PINNED;

	if (r->copy.peer)
		return TFT_DIR_P2P;
	switch (r->copy.way) {
	case CUPTI_COPY_H2D:
	case CUPTI_COPY_H2A:
		return TFT_DIR_H2D;
	case CUPTI_COPY_D2H:
	case CUPTI_COPY_A2H:
		return TFT_DIR_D2H;
	case CUPTI_COPY_H2H:
		return TFT_DIR_H2H;
	case CUPTI_COPY_P2P:
		return TFT_DIR_P2P;
	case CUPTI_COPY_UNKNOWN:
		if (from_host)
			return to_host ? TFT_DIR_H2H : TFT_DIR_H2D;
		return to_host ? TFT_DIR_D2H : TFT_DIR_D2D;
	default:
		return TFT_DIR_D2D;
	}
}

/* The device at the other end of a copy between devices. */
static uint32_t other_device(const struct cuda_record *r)
{
	uint32_t number = r->copy.src_device == r->device ? r->copy.dst_device :
							    r->copy.src_device;
	struct cuda_device *d = r->copy.peer && number != CUPTI_ID_NONE ?
				cuda_device_get(number) : NULL;

	return d ? atomic_load(&d->id) : 0;
}

/* Sets the members that depend only on the record, whatever its kind. */
static void emit_describe(struct tft_command *c, const struct cuda_record *r)
{
	c->bytes = r->bytes;
	switch (r->what) {
	case CUDA_KERNEL:
		c->kind = TFT_KIND_KERNEL;
		c->name = rt_name(TFT_NAME_KERNEL, r->kernel.name ? r->kernel.name : "(no name)");
		c->shape = emit_shape_of(r);
		c->queued_ticks = r->kernel.queued;
		c->submit_ticks = r->kernel.submitted;
		break;
	case CUDA_COPY:
		c->kind = TFT_KIND_COPY;
		c->direction = emit_direction_of(r);
		c->shape = other_device(r);
		if ((r->copy.from == CUPTI_MEM_PINNED && c->direction == TFT_DIR_H2D) ||
		    (r->copy.to == CUPTI_MEM_PINNED && c->direction == TFT_DIR_D2H) ||
		    (c->direction == TFT_DIR_H2H && r->copy.from == CUPTI_MEM_PINNED &&
		     r->copy.to == CUPTI_MEM_PINNED))
			c->flags |= TFT_CMD_PINNED;
		break;
	case CUDA_FILL:
		c->kind = TFT_KIND_FILL;
		c->direction = TFT_DIR_FILL;
		break;
	default:		/* CUDA_GRAPH */
		c->kind = TFT_KIND_GRAPH;
		c->name = graph_name_of(r->graph);
		break;
	}
}

static void emit_times(struct tft_command *c, const struct cuda_record *r)
{
	if (!(r->flags & CUDA_NO_TIME)) {
		c->start_ticks = r->start;
		c->end_ticks = r->end;
		return;
	}
	c->queued_ticks = c->submit_ticks = 0;
	if (emit_unfinished) {
		c->flags |= TFT_CMD_OPEN;	/* the process ends while it is running */
		return;
	}
	c->flags |= TFT_CMD_NOTIMES;
	cuda_say(SAID_ZERO, 1,
		 "records without times: CUPTI had no device memory for them, "
		 "or does not record them in this version (%s)", cupti->version_text);
}

static void run_of(const struct tft_command *c, const struct cuda_record *r)
{
	struct tft_run run = {
		.queue = c->queue, .name = c->name, .correlation = c->correlation,
		.bytes = c->bytes, .queued_ticks = c->queued_ticks, .submit_ticks = c->submit_ticks,
		.start_ticks = c->start_ticks, .end_ticks = c->end_ticks, .kind = c->kind,
		.direction = c->direction, .flags = c->flags, .shape = c->shape,
	};

	run.op_name = node_op(r, &run.source);
	graph_nodes += r->what != CUDA_GRAPH;
	rt_emit_run(&run);
}

/* The launch of a graph that was to be recorded as a whole arrives node by node, because it started
 * before that took effect. queue: its own queue is unknown. */
static void launch_of(struct cuda_call *call, const struct cuda_record *r, uint32_t queue)
{
	struct cuda_queue *own = cuda_queue_of_call(call, NULL);
	struct tft_launch launch = {
		.tid = call->tid, .queue = own ? atomic_load(&own->id) : queue,
		.name = graph_name_of(r->graph),
		.correlation = r->correlation | TFT_CORRELATION_CUPTI, .op_name = call->op_name,
		.call_dur_ns = call->call_dur_ns, .op = call->op, .call_ns = call->call_ns,
		.kind = TFT_KIND_GRAPH, .flags = TFT_CMD_MANY,
	};

	rt_emit_launch(&launch);
	call_mark(r->correlation, CALL_WHOLE, 0);
}

/* While CUPTI switches to whole graphs it may record a launch both ways: the first way counts.
 * CALL_WHOLE for a launch that has records: it was recorded as a whole. */
static bool told_other_way(const struct cuda_record *r, uint64_t state)
{
	if (!r->graph || !(state & CALL_SEEN))
		return false;
	return r->what == CUDA_GRAPH || state & CALL_WHOLE;
}

static void emit_record_command(const struct cuda_record *r, enum call_found found,
				struct cuda_call *call,
				uint64_t state)
{
	struct cuda_queue *queue = cuda_queue_get(r->context, r->stream, r->device);
	struct tft_command c = { 0 };
	bool run = r->graph && r->what != CUDA_GRAPH;

	if (!queue || (found == CALL_THERE && told_other_way(r, state)))
		return;
	if (!atomic_load_explicit(&queue->device->used, memory_order_relaxed)) {
		if (!atomic_load(&queue->device->told))
			objects_unknown(queue->device);
		atomic_store(&queue->device->used, true);
		nvml_start();
	}
	c.queue = atomic_load(&queue->id);
	c.correlation = r->correlation ? r->correlation | TFT_CORRELATION_CUPTI : 0;
	emit_describe(&c, r);
	emit_times(&c, r);
	if (found == CALL_THERE) {
		overdue_came(call, state);
		call_seen(r->correlation, call);
		if (call->call_ns > queue->done_call_ns)
			queue->done_call_ns = call->call_ns;
		c.tid = call->tid;
		c.op = call->op;
		c.op_name = call->op_name;
		c.call_ns = call->call_ns;
		c.call_dur_ns = call->call_dur_ns;
		c.how = TFT_HOW_EXACT;
		if (call->class == CUPTI_CLASS_COPY_WAIT && r->what == CUDA_COPY)
			c.flags |= TFT_CMD_BLOCKING;
		if (state & CALL_WHOLE && run)
			launch_of(call, r, c.queue);
		if (r->what == CUDA_GRAPH && call->queue && !(state & CALL_WHOLE)) {
			/* its launch was sent, and this is its only run */
			call_mark(r->correlation, 0, CALL_WHOLE);
			run = true;
		}
	}
	if (run) {
		if (!(c.flags & TFT_CMD_OPEN))
			run_of(&c, r);
	} else if (!(c.flags & TFT_CMD_OPEN && state & CALL_TOLD)) {
		rt_emit_command(&c);
	}
}

/* ---- memory ---- */

static const char *allocator_of(const struct cuda_record *r)
{
	if (r->memory.pool)
		return "cuda pool";
	switch (r->memory.memory) {
	case CUPTI_MEM_PAGEABLE:
		return "cuda host:pageable";
	case CUPTI_MEM_PINNED:
		return "cuda pinned";
	case CUPTI_MEM_MANAGED:
	case CUPTI_MEM_MANAGED_STATIC:
		return "cuda managed";
	case CUPTI_MEM_DEVICE_STATIC:
		return "cuda static";
	default:
		return "cuda device";
	}
}

static void series(uint32_t id, uint32_t device, const char *name)
{
	struct cuda_device *d = cuda_device_get(device);
	struct tft_series s = {
		.id = id, .device = d ? atomic_load(&d->id) : 0, .name = name, .unit = "bytes",
	};

	rt_emit_series(&s);
}

void emit_dump(void)
{
	for (unsigned i = 0; i < n_pools; i++) {
		series(pools[i].reserved, pools[i].device, "cuda pool reserved");
		series(pools[i].used, pools[i].device, "cuda pool used");
	}
}

static void pool_now(uint64_t address, uint32_t device, uint64_t reserved, uint64_t used,
		     int64_t at_ns)
{
	struct tft_counter counter = { .at_ns = at_ns };
	unsigned i = 0;

	while (i < n_pools && pools[i].address != address)
		i++;
	if (i == POOLS)
		return;
	if (i == n_pools) {
		pools[i].address = address;
		pools[i].device = device;
		pools[i].reserved = rt_series_id();
		pools[i].used = rt_series_id();
		n_pools++;
		series(pools[i].reserved, device, "cuda pool reserved");
		series(pools[i].used, device, "cuda pool used");
	}
	counter.series = pools[i].reserved;
	counter.value = (int64_t)reserved;
	rt_emit_counter(&counter);
	counter.series = pools[i].used;
	counter.value = (int64_t)used;
	rt_emit_counter(&counter);
}

static void emit_record_memory(const struct cuda_record *r, enum call_found found,
			       const struct cuda_call *call)
{
	uint32_t allocator = rt_name(TFT_NAME_ALLOCATOR, allocator_of(r));
	struct cuda_device *d = r->device == CUPTI_ID_NONE ? NULL : cuda_device_get(r->device);
	int64_t at_ns = host_ns(r->start);

	if (r->memory.release) {
		struct tft_free release = { .allocator = allocator, .address = r->memory.address,
					    .at_ns = at_ns };

		rt_emit_free(&release);
	} else {
		struct tft_alloc alloc = { .allocator = allocator,
					   .device = d ? atomic_load(&d->id) : 0,
					   .address = r->memory.address, .bytes = r->bytes,
					   .at_ns = at_ns };

		if (found == CALL_THERE) {
			call_seen(r->correlation, call);
			alloc.op = call->op;
			alloc.op_name = call->op_name;
		}
		rt_emit_alloc(&alloc);
	}
	if (r->memory.pool && r->memory.pool_type == CUPTI_POOL_LOCAL)
		pool_now(r->memory.pool, r->device, r->memory.pool_size, r->memory.pool_used,
			 at_ns);
}

/* ---- other records ---- */

static void compiled(const struct cuda_record *r, const char *what, const char *options)
{
	struct tft_compile compile = {
		.start_ns = host_ns(r->start), .dur_ns = (int64_t)(r->end - r->start),
		.what = what, .options = options, .log = "",
	};

	if (!(r->flags & CUDA_NO_TIME))
		rt_emit_compile(&compile);
}

static void emit_record_overhead(const struct cuda_record *r)
{
	switch (r->overhead.what) {
	case CUPTI_OVERHEAD_COMPILER:
		/* the other kind says more about the same */
		if (!enable_has(CUPTI_KIND_JIT))
			compiled(r, "CUDA: the driver compiles", "");
		break;
	case CUPTI_OVERHEAD_MODULE_LOADING:
		compiled(r, "CUDA: a module is loaded", "");
		break;
	case CUPTI_OVERHEAD_LAZY_LOADING:
		compiled(r, "CUDA: a function is loaded", "");
		break;
	case CUPTI_OVERHEAD_COMMAND_BUFFER:
		break;		/* the call that waited for room takes longer by this much */
	default:
		if (!(r->flags & CUDA_NO_TIME))
			rt_own_time((int64_t)(r->end - r->start));
		break;
	}
}

static void jit(const struct cuda_record *r)
{
	static const char *const operations[] = {
		"", "loaded from the cache", "stored in the cache", "compiled",
	};

	compiled(r,
		 r->jit.entry == CUPTI_JIT_NVVM ? "CUDA: NVVM to PTX" : "CUDA: PTX to machine code",
		 r->jit.operation < ARRAY_LEN(operations) ? operations[r->jit.operation] : "");
}

/* ---- what happens to a record ---- */

static bool has_call(const struct cuda_record *r)
{
	switch (r->what) {
	case CUDA_KERNEL:
	case CUDA_COPY:
	case CUDA_FILL:
	case CUDA_GRAPH:
		return true;
	case CUDA_MEMORY:
		return !r->memory.release;
	default:
		return false;
	}
}

static void with_call(const struct cuda_record *r, enum call_found found, struct cuda_call *call,
		      uint64_t state)
{
	if (r->what == CUDA_MEMORY)
		emit_record_memory(r, found, call);
	else
		emit_record_command(r, found, call, state);
}

void emit_record(const struct cuda_record *r)
{
	enum call_found found;
	struct cuda_call call;
	uint64_t state = 0;

	if (has_call(r)) {
		if (r->what != CUDA_MEMORY && !(r->flags & CUDA_FROM_DEVICE))
			overdue_correlation(r);
		found = call_find(r->correlation, &call, &state);
		if (found == CALL_BUSY && n_waiting < WAITING) {
			waiting[n_waiting].since_ns = rt_now_ns();
			waiting[n_waiting++].record = *r;
			return;
		}
		with_call(r, found, &call, state);
		return;
	}
	switch (r->what) {
	case CUDA_MEMORY:
		emit_record_memory(r, CALL_NONE, NULL);
		break;
	case CUDA_POOL:
		if (r->pool.type == CUPTI_POOL_LOCAL)
			pool_now(r->pool.address, r->device, r->pool.size, r->pool.used,
				 host_ns(r->start));
		break;
	case CUDA_OVERHEAD:
		emit_record_overhead(r);
		break;
	case CUDA_JIT:
		jit(r);
		break;
	default:
		objects_record(r);
		break;
	}
}

void emit_waiting(bool all)
{
	int64_t now_ns = rt_now_ns();
	unsigned kept = 0;

	for (unsigned i = 0; i < n_waiting; i++) {
		struct cuda_call call;
		uint64_t state = 0;
		enum call_found found = call_find(waiting[i].record.correlation, &call, &state);

		if (found == CALL_BUSY && !all && now_ns - waiting[i].since_ns < WAIT_NS) {
			waiting[kept++] = waiting[i];
			continue;
		}
		/* its call has not returned for a second, or never will */
		if (found == CALL_BUSY && !(state & CALL_FILLING))
			found = CALL_THERE;
		with_call(&waiting[i].record, found == CALL_BUSY ? CALL_NONE : found, &call, state);
	}
	n_waiting = kept;
}

uint64_t emit_graph_nodes(void)
{
	uint64_t n = graph_nodes;

	graph_nodes = 0;
	return n;
}
