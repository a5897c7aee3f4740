/* SPDX-License-Identifier: MIT */
/*
 * The only way into the model: every source of events (live reader, recording, importer,
 * synthetic generator) hands it batches of struct event.
 *
 * Always true:
 *  - A process is a pair of host and pid. Ids inside an event (names, devices, queues, instances,
 *    correlations) belong to that process and count from 1; 0 is none.
 *  - Events may arrive in any order, within a source and across sources; a definition may arrive
 *    after its first use. Impossible values are counted, never fatal.
 *  - Host times are nanoseconds of the host's CLOCK_MONOTONIC; device times are raw ticks; 0
 *    means "not given".
 *  - Strings and arrays are *borrowed until model_apply() returns*; the model copies what it
 *    keeps.
 *
 * docs/schema.md says what the fields mean: each event, except those made by the reader, is a
 * record of probes/schema/records_table.h with the same enums; the order of fields leaves no
 * gaps.
 */
#ifndef MODEL_EVENT_H
#define MODEL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* The enums and their values, which recordings contain, are defined in
 * probes/schema/values_table.h. */
#define ENUM(probe_tag, tag, values) enum tag { values };
#define VALUE(probe_name, name, value) name = (value),
#define PROBE_VALUE(probe_name, value)
#include "probes/schema/values_table.h"

enum event_type {
	EVENT_NONE = 0,
	/* definitions */
	EVENT_PROCESS, EVENT_EXIT, EVENT_PROBE, EVENT_NAME, EVENT_THREAD,
	EVENT_DEVICE, EVENT_QUEUE, EVENT_SHAPE, EVENT_MESSAGE,
	EVENT_NODE, EVENT_STAGE, EVENT_SERIES, EVENT_INFO, EVENT_FRAME,
	/* data */
	EVENT_OP, EVENT_STEP, EVENT_CALL, EVENT_CALLS, EVENT_COMMAND,
	EVENT_LAUNCH, EVENT_RUN,	/* a command in two parts, model/commands/join.h */
	EVENT_ALLOC, EVENT_FREE, EVENT_REGION, EVENT_WAIT, EVENT_COMPILE,
	EVENT_CLOCK, EVENT_FLOW, EVENT_EDGE, EVENT_STAGES, EVENT_POOL, EVENT_COUNTER,
	EVENT_SETTLED, EVENT_LEVEL, EVENT_BEAT,
	/* made by the reader, not by a probe */
	EVENT_LOST,		/* the tracer dropped something */
	EVENT_ALIVE,		/* all sources have been read up to time_ns */
	EVENT_TYPE_COUNT
};

struct event_process {
	uint32_t schema;
	int32_t parent;
	int64_t start_ns, mono_ns, real_ns, raw_ns;
	int32_t rank, world;		/* -1: unknown */
	const char *host, *command;
};

/* reason 0: exit, 1: _exit, 2: exec; status -1: unknown */
struct event_exit { int32_t reason, status; };
struct event_probe { const char *name, *version, *blind; };
struct event_name { uint32_t id; uint8_t kind; const char *text; };
struct event_thread { uint32_t tid; const char *name; };

/* What a kernel can use of a multiprocessor: see struct tft_device; 0: unknown. */
struct event_device {
	uint32_t id, index, units, clock_mhz;
	uint32_t registers_per_unit, registers_per_block, shared_per_unit, shared_per_block;
	uint16_t capability, threads_per_unit, blocks_per_unit;
	uint8_t gpu;			/* 0 cpu, 1 gpu, 2 other */
	uint64_t memory_bytes, bandwidth;	/* bytes, bytes/s */
	const char *api, *name, *vendor, *platform, *driver, *address;
};

struct event_queue {
	uint32_t id, device, context, flags;	/* enum queue_flag */
	const char *name;
	int32_t priority;		/* lower is more urgent, 0 is the default */
};

/* dims 0: there is only `text`, a name: the problem size in a library's own words. registers: per
 * thread; shared_*: bytes per block; 0: unknown. */
struct event_shape {
	uint32_t id, dims;
	uint64_t global[3];
	uint32_t local[3], text;
	uint64_t flop;
	uint32_t registers, shared_static, shared_dynamic;
};
/* level 0: info, 1: warning, 2: error */
struct event_message { uint8_t level; const char *text; };

