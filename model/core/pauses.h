/* SPDX-License-Identifier: MIT */
/*
 * When a process was not looked at, because the level was off (--trigger, --control, :level):
 * what a device did then is not known, so it was not idle either.
 *
 * Always true: pauses of a process are apart and by time; only the last one may last on. At most
 * PAUSES_MAX are kept, then the shorter half is forgotten: that much counts as looked at.
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
	struct model_pause *list;	/* owned; end_ns INT64_MAX: lasts */
	size_t n, cap;
};

void apply_level(struct model *model, const struct arrival *in);
/* How much of [t0, t1) model_pauses() of all processes gives. */
int64_t pauses_within(struct model *model, int64_t t0, int64_t t1);
/* The little that a trigger takes to raise the level is no part of it that counts. */
bool pauses_count(struct model *model, int64_t t0, int64_t t1);

#endif
