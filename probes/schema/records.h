/* SPDX-License-Identifier: MIT */
/*
 * Everything that may cross the wire, field by field. tftop-tp.h maps each
 * struct to one LTTng event of the provider "tftop"; probes/session/decode
 * turns it back. Change a struct, the mapping and the decoder together and
 * raise TFT_SCHEMA_VERSION.
 *
 * Always true:
 *  - Host times (_ns) are CLOCK_MONOTONIC nanoseconds of the program's host.
 *    Device times (_ticks) are as the driver gave them; 0 means "not given".
 *  - Ids (names, devices, queues, shapes, instances, correlations) are counted
 *    per process from 1; 0 means none. A forked child starts new ones, except
 *    of names and shapes, and sends its definitions again. The process is the event's vpid context,
 *    the writing thread its vtid context.
 *  - seq counts the events of the writing thread from 1, so that a loss has an
 *    exact place; each op and kernel of a tft_ops counts.
 *  - Definitions (def_*) go to the channel "meta", all else to "events":
 *    a flood on the second cannot starve the first. The two are not ordered
 *    to each other: an id may be used before its definition arrives.
 *  - Strings are cut to TFT_TEXT_MAX bytes, control characters kept as they are.
 */
#ifndef PROBES_SCHEMA_RECORDS_H
#define PROBES_SCHEMA_RECORDS_H

#include <stdint.h>

#define TFT_SCHEMA_VERSION 8u
#define TFT_TEXT_MAX 4096
#define TFT_CHANNEL_META "meta"
#define TFT_CHANNEL_EVENTS "events"

/* What a command on a queue does. */
enum tft_kind {
	TFT_KIND_NONE = 0,
	TFT_KIND_KERNEL,	/* NDRange kernel or task */
	TFT_KIND_COPY,		/* read, write, copy of buffers, rectangles, images, SVM */
	TFT_KIND_FILL,
	TFT_KIND_MAP,
	TFT_KIND_UNMAP,
	TFT_KIND_MARKER,
	TFT_KIND_BARRIER,
	TFT_KIND_NATIVE,	/* native (host function) kernel */
	TFT_KIND_MIGRATE,
	TFT_KIND_GRAPH,		/* a whole command buffer or graph */
	TFT_KIND_OTHER,
	TFT_KIND_COUNT
};

/* Where bytes went; only for COPY, FILL, MAP, UNMAP, MIGRATE. */
enum tft_direction {
	TFT_DIR_NONE = 0,
	TFT_DIR_H2D, TFT_DIR_D2H, TFT_DIR_D2D, TFT_DIR_P2P, TFT_DIR_H2H,
	TFT_DIR_FILL, TFT_DIR_MAP, TFT_DIR_UNMAP,
	TFT_DIR_SEND, TFT_DIR_RECV,
	TFT_DIR_COUNT
};

/* How a run was joined to its launch, and so to its op. */
enum tft_how {
	TFT_HOW_NONE = 0,
	TFT_HOW_EXACT,		/* an id carried by the device record */
	TFT_HOW_EVENT,		/* an event object */
	TFT_HOW_FIFO,		/* order on an in-order queue */
	TFT_HOW_GUESS,
	TFT_HOW_COUNT
};

enum tft_name_kind {
	TFT_NAME_OTHER = 0,
	TFT_NAME_KERNEL, TFT_NAME_OP, TFT_NAME_OP_TYPE, TFT_NAME_RANGE,
	TFT_NAME_DOMAIN, TFT_NAME_CALL, TFT_NAME_ALLOCATOR,
	TFT_NAME_NODE,		/* of a graph, as written there */
	TFT_NAME_SOURCE,	/* a file or a function of the program's source */
	TFT_NAME_KEY,		/* of data that moves: a tensor, a rendezvous key */
	TFT_NAME_SHAPES,	/* of an op's inputs: "[64, 3, 32, 32] f32, [16, 3, 3, 3] f32" */
	TFT_NAME_COUNT
};

enum tft_framework {
	TFT_FW_NONE = 0, TFT_FW_NVTX, TFT_FW_ITT, TFT_FW_OPENCL,
	TFT_FW_TENSORFLOW, TFT_FW_PYTORCH, TFT_FW_JAX, TFT_FW_ONEDNN,
	TFT_FW_COUNT
};

