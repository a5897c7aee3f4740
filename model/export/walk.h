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
	uint32_t id, group;		/* group: the track of its group; 0 for a group itself */
	enum walk_track_kind kind;
	uint32_t pid, tid;		/* of groups that are processes, and of threads; else 0 */
	const char *name;
	const char *unit;		/* for counters, such as "bytes"; NULL: none */
};

struct arg {
	const char *key;		/* a constant */
	const char *text;		/* NULL: the value is a number */
	uint64_t value;
	bool negative;			/* the value is an int64_t */
};

struct walk_slice {
	uint32_t track;
	int64_t start_ns, dur_ns;	/* -1: the slice is open */
	uint32_t name_id;		/* an id for names that occur often; 0: none */
	const char *name, *category;
	size_t n_args, n_in, n_out;
	const struct arg *args;
	const uint64_t *flow_in, *flow_out;
	bool out_at_start;		/* the arrow leaves at the start of the slice */
};

struct walk_allocation {	/* an object that is an allocation of memory */
	char phase;			/* N: created, O: snapshot, D: deleted */
	uint32_t track;			/* track of a counter */
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
	/* An instant has dur_ns 0. */
	void (*instant)(void *arg, const struct walk_slice *slice);
	/* category: "Memory" of an allocator, "Counter" of a series of a probe or a sensor. */
	void (*counter)(void *arg, uint32_t track, const char *category, const char *name,
			int64_t at_ns, int64_t value);
	/* NULL: the format has no such objects. */
	void (*block)(void *arg, const struct walk_allocation *block);
	void (*maximum)(void *arg, const struct maximum *maximum);
	void *arg;
};

/* false: `progress` stopped it, or writing to options->out failed. */
bool walk_run(const struct foreign_options *options, const struct sink *sink,
	      struct foreign_result *result);

#endif
