/* SPDX-License-Identifier: MIT */
#include "tui/synth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/util.h"
#include "tui/output.h"

#define MS INT64_C(1000000)
#define US INT64_C(1000)
#define SECOND (1000 * MS)
#define TICKS_AHEAD (5 * SECOND)	/* the device's clock, against the host's */
#define BUILD_NS (600 * MS)		/* nothing runs before the programs are built */
#define OPEN_NS (10 * MS)		/* an op open for longer is announced */
#define COPY_BYTES UINT64_C(51380224)

enum { PID = 4121, MAIN = 4121, INPUT = 4122, DEVICE = 1, COMPUTE = 1, COPIES = 2 };

enum name {
	N_NEXT_BATCH = 1, N_STEP, N_FORWARD, N_BACKWARD, N_UPDATE, N_LOAD, N_DECODE,
	N_CONV, N_RELU, N_POOL, N_LOSS, N_DGRAD, N_WGRAD, N_SGD,
	N_OP_TYPE, N_ALLOCATOR, N_COUNT
};

static const struct { const char *text; uint8_t kind; } names[N_COUNT] = {
	[N_NEXT_BATCH] = {"next_batch", NAME_OP},
	[N_STEP] = {"train_step", NAME_OP},
	[N_FORWARD] = {"model/forward", NAME_OP},
	[N_BACKWARD] = {"gradients/backward", NAME_OP},
	[N_UPDATE] = {"optimizer/update", NAME_OP},
	[N_LOAD] = {"load", NAME_RANGE},
	[N_DECODE] = {"decode", NAME_RANGE},
	[N_CONV] = {"conv2d_fprop_128x64", NAME_KERNEL},
	[N_RELU] = {"relu_forward", NAME_KERNEL},
	[N_POOL] = {"max_pool_reduce", NAME_KERNEL},
	[N_LOSS] = {"softmax_loss_reduce", NAME_KERNEL},
	[N_DGRAD] = {"conv2d_dgrad_64x64", NAME_KERNEL},
	[N_WGRAD] = {"conv2d_wgrad_128x32", NAME_KERNEL},
	[N_SGD] = {"sgd_update", NAME_KERNEL},
	[N_OP_TYPE] = {"range", NAME_OP_TYPE},
	[N_ALLOCATOR] = {"clCreateBuffer", NAME_ALLOCATOR},
};

struct synth {
	struct model *model;		/* borrowed */
	uint64_t random;
	struct event *queue;		/* owned; sorted by time when applied */
	size_t count, cap;
	int64_t next_step_ns, next_tick_ns;	/* generated up to here */
	int64_t step;
	uint64_t instance, events;
	uint32_t correlation;
	bool finished;
};

struct synth *synth_new(uint64_t seed, struct model *model)
{
	struct synth *synth = xcalloc(1, sizeof(*synth));

	synth->model = model;
	synth->random = seed * UINT64_C(2654435769) + 1;
	synth->next_step_ns = BUILD_NS + 200 * MS;
	return synth;
}

void synth_free(struct synth *synth)
{
	if (!synth)
		return;
	free(synth->queue);
	free(synth);
}

/* xorshift64*: the same on every machine. */
static uint64_t next_random(struct synth *synth)
{
	synth->random ^= synth->random >> 12;
	synth->random ^= synth->random << 25;
	synth->random ^= synth->random >> 27;
	return synth->random * UINT64_C(2685821657736338717);
}

/* A duration, up to 6 per cent longer or shorter. */
static int64_t about(struct synth *synth, int64_t ns)
{
	return ns + ns * ((int64_t)(next_random(synth) % 121) - 60) / 1000;
}

/* An event written at t_ns by a thread. */
static struct event *add(struct synth *synth, enum event_type type, int64_t t_ns, uint32_t tid)
{
	struct event *event;

	grow(&synth->queue, &synth->cap, synth->count, sizeof(*synth->queue));
	event = &synth->queue[synth->count++];
	memset(event, 0, sizeof(*event));
	event->type = (uint8_t)type;
	event->pid = PID;
	event->tid = tid;
	event->time_ns = SYNTH_BASE_NS + t_ns;
	synth->events++;
	return event;
}

