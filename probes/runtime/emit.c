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
 * A thread's first tracepoint allocates LTTng's thread-local memory. If the program has a malloc of
 * its own that marks ranges, that would lead back here for ever: so what happens inside a
 * tracepoint is dropped.
 */
static inline bool enter(struct rt_thread *th)
{
	if (__builtin_expect(th->emitting, 0)) {
		rt_dropped(1);
		return false;
	}
	th->emitting = true;
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

static inline void leave(struct rt_thread *th)
{
	atomic_signal_fence(memory_order_seq_cst);
	th->emitting = false;
}

/* A tftop that has just come has seen none of this thread's events. */
static inline uint32_t *numbers(struct rt_thread *th)
{
	uint32_t arrival = GET(rt_arrivals);

	if (__builtin_expect(th->arrival != arrival, 0)) {
		th->arrival = arrival;
		th->seq = 0;
	}
	return &th->seq;
}

/* Sends an event with a sequence number. */
#define EMIT_IF(condition, event, record) do { \
	if ((condition) && lttng_ust_tracepoint_enabled(tftop, event)) { \
		struct rt_thread *th_ = rt_self();	/* without a thread state: dropped */ \
		if (__builtin_expect(th_ != NULL, 1) && enter(th_)) { \
			int saved_ = errno; \
			(record)->seq = ++*numbers(th_); \
			ADD(th_->events, 1); \
			lttng_ust_do_tracepoint(tftop, event, record); \
			errno = saved_; \
			leave(th_); \
		} \
	} \
} while (0)

/* From level `min` up. */
#define EMIT_DATA(event, record, min) EMIT_IF(rt_level() >= (min), event, record)

/* For what started at a level that includes it: sent also after the level was lowered. */
#define EMIT_BEGUN(event, record) EMIT_IF(GET(rt_armed), event, record)

/* Without a sequence number, whenever tftop is there. */
#define EMIT_PLAIN(event, record) do { \
	if (GET(rt_armed)) \
		EMIT_ENABLED(event, record); \
} while (0)

/* Without a sequence number, to any session that records it. */
#define EMIT_ENABLED(event, record) do { \
	if (lttng_ust_tracepoint_enabled(tftop, event)) { \
		struct rt_thread *th_ = rt_self();	/* without a thread state: dropped */ \
		if (__builtin_expect(th_ != NULL, 1) && enter(th_)) { \
			int saved_ = errno; \
			ADD(th_->events, 1); \
			lttng_ust_do_tracepoint(tftop, event, record); \
			errno = saved_; \
			leave(th_); \
		} \
	} \
} while (0)

bool rt_enabled(void)
{
	return lttng_ust_tracepoint_enabled(tftop, def_process) &&
	       lttng_ust_tracepoint_enabled(tftop, ev_beat);
}

bool rt_emit_process(const struct tft_process *r)
{
	uint32_t before = GET(processes_written);

	EMIT_ENABLED(def_process, r);
	return GET(processes_written) != before;
}

void rt_emit_exit(const struct tft_exit *r)
{
	EMIT_PLAIN(def_exit, r);
}

void rt_emit_probe(const struct tft_probe *r)
{
	EMIT_PLAIN(def_probe, r);
}

void rt_emit_name(const struct tft_name *r)
{
	EMIT_PLAIN(def_name, r);
}

void rt_emit_thread(const struct tft_thread *r)
{
	EMIT_PLAIN(def_thread, r);
}

void rt_emit_shape(const struct tft_shape *r)
{
	EMIT_PLAIN(def_shape, r);
}

void rt_emit_frame(const struct tft_frame *r)
{
	EMIT_PLAIN(def_frame, r);
}

void rt_emit_device(const struct tft_device *device)
{
	struct tft_device d = *device;

	d.api = d.api ? d.api : "";
	d.name = d.name ? d.name : "";
	d.vendor = d.vendor ? d.vendor : "";
	d.platform = d.platform ? d.platform : "";
	d.driver = d.driver ? d.driver : "";
	d.address = d.address ? d.address : "";
	rt_tap_device(&d);
	EMIT_PLAIN(def_device, &d);
}

void rt_emit_queue(const struct tft_queue *queue)
{
	struct tft_queue q = *queue;

	q.name = q.name ? q.name : "";
	rt_tap_queue(&q);
	EMIT_PLAIN(def_queue, &q);
}

void rt_emit_node(const struct tft_node *node)
{
	struct tft_node n = *node;

	n.inputs = n.inputs ? n.inputs : "";
	n.attributes = n.attributes ? n.attributes : "";
	EMIT_PLAIN(def_node, &n);
}

