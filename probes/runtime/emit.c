/* SPDX-License-Identifier: MIT */
/*
 * The only place where events are written. Definitions are sent whenever tftop is there, data only
 * at a level that includes it. seq and the counters advance only when the session has enabled the
 * event, so that a gap in seq always is a loss.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

/* LTTng evaluates an event's fields only when a session records it. */
static _Atomic uint32_t processes_written;

static inline uint32_t count_written(uint32_t value)
{
	atomic_fetch_add_explicit(&processes_written, 1, memory_order_relaxed);
	return value;
}
#define TFT_PROCESS_WRITTEN(value) count_written(value)

#define _LGPL_SOURCE	/* uses inline functions for the reader side of RCU; this file is MIT */
#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "probes/schema/tftop_tp.h"

#include "probes/runtime/internal.h"

/*
 * Returns the calling thread, which is about to write that many events; NULL: they are dropped. A
 * thread's first tracepoint allocates LTTng's thread-local memory. If the program has a malloc of
 * its own that marks ranges, that would lead back here for ever: so events inside of a tracepoint
 * are dropped.
 */
static inline struct rt_thread *rt_emit_enter(uint32_t events)
{
	struct rt_thread *th = rt_self();

	if (__builtin_expect(!th, 0))
		return NULL;
	if (__builtin_expect(th->emitting, 0)) {
		rt_dropped(events);
		return NULL;
	}
	th->emitting = true;
	atomic_signal_fence(memory_order_seq_cst);
	ADD(th->events, events);
	return th;
}

static inline void rt_emit_leave(struct rt_thread *th, int saved_errno)
{
	errno = saved_errno;
	atomic_signal_fence(memory_order_seq_cst);
	th->emitting = false;
}

/* The first of `events` sequence numbers; a tftop that has just come starts at 1. */
static inline uint32_t rt_emit_number(struct rt_thread *th, uint32_t events)
{
	uint32_t arrival = GET(rt_arrivals);

	if (__builtin_expect(th->arrival != arrival, 0)) {
		th->arrival = arrival;
		th->seq = 0;
	}
	th->seq += events;
	return th->seq - events + 1;
}

/* Sends an event to every session that records it. `prepare` runs just before, with thread th_. */
#define EMIT(event, record, events, prepare) do { \
	if (lttng_ust_tracepoint_enabled(tftop, event)) { \
		int saved_ = errno; \
		struct rt_thread *th_ = rt_emit_enter(events); \
		if (__builtin_expect(th_ != NULL, 1)) { \
			prepare; \
			lttng_ust_do_tracepoint(tftop, event, record); \
			rt_emit_leave(th_, saved_); \
		} \
	} \
} while (0)

/* Sends `count` events in one record, with sequence numbers. */
#define EMIT_NUMBERED(condition, event, record, count) do { \
	if (condition) \
		EMIT(event, record, count, (record)->seq = rt_emit_number(th_, count)); \
} while (0)

/* Without a sequence number, whenever tftop is there. */
#define EMIT_PLAIN(event, record) do { \
	if (GET(rt_armed)) \
		EMIT(event, record, 1, ); \
} while (0)

bool rt_enabled(void)
{
	return lttng_ust_tracepoint_enabled(tftop, def_process) &&
	       lttng_ust_tracepoint_enabled(tftop, ev_beat);
}

bool rt_emit_process(const struct tft_process *r)
{
	uint32_t before = GET(processes_written);

	EMIT(def_process, r, 1, );
	return GET(processes_written) != before;
}

