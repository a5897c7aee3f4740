/* SPDX-License-Identifier: MIT */
/* Summaries of the spans of a chunk, see lane.h. */
#include "model/lanes/lane_internal.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"

static void view_open(struct lane_view *view, const struct chunk *chunk, uint32_t first)
{
	view->chunk = chunk;
	view->first = first;
	view->start = chunk->start + first;
	view->dur = chunk->dur + first;
	view->work = chunk->work + first;
	view->flag = chunk->flag + first;
}

void chunk_read_small(const struct chunk *chunk, uint32_t column, uint32_t first, uint32_t n,
		       uint8_t *out)
{
	const struct packed *packed = &chunk->sealed[column];
	uint64_t values[LANE_BLOCK];

	if (!packed->width && !packed->slope) {
		memset(out, (int)packed->base, n);
		return;
	}
	packed_read(packed, chunk->sealed, first, n, values);
	for (uint32_t i = 0; i < n; i++)
		out[i] = (uint8_t)values[i];
}

/* n: up to LANE_BLOCK. */
void view_block(struct lane_view *view, const struct chunk *chunk, uint32_t first, uint32_t n)
{
	const struct packed *sealed = chunk->sealed;

	if (!sealed) {
		view_open(view, chunk, first);
		return;
	}
	packed_read(&sealed[LANE_START], sealed, first, n, (uint64_t *)view->starts);
	packed_read(&sealed[LANE_DUR], sealed, first, n, (uint64_t *)view->durs);
	chunk_read_small(chunk, LANE_WORK, first, n, view->works);
	chunk_read_small(chunk, LANE_FLAG, first, n, view->flags);
	view->chunk = chunk;
	view->first = first;
	view->start = view->starts;
	view->dur = view->durs;
	view->work = view->works;
	view->flag = view->flags;
}

uint64_t view_bytes(const struct lane *lane, const struct lane_view *view, uint32_t i)
{
	const struct chunk *chunk = view->chunk;
	uint64_t bytes;

	if (!lane->layout.rates)
		return 0;
	i += view->first;
	if (chunk->sealed)
		return packed_get(&chunk->sealed[LANE_COLD], chunk->sealed, i);
	memcpy(&bytes, chunk->cold + (size_t)i * lane->layout.size +
	       lane->layout.fields[0].offset, sizeof(bytes));
	return bytes;
}

static void summary_make(const struct lane *lane, const struct lane_view *v, uint32_t first,
			 uint32_t end_i, struct summary *sum)
{
	int64_t covered = INT64_MIN;

	*sum = (struct summary) {
		.first_ns = v->start[first], .max_end_ns = INT64_MIN, .longest_ns = -1,
		.n_spans = end_i - first, .apart = true,
	};
	for (uint32_t i = first; i < end_i; i++) {
		int64_t start = v->start[i], dur = v->dur[i], end = start + dur;

		sum->apart &= start >= covered && dur > 0;
		if (end > covered) {
			sum->busy_ns += end - (start > covered ? start : covered);
			covered = end;
		}
		sum->work_ns[v->work[i]] += dur;
		sum->flags |= v->flag[i];
		if (dur > sum->longest_ns) {
			sum->longest_ns = dur;
			sum->longest = view_id(v, i);
		}
		if (lane->layout.rates) {
			uint64_t bytes = view_bytes(lane, v, i), rate = bytes_per_s(bytes, dur);

			sum->amount += bytes;
			if (rate > sum->max_rate)
				sum->max_rate = rate;
		}
	}
	sum->max_end_ns = covered;
}

