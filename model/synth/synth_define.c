/* SPDX-License-Identifier: MIT */
/* What the synthetic program consists of: names, devices, clocks, memory. */
#include "model/synth/synth_internal.h"

#include "model/base/util.h"

#define TICKS_OFFSET 7000000000000
#define CLOCK_ERROR_NS 500

/* a random number from mean / 2 to mean * 3 / 2 */
int64_t synth_around(struct model_synth *s, int64_t mean)
{
	return mean / 2 + (int64_t)(synth_random(s) % (uint64_t)(mean + 1));
}

uint64_t synth_ticks(const struct model_synth *s, int64_t host_ns)
{
	return (uint64_t)(host_ns + TICKS_OFFSET +
			  (int64_t)((__int128)(host_ns - s->start_ns) * s->profile.drift_ppb /
				    1000000000));
}

void synth_name(struct model_synth *s, struct synth_worker *w, uint32_t id, uint8_t kind,
		int64_t written_ns, char *owned)
{
	struct event *event = synth_write(s, w, EVENT_NAME, written_ns);

	event->u.name = (struct event_name) { .id = id, .kind = kind, .text = owned };
	synth_own(s, event, owned);
}

uint32_t synth_kernel_name(const struct model_synth *s, unsigned layer, unsigned kernel)
{
	return NAME_LAYERS + s->profile.layers + layer * s->profile.kernels + kernel;
}

static void define_names(struct model_synth *s, struct synth_worker *w)
{
	static const char *const fixed[] = {
		[NAME_FORWARD] = "forward", [NAME_BACKWARD] = "backward", [NAME_LOAD] = "load",
		[NAME_H2D] = "write", [NAME_D2H] = "read",
		[NAME_ENQUEUE] = "clEnqueueNDRangeKernel", [NAME_TYPE] = "Layer",
		[NAME_BUFFER] = "opencl device:buffer",
		[NAME_INPUT] = "input",
	};
	static const char *const kernels[] = { "conv_forward", "relu_forward", "softmax_loss",
					       "sgd_update", "pool_backward" };
	static const char *const layers[] = { "conv", "relu", "pool", "dense" };

	for (uint32_t i = NAME_FORWARD; i < NAME_LAYERS; i++)
		if ((i != NAME_BUFFER || s->profile.layer_bytes) &&
		    (i != NAME_INPUT || s->profile.input_ns))
			synth_name(s, w, i, i == NAME_TYPE ? NAME_OP_TYPE :
				 i == NAME_BUFFER ? NAME_ALLOCATOR : NAME_OP, w->now_ns,
				 xstrdup(i == NAME_LOAD &&
				 s->profile.input_ns ? "input/make" : fixed[i]));
	for (unsigned l = 0; l < s->profile.layers; l++) {
		synth_name(s, w, NAME_LAYERS + l, NAME_OP, w->now_ns,
			 xasprintf("model/%s_%u", layers[l % 4], l));
		for (unsigned k = 0; k < s->profile.kernels; k++)
			synth_name(s, w, synth_kernel_name(s, l, k), NAME_KERNEL, w->now_ns,
				 xasprintf("%s_%u", kernels[(l + k) % 5], l));
	}
	w->names = synth_kernel_name(s, s->profile.layers, 0);
}

/* Addresses: what is kept comes first, then a place for each layer; with counters, these are pieces
 * of a region. */
static uint64_t address_of(const struct model_synth *s, uint64_t place)
{
	return s->profile.counters ? SYNTH_REGION + place % 64 * 2 * s->profile.layer_bytes +
		(place / 64) * s->profile.layer_bytes : 4096 * (place + 1);
}

void synth_alloc(struct model_synth *s, struct synth_worker *w, uint64_t place, uint64_t op,
		 uint32_t op_name)
{
	struct event *event = synth_write(s, w, EVENT_ALLOC, w->now_ns);

	event->u.alloc = (struct event_alloc) {
		.allocator = NAME_BUFFER, .device = 1, .op_name = op_name, .op = op,
		.address = address_of(s, place), .bytes = s->profile.layer_bytes,
	};
}

void synth_dealloc(struct model_synth *s, struct synth_worker *w, uint64_t place)
{
	struct event *event = synth_write(s, w, EVENT_FREE, w->now_ns);

	event->u.free = (struct event_free) {
		.allocator = NAME_BUFFER, .address = address_of(s, place),
	};
}

