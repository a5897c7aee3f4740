/* SPDX-License-Identifier: MIT */
/*
 * One sweep over a slice, shared by the analyses that ask what was true at each
 * instant: idle causes, step breakdown, overlap.
 *
 * Idea: begins and ends of all acts in order of time; between two of them
 * nothing changes. The sweep keeps what each host thread and each device does,
 * and tells idle.c, breakdown.c and overlap.c of the stretches in between.
 *
 * Who counts as "the host" of a step are its workers: threads that launch
 * kernels within the slice (any work where there are none), and the one whose
 * ranges the steps are. The step's own range is not a doing. Where no thread is
 * known to go through the steps and no worker does anything known, a batch that
 * any thread makes or fetches is what is waited for. So it is, also where that
 * thread is known, for what a graph runs on a thread of a pool to fetch its batch.
 *
 * Launching, for idle causes and breakdown alike: while the launch call lasts, and
 * while what was handed over may take its moment to begin: launch-gap, from the
 * last instant at which the device worked or the call lasted. What has not begun
 * then waits for something that is not seen here: other.
 *
 * Complexity: O(n log n) for the order of ends (radix, near linear), O(1) per
 * edge, plus O(devices) where the making of batches begins or ends.
 */
#ifndef MODEL_SWEEP_H
#define MODEL_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/analyses/analyses.h"
#include "model/core/model.h"
#include "model/query/time.h"

enum host_state {
	HOST_NOTHING, HOST_CODE, HOST_INPUT, HOST_COMPILE, HOST_LAUNCH, HOST_SYNC,
	HOST_STATES
};

#define SWEEP_STACK 16

struct sweep_thread {
	uint32_t seen;			/* slice number in which the rest is valid */
	bool worker, fetching;
	uint32_t launching, waiting, compiling, ops, inputs;
	uint32_t wait_name;
	uint32_t stack[SWEEP_STACK];	/* names of open ops, the lowest ones */
	uint8_t input_at[SWEEP_STACK];	/* 1: that one is input */
	uint32_t devices;		/* idle ones that wait for this thread; list, NONE */
	int64_t input_since_ns;
};

struct idle_device {
	bool known;			/* it ran something once */
	uint32_t thread;		/* who launches: of the next run, else of the last */
	uint32_t next, prev;		/* in the thread's list */
	bool linked;
	int64_t from_ns;		/* of the open gap: counted up to here */
	bool open;			/* there is one */
	int64_t call_ns;		/* launch of what ends it; INT64_MAX not known */
	bool copies;			/* that is a blocking copy */
	int64_t handed_ns;		/* of the open gap: launching up to here, or its start */
	struct idle_gap gap, total;
	struct idle_gap *ring;		/* owned */
	size_t ring_n, ring_cap, ring_head;
	struct idle_bucket *buckets;	/* owned */
	size_t buckets_n, buckets_cap;
	int64_t bucket_ns, base_ns;
};

/* Bits of what a device does. */
enum { DOES_COMPUTE = 1, DOES_COMM = 2, DOES_COPY = 4 };

struct sweep_device {
	uint32_t compute, comm, copies;	/* running now */
	uint32_t next;			/* act that runs next in this slice, NONE */
	int64_t since_ns;		/* its overlap is counted up to here */
	int64_t mask_ns[8];		/* whole run, by bits */
	struct idle_device idle;
};

/* Names and how much each holds; few, the least goes when it is full. */
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
	int64_t worst_ns[STEP_CLASS_COUNT];	/* the step with most of it */
	int64_t worst_t0[STEP_CLASS_COUNT], worst_t1[STEP_CLASS_COUNT];
};

struct input_thread { uint32_t thread; int64_t busy_ns; };
#define INPUT_THREADS 64

struct breakdown {
	struct step_breakdown now;	/* of the slice in hand */
	bool open;			/* a piece of it came, more will */
	struct step_breakdown *rows;	/* owned, by start */
	size_t n, cap;
	uint64_t kept;			/* rows ever */
	struct step_sums steps, between;	/* after the warm-up */
	struct step_sums seconds;	/* as long as there are no steps */
	/* who holds the exposed time */
	struct holders held[HOST_STATES], now_held[HOST_STATES];
	struct holders made, now_made;	/* by ops of threads that make batches */
	uint32_t holder[HOST_STATES];	/* thread that did so last, plus 1 */
	struct input_thread inputs[INPUT_THREADS], now_inputs[INPUT_THREADS];
	uint32_t n_inputs, n_now_inputs;
	int64_t first_ns;		/* of the first step after the warm-up */
	uint64_t launches, now_launches;	/* in what is averaged */
	int64_t launch_call_ns, now_launch_ns;
	size_t series;			/* of the steps that are averaged, plus 1 */
};

