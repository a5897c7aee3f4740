/* SPDX-License-Identifier: MIT */
/*
 * Reads a recording: all CTF in or below a folder, several streams at once.
 *
 * Idea: babeltrace is what takes the time, and one graph runs on one thread.
 * So each stream has a source of its own (source.h); workers decode the sources
 * that are furthest behind into batches, and the caller's thread brings them
 * together by time, checks the threads' numbers and hands them to the sink, in
 * the same order as if babeltrace's muxer had. A worker that babeltrace aborts
 * takes its one stream along, not the others.
 *
 * Memory: AHEAD batches a stream, of a size that keeps all of them together
 * within some 64 MiB.
 */
#ifndef PROBES_SESSION_OFFLINE_H
#define PROBES_SESSION_OFFLINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct offline_options {
	const char *path;
	uint16_t host;
	const atomic_bool *stop;	/* leave at once */
	void (*sink)(void *arg, const struct event *events, size_t count);
	void *sink_arg;
	/* For whoever looks from another thread. */
	_Atomic uint64_t *events, *bytes_done, *bytes_all;
};

enum offline_end {
	OFFLINE_WHOLE,			/* all was read */
	OFFLINE_PARTIAL,		/* something is missing; EVENT_MESSAGE told what */
	OFFLINE_FAILED,			/* nothing can be read: error */
};

/* Returns when all is read. Tells what is missing, and which events are not
 * known to this version, as EVENT_MESSAGE. */
enum offline_end offline_read(const struct offline_options *options, char *error, size_t size);

#endif
