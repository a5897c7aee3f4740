/* SPDX-License-Identifier: MIT */
#include "model/lanes/cover.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/lanes/packed.h"

#define BLOCK_MAX 256u

struct cover_piece {
	uint32_t at, length;		/* start - base; length > 0 */
};

/* Columns of a packed block: start - base, and the summed lengths of all pieces before. */
enum { AT, BEFORE, COLUMNS };

struct cover_block {
	int64_t base, total_ns;
	uint32_t n, cap;
	struct cover_piece *pieces;		/* owned; NULL when packed */
	struct packed *sealed;		/* owned; COLUMNS and their store, NULL when not */
	size_t sealed_bytes;
};

static int64_t piece_start(const struct cover_block *block, uint32_t i)
{
	return block->base + (block->sealed ?
			      (int64_t)packed_get(&block->sealed[AT], block->sealed, i) :
			      block->pieces[i].at);
}

static int64_t sealed_before(const struct cover_block *block, uint32_t i)
{
	return i == block->n ? block->total_ns :
			       (int64_t)packed_get(&block->sealed[BEFORE], block->sealed, i);
}

static int64_t piece_length(const struct cover_block *block, uint32_t i)
{
	return block->sealed ? sealed_before(block, i + 1) - sealed_before(block, i) :
			       block->pieces[i].length;
}

static inline int64_t piece_end(const struct cover_block *block, uint32_t i)
{
	return piece_start(block, i) + piece_length(block, i);
}

/* Updates the head after the block changed. */
static void cover_head_set(struct cover *cover, size_t b)
{
	struct cover_head *head = &cover->heads[b];
	const struct cover_block *block = head->block;

	head->first_ns = piece_start(block, 0);
	head->end_ns = piece_end(block, block->n - 1);
	head->total_ns = block->total_ns;
}

static void free_pieces(struct cover *cover, struct cover_block *block)
{
	cover->bytes -= block->cap * sizeof(*block->pieces) + block->sealed_bytes;
	free(block->pieces);
	free(block->sealed);
	block->pieces = NULL;
	block->sealed = NULL;
	block->sealed_bytes = 0;
	block->cap = 0;
}

static void block_free(struct cover *cover, struct cover_block *block)
{
	if (!block)
		return;
	for (uint32_t i = 0; i < COVER_OPEN; i++)
		if (cover->open[i] == block)
			cover->open[i] = NULL;
	free_pieces(cover, block);
	cover->bytes -= sizeof(*block);
	free(block);
}

static void block_room(struct cover *cover, struct cover_block *block, uint32_t need)
{
	uint32_t cap = block->cap ? block->cap : 4;

	if (need <= block->cap)
		return;
	while (cap < need)
		cap *= 2;
	cover->bytes += (cap - block->cap) * sizeof(*block->pieces);
	block->pieces = xreallocarray(block->pieces, cap, sizeof(*block->pieces));
	block->cap = cap;
}

static struct cover_block *block_new(struct cover *cover, size_t at, int64_t base)
{
	struct cover_block *block = xcalloc(1, sizeof(*block));
	size_t cap = cover->cap;

	block->base = base;
	grow(&cover->heads, &cover->cap, cover->n, sizeof(*cover->heads));
	cover->bytes += sizeof(*block) + (cover->cap - cap) * sizeof(*cover->heads);
	memmove(cover->heads + at + 1, cover->heads + at, (cover->n - at) * sizeof(*cover->heads));
	cover->heads[at].block = block;
	cover->n++;
	return block;
}

static void remove_heads(struct cover *cover, size_t at, size_t count)
{
	memmove(cover->heads + at, cover->heads + at + count,
		(cover->n - at - count) * sizeof(*cover->heads));
	cover->n -= count;
}

void cover_release(struct cover *cover)
{
	for (size_t i = 0; i < cover->n; i++)
		block_free(cover, cover->heads[i].block);
	free(cover->heads);
	memset(cover, 0, sizeof(*cover));
}

