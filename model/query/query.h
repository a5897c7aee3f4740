/* SPDX-License-Identifier: MIT */
/*
 * Questions about the timeline. The screen, the report and the exports use the headers in query/
 * and nothing else of the model.
 *
 * Threads: one thread feeds the model (model_apply() takes the lock itself, in slices of at most
 * 1 ms, and hands it over between slices). Any other thread calls model_lock() before its
 * questions and model_unlock() after them, and copies what it needs. Functions marked [locked]
 * must be called with the lock held.
 *
 * Ownership: strings are interned and live as long as the model. Arrays given out by model_*()
 * list functions are *owned by the caller*, freed with free() unless said otherwise; they are
 * snapshots.
 *
 * Times are nanoseconds of host 0's CLOCK_MONOTONIC (`_ns`); durations too.
 */
#ifndef MODEL_QUERY_H
#define MODEL_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"
#include "model/query/class.h"

struct model;

struct model_options {
	size_t memory_limit;		/* memory for the timeline in bytes; 0: 512 MiB */
	bool keepable;	/* after image_prepare(): the model can be written with image_write() */
};

struct model *model_new(const struct model_options *options);
void model_free(struct model *model);

/* Applies the events to the model; never fails. Strings are borrowed until it returns. */
void model_apply(struct model *model, const struct event *events, size_t count);

void model_lock(struct model *model);
void model_unlock(struct model *model);
/* Gives the lock to whoever waits for it, then takes it again; for use between the queries of a
 * long series. Earlier answers may be outdated afterwards; rows, refs and strings stay valid.
 * false: the caller's answer is not wanted any more, so that any answer will do. [locked] */
bool model_yield(struct model *model);
/* From now on each model_yield() of this thread calls rest() without the lock, however long that
 * takes, and returns what rest() returned. NULL: ends this. */
void model_rest_with(bool (*rest)(void *arg), void *arg);
/* Like model_yield(), for callers that do not hold the lock. */
bool model_rest(void);

/* What tftop itself knows of a process's exit, for the report and the screen. */
void model_set_exited(struct model *model, uint16_t host, uint32_t pid,
		      int status, int signal);
/* No more events will come: everything is settled unless `partial`. */
void model_finish(struct model *model, bool partial);
/* Adds a sentence to the messages, which pane 8 and the report show. level: as in event_message. */
void model_message(struct model *model, int level, const char *text);

/* Changes with every applied batch that changed the model. Cheap, needs no lock. */
uint64_t model_generation(const struct model *model);

/* ---- the whole run ---- */

struct model_status {
	/* earliest start and latest end; first > last: no events yet */
	int64_t first_ns, last_ns;
	int64_t live_ns;		/* all sources have been read up to this time */
	int64_t settled_ns;		/* the model is settled up to this time */
	bool finished, partial;
	uint64_t events;		/* events that were applied */
	uint64_t lost_events, lost_packets;
	uint64_t dropped;		/* events dropped by probes or by a vendor's library */
	uint64_t bad;			/* events with impossible values, which were ignored */
	/* events that arrived after their time had settled: they count in the totals, but not in
	 * what had been derived from that time by then; without compilations before the first
	 * step, which nothing lacks */
	uint64_t late;
	/* processes with probes that a signal ended before they could write their last events */
	uint64_t killed;
	uint64_t kernels;		/* finished kernel runs */
	uint64_t in_flight;		/* commands that were announced and have not finished */
	uint64_t how[HOW_COUNT];	/* finished device work by how it was attributed */
	uint64_t unmet;			/* launches whose run never arrived */
	/* Sums of device time (not unions): of all work, of work with a launch, and of work with an
	 * op. */
	int64_t device_ns, launched_ns, op_ns;
	uint64_t calls;			/* API calls seen by probes */
	int64_t own_ns;			/* time that the probes themselves took */
	int64_t program_ns;		/* the host time that own_ns is a share of */
	size_t memory_bytes;
	/* detail before this time may have been discarded; INT64_MIN: nothing was */
	int64_t folded_ns;
	uint64_t steps;
	bool passes;		/* the steps are forward passes */
	int64_t last_step_number;	/* -1: none */
	int64_t last_step_ns;		/* duration of the last finished step */
	size_t warnings;		/* messages that are warnings or errors */
};

/* Fills in *out. [locked] */
void model_status(struct model *model, struct model_status *out);

/* ---- rows: what the timeline draws, a forest in display order ---- */