/* ---- what is said once ---- */

static void add_definitions(struct synth *synth)
{
	struct event *event = add(synth, EVENT_PROCESS, 0, MAIN);
	int i;

	event->u.process = (struct event_process){
		.schema = 1, .parent = 1, .start_ns = SYNTH_BASE_NS, .mono_ns = SYNTH_BASE_NS,
		.rank = -1, .world = -1, .host = "synth", .command = "train --steps 700",
	};
	event = add(synth, EVENT_PROBE, 120 * MS, MAIN);
	event->u.probe = (struct event_probe){"opencl", "1", ""};
	event = add(synth, EVENT_THREAD, 120 * MS, MAIN);
	event->u.thread = (struct event_thread){MAIN, "main"};
	event = add(synth, EVENT_THREAD, 700 * MS, INPUT);
	event->u.thread = (struct event_thread){INPUT, "input"};
	event = add(synth, EVENT_DEVICE, 150 * MS, MAIN);
	event->u.device = (struct event_device){
		.id = DEVICE, .index = 0, .units = 108, .clock_mhz = 1410,
		.memory_bytes = UINT64_C(16) << 30, .gpu = 1, .api = "opencl",
		.name = "Synth 108", .vendor = "Synth", .platform = "Synth OpenCL",
		.driver = "1.0", .address = "0000:65:00.0",
	};
	event = add(synth, EVENT_QUEUE, 160 * MS, MAIN);
	event->u.queue = (struct event_queue){COMPUTE, DEVICE, 1,
					      QUEUE_IN_ORDER | QUEUE_PROFILED, "compute"};
	event = add(synth, EVENT_QUEUE, 160 * MS, MAIN);
	event->u.queue = (struct event_queue){COPIES, DEVICE, 1,
					      QUEUE_IN_ORDER | QUEUE_PROFILED | QUEUE_FORCED, "copies"};
	for (i = 1; i < N_COUNT; i++) {
		event = add(synth, EVENT_NAME, 170 * MS, MAIN);
		event->u.name = (struct event_name){(uint32_t)i, names[i].kind, names[i].text};
	}
	event = add(synth, EVENT_COMPILE, 170 * MS + BUILD_NS, MAIN);
	event->u.compile = (struct event_compile){SYNTH_BASE_NS + 170 * MS, BUILD_NS, 0,
						  "train.cl", "-cl-fast-relaxed-math", ""};
	for (i = 0; i < 6; i++) {
		event = add(synth, EVENT_ALLOC, 180 * MS + i * MS, MAIN);
		event->u.alloc = (struct event_alloc){
			.allocator = N_ALLOCATOR, .device = DEVICE,
			.address = UINT64_C(0x10000000) * (uint64_t)(i + 1),
			.bytes = COPY_BYTES >> i,
		};
	}
	event = add(synth, EVENT_MESSAGE, 900 * MS, MAIN);
	event->u.message = (struct event_message){1, "queue 'copies' was made without profiling, it is forced on"};
}

/* ---- a step ---- */

struct op {
	uint32_t tid;
	enum name name;
	uint64_t instance, parent;
	uint16_t depth;
};

/* Written when it ends; announced when it lasts. */
static void add_op(struct synth *synth, const struct op *op, int64_t start_ns, int64_t end_ns)
{
	struct event_op event = {
		.instance = op->instance, .parent = op->parent,
		.start_ns = SYNTH_BASE_NS + start_ns, .dur_ns = end_ns - start_ns,
		.step = synth->step, .tid = op->tid, .name = op->name, .op_type = N_OP_TYPE,
		.depth = op->depth, .framework = FW_NVTX,
		.flags = names[op->name].kind == NAME_RANGE ? OP_RANGE : OP_RANGE | OP_INNER,
	};

	add(synth, EVENT_OP, end_ns, op->tid)->u.op = event;
	if (event.dur_ns <= OPEN_NS)
		return;
	event.dur_ns = -1;
	add(synth, EVENT_OP, start_ns + OPEN_NS, op->tid)->u.op = event;
}

struct command {
	uint32_t queue;
	enum name name;
	enum command_kind kind;
	enum direction direction;
	uint64_t bytes;
	int64_t call_ns, start_ns, dur_ns;
};

