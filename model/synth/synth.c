/* SPDX-License-Identifier: MIT */
/* A training loop, or bare queues: what happens and when. synth_out.c writes it. */
#include "model/synth/synth_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/base/util.h"

#define OPEN_NS 10000000
#define WRITTEN_NS 20000	/* how long after its end an event is written, at most */
#define FIRST_PID 4121u
#define CLOCK_EVERY_NS 100000000
#define BEAT_NS 1000000000
#define SETTLED_NS 10000000
#define AHEAD 64	/* by how many kernels a launcher without ops is ahead of its queue */

const struct model_synth_profile model_synth_default = {
	.processes = 1, .devices = 1, .queues = 2, .input_threads = 1, .layers = 8, .kernels = 3,
	.kernel_ns = 200000,
};

static bool by_chance(struct model_synth *s, unsigned permille)
{
	return permille && synth_random(s) % 1000 < permille;
}

static int64_t written(struct model_synth *s, int64_t end_ns)
{
	if (by_chance(s, s->profile.late_permille))
		return end_ns + (int64_t)(synth_random(s) % 200000000);
	if (s->profile.disorder_ns > 0)
		end_ns += (int64_t)(synth_random(s) % (uint64_t)s->profile.disorder_ns);
	return end_ns + (int64_t)(synth_random(s) % WRITTEN_NS);
}

static bool is_sized(const struct model_synth *s)
{
	return s->profile.spans > 0;
}

static bool is_over(const struct model_synth *s, const struct synth_worker *w)
{
	if (!is_sized(s))
		return (s->profile.gpu || s->profile.generate) && s->profile.steps &&
		       w->steps >= s->profile.steps;
	return s->profile.ops ? w->steps >= s->profile.steps :
				s->truth.launched >= s->profile.spans;
}

/* The i-th of n parts of a whole; the parts add up to the whole. */
static uint64_t part_of(uint64_t whole, uint64_t i, uint64_t n)
{
	return (uint64_t)((unsigned __int128)whole * (i + 1) / n -
			  (unsigned __int128)whole * i / n);
}

/* ---- what happens ---- */

static void synth_add_op(struct model_synth *s, struct synth_worker *w, struct event_op op,
			 int64_t end_ns)
{
	struct event *event;

	op.dur_ns = end_ns - op.start_ns;
	op.step = -1;
	op.framework = FW_NVTX;
	s->truth.ops++;
	if (s->profile.opens && op.dur_ns > OPEN_NS) {
		event = synth_write(s, w, EVENT_OP, op.start_ns + OPEN_NS);
		event->tid = op.tid;
		event->u.op = op;
		event->u.op.dur_ns = -1;
	}
	event = synth_write(s, w, EVENT_OP, written(s, end_ns));
	event->tid = op.tid;
	event->u.op = op;
}

static uint32_t launch_ns(struct model_synth *s)
{
	int64_t mean = s->profile.launch_ns;

	if (!mean)
		return 2000 + (uint32_t)(synth_random(s) % 3000);
	return (uint32_t)synth_around(s, mean > INT32_MAX ? INT32_MAX : mean);
}

static uint8_t how_attributed(struct model_synth *s, const struct event_command *c)
{
	if (!is_sized(s))
		return HOW_EVENT;
	if (!c->op)
		return HOW_NONE;
	return by_chance(s, 50) ? HOW_FIFO : by_chance(s, 500) ? HOW_EXACT : HOW_EVENT;
}

/* The call is written when it returns, the device's record when it is complete. */
static void add_apart(struct model_synth *s, struct synth_worker *w, const struct event_command *c,
		      int64_t end_ns)
{
	struct event *event = synth_write(s, w, EVENT_LAUNCH,
					  written(s, c->call_ns + c->call_dur_ns));

	event->u.launch = (struct event_launch) {
		.tid = c->tid, .queue = c->queue, .name = c->name, .correlation = c->correlation,
		.op_name = c->op_name, .op = c->op, .call_ns = c->call_ns,
		.call_dur_ns = c->call_dur_ns, .bytes = c->bytes, .kind = c->kind,
		.direction = c->direction,
	};
	event = synth_write(s, w, EVENT_RUN, written(s, end_ns));
	event->u.run = (struct event_run) {
		.queue = c->queue, .name = c->name, .correlation = c->correlation,
		.bytes = c->bytes, .queued_ticks = c->queued_ticks,
		.submit_ticks = c->submit_ticks, .start_ticks = c->start_ticks,
		.end_ticks = c->end_ticks, .kind = c->kind, .direction = c->direction,
	};
}

