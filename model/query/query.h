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
	size_t memory_limit;		/* bytes for the timeline, 0: 512 MiB */
	bool keepable;			/* after image_prepare(): image_write() can keep it */
};

struct model *model_new(const struct model_options *options);
void model_free(struct model *model);

/* Takes the events in; never fails. Strings are borrowed until it returns. */
void model_apply(struct model *model, const struct event *events, size_t count);

void model_lock(struct model *model);
void model_unlock(struct model *model);
/* Gives the lock to whoever waits for it, then takes it again; for use between questions of a
 * long series. Earlier answers may be outdated then; rows, refs and strings stay valid. false:
 * the answer is not wanted any more, any will do. [locked] */
bool model_yield(struct model *model);
/* From now on each model_yield() of this thread calls rest() without the lock, however long that
 * takes, and returns what rest() returned. NULL: ends this. */
void model_rest_with(bool (*rest)(void *arg), void *arg);
/* Like model_yield(), where no lock is held. */
bool model_rest(void);

/* What tftop itself knows of a process's exit, for the report and the screen. */
void model_set_exited(struct model *model, uint16_t host, uint32_t pid,
		      int status, int signal);
/* No more events will come: everything is settled unless `partial`. */
void model_finish(struct model *model, bool partial);
/* Adds a sentence to pane 8 and to the report's messages. level: as in event_message. */
void model_message(struct model *model, int level, const char *text);

/* Changes with every applied batch that changed anything; cheap, no lock. */
uint64_t model_generation(const struct model *model);

/* ---- the whole ---- */

struct model_status {
	int64_t first_ns, last_ns;	/* earliest start, latest end seen; first > last: empty */
	int64_t live_ns;		/* sources read up to here */
	int64_t settled_ns;		/* settled up to here */
	bool finished, partial;
	uint64_t events;		/* taken in */
	uint64_t lost_events, lost_packets;
	uint64_t dropped;		/* by probes or a vendor's library */
	uint64_t bad;			/* impossible values, ignored */
	/* arrived after their time was final: counted in the totals, but not in what had been
	 * derived from that time by then */
	uint64_t late;
	uint64_t kernels;		/* finished kernel runs */
	uint64_t in_flight;		/* commands announced and not finished */
	uint64_t how[HOW_COUNT];	/* finished device work by attribution */
	uint64_t unmet;			/* launches whose run never came */
	/* Of the device's time: all of it (not a union), with a launch, with an op. */
	int64_t device_ns, launched_ns, op_ns;
	uint64_t calls;			/* API calls seen by probes */
	int64_t own_ns;			/* probes' own time */
	int64_t program_ns;		/* host time the above is a share of */
	size_t memory_bytes;
	/* detail before this may be discarded; INT64_MIN: none is */
	int64_t folded_ns;
	uint64_t steps;
	int64_t last_step_number;	/* -1 none */
	int64_t last_step_ns;		/* duration of the last finished step */
	size_t warnings;		/* messages that are warnings or errors */
};

void model_status(struct model *model, struct model_status *out);	/* [locked] */

/* ---- rows: what the timeline draws, a forest in display order ---- */

enum row_kind {
	ROW_PROCESS,		/* parent of its threads */
	ROW_THREAD,		/* ops by depth: lane 0 is the outermost */
	ROW_DEVICE,		/* parent of queues, bandwidth; its own columns are the union */
	ROW_QUEUE,		/* kernels and other work of one queue */
	ROW_COPY,		/* copies of one queue and direction */
	ROW_BANDWIDTH,		/* counter: bytes per second of one direction on a device */
	ROW_MEMORY,		/* counter: bytes that are allocated on a device */
	ROW_COUNTER,		/* a series of a device or process, query/counters.h */
	ROW_POOL,		/* parent of a process's threads of one name, with their mean */
	ROW_COMPILE,		/* what a process compiled */
	/* Graphs launched to a queue, each from its first node to its last, above the rows of the
	 * nodes; settled ROW_GRAPH_LATE_NS after all other rows. */
	ROW_GRAPH,
};

#define ROW_GRAPH_LATE_NS INT64_C(1000000000)

/* Colour class of work; no information is given by colour alone. */
enum work {
	WORK_NONE = 0, WORK_MATMUL, WORK_ELEMENTWISE, WORK_REDUCE, WORK_COPY,
	WORK_COMM, WORK_INPUT, WORK_OTHER, WORK_OP, WORK_RANGE,
	WORK_COUNT
};

