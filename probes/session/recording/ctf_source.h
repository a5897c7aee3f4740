/* SPDX-License-Identifier: MIT */
/*
 * The source component behind ctf_writer.c: one batch of model events at a
 * time as messages of babeltrace2, in the schema of fields.h.
 *
 * Always true: a batch makes one packet in every stream, over [begin_ns,
 * end_ns], also in those that have no event in it; messages come in order of
 * time. Nobody else looks at it. Threads: the writer's caller's.
 */
#ifndef PROBES_SESSION_CTF_SOURCE_H
#define PROBES_SESSION_CTF_SOURCE_H

#include <babeltrace2/babeltrace.h>

#include "probes/session/recording/ctf_writer.h"

enum ctf_stage {
	CTF_STREAMS,			/* begin them */
	CTF_IDLE,			/* wait for a batch */
	CTF_LOST, CTF_PACKETS, CTF_EVENTS, CTF_PACKET_ENDS,
	CTF_STREAM_ENDS,
	CTF_END,
};

struct ctf_out_stream {
	bt_stream *stream;		/* owned */
	bt_packet *packet;		/* owned; the open one */
	uint64_t lost;			/* events, of the batch */
};

struct ctf_source {
	struct ctf_writer_options options;	/* strings borrowed while it is made */
	bt_trace *trace;		/* owned */
	bt_stream_class *stream_class[2];	/* owned; events, meta */
	bt_event_class *class[EVENT_TYPE_COUNT];	/* owned */
	const struct field_spec *fields[EVENT_TYPE_COUNT];
	struct ctf_out_stream *streams;	/* owned; those of events, then those of meta */
	unsigned int n_streams;		/* in all */

	/* the batch */
	const struct event *events;	/* borrowed until CTF_IDLE */
	size_t count;
	int64_t before_ns, begin_ns, end_ns;	/* end of the last one; its own */
	uint64_t lost_packets;		/* before it, by each stream of events */

	enum ctf_stage stage;
	size_t next;			/* in the stage */
};

/* Adds the source to the graph; NULL: babeltrace's error is pending. */
const bt_component_source *ctf_source_add(bt_graph *graph, struct ctf_source *source);
/* Which stream takes the event: an index into streams. */
unsigned int ctf_source_stream(const struct ctf_source *source, const struct event *event);
void ctf_source_release(struct ctf_source *source);

#endif