/* tft_flow.phase: a message is told by both its ends, each as far as it knows. */
enum tft_flow_phase {
	TFT_FLOW_SENT = 0,	/* at_ns: sending began */
	TFT_FLOW_RECEIVED,	/* at_ns: it had been received; dur_ns: waited for it until then */
	TFT_FLOW_ENCODED,	/* on the sender's side: at_ns begin, dur_ns how long */
	TFT_FLOW_DECODED,	/* on the receiver's */
	TFT_FLOW_MADE,		/* no message: name is that of an op, whose output has so many bytes */
	TFT_FLOW_COUNT
};

/* tft_op.flags */
#define TFT_OP_RANGE	0x01u	/* the user's own range (NVTX, ITT, ...) */
#define TFT_OP_INNER	0x02u	/* a launch or an op happened inside */
#define TFT_OP_ASYNC	0x04u	/* start/end by id, not on a thread's stack */
#define TFT_OP_COLOUR	0x08u	/* argb is set */
#define TFT_OP_MARK	0x10u	/* an instant: dur_ns is 0 and means nothing */
#define TFT_OP_SIGNED	0x20u	/* payload is an int64_t */
#define TFT_OP_REAL	0x40u	/* payload holds the bits of a double */
#define TFT_OP_CUT	0x80u	/* its end was not seen: open until the level went off or its
				 * thread ended, which is what dur_ns says */

/* tft_command.flags */
#define TFT_CMD_APPROX	0x01u	/* start/end are host callback times, in ns, not ticks */
#define TFT_CMD_OPEN	0x02u	/* announcement: enqueued, not finished yet, no device times */
#define TFT_CMD_PINNED	0x04u	/* host memory of the transfer is the driver's: pinned or mapped */
#define TFT_CMD_BLOCKING 0x08u	/* the call waited for the command */
#define TFT_CMD_NOTIMES	0x10u	/* finished, but the driver gave no times */
#define TFT_CMD_MANY	0x20u	/* a launch whose correlation several runs carry, as a graph's */

/* tft_queue.flags */
#define TFT_QUEUE_IN_ORDER	0x01u
#define TFT_QUEUE_PROFILED	0x02u	/* device times are there ... */
#define TFT_QUEUE_FORCED	0x04u	/* ... because the probe asked for them */
#define TFT_QUEUE_FOUND		0x08u	/* older than its probe: its first launches were not seen */
#define TFT_QUEUE_DEFAULT	0x10u	/* the one that work goes to where the program names none */

/* ---- definitions: channel "meta" ---- */

/* Sent when the first probe of a process arms, again after fork and on a
 * dump request. Three clocks read back to back. */
struct tft_process {
	uint32_t schema;	/* TFT_SCHEMA_VERSION */
	int32_t parent;		/* parent's pid as the process sees it */
	int64_t start_ns;	/* when the process started (from /proc/self/stat) */
	int64_t mono_ns, real_ns, raw_ns;
	int32_t rank, world;	/* of a distributed job, -1: unknown */
	const char *host;
	const char *command;	/* command line, arguments joined by spaces */
};

/* The process is about to end or to exec; best effort. */
struct tft_exit {
	int32_t reason;		/* 0 exit, 1 _exit, 2 exec */
	int32_t status;		/* exit status where known, else -1 */
};

struct tft_probe {
	const char *name;	/* "opencl", "nvtx", ... */
	const char *version;
	const char *blind;	/* what it cannot see, one sentence; "" when nothing */
};

struct tft_name {
	uint32_t id;
	uint8_t kind;		/* enum tft_name_kind */
	const char *text;
};

struct tft_thread {
	uint32_t tid;
	const char *name;
};

/* Far from the ids of probes' devices and queues: those that the runtime defines for
 * the processor count from here, the device first. */
#define TFT_OWN_IDS 0x40000000u

/* Correlations that are a vendor's own have this bit: those of the runtime count from 1. */
#define TFT_CORRELATION_CUPTI 0x80000000u

struct tft_device {
	uint32_t id;
	uint8_t gpu;		/* 0 cpu, 1 gpu, 2 accelerator or other */
	uint32_t index;		/* within its platform */
	uint32_t units;		/* compute units / SMs; 0 unknown */
	uint32_t clock_mhz;
	uint64_t memory_bytes;
	/* What a kernel can have of it; "unit" is a multiprocessor. 0: not known. */
	uint32_t capability;	/* CUDA's compute capability, 10 * major + minor; up to 65535 ... */
	uint32_t threads_per_unit, blocks_per_unit;	/* ... on the wire, these too */
	uint32_t registers_per_unit, registers_per_block;
	uint32_t shared_per_unit, shared_per_block;	/* bytes; per block: without opting in */
	uint64_t bandwidth;	/* of its memory, bytes/s at most */
	const char *api;	/* "opencl", "cuda" */
	const char *name, *vendor, *platform, *driver;
	const char *address;	/* PCI address or UUID, "" unknown */
};