struct model_row {
	uint32_t id;			/* stable for the model's life, from 1 */
	uint32_t parent;		/* row id, 0 top */
	enum row_kind kind;
	uint16_t host;
	uint32_t pid, tid;
	uint32_t device;		/* model-wide device index */
	uint32_t queue;			/* model-wide queue index */
	enum direction direction;
	uint32_t lanes;			/* 1 or more: op depths or sub-lanes */
	/* "main", "queue 0", "h2d", ... without numbers that change */
	const char *label;
	int64_t busy_ns;		/* total, ranks rows */
	uint64_t count;
	uint64_t peak;			/* of a counter: the highest value seen, above base */
	int64_t base;			/* of a ROW_COUNTER: its columns are above it, 0 or less */
	const char *unit;		/* of a ROW_COUNTER, NULL else */
};

/* Display order, parents before children: processes with their threads (main,
 * then the busiest; a row passes another only when clearly busier), then devices
 * with queues, their copies, bandwidth; counters of either at its end, at most
 * ROWS_COUNTERS. Rows without content are left out; the row of ranges that are on
 * no stack is a ROW_THREAD with tid 0, that of compilations comes after it. Threads of
 * one name stand together below a ROW_POOL when there are ROWS_POOL of them or more.
 * [locked] */
#define ROWS_POOL 3u
#define ROWS_COUNTERS 12u
size_t model_rows(struct model *model, struct model_row **out);

/* ---- columns ---- */

#define LANE_ALL UINT32_MAX		/* union of a row's lanes */

/* An event on the timeline; id 0: none. Survives more events arriving. */
struct span_ref {
	uint32_t row, lane;
	uint64_t id;
};

enum column_flag {
	COLUMN_OPEN = 1,		/* something open reaches in */
	COLUMN_LOST = 2,		/* events were lost here */
	COLUMN_APPROX = 4,		/* approximate times in it */
	COLUMN_FAILED = 8,
	COLUMN_PAUSED = 16,		/* the level was off here */
};

struct column {
	int64_t busy_ns;		/* union of the spans inside, 0 … column width */
	/* clipped time by class; more than busy where spans overlap */
	int64_t work_ns[WORK_COUNT];
	uint32_t count;			/* spans touching the column */
	uint32_t edges;			/* starts and ends inside it */
	struct span_ref longest;	/* of those touching; none where only folded detail is */
	int64_t first_edge_ns, last_edge_ns;	/* valid when edges > 0 */
	/* Counters. ROW_BANDWIDTH, ROW_COPY: mean bytes/s; rate of the slowest single
	 * copy in it, 0 when there is a moment without any; that of the fastest, or
	 * the mean if higher. ROW_MEMORY: live bytes. ROW_COUNTER: above the row's
	 * base, count is 1 where there is a value. */
	uint64_t value, value_min, value_max;
	uint8_t flags;			/* enum column_flag */
};

/*
 * Columns i = 0 … n-1 cover [t0 + i*w, t0 + (i+1)*w), w = (t1 - t0) / n > 0. out has room for n.
 * Exact, except where detail was folded to stay within the memory limit: its time is spread
 * evenly and marked COLUMN_APPROX. Unknown row: all zero. [locked]
 */
void model_columns(struct model *model, uint32_t row, uint32_t lane,
		   int64_t t0, int64_t t1, size_t n, struct column *out);

/*
 * Names of the longest events of columns (n of w from t0 on, of a row with events of its
 * own), by id: those of one name have one id, steps that differ by their number too. What
 * out already says of the same event stays; all zero at first. O(chunks touching the
 * columns + 512 for each event). model_name(): the short name, as long as the model
 * lives; "" for 0. [locked]
 */
struct column_name {
	struct span_ref ref;		/* what the names are of */
	uint32_t name;			/* 0: none */
	uint32_t op;			/* of device work: of what launched it; else the name */
};
void model_column_names(struct model *model, const struct column *columns, size_t n, int64_t t0,
			int64_t w, struct column_name *out);
const char *model_name(struct model *model, uint32_t id);

/* Sums over [t0, t1), exact as the columns are; false: no such row, or a counter
 * of no events. [locked] */