enum row_kind {
	ROW_PROCESS,		/* parent of its threads */
	ROW_THREAD,		/* ops by depth: lane 0 has the outermost ops */
	/* parent of its queues and bandwidth; its own columns are the union of its work */
	ROW_DEVICE,
	ROW_QUEUE,		/* kernels and other work of one queue, without its copies */
	ROW_COPY,		/* copies of one queue in one direction */
	ROW_BANDWIDTH,		/* counter: bytes per second of one direction on a device */
	ROW_MEMORY,		/* counter: bytes allocated on a device */
	ROW_COUNTER,		/* one series of a device or process, see query/counters.h */
	ROW_POOL,	/* parent of the threads of one name in a process, with their mean */
	ROW_COMPILE,		/* what a process compiled, such as jitted functions */
	/* Graphs launched to a queue, each from its first node to its last, above the rows of the
	 * nodes; they settle ROW_GRAPH_LATE_NS after all other rows. */
	ROW_GRAPH,
};

#define ROW_GRAPH_LATE_NS INT64_C(1000000000)
/* A probe may tell the value of a second when the second has passed. */
#define ROW_COUNTER_LATE_NS INT64_C(2000000000)

/* Colour class of work; no information is given by colour alone. */
enum work {
	WORK_NONE = 0, WORK_MATMUL, WORK_ELEMENTWISE, WORK_REDUCE, WORK_COPY,
	WORK_COMM, WORK_INPUT, WORK_OTHER, WORK_OP, WORK_RANGE,
	WORK_COUNT
};

struct model_row {
	uint32_t id;			/* stable for the model's life, from 1 */
	uint32_t parent;		/* row id of the parent; 0: none */
	enum row_kind kind;
	uint16_t host;
	uint32_t pid, tid;
	uint32_t device;		/* model-wide device index */
	uint32_t queue;			/* model-wide queue index */
	enum direction direction;
	uint32_t lanes;			/* 1 or more: the depths of ops, or sub-lanes */
	/* such as "main", "queue 0" or "h2d", without numbers that change */
	const char *label;
	int64_t busy_ns;		/* total busy time, by which rows are ranked */
	uint64_t count;
	uint64_t peak;			/* for a counter: the highest value seen, above base */
	/* for a ROW_COUNTER: the value that its columns are relative to, 0 or less */
	int64_t base;
	const char *unit;		/* for a ROW_COUNTER: its unit; otherwise NULL */
	bool looked_at;		/* a thread of which it is known what it did beside its ops */
};

/* The rows in display order, parents before children: processes with their threads (the main
 * thread, then the busiest; a row overtakes another only when it is clearly busier), then devices
 * with their queues, copies and bandwidth. Counters come last within their process or device, at
 * most ROWS_COUNTERS, then what the process takes of its machine: the first of these counters with
 * the others below it, at most ROWS_USAGE, which is no reason to list a process. Rows without
 * content are left out, but a thread without ops has a row if it was looked at (query/host.h).
 * Ranges that are on no stack have a row of their own, a ROW_THREAD with tid 0, followed by the row
 * of compilations. ROWS_POOL or more threads of one name are grouped below a ROW_POOL. [locked] */
#define ROWS_POOL 3u
#define ROWS_COUNTERS 12u
#define ROWS_USAGE 48u
size_t model_rows(struct model *model, struct model_row **out);

/* ---- columns ---- */

#define LANE_ALL UINT32_MAX		/* the union of a row's lanes */

/* Refers to an event on the timeline and stays valid while more events arrive; id 0: none. */
struct span_ref {
	uint32_t row, lane;
	uint64_t id;
};

enum column_flag {
	COLUMN_OPEN = 1,		/* a span that is still open reaches into the column */
	COLUMN_LOST = 2,		/* events were lost here */
	COLUMN_APPROX = 4,		/* some of its times are approximate */
	COLUMN_FAILED = 8,
	/* the level was off in the column, or the program's own profiler had the device */
	COLUMN_PAUSED = 16,
};

