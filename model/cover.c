/* SPDX-License-Identifier: MIT */
#include "model/cover.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/packed.h"
#include "model/util.h"

#define BLOCK_MAX 256u

struct piece {
	uint32_t at, length;		/* start - base; length > 0 */
};

enum { AT, LENGTH, COLUMNS };

struct cover_block {
	int64_t base, total_ns;
	uint32_t n, cap;
	struct piece *pieces;		/* owned; NULL when packed */
	struct packed *sealed;		/* owned; COLUMNS and their store, NULL when not */
	size_t sealed_bytes;
};

static int64_t piece_start(const struct cover_block *block, uint32_t i)
{
	return block->base + (block->sealed ?
			      (int64_t)packed_get(&block->sealed[AT], block->sealed, i) :
			      block->pieces[i].at);
}

static int64_t piece_length(const struct cover_block *block, uint32_t i)
{
	return block->sealed ? (int64_t)packed_get(&block->sealed[LENGTH], block->sealed, i) :
			       block->pieces[i].length;
}

static inline int64_t piece_end(const struct cover_block *block, uint32_t i)
{
	return piece_start(block, i) + piece_length(block, i);
}

static int64_t block_end(const struct cover_block *block)
{
	return piece_end(block, block->n - 1);
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

	block->base = base;
	cover->bytes += sizeof(*block);
	grow(&cover->blocks, &cover->cap, cover->n, sizeof(*cover->blocks));
	memmove(cover->blocks + at + 1, cover->blocks + at,
		(cover->n - at) * sizeof(*cover->blocks));
	cover->blocks[at] = block;
	cover->n++;
	return block;
}

void cover_release(struct cover *cover)
{
	for (size_t i = 0; i < cover->n; i++)
		block_free(cover, cover->blocks[i]);
	free(cover->blocks);
	memset(cover, 0, sizeof(*cover));
}

/* ---- packed or not ---- */

