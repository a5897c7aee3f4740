/* SPDX-License-Identifier: MIT */
/*
 * Results of the analyses for the screen and the report: why devices were idle, where a step's
 * time went, what overlapped, how fast copies were.
 *
 * Everything here is about settled time and is final. It follows the slices of the analyses, so
 * the very last steps may not be included yet. All functions need the model's lock [locked].
 * Times are ns of host 0's clock.
 */
#ifndef MODEL_QUERY_TIME_H
#define MODEL_QUERY_TIME_H

#include "model/query/query.h"

/* ---- why a device was idle: model/analyses/idle.c ---- */

enum idle_cause {
	IDLE_INPUT,		/* the launching thread waited for the next batch */
	/* the next work was being launched, or had been launched and had not started */
	IDLE_LAUNCH,
	IDLE_SYNC,		/* the launching thread waited, and nothing was queued */
	IDLE_COPY,		/* within a blocking copy, before its data moved */
	IDLE_HOST,		/* the launching thread ran other code, so that work came late */
	IDLE_OTHER,		/* unknown */
	IDLE_COUNT
};

struct idle_gap {
	int64_t start_ns, end_ns;
	/* these add up to the duration of the gap, as far as it has settled */
	int64_t ns[IDLE_COUNT];
};

/* From the start of the device's first work to the end of its last: ns[] add up to span - busy, as
 * far as that has settled. false: the device has done nothing yet. */
bool model_idle(struct model *model, uint32_t device, struct idle_gap *out);
/* Within [t0, t1): ns[] add up to the idle time there. Causes from long ago are kept only per
 * bucket of time, and are spread evenly over their bucket. */
bool model_idle_window(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		       struct idle_gap *out);
/* A device's shares of [t0, t1), excluding the time in which events were lost or the device was not
 * looked at (seen.c): span_ns is what remains, and all other members are about this remainder.
 * Returns false when model_device_window() does. */
struct device_unseen {
	int64_t lost_ns, paused_ns;	/* the two do not overlap */
	int64_t taken_ns;	/* of paused_ns: the program's own profiler had the device */
	bool rough;	/* too much was lost to exclude it, so that it is included */
};
bool model_device_seen(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		       struct device_row *out, struct idle_gap *gap, struct device_unseen *unseen);
/* For a device of model_devices(), from its first work to its last: why it was idle. If part of
 * that time was not observed, both *device and *idle are reduced to what was observed. */
void model_device_as_seen(struct model *model, struct device_row *device, struct idle_gap *idle,
			  struct device_unseen *unseen);
/* The gap at t_ns. false: the device was busy then, or the time has not settled, or the gap is too
 * short or too long ago. */
bool model_idle_at(struct model *model, uint32_t device, int64_t t_ns, struct idle_gap *out);
enum idle_cause idle_most(const struct idle_gap *gap);
const char *idle_name(enum idle_cause cause);	/* "input", "launch", ... */

/* What the thread that was waited for did, and where: model/analyses/host_time.h. */
struct host_time_row {
	enum doing_kind doing;
	/* of what time: enum idle_cause of a device, enum step_class of a step, enum path_kind of a
	 * critical path */
	uint8_t class;
	const char *file, *function;	/* "": unknown; *valid as long as the model* */
	uint32_t line;
	const char *what;		/* what it waited for: a file, a call; "": unknown */
	int64_t ns;
	int64_t looks;			/* so many said it, in 1/1000 */
};
/* What the launching thread did in the idle time of a device, of the causes input and host;
 * most time first; *rows is the caller's to free. gap: of which time, as model_idle(),
 * model_idle_window() and the like return it. What a cause has more than its rows is unknown. */
size_t model_idle_host(struct model *model, uint32_t device, const struct idle_gap *gap,
		       struct host_time_row **rows);

/* How much of the time of a class, class_ns, no row explains; 0 if no row is of that class. */
int64_t host_time_unknown(const struct host_time_row *rows, size_t n, int class, int64_t class_ns);

/* ---- what a step's time went to: model/analyses/breakdown.c ---- */

/* Each instant belongs to the first of these that applies. */
enum step_class {
	STEP_COMPUTE,		/* kernels run */
	STEP_COMM,		/* collectives run */
	STEP_H2D, STEP_D2H, STEP_D2D,	/* copies run; d2d stands for all other directions, too */
	STEP_COMPILE,
	STEP_LAUNCH,	/* work is being launched, or has been launched and has not started */
	STEP_SYNC,		/* the host waits for a device that runs nothing */
	STEP_INPUT,		/* the host fetches or waits for a batch */
	STEP_HOST,		/* the launching threads are within an op or range */
	STEP_OTHER,
	STEP_CLASS_COUNT
};

