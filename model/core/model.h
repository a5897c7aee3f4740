/* SPDX-License-Identifier: MIT */
/*
 * The model: what all of its parts share. Nothing outside of model/ includes this; events come in
 * by event.h, questions are asked by query/query.h.
 *
 * Each part keeps its state in a struct of its own, which the model owns and only that part uses.
 * Everything is protected by the model's lock. An event reaches its part as a `struct arrival`.
 */
#ifndef MODEL_CORE_MODEL_H
#define MODEL_CORE_MODEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/base/map.h"
#include "model/base/names.h"
#include "model/core/lock.h"
#include "model/core/notes.h"
#include "model/core/store.h"
#include "model/core/things.h"
#include "model/core/times.h"
#include "model/event.h"
#include "model/query/query.h"

/* An event that is being applied, and the process that it comes from. */
struct arrival {
	const struct event *event;	/* borrowed; its times are those of host 0 */
	struct process *process;
};

#define RECENT_PROCESSES 16u
#define RECENT_OPS 1024u
#define RECENT_KERNELS 512u

struct model {
	struct fair_lock lock;
	/* since when the feeding thread has the lock; INT64_MAX: it keeps it */
	int64_t slice_ns;
	size_t memory_limit, memory_bytes;
	_Atomic uint64_t generation;
	pthread_mutex_t feeding;	/* held by model_apply(), and by an export */

	struct names names;
	struct store processes, threads, devices, views, queues, shapes;	/* core/things.h */
	struct map process_by_pid;
	struct store rows, opens;	/* rows/rows.h */
	uint32_t free_open, n_alive_opens;
	struct store op_states, idents;	/* idents/idents.h */
	struct map ident_by_hash;
	size_t ident_bytes;		/* memory of their histograms */
	/* totals/ */
	struct store kernels, kernel_ops, kernel_shapes, copies, calls, compiles;
	struct map kernel_by_key, kernel_op_by_key, kernel_shape_by_key, copy_by_key;
	struct map call_by_name, compile_by_key;
	struct map nameless_kernels;	/* placeholders that kernels ran under */
	/* Small caches in front of the maps: what was found last. The entry itself shows whether it
	 * is the right one. */
	uint32_t recent_processes[RECENT_PROCESSES];
	uint32_t recent_kernels[RECENT_KERNELS];
	struct recent_op { uint32_t instance, state; } recent_ops[RECENT_OPS];	/* low bits */
	uint32_t free_state;
	uint64_t waiting_states;
	uint32_t *kept;			/* owned; ring of finished op_states */
	size_t kept_head, kept_n, kept_max;
	size_t pending_n;		/* how many commands wait for a clock or a queue */

	/* The state of the parts, all owned. */
	struct acts *acts;
	struct analyses *analyses;
	struct counters *counters;
	struct doing_sums *doings;	/* NULL: no thread was seen doing anything */
	struct edges *edges;
	struct flows *flows;
	struct graphs *graphs;		/* NULL: no graph was defined */
	struct hosts *hosts;
	struct inputs *inputs;
	struct join *join;
	struct journal *journal;
	struct source_lines *lines;		/* NULL: no op named its line */
	struct memory_state *memory;
	struct optree *optree;
	struct pools *pools;
	struct watch *watch;		/* NULL: nothing is watched */

	struct steps *steps;		/* owned */
	size_t n_steps, cap_steps;
	struct request_total *requests;	/* owned */
	size_t n_requests, cap_requests;
	struct steps *marked;		/* owned; per process, its outermost ranges */
	size_t n_marked, cap_marked;
	struct nameless *nameless;	/* owned */
	size_t n_nameless, cap_nameless;

	/* core/notes.h */
	struct model_loss *losses;	/* owned, by begin */
	size_t n_losses, cap_losses;
	/* how many were removed from the list, which shifted its indices */
	size_t losses_gone;
	/* of devices, by time; those that messages reported */
	int64_t clock_steps[CLOCK_STEPS_MAX];
	uint32_t n_clock_steps;
	struct message_row *messages;	/* owned */
	size_t n_messages, cap_messages;
	struct map message_by_text;
	struct bad bads[BAD_COUNT];
	int64_t noted_ns;		/* the time of an odd event; 0: live_ns */

	int64_t first_ns, last_ns, live_ns, alive_ns, settled_ns;
	/* the earliest start of what waits to be joined, 0: nothing waits */
	int64_t hold_ns;
	/* detail before this may be discarded; INT64_MIN: none is */
	int64_t folded_ns;
	bool finished, partial, paused;	/* paused: some process once was */
	uint64_t events, lost_events, lost_packets, bad, n_kernels, how[HOW_COUNT];
	int64_t device_ns, launched_ns, op_ns;
	uint64_t since_check;		/* events since memory was looked at */
	int64_t *thresholds;		/* owned; by enum threshold, analyses/thresholds.h */
};

/* When an event was written, as far as is known. */
static inline int64_t arrival_written_ns(const struct model *model, const struct arrival *in)
{
	return time_ok(in->event->time_ns) ? in->event->time_ns : model->live_ns;
}

static inline struct process *process_at(const struct model *model, uint32_t i)
{
	return store_at(&model->processes, i);
}

static inline struct thread *thread_at(const struct model *model, uint32_t i)
{
	return store_at(&model->threads, i);
}

static inline struct device *device_at(const struct model *model, uint32_t i)
{
	return store_at(&model->devices, i);
}

static inline struct device_view *view_at(const struct model *model, uint32_t i)
{
	return store_at(&model->views, i);
}

static inline struct queue *queue_at(const struct model *model, uint32_t i)
{
	return store_at(&model->queues, i);
}

/* The model's name of a process's name id: a placeholder until it is defined, 0 if id is 0. */
static inline uint32_t local_name(struct model *model, struct process *process, uint32_t id)
{
	uint32_t name = id ? map_get(&process->names, id) : 0;

	return name != MAP_NONE ? name : process_make_name(model, process, id);
}

static inline uint32_t thread_find(const struct model *model, uint32_t process, uint32_t tid)
{
	uint32_t last = process_at(model, process)->thread;

	return last != NONE && thread_at(model, last)->tid == tid ? last :
	       thread_search(model, process, tid);
}

/* The thread's index; the thread is made if it is new. */
static inline uint32_t thread_get(struct model *model, uint32_t process, uint32_t tid)
{
	uint32_t thread = thread_find(model, process, tid);

	return thread != NONE ? thread : thread_make(model, process, tid);
}

#endif
