/* SPDX-License-Identifier: MIT */
/*
 * Pauses: when a process was not observed because its level was off (--trigger, --control,
 * :level), or its devices because its own profiler had them. What a device did in a pause is
 * unknown, so it does not count as idle.
 *
 * Always true: pauses of a process do not overlap and are sorted by time; only the last one may
 * be open. At most PAUSES_MAX are kept, then the shorter half is forgotten and counts as
 * observed.
 */
#ifndef MODEL_PAUSES_H
#define MODEL_PAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrival;
struct model;
struct model_pause;

#define PAUSES_MAX 8192u

struct pauses {
	struct model_pause *list;	/* owned; end_ns INT64_MAX: it is still open */
	size_t n, cap;
	bool off, taken;		/* what was told last */
};

void apply_level(struct model *model, const struct arrival *in);
void apply_taken(struct model *model, const struct arrival *in);
/* How much of [t0, t1) lies in the pauses that model_pauses() gives for all processes. */
int64_t pauses_within(struct model *model, int64_t t0, int64_t t1);
/* Whether the pauses within [t0, t1), also those of devices, are long enough to count; the short
 * time that a trigger takes to raise the level does not. */
bool pauses_count(struct model *model, int64_t t0, int64_t t1);

#endif