/* Returns when it ended. */
static int64_t add_work(struct synth *synth, const struct op *op, const struct command *work)
{
	int64_t end_ns = work->start_ns + work->dur_ns;
	int64_t ticks = SYNTH_BASE_NS + TICKS_AHEAD;

	add(synth, EVENT_COMMAND, end_ns + 40 * US, MAIN)->u.command = (struct event_command){
		.tid = MAIN, .queue = work->queue, .name = work->name,
		.correlation = ++synth->correlation, .op_name = op->name, .op = op->instance,
		.call_dur_ns = 6100, .call_ns = SYNTH_BASE_NS + work->call_ns,
		.queued_ticks = (uint64_t)(ticks + work->call_ns + 2 * US),
		.submit_ticks = (uint64_t)(ticks + work->call_ns + 9 * US),
		.start_ticks = (uint64_t)(ticks + work->start_ns),
		.end_ticks = (uint64_t)(ticks + end_ns),
		.bytes = work->bytes, .kind = (uint8_t)work->kind,
		.direction = (uint8_t)work->direction, .how = HOW_EXACT,
	};
	return end_ns;
}

static int64_t add_copy(struct synth *synth, const struct op *op, enum direction direction,
			uint64_t bytes, int64_t start_ns, int64_t usual_ns)
{
	struct command work = {
		.queue = COPIES, .kind = COMMAND_COPY, .direction = direction, .bytes = bytes,
		.call_ns = start_ns - 60 * US, .start_ns = start_ns,
		.dur_ns = about(synth, usual_ns),
	};

	return add_work(synth, op, &work);
}

struct usual { enum name name; int64_t ns; };

/* An op of the step and its kernels back to back; returns where they end. */
static int64_t add_phase(struct synth *synth, enum name name, uint64_t parent,
			 const struct usual *kernels, int count, int64_t start_ns)
{
	struct op op = {MAIN, name, ++synth->instance, parent, 1};
	int64_t at = start_ns;
	int i;

	for (i = 0; i < count; i++) {
		struct command work = {
			.queue = COMPUTE, .name = kernels[i].name, .kind = COMMAND_KERNEL,
			.call_ns = start_ns - 300 * US + i * 9 * US,
			.start_ns = at, .dur_ns = about(synth, kernels[i].ns),
		};

		at = add_work(synth, &op, &work) + about(synth, 60 * US);
	}
	add_op(synth, &op, start_ns - 320 * US, at);
	return at;
}

/* The input thread prepares a batch while the main thread waits for it. */
static int64_t add_input(struct synth *synth, int64_t start_ns)
{
	int64_t dur_ns = about(synth, synth->step % 25 == 7 ? 60 * MS : 18 * MS);
	struct op wait = {MAIN, N_NEXT_BATCH, ++synth->instance, 0, 0};
	struct op load = {INPUT, N_LOAD, ++synth->instance, 0, 0};
	struct op decode = {INPUT, N_DECODE, ++synth->instance, load.instance, 1};

	add_op(synth, &wait, start_ns, start_ns + dur_ns);
	add_op(synth, &load, start_ns + 600 * US, start_ns + dur_ns - 100 * US);
	add_op(synth, &decode, start_ns + dur_ns / 8, start_ns + dur_ns * 7 / 8);
	return start_ns + dur_ns;
}

static void add_step(struct synth *synth)
{
	static const struct usual forward[] = {
		{N_CONV, 13400 * US}, {N_RELU, 1200 * US}, {N_POOL, 700 * US}, {N_LOSS, 250 * US},
	};
	static const struct usual backward[] = {
		{N_DGRAD, 13900 * US}, {N_WGRAD, 16000 * US}, {N_RELU, 900 * US},
	};
	static const struct usual update[] = {{N_SGD, 90 * US}, {N_SGD, 70 * US}, {N_SGD, 40 * US}};
	int64_t start = synth->next_step_ns, ready = add_input(synth, start), at;
	struct op step = {MAIN, N_STEP, ++synth->instance, 0, 0};

	at = add_copy(synth, &step, DIR_H2D, COPY_BYTES, ready + 80 * US, 4100 * US);
	at = add_phase(synth, N_FORWARD, step.instance, forward, 4, at + 350 * US);
	at = add_phase(synth, N_BACKWARD, step.instance, backward, 3, at + 350 * US);
	at = add_phase(synth, N_UPDATE, step.instance, update, 3, at + 350 * US);
	at = add_copy(synth, &step, DIR_D2H, 4 << 20, at + 80 * US, 1500 * US) + 50 * US;
	add_op(synth, &step, ready + 10 * US, at);
	add(synth, EVENT_STEP, at, MAIN)->u.step =
		(struct event_step){N_STEP, synth->step, SYNTH_BASE_NS + start, at - start};
	synth->step++;
	synth->next_step_ns = at + 20 * US;
}

