/* SPDX-License-Identifier: MIT */
/*
 * The frame of all analyses: acts come in, slices are handed to the analyses, findings result.
 *
 * One analysis is one file with a `struct analysis` of its own; analyses.c has the list. Each
 * owns its state (model->analyses->state[id]), which init allocates and release frees. All
 * functions run under the model's lock, on the feeder's thread; after each analysis of a slice
 * with many acts the frame calls model_breathe().
 */
#ifndef MODEL_ANALYSES_H
#define MODEL_ANALYSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/acts/act.h"
#include "model/analyses/finding.h"
#include "model/base/names.h"

struct steps;
struct analyses;		/* owned by the model: model->analyses */

struct analysis {
	const char *name;
	size_t size;			/* size of its state, which is zeroed before init */
	void (*init)(struct model *model, void *state);		/* may be NULL */
	void (*release)(void *state);				/* may be NULL */
	/* It is about ops, and is not handed slices in which they are missing (slice.bare). */
	bool needs_ops;
	/* All of its state is kept per step: it begins anew when other steps are shown. */
	bool per_step;
	/* Else: forgets what it keeps per step. May be NULL. */
	void (*restart)(void *state);
	/* One more slice has settled. May be NULL. */
	void (*slice)(struct model *model, void *state, const struct slice *slice);
	/* Adds the findings over all slices so far; called about once per second of data and at the
	 * end. May be NULL. */
	void (*review)(struct model *model, void *state, struct findings *findings);
	/* memory of its state in addition to size; may be NULL */
	size_t (*bytes)(const void *state);
};

/* One line for each analysis: X(ID, the struct's name). */
#define ANALYSIS_LIST(X) \
	X(CHORES, analysis_chores) /* before it: what it tells is not told again */ \
	X(SWEEP, analysis_sweep) \
	X(WAITS, analysis_waits) \
	X(BANDWIDTH, analysis_bandwidth) \
	X(COPIES, analysis_copies) \
	X(MEMORY_GROWTH, analysis_memory_growth) \
	X(PAGE_FAULTS, analysis_page_faults) \
	X(TINY, analysis_tiny) \
	X(LAUNCH, analysis_launch) \
	X(CRITICAL, analysis_critical) \
	X(SLOWDOWN, analysis_slowdown) \
	X(SLOWER_STEPS, analysis_slower_steps) \
	X(CORES, analysis_cores) \
	X(WIRE, analysis_wire) \
	X(POOLS, analysis_pools) \
	X(OVERHEAD, analysis_overhead) \
	X(JIT_CALLS, analysis_jit_calls) \
	X(RECOMPILES, analysis_recompiles) \
	X(COMPILING, analysis_compiling) \
	X(SAME_DATA, analysis_same_data) \
	X(SETTINGS, analysis_settings) \
	X(PHASES, analysis_phases) \
	X(TENSOR, analysis_tensor) \
	X(OP_TREND, analysis_op_trend)

#define ANALYSIS_DECLARE(id, one) extern const struct analysis one;
ANALYSIS_LIST(ANALYSIS_DECLARE)
#undef ANALYSIS_DECLARE

enum analysis_id {
#define ANALYSIS_ID(id, analysis) ANALYSIS_##id,
	ANALYSIS_LIST(ANALYSIS_ID)
#undef ANALYSIS_ID
	ANALYSIS_COUNT
};

struct analyses *analyses_new(struct model *model);
void analyses_free(struct analyses *analyses);
void *analysis_state(const struct model *model, enum analysis_id id);

/* ---- series.c ---- */

/* state: analysis->size bytes */
void analysis_start(struct model *model, const struct analysis *analysis, void *state);
/* Other steps are shown. The list ends with NULL. */
void analyses_restart(struct model *model, const struct analysis *const *list, void **state);
/* Whether the steps are of another series than before. *series: 1 + its index, 0: none yet. */
bool series_changes(const struct model *model, const struct steps *steps, size_t *series);

/* Hands out the slices that have settled since the last call. finish: hands out everything and
 * makes the last review. */
void analyses_run(struct model *model, bool finish);
/* The same, but only when many acts wait or, between batches, when enough time has settled;
 * otherwise cheap. Must not be called while an event is being applied. */
