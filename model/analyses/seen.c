/* SPDX-License-Identifier: MIT */
/*
 * Shares of the time that was seen: where events were lost, what a device did is
 * not known, so that time is neither in the part nor in the whole.
 *
 * Where more than half of the time has losses in it, nothing is left out: what
 * came is all there is to go by, and is said to be rough.
 *
 * Of very many losses every so many are looked at, for all: their length is
 * counted in full, what was busy within is taken to be as in those.
 *
 * Complexity: O(losses of the run + PLACES * log spans).
 */
#include <stdlib.h>

#include "model/model-internal.h"
#include "model/query-time.h"

#define PLACES 256u

/* What was lost within [t0, t1): places apart from each other, by time. */
static size_t places(struct model *model, int64_t t0, int64_t t1, struct model_loss **out,
		     int64_t *lost_ns)
{
	size_t n = model_losses(model, t0, t1, out), to = 0;
	int64_t until = t0;

	*lost_ns = 0;
	for (size_t i = 0; i < n; i++) {
		struct model_loss place = (*out)[i];

		if (place.begin_ns < until)
			place.begin_ns = until;
		if (place.end_ns > t1)
			place.end_ns = t1;
		if (place.end_ns <= place.begin_ns)
			continue;
		until = place.end_ns;
		*lost_ns += place.end_ns - place.begin_ns;
		(*out)[to++] = place;
	}
	return to;
}

static int64_t scaled(int64_t ns, int64_t lost_ns, int64_t looked_ns)
{
	return looked_ns ? (int64_t)((__int128)ns * lost_ns / looked_ns) : 0;
}

static void take_away(int64_t *from, int64_t ns)
{
	*from = *from > ns ? *from - ns : 0;
}

struct within {
	int64_t looked_ns, busy_ns, kernel_ns, copy_ns, cause_ns[IDLE_COUNT];
};

static void look(struct model *model, uint32_t device, const struct model_loss *place,
		 struct within *sum)
{
	struct device_row row;
	struct idle_gap gap;

	if (!model_device_window(model, device, place->begin_ns, place->end_ns, &row))
		return;
	sum->looked_ns += row.span_ns;
	sum->busy_ns += row.busy_ns;
	sum->kernel_ns += row.kernel_ns;
	sum->copy_ns += row.copy_ns;
	if (!model_idle_window(model, device, place->begin_ns, place->end_ns, &gap))
		return;
	for (int c = 0; c < IDLE_COUNT; c++)
		sum->cause_ns[c] += gap.ns[c];
}

bool model_device_seen(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		       struct device_row *out, struct idle_gap *gap, bool *rough)
{
	struct within sum = { .looked_ns = 0 };
	struct model_loss *list;
	int64_t lost_ns;
	size_t n, stride;

	if (!model_device_window(model, device, t0, t1, out))
		return false;
	if (!model_idle_window(model, device, t0, t1, gap))
		*gap = (struct idle_gap) { .start_ns = t0, .end_ns = t1 };
	n = places(model, t0, t1, &list, &lost_ns);
	*rough = lost_ns > (t1 - t0) / 2;
	stride = n / PLACES + 1;
	for (size_t i = 0; i < n && !*rough; i += stride)
		look(model, device, &list[i], &sum);
	free(list);
	if (*rough)
		return true;
	out->span_ns -= lost_ns;
	take_away(&out->busy_ns, scaled(sum.busy_ns, lost_ns, sum.looked_ns));
	take_away(&out->kernel_ns, scaled(sum.kernel_ns, lost_ns, sum.looked_ns));
	take_away(&out->copy_ns, scaled(sum.copy_ns, lost_ns, sum.looked_ns));
	out->overlap_ns = out->kernel_ns + out->copy_ns > out->busy_ns ?
			  out->kernel_ns + out->copy_ns - out->busy_ns : 0;
	for (int c = 0; c < IDLE_COUNT; c++)
		take_away(&gap->ns[c], scaled(sum.cause_ns[c], lost_ns, sum.looked_ns));
	return true;
}
