/* SPDX-License-Identifier: MIT */
/*
 * One stream of a recording as batches of events in the order of time; or, if its layout is
 * unknown, a whole trace with all its streams.
 *
 * babeltrace 2 gives up a stream at the first damaged packet, and a trace at the first torn one.
 * So a source gives it a folder of links in which there are only whole packets; what has to be
 * cut out of a file is copied to a file without a name. When the inside of a packet turns out to
 * be damaged, the source counts the packet as lost and continues after it, FAILURES_MAX times.
 *
 * Ownership: the trace and the stream are borrowed until source_free(). Threads: one at a time. A
 * source never writes to the recording.
 */
#ifndef PROBES_SESSION_SOURCE_H
#define PROBES_SESSION_SOURCE_H

#include <stdatomic.h>

#include "probes/session/recording/ctf_scan.h"
#include "probes/session/decode/decode.h"

struct stream_source;

struct source_options {
	const struct ctf_trace *trace;
	const struct ctf_stream *stream;	/* NULL: the whole folder as it is */
	const char *dir;		/* a private folder for the links */
	unsigned int number;		/* unique in dir */
	uint16_t host;
	size_t room;			/* of a batch, at least SOURCE_ROOM_MIN */
};

#define SOURCE_ROOM_MIN 128u

struct source_end {
	uint64_t bad_packets;		/* whole by their header, damaged inside */
	int64_t bad_ns;			/* where the first one was */
	uint64_t events;		/* decoded */
	bool unread;			/* it gave up before the end */
	char error[512];		/* babeltrace's first error; "": none */
};

/* Short of memory: NULL. */
struct stream_source *source_new(const struct source_options *options);
void source_free(struct stream_source *source);

/*
 * Returns the next batch in exchange for an empty one. NULL: the end; the empty one stays the
 * caller's then. *stop ends it early.
 */
struct decode_batch *source_next(struct stream_source *source, struct decode_batch *fresh,
				 const atomic_bool *stop);

/* Bytes of the trace's files that were read, for showing progress; any thread. */
uint64_t source_bytes_done(const struct stream_source *source);

/* After the end. */
const struct source_end *source_end(const struct stream_source *source);
const struct decode *source_decode(const struct stream_source *source);

#endif
