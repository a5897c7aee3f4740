/* SPDX-License-Identifier: MIT */
/*
 * Decides over what an analysis takes its means: the steps after the warm-up or, if there are no
 * steps, seconds.
 *
 * Each sum is kept twice, once for slices that are steps and once for the others. As soon as a step
 * was seen, only the sums over steps count, and the time between steps is in no mean. Slices in
 * which events were lost are left out, and so are steps that spend more time on compiling than on
 * anything else.
 */
#ifndef MODEL_BASIS_H
#define MODEL_BASIS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/acts/act.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"
#include "model/steps/steps.h"

enum scope { SCOPE_STEP, SCOPE_TIME, SCOPE_COUNT };

struct basis {
	uint64_t steps;
	int64_t ns[SCOPE_COUNT];
	int64_t last_number;	/* so that a step that arrives in several slices counts once */
};

/* Adds the slice and returns in *scope which sums it belongs to; false: it is in no mean. */
bool basis_add(struct basis *basis, const struct slice *slice, enum scope *scope);
/* The same, but includes steps that compile. */
bool basis_add_any(struct basis *basis, const struct slice *slice, enum scope *scope);
/* Whether enough slices were seen to report a finding. */
bool basis_ready(const struct model *model, const struct basis *basis);

static inline enum scope basis_scope(const struct basis *basis)
{
	return basis->steps ? SCOPE_STEP : SCOPE_TIME;
}

/* A sum of the scope in use, per step or per second. */
static inline int64_t basis_per(const struct basis *basis, int64_t sum)
{
	if (basis->steps)
		return sum / (int64_t)basis->steps;
	return basis->ns[SCOPE_TIME] ?
		(int64_t)((__int128)sum * 1000000000 / basis->ns[SCOPE_TIME]) : 0;
}

/* The same for a count, rounded to the nearest integer. */
static inline uint64_t basis_count(const struct basis *basis, uint64_t count)
{
	return (uint64_t)((basis_per(basis, (int64_t)count * 2) + 1) / 2);
}

/* The same as text, such as "3.0". */
static inline char *basis_times(char buf[FMT_MAX], const struct basis *basis, uint64_t count)
{
	return fmt_tenths(buf, (uint64_t)basis_per(basis, (int64_t)count * 10));
}

/* The mean duration of the step or second that means are taken over. */
static inline int64_t basis_whole(const struct basis *basis)
{
	return basis_per(basis, basis->ns[basis_scope(basis)]);
}

/* The same for what removing a cause would save, which is never more than the step. */
static inline int64_t basis_cost(const struct basis *basis, int64_t sum)
{
	int64_t ns = basis_per(basis, sum), whole_ns = basis_whole(basis);

	return ns < whole_ns ? ns : whole_ns;
}

static inline const char *basis_word(const struct model *model, const struct basis *basis)
{
	return !basis->steps ? "per second" : steps_are_passes(model) ? "per pass" : "per step";
}

/* What a share of basis_whole() is a share of. */
static inline const char *basis_each(const struct model *model, const struct basis *basis)
{
	return !basis->steps ? "the time" : steps_are_passes(model) ? "each pass" : "each step";
}

/* part of whole in thousandths */
static inline int64_t per_mille(int64_t part, int64_t whole)
{
	return whole > 0 ? (int64_t)((__int128)part * 1000 / whole) : 0;
}

#endif