/* ---- packed or not ---- */

static void block_seal(struct cover *cover, struct cover_block *block)
{
	uint64_t values[COLUMNS][BLOCK_MAX], before = 0;
	struct packed columns[COLUMNS];
	size_t bytes = sizeof(columns);

	if (block->sealed)
		return;
	for (uint32_t i = 0; i < block->n; i++) {
		values[AT][i] = block->pieces[i].at;
		values[BEFORE][i] = before;
		before += block->pieces[i].length;
	}
	for (int c = 0; c < COLUMNS; c++) {
		size_t size = packed_plan(&columns[c], values[c], block->n);

		columns[c].offset = (uint32_t)bytes;
		bytes += size;
	}
	free_pieces(cover, block);
	block->sealed_bytes = bytes + PACKED_SLACK;
	block->sealed = xmalloc(block->sealed_bytes);
	memset((char *)block->sealed + bytes, 0, PACKED_SLACK);
	cover->bytes += block->sealed_bytes;
	memcpy(block->sealed, columns, sizeof(columns));
	for (int c = 0; c < COLUMNS; c++)
		packed_write(&columns[c], block->sealed, values[c], block->n);
}

/* A block other than the last one stays open for a while; another one may be packed for it. */
static void keep_open(struct cover *cover, struct cover_block *block)
{
	struct cover_block **slot;

	for (uint32_t i = 0; i < COVER_OPEN; i++)
		if (cover->open[i] == block)
			return;
	slot = &cover->open[cover->next_open++ % COVER_OPEN];
	if (*slot && *slot != cover->heads[cover->n - 1].block)
		block_seal(cover, *slot);
	*slot = block;
}

/* Unpacks a block before it changes. */
static void block_open(struct cover *cover, struct cover_block *block)
{
	uint64_t values[COLUMNS][BLOCK_MAX + 1];

	if (!block->sealed)
		return;
	for (int c = 0; c < COLUMNS; c++)
		packed_read(&block->sealed[c], block->sealed, 0, block->n, values[c]);
	values[BEFORE][block->n] = (uint64_t)block->total_ns;
	free_pieces(cover, block);
	block_room(cover, block, block->n);
	for (uint32_t i = 0; i < block->n; i++)
		block->pieces[i] = (struct cover_piece) {
			(uint32_t)values[AT][i],
			(uint32_t)(values[BEFORE][i + 1] - values[BEFORE][i]),
		};
	keep_open(cover, block);
}

/* ---- searching ---- */

/* First block that ends after t. */
static size_t find_block(const struct cover *cover, int64_t t)
{
	if (cover->n && cover->heads[cover->n - 1].end_ns <= t)
		return cover->n;
	return FIRST_NOT(i, 0, cover->n, cover->heads[i].end_ns <= t);
}

/* First piece of the block that starts at t or later. */
static uint32_t find_piece_from(const struct cover_block *block, int64_t t)
{
	return FIRST_NOT(i, 0, block->n, piece_start(block, i) < t);
}

/* First piece of the block that ends after t. */
static uint32_t find_piece(const struct cover_block *block, int64_t t)
{
	uint32_t i = find_piece_from(block, t);

	return i > 0 && piece_end(block, i - 1) > t ? i - 1 : i;
}

/* ---- changing ---- */

static void block_insert(struct cover *cover, size_t b, uint32_t i, int64_t start, int64_t end)
{
	struct cover_block *block = cover->heads[b].block;

	block_open(cover, block);
	block_room(cover, block, block->n + 1);
	memmove(block->pieces + i + 1, block->pieces + i, (block->n - i) * sizeof(*block->pieces));
	block->pieces[i].at = (uint32_t)(start - block->base);
	block->pieces[i].length = (uint32_t)(end - start);
	block->n++;
	block->total_ns += end - start;
	cover_head_set(cover, b);
}

