/* SPDX-License-Identifier: MIT */
#include "model/analyses/basis.h"

#define SECONDS_MIN 5	/* without steps: how many seconds are enough to report a finding */

bool basis_add(struct basis *basis, const struct slice *slice, enum scope *scope)
{
	if (slice->compiles)
		return false;
	return basis_add_any(basis, slice, scope);
}

bool basis_add_any(struct basis *basis, const struct slice *slice, enum scope *scope)
{
	if (slice_partial(slice) || slice->bare || slice->warm_up || slice->t1 <= slice->t0)
		return false;
	*scope = slice->step ? SCOPE_STEP : SCOPE_TIME;
	basis->ns[*scope] += slice->t1 - slice->t0;
	if (!slice->step)
		return true;
	if (!basis->steps || !slice->cut || slice->number != basis->last_number)
		basis->steps++;
	basis->last_number = slice->number;
	return true;
}

bool basis_ready(const struct model *model, const struct basis *basis)
{
	if (basis->steps)
		return basis->steps >= (uint64_t)model_threshold(model, THRESHOLD_MIN_STEPS);
	return basis->ns[SCOPE_TIME] >= SECONDS_MIN * INT64_C(1000000000);
}
