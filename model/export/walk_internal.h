/* SPDX-License-Identifier: MIT */
/* What walk.c (where things happened) and walk_work.c (what happened) share. */
#ifndef MODEL_EXPORT_WALK_INTERNAL_H
#define MODEL_EXPORT_WALK_INTERNAL_H

#include "model/base/map.h"
#include "model/export/walk.h"
#include "model/query/query.h"

/* Tracks of one name for slices that may overlap. */
struct lanes {
	uint32_t *tracks;		/* owned */
	int64_t *end_ns;		/* owned; the end of the last slice on each track */
	size_t n, cap_tracks, cap_ends;
};

struct walk_process {
	uint64_t key;			/* host << 32 | pid */
	uint32_t group;
	const char *command, *host;
	bool defined;
	struct lanes asyncs, builds, messages;
};

struct walk_thread {
	const char *name;
	uint32_t ops, calls, waits;	/* tracks; 0: not made yet */
	struct lanes launches;
	int64_t call_ns, call_dur_ns;	/* the last call that launched; its track: 0: none yet */
	uint32_t call_track;
};

/* blocks: the size counts blocks, as in CUDA */
struct walk_device { const char *name; uint32_t group; bool blocks; };

struct walk_queue {
	uint32_t device;		/* its id in the process */
	const char *name;
	struct lanes runs, copies[DIR_COUNT];
};

struct walk_frame { uint32_t file, function, line; };

struct walk_shape { uint32_t dims, local[3]; uint64_t global[3]; };

/* An end of a data edge: the op `instance` of a process. */
struct walk_end { uint64_t process, instance, flow; bool out; };

/* Launches wait until all earlier ones have been seen, because device work arrives in the order in
 * which it ran. */
#define WALK_LAUNCHES 4096
struct walk_launch {
	const char *name;
	uint64_t flow;			/* 0: none */
	int64_t start_ns, dur_ns;
	uint32_t process, tid, name_id;
};

/* blocks_at: address -> block */
struct walk_account {
	uint32_t track;
	int64_t live, peak, peak_ns;
	const char *allocator;
	struct map blocks_at;
};

struct walk_block { uint64_t bytes, id; uint32_t account, free; };

struct export_walk {
	const struct foreign_options *options;
	const struct sink *sink;
	struct foreign_result *result;
	uint32_t n_tracks;
	uint64_t n_flows, n_blocks_told;

	struct map names_at, processes_at, threads_at, devices_at, queues_at, shapes_at,
		   frames_at;
	struct map steps_at, accounts_at, series_at;
	const char **names;			/* All of these arrays are owned. */
	struct walk_process *processes;
	struct walk_thread *threads;
	struct walk_device *devices;
	struct walk_queue *queues;
	struct walk_shape *shapes;
	struct walk_frame *frames;
	struct lanes *steps;
	struct walk_account *accounts;
	struct { uint32_t track; const char *name; } *series;
	struct walk_block *blocks;
	struct walk_end *ends;
	struct walk_launch *launches;		/* a heap ordered by call */
	uint64_t *call_flows;			/* the arrows of one call */
	size_t n_names, n_processes, n_threads, n_devices, n_queues, n_shapes, n_frames, n_steps,
	       n_accounts, n_series, n_blocks, n_ends;
	size_t cap_names, cap_processes, cap_threads, cap_devices, cap_queues, cap_shapes,
	       cap_frames, cap_steps, cap_accounts, cap_series, cap_blocks, cap_ends,
	       cap_call_flows;
	size_t n_launches;
	uint32_t free_block;			/* index + 1; 0: none */
	uint32_t about;				/* the track for what concerns all processes */
	struct lanes losses;
	char text[512];				/* scratch space for names of tracks */
};

/* ---- walk.c ---- */

/* The process of an event; its index stays valid until another program has this pid. */
uint32_t walk_process(struct export_walk *w, const struct event *event);
struct walk_thread *walk_thread(struct export_walk *w, uint32_t process, uint32_t tid);
/* The queue's track may not have been announced yet. */
struct walk_queue *walk_queue(struct export_walk *w, uint32_t process, uint32_t id);
uint32_t walk_group_of(struct export_walk *w, uint32_t process);
uint32_t walk_device_group(struct export_walk *w, uint32_t process, uint32_t id);
bool walk_in_blocks(struct export_walk *w, uint32_t process,
		    uint32_t queue);	/* its device's geometry */
const char *walk_name(const struct export_walk *w, uint32_t id);	/* NULL: none */
uint32_t walk_track(struct export_walk *w, const struct track *track);
/* A lane that is free at that time; makes one if there is none. */
uint32_t walk_lane(struct export_walk *w, struct lanes *lanes, uint32_t group, const char *name,
		   int64_t start_ns, int64_t end_ns);
/* The thread's own track of that kind; *track remembers it. */
uint32_t walk_thread_track(struct export_walk *w, uint32_t process, uint32_t tid, uint32_t *track,
			   const char *what);
static inline uint64_t walk_key(uint32_t process, uint32_t id)
{
	return (uint64_t)process << 32 | id;
}

/* ---- walk_work.c ---- */

void walk_work(struct export_walk *w, const struct event *event);
void walk_pause(struct export_walk *w, const struct model_pause *pause);
/* Writes the calls that still wait, and the maxima. */
void walk_finish(struct export_walk *w);

/* ---- walk_memory.c ---- */

void walk_alloc(struct export_walk *w, const struct event *event);
void walk_free(struct export_walk *w, const struct event *event, uint32_t allocator,
	       uint64_t address);
void walk_maxima(struct export_walk *w);

#endif
