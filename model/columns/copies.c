/* SPDX-License-Identifier: MIT */
#include "model/columns/copies.h"

#include <string.h>

#include "model/base/util.h"

#define LINE(row) ((const struct copy_line *)(row))
#define ROW(line) (&LINE(line)->row)
#define AT(name) TABLE_MEMBER(struct copy_line, name)

/* ---- what is known of a row ---- */

static bool copy_has_host_memory(const void *row)
{
	return ROW(row)->direction == DIR_H2D || ROW(row)->direction == DIR_D2H;
}

static bool copy_has_peer(const void *row)
{
	return ROW(row)->peer != UINT32_MAX;
}

static bool copy_has_time(const void *row)
{
	return ROW(row)->count > ROW(row)->untimed;
}

static bool copy_has_best(const void *row)
{
	return ROW(row)->mean_bytes_per_s && LINE(row)->best_bytes_per_s;
}

static bool copy_is_approximate(const void *row)
{
	return ROW(row)->approx > 0;
}

void copy_line_init(struct copy_line *line, const struct copy_row *row)
{
	memset(line, 0, sizeof(*line));
	line->row = *row;
	if (copy_has_host_memory(line) && row->count)
		line->memory = !row->pinned ? "pageable" :
			       row->pinned < row->count ? "mixed" : "pinned";
}

/* ---- values and texts ---- */

static bool copy_pageable(const void *row, int64_t *value)
{
	*value = (int64_t)(ROW(row)->count - ROW(row)->pinned);
	return true;
}

static bool copy_mean(const void *row, int64_t *value)
{
	*value = ROW(row)->total_ns / (int64_t)(ROW(row)->count - ROW(row)->untimed);
	return true;
}

static bool copy_of_best(const void *row, int64_t *value)
{
	*value = (int64_t)((__int128_t)ROW(row)->mean_bytes_per_s * 1000 /
			   LINE(row)->best_bytes_per_s);
	return true;
}

uint64_t copy_line_part(const void *row)
{
	return ROW(row)->total_ns > 0 ? (uint64_t)ROW(row)->total_ns : 0;
}

static const char *copy_direction_words(const void *row)
{
	return direction_name(ROW(row)->direction);
}

static void copy_direction_text(const void *row, bool ascii, char *text, size_t size)
{
	const char *name = direction_name(ROW(row)->direction);

	if (*LINE(row)->peer)
		snprintf(text, size, "%s%s%s", name, ascii ? " > " : " → ", LINE(row)->peer);
	else if (copy_has_peer(row))
		snprintf(text, size, "%s to device %u", name, ROW(row)->peer);
	else
		snprintf(text, size, "%s", name);
}

static void copy_pinned_text(const void *row, bool ascii, char *text, size_t size)
{
	const struct copy_row *copy = ROW(row);
	char share[FMT_MAX];

	if (!LINE(row)->memory)
		snprintf(text, size, "–");
	else if (copy->pinned && copy->pinned < copy->count)
		snprintf(text, size, "%s", fmt_share(share, copy->pinned, copy->count));
	else
		snprintf(text, size, "%s", copy->pinned ? "yes" : "no");
}

static enum filter_known copy_filter(const void *row, enum filter_field field,
				     struct filter_value *value)
{
	if (field == FILTER_BY_DIR)
		return filter_number(value, ROW(row)->direction);
	if (field == FILTER_BY_KIND)
		return filter_number(value, ROW(row)->direction == DIR_FILL ? FILTER_FILL :
					    FILTER_COPY);
	return FILTER_UNKNOWN;
}

