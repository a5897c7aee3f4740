/* SPDX-License-Identifier: MIT */
/*
 * Questions about counters: values over time that a probe, a sensor or another profiler gave, and
 * those that the model makes itself. The rules of query.h apply.
 *
 * A value holds until the next one; before the first there is none. Counts, minimum, maximum and
 * last value are exact for the whole run; the mean is over the time from the first to the last
 * value. Values are in the unit of their series, times in ns of host 0.
 */
#ifndef MODEL_QUERY_COUNTERS_H
#define MODEL_QUERY_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

struct counter_row {
	const char *name;
	const char *unit;		/* as in struct tft_series; "": a count */
	uint32_t series;		/* for model_counter_columns() */
	uint32_t device;		/* model-wide, UINT32_MAX: of the process */
	uint16_t host;
	uint32_t pid;
	bool usage;			/* what the process takes of its machine */
	uint64_t count;			/* values */
	int64_t min, mean, max, last;
	int64_t first_ns, last_ns;	/* times of the first and the last value */
	uint64_t late;			/* arrived after their time was final */
};

/* The counters that have a name and a value, by process, device and the order of definition; what
 * processes take of their machine comes behind all others. The caller owns *out. [locked] */
size_t model_counters(struct model *model, struct counter_row **out);

struct counter_column {
	int64_t min, mean, max;
	bool known;			/* false: before the first value or after the live edge */
	bool approx;			/* min and max cover a longer time than the column */
};

/* Values over [t0, t1) in n columns; for an unknown series all are zero. [locked] */
void model_counter_columns(struct model *model, uint32_t series, int64_t t0, int64_t t1,
			   size_t n, struct counter_column *out);

#endif