void rt_emit_stage(const struct tft_stage *stage)
{
	struct tft_stage s = *stage;

	s.path = s.path ? s.path : "";
	s.what = s.what ? s.what : "";
	EMIT_PLAIN(def_stage, &s);
}

void rt_emit_series(const struct tft_series *series)
{
	struct tft_series s = *series;

	s.name = s.name ? s.name : "";
	s.unit = s.unit ? s.unit : "";
	EMIT_PLAIN(def_series, &s);
}

void rt_emit_info(const char *scope, const char *key, const char *value)
{
	struct tft_info i = {
		.scope = scope ? scope : "", .key = key ? key : "", .value = value ? value : ""
	};

	EMIT_PLAIN(def_info, &i);
}

void rt_emit_message(uint8_t level, const char *text)
{
	struct tft_message m = { .level = level, .text = text ? text : "" };

	EMIT_PLAIN(def_message, &m);
}

void rt_emit_op(struct tft_op *r)
{
	EMIT_DATA(ev_op, r, TFT_LEVEL_DEFAULT);
}

/* Also sends what was gathered before the level was lowered. */
void rt_emit_ops(struct tft_ops *r)
{
	struct rt_thread *th;
	int saved = errno;

	if (!GET(rt_armed) || !lttng_ust_tracepoint_enabled(tftop, ev_ops))
		return;
	th = rt_self();
	if (!th || !enter(th))
		return;
	r->seq = *numbers(th) + 1;
	th->seq += r->count;
	ADD(th->events, r->count);
	lttng_ust_do_tracepoint(tftop, ev_ops, r);
	errno = saved;
	leave(th);
}

void rt_emit_call(struct tft_call *r)
{
	EMIT_DATA(ev_call, r, TFT_LEVEL_DEFAULT);
}

void rt_emit_step(struct tft_step *step)
{
	EMIT_DATA(ev_step, step, TFT_LEVEL_MIN);
}

void rt_emit_command(struct tft_command *command)
{
	if (__builtin_expect(GET(rt_tap_now), 0))
		rt_tap_add(command);
	EMIT_BEGUN(ev_command, command);
}

void rt_emit_launch(struct tft_launch *launch)
{
	EMIT_BEGUN(ev_launch, launch);
}

void rt_emit_run(struct tft_run *run)
{
	EMIT_BEGUN(ev_run, run);
}

void rt_emit_alloc(struct tft_alloc *alloc)
{
	EMIT_DATA(ev_alloc, alloc, TFT_LEVEL_DEFAULT);
}

void rt_emit_free(struct tft_free *free_record)
{
	EMIT_DATA(ev_free, free_record, TFT_LEVEL_DEFAULT);
}

void rt_emit_region(struct tft_region *region)
{
	EMIT_DATA(ev_region, region, TFT_LEVEL_DEFAULT);
}

void rt_emit_wait(struct tft_wait *wait)
{
	EMIT_DATA(ev_wait, wait, TFT_LEVEL_DEFAULT);
}

void rt_emit_compile(struct tft_compile *compile)
{
	struct tft_compile c = *compile;

	c.what = c.what ? c.what : "";
	c.options = c.options ? c.options : "";
	c.log = c.log ? c.log : "";
	EMIT_DATA(ev_compile, &c, TFT_LEVEL_DEFAULT);
	compile->seq = c.seq;
}

void rt_emit_flow(struct tft_flow *flow)
{
	EMIT_DATA(ev_flow, flow, TFT_LEVEL_MIN);
}

/* Sent at any level, because it was counted before the level went off. */
void rt_emit_stages(struct tft_stages *stages)
{
	EMIT_DATA(ev_stages, stages, TFT_LEVEL_OFF);
}

void rt_emit_pool(struct tft_pool *pool)
{
	EMIT_DATA(ev_pool, pool, TFT_LEVEL_OFF);
}

void rt_emit_counter(struct tft_counter *counter)
{
	EMIT_DATA(ev_counter, counter, TFT_LEVEL_DEFAULT);
}

void rt_emit_clock(const struct tft_clock *clock)
{
	rt_tap_clock(clock);
	EMIT_PLAIN(ev_clock, clock);
}

void rt_emit_calls(const struct tft_calls *r)
{
	EMIT_PLAIN(ev_calls, r);
}

void rt_emit_settled(const struct tft_settled *r)
{
	EMIT_PLAIN(ev_settled, r);
}

void rt_emit_level(const struct tft_level_now *r)
{
	EMIT_PLAIN(ev_level, r);
}

void rt_emit_beat(const struct tft_beat *r)
{
	EMIT_PLAIN(ev_beat, r);
}