struct step_breakdown {
	int64_t number, start_ns, dur_ns;
	bool warm_up;
	/* events that were lost in the step; if any, it is excluded from the means */
	uint64_t lost;
	/* the device was not looked at during the step; then it is excluded, too */
	bool paused;
	/* its ops were not looked at (query/cost.h); likewise */
	bool bare;
	int64_t ns[STEP_CLASS_COUNT];	/* add up to dur_ns */
	/* All devices together: time of copies and collectives, and how much of it kernels hid. */
	int64_t copy_ns, copy_hidden_ns, comm_ns, comm_hidden_ns;
	uint64_t h2d_bytes, d2h_bytes, d2d_bytes;
};

/* The breakdown of the step that starts at start_ns. false: it has not settled, or it is too long
 * ago. */
bool model_step_breakdown(struct model *model, int64_t start_ns, struct step_breakdown *out);
/* Changes when one more step has been broken down. */
uint64_t model_step_breakdowns(struct model *model);
/* Mean over the steps after the warm-up; returns how many there are, 0: none. out->number is the
 * number of the last of them. */
uint64_t model_step_breakdown_mean(struct model *model, struct step_breakdown *out);
/* What the threads did in the classes input, host and other of such a step, and of the mean
 * step: most time first; *rows is the caller's to free. What a class has more than its rows is not
 * known. */
size_t model_step_host(struct model *model, const struct step_breakdown *step,
		       struct host_time_row **rows);
size_t model_step_host_mean(struct model *model, struct host_time_row **rows);
/* How much a step of that mean has of the time between two steps, which is in none of them, and
 * what the threads did then. Returns how many steps there are, 0: nothing is between them. */
uint64_t model_step_between(struct model *model, struct step_breakdown *out,
			    struct host_time_row **rows, size_t *n_rows);
const char *step_class_name(enum step_class class);	/* "compute", "h2d", ... */

/* The phases of a training step: model/analyses/phases.c. An instant belongs to the first of these
 * that applies. */
enum step_phase {
	PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_INPUT, PHASE_FORWARD, PHASE_OTHER, STEP_PHASES
};
struct step_phases {
	int64_t ns[STEP_PHASES];	/* these add up to whole_ns */
	int64_t whole_ns;
};
/* Mean over the steps after the warm-up; returns how many there are, 0: none had a backward
 * pass. */
uint64_t model_step_phases(struct model *model, struct step_phases *out);
const char *step_phase_name(enum step_phase phase);	/* "backward", ... */

/* What takes most of a step, including the time between steps: model/analyses/verdict.c */
enum step_bound_kind {
	BOUND_COMPUTE, BOUND_COMM, BOUND_INPUT, BOUND_LAUNCH, BOUND_COPY, BOUND_SYNC, BOUND_HOST,
	BOUND_COMPILE, BOUND_COUNT
};
struct step_bound {
	enum step_bound_kind kind;
	int64_t ns, whole_ns;		/* per step; per second if there are no steps */
	int64_t own_ns;			/* tftop's own part of a step, which whole_ns is without */
	bool steps;
};
/* false: too little has settled to tell. */
bool model_bound(struct model *model, struct step_bound *out);
const char *step_bound_name(enum step_bound_kind kind);

/* ---- what overlapped: model/analyses/overlap.c ---- */

struct overlap_row {
	uint32_t device;
	int64_t compute_ns, copy_ns, comm_ns;	/* union of the time of each */
	int64_t copy_hidden_ns, comm_hidden_ns;	/* how much of these was hidden by kernels */
};
bool model_overlap(struct model *model, uint32_t device, struct overlap_row *out);

/* ---- how fast copies were: model/analyses/bandwidth.c ---- */

struct bandwidth_row {
	uint32_t device;
	enum direction direction;
	uint64_t bytes, count;
	int64_t busy_ns;		/* while any such copy ran */
	uint64_t mean_bytes_per_s;	/* bytes divided by busy_ns */
	/* fastest single copy of at least 64 KiB, or of all copies if none is that large */
	uint64_t best_bytes_per_s;
	uint64_t step_bytes;		/* mean per step after the warm-up */
};
/* By device and direction; the caller owns *out. */
size_t model_bandwidth(struct model *model, struct bandwidth_row **out);

#endif
