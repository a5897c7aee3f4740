/* SPDX-License-Identifier: MIT */
/*
 * One sweep over a slice, shared by the analyses that ask what was true at each instant: idle
 * causes, step breakdown, overlap.
 *
 * Idea: the starts and ends of all acts are visited in the order of time; between two of them
 * nothing changes. The sweep tracks what each host thread and each device does, and reports the
 * stretches in between to idle.c, breakdown.c and overlap.c.
 *
 * "The host" of a step is its workers: the threads that launch kernels within the slice (any
 * work, if none launches kernels), and the thread whose ranges are the steps. The step's own
 * range does not count as an activity. If no thread is known to go through the steps and no
 * worker does anything known, the step waits for a batch that any other thread makes or
 * fetches. The same applies, even if that thread is known, to what a graph runs on a thread of
 * a pool to fetch its batch.
 *
 * Launching means the same for idle causes and breakdown: the time of the launch call, and then
 * the moment that work may take to begin: launch-gap, counted from the last instant at which
 * the device worked or the call was running. Work that has not begun by then waits for
 * something that tftop does not see: other.
 *
 * Complexity: O(n log n) for the order of the ends (a radix sort, nearly linear), O(1) per
 * edge, and O(devices) where the making of batches begins or ends.
 */
#ifndef MODEL_SWEEP_H
#define MODEL_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/analyses/analyses.h"
#include "model/analyses/host_maker.h"
#include "model/analyses/host_time.h"
#include "model/analyses/pairs.h"
#include "model/base/hist.h"
#include "model/core/model.h"
#include "model/host/doings.h"
#include "model/query/time.h"

enum host_state {
	HOST_NOTHING, HOST_CODE, HOST_INPUT, HOST_COMPILE, HOST_LAUNCH, HOST_SYNC,
	HOST_STATES
};

#define SWEEP_STACK 16

struct sweep_thread {
	uint32_t seen;	/* number of the slice for which the other members are valid */
	bool worker, fetching;
	uint32_t launching, waiting, compiling, ops, inputs;
	uint32_t wait_name;
	uint32_t stack[SWEEP_STACK];	/* names of open ops, from the outermost */
	uint8_t input_at[SWEEP_STACK];	/* 1: that op makes or fetches batches */
	uint32_t devices;		/* list of the idle devices that wait for this thread */
	int64_t input_since_ns;
};

struct idle_device {
	bool known;			/* the device has run something */
	uint32_t thread;	/* the thread that launched its next run, or else its last one */
	uint32_t next, prev;		/* neighbours in the thread's list */
	bool linked;
	int64_t from_ns;		/* the open gap is counted up to here */
	bool open;			/* a gap is open */
	/* when the work that ends the gap was launched; INT64_MAX: unknown */
	int64_t call_ns;
	bool copies;			/* that work is a blocking copy */
	/* for the open gap: how far the time of launching reaches, or the gap's start */
	int64_t handed_ns;
	struct idle_gap gap, total;
	struct idle_gap *ring;		/* owned */
	size_t ring_n, ring_cap, ring_head;
	struct idle_bucket *buckets;	/* owned */
	size_t buckets_n, buckets_cap;
	int64_t bucket_ns, base_ns;
	struct host_time host;
	struct host_input input;	/* that goes on */
	struct doing_waits waits;	/* of the open gap */
};

/* Bits for what a device does. */
enum { DOES_COMPUTE = 1, DOES_COMM = 2, DOES_COPY = 4 };

struct sweep_device {
	uint32_t compute, comm, copies;	/* how many of each run now */
	uint32_t next;			/* the act that runs next in this slice, or NONE */
	int64_t since_ns;		/* its overlap has been counted up to here */
	int64_t mask_ns[8];		/* time by the bits that were set, over the whole run */
	struct idle_device idle;
};

/* A few names and how much time each holds; when the list is full, the smallest is replaced. */
#define HOLDERS 32
struct holders {
	struct holder { uint32_t name; int64_t ns; uint64_t count; } list[HOLDERS];
	int n;
};
void holders_add(struct holders *holders, uint32_t name, int64_t ns);
void holders_take(struct holders *holders, const struct holder *one);
const struct holder *holders_most(const struct holders *holders);

/* Sums over slices. */
struct step_sums {
	uint64_t n;
	struct step_breakdown sum;
	int64_t worst_ns[STEP_CLASS_COUNT];	/* the step that has most time of each class */
	int64_t worst_t0[STEP_CLASS_COUNT], worst_t1[STEP_CLASS_COUNT];
};

struct input_thread { uint32_t thread; int64_t busy_ns; };
#define INPUT_THREADS 64

/* What tftop adds to a step: own.c. */
struct own_pairs {
	struct step_pairs of[STEP_CLASS_COUNT + 1];	/* by class; the last: of the whole step */
	bool host_only;			/* of the last step */
};
/* How much of a mean step is tftop's. */
struct own_part { int64_t whole_ns, ns[STEP_CLASS_COUNT]; };

