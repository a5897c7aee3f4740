/* SPDX-License-Identifier: MIT */
/*
 * Processes and what their ids stand for: names, threads, devices, queues, launch shapes. They
 * refer to each other by index (stores never move an element), never by pointer, so that an index
 * in a span stays valid.
 */
#ifndef MODEL_CORE_THINGS_H
#define MODEL_CORE_THINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/base/hist.h"
#include "model/base/map.h"
#include "model/clocks/clock.h"
#include "model/core/bares.h"
#include "model/core/doings.h"
#include "model/core/pauses.h"
#include "model/core/pending.h"
#include "model/core/store.h"
#include "model/event.h"
#include "model/lanes/cover.h"
#include "model/query/query.h"

/* Bounds: anything beyond them is counted as odd (notes.h) and left out. */
#define PROCESSES_MAX 16384u
#define THREADS_MAX (1u << 20)
#define DEVICES_MAX 4096u
#define QUEUES_MAX 65536u
#define SHAPES_MAX (1u << 20)

/* the times of compilations at least this long are kept */
#define COMPILE_LONG_NS 1000000

/* A list linked by the `next` of its elements, in the order of arrival. */
struct index_list {
	uint32_t first, last;		/* NONE: empty */
};

struct device {
	bool processor;			/* its runs are parts of ops, they are not launched */
	bool alias;			/* turned out to be the same as another device: hidden */
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
	uint32_t number;	/* its number among the devices of its kind, for the label */
};

/* A device as one process sees it: with that process's ids and clock. */
struct device_view {
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
	/* when it was last searched for announced commands whose end was lost */
	int64_t looked_ns;
	struct hist delay;
	struct pendings pending;
	/* owned; NULL: no launch arrived separately from its run */
	struct join_fifo *fifo;
};

struct thread {
	uint32_t process, tid, name, row;
	struct doings doings;
};

struct launch_shape {
	uint32_t dims;
	uint64_t global[3];
	uint32_t local[3];
	uint32_t text;			/* name: the problem size; 0: none */
	uint64_t flop;			/* floating-point operations; 0: unknown */
	uint32_t registers, shared_static, shared_dynamic;	/* per thread; bytes per block */
};

/* The process's threads in the order they are shown. */
struct row_order {
	uint32_t *threads;		/* owned */
	size_t n, cap;
	uint32_t seen;			/* threads of the model looked at so far */
};

struct process {
	uint32_t index;			/* its own, in model->processes */
	uint16_t host;
	uint32_t pid;
	int32_t parent, starter, rank;	/* starter: as in def_process */
	uint32_t host_name, command;
	int64_t start_ns;
	bool defined, exited, execed;
	bool said_exit;			/* it reported its end itself */
	bool replaced;			/* by another program with the same pid */
	int64_t defined_ns;		/* when the definition was written */
	int exit_status, exit_signal;
	/* when model_set_exited() was called, 0: the process reported its exit itself */
	int64_t exit_seen_ns;
	size_t n_probes;
	uint32_t probes[8], blind[8];
	uint32_t row, ranges, compiles;	/* rows: its own, of ranges off any stack, … */
	struct index_list thread_rows;	/* and that of the ranges */
	struct row_order order;
	struct merged merged;		/* its threads' */
	struct cover compiling;		/* compilations of COMPILE_LONG_NS and more */
	uint64_t compiled;		/* how many of these there were */
	struct map names, views, queues, threads, shapes;	/* local id -> index */
	uint32_t thread;		/* the thread asked for last, or NONE */
	struct map ops;			/* instance -> op_state */
	struct map opens;		/* correlation -> open_span */
	struct done_ring done[2];	/* finished commands: numbered by the probes, by CUPTI */
	struct met *mets;		/* owned; METS by correlation, or NULL */
	struct join_ids ids;
	int64_t settled_ns, seen_ns;	/* 0: none; time of the last event that was written */
	uint64_t beat_calls, counted_calls, dropped;
	struct pauses pauses;
	struct bares bares;
	struct event_cost cost;		/* as told last; steps 0: not told */
	int64_t own_ns;
};

/* Makes a placeholder for a name id of a process until it is defined. */
uint32_t process_make_name(struct model *model, struct process *process, uint32_t id);
/* The process with this pid, made if it is new; NULL: there is no room. */
struct process *process_get(struct model *model, uint16_t host, uint32_t pid);
/* Makes a process of its own for another program with the same pid; NULL: there is no room. */
struct process *process_new(struct model *model, uint16_t host, uint32_t pid);
/* The process of an event; NONE: unknown so far. */
uint32_t process_known(const struct model *model, const struct event *event);

/* The queue with this id, made if it is new; NONE: there is no room. */
uint32_t process_queue_get(struct model *model, struct process *process, uint32_t id);
/* The view with this id, made with a device of its own if it is new; NONE: there is no room. */
uint32_t view_get(struct model *model, uint32_t process, uint32_t id);
/* Makes a view of a device; NONE: device is NONE, or there is no room. */
uint32_t view_make(struct model *model, uint32_t process, uint32_t id, uint32_t device);
uint32_t device_make(struct model *model, uint16_t host);	/* NONE: there is no room */
/* The device of a queue; NONE: unknown so far. */
uint32_t queue_device(const struct model *model, const struct queue *queue);
/* Whether the queue's device is a processor, so that its work is a part of the ops. */
bool queue_on_processor(const struct model *model, uint32_t queue);

/* The index of a thread; NONE: the thread is unknown, and (thread_make) there is no room for it. */
uint32_t thread_search(const struct model *model, uint32_t process, uint32_t tid);
uint32_t thread_make(struct model *model, uint32_t process, uint32_t tid);

/* Labels for the screen; interned. */
const char *device_label(struct model *model, uint32_t device);
const char *queue_label(struct model *model, uint32_t queue);
const char *thread_label(struct model *model, uint32_t thread);
const char *process_label(struct model *model, const struct process *process);
/* Whether several processes use the device; the labels of its queues then name the pid. */
bool device_is_shared(const struct model *model, uint32_t device);
/* The queue's label, with the pid if its device is shared. */
const char *queue_label_of(struct model *model, const struct queue *queue, bool shared);

#endif
