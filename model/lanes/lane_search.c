/* SPDX-License-Identifier: MIT */
/* Searches a lane for spans of certain names, see lane.h. */
#include "model/lanes/lane_internal.h"

static uint64_t wanted_in(const struct lane *lane, const struct chunk *chunk, uint32_t column,
			  const struct lane_want *want, uint32_t first, uint32_t n)
{
	uint64_t names[LANE_BLOCK], bits = 0;

	chunk_read(lane, chunk, column, first, n, names);
	for (uint32_t i = 0; i < n; i++)
		if (names[i] < want->n && want->wanted[names[i]])
			bits |= UINT64_C(1) << i;
	return bits;
}

uint64_t chunk_wanted(const struct lane *lane, const struct chunk *chunk,
		      const struct lane_want *want, uint32_t first, uint32_t n)
{
	uint32_t op = lane->layout.op_field;
	uint64_t bits = 0;

	if (want->name || !op)
		bits = wanted_in(lane, chunk, LANE_NAME, want, first, n);
	if (want->op && op)
		bits |= wanted_in(lane, chunk, LANE_COLD + op - 1u, want, first, n);
	return bits;
}

bool chunk_may_have(struct lane *lane, struct chunk *chunk, const struct lane_want *want)
{
	uint64_t marks[2] = { 0, 0 };

	chunk_summarise(lane, chunk);
	for (int op = 0; op < 2; op++)
		for (int i = 0; i < 2 && (op ? want->op : want->name); i++)
			marks[i] |= chunk->marks[op][i];
	return (marks[0] & want->marks[0]) || (marks[1] & want->marks[1]);
}

bool lane_next_of(struct lane *lane, const struct lane_want *want, struct lane_pos *pos,
		  size_t chunks)
{
	for (; pos->chunk < lane->n && chunks; pos->chunk++, pos->i = 0, chunks--) {
		struct chunk *chunk = lane->chunks[pos->chunk];

		if (!chunk_may_have(lane, chunk, want))
			continue;
		for (; pos->i < chunk->n; pos->i = (pos->i / LANE_BLOCK + 1) * LANE_BLOCK) {
			uint32_t first = pos->i / LANE_BLOCK * LANE_BLOCK;
			uint32_t n = chunk->n - first < LANE_BLOCK ? chunk->n - first : LANE_BLOCK;
			uint64_t bits = chunk_wanted(lane, chunk, want, first, n) >>
					(pos->i - first);

			if (bits) {
				pos->i += (uint32_t)__builtin_ctzll(bits);
				return true;
			}
		}
	}
	return false;
}

bool lane_prev_of(struct lane *lane, const struct lane_want *want, struct lane_pos *pos,
		  size_t chunks)
{
	for (;;) {
		struct chunk *chunk = lane->chunks[pos->chunk];

		for (bool more = chunk_may_have(lane, chunk, want); more; ) {
			uint32_t first = pos->i / LANE_BLOCK * LANE_BLOCK;
			uint64_t bits = chunk_wanted(lane, chunk, want, first, pos->i - first + 1);

			if (bits) {
				pos->i = first + 63 - (uint32_t)__builtin_clzll(bits);
				return true;
			}
			more = first > 0;
			if (more)
				pos->i = first - 1;
		}
		if (pos->chunk == 0 || --chunks == 0)
			return false;
		pos->chunk--;
		pos->i = lane->chunks[pos->chunk]->n - 1;
	}
}
