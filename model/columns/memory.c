/* SPDX-License-Identifier: MIT */
#include "model/columns/memory.h"

#include <string.h>

#include "model/base/util.h"
#include "model/columns/plain.h"

#define LINE(row) ((const struct memory_line *)(row))
#define ROW(line) (&LINE(line)->row)
#define AT(name) TABLE_MEMBER(struct memory_line, name)

static bool memory_has_peak(const void *row)
{
	return ROW(row)->peak_ns && ROW(row)->peak_ns >= LINE(row)->base_ns;
}

static bool memory_peak_at(const void *row, int64_t *value)
{
	*value = ROW(row)->peak_ns - LINE(row)->base_ns;
	return true;
}

static uint64_t memory_part(const void *row)
{
	return ROW(row)->peak_bytes;
}

static const char *memory_holder(const void *row)
{
	return ROW(row)->n_peak_ops ? ROW(row)->peak_ops[0] : NULL;
}

/* The op that held most at the peak, with its part of it. */
static void memory_holder_text(const void *row, bool ascii, char *text, size_t size)
{
	const struct memory_row *memory = ROW(row);
	bool op = memory->n_peak_ops && memory->peak_op_bytes[0] >= memory->peak_no_op_bytes;
	uint64_t bytes = op ? memory->peak_op_bytes[0] : memory->peak_no_op_bytes;
	char share[FMT_MAX];

	if (bytes)
		snprintf(text, size, "%s %s", fmt_share(share, bytes, memory->peak_bytes),
			 op ? memory->peak_ops[0] : "outside of ops");
	else
		snprintf(text, size, "–");
}

/* What was allocated outside of ops is no op's. */
static void memory_holder_bytes_text(const void *row, bool ascii, char *text, size_t size)
{
	const struct memory_row *memory = ROW(row);
	char bytes[FMT_MAX];

	if (memory->n_peak_ops && memory->peak_op_bytes[0] >= memory->peak_no_op_bytes)
		snprintf(text, size, "%s: %s", fmt_bytes(bytes, memory->peak_op_bytes[0]),
			 memory->peak_ops[0]);
	else
		snprintf(text, size, "%s", "");
}

static void memory_growth_text(const void *row, bool ascii, char *text, size_t size)
{
	char bytes[FMT_MAX];

	if (ROW(row)->growth_bytes_per_step)
		snprintf(text, size, "+%s", fmt_bytes(bytes, ROW(row)->growth_bytes_per_step));
	else
		snprintf(text, size, "%s", LINE(row)->steps ? "0" : "–");
}

static size_t memory_trend(const void *row, uint64_t values[TABLE_SERIES_MAX])
{
	memcpy(values, LINE(row)->trend, sizeof(LINE(row)->trend));
	return MEMORY_TREND;
}