/*
 * A node of a graph as it runs (after optimisation); a node that is sent again replaces the former
 * one. graph, name, op_type, device, file, function: names; line 0: unknown. origin: how file, line
 * and function were found.
 */
struct event_node {
	uint32_t id, graph, name, op_type, device, file, line, function, origin;
	const char *inputs;		/* "a b:1 ^c", as GraphDef writes them */
	const char *attributes;		/* "key=value" lines */
};

/* A stage of an input pipeline; parent: the stage that takes its elements, which has a lower id. */
struct event_stage {
	uint32_t id, parent;
	int32_t parallelism, buffer;	/* as configured; 0: none, -1: chosen at run time */
	const char *path, *what;	/* "Prefetch::Map::TensorSlice", outermost first */
};

struct event_series { uint32_t id, device; const char *name, *unit; };
struct event_info { const char *scope, *key, *value; };	/* one setting */

/* A line of source in its function (file, function: names), called from the frame `parent`, which
 * has a lower id; parent 0: the caller is unknown. */
struct event_frame { uint32_t id, parent, file, function, line; };

/* dur_ns -1: the op is announced as open; its end follows under the same instance. */
struct event_op {
	uint64_t instance, parent;
	/* of a framework's op: a fingerprint of the data that it copies, 0: none */
	uint64_t payload;
	uint64_t forward;		/* the op whose gradient this is, 0: none */
	int64_t start_ns, dur_ns, step;
	/* how long it waited for a thread of the pool that it was handed to; 0: it was handed to
	 * none */
	int64_t wait_ns;
	uint32_t tid, name, op_type, argb;
	/* domain of a range; of a framework's op: the graph whose node it is */
	uint32_t domain;
	/* frame 0: unknown; shapes: a name, the shapes of its inputs */
	uint32_t frame, shapes;
	uint32_t waker;			/* the thread that handed it over; 0: unknown */
	uint16_t depth;
	uint8_t framework, flags;	/* enum framework, enum op_flag */
};

struct event_step { uint32_t name; int64_t number, start_ns, dur_ns; };

struct event_call {
	uint32_t name, correlation;
	int32_t result;
	int64_t start_ns, dur_ns;
};

/* Calls without an event of their own; total_ns and max_ns -1: the calls were not timed. */
struct event_calls {
	uint32_t name, errors;
	uint64_t count;
	int64_t total_ns, max_ns;
};

struct event_command {
	uint32_t tid, queue, name, correlation, op_name, call_dur_ns;
	/* of kernels: the launch shape; of a P2P copy: the device at the other end; of others: the
	 * place in memory, 0: unknown */
	uint32_t shape;
	uint64_t op;
	int64_t call_ns;
	uint64_t queued_ticks, submit_ticks, start_ticks, end_ticks;
	uint64_t bytes;
	int32_t status;
	uint8_t kind, direction, how, flags;
};

/*
 * A command whose call and whose device record arrive on different paths, in any order. They are
 * joined by correlation (HOW_EXACT), else by object (HOW_EVENT), else by their order on the
 * queue. A correlation names one launch of the process; of a graph (or with CMD_MANY) it names
 * many runs. It is reused, if at all, only when the records of its last use have arrived or are
 * lost. An object is an event object with its generation, so that it names one launch, too.
 */
struct event_launch {
	uint32_t tid, queue, name, shape, correlation, op_name, call_dur_ns;
	uint64_t op, object, bytes;
	int64_t call_ns;
	int32_t status;			/* < 0: the call failed and nothing will run */
	uint8_t kind, direction, flags;	/* CMD_PINNED, CMD_BLOCKING, CMD_MANY */
};

struct event_run {
	uint32_t queue, name, correlation;	/* name 0: the record has none */
	/* of a graph's node: the op that it was captured in, 0: none */
	uint32_t op_name;
	uint32_t shape;	/* as in event_command; 0: the run has the shape of the launch */
	uint64_t object, bytes;
	uint64_t queued_ticks, submit_ticks, start_ticks, end_ticks;
	int32_t status;
	uint8_t kind, direction, flags;	/* CMD_APPROX, CMD_NOTIMES */
};

/* at_ns 0: when the event was written. */
struct event_alloc {
	uint32_t allocator, device, op_name;
	uint64_t address, bytes, op;
	int64_t at_ns;
};
struct event_free { uint32_t allocator; uint64_t address; int64_t at_ns; };

