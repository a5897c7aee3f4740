/* SPDX-License-Identifier: MIT */
#include "model/synth.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/util.h"

#define BATCH 1024u
#define TICKS_OFFSET 7000000000000
#define OPEN_NS 10000000
#define FIRST_PID 4121u

/* Name ids: fixed ones, then layers, then their kernels. */
enum { NAME_FORWARD = 1, NAME_BACKWARD, NAME_LOAD, NAME_H2D, NAME_D2H, NAME_ENQUEUE,
       NAME_TYPE, NAME_BUFFER, NAME_LAYERS };

const struct model_synth_profile model_synth_default = {
	.processes = 1, .devices = 1, .queues = 2, .input_threads = 1, .layers = 8, .kernels = 3,
	.kernel_ns = 200000,
};

struct worker {
	uint32_t pid;
	int64_t now_ns;			/* of its main thread */
	int64_t *queue_ns;		/* owned; each queue is busy until then */
	uint64_t steps, instances;
	uint64_t held;			/* layers whose memory is allocated, a bit each */
	uint32_t correlations, seq, names;
};

struct model_synth {
	struct model_synth_profile profile;
	struct model_synth_truth truth;
	uint64_t random, order;
	struct worker *workers;		/* owned */
	struct waiting {
		struct event event;
		uint64_t order;
		char *text;		/* owned; what the event's name points to */
	} *list;			/* owned: written but not handed out */
	size_t n, cap;
	struct event batch[BATCH];
};

