/* SPDX-License-Identifier: MIT */
/* Allocators, as text and as JSON, and data between ops. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/query-flows.h"
#include "model/query-memory.h"
#include "model/base/util.h"
#include "tui/json.h"
#include "tui/report.h"
#include "tui/sheet.h"

/* ---- text ---- */

/* Ops by name; what was allocated outside of them is no op's. */
static void peak_cell(struct sheet *sheet, const struct memory_row *row)
{
	char text[FMT_MAX];

	if (row->n_peak_ops && row->peak_op_bytes[0] >= row->peak_no_op_bytes)
		sheet_cell(sheet, "%s: %s", fmt_bytes(text, row->peak_op_bytes[0]),
			   row->peak_ops[0]);
	else
		sheet_cell(sheet, "%s", "");
}

void report_memory_text(struct model *model, FILE *out)
{
	struct sheet sheet = { 0 };
	struct memory_row *rows;
	char text[FMT_MAX];
	size_t count;

	model_lock(model);
	count = model_memory(model, &rows);
	model_unlock(model);
	sheet_column(&sheet, "memory", SHEET_LEFT, REPORT_NAME_LEAST);
	sheet_column(&sheet, "device", SHEET_RIGHT, 0);
	sheet_column(&sheet, "peak", SHEET_RIGHT, 0);
	sheet_column(&sheet, "at the end", SHEET_RIGHT, 0);
	sheet_column(&sheet, "allocations", SHEET_RIGHT, 0);
	sheet_column(&sheet, "growth/step", SHEET_RIGHT, 0);
	sheet_column(&sheet, "most at the peak", SHEET_LEFT, REPORT_NAME_LEAST);
	for (size_t i = 0; i < count; i++) {
		sheet_cell(&sheet, "%s", rows[i].allocator);
		if (rows[i].device != UINT32_MAX)
			sheet_cell(&sheet, "%" PRIu32, rows[i].device);
		else
			sheet_cell(&sheet, "%s", "");
		sheet_cell(&sheet, "%s", fmt_bytes(text, rows[i].peak_bytes));
		sheet_cell(&sheet, "%s", fmt_bytes(text, rows[i].live_bytes));
		sheet_cell(&sheet, "%s", fmt_count(text, rows[i].allocations));
		sheet_cell(&sheet, "%s", rows[i].growth_bytes_per_step ?
			   fmt_bytes(text, rows[i].growth_bytes_per_step) : "");
		peak_cell(&sheet, &rows[i]);
	}
	report_sheet(&sheet, out);
	free(rows);
}

/* ---- JSON ---- */

static void write_allocator(struct json *json, const struct memory_row *row, int64_t first_ns)
{
	json_object(json);
	json_key_string(json, "allocator", row->allocator);
	if (row->device != UINT32_MAX)
		json_key_uint(json, "device", row->device);
	json_key_uint(json, "live_bytes", row->live_bytes);
	json_key_uint(json, "peak_bytes", row->peak_bytes);
	if (row->peak_ns >= first_ns)
		json_key_int(json, "peak_at_ns", row->peak_ns - first_ns);
	json_key_uint(json, "allocations", row->allocations);
	json_key_uint(json, "allocated_bytes", row->allocated_bytes);
	json_key_uint(json, "frees", row->frees);
	json_uint_if(json, "unknown_frees", row->unknown_frees);
	json_uint_if(json, "missed_frees", row->missed_frees);
	json_uint_if(json, "growth_bytes_per_step", row->growth_bytes_per_step);
	json_key_array(json, "peak_ops");
	for (size_t k = 0; k < row->n_peak_ops; k++)
		json_string(json, row->peak_ops[k]);
	json_end(json);
	json_key_array(json, "peak_op_bytes");
	for (size_t k = 0; k < row->n_peak_ops; k++)
		json_uint(json, row->peak_op_bytes[k]);
	json_end(json);
	json_end(json);
}

void report_memory_json(struct json *json, struct model *model)
{
	struct model_status status;
	struct memory_row *rows;
	size_t count;

	model_lock(model);
	model_status(model, &status);
	count = model_memory(model, &rows);
	model_unlock(model);
	json_key_array(json, "memory");
	for (size_t i = 0; i < count; i++)
		write_allocator(json, &rows[i], status.first_ns);
	json_end(json);
	free(rows);
}

static void write_latency(struct json *json, int64_t p50_ns, int64_t p99_ns)
{
	if (p50_ns < 0)
		return;
	json_key_int(json, "latency_p50_ns", p50_ns);
	json_key_int(json, "latency_p99_ns", p99_ns);
}

static void write_coding(struct json *json, const struct flow_row *row)
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

static void write_flow(struct json *json, const struct flow_row *row)
{
	json_object(json);
	json_text_if(json, "key", row->key);
	json_text_if(json, "source", row->source);
	json_text_if(json, "destination", row->destination);
	json_key_uint(json, "count", row->sent > row->received ? row->sent : row->received);
	if (row->sent)
		json_key_uint(json, "bytes", row->bytes);
	write_latency(json, row->latency_p50_ns, row->latency_p99_ns);
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
	write_coding(json, row);
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
		write_flow(json, &flows[i]);
	free(flows);
	for (size_t i = 0; i < count; i++) {
		json_object(json);
		json_text_if(json, "key", rows[i].key);
		json_text_if(json, "source", rows[i].source);
		json_text_if(json, "destination", rows[i].destination);
		json_key_uint(json, "count", rows[i].count);
		json_key_uint(json, "bytes", rows[i].bytes);
		write_latency(json, rows[i].measured ? rows[i].latency_p50_ns : -1,
			      rows[i].latency_p99_ns);
		json_end(json);
	}
	if (count + n_flows)
		json_end(json);
	free(rows);
}
