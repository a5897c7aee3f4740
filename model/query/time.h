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
	IDLE_LAUNCH,		/* the next work was being handed over, or was and did not begin */
	IDLE_SYNC,		/* the launching thread waited, and nothing was queued */
	IDLE_COPY,		/* within a blocking copy, before its data moved */
	IDLE_HOST,		/* the launching thread ran other code: work came late */
	IDLE_OTHER,		/* not known */
	IDLE_COUNT
};

struct idle_gap {
	int64_t start_ns, end_ns;
	int64_t ns[IDLE_COUNT];		/* add up to its length, as far as it has settled */
};

/* From the device's first work to its last: ns[] add up to span - busy, where
 * that is settled. false: it did nothing yet. */
bool model_idle(struct model *model, uint32_t device, struct idle_gap *out);
/* Within [t0, t1): ns[] add up to the idle time there. Detail that is long past
 * is spread over the buckets it is kept in. */
bool model_idle_window(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		       struct idle_gap *out);
/* A device's shares of [t0, t1) without the time in which events were lost, or
 * the level was off (seen.c): span_ns is what is left, all else within it.
 * false: as model_device_window(). */
struct device_unseen {
	int64_t lost_ns, paused_ns;	/* apart from each other */
	bool rough;			/* too much was lost: that is not left out */
};
bool model_device_seen(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		       struct device_row *out, struct idle_gap *gap, struct device_unseen *unseen);
/* Of a device of model_devices(), from its first work to its last: why it was idle. Where
 * something was not seen, both become what was seen besides. */
void model_device_as_seen(struct model *model, struct device_row *device, struct idle_gap *idle,
			  struct device_unseen *unseen);
/* The gap at t_ns; false: busy there, not settled, too short or too long past. */
bool model_idle_at(struct model *model, uint32_t device, int64_t t_ns, struct idle_gap *out);
enum idle_cause idle_most(const struct idle_gap *gap);
const char *idle_name(enum idle_cause cause);	/* "input", "launch", ... */

/* ---- what a step's time went to: model/analyses/breakdown.c ---- */

/* Each instant belongs to the first of these that is true of it. */
enum step_class {
	STEP_COMPUTE,		/* kernels run */
	STEP_COMM,		/* collectives run */
	STEP_H2D, STEP_D2H, STEP_D2D,	/* copies run; d2d: and all others */
	STEP_COMPILE,
	STEP_LAUNCH,		/* work is being handed over, or was and has not begun */
	STEP_SYNC,		/* the host waits for a device that does nothing */
	STEP_INPUT,		/* the host fetches or waits for a batch */
	STEP_HOST,		/* within an op or range of the launching threads */
	STEP_OTHER,
	STEP_CLASS_COUNT
};

struct step_breakdown {
	int64_t number, start_ns, dur_ns;
	bool warm_up;
	uint64_t lost;			/* events lost within: not in the means */
	bool paused;			/* the level was off within: nor then */
	int64_t ns[STEP_CLASS_COUNT];	/* add up to dur_ns */
	/* of all its devices together: what ran, and of that, under compute */
	int64_t copy_ns, copy_hidden_ns, comm_ns, comm_hidden_ns;
	uint64_t h2d_bytes, d2h_bytes, d2d_bytes;
};

/* Of the step that begins at start_ns; false: not settled, or long past. */
bool model_step_breakdown(struct model *model, int64_t start_ns, struct step_breakdown *out);
/* Changes when there is one more. */
uint64_t model_step_breakdowns(struct model *model);
/* Mean over the steps after the warm-up; returns how many, 0: none. number is
 * the last of them. */
uint64_t model_step_breakdown_mean(struct model *model, struct step_breakdown *out);
const char *step_class_name(enum step_class class);	/* "compute", "h2d", ... */

/* What a step of a training consists of: model/analyses/phases.c. The first of these
 * that is true of an instant. */
enum step_phase {
	PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_INPUT, PHASE_FORWARD, PHASE_OTHER, STEP_PHASES
};
struct step_phases {
	int64_t ns[STEP_PHASES];	/* add up to whole_ns */
	int64_t whole_ns;
};
/* Mean over the steps after the warm-up; returns how many, 0: none had a backward pass. */
uint64_t model_step_phases(struct model *model, struct step_phases *out);
const char *step_phase_name(enum step_phase phase);	/* "backward", ... */

/* What takes most of a step, time between steps included: model/analyses/verdict.c */
enum step_bound_kind {
	BOUND_COMPUTE, BOUND_COMM, BOUND_INPUT, BOUND_LAUNCH, BOUND_COPY, BOUND_SYNC, BOUND_HOST,
	BOUND_COUNT
};
struct step_bound {
	enum step_bound_kind kind;
	int64_t ns, whole_ns;		/* per step, or per second */
	bool steps;
};
/* false: too little has settled to say so. */
bool model_bound(struct model *model, struct step_bound *out);
const char *step_bound_name(enum step_bound_kind kind);

/* ---- what overlapped: model/analyses/overlap.c ---- */

struct overlap_row {
	uint32_t device;
	int64_t compute_ns, copy_ns, comm_ns;	/* unions of each */
	int64_t copy_hidden_ns, comm_hidden_ns;	/* of these, under compute */
};
bool model_overlap(struct model *model, uint32_t device, struct overlap_row *out);

/* ---- how fast copies were: model/analyses/bandwidth.c ---- */

struct bandwidth_row {
	uint32_t device;
	enum direction direction;
	uint64_t bytes, count;
	int64_t busy_ns;		/* while any such copy ran */
	uint64_t mean_bytes_per_s;	/* bytes over busy_ns */
	uint64_t best_bytes_per_s;	/* fastest single copy of 64 KiB and more, else of all */
	uint64_t step_bytes;		/* mean per step after the warm-up */
};
/* By device and direction; *out owned by the caller. */
size_t model_bandwidth(struct model *model, struct bandwidth_row **out);

#endif
