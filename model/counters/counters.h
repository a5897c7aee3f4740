/* SPDX-License-Identifier: MIT */
/*
 * Counters: series of values over time.
 *
 * Idea: a value waits, sorted by time, until its time has settled; then it goes into the series'
 * level (model/counters/level.h) and into its mean. A question sees both. Levels are unsigned, so
 * values are stored with COUNTER_BIAS added.
 *
 * Bounds: SERIES_MAX series, WAITING_MAX waiting values in each (then the older half is taken as
 * settled). Complexity: O(1) amortised for a value that arrives in order.
 */
#ifndef MODEL_COUNTERS_H
#define MODEL_COUNTERS_H

#include "model/base/map.h"
#include "model/core/store.h"
#include "model/counters/level.h"
#include "model/query/query.h"

struct arrival;

#define COUNTER_BIAS ((int64_t)1 << 60)	/* values lie between -COUNTER_BIAS and COUNTER_BIAS */

/* Names of series of what a process takes (TFT_USAGE_... of the probes), and how often they have a
 * value: about once in this time, which holds for the time until the next one. */
#define USAGE_PROCESSOR "processor"
#define USAGE_OF_CHILDREN "processor of children"
#define USAGE_FAULT_TIME "fault time (est.)"
#define USAGE_FAULTS "minor page faults"
#define USAGE_NS INT64_C(1000000000)
#define USAGE_LEAST 3u

struct series {
	/* id: of the process, 0: made by the model, view is NONE then */
	uint32_t process, id, view;
	/* of a series made by the model; NONE: the device of the view */
	uint32_t device;
	bool usage;			/* what a process takes of its machine */
	uint32_t name, unit;		/* names; name 0: not defined yet */
	uint32_t row;
	struct level level;
	struct level_point *waiting;	/* owned; by time, COUNTER_BIAS added */
	size_t n_waiting, cap_waiting;
	uint64_t count, late;
	int64_t min, max;
	int64_t first_ns;		/* time of the first value in the level */
	int64_t booked_ns;		/* time of the last value in the level */
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
/* Makes a series for values that the model computes; NONE: no room. device: model-wide. */
uint32_t counters_made(struct model *model, uint32_t process, uint32_t device, const char *name,
		       const char *unit);
void counters_put(struct model *model, uint32_t series, int64_t at_ns, int64_t value);
/* All events before settled_ns have arrived. */
void counters_settled(struct model *model, int64_t settled_ns);
static inline struct series *series_at(const struct counters *counters, uint32_t i)
{
	return store_at(&counters->series, i);
}
/* The series of that name of what the process takes (USAGE_...); NONE: it has none with USAGE_LEAST
 * values or more. */
uint32_t counters_usage(struct model *model, uint32_t process, const char *name);
/* Its mean over [t0, t1); -1: unknown. */
int64_t counters_usage_mean(struct model *model, uint32_t process, const char *name, int64_t t0,
			    int64_t t1);
/* The model-wide device of the series; NONE: it belongs to the process. */
uint32_t series_device(const struct model *model, const struct series *series);
/* When its first value holds from; it has one. */
int64_t series_first_ns(const struct series *series);
/* The bottom of a plot of the series: 0, or less for negative values. */
int64_t series_base(const struct series *series);
/* The series as the columns of a row. */
void counters_columns(struct model *model, uint32_t series, int64_t t0, int64_t w, size_t n,
		      struct column *out);

#endif
