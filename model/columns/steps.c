/* SPDX-License-Identifier: MIT */
#include "model/columns/steps.h"

#include "model/base/util.h"

#define LINE(row) ((const struct step_line *)(row))
#define ROW(line) (&LINE(line)->row)
#define AT(name) TABLE_MEMBER(struct step_line, name)

static bool step_is_known(const void *row)
{
	return LINE(row)->known;
}

static bool step_start(const void *row, int64_t *value)
{
	*value = ROW(row)->start_ns - LINE(row)->base_ns;
	return true;
}

static bool step_delta(const void *row, int64_t *value)
{
	*value = ROW(row)->dur_ns - LINE(row)->typical_ns;
	return true;
}

static void step_delta_text(const void *row, bool ascii, char *text, size_t size)
{
	char time[FMT_MAX];
	int64_t delta;

	step_delta(row, &delta);
	snprintf(text, size, "%s%s", delta > 0 ? "+" : "", fmt_time(time, delta));
}

static uint64_t step_part(const void *row)
{
	return ROW(row)->dur_ns > 0 ? (uint64_t)ROW(row)->dur_ns : 0;
}

/* ---- parts of the step: shown as shares of it ---- */

static void step_share_text(const void *row, int64_t ns, char *text, size_t size)
{
	char share[FMT_MAX];

	snprintf(text, size, "%s", LINE(row)->known && ns > 0 ?
		 fmt_share(share, (uint64_t)ns, (uint64_t)ROW(row)->dur_ns) : "");
}

#define PART(name, number) \
static bool step_##name(const void *row, int64_t *value) \
{ \
	const int64_t *ns = LINE(row)->ns; \
\
	*value = number; \
	return true; \
} \
static void step_##name##_text(const void *row, bool ascii, char *text, size_t size) \
{ \
	int64_t value; \
\
	step_##name(row, &value); \
	step_share_text(row, value, text, size); \
}
PART(kernels, ns[STEP_COMPUTE] + ns[STEP_COMM])
PART(input, ns[STEP_INPUT])
PART(copies, ns[STEP_H2D] + ns[STEP_D2H] + ns[STEP_D2D])
PART(launch, ns[STEP_LAUNCH])
PART(sync, ns[STEP_SYNC])
PART(compile, ns[STEP_COMPILE])
PART(host, ns[STEP_HOST])
PART(other, ns[STEP_OTHER])

/* The first of them also says why there is nothing yet. */
static void step_first_text(const void *row, bool ascii, char *text, size_t size)
{
	if (LINE(row)->settling)
		snprintf(text, size, "settling");
	else
		step_kernels_text(row, ascii, text, size);
}

static enum filter_known step_filter(const void *row, enum filter_field field,
				     struct filter_value *value)
{
	int64_t start_ns = ROW(row)->start_ns - LINE(row)->base_ns;

	switch (field) {
	case FILTER_BY_STEP: return filter_number(value, ROW(row)->number);
	case FILTER_BY_END: return filter_number(value, start_ns + ROW(row)->dur_ns);
	default: return FILTER_UNKNOWN;
	}
}

#define OF_STEP "; shown as a share of the step, sorted by the time"

static const struct table_column columns[] = {
	{ .key = "step", .unit = UNIT_NUMBER, .member = AT(row.number), .width = 7,
	  .csv = 1, .filter = TABLE_FILTER(NUMBER),
	  .help = "number of the step, as the program counts" },
	{ .key = "start", .unit = UNIT_WHEN, .value = step_start, .width = 12, .rank = 1,
	  .csv = 2, .filter = TABLE_FILTER(START),
	  .help = "when the step started, since the start of the run" },
	{ .key = "duration", .unit = UNIT_TIME, .member = AT(row.dur_ns), .flags = TABLE_SUMS,
	  .width = 10, .csv = 3, .filter = TABLE_FILTER(DUR),
	  .help = "from the start of the step to its end" },
	{ .title = "of the longest", .key = "share", .unit = UNIT_SHARE, .part = step_part,
	  .width = 16, .want = 16, .most = 26, .rank = 4,
	  .help = "duration of the step, as a share of that of the longest step" },
	{ .title = "to the median", .key = "delta", .unit = UNIT_TIME, .value = step_delta,
	  .text = step_delta_text, .width = 14, .rank = 5,
	  .help = "duration of the step less the median (p50) of all steps" },
	{ .key = "compute", .unit = UNIT_TIME, .value = step_kernels, .known = step_is_known,
	  .text = step_first_text, .width = 8, .rank = 2,
	  .help = "kernels ran, those that communicate included" OF_STEP },
	{ .key = "input", .unit = UNIT_TIME, .value = step_input, .known = step_is_known,
	  .text = step_input_text, .width = 7, .rank = 2, .csv = 8,
	  .help = "the host fetched or waited for a batch, and no device worked" OF_STEP },
	{ .key = "copies", .unit = UNIT_TIME, .value = step_copies, .known = step_is_known,
	  .text = step_copies_text, .width = 7, .rank = 3, .csv = 9,
	  .help = "copies ran and no kernel" OF_STEP },
	{ .key = "launch", .unit = UNIT_TIME, .value = step_launch, .known = step_is_known,
	  .text = step_launch_text, .width = 7, .rank = 2, .csv = 10,
	  .help = "work was being launched or on its way, and no device worked" OF_STEP },
	{ .key = "sync", .unit = UNIT_TIME, .value = step_sync, .known = step_is_known,
	  .text = step_sync_text, .width = 7, .rank = 2, .csv = 11,
	  .help = "the host waited for a device that did nothing" OF_STEP },
	{ .key = "host", .unit = UNIT_TIME, .value = step_host, .known = step_is_known,
	  .text = step_host_text, .width = 7, .rank = 2, .csv = 13,
	  .help = "the host computed, and no device worked" OF_STEP },
	{ .key = "other", .unit = UNIT_TIME, .value = step_other, .known = step_is_known,
	  .text = step_other_text, .width = 7, .rank = 3, .csv = 14,
	  .help = "what the host did is unknown, and no device worked" OF_STEP },
	{ .key = "compile", .unit = UNIT_TIME, .value = step_compile, .known = step_is_known,
	  .text = step_compile_text, .width = 7, .rank = 6, .csv = 12,
	  .help = "the host compiled, and no device worked" OF_STEP },
	/* not in the pane; CSV has the parts of compute apart */
	{ .key = "warm-up", .member = AT(row.warm_up), .flags = TABLE_YES_NO,
	  .csv = 4, .filter = TABLE_FILTER(WARM_UP), .help = "whether it belongs to the warm-up" },
	{ .key = "outlier", .member = AT(row.outlier), .flags = TABLE_YES_NO,
	  .csv = 5, .filter = TABLE_FILTER(OUTLIER),
	  .help = "whether it is longer than the others" },
	{ .key = "compiled", .member = AT(row.compiled), .flags = TABLE_YES_NO,
	  .filter = TABLE_FILTER(COMPILED),
	  .help = "whether a tenth of it or more was spent compiling" },
	{ .key = "compute", .unit = UNIT_TIME, .member = AT(ns[STEP_COMPUTE]),
	  .known = step_is_known, .csv = 6, .help = "kernels that compute ran" },
	{ .key = "comm", .unit = UNIT_TIME, .member = AT(ns[STEP_COMM]),
	  .known = step_is_known, .csv = 7, .help = "only kernels that communicate ran" },
};

const struct table_columns step_columns = {
	.name = "steps",
	TABLE_COLUMNS_OF(columns, 5),
	.kind = FILTER_STEP,
	.filter = step_filter,
};
