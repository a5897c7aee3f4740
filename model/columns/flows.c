/* SPDX-License-Identifier: MIT */
/* Messages between processes, and data between ops. */
#include "model/columns/plain.h"
#include "model/query/flows.h"

#define ROW(row) ((const struct flow_row *)(row))
#define AT(name) TABLE_MEMBER(struct flow_row, name)

static void flow_key_text(const void *row, bool ascii, char *text, size_t size)
{
	snprintf(text, size, "%s", ROW(row)->key ? ROW(row)->key : "(no name)");
}

static bool flow_messages(const void *row, int64_t *value)
{
	*value = (int64_t)(ROW(row)->sent > ROW(row)->received ? ROW(row)->sent :
			   ROW(row)->received);
	return true;
}

/* Messages of which one end was not seen. */
static bool flow_missing(const void *row, int64_t *value)
{
	*value = (int64_t)(ROW(row)->sent + ROW(row)->received - 2 * ROW(row)->joined);
	return *value;
}

static const struct table_column flows[] = {
	{ .title = "messages", .member = AT(key), .text = flow_key_text, .link = "pt", .want = 1,
	  .list = 1, .report = 1, .json = "key" },
	{ .title = "from", .member = AT(source), .list = 2, .report = 2, .json = "source" },
	{ .title = "to", .member = AT(destination), .list = 3, .report = 3, .json = "destination" },
	{ .title = "count", .unit = UNIT_COUNT, .value = flow_messages, .list = 4, .report = 4,
	  .json = "count" },
	{ .title = "bytes", .unit = UNIT_BYTES, .member = AT(bytes), .needs = AT(sent), .list = 5,
	  .report = 5, .json = "bytes" },
	{ .title = "p50", .unit = UNIT_TIME, .member = AT(latency_p50_ns), .flags = TABLE_OR_NONE,
	  .list = 7, .report = 7, .json = "latency_p50_ns" },
	{ .title = "p99", .unit = UNIT_TIME, .member = AT(latency_p99_ns), .flags = TABLE_OR_NONE,
	  .list = 8, .report = 8, .json = "latency_p99_ns" },
	{ .member = AT(local), .flags = TABLE_YES_NO, .json = "local" },
	{ .unit = UNIT_COUNT, .member = AT(sent), .json = "sent" },
	{ .unit = UNIT_COUNT, .member = AT(received), .json = "received" },
	{ .unit = UNIT_COUNT, .member = AT(joined), .json = "joined" },
	{ .title = "on wire", .unit = UNIT_TIME, .member = AT(wire_ns), .per = AT(joined),
	  .list = 9 },
	{ .unit = UNIT_TIME, .member = AT(wire_ns), .needs = AT(joined), .json = "wire_ns" },
	{ .unit = UNIT_TIME, .member = AT(error_ns), .needs = AT(error_ns),
	  .json = "clock_error_ns" },
	{ .unit = UNIT_TIME, .member = AT(wait_ns), .needs = AT(received), .json = "wait_ns" },
	{ .title = "per step", .unit = UNIT_BYTES, .member = AT(bytes_per_step),
	  .needs = AT(bytes_per_step), .list = 6, .report = 6, .json = "bytes_per_step" },
	{ .unit = UNIT_TIME, .member = AT(alone_ns_per_step), .needs = AT(bytes_per_step),
	  .json = "alone_ns_per_step" },
	{ .unit = UNIT_COUNT, .member = AT(encoded), .needs = AT(encoded), .json = "encoded" },
	{ .unit = UNIT_TIME, .member = AT(encode_ns), .needs = AT(encoded), .json = "encode_ns" },
	{ .unit = UNIT_COUNT, .member = AT(decoded), .needs = AT(decoded), .json = "decoded" },
	{ .unit = UNIT_TIME, .member = AT(decode_ns), .needs = AT(decoded), .json = "decode_ns" },
};

/* Means of one message. */
static const struct table_column coding[] = {
	{ .title = "coding and waiting, each", .member = AT(key), .text = flow_key_text,
	  .link = "pt", .want = 1, .list = 1 },
	{ .title = "encode", .unit = UNIT_TIME, .member = AT(encode_ns), .per = AT(encoded),
	  .list = 2 },
	{ .title = "decode", .unit = UNIT_TIME, .member = AT(decode_ns), .per = AT(decoded),
	  .list = 3 },
	{ .title = "asked for before", .unit = UNIT_TIME, .member = AT(wait_ns),
	  .per = AT(received), .list = 4 },
	{ .title = "alone per step", .unit = UNIT_TIME, .member = AT(alone_ns_per_step),
	  .needs = AT(bytes_per_step), .list = 5 },
	{ .title = "clocks ±", .unit = UNIT_TIME, .member = AT(error_ns), .needs = AT(error_ns),
	  .list = 6 },
	{ .title = "ends not seen", .unit = UNIT_COUNT, .value = flow_missing, .list = 7 },
};

#undef AT
#define AT(name) TABLE_MEMBER(struct edge_row, name)

static const struct table_column edges[] = {
	{ .key = "key", .member = AT(key), .csv = 1, .json = "key" },
	{ .key = "source", .member = AT(source), .csv = 2, .json = "source" },
	{ .key = "destination", .member = AT(destination), .csv = 3, .json = "destination" },
	{ .key = "count", .unit = UNIT_COUNT, .member = AT(count), .csv = 4, .json = "count" },
	{ .key = "bytes", .unit = UNIT_BYTES, .member = AT(bytes), .csv = 5, .json = "bytes" },
	{ .key = "measured", .unit = UNIT_COUNT, .member = AT(measured), .csv = 6 },
	{ .key = "latency-p50", .unit = UNIT_TIME, .member = AT(latency_p50_ns),
	  .flags = TABLE_OR_NONE, .csv = 7, .json = "latency_p50_ns" },
	{ .key = "latency-p99", .unit = UNIT_TIME, .member = AT(latency_p99_ns),
	  .flags = TABLE_OR_NONE, .csv = 8, .json = "latency_p99_ns" },
};

const struct table_columns flow_columns = { .name = "messages", TABLE_COLUMNS_OF(flows, 0) };
const struct table_columns flow_coding_columns = { .name = "coding", TABLE_COLUMNS_OF(coding, 0) };
const struct table_columns edge_columns = { .name = "edges", TABLE_COLUMNS_OF(edges, 0) };
