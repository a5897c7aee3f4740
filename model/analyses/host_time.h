/* SPDX-License-Identifier: MIT */
/*
 * What some time consists of: what the thread that was waited for did then, and on which line of
 * its source (host/doings.h, docs/host.md). A device divides its idle time by it, by cause
 * (idle.c), a step the time in which no device worked, by class (breakdown.c), and the critical
 * path its edges of the host, by kind (critical.c).
 *
 * Definition: of a time in which the thread was seen all along, what lies within the divided time
 * counts, with its parts in proportion. A look that stands for its moment counts with its whole
 * weight if that moment lies within: where steps are shorter than the time between two looks, that
 * is right in the mean. What is told of a class is together at most the time of that class; the
 * rest is not known.
 */
#ifndef MODEL_HOST_TIME_H
#define MODEL_HOST_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_time_row;
struct model;

/* What a thread did, and where, for ns of [start_ns, end_ns). */
struct host_piece {
	int64_t start_ns, end_ns, ns;
	int64_t looks;			/* so many said it, in 1/1000 */
	uint32_t frame, what;		/* as frame_get() returns it; name; 0: unknown */
	uint8_t kind;			/* enum doing_kind */
	uint8_t class;			/* of the owner: idle_cause, step_class or path_kind */
};

#define HOST_PARTS 192u
#define HOST_LOOKS_LEAST 8	/* a finding that fewer say would be chance */
struct host_parts {
	struct host_piece list[HOST_PARTS];	/* without times */
	uint32_t n;
};

struct host_time {
	struct host_parts now, total;	/* of what goes on, and of what has ended */
	struct host_piece *pieces;	/* owned; a ring */
	size_t n, cap, head;
};

/* The thread (its index; NONE: unknown) was waited for. max: how many pieces are kept at most. */
void host_time_count(struct model *model, struct host_time *host, size_t max, uint8_t class,
		     uint32_t thread, int64_t from_ns, int64_t to_ns);
/* Adds what a thread did within [t0, t1), whatever waited for it, with class 0. */
void host_time_of_thread(struct model *model, uint32_t thread, int64_t t0, int64_t t1,
			 struct host_parts *out);
/* Adds the parts of another list. */
void host_parts_add(struct host_parts *parts, const struct host_parts *more);
/* What goes on has ended, and counts in the sums; or it does not. */
void host_time_commit(struct host_time *host);
void host_time_drop(struct host_time *host);
void host_time_release(struct host_time *host);
size_t host_time_bytes(const struct host_time *host);
/* Since when its pieces are kept; INT64_MAX: there are none. */
int64_t host_time_since(const struct host_time *host);
/* Adds what is kept of [t0, t1). */
void host_time_within(const struct host_time *host, int64_t t0, int64_t t1,
		      struct host_parts *out);
/* Most time first; *rows is the caller's to free. most[class] is how much the parts of a class may
 * be together, of `classes` classes; their sum is divided by n. A line that runs native code, or
 * waits for the GIL or a lock, is one row, whatever the functions or the holders: the largest one
 * is told. */
size_t host_time_rows(struct model *model, const struct host_parts *parts, const int64_t *most,
		      int classes, uint64_t n, struct host_time_row **rows);

#endif
