/* SPDX-License-Identifier: MIT */
/*
 * The third synthetic program: a training loop of a framework on GPUs, in one thread, with what
 * CUDA has and OpenCL does not have. Each device has its default stream, a stream of high
 * priority for collectives, one for copies, and others that compute. A step sends each device
 * its batch, runs the ops of LAYERS layers, sends activations from device to device, launches
 * the backward pass as a graph whose nodes know the op in which they were captured, reduces
 * gradients at the same time, updates on the default stream, and reads the loss back: the wait
 * of item() at a known line. Then the host writes its log, and the devices have nothing to do.
 */
#include "model/synth/synth_internal.h"

#include "model/base/util.h"

#define LAYERS 4u
#define BATCH_BYTES (UINT64_C(24) << 20)
#define HIDDEN_BYTES (UINT64_C(64) << 20)	/* what a layer keeps for its backward pass */
#define WEIGHTS_BYTES (UINT64_C(3) << 30)
#define HOST_RATE 50			/* bytes per ns to and from the host ... */
#define PEER_RATE 300			/* ... and between devices */
#define LOG_NS 2600000
#define LAUNCH_NS 4000
#define REACH_NS 3000			/* time from a launch to its start */
#define GAP_NS 900			/* between two kernels of a stream, or nodes */

enum { TEXT_BATCH = 1, TEXT_ITEM, TEXT_LOG, TEXT_STEP, TEXT_FILE, TEXT_TRAIN, TEXT_FORWARD,
       TEXT_COPY, TEXT_PEER, TEXT_FETCH, TEXT_GRAPH, TEXT_REDUCE, TEXT_REDUCE_OP, TEXT_UPDATE,
       TEXT_UPDATE_OP, TEXT_BACKWARD, TEXT_SYNC, TEXT_DEVICE, TEXT_POOL, TEXT_PARTS };

/* What a layer consists of: ops, and the kernel of each, forward and backward. */
static const struct synth_part {
	const char *op, *kernel, *backward;
	int64_t ns;
	uint32_t line, grid, block, registers, shared;
} parts[] = {
	{ "aten::linear", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
	  "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64", 700000, 12, 264, 384, 168,
	  213 << 10 },
	{ "aten::scaled_dot_product_attention", "flash_fwd_kernel",
	  "flash_bwd_dq_dk_dv_loop_kernel", 520000, 14, 1024, 128, 255, 48 << 10 },
	{ "aten::add", "at::native::vectorized_elementwise_kernel",
	  "at::native::unrolled_elementwise_kernel", 60000, 15, 16384, 128, 32, 0 },
	{ "aten::layer_norm", "at::native::vectorized_layer_norm_kernel",
	  "at::native::layer_norm_grad_input_kernel", 80000, 16, 8192, 128, 40, 1 << 10 },
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))
enum { PART_OP, PART_KERNEL, PART_BACKWARD, TEXTS_OF_PART };

enum { FRAME_BATCH = 1, FRAME_BACKWARD, FRAME_UPDATE, FRAME_ITEM, FRAME_LOG, FRAME_PARTS };

enum { STREAM_DEFAULT, STREAM_COPY, STREAM_REDUCE, STREAM_COMPUTE, STREAMS_LEAST };
_Static_assert(STREAMS_LEAST == SYNTH_GPU_STREAMS, "streams that the program needs");

static uint32_t text_of(unsigned part, unsigned which)
{
	return TEXT_PARTS + part * TEXTS_OF_PART + which;
}

static unsigned per_device(const struct model_synth *s)
{
	return s->profile.queues / s->profile.devices;
}

static unsigned synth_gpu_queue(const struct model_synth *s, unsigned device, unsigned stream)
{
	return device * per_device(s) + stream;
}

/* ---- definitions ---- */

