/* SPDX-License-Identifier: MIT */
/* Shared by offline.c (threads, order of events) and offline_tell.c (which traces there are, and
 * what is missing in them). */
#ifndef PROBES_SESSION_OFFLINE_INTERNAL_H
#define PROBES_SESSION_OFFLINE_INTERNAL_H

#include <pthread.h>

#include "probes/session/recording/ctf_scan.h"
#include "probes/session/decode/decode.h"
#include "probes/process/dir.h"
#include "probes/session/recording/offline.h"
#include "probes/session/recording/source.h"

#define LOST_MAX 64u			/* maximum number of workers that are replaced */
#define WORKERS_ROOM (LOST_MAX + 4u)

/* A stream on its way from a worker to the sink. */
struct offline_lane {
	struct stream_source *source;		/* owned; used by a worker while busy */
	const struct ctf_trace *trace;	/* borrowed */
	struct decode_batch *ready, *last;	/* owned; full batches, oldest first */
	unsigned int n_ready;
	bool busy, ended;
	bool lost;			/* babeltrace aborted while reading it */
	bool starved;			/* it ended because memory was short */
	struct decode_batch *batch;	/* owned; the batch that is being merged */
	size_t at;
};

struct offline_worker {
	struct offline *offline;
	pthread_t thread;
	bool runs;
	bool over;			/* the worker is about to return [locked] */
	atomic_bool gave_up;
	struct offline_lane *lane;		/* the lane that it works on */
};

struct offline {
	const struct offline_options *options;
	/* protects ready, busy and ended of lanes; lane of workers; unused; wanted */
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	const struct offline_lane *wanted;	/* the lane that the caller waits for; NULL: none */
	struct offline_lane *lanes;		/* owned */
	size_t n_lanes;
	struct offline_worker workers[WORKERS_ROOM];
	unsigned int n_workers, n_lost;
	struct decode_batch *unused;	/* owned */
	size_t n_unused, room;
	struct ctf_trace **traces;	/* owned */
	size_t n_traces;
	char dir[DIR_PATH_MAX];		/* private folder; "": none */
	int dir_lock;
	/* Members that only the caller's thread uses. */
	struct offline_lane **heap;		/* owned */
	struct seqs *seqs;		/* owned */
	struct event *out;		/* owned */
	size_t n_out;
	struct decode_batch *used;	/* owned; a batch that is reused after the next emit */
	int64_t time_ns, alive_ns;
	uint64_t n_events;
	char why[800];			/* why nothing was read; "": something was */
};

/* Finds the traces and scans their packets. */
bool offline_find(struct offline *offline, char *error, size_t size);
/* Creates the lanes. */
bool offline_open(struct offline *offline, char *error, size_t size);
/* Reports what is missing. */
enum offline_end offline_tell(struct offline *offline, char *error, size_t size);
/* Updates the counters that other threads read. */
void offline_count(struct offline *offline);
void offline_release_traces(struct offline *offline);

#endif