/* Enqueues at the thread's time and runs when the queue is free. */
static void synth_command(struct model_synth *s, struct synth_worker *w, unsigned queue,
			  struct event_command c, int64_t run_ns)
{
	int64_t start, end;
	struct event *event;
	bool failed = c.kind == COMMAND_KERNEL && by_chance(s, s->profile.fail_permille);

	c.queue = queue + 1;
	c.tid = w->pid;
	c.correlation = ++w->correlations;
	c.call_ns = w->now_ns;
	c.call_dur_ns = launch_ns(s);
	c.how = how_attributed(s, &c);
	w->now_ns += c.call_dur_ns;
	w->calls++;
	s->truth.launched++;
	if (failed) {
		c.status = -5;
		s->truth.failed++;
		event = synth_write(s, w, EVENT_COMMAND, written(s, w->now_ns));
		event->u.command = c;
		return;
	}
	start = w->queue_ns[queue] > w->now_ns ? w->queue_ns[queue] : w->now_ns;
	start += s->profile.launch_ns ? synth_around(s, s->profile.launch_ns / 2) :
					500 + (int64_t)(synth_random(s) % 3000);
	end = start + run_ns;
	w->queue_ns[queue] = end;
	if (s->profile.opens && end - c.call_ns > OPEN_NS) {
		event = synth_write(s, w, EVENT_COMMAND, c.call_ns + OPEN_NS);
		event->u.command = c;
		event->u.command.flags |= CMD_OPEN;
	}
	c.queued_ticks = synth_ticks(s, c.call_ns + (is_sized(s) ? c.call_dur_ns / 2 : 1000));
	c.submit_ticks = c.queued_ticks + (is_sized(s) ? c.call_dur_ns / 4 : 500);
	c.start_ticks = synth_ticks(s, start);
	c.end_ticks = synth_ticks(s, end);
	if (c.kind == COMMAND_KERNEL) {
		s->truth.kernels++;
		s->truth.kernel_ns += run_ns;
	} else {
		s->truth.copies++;
		s->truth.bytes += c.bytes;
		s->truth.copy_ns += run_ns;
	}
	if (by_chance(s, s->profile.apart_permille)) {
		add_apart(s, w, &c, end);
		return;
	}
	event = synth_write(s, w, EVENT_COMMAND, written(s, end));
	event->u.command = c;
}

/* Host time that an op takes in addition to launches. */
static int64_t op_ns(struct model_synth *s, int64_t mean)
{
	return synth_around(s, s->profile.op_ns ? s->profile.op_ns : mean);
}

/* launches: of this layer's kernels. */
static void synth_layer(struct model_synth *s, struct synth_worker *w, unsigned l, uint64_t parent,
			uint64_t launches)
{
	struct event_op op = {
		.instance = ++w->instances, .parent = parent, .start_ns = w->now_ns, .tid = w->pid,
		.name = NAME_LAYERS + l % s->profile.layers, .op_type = NAME_TYPE, .depth = 2,
		.flags = OP_RANGE | OP_INNER,
	};

	w->now_ns += op_ns(s, 2000);
	if (s->profile.layer_bytes && l < 64) {
		if (w->held >> l & 1)
			synth_dealloc(s, w, l);
		else
			synth_alloc(s, w, l, op.instance, op.name);
		w->held ^= UINT64_C(1) << l;
	}
	for (uint64_t k = 0; k < launches; k++) {
		struct event_command c = {
			.name = synth_kernel_name(s, l % s->profile.layers,
					    (unsigned)(k % s->profile.kernels)),
			.kind = COMMAND_KERNEL, .op = op.instance, .op_name = op.name,
		};

		synth_command(s, w, (unsigned)((l + k) % s->profile.queues), c,
			      synth_around(s, s->profile.kernel_ns));
	}
	w->now_ns += op_ns(s, 2000);
	synth_add_op(s, w, op, w->now_ns);
}

