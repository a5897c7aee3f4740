/* SPDX-License-Identifier: MIT */
/*
 * What an analysis takes means over: the steps after the warm-up where there are steps, else
 * seconds.
 *
 * Each sum is kept twice, for slices that are steps and for the others; once a step was seen,
 * only the first counts, and the time between steps is in no mean. Slices in which events were
 * lost are left out, and so are steps that compile more than they do anything else.
 */
#ifndef MODEL_BASIS_H
#define MODEL_BASIS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/acts/act.h"
#include "model/analyses/thresholds.h"
#include "model/base/util.h"

enum scope { SCOPE_STEP, SCOPE_TIME, SCOPE_COUNT };

struct basis {
	uint64_t steps;
	int64_t ns[SCOPE_COUNT];
	int64_t last_number;		/* a step that is cut counts once */
};

/* The scope a slice belongs to; false: it is in no average. */
bool basis_add(struct basis *basis, const struct slice *slice, enum scope *scope);
/* The same, with steps that compile. */
bool basis_add_any(struct basis *basis, const struct slice *slice, enum scope *scope);
/* Enough to speak. */
bool basis_ready(const struct model *model, const struct basis *basis);

static inline enum scope basis_scope(const struct basis *basis)
{
	return basis->steps ? SCOPE_STEP : SCOPE_TIME;
}

/* A sum of that scope per step or per second. */
static inline int64_t basis_per(const struct basis *basis, int64_t sum)
{
	if (basis->steps)
		return sum / (int64_t)basis->steps;
	return basis->ns[SCOPE_TIME] ?
		(int64_t)((__int128)sum * 1000000000 / basis->ns[SCOPE_TIME]) : 0;
}

/* The same of a count, to the nearest. */
static inline uint64_t basis_count(const struct basis *basis, uint64_t count)
{
	return (uint64_t)((basis_per(basis, (int64_t)count * 2) + 1) / 2);
}

/* The same in words, "3.0". */
static inline char *basis_times(char buf[FMT_MAX], const struct basis *basis, uint64_t count)
{
	return fmt_tenths(buf, (uint64_t)basis_per(basis, (int64_t)count * 10));
}

/* How long what it is per lasts. */
static inline int64_t basis_whole(const struct basis *basis)
{
	return basis_per(basis, basis->ns[basis_scope(basis)]);
}

static inline const char *basis_word(const struct basis *basis)
{
	return basis->steps ? "per step" : "per second";
}

/* part of whole in thousandths */
static inline int64_t per_mille(int64_t part, int64_t whole)
{
	return whole > 0 ? (int64_t)((__int128)part * 1000 / whole) : 0;
}

#endif
