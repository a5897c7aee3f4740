/* SPDX-License-Identifier: MIT */
/*
 * The events of a timeline as trace viewers draw them: groups (processes, devices) with tracks,
 * slices on tracks, arrows between slices, counters. A format is a struct sink; the layout is
 * decided here, once for all formats.
 *
 * Always true:
 *  - Slices come in the order of their start, outer before inner. On one track, no slice
 *    overlaps another in part: a slice that would do so goes to a further lane (first fit).
 *  - A track is announced before it is used. Ids count from 1.
 *  - An arrow has a number; it leaves the slice that has the number in flow_out and arrives at
 *    the slice that has it in flow_in.
 *
 * Complexity: O(log lanes) for a slice. Memory: the tracks, and up to WALK_FLOWS_MAX arrows and
 * WALK_BLOCKS_MAX blocks of memory; further ones are counted. Ownership: what a sink is given
 * is borrowed until the sink returns.
 */
#ifndef MODEL_EXPORT_WALK_H
#define MODEL_EXPORT_WALK_H

#include "model/export/foreign.h"

#define WALK_ARGS_MAX 16
#define WALK_FLOWS_MAX (1u << 20)
#define WALK_BLOCKS_MAX (1u << 20)
#define WALK_LANES_MAX 512

enum walk_track_kind { TRACK_GROUP, TRACK_THREAD, TRACK_LANE, TRACK_COUNTER };

struct track {
	uint32_t id, group;		/* group: its track; a group's own: 0 */
	enum walk_track_kind kind;
	uint32_t pid, tid;		/* of groups that are processes, of threads; else 0 */
	const char *name;
	const char *unit;		/* of counters: "bytes"; NULL none */
};

struct arg {
	const char *key;		/* static */
	const char *text;		/* NULL: a number */
	uint64_t value;
	bool negative;			/* value is an int64_t */
};

struct walk_slice {
	uint32_t track;
	int64_t start_ns, dur_ns;	/* -1: open */
	uint32_t name_id;		/* of names that come often, 0 none */
	const char *name, *category;
	size_t n_args, n_in, n_out;
	const struct arg *args;
	const uint64_t *flow_in, *flow_out;
	bool out_at_start;		/* the arrow leaves where the slice begins */
};

struct walk_allocation {				/* of memory */
	char phase;			/* N created, O as it is, D deleted */
	uint32_t track;			/* a counter */
	uint64_t id, address, bytes;
	int64_t at_ns;
	const char *allocator, *op;	/* op NULL: none */
};

struct maximum {
	uint32_t track;
	int64_t at_ns, bytes;
	const char *allocator;
};

struct sink {
	void (*track)(void *arg, const struct track *track);
	void (*slice)(void *arg, const struct walk_slice *slice);
	/* An instant: dur_ns 0. */
	void (*instant)(void *arg, const struct walk_slice *slice);
	void (*counter)(void *arg, uint32_t track, const char *name, int64_t at_ns, int64_t value);
	/* NULL: not of this format. */
	void (*block)(void *arg, const struct walk_allocation *block);
	void (*maximum)(void *arg, const struct maximum *maximum);
	void *arg;
};

/* false: stopped by whom progress asked, or by an error of options->out. */
bool walk_run(const struct foreign_options *options, const struct sink *sink,
	      struct foreign_result *result);

#endif