struct tft_queue {
	uint32_t id;		/* counts queues of the process in creation order, from 1;
				 * the processor's from TFT_OWN_IDS + 1 */
	uint32_t device;
	uint32_t context;
	uint32_t flags;		/* TFT_QUEUE_* */
	int32_t priority;	/* CUDA's: lower is more urgent, 0 the usual one */
	const char *name;	/* the user's, "" none */
};

/* Launch geometry, interned: most programs use few. */
struct tft_shape {
	uint32_t id;
	uint32_t dims;		/* 1..3; 0: only text */
	uint64_t global[3];	/* work items (OpenCL) or grid blocks x block threads (CUDA) */
	uint32_t local[3];	/* work-group or block size; 0: the driver chose */
	uint32_t text;		/* name id: a problem size in the library's own words, 0 none */
	uint64_t flop;		/* floating-point operations of one launch, 0 not known */
	uint32_t registers;	/* per thread (work item), 0 not known */
	uint32_t shared_static, shared_dynamic;	/* bytes per block, as it was built and as launched */
};

/* A line of the program's source in its function, and who called that: parent 0
 * where only the line is told. A torch.nn.Module that was called stands between them, with
 * its class as the function, and without a line; a line alone has the modules that it was in
 * and that it called. */
#define TFT_FRAME_MODULE "nn.Module"
struct tft_frame {
	uint32_t id, parent;	/* per process, from 1; parent is a lower id */
	uint32_t file, function;	/* name ids */
	uint32_t line;
};

/* How a node's line was found. */
enum tft_origin {
	TFT_ORIGIN_NONE,	/* it was not */
	TFT_ORIGIN_EXACT,	/* of the node itself, as it was made */
	TFT_ORIGIN_NAME,	/* of the one that its name says it was made of, or is a part of */
	TFT_ORIGIN_CALL,	/* an argument or result: of its function's first call */
	TFT_ORIGIN_FIRST,	/* an eager op: of the first of its type */
	TFT_ORIGIN_COUNT
};

/* A node of a graph as it runs, after optimisation. A node sent again replaces
 * the one of the same id. */
struct tft_node {
	uint32_t id;		/* per process, from 1 */
	uint32_t graph, name, type, device;	/* name ids: graph is a function's or session's */
	uint32_t file, line, function;	/* of the user's source; file, function: name ids; 0 unknown */
	uint32_t origin;	/* enum tft_origin, of these */
	const char *inputs;	/* as GraphDef writes them, blanks between: "a b:1 ^c" */
	const char *attributes;	/* "key=value" lines */
};

/* A stage of an input pipeline. */
struct tft_stage {
	uint32_t id;		/* per process, from 1 */
	uint32_t parent;	/* the stage that takes its elements, a lower id; 0: the program */
	int32_t parallelism;	/* calls at once as configured; 0 not parallel, -1 chosen at run time */
	int32_t buffer;		/* elements it may hold; 0 none, -1 chosen at run time */
	const char *path;	/* "Prefetch::ParallelMap::TensorSlice", outermost first */
	const char *what;	/* its kind, its name in the graph: "ParallelMapDatasetV2:2" */
};

/* What a series of counters is of. */
struct tft_series {
	uint32_t id;		/* per process, from 1 */
	uint32_t device;	/* 0: of the process */
	const char *name;	/* "fragmentation", "queued ops" */
	const char *unit;	/* of tft_counter.value: "bytes", "1/1000", "" a count */
};

/* How the program, a framework or a library is set up: shown by ri. The same
 * scope and key again replaces. */
struct tft_info {
	const char *scope;	/* "tensorflow" */
	const char *key, *value;
};

struct tft_message {
	uint8_t level;		/* 0 info, 1 warning, 2 error */
	const char *text;
};

/* ---- data: channel "events" ---- */

/* A finished op or range (or a mark) that is written alone (else: tft_ops). Also
 * the announcement of one that has been open for 10 ms: then dur_ns is -1 and the
 * same instance follows later, in the one event or the other. */