static void block_split(struct cover *cover, size_t at)
{
	struct cover_block *block = cover->heads[at].block, *right;
	uint32_t half = block->n / 2;
	int64_t moved = 0;

	block_open(cover, block);
	right = block_new(cover, at + 1, piece_start(block, half));
	block_room(cover, right, block->n - half);
	for (uint32_t i = half; i < block->n; i++) {
		right->pieces[i - half].at = (uint32_t)(piece_start(block, i) - right->base);
		right->pieces[i - half].length = block->pieces[i].length;
		moved += block->pieces[i].length;
	}
	right->n = block->n - half;
	right->total_ns = moved;
	block->n = half;
	block->total_ns -= moved;
	cover_head_set(cover, at);
	cover_head_set(cover, at + 1);
	keep_open(cover, block);
	keep_open(cover, right);
}

/* Appends to block b if its range reaches that far; false: it does not, or there is no room. */
static bool place_behind(struct cover *cover, size_t b, int64_t start, int64_t end)
{
	struct cover_block *block = cover->heads[b].block;
	uint32_t last;
	int64_t length;

	if (!block || start - block->base > UINT32_MAX || block->n >= BLOCK_MAX)
		return false;
	last = block->n - 1;
	length = end - piece_start(block, last);
	if (cover->heads[b].end_ns < start || length > UINT32_MAX) {
		block_insert(cover, b, block->n, start, end);
		return true;
	}
	block_open(cover, block);
	block->total_ns += end - start;
	block->pieces[last].length = (uint32_t)length;
	cover_head_set(cover, b);
	return true;
}

/*
 * Inserts an interval that overlaps nothing and is shorter than 2^32, at piece i of block b
 * (cover->n: past the end), that is, before everything that ends after its start.
 */
static void cover_place(struct cover *cover, int64_t start, int64_t end)
{
	size_t b = find_block(cover, start);
	struct cover_block *block = b < cover->n ? cover->heads[b].block : NULL;

	/* Prefer the block on the left when it reaches that far. */
	if (b > 0 && (!block || start < block->base) && place_behind(cover, b - 1, start, end))
		return;
	if (!block || start < block->base || start - block->base > UINT32_MAX) {
		block = block_new(cover, b, start);
		block_insert(cover, b, 0, start, end);
		if (b + 1 < cover->n)
			keep_open(cover, block);
		else if (b > cover->n_folded && cover->next_open)
			keep_open(cover, cover->heads[b - 1].block);
		else if (b > cover->n_folded)
			block_seal(cover, cover->heads[b - 1].block);
		return;
	}
	if (block->n >= BLOCK_MAX) {
		block_split(cover, b);
		if (start >= cover->heads[b].end_ns) {
			if (start < cover->heads[b + 1].block->base) {
				cover_place(cover, start, end);
				return;
			}
			b++;
		}
	}
	block_insert(cover, b, find_piece_from(cover->heads[b].block, start), start, end);
}

/* Removes `count` pieces of block b from i on, and the block when it has no other. */
static void take_out(struct cover *cover, size_t b, uint32_t i, uint32_t count)
{
	struct cover_block *block = cover->heads[b].block;

	if (count < block->n) {
		block_open(cover, block);
		for (uint32_t k = i; k < i + count; k++) {
			block->total_ns -= block->pieces[k].length;
			cover->total_ns -= block->pieces[k].length;
		}
		memmove(block->pieces + i, block->pieces + i + count,
			(block->n - i - count) * sizeof(*block->pieces));
		block->n -= count;
		cover_head_set(cover, b);
		return;
	}
	cover->total_ns -= block->total_ns;
	block_free(cover, block);
	remove_heads(cover, b, 1);
}

