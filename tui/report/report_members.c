/* SPDX-License-Identifier: MIT */
/* What the report's JSON has of allocators and graphs that are launched besides columns. */
#include "model/columns/memory.h"
#include "model/columns/plain.h"
#include "model/query/replays.h"
#include "tui/base/json.h"
#include "tui/report/sections.h"

static void write_chunks(struct json *json, const struct memory_chunks *chunks)
{
	json_key_object(json, "chunks");
	report_row_json(json, &chunk_columns, &(struct allocator_chunks) { .chunks = *chunks });
	json_key_array(json, "bins");
	for (unsigned i = 0; i < MEMORY_BINS; i++) {
		const struct memory_bin *bin = &chunks->bins[i];

		if (!bin->used && !bin->free)
			continue;
		json_object(json);
		json_key_uint(json, "from_bytes", (uint64_t)256 << i);
		json_key_uint(json, "used", bin->used);
		json_key_uint(json, "used_bytes", bin->used_bytes);
		json_key_uint(json, "free", bin->free);
		json_key_uint(json, "free_bytes", bin->free_bytes);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

void report_memory_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	const struct memory_row *row = &((const struct memory_line *)rows)[at].row;
	struct memory_chunks chunks;
	bool known;

	model_lock(model);
	known = model_memory_chunks(model, row->account, &chunks) && chunks.known;
	model_unlock(model);
	if (known)
		write_chunks(json, &chunks);
	json_key_array(json, "peak_ops");
	for (size_t k = 0; k < row->n_peak_ops; k++)
		json_string(json, row->peak_ops[k]);
	json_end(json);
	json_key_array(json, "peak_op_bytes");
	for (size_t k = 0; k < row->n_peak_ops; k++)
		json_uint(json, row->peak_op_bytes[k]);
	json_end(json);
}

void report_replay_members(struct json *json, struct model *model, const void *rows, size_t at)
{
	const struct replay_row *row = (const struct replay_row *)rows + at;

	if (!row->launches)
		return;
	json_key_array(json, "node");
	for (size_t i = 0; i < row->n_nodes; i++) {
		json_object(json);
		json_key_string(json, "name", row->node[i].name);
		json_text_if(json, "op", row->node[i].op);
		json_key_uint(json, "count", row->node[i].count);
		json_key_int(json, "total_ns", row->node[i].total_ns);
		json_end(json);
	}
	json_end(json);
}