struct tft_op {
	uint32_t seq;
	uint32_t tid;		/* thread it began on */
	uint64_t instance, parent;
	uint32_t name, type;	/* name ids; type 0: none */
	uint32_t domain;	/* name id of the range's domain; of a framework's op the graph
				 * whose node it is; 0 none */
	uint32_t argb;
	int64_t start_ns, dur_ns;
	int64_t step;		/* step id, -1 none */
	uint64_t payload;	/* of a range: the user's; of a framework's op: a fingerprint of the
				 * data that it copies; 0 none */
	uint64_t forward;	/* instance of the op whose gradient this is, 0 none */
	uint32_t frame;		/* where in the program it was called (tft_frame), 0 not known */
	uint32_t shapes;	/* name id: of its inputs, 0 not told */
	int64_t wait_ns;	/* it was handed to a thread pool and waited so long for a thread,
				 * at most TFT_WAIT_MAX; 0: it was not */
	uint32_t waker;		/* tid of the thread that handed it over, 0 not known */
	uint16_t depth;		/* on its thread's stack, 0 outermost */
	uint8_t framework;	/* enum tft_framework */
	uint8_t flags;		/* TFT_OP_* */
};

/*
 * Finished ops of one thread, kernels that the processor ran on it and its memory, in one event:
 * what one costs the program goes by the fields that the tracer writes, each by a call
 * of its own. seq is the first one's, the others' follow. Each op is in 3 to 9 words,
 * lowest bits first:
 *
 *	has:8 flags:8 name:24 type:24
 *	start:32 dur:32			start_ns - base_ns, signed; dur_ns
 *	framework:8 depth:8 parent:28 instance:20
 *					instance - parent, 0: none;
 *					instance - that of the op before, signed
 *	TFT_OPS_STEP: step
 *	TFT_OPS_LOOK: domain:32 argb:32
 *	TFT_OPS_PAYLOAD: payload
 *	TFT_OPS_PLACE: frame:32 shapes:32
 *	TFT_OPS_FORWARD: forward
 *	TFT_OPS_HANDED: wait_ns:40 waker:24
 *
 * Without TFT_OPS_STEP, _LOOK or _PLACE they are those of the op before; before the
 * first come instance `instance`, step -1, and 0 for the others. An op with a value
 * that does not fit there is in 12 words, whose has is TFT_OPS_WHOLE alone:
 *
 *	has:8 flags:8 depth:16 name:32, instance, parent, start_ns, dur_ns, step,
 *	payload, domain:32 argb:32, type:32 framework:8 0:24, frame:32 shapes:32,
 *	forward, wait_ns:40 waker:24
 *
 * A kernel is a tft_command of that thread which has no call, and times in ns: in 2 to
 * 4 words, of which has TFT_OPS_KERNEL. Without TFT_OPS_RAN_IN or _RAN_ON they are
 * those of the kernel before, 0 before the first:
 *
 *	has:8 0:8 name:24 shape:24
 *	start:32 dur:32			as an op's
 *	TFT_OPS_RAN_IN: op		HOW_EXACT, 0: none
 *	TFT_OPS_RAN_ON: queue:32 op_name:32
 *
 * What that thread allocated (a tft_alloc) or gave back (a tft_free) is in 3 to 5
 * words, of which has all of TFT_OPS_MEMORY; of what is given back only the allocator
 * and the address are told. Its time, to have these of all threads in order, is its own.
 *
 *	has:8 0:8 allocator:24 op_name:24
 *	at:32 bytes:32			at_ns - base_ns, signed
 *	address
 *	TFT_OPS_RAN_IN: op		that of the kernel or the allocation before
 *	TFT_OPS_DEVICE: device		that of the allocation before
 */
struct tft_ops {
	uint32_t seq;
	uint32_t tid;		/* thread they began on */
	uint32_t count;		/* of all, 1..TFT_OPS_MAX */
	uint32_t n_words;	/* up to TFT_OPS_WORDS */
	int64_t base_ns;
	uint64_t instance;
	const uint64_t *words;
};

#define TFT_OPS_MAX 32
#define TFT_OPS_WORDS 192		/* at most 255: their number is a byte on the wire */
#define TFT_OPS_STEP	0x01u
#define TFT_OPS_LOOK	0x02u
#define TFT_OPS_PAYLOAD	0x04u
#define TFT_OPS_PLACE	0x08u
#define TFT_OPS_FORWARD	0x10u
#define TFT_OPS_HANDED	0x20u
#define TFT_OPS_KERNEL	0x40u
#define TFT_OPS_RAN_IN	0x01u	/* beside TFT_OPS_KERNEL only */
#define TFT_OPS_RAN_ON	0x02u
#define TFT_OPS_WHOLE	0x80u
#define TFT_OPS_MEMORY	0xc0u
#define TFT_OPS_FREE	0x02u	/* beside TFT_OPS_MEMORY only, as the next */
#define TFT_OPS_DEVICE	0x04u
#define TFT_OPS_WHOLE_WORDS 12

