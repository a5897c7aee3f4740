/* SPDX-License-Identifier: MIT */
#include "model/analyses/host_time.h"

#include <stdlib.h>
#include <string.h>

#include "model/base/util.h"
#include "model/core/model.h"
#include "model/host/doings.h"
#include "model/lines/lines.h"
#include "model/query/time.h"

/* A piece that begins so soon after one with the same parts is a part of it: what lies between is
 * an op or a call. */
#define JOINED_NS 1000000

/* ---- sums ---- */

static bool same_part(const struct host_piece *a, const struct host_piece *b)
{
	return a->kind == b->kind && a->frame == b->frame && a->what == b->what &&
	       a->class == b->class;
}

/* Whether they are of one row. */
static bool same_row(const struct host_piece *a, const struct host_piece *b)
{
	return same_part(a, b) || (a->kind == b->kind && a->frame == b->frame && a->frame &&
				   a->class == b->class &&
				   (a->kind == DOING_NATIVE || a->kind == DOING_GIL ||
				    a->kind == DOING_LOCK));
}

/* When the list is full, the smallest one is replaced if it is smaller. */
static void parts_add(struct host_parts *parts, const struct host_piece *piece)
{
	uint32_t least = 0;

	for (uint32_t i = 0; i < parts->n; i++) {
		if (same_part(&parts->list[i], piece)) {
			add_ns(&parts->list[i].ns, piece->ns);
			parts->list[i].looks += piece->looks;
			return;
		}
		if (parts->list[i].ns < parts->list[least].ns)
			least = i;
	}
	if (parts->n < HOST_PARTS)
		least = parts->n++;
	else if (parts->list[least].ns >= piece->ns)
		return;
	parts->list[least] = *piece;
}

/* Keeps a piece for questions about windows; one that continues the last one is added to it. */
static void pieces_add(struct host_time *host, const struct host_piece *piece, size_t max)
{
	struct host_piece *last = host->n ?
				  &host->pieces[(host->head + host->n - 1) % host->n] : NULL;

	if (last && piece->start_ns >= last->end_ns &&
	    piece->start_ns - last->end_ns <= JOINED_NS && same_part(last, piece)) {
		last->end_ns = piece->end_ns;
		last->ns += piece->ns;
		last->looks += piece->looks;
		return;
	}
	if (host->n < max) {
		grow(&host->pieces, &host->cap, host->n, sizeof(*host->pieces));
		host->pieces[host->n++] = *piece;
		return;
	}
	host->pieces[host->head] = *piece;
	host->head = (host->head + 1) % max;
}

/* The part of it within [from_ns, to_ns); ns 0: there is none. */
static struct host_piece piece_of(struct model *model, uint32_t thread, const struct doing *at,
				  int64_t from_ns, int64_t to_ns)
{
	bool once = at->at_ns != 0;
	int64_t ns = doing_within(at, from_ns, to_ns);

	return (struct host_piece) {
		.start_ns = once || at->start_ns > from_ns ? at->start_ns : from_ns,
		.end_ns = once || at->end_ns < to_ns ? at->end_ns : to_ns,
		.frame = frame_get(model, thread_at(model, thread)->process, at->frame),
		.what = at->what, .kind = at->kind, .ns = ns,
		.looks = (int64_t)((__int128)at->looks * 1000 * ns / at->ns),
	};
}

void host_time_count(struct model *model, struct host_time *host, size_t max, uint8_t class,
		     uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	const struct doing *end, *at;

	if (thread >= model->threads.n)
		return;
	for (at = doings_from(model, thread, from_ns, &end); at < end && at->start_ns < to_ns;
	     at++) {
		struct host_piece piece = piece_of(model, thread, at, from_ns, to_ns);

		piece.class = class;
		if (piece.ns <= 0)
			continue;
		parts_add(&host->now, &piece);
		pieces_add(host, &piece, max);
	}
}

void host_time_of_thread(struct model *model, uint32_t thread, int64_t t0, int64_t t1,
			 struct host_parts *out)
{
	const struct doing *end, *at;

	for (at = doings_from(model, thread, t0, &end); at < end && at->start_ns < t1; at++) {
		struct host_piece piece = piece_of(model, thread, at, t0, t1);

		if (piece.ns > 0)
			parts_add(out, &piece);
	}
}

void host_parts_add(struct host_parts *parts, const struct host_parts *more)
{
	for (uint32_t i = 0; i < more->n; i++)
		parts_add(parts, &more->list[i]);
}

void host_time_commit(struct host_time *host)
{
	host_parts_add(&host->total, &host->now);
	host->now.n = 0;
}