static const struct table_column columns[] = {
	{ .key = "allocator", .member = AT(row.allocator), .width = 20, .want = 22, .most = 36,
	  .report = 1, .csv = 1, .json = "allocator", .filter = TABLE_FILTER(NAME),
	  .help = "who allocates, as the program's libraries call it" },
	{ .key = "device", .member = AT(device), .number = AT(row.device),
	  .flags = TABLE_OR_NONE, .width = 6, .rank = 3,
	  .report = 2, .csv = 2, .json = "device", .filter = TABLE_FILTER(DEVICE),
	  .help = "device whose memory it is; – the host's, or that of several devices" },
	{ .key = "live", .report_title = "at the end", .unit = UNIT_BYTES,
	  .member = AT(row.live_bytes), .width = 9,
	  .report = 4, .csv = 3, .json = "live_bytes", .filter = TABLE_FILTER(LIVE),
	  .help = "bytes that are allocated now" },
	{ .key = "peak", .unit = UNIT_BYTES, .member = AT(row.peak_bytes), .width = 9,
	  .report = 3, .csv = 4, .json = "peak_bytes", .filter = TABLE_FILTER(BYTES),
	  .help = "the most bytes that were allocated at once" },
	{ .title = "of the largest", .key = "share", .unit = UNIT_SHARE, .part = memory_part,
	  .width = 14, .want = 14, .most = 20, .rank = 6,
	  .help = "its peak, as a share of the largest one; allocators may lie within others, so "
		  "that their peaks have no sum" },
	{ .title = "most at the peak", .key = "holder", .words = memory_holder,
	  .text = memory_holder_text, .width = 18, .want = 30, .most = 60, .rank = 2,
	  .csv = 6, .filter = TABLE_FILTER(OP),
	  .help = "the op that held most at the peak, and its share of the peak" },
	{ .key = "allocated", .unit = UNIT_BYTES, .member = AT(row.allocated_bytes),
	  .flags = TABLE_SUMS | TABLE_ASKED, .width = 9, .rank = 9, .json = "allocated_bytes",
	  .help = "bytes of all allocations, also of those that were freed" },
	{ .key = "allocations", .unit = UNIT_COUNT, .member = AT(row.allocations),
	  .flags = TABLE_SUMS, .width = 13, .rank = 4,
	  .report = 5, .csv = 7, .json = "allocations", .filter = TABLE_FILTER(COUNT),
	  .help = "number of allocations" },
	{ .key = "frees", .unit = UNIT_COUNT, .member = AT(row.frees), .flags = TABLE_SUMS,
	  .width = 8, .rank = 5, .csv = 8, .json = "frees",
	  .help = "number of frees" },
	{ .title = "growth/step", .key = "growth", .unit = UNIT_BYTES,
	  .member = AT(row.growth_bytes_per_step), .needs = AT(steps),
	  .flags = TABLE_SUMS | TABLE_DASH | TABLE_FILES_ZERO, .text = memory_growth_text,
	  .width = 13, .rank = 1,
	  .report = 6, .csv = 9, .json = "growth_bytes_per_step", .filter = TABLE_FILTER(GROWTH),
	  .help = "bytes by which it grows from the end of a step to the end of the next; "
		  "0: it does not grow" },
	{ .title = "over the run", .key = "trend", .series = memory_trend, .width = 16, .rank = 7,
	  .help = "live bytes, the most at a time, from the start of the run to now" },
	/* files and reports only */
	{ .title = "most at the peak", .key = "holder-bytes", .text = memory_holder_bytes_text,
	  .want = 30, .report = 7,
	  .help = "bytes at the peak of the op that held most then" },
	{ .key = "peak-at", .unit = UNIT_WHEN, .value = memory_peak_at, .known = memory_has_peak,
	  .csv = 5, .json = "peak_at_ns", .help = "when the peak was reached" },
	{ .key = "unknown-frees", .unit = UNIT_COUNT, .member = AT(row.unknown_frees),
	  .flags = TABLE_IF_ANY, .json = "unknown_frees",
	  .help = "frees of what was not known to be allocated" },
	{ .key = "missed-frees", .unit = UNIT_COUNT, .member = AT(row.missed_frees),
	  .flags = TABLE_IF_ANY, .json = "missed_frees",
	  .help = "allocated again without having been freed" },
};

const struct table_columns allocator_columns = {
	.name = "memory",
	TABLE_COLUMNS_OF(columns, 4),
	.kind = -1,
};

#undef AT
#define AT(name) TABLE_MEMBER(struct allocator_chunks, name)

static const struct table_column chunks[] = {
	{ .title = "chunks", .member = AT(allocator), .want = 1, .report = 1 },
	{ .unit = UNIT_COUNT, .member = AT(chunks.regions), .json = "regions" },
	{ .title = "reserved", .unit = UNIT_BYTES, .member = AT(chunks.reserved_bytes),
	  .report = 2, .json = "reserved_bytes" },
	{ .title = "chunks", .unit = UNIT_COUNT, .member = AT(chunks.used), .report = 4,
	  .json = "used" },
	{ .title = "in use", .unit = UNIT_BYTES, .member = AT(chunks.used_bytes), .report = 3,
	  .json = "used_bytes" },
	{ .title = "chunks", .unit = UNIT_COUNT, .member = AT(chunks.free), .report = 6,
	  .json = "free" },
	{ .title = "free", .unit = UNIT_BYTES, .member = AT(chunks.free_bytes), .report = 5,
	  .json = "free_bytes" },
	{ .title = "largest free", .unit = UNIT_BYTES, .member = AT(chunks.largest_free_bytes),
	  .report = 7, .json = "largest_free_bytes" },
	{ .title = "fragmentation", .unit = UNIT_SHARE, .member = AT(chunks.fragmentation),
	  .report = 8, .json = "fragmentation" },
};

const struct table_columns chunk_columns = { .name = "chunks", TABLE_COLUMNS_OF(chunks, 0) };
