/* SPDX-License-Identifier: MIT */
/*
 * The source component behind ctf_writer.c: turns the model's events, one batch at a time, into
 * babeltrace2's messages, in the schema of fields.h.
 *
 * Always true: a batch becomes one packet in every stream, over [begin_ns, end_ns], also in streams
 * without an event in it. Messages come in the order of time. Only ctf_writer.c uses this. Threads:
 * that of the writer's caller.
 */
#ifndef PROBES_SESSION_CTF_SOURCE_H
#define PROBES_SESSION_CTF_SOURCE_H

#include <babeltrace2/babeltrace.h>

#include "probes/session/recording/ctf_writer.h"

enum ctf_stage {
	CTF_STREAMS,			/* about to start the streams */
	CTF_IDLE,			/* waiting for a batch */
	CTF_LOST, CTF_PACKETS, CTF_EVENTS, CTF_PACKET_ENDS,
	CTF_STREAM_ENDS,
	CTF_END,
};

struct ctf_out_stream {
	bt_stream *stream;		/* owned */
	bt_packet *packet;		/* owned; the open packet */
	uint64_t lost;			/* events lost in the batch */
};

struct ctf_source {
	/* its strings are borrowed until the source has been made */
	struct ctf_writer_options options;
	bt_trace *trace;		/* owned */
	bt_stream_class *stream_class[2];	/* owned; for the channels events and meta */
	bt_event_class *class[EVENT_TYPE_COUNT];	/* owned */
	const struct field_spec *fields[EVENT_TYPE_COUNT];
	struct ctf_out_stream *streams;	/* owned; the streams of events, then those of meta */
	unsigned int n_streams;		/* number of all streams */

	/* Members for the current batch. */
	const struct event *events;	/* borrowed until CTF_IDLE */
	size_t count;
	int64_t before_ns, begin_ns, end_ns;	/* before_ns: the end of the previous batch */
	uint64_t lost_packets;		/* lost before the batch, in each stream of events */

	enum ctf_stage stage;
	size_t next;			/* next item of the current stage */
};

/* Adds the source to the graph; NULL: babeltrace has a pending error. */
const bt_component_source *ctf_source_add(bt_graph *graph, struct ctf_source *source);
void ctf_source_release(struct ctf_source *source);

#endif
