/* SPDX-License-Identifier: MIT */
/* Requests to models. */
#include <inttypes.h>

#include "model/base/util.h"
#include "model/columns/plain.h"
#include "model/query/requests.h"

#define ROW(row) ((const struct request_row *)(row))
#define AT(name) TABLE_MEMBER(struct request_row, name)

void request_rate_text(int64_t milli, char *text, size_t size)
{
	*text = '\0';
	if (milli >= 100000)
		snprintf(text, size, "%" PRId64, (milli + 500) / 1000);
	else if (milli >= 0)
		snprintf(text, size, "%" PRId64 ".%" PRId64, (milli + 50) / 1000,
			 (milli + 50) % 1000 / 100);
}

static void requests_rate_text(const void *row, bool ascii, char *text, size_t size)
{
	request_rate_text(ROW(row)->requests_milli, text, size);
}

static void tokens_rate_text(const void *row, bool ascii, char *text, size_t size)
{
	request_rate_text(ROW(row)->tokens_milli, text, size);
}

static const struct table_column requests[] = {
	{ .title = "requests", .member = AT(name), .want = 1, .report = 1, .json = "name" },
	{ .unit = UNIT_NUMBER, .member = AT(pid), .json = "pid" },
	{ .title = "requests", .unit = UNIT_COUNT, .member = AT(requests), .report = 2,
	  .json = "requests" },
	{ .title = "per s", .needs = AT(span_ns), .text = requests_rate_text,
	  .flags = TABLE_RIGHT, .report = 3 },
	{ .title = "passes", .unit = UNIT_COUNT, .member = AT(passes), .report = 4,
	  .json = "passes" },
	{ .title = "≈tokens", .unit = UNIT_COUNT, .member = AT(tokens), .needs = AT(tokens),
	  .report = 5, .json = "tokens" },
	{ .title = "per s", .needs = AT(tokens), .text = tokens_rate_text,
	  .flags = TABLE_RIGHT, .report = 6 },
	{ .title = "first token p50", .unit = UNIT_TIME, .member = AT(first_p50_ns), .report = 7,
	  .json = "first_token_p50_ns" },
	{ .title = "p99", .unit = UNIT_TIME, .member = AT(first_p99_ns), .report = 8,
	  .json = "first_token_p99_ns" },
	{ .title = "per token", .unit = UNIT_TIME, .member = AT(token_ns), .flags = TABLE_OR_NONE,
	  .report = 9, .json = "token_ns" },
	{ .title = "request p50", .unit = UNIT_TIME, .member = AT(p50_ns), .report = 10,
	  .json = "p50_ns" },
	{ .title = "p99", .unit = UNIT_TIME, .member = AT(p99_ns), .report = 11,
	  .json = "p99_ns" },
	{ .unit = UNIT_TIME, .member = AT(total_ns), .json = "total_ns" },
	{ .unit = UNIT_TIME, .member = AT(span_ns), .json = "span_ns" },
};

const struct table_columns request_columns = {
	.name = "requests", TABLE_COLUMNS_OF(requests, 0),
};