struct column {
	int64_t busy_ns;	/* union of the spans inside, from 0 to the width of the column */
	/* sum of the clipped durations by class; more than busy_ns where spans overlap */
	int64_t work_ns[WORK_COUNT];
	uint32_t count;			/* how many spans touch the column */
	uint32_t edges;			/* how many spans start or end inside the column */
	/* the longest span that touches the column; none if all are folded */
	struct span_ref longest;
	int64_t first_edge_ns, last_edge_ns;	/* valid if edges > 0 */
	/* For counters. ROW_BANDWIDTH, ROW_COPY: value is the mean rate in bytes/s; value_min is
	 * the rate of the slowest single copy, or 0 if there was a moment without a copy; value_max
	 * is the rate of the fastest copy, or the mean if that is higher. ROW_MEMORY: live bytes.
	 * ROW_COUNTER: value above the row's base, and count is 1 if there is a value. */
	uint64_t value, value_min, value_max;
	uint8_t flags;			/* enum column_flag */
};

/*
 * Column i of n covers [t0 + i*w, t0 + (i+1)*w), where w = (t1 - t0) / n > 0. out has room for n
 * columns. Exact, except where detail was folded to stay within the memory limit: folded time is
 * spread evenly and marked COLUMN_APPROX. For an unknown row all columns are zero. [locked]
 */
void model_columns(struct model *model, uint32_t row, uint32_t lane,
		   int64_t t0, int64_t t1, size_t n, struct column *out);

/*
 * The names of the longest event of each column (n columns of width w from t0 on, in a row that has
 * events of its own), as ids: events of one name share an id, and so do steps that differ only by
 * their number. An element of out that already names the same event is kept; out starts as zeroes.
 * O(chunks touching the columns + 512 for each event). model_name() returns the short name, which
 * is valid as long as the model; "" for id 0. [locked]
 */
struct column_name {
	struct span_ref ref;		/* the event that the names belong to */
	uint32_t name;			/* 0: none */
	/* for device work: the name of the op that launched it; else equal to name */
	uint32_t op;
};
void model_column_names(struct model *model, const struct column *columns, size_t n, int64_t t0,
			int64_t w, struct column_name *out);
const char *model_name(struct model *model, uint32_t id);

/* Sums over [t0, t1), as exact as the columns. false: there is no such row, or it is a counter
 * without events. [locked] */
struct range_sum {
	uint64_t count;			/* spans that touch the range */
	uint64_t bytes;			/* for copies: bytes moved within the range */
	int64_t busy_ns;		/* union of the spans */
	/* sum of the clipped durations of all spans; more than busy_ns where they overlap */
	int64_t time_ns;
	int64_t work_ns[WORK_COUNT];
	bool approx;			/* detail was folded or times are approximate */
};
bool model_range(struct model *model, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
		 struct range_sum *out);

/* The spans of a lane that touch [t0, t1), by start, at most max; returns how many were written.
 * Used for labels. Open spans have end_ns = live_ns. [locked] */
struct span_edge {
	struct span_ref ref;
	int64_t start_ns, end_ns;
	const char *name;		/* the short name */
	enum work work;
	uint8_t flags;			/* enum column_flag */
};
size_t model_spans(struct model *model, uint32_t row, uint32_t lane,
		   int64_t t0, int64_t t1, size_t max, struct span_edge *out);

/* All details of one event, for the status line under the rows and for the pages. */
struct span {
	struct span_ref ref;
	enum row_kind row_kind;
	enum command_kind kind;		/* COMMAND_NONE: an op or range */
	enum work work;
	const char *name;		/* the short name */
	const char *raw_name;
	int64_t start_ns, end_ns;
	bool open, approx, is_range, is_op;
	int32_t status;			/* < 0: the command failed */
	uint32_t pid, tid;
	const char *thread;
	/* members for ops and ranges */
	uint64_t instance;
	const char *op_type, *domain;
	uint32_t depth;
	int64_t device_ns;		/* device time of the work launched inside */
	uint32_t kernels;		/* for the launch of a graph: the number of its nodes */
	int64_t step;			/* -1: none */
	/* how long it waited for a thread of the pool that it was handed to; 0: it was handed to no
	 * pool */
	int64_t wait_ns;
	const char *waker;		/* the thread that handed it over; NULL: unknown */
	/* members for commands */
	const char *queue, *device, *api;	/* api: of the device, NULL: unknown */
	enum how how;
	struct kernel_class class;	/* derived from its name */
	const char *op;			/* the op or range that launched it; NULL: none */
	/* the line that a graph's node comes from; NULL: it has none of its own, see its op */
	const char *file;
	uint32_t line;
	int64_t call_ns, call_dur_ns;
	int64_t queued_ns, submit_ns;	/* 0: not given */
	uint64_t bytes;
	enum direction direction;
	uint32_t dims;
	uint64_t global[3];
	uint32_t local[3];
	const char *shape;		/* the problem size in the library's words; NULL: none */
	uint64_t flop;			/* floating-point operations; 0: unknown */
	int64_t clock_error_ns;
	/* for compilations: their reason, their parameters, or the error; NULL: none */
	const char *cause;
};

