/* SPDX-License-Identifier: MIT */
/*
 * How much of a step's classes is tftop's own, so that verdicts are told without it.
 *
 * Idea: a bare step, which runs without callbacks around ops, has all the same kernels, copies,
 * launches and waits, and tells when it fetches its batch. So its classes are known like those of
 * other steps, and the difference to its neighbours (pairs.h) is what tftop adds to each class: to
 * launch where the device waits for the host, to nothing where the host waits for the device.
 *
 * Which code of the host is an op and which is not is unknown in a bare step: host and other are
 * one, and where no device but the processor works compute and host are. What tftop adds to the
 * two is shared out by their times. In the latter case the step's cost is the one that the probe
 * measured, which may be in processor time and then is the more exact figure.
 */
#include <string.h>

#include "model/analyses/sweep.h"
#include "model/base/util.h"
#include "model/query/cost.h"

#define WHOLE STEP_CLASS_COUNT

/* The class that cannot be told from host in a bare step. */
static enum step_class pooled_class(bool host_only)
{
	return host_only ? STEP_COMPUTE : STEP_OTHER;
}

void own_step(struct slice_sweep *sweep)
{
	const struct step_breakdown *now = &sweep->breakdown.now;
	struct own_pairs *own = &sweep->breakdown.own;
	/* not sweep->host_only: a bare step may have no op that says what works */
	bool host_only = !slice_has_device_work(sweep->slice);
	bool known = !now->lost && !now->paused && !now->warm_up && !sweep->slice->compiles;
	enum step_class pooled = pooled_class(host_only);
	int64_t ns[STEP_CLASS_COUNT + 1];

	memcpy(ns, now->ns, sizeof(now->ns));
	ns[WHOLE] = now->dur_ns;
	ns[STEP_HOST] += ns[pooled];
	ns[pooled] = 0;
	for (int c = 0; c <= WHOLE; c++) {
		if (!known || own->host_only != host_only)
			pairs_break(&own->of[c]);
		if (known)
			pairs_step(&own->of[c], now->bare, ns[c]);
	}
	own->host_only = host_only;
}

void own_release(struct own_pairs *own)
{
	for (int c = 0; c <= WHOLE; c++)
		pairs_release(&own->of[c]);
}

size_t own_bytes(const struct own_pairs *own)
{
	size_t bytes = 0;

	for (int c = 0; c <= WHOLE; c++)
		bytes += pairs_bytes(&own->of[c]);
	return bytes;
}

static int64_t own_most(int64_t ns, int64_t most_ns)
{
	return ns < most_ns ? ns : most_ns > 0 ? most_ns : 0;
}

void own_take(const struct model *model, const struct breakdown *b,
	      const int64_t ns[STEP_CLASS_COUNT], struct own_part *out)
{
	const struct own_pairs *own = &b->own;
	enum step_class pooled = pooled_class(own->host_only);
	int64_t cost_ns = own_cost_step_ns(model), rest_ns, pool_ns = ns[STEP_HOST] + ns[pooled];

	*out = (struct own_part) { .whole_ns = 0 };
	if (!cost_ns)
		return;
	for (int c = 0; c < STEP_CLASS_COUNT; c++)
		out->ns[c] = own_most(pairs_added_ns(&own->of[c]), ns[c]);
	rest_ns = pairs_added_ns(&own->of[STEP_HOST]);
	out->whole_ns = pairs_added_ns(&own->of[WHOLE]);
	if (own->host_only) {
		out->whole_ns = cost_ns;
		rest_ns = cost_ns > out->ns[STEP_INPUT] ? cost_ns - out->ns[STEP_INPUT] : 0;
	}
	rest_ns = own_most(rest_ns, pool_ns);
	out->ns[pooled] = pool_ns > 0 ? (int64_t)((__int128)rest_ns * ns[pooled] / pool_ns) : 0;
	out->ns[STEP_HOST] = rest_ns - out->ns[pooled];
}
