/* SPDX-License-Identifier: MIT */
/*
 * One stream of a recording as batches of events in the order of time or, if its layout is unknown,
 * a whole trace with all its streams.
 *
 * babeltrace 2 abandons a stream at its first damaged packet, and a trace at its first incomplete
 * one. So a source gives it a folder of links that contains only whole packets; what has to be cut
 * out of a file is copied to an unnamed file. If the inside of a packet turns out to be damaged,
 * the source counts the packet as lost and continues after it, FAILURES_MAX times.
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
	unsigned int number;		/* a number that is unique in dir */
	uint16_t host;
	size_t room;			/* events per batch, at least SOURCE_ROOM_MIN */
};

#define SOURCE_ROOM_MIN 128u

struct source_end {
	uint64_t bad_packets;	/* packets whose header is right and whose inside is damaged */
	int64_t bad_ns;			/* where the first of them was */
	uint64_t events;		/* events that were decoded */
	bool unread;			/* it stopped before the end */
	char error[512];		/* babeltrace's first error; "": none */
};

/* NULL: memory is short. */
struct stream_source *source_new(const struct source_options *options);
void source_free(struct stream_source *source);

/*
 * Returns the next batch in exchange for an empty one. NULL: there are no more, and the empty batch
 * stays with the caller. *stop ends it early.
 */
struct decode_batch *source_next(struct stream_source *source, struct decode_batch *fresh,
				 const atomic_bool *stop);

/* How many bytes of the trace's files were read, to show progress; any thread. */
uint64_t source_bytes_done(const struct stream_source *source);

/* To be called after the end. */
const struct source_end *source_end(const struct stream_source *source);
const struct decode *source_decode(const struct stream_source *source);

#endif
