/* SPDX-License-Identifier: MIT */
/*
 * What the readers of foreign files deliver, and how it becomes events of the model.
 *
 * Idea: a reader names things (processes, tracks, devices, names, shapes) in any order, gets small
 * numbers for them, and adds items that refer to these numbers. Only when the whole file has been
 * read is it decided what a track is, which calls launched work, and which times are impossible.
 * Then the items are taken out in the order of their start (spool.h), a stack for each thread
 * determines how they are nested, and definitions are sent before their first use.
 *
 * Always true: events are handed out in the order of their start, and EVENT_ALIVE never passes a
 * start that is still to come. A run whose correlation has a launch in the file becomes EVENT_RUN
 * (a run of a graph, which runs often, becomes EVENT_COMMAND); any other becomes EVENT_COMMAND,
 * with the op that the file names. All tables have a maximum size: what exceeds it goes to entry 0
 * (none) or is left out, and a message says so.
 *
 * Numbers count from 1; 0 is none. Strings are copied. Times are ns of the file's clock;
 * build_run() moves all of them by the same amount if some would not be positive. Threads: one,
 * except for `stop` and `progress`.
 */
#ifndef MODEL_IMPORT_BUILD_H
#define MODEL_IMPORT_BUILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/base/map.h"
#include "model/import/import.h"
#include "model/import/keys.h"
#include "model/import/spool.h"
#include "model/import/wire.h"

#define BUILD_TABLE_MAX (1u << 22)	/* maximum number of names, shapes, correlations, flows */
#define BUILD_TRACKS_MAX (1u << 16)
#define BUILD_PROCESSES_MAX 4096u
#define BUILD_DEVICES_MAX 256u
#define BUILD_INFOS_MAX 4096u
#define BUILD_TEXT_BYTES (256u << 20)	/* maximum size of all names together */
#define BUILD_PROBLEMS 32u
#define BUILD_PYTHON "Python"		/* the domain of Python functions */

enum build_track_kind {
	/* TRACK_SKIP: the track repeats other tracks */
	TRACK_THREAD = 0, TRACK_STREAM, TRACK_SKIP,
};

struct build_name { char *text; uint64_t sent; uint32_t next; uint8_t kind; };

struct build_process {
	char *command, *host;
	uint32_t pid;
	bool sent;
};

struct build_device {
	char *name, *vendor, *key;
	uint32_t index, units, clock_mhz;
	uint64_t memory_bytes;
	uint8_t gpu;			/* as event_device */
};

/* An item that is open on a thread while items are taken out. */
struct build_open { int64_t end_ns; uint64_t instance; uint32_t name; bool python; };

struct build_track {
	enum build_track_kind kind;
	uint32_t process, device;	/* device: for streams */
	uint32_t tid;			/* for threads */
	char *name;
	bool sent;
	bool runs;			/* a stream on which something ran */
	bool sure_only;			/* items that are unsure are left out */
	bool calls, ranges;		/* its spans are calls of an API, or the user's ranges */
	struct build_open *stack;	/* owned */
	size_t depth, cap;
	uint32_t flow;			/* a flow that waits for the next op */
};

struct build_shape { uint64_t global[3]; uint32_t local[3]; uint64_t sent; uint32_t next; };
struct build_series { uint32_t name, process, device, unit; bool sent; };
/* A launch and its runs; the members from name to kind are those of the run. */
struct build_correlation {
	uint64_t op;	/* the op in which it was launched, once that op has been handed out */
	int64_t call_ns, call_dur_ns;
	uint32_t launches, runs, process, tid, thread;	/* thread: track of the launch */
	uint32_t track, name, shape, op_name;
	uint8_t kind;
};
struct build_flow { uint64_t instance; uint32_t process; };
struct build_info { uint32_t process; char *scope, *key, *value; };	/* owned */

