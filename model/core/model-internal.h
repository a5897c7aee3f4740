/* SPDX-License-Identifier: MIT */
/*
 * What the files of the model share. Nothing outside model/ includes this.
 *
 * Everything is under the model's lock. Things are referred to by index into
 * the model's arrays (pages that never move), never by pointer from one thing
 * to another, so that an index in a span stays right.
 *
 * How a command comes in (attribution): the launch
 * carries the op on top of the launching thread's stack. The op itself may be
 * known (finished, or announced as open), or come later, or never. So every
 * instance that is mentioned gets an op_state; what is launched in it is added
 * to the totals of its identity (name, type, framework) as soon as that is
 * known, and waits in the op_state until then. Whatever order the four facts
 * (names, launch, op's end, device definition) come in, the totals are the
 * same; tests/unit/model_attribution_test.c tries the permutations.
 */
#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/analyses/thresholds.h"
#include "model/clocks/align.h"
#include "model/clocks/clock.h"
#include "model/commands/commands.h"
#include "model/lanes/cover.h"
#include "model/base/hist.h"
#include "model/clocks/hosts.h"
#include "model/recording/journal.h"
#include "model/commands/join.h"
#include "model/lanes/lane.h"
#include "model/base/map.h"
#include "model/base/names.h"
#include "model/core/odd.h"
#include "model/core/pauses.h"
#include "model/query/query.h"

#define NONE UINT32_MAX

/* Bounds: what comes beyond is counted in `bad` and left out. */
#define PROCESSES_MAX 16384u
#define THREADS_MAX (1u << 20)
#define DEVICES_MAX 4096u
#define QUEUES_MAX 65536u
#define ROWS_MAX (1u << 20)
#define OPENS_MAX (1u << 18)
#define SHAPES_MAX (1u << 20)
#define IDENTS_MAX (1u << 22)
#define IDENTS_GRAPH_MAX (1u << 17)
#define ALLOCS_MAX (1u << 22)
#define PENDING_MAX (1u << 17)		/* commands that wait for a clock or a queue */
#define OPS_KEEP (1u << 17)		/* finished ops found at once, unless memory is tight */
#define OPS_WAIT_MAX (1u << 20)		/* mentioned ops that have not come yet */
#define SUB_LANES 8u			/* then one more that may overlap */
#define DEPTH_MAX 64u
#define TIME_MAX (INT64_MAX / 4)		/* also of clocks that count from 1970 */
#define DUR_MAX INT64_C(2592000000000000)	/* 30 days: nothing lasts longer */
#define LATE_SLACK_NS 60000000000	/* a clock may be off by so much */
#define PENDING_WAIT_NS 500000000	/* then a launch anchors the clock */

/*
 * Growing array whose elements never move. store_init() with their size, make
 * an element with store_new().
 */
#define STORE_PAGE 256u
struct store {
	char **pages;			/* owned */
	size_t cap_pages;
	uint32_t n, size;
};
void store_init(struct store *store, size_t size);
void store_release(struct store *store);
/* Zeroed; its index is store->n - 1. */
void *store_new(struct store *store);
static inline void *store_at(const struct store *store, uint32_t i)
{
	return store->pages[i / STORE_PAGE] + (size_t)(i % STORE_PAGE) * store->size;
}

/*
 * The union of a set of rows. As long as everything comes in order and apart
 * it is a sum; at the first overlap or late span the cover is built from the
 * rows and kept.
 */
struct merged {
	struct cover cover;
	bool full;
	int64_t sum_ns, end_ns;		/* while not full */
};

/* What a queue's or copy's span keeps. `detail` stays first: layout.rates. The
 * fields are listed once more in rows.c. */
struct command_cold {
	uint64_t detail;		/* bytes; of kernels the process's shape id */
	uint64_t op;
	int64_t call_ns;
	uint32_t op_name, tid;
	uint32_t call_dur_ns;
	uint32_t queued, submit;	/* before start, 0 not given; see pack_delta */
	int16_t status;
	uint8_t kind_how;		/* kind | how << 5 */
	uint8_t segment;		/* of the clock */
	uint32_t place;			/* of copies, in memory: event_command.shape */
	uint8_t flags;			/* of copies: CMD_PINNED, CMD_BLOCKING */
};

struct op_cold {
	uint64_t instance;
	int64_t device_ns, step;	/* step: any number, as frameworks give them; -1 none */
	uint32_t kernels, ident;
	uint32_t first_row, first_id;	/* the first command launched in it */
	int64_t wait_ns;		/* for a thread of a pool, 0 none */
	uint64_t forward;		/* instance, 0 none */
	uint32_t waker;			/* 1 + the thread that handed it over, 0 not known */
	uint32_t frame, shapes;		/* 1 + the index in lines->frames; a name; 0 none */
	uint16_t depth;
	uint8_t flags;			/* enum op_flag */
};