/* Memory that an allocator hands out in pieces, see struct tft_region. bytes 0: the allocator's
 * regions are unknown from now on. */
struct event_region { uint32_t allocator, device; uint64_t address, bytes; uint8_t joined; };

struct event_wait {
	uint32_t name, queue, correlation;
	uint32_t op_name;		/* the op on top of the waiting thread's stack ... */
	uint64_t op;			/* ... and its instance; 0: none */
	int32_t result;
	int64_t start_ns, dur_ns;
};

struct event_compile {
	int64_t start_ns, dur_ns;
	int32_t result;
	const char *what, *options, *log;
};

struct event_clock {
	uint32_t device;
	uint8_t quality;		/* enum clock_quality */
	uint64_t ticks;
	int64_t host_ns, error_ns;
};

/*
 * A message between hosts, reported by both ends: the key is the same at both and is not reused
 * while a message with it is in transit. at_ns: on the writing host's clock, when sending began
 * or when the message had been received. FLOW_MADE is no message: name is an op, bytes the size
 * of its output.
 */
struct event_flow {
	uint32_t name;			/* name of the key's text, 0: none */
	uint64_t key, bytes, op;	/* op: instance that sent or received it; 0: none */
	int64_t at_ns, dur_ns;		/* -1: unknown */
	uint8_t phase;			/* enum flow_phase */
};

/* What a stage of an input pipeline did from begin_ns to end_ns, see struct tft_stages. */
struct event_stages {
	uint32_t stage;
	int32_t parallelism, buffered;	/* in force at the end of that time; -1: unknown */
	uint64_t elements, bytes;
	int64_t total_ns, self_ns, busy_ns, wait_ns, max_ns, begin_ns, end_ns;
};

/* What a thread of a pool did from begin_ns to end_ns, see struct tft_pool. */
struct event_pool {
	uint32_t tid;
	uint64_t closures, with_ops, timed;
	int64_t wait_ns, max_wait_ns, busy_ns, begin_ns, end_ns;
};

struct event_counter { uint32_t series; int64_t at_ns, value; };

/* Data from one op to another of the process, written by the op that takes it, at the latest when
 * that op ends. key: name of the tensor or channel, 0: none. */
struct event_edge { uint64_t from, to, bytes; uint32_t key; };	/* instances */

struct event_settled { int64_t settled_ns; };

/* The process is observed at this level since at_ns; level 0: it is not observed. */
struct event_level_now { int64_t at_ns; uint8_t level; };

struct event_beat {
	uint64_t events, calls, dropped, vendor_dropped;
	int64_t own_ns, mono_ns, real_ns, raw_ns;
};

/* Events were lost between begin_ns and end_ns; count 0: it is unknown how many. If the event has
 * a pid and tid, they name the thread that lost them, and count 0 gives the place of losses that
 * were counted before. */
struct event_lost {
	int64_t begin_ns, end_ns;
	uint64_t count;
	bool packets;			/* whole packets, not single events */
	uint64_t placed;		/* how many of the losses counted before happened here */
};

struct event {
	uint8_t type;			/* enum event_type */
	uint16_t host;			/* index of the source's host, 0 is this one */
	uint32_t pid;			/* 0: EVENT_ALIVE, or EVENT_LOST of an unknown thread */
	uint32_t tid;			/* thread that wrote it */
	uint32_t seq;			/* sequence number in that thread, 0: none */
	int64_t time_ns;		/* when it was written */
	union {
		struct event_process process;
		struct event_exit exit;
		struct event_probe probe;
		struct event_name name;
		struct event_thread thread;
		struct event_device device;
		struct event_queue queue;
		struct event_shape shape;
		struct event_message message;
		struct event_node node;
		struct event_stage stage;
		struct event_series series;
		struct event_info info;
		struct event_frame frame;
		struct event_op op;
		struct event_step step;
		struct event_call call;
		struct event_calls calls;
		struct event_command command;
		struct event_launch launch;
		struct event_run run;
		struct event_alloc alloc;
		struct event_free free;
		struct event_region region;
		struct event_wait wait;
		struct event_compile compile;
		struct event_clock clock;
		struct event_flow flow;
		struct event_stages stages;
		struct event_pool pool;
		struct event_counter counter;
		struct event_edge edge;
		struct event_settled settled;
		struct event_level_now level;
		struct event_beat beat;
		struct event_lost lost;
	} u;
};

#endif
