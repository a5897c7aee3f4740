/* SPDX-License-Identifier: MIT */
/*
 * One stream of a recording (or a trace of a layout we do not know, with all
 * its streams) as batches of events in the order of time.
 *
 * babeltrace 2 gives up a stream at the first damaged packet, and a trace at
 * the first torn one. So a source lets it see a folder of links in which only
 * whole packets are; what must be cut out of a file is copied to a file without
 * a name. When a packet's inside turns out to be damaged, the source counts it
 * as lost and goes on behind it, FAILURES_MAX times.
 *
 * Ownership: the trace and the stream are borrowed until source_free(). Threads:
 * one at a time. A source never writes to the recording.
 */
#ifndef PROBES_SESSION_SOURCE_H
#define PROBES_SESSION_SOURCE_H

#include <stdatomic.h>

#include "probes/session/recording/ctf_scan.h"
#include "probes/session/decode/decode.h"

struct stream_source;

struct source_options {
	const struct ctf_trace *trace;
	const struct ctf_stream *stream;	/* NULL: the folder as it is */
	const char *dir;		/* private folder for the links */
	unsigned int number;		/* unique in dir */
	uint16_t host;
	size_t room;			/* of a batch, at least SOURCE_ROOM_MIN */
};

#define SOURCE_ROOM_MIN 128u

struct source_end {
	uint64_t bad_packets;		/* whole by their header, broken inside */
	int64_t bad_ns;			/* where the first one was */
	uint64_t events;		/* decoded */
	bool unread;			/* gave up before the end */
	char error[512];		/* babeltrace's first complaint, "" none */
};

/* Short of memory: NULL. */
struct stream_source *source_new(const struct source_options *options);
void source_free(struct stream_source *source);

/*
 * The next batch in exchange for an empty one (which stays the caller's when
 * there is none: NULL, the end). *stop ends it early.
 */
struct decode_batch *source_next(struct stream_source *source, struct decode_batch *fresh,
				 const atomic_bool *stop);

/* Of the trace's files, for showing progress; any thread. */
uint64_t source_bytes_done(const struct stream_source *source);

/* After the end. */
const struct source_end *source_end(const struct stream_source *source);
const struct decode *source_decode(const struct stream_source *source);

#endif