/* ---- what comes by the clock, ten times a second ---- */

static void add_tick(struct synth *synth)
{
	int64_t at = synth->next_tick_ns;

	add(synth, EVENT_SETTLED, at, MAIN)->u.settled_ns = SYNTH_BASE_NS + at - 60 * MS;
	if (at % SECOND == 0) {
		add(synth, EVENT_CLOCK, at, MAIN)->u.clock = (struct event_clock){
			DEVICE, CLOCK_DRIVER, (uint64_t)(SYNTH_BASE_NS + TICKS_AHEAD + at),
			SYNTH_BASE_NS + at, 400,
		};
		add(synth, EVENT_BEAT, at, MAIN)->u.beat = (struct event_beat){
			.events = synth->events, .calls = synth->events / 3,
			.own_ns = at / 110, .mono_ns = SYNTH_BASE_NS + at,
			.real_ns = SYNTH_BASE_NS + at, .raw_ns = SYNTH_BASE_NS + at,
		};
	}
	if (at == 5 * SECOND)
		add(synth, EVENT_LOST, at, 0)->u.lost = (struct event_lost){
			SYNTH_BASE_NS + at - 30 * MS, SYNTH_BASE_NS + at - 12 * MS, 1204, false};
	add(synth, EVENT_ALIVE, at, 0);
	synth->next_tick_ns += 100 * MS;
}

/* ---- applying ---- */

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	/* at the same time: by kind, then by content, the same each time */
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return memcmp(x, y, sizeof(*x));
}

static void print_step(struct output *output, const struct event *event)
{
	int64_t number = event->u.step.number;
	char text[80];

	snprintf(text, sizeof(text), "step %" PRId64 "/700  loss 0.%03d\r\n", number,
		 (int)(900 / (1 + number / 40) % 1000));
	if (output)
		output_feed(output, text, strlen(text));
}

/* Applies what has happened by then; the rest stays in the queue. */
static void apply(struct synth *synth, int64_t until_ns, struct output *output)
{
	size_t n = 0, i;

	qsort(synth->queue, synth->count, sizeof(*synth->queue), by_time);
	while (n < synth->count && synth->queue[n].time_ns <= SYNTH_BASE_NS + until_ns)
		n++;
	for (i = 0; i < n; i++) {
		if (synth->queue[i].type == EVENT_STEP)
			print_step(output, &synth->queue[i]);
		if (synth->queue[i].type == EVENT_LOST || synth->queue[i].type == EVENT_ALIVE)
			synth->queue[i].pid = 0;
	}
	model_apply(synth->model, synth->queue, n);
	memmove(synth->queue, synth->queue + n, (synth->count - n) * sizeof(*synth->queue));
	synth->count -= n;
}

static void finish(struct synth *synth)
{
	synth->finished = true;
	model_set_exited(synth->model, 0, PID, 0, 0);
	model_finish(synth->model, false);
}

void synth_advance(struct synth *synth, int64_t until_ns, struct output *output)
{
	if (synth->finished)
		return;
	if (until_ns > SYNTH_END_NS)
		until_ns = SYNTH_END_NS;
	if (synth->next_tick_ns == 0)
		add_definitions(synth);
	while (synth->next_tick_ns <= until_ns)
		add_tick(synth);
	while (synth->next_step_ns <= until_ns)
		add_step(synth);
	apply(synth, until_ns, output);
	if (until_ns == SYNTH_END_NS)
		finish(synth);
}