static uint64_t next_random(struct model_synth *s)
{
	uint64_t x = s->random += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* half ... one and a half of mean */
static int64_t around(struct model_synth *s, int64_t mean)
{
	return mean / 2 + (int64_t)(next_random(s) % (uint64_t)(mean + 1));
}

static bool by_chance(struct model_synth *s, unsigned permille)
{
	return permille && next_random(s) % 1000 < permille;
}

static struct event *add(struct model_synth *s, struct worker *w, enum event_type type,
			 int64_t written_ns)
{
	struct waiting *waiting;

	grow(&s->list, &s->cap, s->n, sizeof(*s->list));
	waiting = &s->list[s->n++];
	memset(waiting, 0, sizeof(*waiting));
	waiting->order = s->order++;
	waiting->event.type = (uint8_t)type;
	waiting->event.pid = w ? w->pid : 0;
	waiting->event.tid = w ? w->pid : 0;
	waiting->event.seq = w ? ++w->seq : 0;
	waiting->event.time_ns = written_ns;
	return &waiting->event;
}

static void add_name(struct model_synth *s, struct worker *w, uint32_t id, uint8_t kind,
		     int64_t written_ns, char *owned)
{
	struct event *event = add(s, w, EVENT_NAME, written_ns);

	event->u.name = (struct event_name) { .id = id, .kind = kind, .text = owned };
	s->list[s->n - 1].text = owned;
}

static int64_t written(struct model_synth *s, int64_t end_ns)
{
	if (by_chance(s, s->profile.late_permille))
		return end_ns + (int64_t)(next_random(s) % 200000000);
	return end_ns + (int64_t)(next_random(s) % 20000);
}

/* ---- definitions ---- */

static uint32_t kernel_name(const struct model_synth *s, unsigned layer, unsigned kernel)
{
	return NAME_LAYERS + s->profile.layers + layer * s->profile.kernels + kernel;
}

static void define_names(struct model_synth *s, struct worker *w)
{
	static const char *const fixed[] = {
		[NAME_FORWARD] = "forward", [NAME_BACKWARD] = "backward", [NAME_LOAD] = "load",
		[NAME_H2D] = "write", [NAME_D2H] = "read", [NAME_ENQUEUE] = "clEnqueueNDRangeKernel",
		[NAME_TYPE] = "Layer", [NAME_BUFFER] = "opencl device:buffer",
	};
	static const char *const kernels[] = { "conv_forward", "relu_forward", "softmax_loss",
					       "sgd_update", "pool_backward" };
	static const char *const layers[] = { "conv", "relu", "pool", "dense" };

	for (uint32_t i = NAME_FORWARD; i < NAME_LAYERS; i++)
		if (i != NAME_BUFFER || s->profile.layer_bytes)
			add_name(s, w, i, i == NAME_TYPE ? NAME_OP_TYPE :
				 i == NAME_BUFFER ? NAME_ALLOCATOR : NAME_OP, w->now_ns,
				 xstrdup(fixed[i]));
	for (unsigned l = 0; l < s->profile.layers; l++) {
		add_name(s, w, NAME_LAYERS + l, NAME_OP, w->now_ns,
			 xasprintf("model/%s_%u", layers[l % 4], l));
		for (unsigned k = 0; k < s->profile.kernels; k++)
			add_name(s, w, kernel_name(s, l, k), NAME_KERNEL, w->now_ns,
				 xasprintf("%s_%u", kernels[(l + k) % 5], l));
	}
	w->names = kernel_name(s, s->profile.layers, 0);
}

/* Addresses: what is kept, then a place for each layer. */
static void allocate(struct model_synth *s, struct worker *w, uint64_t place, uint64_t op,
		     uint32_t op_name)
{
	struct event *event = add(s, w, EVENT_ALLOC, w->now_ns);

	event->u.alloc = (struct event_alloc) {
		.allocator = NAME_BUFFER, .device = 1, .op_name = op_name, .op = op,
		.address = 4096 * (place + 1), .bytes = s->profile.layer_bytes,
	};
}

static void give_back(struct model_synth *s, struct worker *w, uint64_t place)
{
	struct event *event = add(s, w, EVENT_FREE, w->now_ns);

	event->u.free = (struct event_free) {
		.allocator = NAME_BUFFER, .address = 4096 * (place + 1),
	};
}

static void define(struct model_synth *s, struct worker *w)
{
	struct event *event = add(s, w, EVENT_PROCESS, w->now_ns);

	event->u.process = (struct event_process) {
		.schema = 1, .start_ns = w->now_ns, .rank = -1, .world = -1, .host = "synth",
		.command = "train --synthetic",
	};
	event = add(s, w, EVENT_PROBE, w->now_ns);
	event->u.probe = (struct event_probe) { .name = "opencl", .version = "1", .blind = "" };
	for (unsigned d = 1; d <= s->profile.devices; d++) {
		event = add(s, w, EVENT_DEVICE, w->now_ns);
		event->u.device = (struct event_device) {
			.id = d, .index = d - 1, .units = 132, .clock_mhz = 1980, .gpu = 1,
			.api = "opencl", .name = "Synthetic S1", .vendor = "nobody",
			.platform = "none", .driver = "0", .address = "",
		};
		event = add(s, w, EVENT_CLOCK, w->now_ns);
		event->u.clock = (struct event_clock) {
			.device = d, .quality = CLOCK_KNOWN,
			.ticks = (uint64_t)(w->now_ns + TICKS_OFFSET), .host_ns = w->now_ns,
			.error_ns = 500,
		};
	}
	for (unsigned q = 1; q <= s->profile.queues; q++) {
		event = add(s, w, EVENT_QUEUE, w->now_ns);
		event->u.queue = (struct event_queue) {
			.id = q, .device = (q - 1) % s->profile.devices + 1, .context = 1,
			.flags = QUEUE_IN_ORDER | QUEUE_PROFILED, .name = "",
		};
	}
	define_names(s, w);
	for (unsigned l = 0; l < s->profile.layers && s->profile.layer_bytes; l++)
		allocate(s, w, 64 + l, 0, 0);
}

/* ---- what happens ---- */

static void add_op(struct model_synth *s, struct worker *w, struct event_op op, int64_t end_ns)
{
	struct event *event;

	op.dur_ns = end_ns - op.start_ns;
	op.step = -1;
	op.framework = FW_NVTX;
	s->truth.ops++;
	if (s->profile.opens && op.dur_ns > OPEN_NS) {
		event = add(s, w, EVENT_OP, op.start_ns + OPEN_NS);
		event->u.op = op;
		event->u.op.dur_ns = -1;
	}
	event = add(s, w, EVENT_OP, written(s, end_ns));
	event->u.op = op;
}

/* Enqueues at the thread's time and runs when the queue is free. */
static void command(struct model_synth *s, struct worker *w, unsigned queue,
		    struct event_command c, int64_t run_ns)
{
	int64_t start, end;
	struct event *event;
	bool failed = c.kind == COMMAND_KERNEL && by_chance(s, s->profile.fail_permille);

	c.queue = queue + 1;
	c.tid = w->pid;
	c.correlation = ++w->correlations;
	c.call_ns = w->now_ns;
	c.call_dur_ns = 2000 + (uint32_t)(next_random(s) % 3000);
	c.how = HOW_EVENT;
	w->now_ns += c.call_dur_ns;
	if (failed) {
		c.status = -5;
		s->truth.failed++;
		event = add(s, w, EVENT_COMMAND, written(s, w->now_ns));
		event->u.command = c;
		return;
	}
	start = w->queue_ns[queue] > w->now_ns ? w->queue_ns[queue] : w->now_ns;
	start += 500 + (int64_t)(next_random(s) % 3000);
	end = start + run_ns;
	w->queue_ns[queue] = end;
	if (s->profile.opens && end - c.call_ns > OPEN_NS) {
		event = add(s, w, EVENT_COMMAND, c.call_ns + OPEN_NS);
		event->u.command = c;
		event->u.command.flags |= CMD_OPEN;
	}
	c.queued_ticks = (uint64_t)(c.call_ns + 1000 + TICKS_OFFSET);
	c.submit_ticks = c.queued_ticks + 500;
	c.start_ticks = (uint64_t)(start + TICKS_OFFSET);
	c.end_ticks = (uint64_t)(end + TICKS_OFFSET);
	if (c.kind == COMMAND_KERNEL) {
		s->truth.kernels++;
		s->truth.kernel_ns += run_ns;
	} else {
		s->truth.copies++;
		s->truth.bytes += c.bytes;
		s->truth.copy_ns += run_ns;
	}
	event = add(s, w, EVENT_COMMAND, written(s, end));
	event->u.command = c;
}

static void layer(struct model_synth *s, struct worker *w, unsigned l, uint64_t parent)
{
	struct event_op op = {
		.instance = ++w->instances, .parent = parent, .start_ns = w->now_ns, .tid = w->pid,
		.name = NAME_LAYERS + l, .op_type = NAME_TYPE, .depth = 2,
		.flags = OP_RANGE | OP_INNER,
	};

	w->now_ns += around(s, 2000);
	if (s->profile.layer_bytes && l < 64) {
		if (w->held >> l & 1)
			give_back(s, w, l);
		else
			allocate(s, w, l, op.instance, op.name);
		w->held ^= UINT64_C(1) << l;
	}
	for (unsigned k = 0; k < s->profile.kernels; k++) {
		struct event_command c = {
			.name = kernel_name(s, l, k), .kind = COMMAND_KERNEL, .op = op.instance,
			.op_name = op.name,
		};

		command(s, w, (l + k) % s->profile.queues, c, around(s, s->profile.kernel_ns));
	}
	w->now_ns += around(s, 2000);
	add_op(s, w, op, w->now_ns);
}

static void pass(struct model_synth *s, struct worker *w, uint32_t name, uint64_t parent)
{
	struct event_op op = {
		.instance = ++w->instances, .parent = parent, .start_ns = w->now_ns, .tid = w->pid,
		.name = name, .depth = 1, .flags = OP_RANGE | OP_INNER,
	};

	w->now_ns += around(s, 1000);
	for (unsigned l = 0; l < s->profile.layers; l++)
		layer(s, w, name == NAME_FORWARD ? l : s->profile.layers - 1 - l, op.instance);
	add_op(s, w, op, w->now_ns);
}

static void copy(struct model_synth *s, struct worker *w, enum direction direction,
		 uint64_t bytes, uint64_t op, uint32_t op_name)
{
	struct event_command c = {
		.name = direction == DIR_H2D ? NAME_H2D : NAME_D2H, .kind = COMMAND_COPY,
		.direction = (uint8_t)direction, .bytes = bytes, .op = op, .op_name = op_name,
	};

	command(s, w, 0, c, (int64_t)(bytes / 12) + 1000);
}

/* The input thread prepares the next batch while the device works. */
static void inputs(struct model_synth *s, struct worker *w, int64_t from_ns, int64_t to_ns)
{
	for (unsigned i = 0; i < s->profile.input_threads; i++) {
		struct event_op op = {
			.instance = ++w->instances, .start_ns = from_ns + around(s, 5000),
			.tid = w->pid + 1 + i, .name = NAME_LOAD, .flags = OP_RANGE,
		};

		if (op.start_ns < to_ns)
			add_op(s, w, op, op.start_ns + (to_ns - op.start_ns) / 2);
	}
}

static int64_t latest(const struct model_synth *s, const struct worker *w)
{
	int64_t end = w->now_ns;

	for (unsigned q = 0; q < s->profile.queues; q++)
		if (w->queue_ns[q] > end)
			end = w->queue_ns[q];
	return end;
}

static void step(struct model_synth *s, struct worker *w)
{
	struct event_op op = {
		.instance = ++w->instances, .start_ns = w->now_ns, .tid = w->pid,
		.name = w->names + (uint32_t)w->steps, .flags = OP_RANGE | OP_INNER,
	};
	int64_t begin = w->now_ns;
	struct event *event;

	add_name(s, w, op.name, NAME_RANGE, w->now_ns,
		 xasprintf("step %llu", (unsigned long long)w->steps));
	copy(s, w, DIR_H2D, 1 << 20, op.instance, op.name);
	pass(s, w, NAME_FORWARD, op.instance);
	pass(s, w, NAME_BACKWARD, op.instance);
	copy(s, w, DIR_D2H, 4096, op.instance, op.name);
	w->now_ns = latest(s, w) + 1000;
	add_op(s, w, op, w->now_ns);
	inputs(s, w, begin, w->now_ns);
	event = add(s, w, EVENT_CALLS, w->now_ns);
	event->u.calls = (struct event_calls) {
		.name = NAME_ENQUEUE, .count = 2ull * s->profile.layers * s->profile.kernels,
		.total_ns = -1, .max_ns = -1,
	};
	w->steps++;
	s->truth.steps++;
	if (s->profile.lose_every && w->steps % s->profile.lose_every == 0) {
		event = add(s, NULL, EVENT_LOST, w->now_ns);
		event->u.lost = (struct event_lost) {
			.begin_ns = w->now_ns - 1000000, .end_ns = w->now_ns, .count = 17,
		};
		s->truth.losses += 17;
	}
	event = add(s, w, EVENT_SETTLED, w->now_ns);
	event->u.settled_ns = begin;
	w->now_ns += around(s, 20000);
}

/* ---- handing out ---- */

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->event.time_ns != y->event.time_ns)
		return x->event.time_ns < y->event.time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void hand_out(struct model_synth *s, int64_t until_ns, model_synth_sink *sink, void *arg)
{
	size_t done = 0;

	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), by_time);
	while (done < s->n && s->list[done].event.time_ns <= until_ns) {
		size_t n = 0;

		for (; n < BATCH && done + n < s->n &&
		     s->list[done + n].event.time_ns <= until_ns; n++)
			s->batch[n] = s->list[done + n].event;
		sink(arg, s->batch, n);
		s->truth.events += n;
		for (size_t i = 0; i < n; i++)
			free(s->list[done + i].text);
		done += n;
	}
	s->n -= done;
	memmove(s->list, s->list + done, s->n * sizeof(*s->list));
}