/* Removes all intervals that overlap [*start, *end) and widens it to include them. */
static void cover_swallow(struct cover *cover, int64_t *start, int64_t *end)
{
	size_t b = find_block(cover, *start);

	while (b < cover->n) {
		struct cover_block *block = cover->heads[b].block;
		uint32_t i = find_piece(block, *start);
		uint32_t stop = i;
		bool whole;

		while (stop < block->n && piece_start(block, stop) < *end) {
			if (piece_start(block, stop) < *start)
				*start = piece_start(block, stop);
			if (piece_end(block, stop) > *end)
				*end = piece_end(block, stop);
			stop++;
		}
		if (stop == i)
			return;
		if (stop < block->n) {
			take_out(cover, b, i, stop - i);
			return;
		}
		whole = i == 0;
		take_out(cover, b, i, stop - i);
		if (!whole)
			b++;
	}
}

/* Adds an interval whose place is folded: it fills the free part there. */
static void cover_add_folded(struct cover *cover, int64_t start, int64_t end)
{
	if (start < cover->heads[0].first_ns)
		cover->heads[0].first_ns = start;
	for (size_t b = find_block(cover, start); b < cover->n_folded && start < end; b++) {
		struct cover_head *head = &cover->heads[b];
		/* A gap between two heads belongs to the head before it. */
		int64_t stop = b + 1 < cover->n_folded ? cover->heads[b + 1].first_ns : end;
		int64_t room, length;

		stop = stop < end ? stop : end;
		if (stop <= start)
			continue;
		if (stop > head->end_ns)
			head->end_ns = stop;
		room = head->end_ns - head->first_ns - head->total_ns;
		length = stop - start < room ? stop - start : room;
		head->total_ns += length;
		cover->total_ns += length;
		start = stop;
	}
}

/* Most often an interval starts within the last piece, or follows it. */
static bool add_last(struct cover *cover, int64_t start, int64_t end)
{
	struct cover_head *head = &cover->heads[cover->n - 1];
	struct cover_block *block = head->block;
	struct cover_piece *last = block->sealed ? NULL : &block->pieces[block->n - 1];
	int64_t grown = end - head->end_ns;

	if (!last || start < block->base + last->at || end - block->base > UINT32_MAX)
		return false;
	if (start > head->end_ns) {
		if (block->n >= block->cap || block->n >= BLOCK_MAX)
			return false;
		grown = end - start;
		block->pieces[block->n++] = (struct cover_piece) {
			(uint32_t)(start - block->base), (uint32_t)grown,
		};
	} else if (grown > 0) {
		last->length += (uint32_t)grown;
	} else {
		return true;
	}
	block->total_ns += grown;
	cover->total_ns += grown;
	head->total_ns = block->total_ns;
	head->end_ns = end;
	return true;
}

/* Up to where the cover is folded; INT64_MIN: nothing is. */
static int64_t cover_folded_end(const struct cover *cover)
{
	return cover->n_folded ? cover->heads[cover->n_folded - 1].end_ns : INT64_MIN;
}

void cover_add(struct cover *cover, int64_t start, int64_t end)
{
	int64_t folded = cover_folded_end(cover);

	if (end <= start)
		return;
	if (cover->n > cover->n_folded && add_last(cover, start, end))
		return;
	if (start < folded) {
		cover_add_folded(cover, start, end < folded ? end : folded);
		if (end <= folded)
			return;
		start = folded;
	}
	if (cover->n > cover->n_folded && start < cover->heads[cover->n - 1].end_ns) {
		size_t b = find_block(cover, start);
		const struct cover_block *block = cover->heads[b].block;
		uint32_t i = find_piece(block, start);

		/* The common case: the interval lies inside an open parent's time and is covered
		 * already. */
		if (piece_start(block, i) <= start && piece_end(block, i) >= end)
			return;
		cover_swallow(cover, &start, &end);
	}
	cover->total_ns += end - start;
	while (end - start > UINT32_MAX) {
		cover_place(cover, start, start + UINT32_MAX);
		start += UINT32_MAX;
	}
	cover_place(cover, start, end);
}

