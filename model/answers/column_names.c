/* SPDX-License-Identifier: MIT */
/* Names of the longest events of columns, found without searching for each event. */
#include "model/rows/rows.h"
#include "model/steps/steps.h"

#include "model/base/util.h"

static bool same(struct span_ref a, struct span_ref b)
{
	return a.id == b.id && a.row == b.row && a.lane == b.lane;
}

/* Ids grow in the order of arrival, so of the chunks that touch a column only few can hold the
 * id. */
static bool lane_find_id(const struct lane *lane, uint32_t id, int64_t from, int64_t to,
			 struct lane_pos *pos)
{
	if (!lane_touching(lane, from, pos))
		return false;
	for (; pos->chunk < lane->n; pos->chunk++) {
		const struct chunk *chunk = lane->chunks[pos->chunk];

		if (chunk->first_ns >= to)
			return false;
		if (id < chunk->min_id || id > chunk->max_id)
			continue;
		for (pos->i = 0; pos->i < chunk->n; pos->i++)
			if (chunk_id(chunk, pos->i) == id)
				return true;
	}
	return false;
}

/* Ranges named like "step 12" are matched without their number. */
static uint32_t plain_name(struct model *model, const struct row *row, uint32_t name)
{
	return row->kind == ROW_THREAD ? steps_plain(model, name) :
					 names_resolve(&model->names, name);
}

static void column_name_fill(struct model *model, struct column_name *out, int64_t from, int64_t to)
{
	const struct row *row = row_at(model, out->ref.row - 1);
	struct lane_pos pos;

	for (uint32_t o = row->opens; o != NONE; o = open_at(model, o)->next) {
		const struct open_span *open = open_at(model, o);

		if (open->id != out->ref.id)
			continue;
		out->name = out->op = plain_name(model, row, open->name);
		if (row->kind == ROW_QUEUE || row->kind == ROW_COPY || row->kind == ROW_GRAPH)
			out->op = names_resolve(&model->names, open->cold.command.op_name);
		return;
	}
	if (out->ref.lane >= row->n_lanes || out->ref.id > UINT32_MAX ||
	    !lane_find_id(&row->lanes[out->ref.lane], (uint32_t)out->ref.id, from, to, &pos))
		return;
	out->name = out->op = plain_name(model, row,
					 chunk_name(row->lanes[out->ref.lane].chunks[pos.chunk],
						    pos.i));
	if (row->lanes[out->ref.lane].layout.op_field)
		out->op = names_resolve(&model->names, (uint32_t)
					lane_cold_field(&row->lanes[out->ref.lane], pos,
							COMMAND_OP_NAME));
}

void model_column_names(struct model *model, const struct column *columns, size_t n, int64_t t0,
			int64_t w, struct column_name *out)
{
	for (size_t i = 0; i < n; i++) {
		struct span_ref ref = columns[i].longest;

		if (same(out[i].ref, ref) && (out[i].name || !ref.id))
			continue;
		out[i] = (struct column_name) { .ref = ref };
		if (i && same(out[i - 1].ref, ref))
			out[i] = out[i - 1];
		else if (ref.id && ref.row && ref.row <= model->rows.n)
			column_name_fill(model, &out[i], t0 + w * (int64_t)i, t0 + w *
					 (int64_t)(i + 1));
	}
}

const char *model_name(struct model *model, uint32_t id)
{
	return id ? names_short(&model->names, id) : "";
}
