/* SPDX-License-Identifier: MIT */
/* Finds an op's finished span in the lanes: by its state, else by time. */
#include "model/ops/ops.h"

#define FIND_BACK 4096			/* how many spans a search by time looks at */

bool op_find(struct model *model, uint32_t process, uint32_t tid, uint64_t instance,
	     int64_t around_ns, uint32_t *row, uint32_t *lane, struct lane_pos *pos)
{
	uint32_t thread = thread_find(model, process, tid);
	uint32_t rows[2] = {
		thread == NONE ? NONE : thread_at(model, thread)->row,
		process_at(model, process)->ranges,
	};

	for (int i = 0; i < 2; i++) {
		const struct row *r = rows[i] == NONE ? NULL : row_at(model, rows[i]);

		for (uint32_t l = 0; r && l < r->n_lanes; l++) {
			int steps = 0;

			if (!lane_before(&r->lanes[l], around_ns + 1, pos))
				continue;
			do {
				if (lane_cold_field(&r->lanes[l], *pos, OP_INSTANCE) == instance) {
					*row = rows[i];
					*lane = l;
					return true;
				}
				/* On a stack only the span that contains the moment can be it. */
			} while (++steps < (i || l >= DEPTH_MAX - 1 ? FIND_BACK : 4) &&
				 lane_prev(&r->lanes[l], pos));
		}
	}
	return false;
}

static bool is_span_of(const struct lane *lane, struct lane_pos pos, const struct op_state *state)
{
	return chunk_start(lane->chunks[pos.chunk], pos.i) == state->start_ns &&
	       lane_cold_field(lane, pos, OP_INSTANCE) == state->instance;
}

/* Where the finished span is now; false: it was folded. */
static bool state_span(struct model *model, struct op_state *state, struct lane_pos *pos)
{
	const struct lane *lane = &row_at(model, state->row)->lanes[state->lane];

	*pos = (struct lane_pos) { state->place / LANE_CHUNK, state->place % LANE_CHUNK };
	if (pos->chunk < lane->n && pos->i < lane->chunks[pos->chunk]->n &&
	    is_span_of(lane, *pos, state))
		return true;
	for (bool more = lane_lower(lane, state->start_ns, pos); more;
	     more = lane_next(lane, pos)) {
		if (chunk_start(lane->chunks[pos->chunk], pos->i) != state->start_ns)
			return false;
		if (is_span_of(lane, *pos, state)) {
			state->place = (uint32_t)pos->chunk * LANE_CHUNK + pos->i;
			return true;
		}
	}
	return false;
}

void op_state_write(struct model *model, struct op_state *state)
{
	struct op_cold *cold;
	struct lane_pos pos;

	if (state->row == NONE || !state_span(model, state, &pos))
		return;
	cold = lane_edit(&row_at(model, state->row)->lanes[state->lane], pos);
	cold->device_ns = state->device_ns;
	cold->kernels = state->kernels;
	cold->first_row = state->first_row;
	cold->first_id = state->first_id;
}