/* Of wait_ns and waker, as one word; a tid of Linux has 22 bits. */
#define TFT_WAIT_MAX ((INT64_C(1) << 40) - 1)
#define TFT_WAKER_SHIFT 40

/* An explicit step of the program, or one run of a framework's function, which
 * has no number of its own. */
struct tft_step {
	uint32_t seq;
	uint32_t name;
	int64_t number;		/* -1: a run */
	int64_t start_ns, dur_ns;
};

/* A finished API call: every one at full, those of 10 us and more at default. */
struct tft_call {
	uint32_t seq;
	uint32_t name;
	int64_t start_ns, dur_ns;
	uint32_t correlation;
	int32_t result;		/* the API's own code; 0 is success */
};

/* Calls of one function that had no event of their own, since the last beat. */
struct tft_calls {
	uint32_t name;
	uint32_t errors;
	uint64_t count;
	int64_t total_ns, max_ns;	/* -1: not timed, only counted */
};

/*
 * One command of a queue: launch and device record in one, written when it is
 * finished (or, with TFT_CMD_OPEN, when it has been in flight for 10 ms; the
 * full record follows with the same correlation). 93 bytes.
 */
struct tft_command {
	uint32_t seq;
	uint32_t tid;		/* thread that enqueued it */
	uint32_t queue, name;
	uint32_t shape;		/* of kernels; of a copy to another device (P2P) that one's id; else
				 * a number for the place in memory: equal for the same offset of the
				 * same object, 0 not known */
	uint32_t correlation;	/* per process */
	uint64_t op;		/* instance on top of the launching thread's stack, 0 none */
	uint32_t op_name;
	uint32_t call_dur_ns;	/* of the enqueue call, saturates at 4.29 s; its call event is exact */
	int64_t call_ns;	/* start of the enqueue call */
	uint64_t queued_ticks, submit_ticks, start_ticks, end_ticks;
	uint64_t bytes;
	int16_t status;		/* 0 done, < 0 the API's error: it never ran */
	uint8_t kind, direction, how, flags;
};

/*
 * A command whose call and whose device record come on different ways: both name
 * it by correlation, else by object, else the queue's order does (model/event.h).
 * A correlation is one launch's until its last run has come; an object is an event
 * object with its generation.
 */
struct tft_launch {
	uint32_t seq;
	uint32_t tid;		/* thread that called */
	uint32_t queue, name, shape, correlation;
	uint32_t op_name;
	uint32_t call_dur_ns;
	uint64_t op, object, bytes;
	int64_t call_ns;
	int16_t status;		/* < 0: the call failed, nothing will run */
	uint8_t kind, direction, flags;	/* TFT_CMD_PINNED, _BLOCKING, _MANY */
};

struct tft_run {
	uint32_t seq;
	uint32_t queue, name;	/* name 0: the record has none */
	uint32_t correlation;
	uint32_t op_name;	/* of a graph's node: the op on top when it was captured, 0 not known */
	uint32_t shape;		/* as tft_command's; 0: the launch's */
	uint64_t object, bytes;
	uint64_t queued_ticks, submit_ticks, start_ticks, end_ticks;
	int16_t status;
	uint8_t kind, direction, flags;	/* TFT_CMD_APPROX, _NOTIMES, _PINNED */
};

struct tft_alloc {
	uint32_t seq;
	uint32_t allocator;	/* name id */
	uint32_t device;
	uint32_t op_name;
	uint64_t address, bytes, op;
	int64_t at_ns;		/* 0: when the event was written */
};

struct tft_free {
	uint32_t seq;
	uint32_t allocator;
	uint64_t address;
	int64_t at_ns;		/* 0: when the event was written */
};

/*
 * Memory that an allocator has got from elsewhere to hand out in pieces (tft_alloc):
 * what of it is in no piece is free, and neighbouring free pieces are one.
 */
struct tft_region {
	uint32_t seq;
	uint32_t allocator;	/* name id */
	uint32_t device;
	uint64_t address;
	uint64_t bytes;		/* 0: which regions there are, or which pieces are allocated, is
				 * not known any more */
	uint8_t joined;		/* 1: one with the region that ends at its address */
};