struct range_sum {
	uint64_t count;			/* spans touching it */
	uint64_t bytes;			/* copies: moved in it */
	int64_t busy_ns;		/* union */
	/* of all spans, clipped: more than busy where they overlap */
	int64_t time_ns;
	int64_t work_ns[WORK_COUNT];
	bool approx;			/* detail was folded or times are approximate */
};
bool model_range(struct model *model, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
		 struct range_sum *out);

/* Spans of a lane that touch [t0, t1), by start, at most max; returns how
 * many were written. For labels. Open spans have end_ns = live_ns. [locked] */
struct span_edge {
	struct span_ref ref;
	int64_t start_ns, end_ns;
	const char *name;		/* short */
	enum work work;
	uint8_t flags;			/* enum column_flag */
};
size_t model_spans(struct model *model, uint32_t row, uint32_t lane,
		   int64_t t0, int64_t t1, size_t max, struct span_edge *out);

/* Everything about one event, for the sentence under the rows and the pages. */
struct span {
	struct span_ref ref;
	enum row_kind row_kind;
	enum command_kind kind;		/* COMMAND_NONE: an op or range */
	enum work work;
	const char *name;		/* short */
	const char *raw_name;
	int64_t start_ns, end_ns;
	bool open, approx, is_range, is_op;
	int32_t status;			/* < 0 failed */
	uint32_t pid, tid;
	const char *thread;
	/* ops and ranges */
	uint64_t instance;
	const char *op_type, *domain;
	uint32_t depth;
	int64_t device_ns;		/* of the work launched inside */
	uint32_t kernels;		/* of a graph's launch: its nodes */
	int64_t step;			/* -1 none */
	/* for a thread of the pool it was handed to, 0: it was not */
	int64_t wait_ns;
	const char *waker;		/* the thread that handed it over, NULL not known */
	/* commands */
	const char *queue, *device, *api;	/* api: of the device, NULL not known */
	enum how how;
	struct kernel_class class;	/* by its name */
	const char *op;			/* op or range that launched it, NULL none */
	int64_t call_ns, call_dur_ns;
	int64_t queued_ns, submit_ns;	/* 0: not given */
	uint64_t bytes;
	enum direction direction;
	uint32_t dims;
	uint64_t global[3];
	uint32_t local[3];
	const char *shape;		/* the problem size in the library's words, NULL none */
	uint64_t flop;			/* floating-point operations, 0 not known */
	int64_t clock_error_ns;
	/* compilations: what they were for or made with, or the error; NULL none */
	const char *cause;
};

/* All [locked]; return false when there is none. */
bool model_span(struct model *model, struct span_ref ref, struct span *out);
bool model_span_at(struct model *model, uint32_t row, uint32_t lane, int64_t t_ns,
		   struct span_ref *out);
bool model_span_next(struct model *model, uint32_t row, uint32_t lane, int64_t after_start_ns,
		     struct span_ref *out);
bool model_span_prev(struct model *model, uint32_t row, uint32_t lane, int64_t before_start_ns,
		     struct span_ref *out);
bool model_span_longest(struct model *model, uint32_t row, uint32_t lane, int64_t t0, int64_t t1,
			struct span_ref *out);
/* From a command to the op that launched it, from a compilation to the op it was made
 * in; from an op to its first command, else to the op at the other end of a message. */
bool model_span_peer(struct model *model, struct span_ref ref, struct span_ref *out);

/* Losses that touch [t0, t1). */
struct model_loss {
	int64_t begin_ns, end_ns;
	uint64_t count, unplaced;	/* unplaced: of these, where between is not known yet */
	bool packets;
};
/* [locked] */
size_t model_losses(struct model *model, int64_t t0, int64_t t1, struct model_loss **out);

/* When the level was off for all processes that use a device, or (UINT32_MAX) for all there are:
 * within [t0, t1) as far as time has come, cut to it, apart, by time. *out: free(). */
struct model_pause { int64_t begin_ns, end_ns; };
size_t model_pauses(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		    struct model_pause **out);	/* [locked] */

/* Times in [t0, t1) at which a device's clock was seen to have stepped or to be
 * off, by time, at most max: what is drawn around them is less sure. [locked] */
size_t model_clock_steps(struct model *model, int64_t t0, int64_t t1, int64_t *out, size_t max);

/* ---- tables: exact for the whole run ---- */

