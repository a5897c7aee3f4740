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

struct analyses;		/* owned by the model: model->analyses */

struct analysis {
	const char *name;
	size_t size;			/* of its state, zeroed before init */
	void (*init)(struct model *model, void *state);		/* may be NULL */
	void (*release)(void *state);				/* may be NULL */
	/* One more slice has settled. May be NULL. */
	void (*slice)(struct model *model, void *state, const struct slice *slice);
	/* What there is to say now, over all slices so far; called about once a
	 * second of data and at the end. May be NULL. */
	void (*review)(struct model *model, void *state, struct findings *findings);
	size_t (*bytes)(const void *state);			/* beside size; may be NULL */
};

/* One line for each analysis: X(ID, the struct's name). */
#define ANALYSIS_LIST(X) \
	X(SWEEP, analysis_sweep) \
	X(WAITS, analysis_waits) \
	X(BANDWIDTH, analysis_bandwidth) \
	X(COPIES, analysis_copies) \
	X(MEMORY_GROWTH, analysis_memory_growth) \
	X(TINY, analysis_tiny) \
	X(LAUNCH, analysis_launch) \
	X(CRITICAL, analysis_critical) \
	X(SLOWDOWN, analysis_slowdown) \
	X(CORES, analysis_cores) \
	X(WIRE, analysis_wire) \
	X(POOLS, analysis_pools) \
	X(OVERHEAD, analysis_overhead) \
	X(JIT_CALLS, analysis_jit_calls) \
	X(RECOMPILES, analysis_recompiles) \
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

/* Hands out what has settled since. finish: all of it, and the last review. */
void analyses_run(struct model *model, bool finish);
/* The same when much waits, and between batches when enough has settled. Cheap
 * else. Not in the midst of an event. */
void analyses_poll(struct model *model, bool batch_ends);
size_t analyses_bytes(const struct model *model);

struct analyses_stats {
	uint64_t slices, handed;	/* acts handed out, each once */
	uint64_t late, dropped;
	int64_t done_ns;		/* handed out up to here; INT64_MIN: nothing yet */
};
struct analyses_stats analyses_stats(const struct model *model);
struct findings *analyses_findings(const struct model *model);
/* How far the analyses have come, over how many steps; the fields of the list stay 0. */
void analyses_progress(const struct model *model, struct findings_status *status);
/* Calls watch with each slice, after the analyses. For tests; there is one such function. */
void analyses_watch(struct model *model, void (*watch)(void *arg, const struct slice *slice),
		    void *arg);
/* Fills in the lists and ends of a slice; they stay valid until the next slice. */
struct slice_space {
	struct start_key *ends;		/* owned; twice cap */
	uint32_t *kinds;		/* owned; three times cap */
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

/* Cores that the frameworks of a process have, 0 unknown: cores.c. */
uint32_t processor_cores(const struct model *model, uint32_t process);
/* Cost of the small kernels that have a finding, per step or second: tiny.c. */
int64_t tiny_cost_ns(const struct model *model);
/* What doing without the waits that have a finding saves, per step or second: waits.c. */
int64_t waits_told_ns(const struct model *model);
/* Time of copies on the device, per step, whose data same_data.c reports as the same. */
int64_t same_data_run_ns(const struct model *model, uint32_t device);
/* The same for copies and conversions of a class, an enum op_class. */
int64_t same_data_class_ns(struct model *model, int op_class);
/* Bytes in a step of the messages of that name, and their time alone on the wire: wire.c. */
void wire_of(struct model *model, uint32_t name, uint64_t *bytes_per_step,
	     int64_t *alone_ns_per_step);
/* What model_step_phases() answers, from the state of that analysis: phases.c. */
struct step_phases;
uint64_t phases_mean(const void *state, struct step_phases *out);
/* " at train.py:88", the line that most of an op's time is called from; false: the
 * line is unknown, and *out is "". place.c */
#define PLACE_TEXT 160
bool op_place_text(struct model *model, uint32_t name, char *out, size_t size);
/* The same for a frame, 1 + its index; 0: unknown. */
bool frame_place_text(struct model *model, uint32_t frame, char *out, size_t size);
/* Does an op or range of that name make or fetch batches? */
bool name_is_input(const char *name);
/* The answers to that, asked once per name. */
struct input_names {
	uint8_t *known;			/* owned; by name: enum input_kind in input.c */
	size_t n;
};
/* Marks the act if its op makes or fetches batches. */
void input_op(struct input_names *input, struct names *names, struct act *act);

#endif