#define OP_INSTANCE 0			/* fields in op_layout */
#define OP_IN_IDENT 3
#define OP_IN_SHAPES 12
#define COMMAND_OP 1			/* op's in those of commands */
#define COMMAND_OP_NAME 3		/* op_name's */

struct compile_cold {
	uint32_t cause, tid;		/* a name, 0 none */
	int32_t result;
};

union cold {
	struct command_cold command;
	struct op_cold op;
	struct compile_cold compile;
};

/* Announced and not finished; drawn to the live edge. */
struct open_span {
	uint32_t row, lane, id, name;
	int64_t start_ns;
	uint64_t key;			/* correlation or instance */
	uint32_t process;
	uint32_t prev, next;		/* in its row; next: also the free list */
	uint8_t work;
	union cold cold;
};

struct row {
	enum row_kind kind;
	uint32_t process, thread, queue, device;	/* NONE where it has none */
	uint32_t series;		/* of ROW_COUNTER; of ROW_POOL the name of its threads */
	enum direction direction;
	struct lane *lanes;		/* owned */
	uint32_t n_lanes;
	uint32_t last_id;
	struct merged merged;		/* of the lanes, used when there are several */
	uint32_t opens, n_opens;	/* list head, NONE */
	uint32_t next;			/* of its process's threads, or its queue's rows; NONE */
	const char *label;		/* interned; of queues and their copies, made of ... */
	uint64_t label_of;		/* ... the queue's name and whether it is shared; 0: not made */
};

struct device {
	bool processor;			/* its runs are parts of ops, not launched */
	bool alias;			/* another one turned out to be the same: hidden */
	bool defined;
	uint16_t host;
	uint32_t index, units, clock_mhz;
	uint64_t memory_bytes;
	struct device_limits limits;
	uint8_t gpu;
	uint32_t api, name, vendor, platform, driver, address;	/* names */
	uint32_t row;
	uint32_t bandwidth[DIR_COUNT], memory;	/* rows */
	struct merged all, kernels, copies;
	int64_t first_ns, last_ns;
	uint32_t number;		/* among its kind, for the label */
};

/* A list through the `next` of what is in it, in the order it came. */
struct index_list {
	uint32_t first, last;		/* NONE: empty */
};

/* A device as one process sees it: with that process's ids and clock. */
struct view {
	uint32_t process, device;
	struct index_list queues;
	struct clock clock;
	struct pendings pending;
};

struct queue {
	uint32_t process, number, view;	/* view NONE: not defined yet */
	uint32_t flags, name;
	int32_t priority;
	uint32_t row, graphs, copies[DIR_COUNT];	/* rows */
	struct index_list rows;
	uint32_t next;			/* of its view, NONE */
	struct merged merged;
	uint64_t kernels, n_copies, failed;
	uint64_t copy_peak[DIR_COUNT];	/* bytes/s of the fastest copy */
	uint32_t in_flight;
	int64_t looked_ns;		/* for announced ones whose end was lost */
	struct hist delay;
	struct pendings pending;
	struct join_fifo *fifo;		/* owned; NULL: no launch came apart from its run */
};

struct thread {
	uint32_t process, tid, name, row;
};

struct shape {
	uint32_t dims;
	uint64_t global[3];
	uint32_t local[3];
	uint32_t text;			/* name: the problem size, 0 none */
	uint64_t flop;			/* floating-point operations, 0 not known */
	uint32_t registers, shared_static, shared_dynamic;	/* per thread; bytes per block */
};

#define DONE_BITS (1u << 16)
struct done_ring {
	uint64_t *bits;			/* owned, NULL: none yet */
	uint32_t base;			/* the oldest of DONE_BITS numbers */
};

/* The process's threads in the order they are shown. */
struct row_order {
	uint32_t *threads;		/* owned */
	size_t n, cap;
	uint32_t seen;			/* threads of the model looked at so far */
};

#define COMPILE_LONG_NS 1000000