/* All are [locked] and return false if there is no such event. */
bool model_span(struct model *model, struct span_ref ref, struct span *out);
bool model_span_at(struct model *model, uint32_t row, uint32_t lane, int64_t t_ns,
		   struct span_ref *out);
bool model_span_next(struct model *model, uint32_t row, uint32_t lane, int64_t after_start_ns,
		     struct span_ref *out);
bool model_span_prev(struct model *model, uint32_t row, uint32_t lane, int64_t before_start_ns,
		     struct span_ref *out);
bool model_span_longest(struct model *model, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
			struct span_ref *out);
/* The event that belongs to this one: for a command, the op that launched it; for a compilation,
 * the op that it was made in; for an op, its first command or else the op at the other end of a
 * message. */
bool model_span_peer(struct model *model, struct span_ref ref, struct span_ref *out);

/* The losses that touch [t0, t1). */
struct model_loss {
	int64_t begin_ns, end_ns;
	/* unplaced: how many of these were lost at a time that is not known yet */
	uint64_t count, unplaced;
	bool packets;
};
/* [locked] */
size_t model_losses(struct model *model, int64_t t0, int64_t t1, struct model_loss **out);

/* The times in [t0, t1) in which no process that uses a device looked at it: their level was off,
 * or their own profiler had the device. UINT32_MAX: in which the level of all processes was off.
 * Cut to that range and to the time that has passed; disjoint and sorted by time. The caller frees
 * *out. */
struct model_pause {
	int64_t begin_ns, end_ns;
	bool taken;	/* by the own profiler of one of the processes, whose level was not off */
};
size_t model_pauses(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		    struct model_pause **out);	/* [locked] */
/* The same for the times in which the own profiler of some process had its devices. */
size_t model_taken(struct model *model, int64_t t0, int64_t t1,
		   struct model_pause **out);	/* [locked] */

/* Times in [t0, t1) at which a device's clock was seen to step or to be wrong, by time, at most
 * max: what is drawn around them is less certain. [locked] */
size_t model_clock_steps(struct model *model, int64_t t0, int64_t t1, int64_t *out, size_t max);

/* ---- tables: exact for the whole run ---- */

struct process_row {
	uint16_t host;
	uint32_t pid, parent;
	const char *host_name, *command;
	int32_t rank;			/* -1: unknown */
	bool exited;
	int exit_status, exit_signal;	/* exit_status -1: unknown */
	int64_t start_ns;
	size_t n_probes;
	const char *probes[8];
	const char *blind[8];
};
size_t model_processes(struct model *model, struct process_row **out);	/* [locked] */

/* The resources that kernels can use on a device; per unit (multiprocessor) unless stated
 * otherwise. 0: unknown. */
struct device_limits {
	uint32_t capability;		/* CUDA's compute capability, 10 * major + minor */
	uint32_t threads, blocks, registers, shared;	/* shared: shared memory in bytes */
	/* maximum of one block; block_shared: without opting in */
	uint32_t block_registers, block_shared;
	uint64_t bandwidth;		/* maximum bandwidth of the device's memory in bytes/s */
};

struct device_row {
	uint32_t id;			/* model-wide, from 0 */
	const char *api, *name, *vendor, *platform, *driver, *address, *host;
	uint8_t gpu;			/* 0 cpu, 1 gpu, 2 other */
	uint32_t units, clock_mhz;
	uint64_t memory_bytes;
	struct device_limits limits;
	size_t n_pids;
	uint32_t pids[16];		/* the first 16 */
	int64_t span_ns;		/* from the first start to the last end */
	int64_t busy_ns;		/* union of all work */
	int64_t kernel_ns, copy_ns;	/* union of kernels, union of copies */
	int64_t overlap_ns;		/* time in which a kernel and a copy ran */
	bool clock_known;
	enum clock_quality clock_quality;
	int64_t clock_error_ns;
	/* launches and waits that contradict the conversion of the device's clock */
	uint64_t clock_violations;
};
size_t model_devices(struct model *model, struct device_row **out);	/* [locked] */