struct model_synth *model_synth_new(uint64_t seed, const struct model_synth_profile *profile,
				    int64_t start_ns)
{
	struct model_synth *s = xcalloc(1, sizeof(*s));

	s->profile = *profile;
	s->random = seed;
	grow(&s->list, &s->cap, 0, sizeof(*s->list));
	s->workers = xcalloc(profile->processes, sizeof(*s->workers));
	for (unsigned i = 0; i < profile->processes; i++) {
		s->workers[i].pid = FIRST_PID + 100 * i;
		s->workers[i].now_ns = start_ns;
		s->workers[i].queue_ns = xcalloc(profile->queues, sizeof(int64_t));
		define(s, &s->workers[i]);
	}
	return s;
}

void model_synth_advance(struct model_synth *s, int64_t until_ns, model_synth_sink *sink,
			 void *arg)
{
	struct event alive = { .type = EVENT_ALIVE, .time_ns = until_ns };

	for (unsigned i = 0; i < s->profile.processes; i++)
		while (s->workers[i].now_ns <= until_ns)
			step(s, &s->workers[i]);
	hand_out(s, until_ns, sink, arg);
	sink(arg, &alive, 1);
}

void model_synth_end(struct model_synth *s, model_synth_sink *sink, void *arg)
{
	for (unsigned i = 0; i < s->profile.processes; i++) {
		struct worker *w = &s->workers[i];
		struct event *event = add(s, w, EVENT_EXIT, latest(s, w) + 300000000);

		event->u.exit = (struct event_exit) { .reason = 0, .status = 0 };
	}
	hand_out(s, INT64_MAX, sink, arg);
}

const struct model_synth_truth *model_synth_truth(const struct model_synth *s)
{
	return &s->truth;
}

void model_synth_free(struct model_synth *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].text);
	for (unsigned i = 0; i < s->profile.processes; i++)
		free(s->workers[i].queue_ns);
	free(s->workers);
	free(s->list);
	free(s);
}