struct process {
	uint16_t host;
	uint32_t pid;
	int32_t parent, rank;
	uint32_t host_name, command;
	int64_t start_ns;
	bool defined, exited, execed;
	bool replaced;			/* by another program in the same pid */
	int64_t defined_ns;		/* when the definition was written */
	int exit_status, exit_signal;
	int64_t exit_seen_ns;		/* set_exited came at that time, 0: it said so itself */
	size_t n_probes;
	uint32_t probes[8], blind[8];
	uint32_t row, ranges, compiles;	/* rows: its own, of ranges off any stack, … */
	struct index_list thread_rows;	/* and that of the ranges */
	struct row_order order;
	struct merged merged;		/* its threads' */
	struct cover compiling;		/* of what took COMPILE_LONG_NS and more */
	uint64_t compiled;		/* so many of these */
	struct map names, views, queues, threads, shapes;	/* local id -> index */
	uint32_t thread;		/* asked for last, NONE */
	struct map ops;			/* instance -> op_state */
	struct map opens;		/* correlation -> open_span */
	struct done_ring done[2];	/* finished ones: the probes', CUPTI's */
	struct met *mets;		/* owned; METS by correlation, or NULL */
	struct join_ids ids;
	int64_t settled_ns, seen_ns;	/* 0 none; last event written */
	uint64_t beat_calls, counted_calls, dropped;
	struct pauses pauses;
	int64_t own_ns;
};

struct kernel_total {
	uint32_t name, queue;
	uint32_t shape;			/* of the process; 0: none, or several */
	bool shapes;			/* several */
	uint64_t count, failed, approx, untimed;
	int64_t total_ns, min_ns, max_ns;
	struct hist hist;
	uint32_t ops;			/* list of kernel_op_total */
	uint32_t op;			/* of them, the last one asked for; NONE */
	uint32_t by_shape;		/* list of kernel_shape_total */
	uint32_t last_shape;		/* of them, the last one asked for; NONE */
};

struct kernel_shape_total {
	uint32_t shape, next;
	uint64_t count, timed;
	int64_t total_ns;
};

struct kernel_op_total {
	uint32_t op_name, next;
	uint8_t how;
	uint64_t count;
	int64_t total_ns;
};

struct copy_total {
	uint32_t queue, peer;		/* peer: of P2P, its process's id of the other device, 0 none */
	uint8_t direction;
	uint64_t count, failed, approx, bytes, untimed, timed_bytes;
	uint64_t pinned;		/* of count */
	int64_t total_ns;
	uint64_t peak, peak_small;
};

struct call_total {
	uint32_t name;
	uint64_t count, errors;
	bool timed;
	int64_t total_ns, max_ns;
};

struct step {
	int64_t number, start_ns, dur_ns;
};

/* Explicit ones the program numbers itself; runs a framework's functions make. */
enum step_source {
	STEPS_EXPLICIT, STEPS_NUMBERED, STEPS_PLAIN, STEPS_RUN, STEPS_PERIOD, STEPS_SOURCES
};

/* Steps of one process from one source. */
struct steps {
	uint32_t process, name;
	enum step_source source;
	struct step *list;		/* owned, by start */
	size_t n, cap;
	uint64_t moved;			/* so often one came before another */
	int64_t sum_ns;
	struct hist hist;
};

/* A range whose name is not defined yet: it may turn out to be a step. */
struct nameless {
	uint32_t name, process;
	int64_t start_ns, dur_ns;
};

struct compile_total { uint32_t what, cause; uint64_t count, failed; int64_t total_ns; };

#include "model/input/input.h"
#include "model/counters/counters.h"
#include "model/ops/pools.h"

struct fair_lock {
	pthread_mutex_t mutex;
	pthread_cond_t turn;
	uint64_t next, serving;
	bool heap;			/* who has it takes memory from heap.h */
};

#define CLOCK_STEPS_MAX 256u
#define RECENT_PROCESSES 16u
#define RECENT_OPS 1024u
#define RECENT_KERNELS 512u

struct model {
	struct fair_lock lock;
	int64_t slice_ns;		/* the feeder has the lock since; INT64_MAX: keeps it */
	size_t memory_limit;
	_Atomic uint64_t generation;

