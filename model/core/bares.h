/* SPDX-License-Identifier: MIT */
/*
 * Bare steps: times in which a process had no callbacks around its ops, so that what these cost is
 * known, or stays within --budget (probes/pytorch/cost.c). Ops are missing then; everything else is
 * whole. What is counted per step from ops leaves these steps out.
 *
 * Totals of ops are estimated: an op of the first step after a bare time stands for its runs in the
 * bare steps before it, too, so that the weights of all steps add up to their number. What ran
 * before the first bare step, or outside of the steps, stands for itself. Which ops are those of a
 * step is known when it has ended, not before: training may be over.
 *
 * Always true: the times of a process do not overlap and are sorted; times of bare steps that touch
 * are one. At most BARES_MAX are kept, then the older half is forgotten: the analyses have seen
 * those steps. A time without a whole step (steps 0) was given up within a step.
 */
#ifndef MODEL_BARES_H
#define MODEL_BARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrival;
struct model;
struct process;

#define BARES_MAX 65536u

struct bare {
	int64_t start_ns, end_ns;
	uint32_t tid, steps;
	/* ops that start in [from_ns, until_ns), the step after it, stand for so many bare steps */
	uint32_t owed;
	int64_t from_ns;	/* its end, until that step has ended */
	int64_t until_ns;	/* 0: that step has not ended */
};

/* An op that started after a bare time, in a step that has not ended. */
struct bare_op {
	uint64_t instance;
	int64_t start_ns;
	uint32_t state, ident;
};

struct bares {
	struct bare *list;		/* owned */
	size_t n, cap;
	uint64_t steps;			/* of all, also of those that were forgotten */
	struct bare_op *ops;		/* owned; ops/unseen.c */
	size_t n_ops, cap_ops;
};

void apply_bare(struct model *model, const struct arrival *in);
void apply_cost(struct model *model, const struct arrival *in);
/* A step of the process has ended. */
void bares_step(struct process *process, int64_t start_ns, int64_t end_ns);
/* The bare time for whose steps (`owed`) an op that starts then stands, too; NULL: for none. */
const struct bare *bares_owed(const struct process *process, int64_t start_ns);
/* Whether an op that starts then may turn out to stand for bare steps when its step has ended. */
bool bares_may_owe(const struct process *process, int64_t start_ns);
/* Whether that is in a bare step. */
bool bares_within(const struct process *process, int64_t ns);
/* Whether ops of that process are missing in a part of [t0, t1) that counts. */
bool bares_count(const struct model *model, uint32_t process, int64_t t0, int64_t t1);

#endif
