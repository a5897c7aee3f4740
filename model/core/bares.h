/* SPDX-License-Identifier: MIT */
/*
 * Bare steps: times in which a process had no callbacks around its ops, so that what these cost is
 * known, or stays within --budget (probes/pytorch/cost.c). Ops are missing then; everything else is
 * whole. What is counted per step from ops leaves these steps out.
 *
 * Always true: the times of a process do not overlap and are sorted; times that touch are one. At
 * most BARES_MAX are kept, then the older half is forgotten: the analyses have seen those steps.
 */
#ifndef MODEL_BARES_H
#define MODEL_BARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrival;
struct model;

#define BARES_MAX 65536u

struct bare {
	int64_t start_ns, end_ns;
	uint32_t tid, steps;
};

struct bares {
	struct bare *list;		/* owned */
	size_t n, cap;
	uint64_t steps;			/* of all, also of those that were forgotten */
};

void apply_bare(struct model *model, const struct arrival *in);
void apply_cost(struct model *model, const struct arrival *in);
/* Whether ops of that process are missing in a part of [t0, t1) that counts. */
bool bares_count(const struct model *model, uint32_t process, int64_t t0, int64_t t1);

#endif