/* Launch calls that do not wait for the work: of steps, of seconds, of bare steps. */
enum { CALLS_STEP, CALLS_TIME, CALLS_BARE, CALLS_COUNT };

struct breakdown {
	struct step_breakdown now;	/* sums of the current slice */
	bool open;	/* a step that arrives in several slices has not ended yet */
	struct step_breakdown *rows;	/* owned, by start */
	size_t n, cap;
	uint64_t kept;			/* number of rows so far, including dropped ones */
	/* after the warm-up; outside: what is between steps, but too long to count with them */
	struct step_sums steps, between, outside;
	struct step_sums seconds;	/* used as long as there are no steps */
	/* the names that hold the exposed time */
	struct holders held[HOST_STATES], now_held[HOST_STATES];
	struct holders made, now_made;	/* by ops of other threads, which make batches */
	uint32_t holder[HOST_STATES];	/* the last thread in that state, plus 1 */
	struct input_thread inputs[INPUT_THREADS], now_inputs[INPUT_THREADS];
	uint32_t n_inputs, n_now_inputs;
	int64_t first_ns;		/* start of the first step after the warm-up */
	/* of the slices in the means: in how many only the processor worked, or another device */
	uint64_t on_processor, on_device;
	uint32_t through;	/* the thread that goes through those, plus 1 */
	uint64_t launches, now_launches;	/* launches in the slices that the means cover */
	struct hist calls[CALLS_COUNT], gaps;	/* gaps: each time between two steps */
	struct own_pairs own;
	struct host_time host;	/* by enum step_class; its sums: of the steps in the means */
	struct host_input input;	/* that goes on */
	struct host_parts between_host, outside_host;
	size_t series;			/* series of the steps in the means, plus 1 */
};

struct slice_sweep {
	struct sweep_device *devices;	/* owned */
	uint32_t n_devices;
	struct sweep_thread *threads;	/* owned */
	uint32_t n_threads;
	uint32_t number;		/* number of the slice */
	uint32_t *after;		/* owned; for each run the next one on its device */
	size_t cap;
	/* at the current instant of the sweep */
	struct model *model;		/* borrowed, during a slice */
	const struct slice *slice;
	uint32_t process;		/* process of the steps; NONE: any */
	uint32_t step_thread;		/* the thread whose ranges are the steps; NONE: unknown */
	uint32_t first_thread;		/* that, or else the one that launches or works first */
	/* where only the processor works: the one that the others wait for while no op runs */
	uint32_t asking_thread, main_thread;	/* main: of the steps' process, once it ran an op */
	uint32_t ran_thread;	/* the last one that ran a kernel of the processor's; NONE */
	uint32_t step_name;	/* name of the functions whose runs are the steps; 0: none */
	int64_t now_ns, launch_gap_ns;
	int64_t handed_ns;		/* up to here a device worked or a worker launched */
	bool host_only;			/* no device except the processor works in this slice */
	/* how many of each run now, of the steps' process */
	uint32_t compute, comm, h2d, d2h, d2d, queued;
	uint32_t foreign;		/* device work of other processes, running now */
	uint32_t workers[HOST_STATES], inputs;
	uint32_t compiles;	/* open compilations of the steps' process, on any thread */
	uint32_t fetches;	/* open acts with ACT_FETCH on threads that are not workers */
	/* the last thread that was in that state */
	uint32_t input_thread, wait_thread, code_thread;
	uint32_t fetch_name;
	struct breakdown breakdown;
};

/* Whether the act belongs to the process whose steps these are. */
static inline bool sweep_has(const struct slice_sweep *sweep, const struct act *act)
{
	return sweep->process == NONE || act->process == sweep->process;
}

static inline bool sweep_waits_for_others(const struct slice_sweep *sweep)
{
	return sweep->fetches || (sweep->inputs && sweep->step_thread == NONE);
}
/* What a thread does at the current instant. */
static inline enum host_state sweep_state(const struct sweep_thread *thread)
{
	return thread->waiting ? HOST_SYNC : thread->launching ? HOST_LAUNCH :
	       thread->compiling ? HOST_COMPILE : thread->inputs ? HOST_INPUT :
	       thread->ops ? HOST_CODE : HOST_NOTHING;
}
/* How much of [from_ns, to_ns) lies in the moment that launched work may take to begin. */
static inline int64_t sweep_moment(const struct slice_sweep *sweep, int64_t handed_ns,
				   int64_t from_ns, int64_t to_ns)
{
	int64_t until_ns = handed_ns + sweep->launch_gap_ns;

	return until_ns <= from_ns ? 0 : (until_ns < to_ns ? until_ns : to_ns) - from_ns;
}
struct slice_sweep *sweep_of(const struct model *model);
/* sweep_threads.c: who works in the slice, goes through the steps and waits for others. */
void sweep_find_threads(struct slice_sweep *sweep);
/* Whether the op is the step itself: its range, or its run if steps are runs of a function. */
bool sweep_is_step(const struct slice_sweep *sweep, const struct act *act);
/* Whether the program's work runs on the processor alone: in more of the steps (where there are
 * none, of the seconds) than not. The last slice says nothing, it may lie after all work. */