	struct names names;
	struct store processes, threads, devices, views, queues, rows, shapes;
	struct store opens, op_states, idents;
	struct store kernels, kernel_ops, kernel_shapes, copies, calls, compiles;
	/* What was found last, in front of the maps; whether it is the right one is
	 * seen in the thing itself. */
	uint32_t recent_processes[RECENT_PROCESSES];
	uint32_t recent_kernels[RECENT_KERNELS];
	struct recent_op { uint32_t instance, state; } recent_ops[RECENT_OPS];	/* low bits */
	struct map process_by_pid, ident_by_hash, kernel_by_key, kernel_op_by_key,
		   kernel_shape_by_key, copy_by_key;
	struct map call_by_name, compile_by_key;
	struct map nameless_kernels;	/* placeholders that kernels ran under */
	struct join join;
	struct hosts hosts;
	size_t ident_bytes;		/* of their histograms */
	uint32_t free_open, free_state;
	uint64_t waiting_states;
	uint32_t n_alive_opens;
	uint32_t *kept;			/* owned; ring of finished op_states */
	size_t kept_head, kept_n, kept_max;
	size_t pending_n;
	struct memory *memory;		/* owned */
	struct optree *optree;		/* owned */
	struct edges *edges;		/* owned */
	struct graphs *graphs;		/* owned; NULL: none was told of */
	struct lines *lines;		/* owned; NULL: no op said anything of it */
	struct inputs inputs;
	struct counters counters;
	struct pools pools;
	struct flows *flows;		/* owned */
	struct watch *watch;		/* owned; NULL: nobody watches */
	struct journal journal;
	pthread_mutex_t feeding;	/* held by model_apply(), and by an export */

	struct steps *steps;		/* owned */
	size_t n_steps, cap_steps;
	struct nameless *nameless;	/* owned */
	size_t n_nameless, cap_nameless;
	struct model_loss *losses;	/* owned, by begin */
	size_t n_losses, cap_losses;
	size_t losses_gone;		/* from the list: places in it have moved */
	int64_t clock_steps[CLOCK_STEPS_MAX];	/* of devices, by time; those told in messages */
	uint32_t n_clock_steps;
	struct message_row *messages;	/* owned */
	size_t n_messages, cap_messages;
	struct map message_by_text;

	/* what the current event is about */
	struct process *process;
	uint32_t process_index;
	const struct event *event;

	int64_t first_ns, last_ns, live_ns, alive_ns, settled_ns;
	int64_t folded_ns;		/* detail before this may be gone; INT64_MIN: none is */
	bool finished, partial, paused;	/* paused: some process once was */
	struct bad bads[BAD_COUNT];
	uint64_t events, lost_events, lost_packets, bad, n_kernels, how[HOW_COUNT];
	int64_t device_ns, launched_ns, op_ns;
	uint64_t since_check;		/* events since memory was looked at */
	struct analyses *analyses;	/* owned */
	int64_t thresholds[THRESHOLD_COUNT];
	size_t memory_bytes;
};

/* ---- model.c ---- */
static inline bool time_ok(int64_t ns)
{
	return ns > 0 && ns < TIME_MAX;
}
/* Sums of durations stay at the end of the scale. */
static inline void add_ns(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}
/* Start and duration are possible, and the end is not later than it was written
 * (written_ns, 0 not known). */
bool span_ok(int64_t start_ns, int64_t dur_ns, int64_t written_ns);
void saw_time(struct model *model, int64_t start_ns, int64_t end_ns);
/*
 * In the midst of an event that takes long: whoever waits for the lock has it
 * for a moment, when this slice is used up. What others may ask must be whole.
 */
void model_breathe(struct model *model);
/* ---- budget.c ---- */
void budget_check(struct model *model);
/* A model out of a file: its lock is nobody's. */
void model_revive(struct model *model);
/* Moves the settled line to where it is now. */
int64_t model_settle(struct model *model);
/* ---- notes.c: losses, messages ---- */
size_t notes_warnings(const struct model *model);
void note_lost(struct model *model, const struct event_lost *lost);
/* Once per text. */
void note_message(struct model *model, int64_t time_ns, int level, const char *text);
void note_clock_step(struct model *model, int64_t time_ns);