static const struct table_column columns[] = {
	{ .key = "direction", .words = copy_direction_words, .number = AT(row.direction),
	  .text = copy_direction_text, .width = 11,
	  .list = 14, .report = 1, .csv = 1, .json = "direction", .filter = TABLE_FILTER(NAME),
	  .help = "from where to where; of copies between devices also the other device" },
	{ .key = "queue", .member = AT(queue), .number = AT(row.queue), .flags = TABLE_OR_NONE,
	  .width = 12, .want = 14, .most = 28, .rank = 2,
	  .list = 12, .report = 3, .csv = 2, .json = "queue",
	  .filter = TABLE_FILTER(QUEUE), .other = AT(number),
	  .help = "the queue (stream) that the copies went to" },
	{ .key = "device", .member = AT(device), .number = AT(row.device), .flags = TABLE_OR_NONE,
	  .width = 6, .rank = 5,
	  .list = 11, .report = 2, .csv = 3, .json = "device",
	  .filter = TABLE_FILTER(DEVICE), .other = AT(device_name),
	  .help = "the device of the queue" },
	{ .key = "count", .was = "copies", .unit = UNIT_COUNT, .member = AT(row.count),
	  .flags = TABLE_SUMS, .width = 9, .rank = 1,
	  .list = 1, .report = 4, .csv = 4, .json = "count", .filter = TABLE_FILTER(COUNT),
	  .help = "number of copies" },
	{ .key = "bytes", .unit = UNIT_BYTES, .member = AT(row.bytes), .flags = TABLE_SUMS,
	  .width = 9,
	  .list = 2, .report = 5, .csv = 6, .json = "bytes", .filter = TABLE_FILTER(BYTES),
	  .help = "bytes of all copies" },
	{ .key = "total", .was = "time", .unit = UNIT_TIME, .member = AT(row.total_ns),
	  .known = copy_has_time, .flags = TABLE_SUMS, .width = 9,
	  .list = 4, .report = 6, .csv = 7, .json = "total_ns", .filter = TABLE_FILTER(TOTAL),
	  .help = "sum of the durations of all copies; ~ where some are known from the host only" },
	{ .key = "pinned", .unit = UNIT_COUNT, .member = AT(row.pinned),
	  .known = copy_has_host_memory, .flags = TABLE_IF_ANY, .text = copy_pinned_text,
	  .width = 6, .rank = 4, .json = "pinned", .filter = TABLE_FILTER(PINNED),
	  .help = "share of the copies whose host memory was pinned, as far as the probes know" },
	{ .key = "pageable", .unit = UNIT_COUNT, .value = copy_pageable,
	  .known = copy_has_host_memory, .flags = TABLE_SUMS | TABLE_ASKED,
	  .width = 9, .rank = 9, .filter = TABLE_FILTER(PAGEABLE),
	  .help = "copies from or to host memory that was not pinned, as far as the probes know" },
	{ .key = "share", .unit = UNIT_SHARE, .part = copy_line_part, .known = copy_has_time,
	  .width = 14, .want = 14, .most = 20, .rank = 4, .list = 6,
	  .help = "share of the total time of all copies" },
	{ .key = "rate", .was = "mean", .unit = UNIT_RATE, .member = AT(row.mean_bytes_per_s),
	  .needs = AT(row.mean_bytes_per_s), .width = 10, .rank = 1,
	  .list = 7, .report = 7, .csv = 8, .json = "mean_bytes_per_s",
	  .filter = TABLE_FILTER(RATE),
	  .help = "bytes per second: the bytes of the copies whose duration is known, divided by "
		  "their time" },
	{ .key = "peak", .unit = UNIT_RATE, .member = AT(row.peak_bytes_per_s),
	  .needs = AT(row.peak_bytes_per_s), .width = 10, .rank = 3,
	  .list = 8, .report = 8, .csv = 9, .json = "peak_bytes_per_s",
	  .help = "highest rate of a single copy of at least 64 KiB, if there is none of any "
		  "copy" },
	{ .title = "of best", .key = "best", .was = "of-best", .unit = UNIT_SHARE,
	  .value = copy_of_best, .known = copy_has_best, .flags = TABLE_LEAST_FIRST,
	  .width = 7, .rank = 4, .list = 9,
	  .help = "the rate, as a share of the highest rate seen in that direction on the device" },
	/* lists and files only */
	{ .key = "each", .unit = UNIT_BYTES, .member = AT(row.bytes),
	  .per = AT(row.count), .list = 3, .help = "mean size of a copy" },
	{ .key = "mean", .was = "avg", .unit = UNIT_TIME, .value = copy_mean,
	  .known = copy_has_time, .list = 5, .filter = TABLE_FILTER(MEAN),
	  .help = "mean duration of a copy" },
	{ .key = "memory", .member = AT(memory), .list = 10,
	  .help = "host memory of the copies: pinned, pageable or both" },
	{ .key = "op", .member = AT(op), .list = 13,
	  .help = "the op that launched most of it" },
	{ .key = "failed", .unit = UNIT_COUNT, .member = AT(row.failed), .flags = TABLE_IF_ANY,
	  .csv = 5, .json = "failed", .filter = TABLE_FILTER(FAILED),
	  .help = "copies that ended with an error" },
	{ .unit = UNIT_COUNT, .member = AT(row.approx), .needs = AT(row.approx),
	  .json = "approximate" },
	{ .unit = UNIT_COUNT, .member = AT(row.untimed), .needs = AT(row.untimed),
	  .json = "untimed" },
	{ .unit = UNIT_NUMBER, .member = AT(row.peer), .flags = TABLE_OR_NONE,
	  .json = "peer_device" },
};

const struct table_columns copy_columns = {
	.name = "copies",
	TABLE_COLUMNS_OF(columns, 8),
	.approximate = copy_is_approximate,
	.kind = -1,
	.filter = copy_filter,
};