/* The same shares for a window, such as the last seconds. [locked] */
bool model_device_window(struct model *model, uint32_t device, int64_t t0, int64_t t1,
			 struct device_row *out);

struct queue_row {
	uint32_t id;	/* model-wide, from 0; in order of creation within a process */
	/* number within its process, from 0; queues of the processor are numbered separately */
	uint32_t number;
	uint32_t pid, device;
	const char *name;
	bool in_order, profiled, forced;
	/* takes work that names no queue: CUDA's default stream */
	bool fallback;
	int32_t priority;		/* lower is more urgent, 0 is the default */
	uint64_t kernels, copies, failed;
	int64_t busy_ns;
	int64_t delay_p50_ns, delay_p99_ns;	/* start minus queued; -1: none */
	uint32_t in_flight;
};
size_t model_queues(struct model *model, struct queue_row **out);	/* [locked] */

struct kernel_queue { uint32_t queue; uint64_t count; int64_t total_ns; };
struct kernel_op { const char *name; uint64_t count; int64_t total_ns; enum how how; };
/* The runs on one problem size; flop: the floating-point operations of one run. */
struct kernel_shape { const char *text; uint64_t flop, count; int64_t total_ns; };

#define KERNEL_SPREAD 16u

struct kernel_row {
	const char *name, *raw_name;
	/* UINT32_MAX: unknown (yet); the same holds for `queue` and `op` below */
	uint32_t device;
	enum work work;
	struct kernel_class class;	/* derived from its name */
	/* untimed runs are included in count, but in no time */
	uint64_t count, failed, approx, untimed;
	int64_t total_ns, mean_ns, min_ns, max_ns, p50_ns, p99_ns;
	const char *shape;	/* the shape, as in struct span, if it is the same in all runs */
	/* how many runs fall into each of KERNEL_SPREAD equal parts of min ... max */
	uint64_t spread[KERNEL_SPREAD];
	size_t n_queues, n_ops;
	struct kernel_queue *queues;	/* owned by the row */
	struct kernel_op *ops;		/* owned by the row; name NULL: launched outside of ops */
	/* The runs whose floating-point operations are known: the sum of these, and the runs'
	 * time. */
	uint64_t flop;
	int64_t flop_ns;
	size_t n_shapes;
	struct kernel_shape *shapes;	/* owned by the row; those with most time first */
	/* Mean occupancy of the runs whose launch is known, weighted by time (query/launch.h), and
	 * what limits most of it; -1 and 0: unknown. */
	int occupancy_milli;
	unsigned occupancy_limits;
};
size_t model_kernels(struct model *model, struct kernel_row **out);	/* [locked] */
void model_kernels_free(struct kernel_row *rows, size_t count);
/* What one row owns, not the row. */
void model_kernel_release(struct kernel_row *row);

struct copy_row {
	enum direction direction;
	uint32_t device, queue;
	uint32_t peer;	/* for P2P copies: the device at the other end; otherwise UINT32_MAX */
	uint64_t count, failed, approx, bytes, untimed;
	/* how many of these copies had pinned host memory, as far as reported */
	uint64_t pinned;
	int64_t total_ns;
	/* 0: unknown (maps, or copies without times). The peak is that of single transfers of at
	 * least 64 KiB, or of all transfers if none is that large. */
	uint64_t mean_bytes_per_s, peak_bytes_per_s;
};
size_t model_copies(struct model *model, struct copy_row **out);	/* [locked] */

struct op_row {
	const char *name, *type;	/* type NULL: none */
	const char *raw_name;		/* as the program or framework gave it */
	/* where it is called; of several lines, the one with most time; NULL: unknown */
	const char *file;
	uint32_t line, lines;
	bool detailed;			/* model_op_detail() has details for it */
	enum framework framework;
	bool is_range;			/* a range of the user in which no work was launched */
	uint64_t count;
	/* runs that were seen; fewer than count: count and all sums are estimates (core/bares.h) */
	uint64_t seen;
	int64_t total_ns, self_ns, device_ns;
	int64_t mean_ns, min_ns, max_ns, p50_ns, p99_ns;	/* statistics of its durations */
	/* device_ns, kernels, copies: launched with this op on top of the stack */
	uint64_t kernels, copies, copy_bytes;
	/* how many of these ran on the processor, as a part of the op */
	uint64_t cpu_kernels;
	int64_t cpu_ns;
	/* How many of its runs were handed to a thread pool, and how long they waited for a thread.
	 * The other runs started where they became ready. */
	uint64_t handed;
	int64_t wait_ns, max_wait_ns, wait_p50_ns, wait_p99_ns;
	/* Latency: start minus end of the last input, where a graph names the inputs; `latencies`
	 * is how many were measured. */
	uint64_t latencies;
	int64_t latency_ns;
};
size_t model_ops(struct model *model, struct op_row **out);	/* [locked] */