/* Distributes what the step may launch evenly to the layers of both passes. */
static void synth_pass(struct model_synth *s, struct synth_worker *w, bool forward, uint64_t parent,
		       unsigned layers)
{
	struct event_op op = {
		.instance = ++w->instances, .parent = parent, .start_ns = w->now_ns, .tid = w->pid,
		.name = forward ? NAME_FORWARD : NAME_BACKWARD, .depth = 1,
		.flags = OP_RANGE | OP_INNER,
	};

	w->now_ns += op_ns(s, 1000);
	for (unsigned l = 0; l < layers; l++) {
		uint64_t left = forward ? 2 * layers - l : layers - l;
		uint64_t launches = is_sized(s) ? w->quota / left : s->profile.kernels;

		w->quota -= is_sized(s) ? launches : 0;
		synth_layer(s, w, forward ? l : layers - 1 - l, op.instance, launches);
	}
	synth_add_op(s, w, op, w->now_ns);
}

/* In a step of given size, copies have a given size, too: at most a tenth of it. */
static uint64_t copy_bytes(const struct model_synth *s, uint64_t bytes)
{
	uint64_t most = (uint64_t)s->profile.period_ns * 12 / 10;

	return is_sized(s) && bytes > most ? most : bytes;
}

static void copy(struct model_synth *s, struct synth_worker *w, enum direction direction,
		 uint64_t bytes, uint64_t op, uint32_t op_name)
{
	struct event_command c = {
		.name = direction == DIR_H2D ? NAME_H2D : NAME_D2H, .kind = COMMAND_COPY,
		.direction = (uint8_t)direction, .bytes = bytes, .op = op, .op_name = op_name,
	};

	synth_command(s, w, 0, c, (int64_t)(bytes / 12) + (s->profile.launch_ns ? 1 : 1000));
}

/* The input threads prepare the next batch while the device works. */
static void synth_inputs(struct model_synth *s, struct synth_worker *w, int64_t from_ns,
			 int64_t to_ns, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct event_op op = {
			.instance = ++w->instances,
			.start_ns = from_ns + (is_sized(s) ? (to_ns - from_ns) / 16 :
							     synth_around(s, 5000)),
			.tid = w->pid + 1 + i % s->profile.input_threads, .name = NAME_LOAD,
			.flags = OP_RANGE,
		};

		/* The ranges of a thread follow each other. */
		op.start_ns += (to_ns - op.start_ns) / 2 * (i / s->profile.input_threads);
		if (op.start_ns < to_ns || is_sized(s))
			synth_add_op(s, w, op, s->profile.input_ns ? to_ns - 1000 :
				     op.start_ns + (to_ns - op.start_ns) / 2);
	}
}

/* The main thread waits, in the range that fetches the batch. */
static void wait_for_input(struct model_synth *s, struct synth_worker *w, uint64_t parent)
{
	struct event_op op = {
		.instance = ++w->instances, .parent = parent, .start_ns = w->now_ns, .tid = w->pid,
		.name = NAME_INPUT, .depth = 1, .flags = OP_RANGE,
	};

	w->now_ns += synth_around(s, s->profile.input_ns);
	if (s->profile.host)
		synth_host_wait(s, w, op.start_ns);
	synth_add_op(s, w, op, w->now_ns);
}

static int64_t latest(const struct model_synth *s, const struct synth_worker *w)
{
	int64_t end = w->now_ns;

	for (unsigned q = 0; q < s->profile.queues; q++)
		if (w->queue_ns[q] > end)
			end = w->queue_ns[q];
	return end;
}

/* How many things of each kind a step has. */
struct step_size {
	unsigned layers, inputs;	/* layers of each pass; ranges of the input threads */
	uint64_t spans;			/* spans to launch, including copies */
};

static struct step_size synth_item_bytes(const struct model_synth *s, const struct synth_worker *w)
{
	struct step_size size = {
		.layers = s->profile.layers, .inputs = s->profile.input_threads,
	};
	uint64_t ops;

	if (!is_sized(s))
		return size;
	/* The step itself, two passes and their layers; the rest is input. */
	ops = part_of(s->profile.ops, w->steps, s->profile.steps);
	size.layers = ops > 4 ? (unsigned)(ops - 4) / 2 : 0;
	size.inputs = (unsigned)ops - 3 - 2 * size.layers;
	size.spans = part_of(s->profile.spans, w->steps, s->profile.steps);
	return size;
}