void host_time_drop(struct host_time *host)
{
	host->now.n = 0;
}

void host_time_release(struct host_time *host)
{
	free(host->pieces);
}

size_t host_time_bytes(const struct host_time *host)
{
	return host->cap * sizeof(*host->pieces);
}

/* ---- queries ---- */

static int by_most(const void *a, const void *b)
{
	const struct host_time_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (int)x->class - (int)y->class ?: (int)x->doing - (int)y->doing;
}

void host_time_within(const struct host_time *host, int64_t t0, int64_t t1,
		      struct host_parts *out)
{
	for (size_t i = 0; i < host->n; i++) {
		struct host_piece piece = host->pieces[(host->head + i) % host->n];
		int64_t from = piece.start_ns > t0 ? piece.start_ns : t0;
		int64_t to = piece.end_ns < t1 ? piece.end_ns : t1;

		if (from >= to)
			continue;
		piece.ns = (int64_t)((__int128)piece.ns * (to - from) /
				     (piece.end_ns - piece.start_ns));
		piece.looks = (int64_t)((__int128)piece.looks * (to - from) /
					(piece.end_ns - piece.start_ns));
		parts_add(out, &piece);
	}
}

static struct host_time_row host_row_of(struct model *model, const struct host_piece *part)
{
	struct host_time_row row = {
		.doing = part->kind, .class = part->class, .ns = part->ns, .looks = part->looks,
		.file = "", .function = "",
		.what = part->what ? names_raw(&model->names, part->what) : "",
	};
	const struct source_frame *frame;

	if (!part->frame || !model->lines)
		return row;
	frame = frame_at(model->lines, part->frame - 1);
	if (!frame->file)
		return row;
	row.file = names_raw(&model->names, frame->file);
	row.function = names_raw(&model->names, frame->function);
	row.line = frame->line;
	return row;
}

/* Makes one of the parts of a line. The largest one of which it is known says what it was in, but
 * who holds a lock, which is known of some waits only, is told if it is known of most. */
static void parts_join(struct host_parts *parts)
{
	int64_t most[HOST_PARTS];
	uint32_t n = 0, k;

	for (uint32_t i = 0; i < parts->n; i++) {
		struct host_piece *one = &parts->list[i], *same;

		for (k = 0; k < n && !same_row(&parts->list[k], one); k++)
			;
		same = &parts->list[k];
		if (k == n) {
			most[n++] = one->what ? one->ns : 0;
			*same = *one;
			continue;
		}
		if (one->what && one->ns > most[k]) {
			most[k] = one->ns;
			same->what = one->what;
		}
		add_ns(&same->ns, one->ns);
		same->looks += one->looks;
	}
	for (uint32_t i = 0; i < n; i++)
		if (parts->list[i].kind == DOING_LOCK && most[i] < parts->list[i].ns / 2)
			parts->list[i].what = 0;
	parts->n = n;
}

size_t host_time_rows(struct model *model, const struct host_parts *all, const int64_t *most,
		      int classes, uint64_t n, struct host_time_row **rows)
{
	int64_t sum[UINT8_MAX + 1] = { 0 };
	struct host_parts joined = *all, *parts = &joined;

	*rows = NULL;
	if (!all->n || !n)
		return 0;
	parts_join(parts);
	*rows = xcalloc(parts->n, sizeof(**rows));
	for (uint32_t i = 0; i < parts->n; i++) {
		(*rows)[i] = host_row_of(model, &parts->list[i]);
		(*rows)[i].ns /= (int64_t)n;
		add_ns(&sum[(*rows)[i].class], (*rows)[i].ns);
	}
	for (uint32_t i = 0; i < parts->n; i++) {
		struct host_time_row *row = &(*rows)[i];
		int64_t limit_ns = row->class < classes && most[row->class] > 0 ?
				   most[row->class] : 0;

		if (sum[row->class] > limit_ns)
			row->ns = (int64_t)((__int128)row->ns * limit_ns / sum[row->class]);
	}
	qsort(*rows, parts->n, sizeof(**rows), by_most);
	return parts->n;
}

int64_t host_time_unknown(const struct host_time_row *rows, size_t n, int class, int64_t class_ns)
{
	int64_t known_ns = 0;
	bool any = false;

	for (size_t i = 0; i < n; i++)
		if (rows[i].class == class) {
			any = true;
			add_ns(&known_ns, rows[i].ns);
		}
	return any && class_ns > known_ns ? class_ns - known_ns : 0;
}

int64_t host_time_since(const struct host_time *host)
{
	return host->n ? host->pieces[host->head].start_ns : INT64_MAX;
}
