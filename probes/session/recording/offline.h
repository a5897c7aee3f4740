/* SPDX-License-Identifier: MIT */
/*
 * Reads a recording: all CTF in or below a folder, several streams at once.
 *
 * babeltrace takes most of the time, and one graph runs on one thread. So each stream has a
 * source of its own (source.h). Workers decode the sources that are furthest behind into batches.
 * The caller's thread merges them by time, checks the threads' sequence numbers, and hands the
 * events to the sink, in the same order as babeltrace's muxer would. A worker on which babeltrace
 * aborts takes its one stream along, not the others.
 *
 * Memory: AHEAD batches for each stream, of a size that keeps all of them within about 64 MiB.
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
	const atomic_bool *stop;	/* set to make the function return at once */
	void (*sink)(void *arg, const struct event *events, size_t count);
	void *sink_arg;
	/* Counters with which other threads show progress. */
	_Atomic uint64_t *events, *bytes_done, *bytes_all;
};

enum offline_end {
	OFFLINE_WHOLE,			/* everything was read */
	OFFLINE_PARTIAL,		/* something is missing, and an EVENT_MESSAGE says what */
	OFFLINE_FAILED,			/* nothing could be read, see `error` */
};

/* Returns when everything has been read. Reports what is missing, and which events are unknown to
 * this version, as EVENT_MESSAGE. */
enum offline_end offline_read(const struct offline_options *options, char *error, size_t size);

#endif