struct process_row {
	uint16_t host;
	uint32_t pid, parent;
	const char *host_name, *command;
	int32_t rank;			/* -1 unknown */
	bool exited;
	int exit_status, exit_signal;	/* exit_status -1 unknown */
	int64_t start_ns;
	size_t n_probes;
	const char *probes[8];
	const char *blind[8];
};
size_t model_processes(struct model *model, struct process_row **out);	/* [locked] */

/* What kernels can have of a device, of one of its units (multiprocessors) where nothing
 * else is said; 0 not known. */
struct device_limits {
	uint32_t capability;		/* CUDA's compute capability, 10 * major + minor */
	uint32_t threads, blocks, registers, shared;	/* shared: bytes */
	uint32_t block_registers, block_shared;	/* of one block; shared: without opting in */
	uint64_t bandwidth;		/* of the device's memory, bytes/s at most */
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
	int64_t span_ns;		/* first start to last end */
	int64_t busy_ns;		/* union of all work */
	int64_t kernel_ns, copy_ns;	/* unions */
	int64_t overlap_ns;		/* both at once */
	bool clock_known;
	enum clock_quality clock_quality;
	int64_t clock_error_ns;
	uint64_t clock_violations;	/* launches and waits that the clock's map contradicts */
};
size_t model_devices(struct model *model, struct device_row **out);	/* [locked] */

/* The same shares for a window, e.g. the last seconds. [locked] */
bool model_device_window(struct model *model, uint32_t device, int64_t t0, int64_t t1,
			 struct device_row *out);

struct queue_row {
	uint32_t id;			/* model-wide, from 0, creation order within a process */
	uint32_t number;		/* within its process, from 0; the processor's apart */
	uint32_t pid, device;
	const char *name;
	bool in_order, profiled, forced;
	/* where work goes that names no queue: CUDA's default stream */
	bool fallback;
	int32_t priority;		/* lower is more urgent, 0 the usual one */
	uint64_t kernels, copies, failed;
	int64_t busy_ns;
	int64_t delay_p50_ns, delay_p99_ns;	/* start - queued; -1 none */
	uint32_t in_flight;
};
size_t model_queues(struct model *model, struct queue_row **out);	/* [locked] */

struct kernel_queue { uint32_t queue; uint64_t count; int64_t total_ns; };
struct kernel_op { const char *name; uint64_t count; int64_t total_ns; enum how how; };
/* Runs on one problem size: flop is what one of them has to do. */
struct kernel_shape { const char *text; uint64_t flop, count; int64_t total_ns; };

#define KERNEL_SPREAD 16u

struct kernel_row {
	const char *name, *raw_name;
	uint32_t device;		/* UINT32_MAX: not known (yet); likewise below */
	enum work work;
	struct kernel_class class;	/* by its name */
	uint64_t count, failed, approx, untimed;	/* untimed are in count, in no time */
	int64_t total_ns, mean_ns, min_ns, max_ns, p50_ns, p99_ns;
	const char *shape;		/* as in struct span, when all runs have the same */
	uint64_t spread[KERNEL_SPREAD];	/* counts in equal parts of min ... max */
	size_t n_queues, n_ops;
	struct kernel_queue *queues;	/* owned by the row */
	struct kernel_op *ops;		/* owned by the row; name NULL: no op */
	/* Of the runs whose floating-point operations are known: these, and their time. */
	uint64_t flop;
	int64_t flop_ns;
	size_t n_shapes;
	struct kernel_shape *shapes;	/* owned by the row; the longest first */
	/* Mean occupancy of the runs of known launches, by time (query/launch.h), and what
	 * limits most of it; -1, 0 not known. */
	int occupancy_milli;
	unsigned occupancy_limits;
};
size_t model_kernels(struct model *model, struct kernel_row **out);	/* [locked] */
void model_kernels_free(struct kernel_row *rows, size_t count);

struct copy_row {
	enum direction direction;
	uint32_t device, queue;
	uint32_t peer;			/* P2P: the device at the other end; UINT32_MAX else */
	uint64_t count, failed, approx, bytes, untimed;
	uint64_t pinned;		/* of count: the host's memory was, as far as is told */
	int64_t total_ns;
	/* 0: none (maps, untimed). The peak is that of single transfers of 64 KiB
	 * and more, of all when there is none such. */
	uint64_t mean_bytes_per_s, peak_bytes_per_s;
};
size_t model_copies(struct model *model, struct copy_row **out);	/* [locked] */

