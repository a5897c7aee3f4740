/* SPDX-License-Identifier: MIT */
/*
 * Questions about counters: values over time that a probe, a sensor or another
 * profiler gave, and those that the model makes itself. Beside query.h, by the
 * same rules.
 *
 * A value stands until the next one; before the first there is none. Counts,
 * least, highest and last value are exact for the whole run, the mean is over
 * the time from the first to the last value. Values in the unit of their series,
 * times in ns of host 0.
 */
#ifndef MODEL_QUERY_COUNTERS_H
#define MODEL_QUERY_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

struct counter_row {
	const char *name;
	const char *unit;		/* as struct tft_series has it, "" a count */
	uint32_t series;		/* for model_counter_columns() */
	uint32_t device;		/* model-wide, UINT32_MAX: of the process */
	uint16_t host;
	uint32_t pid;
	uint64_t count;			/* values */
	int64_t min, mean, max, last;
	int64_t first_ns, last_ns;	/* when the first and the last one came */
	uint64_t late;			/* came after their time was final */
};

/* By process, device and the order they were defined in; those that have a name
 * and a value. *out owned by the caller. [locked] */
size_t model_counters(struct model *model, struct counter_row **out);

struct counter_column {
	int64_t min, mean, max;
	bool known;			/* false: before the first value, after the live edge */
	bool approx;			/* min and max are those of a wider time */
};

/* Values over [t0, t1) in n columns. Unknown series: all zero. [locked] */
void model_counter_columns(struct model *model, uint32_t series, int64_t t0, int64_t t1,
			   size_t n, struct counter_column *out);

#endif
