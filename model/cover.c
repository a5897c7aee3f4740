/* SPDX-License-Identifier: MIT */
#include "model/cover.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/util.h"

#define BLOCK_MAX 512u

struct piece {
	uint32_t at, length;		/* start - base; length > 0 */
};

struct cover_block {
	int64_t base, total_ns;
	uint32_t n, cap;
	struct piece *pieces;		/* owned */
};

static int64_t piece_start(const struct cover_block *block, uint32_t i)
{
	return block->base + block->pieces[i].at;
}

static int64_t piece_end(const struct cover_block *block, uint32_t i)
{
	return piece_start(block, i) + block->pieces[i].length;
}

static int64_t block_end(const struct cover_block *block)
{
	return piece_end(block, block->n - 1);
}

static void block_free(struct cover *cover, struct cover_block *block)
{
	cover->bytes -= sizeof(*block) + block->cap * sizeof(*block->pieces);
	free(block->pieces);
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
	block_room(cover, block, block->n + 1);
	memmove(block->pieces + i + 1, block->pieces + i, (block->n - i) * sizeof(*block->pieces));
	block->pieces[i].at = (uint32_t)(start - block->base);
	block->pieces[i].length = (uint32_t)(end - start);
	block->n++;
	block->total_ns += end - start;
}

static void block_split(struct cover *cover, size_t at)
{
	struct cover_block *block = cover->blocks[at];
	uint32_t half = block->n / 2;
	struct cover_block *right = block_new(cover, at + 1, piece_start(block, half));
	int64_t moved = 0;

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

/* Removes piece i of block b, and the block when it was the last. */
static void take_out(struct cover *cover, size_t b, uint32_t i, uint32_t count)
{
	struct cover_block *block = cover->blocks[b];

	for (uint32_t k = i; k < i + count; k++) {
		block->total_ns -= block->pieces[k].length;
		cover->total_ns -= block->pieces[k].length;
	}
	memmove(block->pieces + i, block->pieces + i + count,
		(block->n - i - count) * sizeof(*block->pieces));
	block->n -= count;
	if (block->n)
		return;
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

		if (block_end(block) > until)
			return;
		if (block->n < 2 || block->total_ns > UINT32_MAX)
			continue;
		cover->bytes -= (block->cap - 1) * sizeof(*block->pieces);
		block->n = block->cap = 1;
		block->pieces = xreallocarray(block->pieces, 1, sizeof(*block->pieces));
		block->pieces[0].length = (uint32_t)block->total_ns;
	}
}

int64_t cover_window(const struct cover *cover, int64_t t0, int64_t t1)
{
	int64_t busy = 0;

	if (t1 > t0)
		cover_columns(cover, t0, t1 - t0, 1, &busy, sizeof(busy));
	return busy;
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
		for (uint32_t i = find_piece(block, t0); i < block->n; i++) {
			int64_t start = piece_start(block, i), end = piece_end(block, i);

			if (start >= t1)
				return;
			if (start < t0)
				start = t0;
			if (end > t1)
				end = t1;
			for (size_t c = (size_t)((start - t0) / w); start < end; c++) {
				int64_t border = t0 + w * (int64_t)(c + 1);
				int64_t stop = end < border ? end : border;

				*(int64_t *)((char *)busy + c * stride_bytes) += stop - start;
				start = stop;
			}
		}
	}
}