void cover_cut(struct cover *cover, int64_t from)
{
	size_t b = find_block(cover, from);

	if (b < cover->n_folded)
		b = cover->n_folded;
	while (b < cover->n) {
		struct cover_block *block = cover->heads[b].block;
		uint32_t i = find_piece(block, from);
		size_t before = cover->n;

		if (i < block->n && piece_start(block, i) < from) {
			int64_t extra = piece_end(block, i) - from;

			block_open(cover, block);
			block->pieces[i].length -= (uint32_t)extra;
			block->total_ns -= extra;
			cover->total_ns -= extra;
			cover_head_set(cover, b);
			i++;
		}
		if (i < block->n)
			take_out(cover, b, i, block->n - i);
		if (cover->n == before)
			b++;
	}
}

/* Merges neighbours. */
static void halve_ghosts(struct cover *cover)
{
	size_t to = 0;

	for (size_t i = 0; i + 1 < cover->n_folded; i += 2, to++)
		cover->heads[to] = (struct cover_head) {
			.first_ns = cover->heads[i].first_ns,
			.end_ns = cover->heads[i + 1].end_ns,
			.total_ns = cover->heads[i].total_ns + cover->heads[i + 1].total_ns,
		};
	if (cover->n_folded % 2)
		cover->heads[to++] = cover->heads[cover->n_folded - 1];
	remove_heads(cover, to, cover->n_folded - to);
	cover->n_folded = to;
}

void cover_fold(struct cover *cover, int64_t until)
{
	while (cover->n_folded < cover->n && cover->heads[cover->n_folded].end_ns <= until) {
		struct cover_head *head = &cover->heads[cover->n_folded++];

		block_free(cover, head->block);
		head->block = NULL;
		if (cover->n_folded >= COVER_GHOSTS)
			halve_ghosts(cover);
	}
}

/* ---- queries ---- */

/* The covered length of the block before t. */
static int64_t head_before(const struct cover_head *head, int64_t t)
{
	const struct cover_block *block = head->block;
	int64_t before = 0, start, length;
	uint32_t i;

	if (t <= head->first_ns)
		return 0;
	if (t >= head->end_ns)
		return head->total_ns;
	if (!block)
		return (int64_t)((__int128_t)head->total_ns * (t - head->first_ns) /
				 (head->end_ns - head->first_ns));
	i = find_piece_from(block, t) - 1;
	start = piece_start(block, i);
	length = piece_length(block, i);
	if (block->sealed)
		before = sealed_before(block, i);
	else
		for (uint32_t k = 0; k < i; k++)
			before += block->pieces[k].length;
	return before + (t - start < length ? t - start : length);
}

#define BATCH 16u

/* Prefetch: the blocks at the borders of columns are scattered in memory, so those of several
 * columns are fetched together. */
void cover_columns(const struct cover *cover, int64_t t0, int64_t w, size_t n,
		   void *busy, size_t stride_bytes)
{
	size_t b = find_block(cover, t0), last[BATCH];
	int64_t before = b < cover->n ? head_before(&cover->heads[b], t0) : 0, whole[BATCH];

	for (size_t i = 0; i < n && b < cover->n; i += BATCH) {
		size_t count = n - i < BATCH ? n - i : BATCH;

		for (size_t k = 0; k < count; k++) {
			int64_t border = t0 + w * (int64_t)(i + k + 1);

			for (whole[k] = 0; b < cover->n && cover->heads[b].end_ns <= border; b++)
				whole[k] += cover->heads[b].total_ns;
			last[k] = b;
			if (b < cover->n)
				__builtin_prefetch(cover->heads[b].block);
		}
		for (size_t k = 0; k < count; k++)
			if (last[k] < cover->n && cover->heads[last[k]].block)
				__builtin_prefetch(cover->heads[last[k]].block->sealed);
		for (size_t k = 0; k < count; k++) {
			int64_t after = last[k] < cover->n ?
					head_before(&cover->heads[last[k]],
						    t0 + w * (int64_t)(i + k + 1)) : 0;

			*(int64_t *)((char *)busy + (i + k) * stride_bytes) +=
				whole[k] + after - before;
			before = after;
		}
	}
}
