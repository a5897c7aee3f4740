/* SPDX-License-Identifier: MIT */
/*
 * Series of values over time.
 *
 * Idea: a value waits, sorted by time, until its time is settled; then it goes
 * into the series' level (model/counters/level.h) and into its mean. A question
 * sees both. Levels know no sign, so values are kept COUNTER_BIAS higher.
 *
 * Bounds: SERIES_MAX series, WAITING_MAX waiting values each (then the older half
 * is taken as settled). Complexity: a value O(1) amortised in order.
 */
#ifndef MODEL_COUNTERS_H
#define MODEL_COUNTERS_H

#include "model/base/map.h"
#include "model/core/store.h"
#include "model/counters/level.h"
#include "model/query/query.h"

struct arrival;

#define COUNTER_BIAS ((int64_t)1 << 60)	/* values lie within it, either side */

struct series {
	uint32_t process, id, view;	/* id: the process's, 0: the model made it; view NONE */
	uint32_t device;		/* of what the model made, NONE: that of the view */
	uint32_t name, unit;		/* names; name 0: not defined yet */
	uint32_t row;
	struct level level;
	struct level_point *waiting;	/* owned; by time, COUNTER_BIAS higher */
	size_t n_waiting, cap_waiting;
	uint64_t count, late;
	int64_t min, max;
	int64_t first_ns;		/* the level's */
	int64_t booked_ns;		/* of the last value in the level */
	__int128 area;			/* value * ns from first_ns to booked_ns */
};

struct counters {
	struct store series;
	struct map by_key;		/* process, id */
};

void counters_new(struct model *model);
void counters_free(struct model *model);
size_t counters_bytes(const struct model *model);
/* EVENT_SERIES, EVENT_COUNTER. */
void apply_series(struct model *model, const struct arrival *in);
void apply_counter(struct model *model, const struct arrival *in);
/* One that the model makes; NONE: no room. device: model-wide. */
uint32_t counters_made(struct model *model, uint32_t process, uint32_t device, const char *name,
		       const char *unit);
void counters_put(struct model *model, uint32_t series, int64_t at_ns, int64_t value);
/* All before is final. */
void counters_settled(struct model *model, int64_t settled_ns);
static inline struct series *series_at(const struct counters *counters, uint32_t i)
{
	return store_at(&counters->series, i);
}
/* Model-wide, NONE: of the process. */
uint32_t series_device(const struct model *model, const struct series *series);
/* What a plot of it begins with: 0, or less. */
int64_t series_base(const struct series *series);
/* As a row's columns. */
void counters_columns(struct model *model, uint32_t series, int64_t t0, int64_t w, size_t n,
		      struct column *out);

#endif
