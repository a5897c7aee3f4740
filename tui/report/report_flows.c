/* SPDX-License-Identifier: MIT */
/* Messages between processes, and data between ops: as text, as a page, as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/query/flows.h"
#include "tui/base/json.h"
#include "tui/draw/page_call.h"
#include "tui/report/report.h"
#include "tui/draw/sheet.h"

#define ROWS_MAX 15			/* of the report */
#define PAGE_WIDTH 150

static size_t snapshot(struct model *model, struct flow_row **rows)
{
	size_t count;

	model_lock(model);
	count = model_flows(model, rows);
	model_unlock(model);
	return count;
}

/* ---- text ---- */

static void time_cell(struct sheet *sheet, int64_t ns, bool known)
{
	char text[FMT_MAX];

	sheet_cell(sheet, "%s", known ? fmt_time(text, ns) : "");
}

static void mean_cell(struct sheet *sheet, int64_t sum_ns, uint64_t count)
{
	time_cell(sheet, count ? sum_ns / (int64_t)count : 0, count > 0);
}

static const char *text_or(const char *text)
{
	return text ? text : "";
}

static void key_cell(struct sheet *sheet, const struct flow_row *row)
{
	sheet_cell(sheet, "%s", row->key ? row->key : "(no name)");
	if (row->key)
		sheet_link(sheet, "pt", row->key);
}

/* Where they go, how many bytes, how long that takes. */
static void report_flows_latency_sheet(struct sheet *sheet, const struct flow_row *rows,
				       size_t count, bool wide)
{
	char text[FMT_MAX];

	sheet_column(sheet, "messages", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(sheet, "from", SHEET_LEFT, 0);
	sheet_column(sheet, "to", SHEET_LEFT, 0);
	sheet_column(sheet, "count", SHEET_RIGHT, 0);
	sheet_column(sheet, "bytes", SHEET_RIGHT, 0);
	sheet_column(sheet, "per step", SHEET_RIGHT, 0);
	sheet_column(sheet, "p50", SHEET_RIGHT, 0);
	sheet_column(sheet, "p99", SHEET_RIGHT, 0);
	if (wide)
		sheet_column(sheet, "on wire", SHEET_RIGHT, 0);
	for (size_t i = 0; i < count; i++) {
		const struct flow_row *row = &rows[i];
		uint64_t n = row->sent > row->received ? row->sent : row->received;

		key_cell(sheet, row);
		sheet_cell(sheet, "%s", text_or(row->source));
		sheet_cell(sheet, "%s", text_or(row->destination));
		sheet_cell(sheet, "%s", fmt_count(text, n));
		sheet_cell(sheet, "%s", row->sent ? fmt_bytes(text, row->bytes) : "");
		sheet_cell(sheet, "%s", row->bytes_per_step ? fmt_bytes(text, row->bytes_per_step) :
			   "");
		time_cell(sheet, row->latency_p50_ns, row->joined > 0);
		time_cell(sheet, row->latency_p99_ns, row->joined > 0);
		if (wide)
			mean_cell(sheet, row->wire_ns, row->joined);
	}
}

void report_flows_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct flow_row *rows;
	size_t count = snapshot(model, &rows), shown = count < ROWS_MAX ? count : ROWS_MAX;

	report_flows_latency_sheet(&sheet, rows, shown, false);
	sheet.more = count - shown;
	report_sheet(&sheet, out);
	free(rows);
}

/* ---- page ---- */