struct call_row {
	const char *name;
	uint64_t count, errors;
	bool timed;
	int64_t total_ns, max_ns;	/* of the calls that were timed */
};
size_t model_calls(struct model *model, struct call_row **out);	/* [locked] */

/* What users are told that the steps are, which a program that does not train does not have:
 * "step" or "pass". step_nouns: of several. */
static inline const char *step_noun(bool passes)
{
	return passes ? "pass" : "step";
}

static inline const char *step_nouns(bool passes)
{
	return passes ? "passes" : "steps";
}

struct step_row {
	int64_t number;
	int64_t start_ns, dur_ns;
	bool warm_up;	/* belongs to the warm-up, so it is in no mean of the analyses */
	bool compiled;			/* at least a tenth of its time was spent on compiling */
	bool outlier;	/* longer than p50 + 4 MAD, and at least 5 % longer than p50 */
};
struct step_stats {
	uint64_t count;
	/* where the steps come from, such as "step" or "range step #"; NULL: none */
	const char *source;
	bool passes;		/* they are forward passes of a program that does not train */
	int64_t mean_ns, p50_ns, p99_ns;
	int64_t mad_ns;			/* median absolute deviation from p50 (MAD); -1: none */
	/* how many steps are warm-up, and how many after it are outliers */
	uint64_t warm_up, outliers;
	uint64_t compiled;		/* steps after the warm-up that are marked as compiled */
	/* mean of the steps after the warm-up that did not compile; -1: none */
	int64_t steady_ns;
	/* mean time from the start of one step to the start of the next; -1: fewer than two
	 * steps */
	int64_t period_ns;
};
/* All steps, by start. [locked] */
size_t model_steps(struct model *model, struct step_stats *stats, struct step_row **out);

/*
 * The same for a caller that asks repeatedly: new steps are added, and all of them are evaluated
 * again only if the median, the spread, the warm-up or the compiled steps have changed. Starts as
 * zeroes. Returns whether anything changed. [locked]
 */
struct step_book;
struct step_list {
	struct step_row *rows;		/* owned, sorted by start */
	size_t n, cap;
	struct step_stats stats;
	struct step_book *book;		/* owned; the state from which the rows were made */
};
bool model_steps_update(struct model *model, struct step_list *list);
void step_list_release(struct step_list *list);

struct compile_row { const char *what, *cause; uint64_t count, failed; int64_t total_ns; };
size_t model_compiles(struct model *model, struct compile_row **out);	/* [locked] */

/* A host other than the first. The times of its events are converted to host 0's clock. */
struct host_row {
	uint16_t host;
	const char *name;		/* NULL: unknown */
	bool clock_known;		/* false: its times are those of its own clock */
	/* the clocks were related by messages; otherwise by the wall clocks alone */
	bool by_messages;
	int64_t clock_error_ns;
};
size_t model_hosts(struct model *model, struct host_row **out);	/* [locked] */
/* The number of messages whose times contradict the relation of the hosts' clocks. [locked] */
uint64_t model_host_violations(struct model *model);

/* The first host's wall clock, in ns since 1970, at a time of the model; 0: unknown. [locked] */
int64_t model_wall(struct model *model, int64_t ns);

struct message_row { int64_t time_ns; int level; const char *text; };
size_t model_messages(struct model *model, struct message_row **out);	/* [locked] */

/* ---- names of values ---- */
const char *work_name(enum work work);
const char *direction_name(enum direction direction);	/* "h2d", ... "" for none */
const char *doing_name(enum doing_kind doing);		/* "sleep", "Python", ... */
const char *doing_verb(enum doing_kind doing);		/* "sleeps", "runs Python", ... */
/* The words before what is told of such a state: "for" a file, "most often in" a function. line:
 * its line is known. */
const char *doing_what(enum doing_kind doing, bool line);
const char *how_name(enum how how);
const char *framework_name(enum framework framework);
/* "messages", "wall clock", "none" */
const char *host_clock_name(const struct host_row *row);
const char *clock_quality_name(enum clock_quality quality);

#endif