bool sweep_on_processor(const struct slice_sweep *sweep);
/* The thread that waits while a pool works on what it handed over, in the slice that was swept
 * last; NONE: no pool does. */
static inline uint32_t sweep_asking_pool(const struct slice_sweep *sweep)
{
	return sweep->host_only && (sweep->step_thread == NONE || sweep->step_name) ?
	       sweep->main_thread : NONE;
}
/* NULL: the device has done nothing yet. */
struct sweep_device *sweep_device_of(const struct model *model, uint32_t device);
struct sweep_thread *sweep_thread_at(struct slice_sweep *sweep, uint32_t thread);

/* ---- idle.c ---- */
/* The device became idle, or is idle at the start of a slice: a gap begins or goes on. */
void idle_begins(struct model *model, struct slice_sweep *sweep, uint32_t device, int64_t t_ns);
/* The device begins to work. */
void idle_ends(struct model *model, struct slice_sweep *sweep, uint32_t device, int64_t t_ns);
/* The thread is about to change what it does: counts the gaps that wait for it up to t_ns. */
void idle_count(struct slice_sweep *sweep, uint32_t thread, int64_t t_ns);
/* The slice ends at t_ns. */
void idle_pause(struct slice_sweep *sweep, uint32_t device, int64_t t_ns);
/* Whether earlier pieces of what the host did were discarded. */
bool idle_host_dropped(const struct idle_device *idle, uint32_t device);
void idle_release(struct idle_device *idle);
size_t idle_bytes(const struct idle_device *idle);

/* ---- host_wait.c ---- */
/* What can be done about a wait of that kind; "": nothing is known. */
const char *host_wait_advice(enum doing_kind doing);
struct finding;
/* Adds a line to the finding that says where the host spends most of that class, if half of it or
 * more is known to be of one place; known: what the finding names already, which is not repeated.
 */
void host_wait_line(struct model *model, enum step_class class, const char *known,
		    struct finding *finding);
/* step_ns: how long a step takes; steps: false: it is a second. compiles: compilations in the steps
 * are known. */
void host_wait_review(struct model *model, const struct slice_sweep *sweep, int64_t step_ns,
		      bool steps, bool compiles, struct findings *findings);

/* ---- breakdown.c ---- */
/* As model_step_breakdown_mean() and model_step_host_mean(), with the time between steps. */
uint64_t breakdown_whole(struct model *model, struct step_breakdown *out,
			 struct host_time_row **rows, size_t *n);
void breakdown_begin(struct model *model, struct slice_sweep *sweep);
/* Adds a stretch of dur_ns from sweep->now_ns on, in which nothing changed. */
void breakdown_piece(struct slice_sweep *sweep, int64_t dur_ns);
void breakdown_end(struct model *model, struct slice_sweep *sweep);
/* A thread that is not a worker made batches for busy_ns. */
void breakdown_input(struct slice_sweep *sweep, uint32_t thread, int64_t busy_ns);
void breakdown_release(struct breakdown *breakdown);
size_t breakdown_bytes(const struct breakdown *breakdown);

/* ---- own.c ---- */
/* The step whose sums are in breakdown.now has ended. */
void own_step(struct slice_sweep *sweep);
void own_release(struct own_pairs *own);
size_t own_bytes(const struct own_pairs *own);
/* What tftop adds to a step of which these are the mean times by class; all 0 where tftop's cost
 * is not measured. */
void own_take(const struct model *model, const struct breakdown *b,
	      const int64_t ns[STEP_CLASS_COUNT], struct own_part *out);

/* ---- overlap.c ---- */
void overlap_piece(struct slice_sweep *sweep, struct sweep_device *device, int64_t t_ns);

/* ---- verdict.c ---- */
/* Writes the finding's lines and advice from the stages of an input pipeline, see stages.c;
 * false: there is no such pipeline. whole_ns: duration of a step, of which finding->cost_ns is
 * the wait. */
bool stages_review(struct model *model, uint32_t process, int64_t whole_ns,
		   struct finding *finding);
/* The same for a DataLoader, see loader.c; held: the full name of its op that holds the wait. */
bool loader_review(struct model *model, uint32_t process, const char *held, int64_t whole_ns,
		   struct finding *finding);
/* Whether it is a child of the process, or one that a fork server started for it, and was running
 * at that time; how many there were. */
bool loader_is_worker(const struct model *model, uint32_t process, uint32_t child,
		      int64_t at_ns);
unsigned loader_workers(const struct model *model, uint32_t process, int64_t at_ns);

/* The mean time between two steps, as far as it is counted. */
int64_t verdict_between_ns(const struct model *model);
void verdict_review(struct model *model, const struct slice_sweep *sweep,
		    struct findings *findings);

#endif