/* A blocking call and what it waited for. */
struct tft_wait {
	uint32_t seq;
	uint32_t name;		/* the API function */
	int64_t start_ns, dur_ns;
	uint32_t queue;		/* 0: events */
	uint32_t correlation;	/* of the last command waited for, 0 unknown */
	uint32_t op_name;	/* who waits: the op on top of the thread's stack, 0 none */
	uint64_t op;		/* its instance */
	int32_t result;
};

/* A program was built, or something was traced or compiled. */
struct tft_compile {
	uint32_t seq;
	int64_t start_ns, dur_ns;
	int32_t result;
	const char *what, *options, *log;	/* log only on failure */
};

/*
 * A message between threads, processes or hosts. key is the same at both ends
 * and not used again while the message is on its way (a hash of its text and of
 * the step, where the text comes back each step).
 */
struct tft_flow {
	uint32_t seq;
	uint32_t name;		/* name id of "SOURCE -> DESTINATION: what", a rendezvous key of
				 * TensorFlow's (model/flows/rendezvous.h), or other text, 0 none */
	uint64_t key, bytes;	/* bytes 0: not known at this end */
	int64_t at_ns, dur_ns;	/* of the writing host; dur_ns -1: not known */
	uint64_t op;		/* instance that sent or received it, 0 none */
	uint8_t phase;		/* enum tft_flow_phase */
};

/* What a stage (tft_stage) did since it was last told, at most once a second. */
struct tft_stages {
	uint32_t seq;
	uint32_t stage;
	uint64_t elements;	/* asked for: the end of the data is one more */
	int64_t total_ns;	/* in its calls, those below included */
	int64_t self_ns;	/* of it, not in the stages below on the same thread */
	int64_t busy_ns;	/* of its own threads and functions that work ahead, without the
				 * stages below; several at once add up */
	int64_t wait_ns;	/* of self_ns: the caller stood still for what was worked on ahead;
				 * of the outermost stage: the program did, for anything */
	int64_t max_ns;		/* longest call */
	int64_t begin_ns, end_ns;	/* the time this is about */
	uint64_t bytes;		/* given out, 0 not known */
	/* In force at the end, -1 not known. Of the outermost stage: calls that there
	 * are threads for. */
	int32_t parallelism, buffered;
};

/*
 * What a thread of a thread pool did since it was last told, at most once a second.
 * A closure is what is handed to a pool: a run of ops, a part of a parallel loop.
 */
struct tft_pool {
	uint32_t seq;
	uint32_t tid;		/* the thread; its pool is known by its name */
	uint64_t closures;
	uint64_t with_ops;	/* of them, in which an op began */
	uint64_t timed;		/* of them, whose wait is known */
	int64_t wait_ns;	/* for a thread, from being handed over until one took it */
	int64_t max_wait_ns;	/* of one, since the thread began */
	int64_t busy_ns;	/* in closures */
	int64_t begin_ns, end_ns;	/* the time this is about */
};

struct tft_counter {
	uint32_t seq;
	uint32_t series;
	int64_t at_ns, value;
};

/* Data from one op to another, written by the taking op before it ends. */
struct tft_edge {
	uint32_t seq;
	uint64_t from, to;	/* instances */
	uint64_t bytes;
	uint32_t key;		/* name id of the tensor or channel, 0 none */
};

/* device's tick `ticks` was host time host_ns, give or take error_ns. */
struct tft_clock {
	uint32_t device;
	uint8_t quality;	/* 0 estimate from enqueue brackets, 1 known host clock, 2 driver's pair */
	uint64_t ticks;
	int64_t host_ns, error_ns;
};

/* Nothing that began before settled_ns will still arrive from this process,
 * except what was announced as open, and steps, waits, calls and builds, which
 * arrive when they end. About every 50 ms while active. */
struct tft_settled {
	int64_t settled_ns;
};

/* The level (enum tft_level) since at_ns: sent when a session begins to hear the process, and
 * with each change. At TFT_LEVEL_OFF nothing is looked at, so what is missing is not idle. */
struct tft_level_now {
	int64_t at_ns;
	uint8_t level;
};

/* Once a second per process, totals since its start. */
struct tft_beat {
	uint64_t events;	/* written before this one, since this tftop is there */
	uint64_t calls;		/* API calls seen */
	uint64_t dropped;	/* by us (no memory, tables full) */
	uint64_t vendor_dropped;/* by the vendor's library */
	int64_t own_ns;		/* time spent in probes, estimated from sampled calls */
	int64_t mono_ns, real_ns, raw_ns;
};

#endif