static void synth_add_calls(struct model_synth *s, struct synth_worker *w, uint64_t count)
{
	struct event *event = synth_write(s, w, EVENT_CALLS, w->now_ns);

	event->u.calls = (struct event_calls) {
		.name = NAME_ENQUEUE, .count = count, .total_ns = -1, .max_ns = -1,
	};
	w->told_calls += count;
}

void synth_settled(struct model_synth *s, struct synth_worker *w, int64_t settled_ns)
{
	struct event *event = synth_write(s, w, EVENT_SETTLED, w->now_ns + s->profile.disorder_ns);

	event->u.settled.settled_ns = settled_ns;
	w->told_ns = w->now_ns;
}

/* What the runtime's thread does meanwhile. */
static void synth_runtime_share(struct model_synth *s, struct synth_worker *w, int64_t settled_ns)
{
	struct event *event;

	if (w->now_ns - w->told_ns >= SETTLED_NS)
		synth_settled(s, w, settled_ns);
	if (s->profile.drift_ppb && w->now_ns - w->clock_ns >= CLOCK_EVERY_NS)
		for (unsigned d = 1; d <= s->profile.devices; d++)
			synth_pair(s, w, d);
	if (w->now_ns - w->beat_ns < BEAT_NS)
		return;
	w->beat_ns = w->now_ns;
	if (w->calls > w->told_calls)
		synth_add_calls(s, w, w->calls - w->told_calls);
	event = synth_write(s, w, EVENT_BEAT, w->now_ns);
	event->u.beat = (struct event_beat) {
		.events = s->order, .calls = w->calls, .own_ns = (int64_t)w->calls * 100,
		.mono_ns = w->now_ns, .real_ns = w->now_ns, .raw_ns = w->now_ns,
	};
}

static void synth_step(struct model_synth *s, struct synth_worker *w)
{
	struct event_op op = {
		.instance = ++w->instances, .start_ns = w->now_ns, .tid = w->pid,
		.name = w->names + (uint32_t)w->steps, .flags = OP_RANGE | OP_INNER,
	};
	int64_t begin = w->now_ns;
	struct step_size size = synth_item_bytes(s, w);
	struct event *event;

	synth_name(s, w, op.name, NAME_RANGE, w->now_ns,
		 xasprintf("step %llu", (unsigned long long)w->steps));
	if (s->profile.input_ns)
		wait_for_input(s, w, op.instance);
	w->quota = size.spans > 2 ? size.spans - 2 : 0;
	if (!is_sized(s) || size.spans > 0)
		copy(s, w, DIR_H2D,
		     copy_bytes(s, s->profile.upload_bytes ? s->profile.upload_bytes : 1 << 20),
		     op.instance, op.name);
	synth_pass(s, w, true, op.instance, size.layers);
	synth_pass(s, w, false, op.instance, size.layers);
	if (!is_sized(s) || size.spans > 1)
		copy(s, w, DIR_D2H, copy_bytes(s, 4096), op.instance, op.name);
	w->now_ns = latest(s, w) + (s->profile.op_ns ? s->profile.op_ns : 1000);
	if (w->now_ns - begin < s->profile.period_ns)
		w->now_ns = begin + s->profile.period_ns;
	synth_add_op(s, w, op, w->now_ns);
	if (s->profile.counters)
		synth_counters(s, w);
	synth_inputs(s, w, begin, w->now_ns, size.inputs);
	w->steps++;
	s->truth.steps++;
	if (is_sized(s)) {
		synth_runtime_share(s, w,
				    begin > s->start_ns + WRITTEN_NS ? begin - WRITTEN_NS :
				    s->start_ns);
		w->now_ns += op_ns(s, 1000);
		return;
	}
	synth_add_calls(s, w, 2ull * s->profile.layers * s->profile.kernels);
	if (s->profile.lose_every && w->steps % s->profile.lose_every == 0) {
		event = synth_write(s, NULL, EVENT_LOST, w->now_ns);
		event->u.lost = (struct event_lost) {
			.begin_ns = w->now_ns - 1000000, .end_ns = w->now_ns, .count = 17,
		};
		s->truth.losses += 17;
	}
	synth_settled(s, w, begin);
	w->now_ns += synth_around(s, 20000);
}

