/* SPDX-License-Identifier: MIT */
/*
 * Results of the analyses of launches, kernels, ops and steps beyond their findings. As in
 * query.h, functions marked [locked] need the model's lock; arrays given out are snapshots, owned
 * by the caller, freed with free().
 *
 * Everything here is about settled time and follows it one step behind (one second if there are
 * no steps).
 */
#ifndef MODEL_QUERY_WORK_H
#define MODEL_QUERY_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

/* ---- launches and the queues they go to ---- */

struct queue_work {
	uint32_t queue;			/* model-wide, as in queue_row */
	uint64_t launches;		/* commands launched to the queue */
	/* durations of the host's calls that did not wait for the work; -1: none */
	int64_t call_p50_ns, call_p99_ns, call_max_ns;
	/* From the end of the call to the start of the run, 0 if the run started before; -1:
	 * none. */
	int64_t delay_p50_ns, delay_p99_ns, delay_max_ns;
	/* shorter: kernels whose run was shorter than their launch call */
	uint64_t kernels, shorter;
	/* Depth: commands that have been launched and have not started. */
	int64_t watched_ns;		/* the time that the following members are about */
	uint64_t depth_milli;		/* mean over that time, in thousandths */
	uint32_t depth_max;
	int64_t empty_ns;		/* time in which nothing was queued and nothing ran */
	int64_t full_ns;		/* time in which QUEUE_LIMIT or more commands were queued */
};

#define QUEUE_LIMIT 1024u		/* CUDA's limit; a launch that reaches it waits */

/* One row for each queue that had work. [locked] */
size_t model_queue_work(struct model *model, struct queue_work **out);

/* ---- how the mean duration of a kernel changed over the run ---- */

#define TREND_POINTS 16u

/* Means over equally many steps each (over seconds, if there are no steps), oldest first; 0 where
 * the kernel did not run. Only the first 512 pairs of kernel and launch shape are followed. */
struct kernel_trend {
	const char *raw_name;		/* as in kernel_row */
	uint32_t device;
	uint32_t n;			/* up to TREND_POINTS */
	int64_t mean_ns[TREND_POINTS];
};

/* One for each name and device. [locked] */
size_t model_kernel_trends(struct model *model, struct kernel_trend **out);

/* The same for ops: what all calls of an op took per step (or per second), on the host including
 * the ops that they called, and on devices the work launched directly in them. Only the first 1024
 * ops are followed; a range of the user must be among the first 128. */
struct op_trend {
	const char *raw_name;		/* as in op_row */
	uint32_t n;			/* up to TREND_POINTS */
	int64_t op_ns[TREND_POINTS], device_ns[TREND_POINTS];
};

/* One for each name. [locked] */
size_t model_op_trends(struct model *model, struct op_trend **out);

/* ---- the critical path: what was being waited for at each moment of a step ---- */

enum path_kind {
	PATH_OP,		/* an op of a framework, on a thread of the host */
	PATH_HOST,	/* the host computed something outside of ops, or what it did is unknown */
	PATH_INPUT,		/* the host made or fetched the next batch */
	PATH_LAUNCH,	/* the host launched work, or the work was on its way to the device */
	PATH_QUEUE,		/* the time between two consecutive runs on a queue */
	PATH_KERNEL, PATH_COPY, PATH_COMM,
	PATH_SYNC,		/* the host learnt late that the device had finished */
	PATH_OTHER,		/* compiling, or unknown */
	PATH_KINDS
};

struct critical_path {
	uint64_t steps;			/* 0: there are no steps, so that numbers are per second */
	int64_t whole_ns;		/* mean duration of a step or second; 0: nothing yet */
	int64_t ns[PATH_KINDS];		/* means; they add up to whole_ns, except for rounding */
};

/* What the path led through, sorted by its share. */
struct path_part {
	enum path_kind kind;
	const char *name;		/* name of a kernel, op or call; NULL: none */
	int64_t ns;			/* mean per step or second */
	uint64_t count;			/* total number */
};

/* The path over all steps after the warm-up, with at most `max` parts. [locked] */
size_t model_critical(struct model *model, struct critical_path *path, size_t max,
		      struct path_part **out);
/* The types of ops that the path leads through where only the processor works. kind has no meaning
 * here; ns is an upper bound of what could be saved by removing this type. [locked] */
size_t model_critical_types(struct model *model, struct path_part **out);
/* The path of the step that starts at start_ns, if it is one of the last PATH_STEPS steps.
 * [locked] */
bool model_critical_step(struct model *model, int64_t start_ns, struct critical_path *path);

#define PATH_STEPS 1024u

/* What the threads on the path did in its edges of the kinds host and input (enum path_kind is the
 * row's class), of the means of model_critical() and of such a step: as model_step_host() of
 * query/time.h. [locked] */
struct host_time_row;
size_t model_critical_host(struct model *model, struct host_time_row **rows);
size_t model_critical_step_host(struct model *model, int64_t start_ns,
				struct host_time_row **rows);

const char *path_kind_name(enum path_kind kind);	/* in JSON: "host", "input", ... */
/* For people: not a word of the classes of a step, whose times are other ones. */
const char *path_kind_label(enum path_kind kind);

#endif