#define WRITES_PLAIN(function, record, event) \
	void function(const struct tft_##record *r) \
	{ \
		EMIT_PLAIN(event, r); \
	}

WRITES_PLAIN(rt_emit_exit, exit, def_exit)
WRITES_PLAIN(rt_emit_probe, probe, def_probe)
WRITES_PLAIN(rt_emit_name, name, def_name)
WRITES_PLAIN(rt_emit_thread, thread, def_thread)
WRITES_PLAIN(rt_emit_shape, shape, def_shape)
WRITES_PLAIN(rt_emit_frame, frame, def_frame)
WRITES_PLAIN(rt_emit_node, node, def_node)
WRITES_PLAIN(rt_emit_stage, stage, def_stage)
WRITES_PLAIN(rt_emit_series, series, def_series)
WRITES_PLAIN(rt_emit_calls, calls, ev_calls)
WRITES_PLAIN(rt_emit_settled, settled, ev_settled)
WRITES_PLAIN(rt_emit_level, level_now, ev_level)
WRITES_PLAIN(rt_emit_taken, taken, ev_taken)
WRITES_PLAIN(rt_emit_bare, bare, ev_bare)
WRITES_PLAIN(rt_emit_cost, cost, ev_cost)
WRITES_PLAIN(rt_emit_doing, doing, ev_doing)
WRITES_PLAIN(rt_emit_beat, beat, ev_beat)

void rt_emit_device(const struct tft_device *device)
{
	rt_tap_device(device);
	EMIT_PLAIN(def_device, device);
}

void rt_emit_queue(const struct tft_queue *queue)
{
	rt_tap_queue(queue);
	EMIT_PLAIN(def_queue, queue);
}

void rt_emit_clock(const struct tft_clock *clock)
{
	rt_tap_clock(clock);
	EMIT_PLAIN(ev_clock, clock);
}

void rt_emit_info(const char *scope, const char *key, const char *value)
{
	struct tft_info i = { .scope = scope, .key = key, .value = value };

	EMIT_PLAIN(def_info, &i);
}

void rt_emit_message(uint8_t level, const char *text)
{
	struct tft_message m = { .level = level, .text = text };

	EMIT_PLAIN(def_message, &m);
}

/* From a level up. */
#define WRITES_DATA(function, record, event, least) \
	void function(struct tft_##record *r) \
	{ \
		EMIT_NUMBERED(rt_level() >= (least), event, r, 1); \
	}

WRITES_DATA(rt_emit_op, op, ev_op, TFT_LEVEL_DEFAULT)
WRITES_DATA(rt_emit_call, call, ev_call, TFT_LEVEL_DEFAULT)
WRITES_DATA(rt_emit_step, step, ev_step, TFT_LEVEL_MIN)
WRITES_DATA(rt_emit_request, request, ev_request, TFT_LEVEL_DEFAULT)
WRITES_DATA(rt_emit_alloc, alloc, ev_alloc, TFT_LEVEL_DEFAULT)
WRITES_DATA(rt_emit_free, free, ev_free, TFT_LEVEL_DEFAULT)
WRITES_DATA(rt_emit_region, region, ev_region, TFT_LEVEL_DEFAULT)
WRITES_DATA(rt_emit_wait, wait, ev_wait, TFT_LEVEL_DEFAULT)
WRITES_DATA(rt_emit_compile, compile, ev_compile, TFT_LEVEL_DEFAULT)
WRITES_DATA(rt_emit_flow, flow, ev_flow, TFT_LEVEL_MIN)
WRITES_DATA(rt_emit_counter, counter, ev_counter, TFT_LEVEL_DEFAULT)
/* Told at any level: what was counted before it went off. */
WRITES_DATA(rt_emit_stages, stages, ev_stages, TFT_LEVEL_OFF)
WRITES_DATA(rt_emit_pool, pool, ev_pool, TFT_LEVEL_OFF)

/* What began at a level that asked for it: also after the level sank. */
void rt_emit_ops(struct tft_ops *ops)
{
	EMIT_NUMBERED(GET(rt_armed), ev_ops, ops, ops->count);
}

void rt_emit_command(struct tft_command *command)
{
	if (__builtin_expect(GET(rt_tap_now), 0))
		rt_tap_add(command);
	EMIT_NUMBERED(GET(rt_armed), ev_command, command, 1);
}

void rt_emit_launch(struct tft_launch *launch)
{
	EMIT_NUMBERED(GET(rt_armed), ev_launch, launch, 1);
}

void rt_emit_run(struct tft_run *run)
{
	EMIT_NUMBERED(GET(rt_armed), ev_run, run, 1);
}