static void block_seal(struct cover *cover, struct cover_block *block)
{
	uint64_t values[COLUMNS][BLOCK_MAX];
	struct packed columns[COLUMNS];
	size_t bytes = sizeof(columns);

	if (block->sealed)
		return;
	for (uint32_t i = 0; i < block->n; i++) {
		values[AT][i] = block->pieces[i].at;
		values[LENGTH][i] = block->pieces[i].length;
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

/* Not the last block: it stays open for a while, another one may be packed. */
static void keep_open(struct cover *cover, struct cover_block *block)
{
	struct cover_block **slot;

	for (uint32_t i = 0; i < COVER_OPEN; i++)
		if (cover->open[i] == block)
			return;
	slot = &cover->open[cover->next_open++ % COVER_OPEN];
	if (*slot && *slot != cover->blocks[cover->n - 1])
		block_seal(cover, *slot);
	*slot = block;
}

/* Before it changes. */
static void block_open(struct cover *cover, struct cover_block *block)
{
	uint64_t values[COLUMNS][BLOCK_MAX];

	if (!block->sealed)
		return;
	for (int c = 0; c < COLUMNS; c++)
		packed_read(&block->sealed[c], block->sealed, 0, block->n, values[c]);
	free_pieces(cover, block);
	block_room(cover, block, block->n);
	for (uint32_t i = 0; i < block->n; i++)
		block->pieces[i] = (struct piece) {
			(uint32_t)values[AT][i], (uint32_t)values[LENGTH][i],
		};
	keep_open(cover, block);
}

/* First block that ends after t. */
static size_t find_block(const struct cover *cover, int64_t t)
{
	size_t low = 0, high = cover->n;

	if (cover->n && block_end(cover->blocks[cover->n - 1]) <= t)
		return cover->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (block_end(cover->blocks[middle]) > t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* First piece of the block that ends after t. */
static uint32_t find_piece(const struct cover_block *block, int64_t t)
{
	uint32_t low = 0, high = block->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (piece_end(block, middle) > t)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void block_insert(struct cover *cover, struct cover_block *block, uint32_t i,
			 int64_t start, int64_t end)
{
	block_open(cover, block);
	block_room(cover, block, block->n + 1);
	memmove(block->pieces + i + 1, block->pieces + i, (block->n - i) * sizeof(*block->pieces));
	block->pieces[i].at = (uint32_t)(start - block->base);
	block->pieces[i].length = (uint32_t)(end - start);
	block->n++;
	block->total_ns += end - start;
}

static void block_split(struct cover *cover, size_t at)
{
	struct cover_block *block = cover->blocks[at], *right;
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
	keep_open(cover, block);
	keep_open(cover, right);
}

/*
 * Puts a piece that overlaps nothing, shorter than 2^32, before everything
 * that ends after its start: block b (cover->n: past the end), piece i.
 */
static void place(struct cover *cover, int64_t start, int64_t end)
{
	size_t b = find_block(cover, start);
	struct cover_block *block;

	/* Prefer the block on the left when it reaches that far. */
	if (b > 0 && (b == cover->n || start < cover->blocks[b]->base)) {
		block = cover->blocks[b - 1];
		if (start - block->base <= UINT32_MAX) {
			if (block->n < BLOCK_MAX) {
				uint32_t last = block->n - 1;
				int64_t length = end - piece_start(block, last);

				if (block_end(block) == start && length <= UINT32_MAX) {
					block_open(cover, block);
					block->total_ns += end - start;
					block->pieces[last].length = (uint32_t)length;
				} else {
					block_insert(cover, block, block->n, start, end);
				}
				return;
			}
		}
	}
	if (b == cover->n || start < cover->blocks[b]->base ||
	    start - cover->blocks[b]->base > UINT32_MAX) {
		block = block_new(cover, b, start);
		block_insert(cover, block, 0, start, end);
		if (b + 1 < cover->n)
			keep_open(cover, block);
		else if (b > 0 && cover->next_open)
			keep_open(cover, cover->blocks[b - 1]);
		else if (b > 0)
			block_seal(cover, cover->blocks[b - 1]);
		return;
	}
	if (cover->blocks[b]->n >= BLOCK_MAX) {
		block_split(cover, b);
		if (start >= block_end(cover->blocks[b])) {
			if (start < cover->blocks[b + 1]->base) {
				place(cover, start, end);
				return;
			}
			b++;
		}
	}
	block = cover->blocks[b];
	block_insert(cover, block, find_piece(block, start), start, end);
}

/* Removes `count` pieces of block b from i on, and the block when it has no other. */
static void take_out(struct cover *cover, size_t b, uint32_t i, uint32_t count)
{
	struct cover_block *block = cover->blocks[b];

	if (count < block->n) {
		block_open(cover, block);
		for (uint32_t k = i; k < i + count; k++) {
			block->total_ns -= block->pieces[k].length;
			cover->total_ns -= block->pieces[k].length;
		}
		memmove(block->pieces + i, block->pieces + i + count,
			(block->n - i - count) * sizeof(*block->pieces));
		block->n -= count;
		return;
	}
	cover->total_ns -= block->total_ns;
	block_free(cover, block);
	memmove(cover->blocks + b, cover->blocks + b + 1,
		(cover->n - b - 1) * sizeof(*cover->blocks));
	cover->n--;
	if (cover->n_folded > cover->n)
		cover->n_folded = cover->n;
}

/* Takes out all that overlaps [*start, *end) and widens that to hold it. */
static void swallow(struct cover *cover, int64_t *start, int64_t *end)
{
	size_t b = find_block(cover, *start);

	while (b < cover->n) {
		struct cover_block *block = cover->blocks[b];
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

void cover_add(struct cover *cover, int64_t start, int64_t end)
{
	struct cover_block *last = cover->n ? cover->blocks[cover->n - 1] : NULL;

	if (end <= start)
		return;
	if (last && start < block_end(last)) {
		size_t b = find_block(cover, start);
		uint32_t i = find_piece(cover->blocks[b], start);

		/* The common case inside an open parent's time: already there. */
		if (piece_start(cover->blocks[b], i) <= start && piece_end(cover->blocks[b], i) >= end)
			return;
		swallow(cover, &start, &end);
	}
	cover->total_ns += end - start;
	while (end - start > UINT32_MAX) {
		place(cover, start, start + UINT32_MAX);
		start += UINT32_MAX;
	}
	place(cover, start, end);
}

void cover_cut(struct cover *cover, int64_t from)
{
	size_t b = find_block(cover, from);

	while (b < cover->n) {
		struct cover_block *block = cover->blocks[b];
		uint32_t i = find_piece(block, from);
		size_t before = cover->n;

		if (i < block->n && piece_start(block, i) < from) {
			int64_t extra = piece_end(block, i) - from;

			block_open(cover, block);
			block->pieces[i].length -= (uint32_t)extra;
			block->total_ns -= extra;
			cover->total_ns -= extra;
			i++;
		}
		if (i < block->n)
			take_out(cover, b, i, block->n - i);
		if (cover->n == before)
			b++;
	}
}

void cover_fold(struct cover *cover, int64_t until)
{
	for (; cover->n_folded < cover->n; cover->n_folded++) {
		struct cover_block *block = cover->blocks[cover->n_folded];
		struct piece first;

		if (block_end(block) > until)
			return;
		if (block->n < 2 || block->total_ns > UINT32_MAX)
			continue;
		first = (struct piece) {
			(uint32_t)(piece_start(block, 0) - block->base), (uint32_t)block->total_ns,
		};
		free_pieces(cover, block);
		block->pieces = xcalloc(1, sizeof(*block->pieces));
		cover->bytes += sizeof(*block->pieces);
		block->n = block->cap = 1;
		block->pieces[0] = first;
	}
}

int64_t cover_window(const struct cover *cover, int64_t t0, int64_t t1)
{
	int64_t busy = 0;

	if (t1 > t0)
		cover_columns(cover, t0, t1 - t0, 1, &busy, sizeof(busy));
	return busy;
}

/* Piece by piece; false: it reaches past the last column. */
static bool block_columns(const struct cover_block *block, int64_t t0, int64_t w, size_t n,
			  void *busy, size_t stride_bytes)
{
	int64_t t1 = t0 + w * (int64_t)n, border = INT64_MIN;
	size_t c = 0;

	for (uint32_t i = find_piece(block, t0); i < block->n; i++) {
		int64_t start = piece_start(block, i), end = start + piece_length(block, i);

		if (start >= t1)
			return false;
		if (start < t0)
			start = t0;
		if (end > t1)
			end = t1;
		if (start >= border) {
			c = (size_t)((start - t0) / w);
			border = t0 + w * (int64_t)(c + 1);
		}
		for (; start < end; c++, border += w) {
			int64_t stop = end < border ? end : border;

			*(int64_t *)((char *)busy + c * stride_bytes) += stop - start;
			start = stop;
			if (start < border)
				break;
		}
	}
	return true;
}

void cover_columns(const struct cover *cover, int64_t t0, int64_t w, size_t n,
		   void *busy, size_t stride_bytes)
{
	int64_t t1 = t0 + w * (int64_t)n;

	for (size_t b = find_block(cover, t0); b < cover->n; b++) {
		const struct cover_block *block = cover->blocks[b];
		int64_t first = piece_start(block, 0), last = block_end(block);

		if (first >= t1)
			return;
		if (first >= t0 && last <= t1 && (first - t0) / w == (last - 1 - t0) / w) {
			*(int64_t *)((char *)busy + (size_t)((first - t0) / w) * stride_bytes) +=
				block->total_ns;
			continue;
		}
		if (!block_columns(block, t0, w, n, busy, stride_bytes))
			return;
	}
}