struct import_build {
	const struct import_options *options;
	_Atomic bool *stop;
	_Atomic int *progress;
	struct spool *spool;		/* owned, as all pointers below */
	struct build_name *names;
	struct build_process *processes;
	struct build_device *devices;
	struct build_track *tracks;
	struct build_shape *shapes;
	struct build_series *series;
	struct build_correlation *correlations;
	struct build_flow *flows;
	struct build_info *infos;
	size_t n_names, n_processes, n_devices, n_tracks, n_shapes, n_series, n_correlations,
	       n_flows, n_infos;
	size_t cap_names, cap_processes, cap_devices, cap_tracks, cap_shapes, cap_series,
	       cap_correlations, cap_flows, cap_infos;
	struct map name_by_hash, shape_by_hash, correlation_by_id, flow_by_id, queue_by_key,
		   sent, device_sent,
		   series_by_key;
	struct keys keys;
	/* Python functions in which device work was launched outside of any op: order -> 1. */
	struct map inner;
	struct { const char *what, *rest; uint64_t count; } problems[BUILD_PROBLEMS];
	size_t text_bytes;
	bool part;	/* the end of the file is missing, and a message has said so */
	bool other;	/* it is a file of another kind, and a message has said so */
	bool python;			/* there are Python functions */
	bool full;			/* the spool has no room left */
	/* used while items are taken out */
	struct event *batch;
	size_t n_batch;
	uint64_t instances, out;
	uint32_t next_queue;
	int64_t low_ns, high_ns, shift_ns;
	/* Candidate of the majority vote (Boyer and Moore) for the time of the events */
	int64_t vote_ns;
	uint64_t votes;
	uint64_t strange;		/* times that are outside of low ... high */
};

void build_init(struct import_build *build, const struct import_options *options);
void build_release(struct import_build *build);

/* Sends a message to the user. */
void build_say(struct import_build *build, int level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Reports that a table is full: the first time, a message says where; after that it is only
 * counted. what: a constant, such as "too many flows: the others are left out". */
void build_problem(struct import_build *build, const char *what, const char *place, uint64_t at);
/* Counts what is left out: "3 events with a negative duration were dropped". The texts are
 * constants: what is a noun, rest says which of them. */
void build_drop(struct import_build *build, const char *what, const char *rest);
/* Reports that the rest of the file is not read, and where reading ended. */
void build_cut(struct import_build *build, const char *what, const char *place, uint64_t at);
/* Tells how much was dropped, and how often a table was full. */
void build_tell_problems(struct import_build *build);
/* Reports where reading ended early, in bytes from `begin` on; silent if the end of the file is
 * already known to be missing (`part`). */
void build_damage(struct import_build *build, const struct import_wire *wire, const uint8_t *begin);

uint32_t build_name(struct import_build *build, const void *text, size_t size, uint8_t kind);
uint32_t build_word(struct import_build *build, const char *text, uint8_t kind);
const char *build_text(const struct import_build *build, uint32_t name);
uint32_t build_process(struct import_build *build, uint32_t pid, const char *command);
uint32_t build_device(struct import_build *build, const char *key);
uint32_t build_track(struct import_build *build, uint32_t process, uint32_t tid);
void build_track_name(struct import_build *build, uint32_t track, const char *name);
/* Declares the track a stream of the device. */
void build_stream(struct import_build *build, uint32_t track, uint32_t device);
uint32_t build_shape(struct import_build *build, const uint64_t global[3], const uint32_t local[3]);
uint32_t build_series(struct import_build *build, uint32_t process, uint32_t device,
		      const char *name, const char *unit);
uint32_t build_correlation(struct import_build *build, uint64_t id);
uint32_t build_flow(struct import_build *build, uint64_t id);
/* The number of a key (keys.h); 0: there is no room, and a message has said so. */
uint32_t build_key(struct import_build *build, const void *key, size_t size);
/* Adds a setting of the process, as EVENT_INFO. */
void build_info(struct import_build *build, uint32_t process, const char *scope, const char *key,
		const char *value);
void build_add(struct import_build *build, const struct import_item *item);

static inline bool build_stopped(const struct import_build *build)
{
	return atomic_load_explicit(build->stop, memory_order_relaxed);
}

/* ---- emit.c ---- */
/* Called after everything has been added: hands out the events. */
void build_run(struct import_build *build);

#endif
