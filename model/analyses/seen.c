/* SPDX-License-Identifier: MIT */
/*
 * Shares of the time that was observed. Where events were lost or the level was off, it is
 * unknown what a device did, so that time is neither in the part nor in the whole. Work that
 * ran while the level was off but was launched before is known, and counts.
 *
 * If more than half of the time has losses in it, no time is left out: what arrived is all
 * there is to judge by, and the numbers are marked as rough.
 *
 * Where there are very many such places, only every k-th is examined: their lengths are counted
 * in full, and what was busy within them is estimated from those that were examined.
 *
 * Complexity: O(places of the run + PLACES * log spans).
 */
#include <stdlib.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/query/time.h"

#define PLACES 256u

/* Disjoint places, sorted by time. */
struct seen_places { struct model_pause *list; size_t n; int64_t ns; };

static void add_place(struct seen_places *places, int64_t begin_ns, int64_t end_ns)
{
	if (end_ns <= begin_ns)
		return;
	places->list[places->n++] = (struct model_pause) { begin_ns, end_ns, false };
	places->ns += end_ns - begin_ns;
}

/* The losses within [t0, t1) while the level was not off. */
static struct seen_places losses_of(struct model *model, int64_t t0, int64_t t1,
				    const struct seen_places *pauses)
{
	struct model_loss *losses;
	size_t n = model_losses(model, t0, t1, &losses), p = 0;
	struct seen_places places = { .list = xcalloc(n + pauses->n, sizeof(*places.list)) };
	int64_t until = t0;

	for (size_t i = 0; i < n; i++) {
		int64_t end = losses[i].end_ns < t1 ? losses[i].end_ns : t1;

		if (until < losses[i].begin_ns)
			until = losses[i].begin_ns;
		while (p < pauses->n && pauses->list[p].end_ns <= until)
			p++;
		for (; p < pauses->n && pauses->list[p].begin_ns < end; p++) {
			add_place(&places, until, pauses->list[p].begin_ns);
			until = pauses->list[p].end_ns;
			if (until >= end)
				break;
		}
		add_place(&places, until, end);
		until = until > end ? until : end;
	}
	free(losses);
	return places;
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

static void seen_look(struct model *model, uint32_t device, const struct model_pause *place,
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

/* What is known about the time within these places. */
static struct within look_all(struct model *model, uint32_t device,
			      const struct seen_places *places)
{
	struct within sum = { .looked_ns = 0 };
	size_t stride = places->n / PLACES + 1;

	for (size_t i = 0; i < places->n; i += stride)
		seen_look(model, device, &places->list[i], &sum);
	sum.busy_ns = scaled(sum.busy_ns, places->ns, sum.looked_ns);
	sum.kernel_ns = scaled(sum.kernel_ns, places->ns, sum.looked_ns);
	sum.copy_ns = scaled(sum.copy_ns, places->ns, sum.looked_ns);
	for (int c = 0; c < IDLE_COUNT; c++)
		sum.cause_ns[c] = scaled(sum.cause_ns[c], places->ns, sum.looked_ns);
	return sum;
}

static void take_causes(struct idle_gap *gap, const struct within *sum)
{
	for (int c = 0; c < IDLE_COUNT; c++)
		take_away(&gap->ns[c], sum->cause_ns[c]);
}

/* Work that runs in a pause and was launched before is known: only the rest was not observed. */
static int64_t without_pauses(struct model *model, uint32_t device,
			      const struct seen_places *pauses, struct device_row *out,
			      struct idle_gap *gap)
{
	struct within sum = look_all(model, device, pauses);
	int64_t ns = pauses->ns;

	take_away(&ns, sum.busy_ns);
	out->span_ns -= ns;
	take_causes(gap, &sum);
	return ns;
}

static void without_losses(struct model *model, uint32_t device, const struct seen_places *losses,
			   struct device_row *out, struct idle_gap *gap)
{
	struct within sum = look_all(model, device, losses);

	out->span_ns -= losses->ns;
	take_away(&out->busy_ns, sum.busy_ns);
	take_away(&out->kernel_ns, sum.kernel_ns);
	take_away(&out->copy_ns, sum.copy_ns);
	out->overlap_ns = out->kernel_ns + out->copy_ns > out->busy_ns ?
			  out->kernel_ns + out->copy_ns - out->busy_ns : 0;
	take_causes(gap, &sum);
}

bool model_device_seen(struct model *model, uint32_t device, int64_t t0, int64_t t1,
		       struct device_row *out, struct idle_gap *gap, struct device_unseen *unseen)
{
	struct seen_places pauses = { .ns = 0 }, losses;

	if (!model_device_window(model, device, t0, t1, out))
		return false;
	if (!model_idle_window(model, device, t0, t1, gap))
		*gap = (struct idle_gap) { .start_ns = t0, .end_ns = t1 };
	pauses.n = model_pauses(model, device, t0, t1, &pauses.list);
	unseen->taken_ns = 0;
	for (size_t i = 0; i < pauses.n; i++) {
		int64_t ns = pauses.list[i].end_ns - pauses.list[i].begin_ns;

		pauses.ns += ns;
		unseen->taken_ns += pauses.list[i].taken ? ns : 0;
	}
	losses = losses_of(model, t0, t1, &pauses);
	unseen->paused_ns = without_pauses(model, device, &pauses, out, gap);
	unseen->taken_ns = scaled(unseen->paused_ns, unseen->taken_ns, pauses.ns);
	unseen->lost_ns = losses.ns;
	unseen->rough = losses.ns > out->span_ns / 2;
	if (!unseen->rough)
		without_losses(model, device, &losses, out, gap);
	free(pauses.list);
	free(losses.list);
	return true;
}

void model_device_as_seen(struct model *model, struct device_row *device, struct idle_gap *idle,
			  struct device_unseen *unseen)
{
	struct device_row seen;
	struct idle_gap gap;

	*unseen = (struct device_unseen) { .rough = false };
	if (!model_idle(model, device->id, idle))
		*idle = (struct idle_gap) { .end_ns = 0 };
	if (model_device_seen(model, device->id, idle->start_ns, idle->end_ns, &seen, &gap,
			      unseen) &&
	    unseen->lost_ns + unseen->paused_ns > 0) {
		*device = seen;
		*idle = gap;
	}
}
