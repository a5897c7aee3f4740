/* SPDX-License-Identifier: MIT */
/*
 * What tftop itself costs the program, where that is measured in the program: a step is compared
 * with steps of the same training that run without callbacks around ops (docs/pytorch.md). Steps
 * are those that the probe ends itself, with the optimizer.
 *
 * All functions: [locked]
 */
#ifndef MODEL_QUERY_COST_H
#define MODEL_QUERY_COST_H

#include <stdbool.h>
#include <stdint.h>

struct model;

struct own_cost {
	uint32_t processes;		/* that train; the times are of the one measured best */
	uint32_t pairs;			/* differences that were measured; 0: it is unknown */
	uint32_t every;			/* ops are looked at in one of so many steps */
	uint32_t budget;		/* --budget in percent; 0: none */
	uint64_t steps, bare;		/* all, and those without callbacks around ops */
	int64_t step_ns;		/* a step without them */
	/* what a step with them takes longer, and the ends of the 95 % confidence interval */
	int64_t ns, low_ns, high_ns;
	bool cpu;			/* it is processor time, which was measured more exactly */
};

/* false: no process has such steps. */
bool model_own_cost(const struct model *model, struct own_cost *out);
/* What a step with callbacks takes longer; 0: unknown, or it cannot be told from nothing. */
int64_t own_cost_step_ns(const struct model *model);

#endif
