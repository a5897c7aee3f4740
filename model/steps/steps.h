/* SPDX-License-Identifier: MIT */
/* Steps of training, in series by what marks them; see steps.c. */
#ifndef MODEL_STEPS_STEPS_H
#define MODEL_STEPS_STEPS_H

#include "model/core/model.h"

struct step {
	int64_t number, start_ns, dur_ns;
};

/* STEPS_EXPLICIT: numbered by the program; STEPS_RUN: runs of a framework's functions; STEPS_PASS:
 * forward passes of a program that does not train; STEPS_XLA: runs of the programs of JAX;
 * STEPS_CALL: calls of its jitted functions, where no runs are seen. */
enum step_source {
	STEPS_EXPLICIT, STEPS_NUMBERED, STEPS_PLAIN, STEPS_RUN, STEPS_PASS, STEPS_XLA,
	STEPS_CALL, STEPS_PERIOD,
};

/* Steps of one process from one source. */
struct steps {
	uint32_t process, name;
	enum step_source source;
	struct step *list;		/* owned, by start */
	size_t n, cap;
	uint64_t moved;			/* how often a step was inserted before another */
	int64_t sum_ns;
	/* of the runs behind the steps of sources after STEPS_RUN: all of them, the longest, and
	 * when the last one ended */
	int64_t ran_ns, longest_ns, end_ns;
	struct hist hist;
};

/* A range whose name, or an op of JAX whose type, is not defined yet and which may turn out to be
 * a step. op: the name of that op, 0: it is a range. */
struct nameless {
	uint32_t name, process, op;
	int64_t start_ns, dur_ns;
};

/* All numbered steps have the one name "step #", or they would fill tables. */
uint32_t steps_plain(struct model *model, uint32_t name);
void apply_step(struct model *model, const struct arrival *in);
/* A finished range: it is a step if its name says so, and no period within it is one. */
void steps_range(struct model *model, uint32_t process, uint32_t name, int64_t start_ns,
		 int64_t dur_ns);
void steps_named(struct model *model, uint32_t placeholder);
/* Adds a period, which is the time between two runs of this name. */
void steps_period(struct model *model, uint32_t process, uint32_t name, int64_t start_ns,
		  int64_t dur_ns);
/* A finished op of JAX: a step, if it is a run or a call of a jitted function. It begins where the
 * previous one of that name ended. */
void steps_jax(struct model *model, uint32_t process, uint32_t type, uint32_t name,
	       int64_t start_ns, int64_t dur_ns);
/* The process compiled: no period within that time is a step. */
void steps_compiled(struct model *model, uint32_t process, int64_t start_ns, int64_t dur_ns);
void steps_release(struct model *model);
const char *steps_source(struct model *model, const struct steps *steps);
/* Whether the steps are runs of the function that they are named after. */
bool steps_are_runs(const struct steps *steps);
/* Whether at least 1 / part of the step was spent compiling. */
bool step_compiles(const struct model *model, const struct steps *steps,
		   const struct step *step, int part);
/* The series to show; NULL: there is none. */
struct steps *steps_best(const struct model *model);
/* Whether no step that is known begins before. Nothing lacks a compilation that ended by then and
 * was told late, as compilations are told at their end. */
bool steps_begin_after(const struct model *model, int64_t t_ns);
/* Whether that series is one of forward passes: step_noun() (query.h) has the words for it. */
bool steps_are_passes(const struct model *model);

#endif