static void synth_gpu_define_texts(struct model_synth *s, struct synth_worker *w)
{
	static const struct { uint8_t kind; const char *text; } fixed[] = {
		[TEXT_BATCH] = { NAME_OP, "aten::to" },
		[TEXT_ITEM] = { NAME_OP, "aten::item" },
		[TEXT_LOG] = { NAME_OP, "write_log" },
		[TEXT_STEP] = { NAME_OP, "train_step" },
		[TEXT_FILE] = { NAME_SOURCE, "gpt.py" },
		[TEXT_TRAIN] = { NAME_SOURCE, "train" },
		[TEXT_FORWARD] = { NAME_SOURCE, "forward" },
		[TEXT_COPY] = { NAME_CALL, "cudaMemcpyAsync" },
		[TEXT_PEER] = { NAME_CALL, "cudaMemcpyPeerAsync" },
		[TEXT_FETCH] = { NAME_CALL, "cudaMemcpyAsync" },
		[TEXT_GRAPH] = { NAME_KERNEL, "graph 1" },
		[TEXT_REDUCE] = { NAME_KERNEL, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" },
		[TEXT_REDUCE_OP] = { NAME_OP, "c10d::allreduce_" },
		[TEXT_UPDATE] = { NAME_KERNEL, "at::native::multi_tensor_apply_kernel" },
		[TEXT_UPDATE_OP] = { NAME_OP, "Optimizer.step#AdamW.step" },
		[TEXT_BACKWARD] = { NAME_OP, "CUDAGraph.replay" },
		[TEXT_SYNC] = { NAME_CALL, "cudaStreamSynchronize" },
		[TEXT_DEVICE] = { NAME_ALLOCATOR, "cuda device" },
		[TEXT_POOL] = { NAME_ALLOCATOR, "cuda pool" },
	};

	for (uint32_t i = TEXT_BATCH; i < TEXT_PARTS; i++)
		synth_name(s, w, i, fixed[i].kind, w->now_ns, xstrdup(fixed[i].text));
	for (unsigned i = 0; i < PARTS; i++) {
		synth_name(s, w, text_of(i, PART_OP), NAME_OP, w->now_ns, xstrdup(parts[i].op));
		synth_name(s, w, text_of(i, PART_KERNEL), NAME_KERNEL, w->now_ns,
			   xstrdup(parts[i].kernel));
		synth_name(s, w, text_of(i, PART_BACKWARD), NAME_KERNEL, w->now_ns,
			   xstrdup(parts[i].backward));
	}
}

void synth_gpu_define_device(struct model_synth *s, struct synth_worker *w, unsigned device)
{
	struct event *event = synth_write(s, w, EVENT_DEVICE, w->now_ns);
	char *address = xasprintf("GPU-5e000000-0000-0000-0000-%012x", device);

	event->u.device = (struct event_device) {
		.id = device + 1, .index = device, .units = 132, .clock_mhz = 1980, .gpu = 1,
		.capability = 90, .threads_per_unit = 2048, .blocks_per_unit = 32,
		.registers_per_unit = 65536, .registers_per_block = 65536,
		.shared_per_unit = 228 << 10, .shared_per_block = 48 << 10,
		.memory_bytes = UINT64_C(141) << 30, .bandwidth = UINT64_C(4800000000000),
		.api = "cuda", .name = "Synthetic G1", .vendor = "nobody", .platform = "cuda",
		.driver = "0", .address = address,
	};
	synth_own(s, event, address);
	synth_pair(s, w, device + 1);
	for (int64_t i = 0; i < 2; i++)
		synth_write(s, w, EVENT_SERIES, w->now_ns)->u.series = (struct event_series) {
			.id = device * 2 + 1 + (uint32_t)i, .device = device + 1,
			.name = i ? "SM clock" : "power", .unit = i ? "MHz" : "W",
		};
}

static void define_stream(struct model_synth *s, struct synth_worker *w, unsigned device,
			  unsigned stream)
{
	struct event *event = synth_write(s, w, EVENT_QUEUE, w->now_ns);
	char *name = stream == STREAM_DEFAULT ? xstrdup("default stream") :
		     stream == STREAM_REDUCE ? xstrdup("nccl") :
		     stream == STREAM_COPY ? xstrdup("copies") : xasprintf("stream %u", 4 + stream);

	event->u.queue = (struct event_queue) {
		.id = synth_gpu_queue(s, device, stream) + 1, .device = device + 1,
		.context = device + 1, .flags = QUEUE_IN_ORDER | QUEUE_PROFILED |
			 (stream == STREAM_DEFAULT ? QUEUE_DEFAULT : 0),
		.priority = stream == STREAM_REDUCE ? -5 : 0, .name = name,
	};
	synth_own(s, event, name);
}

static void allocate(struct model_synth *s, struct synth_worker *w, unsigned device,
		     uint32_t allocator, uint64_t place, uint64_t bytes, const struct event_op *op)
{
	synth_write(s, w, EVENT_ALLOC, w->now_ns)->u.alloc = (struct event_alloc) {
		.allocator = allocator, .device = device + 1, .op = op ? op->instance : 0,
		.op_name = op ? op->name : 0, .bytes = bytes,
		.address = (UINT64_C(1) << 40) * (device + 1) + (place << 32),
	};
}

static void give_back(struct model_synth *s, struct synth_worker *w, unsigned device,
		      uint64_t place)
{
	synth_write(s, w, EVENT_FREE, w->now_ns)->u.free = (struct event_free) {
		.allocator = TEXT_POOL,
		.address = (UINT64_C(1) << 40) * (device + 1) + (place << 32),
	};
}

void synth_gpu_define(struct model_synth *s, struct synth_worker *w)
{
	static const struct event_frame frames[FRAME_PARTS] = {
		[FRAME_BATCH] = { FRAME_BATCH, 0, TEXT_FILE, TEXT_TRAIN, 31 },
		[FRAME_BACKWARD] = { FRAME_BACKWARD, 0, TEXT_FILE, TEXT_TRAIN, 33 },
		[FRAME_UPDATE] = { FRAME_UPDATE, 0, TEXT_FILE, TEXT_TRAIN, 34 },
		[FRAME_ITEM] = { FRAME_ITEM, 0, TEXT_FILE, TEXT_TRAIN, 35 },
		[FRAME_LOG] = { FRAME_LOG, 0, TEXT_FILE, TEXT_TRAIN, 36 },
	};

	synth_gpu_define_texts(s, w);
	for (unsigned d = 0; d < s->profile.devices; d++) {
		synth_gpu_define_device(s, w, d);
		for (unsigned stream = 0; stream < per_device(s); stream++)
			define_stream(s, w, d, stream);
		allocate(s, w, d, TEXT_DEVICE, 255, WEIGHTS_BYTES, NULL);
	}
	for (unsigned i = FRAME_BATCH; i < FRAME_PARTS; i++)
		synth_write(s, w, EVENT_FRAME, w->now_ns)->u.frame = frames[i];
	for (unsigned i = 0; i < PARTS; i++) {
		synth_write(s, w, EVENT_FRAME, w->now_ns)->u.frame = (struct event_frame) {
			FRAME_PARTS + i, 0, TEXT_FILE, TEXT_FORWARD, parts[i].line,
		};
		synth_write(s, w, EVENT_SHAPE, w->now_ns)->u.shape = (struct event_shape) {
			.id = 1 + i, .dims = 1, .global = { parts[i].grid * parts[i].block, 1, 1 },
			.local = { parts[i].block, 1, 1 }, .registers = parts[i].registers,
			.shared_dynamic = parts[i].shared,
		};
	}
}

/* ---- what happens ---- */

struct event_op synth_gpu_begin(struct synth_worker *w, uint32_t name, uint32_t frame)
{
	return (struct event_op) {
		.instance = ++w->instances, .start_ns = w->now_ns, .tid = w->pid, .name = name,
		.frame = frame, .step = (int64_t)w->steps, .framework = FW_PYTORCH,
	};
}

void synth_gpu_end(struct model_synth *s, struct synth_worker *w, struct event_op op)
{
	w->now_ns += 800;
	op.dur_ns = w->now_ns - op.start_ns;
	s->truth.ops++;
	synth_write(s, w, EVENT_OP, w->now_ns)->u.op = op;
}

/* When work that is launched now starts on that queue, not before after_ns. */
static int64_t begins(const struct synth_worker *w, unsigned queue, int64_t after_ns)
{
	int64_t start = w->now_ns + REACH_NS, free_ns = w->queue_ns[queue] + GAP_NS;

	start = free_ns > start ? free_ns : start;
	return after_ns > start ? after_ns : start;
}

static void count(struct model_synth *s, bool kernel, uint64_t bytes, int64_t ns)
{
	*(kernel ? &s->truth.kernels : &s->truth.copies) += 1;
	*(kernel ? &s->truth.kernel_ns : &s->truth.copy_ns) += ns;
	s->truth.bytes += bytes;
}

int64_t synth_gpu_launch(struct model_synth *s, struct synth_worker *w, unsigned queue,
			 struct event_command c, const struct event_op *op, int64_t run_ns,
			 int64_t after_ns)
{
	int64_t start;

	c.tid = w->pid;
	c.queue = queue + 1;
	c.correlation = ++w->correlations | SYNTH_CORRELATION;
	c.op = op->instance;
	c.op_name = op->name;
	c.how = HOW_EXACT;
	c.call_ns = w->now_ns;
	c.call_dur_ns = (uint32_t)synth_around(s, LAUNCH_NS);
	w->now_ns += c.call_dur_ns;
	w->calls++;
	s->truth.launched++;
	start = begins(w, queue, after_ns);
	c.start_ticks = synth_ticks(s, start);
	c.end_ticks = synth_ticks(s, start + run_ns);
	w->queue_ns[queue] = start + run_ns;
	count(s, c.kind == COMMAND_KERNEL, c.bytes, run_ns);
	synth_write(s, w, EVENT_COMMAND, start + run_ns + 20000)->u.command = c;
	return start + run_ns;
}

static int64_t copy(struct model_synth *s, struct synth_worker *w, unsigned queue,
		    enum direction direction, uint64_t bytes, const struct event_op *op,
		    int64_t after_ns)
{
	struct event_command c = {
		.name = direction == DIR_P2P ? TEXT_PEER : TEXT_COPY, .kind = COMMAND_COPY,
		.direction = (uint8_t)direction, .bytes = bytes,
		.flags = direction == DIR_H2D ? CMD_PINNED : 0,
	};

	if (direction == DIR_P2P)
		c.shape = queue / per_device(s) + 2;
	return synth_gpu_launch(s, w, queue, c, op, 1200 + (int64_t)bytes /
				(direction == DIR_P2P ? PEER_RATE : HOST_RATE), after_ns);
}

/* The kernels of each layer; layers take turns on the compute streams. */
static int64_t synth_gpu_forward(struct model_synth *s, struct synth_worker *w, unsigned device,
				 int64_t after_ns)
{
	unsigned streams = per_device(s) - STREAM_COMPUTE;

	for (unsigned l = 0; l < LAYERS; l++)
		for (unsigned i = 0; i < PARTS; i++) {
			struct event_op op = synth_gpu_begin(w, text_of(i, PART_OP),
							     FRAME_PARTS + i);
			struct event_command c = {
				.name = text_of(i, PART_KERNEL), .kind = COMMAND_KERNEL,
				.shape = 1 + i,
			};

			w->now_ns += synth_around(s, 3000);
			if (!i)
				allocate(s, w, device, TEXT_POOL, l, HIDDEN_BYTES, &op);
			after_ns = synth_gpu_launch(s, w,
						    synth_gpu_queue(s, device,
								    STREAM_COMPUTE + l % streams),
					  c, &op, synth_around(s, parts[i].ns), after_ns);
			synth_gpu_end(s, w, op);
		}
	return after_ns;
}

/* One launch, and the runs of its nodes; *half_ns: when the first half has run. */
static int64_t synth_gpu_backward(struct model_synth *s, struct synth_worker *w, unsigned device,
				  int64_t after_ns, int64_t *half_ns)
{
	struct event_op op = synth_gpu_begin(w, TEXT_BACKWARD, FRAME_BACKWARD);
	unsigned queue = synth_gpu_queue(s, device, STREAM_COMPUTE);
	uint32_t correlation = ++w->correlations | SYNTH_CORRELATION;
	struct event_launch call = {
		.tid = w->pid, .queue = queue + 1, .name = TEXT_GRAPH, .correlation = correlation,
		.op = op.instance, .op_name = op.name, .call_ns = w->now_ns,
		.call_dur_ns = (uint32_t)synth_around(s, 4 * LAUNCH_NS), .kind = COMMAND_GRAPH,
		.flags = CMD_MANY,
	};
	int64_t start;

	w->now_ns += call.call_dur_ns;
	w->calls++;
	s->truth.launched++;
	synth_write(s, w, EVENT_LAUNCH, w->now_ns)->u.launch = call;
	start = begins(w, queue, after_ns);
	for (unsigned i = 0; i < LAYERS * PARTS; i++) {
		const struct synth_part *part = &parts[PARTS - 1 - i % PARTS];
		int64_t run_ns = synth_around(s, part->ns * 3 / 2);

		synth_write(s, w, EVENT_RUN, start + run_ns + 20000)->u.run = (struct event_run) {
			.queue = queue + 1,
			.name = text_of((unsigned)(part - parts), PART_BACKWARD),
			.correlation = correlation, .kind = COMMAND_KERNEL,
			.op_name = text_of((unsigned)(part - parts), PART_OP),
			.shape = 1 + (uint32_t)(part - parts), .start_ticks = synth_ticks(s, start),
			.end_ticks = synth_ticks(s, start + run_ns),
		};
		count(s, true, 0, run_ns);
		w->queue_ns[queue] = start + run_ns;
		start += run_ns + GAP_NS;
		if (i + 1 == LAYERS * PARTS / 2)
			*half_ns = start;
	}
	for (unsigned l = 0; l < LAYERS; l++)
		give_back(s, w, device, l);
	synth_gpu_end(s, w, op);
	return start;
}

/* Reduces the gradients of the first half while the second half runs, then the others. */
static int64_t reduce(struct model_synth *s, struct synth_worker *w, unsigned device,
		      int64_t half_ns, int64_t after_ns)
{
	struct event_op op = synth_gpu_begin(w, TEXT_REDUCE_OP, FRAME_BACKWARD);
	struct event_command c = { .name = TEXT_REDUCE, .kind = COMMAND_KERNEL };
	unsigned queue = synth_gpu_queue(s, device, STREAM_REDUCE);

	synth_gpu_launch(s, w, queue, c, &op, synth_around(s, 1500000), half_ns);
	after_ns = synth_gpu_launch(s, w, queue, c, &op, synth_around(s, 400000), after_ns);
	synth_gpu_end(s, w, op);
	return after_ns;
}

static int64_t update(struct model_synth *s, struct synth_worker *w, unsigned device,
		      int64_t after_ns)
{
	struct event_op op = synth_gpu_begin(w, TEXT_UPDATE_OP, FRAME_UPDATE);
	struct event_command c = { .name = TEXT_UPDATE, .kind = COMMAND_KERNEL };

	for (int i = 0; i < 4; i++)
		after_ns = synth_gpu_launch(s, w, synth_gpu_queue(s, device, STREAM_DEFAULT), c,
					    &op,
				  synth_around(s, 150000), after_ns);
	synth_gpu_end(s, w, op);
	return after_ns;
}

/* item(): copies four bytes, and the thread waits for them. */
static void read_loss(struct model_synth *s, struct synth_worker *w, int64_t after_ns)
{
	struct event_op op = synth_gpu_begin(w, TEXT_ITEM, FRAME_ITEM);
	struct event_wait wait = {
		.name = TEXT_SYNC, .queue = synth_gpu_queue(s, 0, STREAM_COMPUTE) + 1,
		.op = op.instance, .op_name = op.name,
	};

	after_ns = copy(s, w, synth_gpu_queue(s, 0, STREAM_COMPUTE), DIR_D2H, 4, &op, after_ns);
	wait.correlation = w->correlations | SYNTH_CORRELATION;
	wait.start_ns = w->now_ns;
	w->now_ns = (after_ns > w->now_ns ? after_ns : w->now_ns) + synth_around(s, 30000);
	wait.dur_ns = w->now_ns - wait.start_ns;
	synth_write(s, w, EVENT_WAIT, w->now_ns)->u.wait = wait;
	synth_gpu_end(s, w, op);
}

void synth_gpu_counters(struct model_synth *s, struct synth_worker *w)
{
	for (unsigned d = 0; d < s->profile.devices; d++)
		for (unsigned i = 0; i < 2; i++)
			synth_write(s, w, EVENT_COUNTER,
				    w->now_ns)->u.counter = (struct event_counter) {
				.series = d * 2 + 1 + i, .at_ns = w->now_ns,
				.value = i ? 1980 - (int64_t)(w->steps % 7) * 15 :
					     520 + (int64_t)((w->steps + d) % 5) * 20,
			};
}

/* Launches all work of a step; returns when it ends on the first device. */
static int64_t synth_gpu_hand_over(struct model_synth *s, struct synth_worker *w)
{
	struct event_op op = synth_gpu_begin(w, TEXT_BATCH, FRAME_BATCH);
	unsigned devices = s->profile.devices;
	int64_t ready_ns[SYNTH_GPU_DEVICES], first_ns = 0, half_ns = 0;

	for (unsigned d = 0; d < devices; d++)
		ready_ns[d] = copy(s, w, synth_gpu_queue(s, d, STREAM_COPY), DIR_H2D, BATCH_BYTES,
				   &op, 0);
	synth_gpu_end(s, w, op);
	for (unsigned d = 0; d < devices; d++) {
		ready_ns[d] = synth_gpu_forward(s, w, d, ready_ns[d]);
		op = synth_gpu_begin(w, TEXT_BATCH, FRAME_BATCH);
		if (d + 1 < devices)
			ready_ns[d + 1] = copy(s, w, synth_gpu_queue(s, d, STREAM_COPY), DIR_P2P,
					       HIDDEN_BYTES, &op, ready_ns[d] - 4 * parts[0].ns);
		synth_gpu_end(s, w, op);
	}
	for (unsigned d = 0; d < devices; d++) {
		int64_t after_ns = synth_gpu_backward(s, w, d, ready_ns[d], &half_ns);

		after_ns = update(s, w, d, reduce(s, w, d, half_ns, after_ns));
		first_ns = d ? first_ns : after_ns;
	}
	return first_ns;
}

void synth_gpu_step(struct model_synth *s, struct synth_worker *w)
{
	int64_t start_ns = w->now_ns;
	struct event_op op;

	read_loss(s, w, synth_gpu_hand_over(s, w));
	op = synth_gpu_begin(w, TEXT_LOG, FRAME_LOG);
	w->now_ns += synth_around(s, LOG_NS);
	synth_gpu_end(s, w, op);
	synth_gpu_counters(s, w);
	synth_write(s, w, EVENT_STEP, w->now_ns)->u.step = (struct event_step) {
		.name = TEXT_STEP, .number = (int64_t)w->steps, .start_ns = start_ns,
		.dur_ns = w->now_ns - start_ns,
	};
	w->steps++;
	s->truth.steps++;
	synth_settled(s, w, start_ns);
	w->now_ns += 5000;
}