void analyses_poll(struct model *model, bool batch_ends);
size_t analyses_bytes(const struct model *model);

struct analyses_stats {
	uint64_t slices, handed;	/* acts that were handed out, each counted once */
	uint64_t late, dropped;
	int64_t done_ns;	/* slices were handed out up to this time; INT64_MIN: none yet */
};
struct analyses_stats analyses_stats(const struct model *model);
struct findings *analyses_findings(const struct model *model);
/* How far the analyses have come, and over how many steps. The fields about the list of findings
 * stay 0. */
void analyses_progress(const struct model *model, struct findings_status *status);
/* Calls watch with each slice, after the analyses. For tests; only one such function can be set. */
void analyses_watch(struct model *model, void (*watch)(void *arg, const struct slice *slice),
		    void *arg);
/* Fills in the lists and ends of a slice; they stay valid until the next slice. */
struct slice_space {
	struct start_key *ends;		/* owned; has room for twice cap */
	uint32_t *kinds;		/* owned; has room for three times cap */
	size_t cap;
};
void slice_index(struct slice *slice, struct slice_space *space);
void slice_space_release(struct slice_space *space);
size_t slice_space_bytes(const struct slice_space *space);

/* A number for each small id, 0 until it is set. The owner frees `of`. */
struct act_slots { uint32_t *of; size_t n; };
void slots_reach(struct act_slots *slots, uint32_t id);

static inline uint32_t *slot_of(struct act_slots *slots, uint32_t id)
{
	if (id >= slots->n)
		slots_reach(slots, id);
	return &slots->of[id];
}

/* How many cores the frameworks of a process may use; 0: unknown. See cores.c. */
uint32_t processor_cores(const struct model *model, uint32_t process);
/* What a process took of them in [t0, t1), in 1/1000 of one. */
struct processor_use {
	uint32_t cores;			/* 0: unknown */
	int64_t own;			/* -1: unknown */
	int64_t children;		/* of all processes below it; 0: of none */
	bool all;			/* nearly all of them, both together */
};
struct processor_use processor_use(struct model *model, uint32_t process, int64_t t0, int64_t t1);
/* Cost of the small kernels that a finding reports, per step or second. See tiny.c. */
int64_t tiny_cost_ns(const struct model *model);
/* What can be saved by removing the waits that a finding reports, per step or second. See
 * waits.c. */
int64_t waits_told_ns(const struct model *model);
/* Device time per step of the copies whose data same_data.c reports as unchanged. */
int64_t same_data_run_ns(const struct model *model, uint32_t device);
/* The same for the copies and conversions of one class (enum op_class). */
int64_t same_data_class_ns(struct model *model, int op_class);
/* For the messages of that name: bytes per step, and how long they were on the wire while the
 * receiver ran no op. See wire.c. */
void wire_of(struct model *model, uint32_t name, uint64_t *bytes_per_step,
	     int64_t *alone_ns_per_step);
/* The answer of model_step_phases(), made from the state of the analysis. See phases.c. */
struct step_phases;
uint64_t phases_mean(const void *state, struct step_phases *out);
/* Writes " at train.py:88", the line from which most of an op's time is called. false: the line is
 * unknown, and *out is "". See place.c. */
#define PLACE_TEXT 160
bool op_place_text(struct model *model, uint32_t name, char *out, size_t size);
/* The same for a frame, given as 1 + its index; 0: unknown. */
bool frame_place_text(struct model *model, uint32_t frame, char *out, size_t size);
/* The same for the origin of a compilation, "FILE:LINE FUNCTION"; false: it is not a place. */
bool origin_place_text(struct model *model, uint32_t origin, char *out, size_t size);
/* Whether a finding says that what has this name is compiled again and again. See recompiles.c. */
bool recompiles_tells(struct model *model, uint32_t name);
/* Whether an op or range of that name makes or fetches batches. */
bool name_is_input(const char *name);
/* Remembers these answers, so that each name is examined once. */
struct input_names {
	uint8_t *known;			/* owned; by name: enum input_kind in input.c */
	size_t n;
};
/* Marks the act if its op makes or fetches batches, or is a collective. */
void input_op(struct input_names *input, struct names *names, struct act *act);

#endif