struct slice_sweep {
	struct sweep_device *devices;	/* owned */
	uint32_t n_devices;
	struct sweep_thread *threads;	/* owned */
	uint32_t n_threads;
	uint32_t number;		/* of the slice */
	uint32_t *after;		/* owned; of each run the next one on its device */
	size_t cap;
	/* now */
	const struct slice *slice;
	uint32_t process;		/* of the steps, NONE: any */
	uint32_t step_thread;		/* whose ranges the steps are, NONE: not known */
	uint32_t step_name;		/* of the functions whose runs the steps are, 0 none */
	int64_t now_ns, launch_gap_ns;
	int64_t handed_ns;		/* a device worked or a worker launched up to here */
	bool host_only;			/* no device but the processor works in this slice */
	uint32_t compute, comm, h2d, d2h, d2d, queued;	/* of that process */
	uint32_t foreign;		/* device work of other processes, running now */
	uint32_t workers[HOST_STATES], inputs;
	uint32_t fetches;		/* ACT_FETCH that no worker is in */
	uint32_t input_thread, wait_thread, code_thread;	/* that came to it last */
	uint32_t fetch_name;
	struct breakdown breakdown;
};

/* It is of the process whose steps these are. */
static inline bool sweep_has(const struct slice_sweep *sweep, const struct act *act)
{
	return sweep->process == NONE || act->process == sweep->process;
}

static inline bool sweep_waits_for_others(const struct slice_sweep *sweep)
{
	return sweep->fetches || (sweep->inputs && sweep->step_thread == NONE);
}
/* What a thread does. */
static inline enum host_state sweep_state(const struct sweep_thread *thread)
{
	return thread->waiting ? HOST_SYNC : thread->launching ? HOST_LAUNCH :
	       thread->compiling ? HOST_COMPILE : thread->inputs ? HOST_INPUT :
	       thread->ops ? HOST_CODE : HOST_NOTHING;
}
/* Of [from_ns, to_ns): as much as belongs to the moment that work takes to begin. */
static inline int64_t sweep_moment(const struct slice_sweep *sweep, int64_t handed_ns,
				   int64_t from_ns, int64_t to_ns)
{
	int64_t until_ns = handed_ns + sweep->launch_gap_ns;

	return until_ns <= from_ns ? 0 : (until_ns < to_ns ? until_ns : to_ns) - from_ns;
}
struct slice_sweep *sweep_of(const struct model *model);
/* NULL: it did nothing yet. */
struct sweep_device *sweep_device_of(const struct model *model, uint32_t device);
struct sweep_thread *sweep_thread_at(struct slice_sweep *sweep, uint32_t thread);

/* ---- idle.c ---- */
/* The device became idle, or is at the begin of a slice: a gap begins or goes on. */
void idle_begins(struct model *model, struct slice_sweep *sweep, uint32_t device, int64_t t_ns);
/* It begins to work. */
void idle_ends(struct model *model, struct slice_sweep *sweep, uint32_t device, int64_t t_ns);
/* What the thread does will change: the devices that wait for it are counted. */
void idle_count(struct slice_sweep *sweep, uint32_t thread, int64_t t_ns);
/* The slice is over. */
void idle_pause(struct slice_sweep *sweep, uint32_t device, int64_t t_ns);
void idle_release(struct idle_device *idle);
size_t idle_bytes(const struct idle_device *idle);

/* ---- breakdown.c ---- */
void breakdown_begin(struct model *model, struct slice_sweep *sweep);
/* Nothing changed since sweep->now_ns. */
void breakdown_piece(struct slice_sweep *sweep, int64_t dur_ns);
void breakdown_end(struct model *model, struct slice_sweep *sweep);
/* A thread that is no worker made batches for so long. */
void breakdown_input(struct slice_sweep *sweep, uint32_t thread, int64_t busy_ns);
void breakdown_release(struct breakdown *breakdown);
size_t breakdown_bytes(const struct breakdown *breakdown);

/* ---- overlap.c ---- */
void overlap_piece(struct slice_sweep *sweep, struct sweep_device *device, int64_t t_ns);

/* ---- verdict.c ---- */
/* The finding's lines and advice from the stages of an input pipeline, stages.c;
 * false: there is none. whole_ns: the step, of it cost_ns is waited. */
struct finding;
bool stages_review(struct model *model, uint32_t process, int64_t whole_ns,
		   struct finding *finding);
/* loader.c: the same of a DataLoader, whose op the wait is held by (its whole name). */
bool loader_review(struct model *model, uint32_t process, const char *held, int64_t whole_ns,
		   struct finding *finding);
/* Processes that it has forked and that were there at that time. */
unsigned loader_workers(const struct model *model, uint32_t process, int64_t at_ns);

/* What is counted of the time from one step to the next, in the mean. */
int64_t verdict_between_ns(const struct model *model);
void verdict_review(struct model *model, const struct slice_sweep *sweep,
		    struct findings *findings);

#endif