struct op_row {
	const char *name, *type;	/* type NULL: none */
	const char *raw_name;		/* as the program or framework gave it */
	/* that it comes from, of several (lines) the one with most time; NULL: not known */
	const char *file;
	uint32_t line, lines;
	bool detailed;			/* model_op_detail() has something to say */
	enum framework framework;
	bool is_range;			/* a user's range in which nothing was launched */
	uint64_t count;
	int64_t total_ns, self_ns, device_ns;
	int64_t mean_ns, min_ns, max_ns, p50_ns, p99_ns;	/* of its duration */
	/* device_ns, kernels, copies: launched with this op on top of the stack */
	uint64_t kernels, copies, copy_bytes;
	/* of these what ran on the processor, as a part of the op */
	uint64_t cpu_kernels;
	int64_t cpu_ns;
	/* handed to a thread pool, so often; the waits for a thread. The others began
	 * where they became ready. */
	uint64_t handed;
	int64_t wait_ns, max_wait_ns, wait_p50_ns, wait_p99_ns;
	/* start minus the end of the last input, as far as a graph tells; of so many */
	uint64_t latencies;
	int64_t latency_ns;
};
size_t model_ops(struct model *model, struct op_row **out);	/* [locked] */

struct call_row {
	const char *name;
	uint64_t count, errors;
	bool timed;
	int64_t total_ns, max_ns;	/* of the timed ones */
};
size_t model_calls(struct model *model, struct call_row **out);	/* [locked] */

struct step_row {
	int64_t number;
	int64_t start_ns, dur_ns;
	bool warm_up;			/* of the start: in no average of the analyses */
	bool compiled;			/* a tenth of it or more was spent compiling */
	bool outlier;			/* longer than p50 + 4 MAD, and than p50 by 5 % */
};
struct step_stats {
	uint64_t count;
	const char *source;		/* what made them: "step", "range step #", NULL none */
	int64_t mean_ns, p50_ns, p99_ns;
	int64_t mad_ns;			/* median of the distances to p50; -1 none */
	uint64_t warm_up, outliers;	/* so many are that; outliers after the warm-up */
	uint64_t compiled;		/* after the warm-up */
	int64_t steady_ns;		/* mean of those that are neither; -1 none */
	/* mean from one's start to the next one's; -1 fewer than two */
	int64_t period_ns;
};
/* All steps, by start. [locked] */
size_t model_steps(struct model *model, struct step_stats *stats, struct step_row **out);

/*
 * The same for who asks again and again: what is new is added, all are looked at again
 * only where the median, the spread, the warm-up or what was compiled has changed.
 * Begins as zeroes. Returns whether anything changed. [locked]
 */
struct step_book;
struct step_list {
	struct step_row *rows;		/* owned, by start */
	size_t n, cap;
	struct step_stats stats;
	struct step_book *book;		/* owned; what the rows were made by */
};
bool model_steps_update(struct model *model, struct step_list *list);
void step_list_release(struct step_list *list);

struct compile_row { const char *what, *cause; uint64_t count, failed; int64_t total_ns; };
size_t model_compiles(struct model *model, struct compile_row **out);	/* [locked] */

/* Hosts but the first. Their events' times are taken to host 0's clock. */
struct host_row {
	uint16_t host;
	const char *name;		/* NULL not known */
	bool clock_known;		/* false: its times are its own */
	bool by_messages;		/* else by the wall clocks alone */
	int64_t clock_error_ns;
};
size_t model_hosts(struct model *model, struct host_row **out);	/* [locked] */
/* Messages that the hosts' clocks contradicted. [locked] */
uint64_t model_host_violations(struct model *model);

/* The first host's wall clock, ns since 1970, at a time of the model; 0 not known. [locked] */
int64_t model_wall(struct model *model, int64_t ns);

struct message_row { int64_t time_ns; int level; const char *text; };
size_t model_messages(struct model *model, struct message_row **out);	/* [locked] */

/* ---- words ---- */
const char *work_name(enum work work);
const char *direction_name(enum direction direction);	/* "h2d", ... "" for none */
const char *how_name(enum how how);
const char *framework_name(enum framework framework);
/* "messages", "wall clock", "none" */
const char *host_clock_name(const struct host_row *row);
const char *clock_quality_name(enum clock_quality quality);

#endif