/* With drift it is a device's clock: pairs, each of which is wrong by up to its error bar. */
void synth_pair(struct model_synth *s, struct synth_worker *w, unsigned device)
{
	struct event *event = synth_write(s, w, EVENT_CLOCK, w->now_ns);
	bool drifts = s->profile.drift_ppb != 0;
	int64_t off = drifts ? synth_around(s, CLOCK_ERROR_NS) - CLOCK_ERROR_NS : 0;

	event->u.clock = (struct event_clock) {
		.device = device, .quality = drifts ? CLOCK_DRIVER : CLOCK_KNOWN,
		.ticks = synth_ticks(s, w->now_ns), .host_ns = w->now_ns + off,
		.error_ns = CLOCK_ERROR_NS,
	};
	w->clock_ns = w->now_ns;
}

/* Uses random numbers of its own, so that the program is the same with and without counters. */
void synth_counters(struct model_synth *s, struct synth_worker *w)
{
	for (unsigned id = 1; id <= 1 + s->profile.devices; id++) {
		struct event *event = synth_write(s, w, EVENT_COUNTER, w->now_ns);
		int64_t warm = (int64_t)(w->steps < 40 ? w->steps : 40);

		event->u.counter = (struct event_counter) {
			.series = id, .at_ns = w->now_ns,
			.value = id == 1 ? (int64_t)(w->steps * 7 % 5) :
				 40 + warm + (int64_t)((w->steps + id) % 3),
		};
	}
}

static void define_counters(struct model_synth *s, struct synth_worker *w)
{
	struct event *region = s->profile.layer_bytes ?
			       synth_write(s, w, EVENT_REGION, w->now_ns) : NULL;

	if (region)
		region->u.region = (struct event_region) {
			.allocator = NAME_BUFFER, .device = 1, .address = SYNTH_REGION,
			.bytes = (2 * s->profile.layers + 1) * s->profile.layer_bytes,
		};
	for (unsigned id = 1; id <= 1 + s->profile.devices; id++) {
		struct event *event = synth_write(s, w, EVENT_SERIES, w->now_ns);

		event->u.series = (struct event_series) {
			.id = id, .device = id - 1,
			.name = id == 1 ? "batches waiting" : "temperature",
			.unit = id == 1 ? "" : "°C",
		};
	}
}

void synth_define(struct model_synth *s, struct synth_worker *w)
{
	struct event *event = synth_write(s, w, EVENT_PROCESS, w->now_ns);

	event->u.process = (struct event_process) {
		.schema = EVENT_SCHEMA, .start_ns = w->now_ns, .rank = -1, .world = -1,
		.host = "synth",
		.command = s->profile.generate ? "serve --synthetic" : "train --synthetic",
	};
	event = synth_write(s, w, EVENT_PROBE, w->now_ns);
	event->u.probe = (struct event_probe) {
		.name = s->profile.processor ? "tensorflow" : s->profile.generate ? "pytorch" :
			s->profile.gpu ? "cuda" : "opencl",
		.version = "1", .blind = "",
	};
	if (s->profile.processor) {
		synth_cpu_define(s, w);
		return;
	}
	if (s->profile.generate) {
		synth_generate_define(s, w);
		return;
	}
	if (s->profile.gpu) {
		synth_gpu_define(s, w);
		return;
	}
	for (unsigned d = 1; d <= s->profile.devices; d++) {
		event = synth_write(s, w, EVENT_DEVICE, w->now_ns);
		event->u.device = (struct event_device) {
			.id = d, .index = d - 1, .units = 132, .clock_mhz = 1980, .gpu = 1,
			.api = "opencl", .name = "Synthetic S1", .vendor = "nobody",
			.platform = "none", .driver = "0", .address = "",
		};
		synth_pair(s, w, d);
	}
	for (unsigned q = 1; q <= s->profile.queues; q++) {
		event = synth_write(s, w, EVENT_QUEUE, w->now_ns);
		event->u.queue = (struct event_queue) {
			.id = q, .device = (q - 1) % s->profile.devices + 1, .context = 1,
			.flags = QUEUE_IN_ORDER | QUEUE_PROFILED, .name = "",
		};
	}
	define_names(s, w);
	if (s->profile.counters)
		define_counters(s, w);
	if (s->profile.host)
		synth_host_define(s, w);
	for (unsigned l = 0; l < s->profile.layers && s->profile.layer_bytes; l++)
		synth_alloc(s, w, 64 + l, 0, 0);
}