static void block_set(const struct lane *lane, struct chunk *chunk, uint32_t b,
		      const struct summary *sum)
{
	struct span_block *block = &chunk->blocks[b];
	uint64_t most = (uint64_t)(sum->max_end_ns - sum->first_ns);

	for (int k = 0; k < WORK_COUNT; k++)
		most |= (uint64_t)sum->work_ns[k];
	*block = (struct span_block) { .first_ns = sum->first_ns, .form = BLOCK_NONE };
	if (most > UINT32_MAX)
		return;
	block->form = sum->apart ? BLOCK_APART : BLOCK_WHOLE;
	block->length_ns = (uint32_t)(sum->max_end_ns - sum->first_ns);
	block->busy_ns = (uint32_t)sum->busy_ns;
	block->longest_ns = (uint32_t)sum->longest_ns;
	for (int k = 0; k < WORK_COUNT; k++)
		block->work_ns[k] = (uint32_t)sum->work_ns[k];
	block->flags = sum->flags;
	block->n_spans = (uint8_t)sum->n_spans;
	for (uint32_t i = 0; i < sum->n_spans; i++)
		if (chunk->id[b * LANE_BLOCK + i] == sum->longest)
			block->longest = (uint8_t)i;
	if (lane->layout.rates)
		rates_of(chunk)[b] = (struct block_rate) { sum->amount, sum->max_rate };
}

static void mark_names(const struct lane *lane, struct chunk *chunk)
{
	uint32_t field = lane->layout.op_field;
	uint64_t values[LANE_CHUNK];

	memset(chunk->marks, 0, sizeof(chunk->marks));
	for (uint32_t i = 0; i < chunk->n; i++)
		lane_mark(chunk->marks[0], chunk->name[i]);
	if (!field) {
		memcpy(chunk->marks[1], chunk->marks[0], sizeof(chunk->marks[0]));
		return;
	}
	chunk_read(lane, chunk, LANE_COLD + field - 1u, 0, chunk->n, values);
	for (uint32_t i = 0; i < chunk->n; i++)
		lane_mark(chunk->marks[1], (uint32_t)values[i]);
}

void chunk_summarise(struct lane *lane, struct chunk *chunk)
{
	struct lane_view view;

	if (!chunk->dirty)
		return;
	chunk->dirty = false;
	view_open(&view, chunk, 0);
	summary_make(lane, &view, 0, chunk->n, &chunk->sum);
	mark_names(lane, chunk);
	if (chunk->n < 2 * LANE_BLOCK)
		return;
	if (!chunk->blocks) {
		chunk->blocks = xcalloc(1, lane_blocks_bytes(lane));
		lane->bytes += lane_blocks_bytes(lane);
	}
	for (uint32_t i = 0; i < chunk->n; i += LANE_BLOCK) {
		uint32_t end = i + LANE_BLOCK < chunk->n ? i + LANE_BLOCK : chunk->n;
		struct summary sum;

		summary_make(lane, &view, i, end, &sum);
		block_set(lane, chunk, i / LANE_BLOCK, &sum);
	}
}

static void chunk_head_set(const struct chunk *chunk, struct chunk_head *head)
{
	const struct summary *sum = &chunk->sum;
	uint64_t most = (uint64_t)(sum->max_end_ns - sum->first_ns) |
			(uint64_t)sum->work_ns[0] << 32;

	for (int k = 1; k < WORK_COUNT; k++)
		most |= (uint64_t)sum->work_ns[k];
	if (most > UINT32_MAX)
		return;
	*head = (struct chunk_head) {
		.first_ns = sum->first_ns, .length_ns = (uint32_t)(sum->max_end_ns - sum->first_ns),
		.busy_ns = (uint32_t)sum->busy_ns, .longest_ns = (uint32_t)sum->longest_ns,
		.longest = sum->longest, .n = (uint16_t)sum->n_spans, .flags = sum->flags,
	};
	for (int k = 1; k < WORK_COUNT; k++)
		head->work_ns[k - 1] = (uint32_t)sum->work_ns[k];
}

const struct chunk_head *chunk_head(struct lane *lane, size_t c)
{
	struct chunk_head *head = &lane->heads[c];

	if (!head->n) {
		chunk_summarise(lane, lane->chunks[c]);
		chunk_head_set(lane->chunks[c], head);
	}
	return head;
}