/* What each end does with them. */
static void report_flows_coding_sheet(struct sheet *sheet, const struct flow_row *rows,
				      size_t count)
{
	sheet_column(sheet, "coding and waiting, each", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(sheet, "encode", SHEET_RIGHT, 0);
	sheet_column(sheet, "decode", SHEET_RIGHT, 0);
	sheet_column(sheet, "asked for before", SHEET_RIGHT, 0);
	sheet_column(sheet, "alone per step", SHEET_RIGHT, 0);
	sheet_column(sheet, "clocks ±", SHEET_RIGHT, 0);
	sheet_column(sheet, "ends not seen", SHEET_RIGHT, 0);
	for (size_t i = 0; i < count; i++) {
		const struct flow_row *row = &rows[i];
		uint64_t missing = row->sent + row->received - 2 * row->joined;
		char text[FMT_MAX];

		key_cell(sheet, row);
		mean_cell(sheet, row->encode_ns, row->encoded);
		mean_cell(sheet, row->decode_ns, row->decoded);
		mean_cell(sheet, row->wait_ns, row->received);
		time_cell(sheet, row->alone_ns_per_step, row->bytes_per_step > 0);
		time_cell(sheet, row->error_ns, row->error_ns > 0);
		sheet_cell(sheet, "%s", missing ? fmt_count(text, missing) : "");
	}
}

bool page_flows(const struct page_call *call, struct page *page)
{
	struct sheet sheet = { 0 };
	struct flow_row *rows;
	size_t count = snapshot(call->model, &rows);

	page_title(page, "messages between processes");
	if (!count) {
		page_say(page, ROLE_MUTED, 0, "no message between processes has been seen");
		free(rows);
		return true;
	}
	report_flows_latency_sheet(&sheet, rows, count, true);
	page_sheet(page, &sheet, PAGE_WIDTH);
	page_say(page, ROLE_DEFAULT, 0, "%s", "");
	report_flows_coding_sheet(&sheet, rows, count);
	page_sheet(page, &sheet, PAGE_WIDTH);
	free(rows);
	return true;
}

/* ---- JSON ---- */

static void report_flows_write_latency(struct json *json, int64_t p50_ns, int64_t p99_ns)
{
	if (p50_ns < 0)
		return;
	json_key_int(json, "latency_p50_ns", p50_ns);
	json_key_int(json, "latency_p99_ns", p99_ns);
}

static void report_flows_write_coding(struct json *json, const struct flow_row *row)
{
	if (row->encoded) {
		json_key_uint(json, "encoded", row->encoded);
		json_key_int(json, "encode_ns", row->encode_ns);
	}
	if (row->decoded) {
		json_key_uint(json, "decoded", row->decoded);
		json_key_int(json, "decode_ns", row->decode_ns);
	}
}

static void report_flows_write_flow(struct json *json, const struct flow_row *row)
{
	json_object(json);
	json_text_if(json, "key", row->key);
	json_text_if(json, "source", row->source);
	json_text_if(json, "destination", row->destination);
	json_key_uint(json, "count", row->sent > row->received ? row->sent : row->received);
	if (row->sent)
		json_key_uint(json, "bytes", row->bytes);
	report_flows_write_latency(json, row->latency_p50_ns, row->latency_p99_ns);
	json_key_bool(json, "local", row->local);
	json_key_uint(json, "sent", row->sent);
	json_key_uint(json, "received", row->received);
	json_key_uint(json, "joined", row->joined);
	if (row->joined)
		json_key_int(json, "wire_ns", row->wire_ns);
	if (row->error_ns)
		json_key_int(json, "clock_error_ns", row->error_ns);
	if (row->received)
		json_key_int(json, "wait_ns", row->wait_ns);
	if (row->bytes_per_step) {
		json_key_uint(json, "bytes_per_step", row->bytes_per_step);
		json_key_int(json, "alone_ns_per_step", row->alone_ns_per_step);
	}
	report_flows_write_coding(json, row);
	json_end(json);
}

/* Messages, and data between ops, as far as somebody told of it. */
void report_edges_json(struct json *json, struct model *model)
{
	struct flow_row *flows;
	struct edge_row *rows;
	size_t count, n_flows;

	model_lock(model);
	n_flows = model_flows(model, &flows);
	count = model_edges(model, &rows);
	model_unlock(model);
	if (count + n_flows)
		json_key_array(json, "flows");
	for (size_t i = 0; i < n_flows; i++)
		report_flows_write_flow(json, &flows[i]);
	free(flows);
	for (size_t i = 0; i < count; i++) {
		json_object(json);
		json_text_if(json, "key", rows[i].key);
		json_text_if(json, "source", rows[i].source);
		json_text_if(json, "destination", rows[i].destination);
		json_key_uint(json, "count", rows[i].count);
		json_key_uint(json, "bytes", rows[i].bytes);
		report_flows_write_latency(json, rows[i].measured ? rows[i].latency_p50_ns : -1,
					   rows[i].latency_p99_ns);
		json_end(json);
	}
	if (count + n_flows)
		json_end(json);
	free(rows);
}