/* ---- defs.c: processes, names, threads, devices, queues ---- */
struct process *process_get(struct model *model, uint16_t host, uint32_t pid, uint32_t *index);
/* The process of an event, NONE: not known (yet). */
uint32_t process_known(const struct model *model, const struct event *event);
uint32_t name_make(struct model *model, uint32_t id);
static inline uint32_t local_name(struct model *model, uint32_t id)
{
	uint32_t name = id ? map_get(&model->process->names, id) : 0;

	return name != MAP_NONE ? name : name_make(model, id);
}
uint32_t queue_get(struct model *model, uint32_t id);
uint32_t view_get(struct model *model, uint32_t process, uint32_t id);
void apply_process(struct model *model, const struct event_process *def);
void apply_exit(struct model *model, const struct event_exit *exit_event);
void apply_probe(struct model *model, const struct event_probe *probe);
void apply_name(struct model *model, const struct event_name *def);
void apply_thread(struct model *model, const struct event_thread *def);
void apply_device(struct model *model, const struct event_device *def);
void apply_queue(struct model *model, const struct event_queue *def);
void apply_shape(struct model *model, const struct event_shape *def);
static inline struct process *process_at(const struct model *model, uint32_t i)
{
	return store_at(&model->processes, i);
}
static inline struct thread *thread_at(const struct model *model, uint32_t i)
{
	return store_at(&model->threads, i);
}
/* NONE: not known, and (thread_get) cannot be made. */
uint32_t thread_search(const struct model *model, uint32_t process, uint32_t tid);
uint32_t thread_make(struct model *model, uint32_t process, uint32_t tid);
static inline uint32_t thread_find(const struct model *model, uint32_t process, uint32_t tid)
{
	uint32_t last = process_at(model, process)->thread;

	return last != NONE && thread_at(model, last)->tid == tid ? last :
	       thread_search(model, process, tid);
}
static inline uint32_t thread_get(struct model *model, uint32_t process, uint32_t tid)
{
	uint32_t thread = thread_find(model, process, tid);

	return thread != NONE ? thread : thread_make(model, process, tid);
}
static inline struct device *device_at(const struct model *model, uint32_t i)
{
	return store_at(&model->devices, i);
}
static inline struct view *view_at(const struct model *model, uint32_t i)
{
	return store_at(&model->views, i);
}
static inline struct queue *queue_at(const struct model *model, uint32_t i)
{
	return store_at(&model->queues, i);
}
static inline struct row *row_at(const struct model *model, uint32_t i)
{
	return store_at(&model->rows, i);
}
/* Device of a queue, NONE when not known yet. */
uint32_t queue_device(const struct model *model, const struct queue *queue);
/* What runs there is a part of ops. */
bool queue_on_processor(const struct model *model, uint32_t queue);

#include "model/lanes/rows.h"

/* ---- totals.c: kernels, copies, calls, compiles ---- */
struct run {				/* a finished command, resolved */
	uint32_t process, queue, name, op_name, shape;
	enum how how;
	enum direction direction;
	bool timed, approx, failed, pinned;
	int64_t dur_ns;
	uint64_t bytes;
};
void total_kernel(struct model *model, const struct run *run);
void total_copy(struct model *model, const struct run *run);
void apply_call(struct model *model, const struct event_call *call);
void apply_calls(struct model *model, const struct event_calls *calls);
void apply_wait(struct model *model, const struct event_wait *wait);
void apply_compile(struct model *model, const struct event_compile *compile);
/* A name: the first line of text that says something. */
uint32_t first_line(struct model *model, const char *text);
void totals_release(struct model *model);

#include "model/memory/memory.h"
#include "model/ops/ops.h"
#include "model/lines/lines.h"
#include "model/flows/flows.h"

/* ---- steps.c ---- */
/* All the numbered steps are one name, "step #": else they would fill tables. */
uint32_t steps_plain(struct model *model, uint32_t name);
void apply_step(struct model *model, const struct event_step *step);
/* A finished range: a step by its name? */
void steps_range(struct model *model, uint32_t process, uint32_t name, int64_t start_ns,
		 int64_t dur_ns);
void steps_named(struct model *model, uint32_t placeholder);
/* A period of what runs, between two runs of that name. */
void steps_period(struct model *model, uint32_t process, uint32_t name, int64_t start_ns,
		  int64_t dur_ns);
void steps_release(struct model *model);
const char *steps_source(struct model *model, const struct steps *steps);
/* A part of it, 1 of so many, or more was spent compiling. */
bool step_compiles(const struct model *model, const struct steps *steps,
		   const struct step *step, int part);
/* The series to show, NULL none. */
struct steps *steps_best(const struct model *model);

/* ---- rowlist.c: the forest in display order, labels ---- */
const char *device_label(struct model *model, uint32_t device);
const char *queue_label(struct model *model, uint32_t queue);
const char *thread_label(struct model *model, uint32_t thread);

/* ---- graph/: nodes, what runs joined to them ---- */
void graphs_free(struct model *model);
size_t graphs_bytes(const struct model *model);
/* EVENT_NODE, EVENT_INFO. */
void graph_define(struct model *model, const struct event *event);
/* An op has ended. */
void graph_ran(struct model *model, uint32_t ident, const struct event_op *op);
/* All before is final. Breathes. */
void graph_settled(struct model *model, int64_t settled_ns);
/* Where an op comes from; false: not known. */
bool graph_source(struct model *model, uint32_t ident, const char **file, uint32_t *line);
/* Adds the waits of its nodes for their last inputs. */
struct op_row;
void graph_latency(struct model *model, uint32_t ident, struct op_row *row);
struct model_export;
void graph_export(struct model_export *x, uint32_t process, int64_t time_ns);

#include "model/lanes/parts.h"

#endif