/* Without ops: each queue gets some work, and the launcher is ahead of them. */
static void bare_round(struct model_synth *s, struct synth_worker *w)
{
	int64_t begin = w->now_ns, ahead = AHEAD * s->profile.kernel_ns;

	for (unsigned q = 0; q < s->profile.queues && !is_over(s, w); q++) {
		struct event_command c = {
			.name = synth_kernel_name(s,
						  (unsigned)(synth_random(s) % s->profile.layers),
					    (unsigned)(synth_random(s) % s->profile.kernels)),
			.kind = COMMAND_KERNEL,
		};
		int64_t run_ns = synth_around(s, s->profile.kernel_ns);

		if (w->queue_ns[q] > w->now_ns + ahead)
			w->now_ns = w->queue_ns[q] - ahead;
		if (by_chance(s, 60)) {
			c.kind = COMMAND_COPY;
			c.direction = by_chance(s, 500) ? DIR_H2D : DIR_D2H;
			c.name = c.direction == DIR_H2D ? NAME_H2D : NAME_D2H;
			c.bytes = (uint64_t)run_ns * 12;
		}
		synth_command(s, w, q, c, run_ns);
	}
	if (w->now_ns - begin < s->profile.period_ns)
		w->now_ns = begin + s->profile.period_ns;
	synth_runtime_share(s, w, begin - 2 * ahead - s->profile.disorder_ns > s->start_ns ?
			    begin - 2 * ahead - s->profile.disorder_ns : s->start_ns);
}

/* ---- entry points ---- */

struct model_synth *model_synth_new(uint64_t seed, const struct model_synth_profile *profile,
				    int64_t start_ns)
{
	struct model_synth *s = xcalloc(1, sizeof(*s));

	s->profile = *profile;
	s->random = seed;
	s->luck = ~seed;
	s->start_ns = start_ns;
	s->free_item = UINT32_MAX;
	s->workers = xcalloc(profile->processes, sizeof(*s->workers));
	for (unsigned i = 0; i < profile->processes; i++) {
		struct synth_worker *w = &s->workers[i];

		w->pid = FIRST_PID + 100 * i;
		w->now_ns = w->told_ns = w->beat_ns = start_ns;
		w->queue_ns = xcalloc(profile->queues, sizeof(*w->queue_ns));
		w->threads = xcalloc(1 + profile->input_threads, sizeof(*w->threads));
		synth_define(s, w);
	}
	return s;
}

void model_synth_advance(struct model_synth *s, int64_t until_ns, model_synth_sink *sink,
			 void *arg)
{
	struct event alive = { .type = EVENT_ALIVE, .time_ns = until_ns };

	for (unsigned i = 0; i < s->profile.processes; i++)
		while (s->workers[i].now_ns <= until_ns && !is_over(s, &s->workers[i])) {
			if (is_sized(s) && !s->profile.ops)
				bare_round(s, &s->workers[i]);
			else if (s->profile.processor)
				synth_cpu_step(s, &s->workers[i]);
			else if (s->profile.generate)
				synth_generate_step(s, &s->workers[i]);
			else if (s->profile.gpu)
				synth_gpu_step(s, &s->workers[i]);
			else
				synth_step(s, &s->workers[i]);
		}
	synth_hand_out(s, until_ns, sink, arg);
	sink(arg, &alive, 1);
}

bool model_synth_over(const struct model_synth *s)
{
	for (unsigned i = 0; i < s->profile.processes; i++)
		if (!is_over(s, &s->workers[i]))
			return false;
	return true;
}

void model_synth_end(struct model_synth *s, model_synth_sink *sink, void *arg)
{
	for (unsigned i = 0; i < s->profile.processes; i++) {
		struct synth_worker *w = &s->workers[i];
		struct event *event;

		if (is_sized(s) && w->calls > w->told_calls)
			synth_add_calls(s, w, w->calls - w->told_calls);
		event = synth_write(s, w, EVENT_EXIT,
				    latest(s, w) + 300000000 + s->profile.disorder_ns);
		event->u.exit = (struct event_exit) { .reason = 0, .status = 0 };
	}
	synth_hand_out(s, INT64_MAX, sink, arg);
	synth_hand_out_end(s, sink, arg);
}

void model_synth_free(struct model_synth *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->profile.processes; i++) {
		free(s->workers[i].queue_ns);
		free(s->workers[i].threads);
	}
	synth_out_release(s);
	free(s->workers);
	free(s);
}
