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
	uint64_t launches;		/* commands handed over */
	int64_t call_p50_ns, call_p99_ns, call_max_ns;	/* of the host's calls that did not
							 * wait for the work; -1 none */
	/* From the end of that call to the start of the run, 0 when it began before;
	 * -1 none. */
	int64_t delay_p50_ns, delay_p99_ns, delay_max_ns;
	uint64_t kernels, shorter;	/* shorter: ran shorter than their launch call took */
	/* Depth: handed over and not begun. */
	int64_t watched_ns;		/* time that the following is about */
	uint64_t depth_milli;		/* mean over that time, in thousandths */
	uint32_t depth_max;
	int64_t empty_ns;		/* nothing handed over and nothing running */
	int64_t full_ns;		/* QUEUE_LIMIT or more handed over */
};

#define QUEUE_LIMIT 1024u		/* CUDA's; a launch that meets it waits */

/* By queue; only those that had something to do. [locked] */
size_t model_queue_work(struct model *model, struct queue_work **out);

/* ---- how a kernel's time went over the run ---- */

#define TREND_POINTS 16u

/* Means of equally many steps (seconds, without steps) each, oldest first; 0
 * where it did not run. The first 512 kernels and launch shapes only. */
struct kernel_trend {
	const char *raw_name;		/* as in kernel_row */
	uint32_t device;
	uint32_t n;			/* up to TREND_POINTS */
	int64_t mean_ns[TREND_POINTS];
};

/* One for each name and device. [locked] */
size_t model_kernel_trends(struct model *model, struct kernel_trend **out);

/* The same of ops: what all its calls took of a step (a second), on the host with the ops
 * they called, and of the devices launched with it on top. The first 1024 ops only;
 * a range of the user's if it is among the first 128. */
struct op_trend {
	const char *raw_name;		/* as in op_row */
	uint32_t n;			/* up to TREND_POINTS */
	int64_t op_ns[TREND_POINTS], device_ns[TREND_POINTS];
};

/* One for each name. [locked] */
size_t model_op_trends(struct model *model, struct op_trend **out);

/* ---- the critical path: at each moment of a step, what was waited for ---- */

enum path_kind {
	PATH_OP,		/* an op of a framework, on a thread of the host */
	PATH_HOST,		/* the host computed elsewhere, or what it did is not known */
	PATH_INPUT,		/* it made or fetched the next batch */
	PATH_LAUNCH,		/* it handed work over, or the work was on its way */
	PATH_QUEUE,		/* between two runs that follow each other */
	PATH_KERNEL, PATH_COPY, PATH_COMM,
	PATH_SYNC,		/* the host was told late that the device had finished */
	PATH_OTHER,		/* compiling, or nothing known */
	PATH_KINDS
};

struct critical_path {
	uint64_t steps;			/* 0: no steps, per second */
	int64_t whole_ns;		/* mean length of what it is about; 0 nothing yet */
	int64_t ns[PATH_KINDS];		/* mean; together whole_ns, but for rounding */
};

/* What the path led through, by its share of it. */
struct path_part {
	enum path_kind kind;
	const char *name;		/* kernel, op, call; NULL none */
	int64_t ns;			/* mean per step or second */
	uint64_t count;			/* in all */
};

/* Over all steps after the warm-up; at most `max` parts. [locked] */
size_t model_critical(struct model *model, struct critical_path *path, size_t max,
		      struct path_part **out);
/* Types of ops that the path leads through, where only the processor works: kind
 * means nothing, ns is a bound on what doing without that type could save. [locked] */
size_t model_critical_types(struct model *model, struct path_part **out);
/* Of the step that begins at start_ns, while it is one of the last PATH_STEPS. [locked] */
bool model_critical_step(struct model *model, int64_t start_ns, struct critical_path *path);

#define PATH_STEPS 1024u

const char *path_kind_name(enum path_kind kind);	/* "host", "input", ... */

#endif
