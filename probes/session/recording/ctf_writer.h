/* SPDX-License-Identifier: MIT */
/*
 * Writes model events as a CTF trace in the probes' own schema, so that
 * tftop's reader takes it for one of LTTng's and babeltrace2 reads it: the
 * channels "meta" and "events", packets, losses, vpid and vtid.
 *
 * Idea: babeltrace2's own sink.ctf.fs writes the bytes; a source of ours feeds
 * it. Events are gathered, and every few thousand of them all streams get one
 * packet each, over the same stretch of time: so that all messages are in
 * order of time and a loss lies in the packet that it belongs to.
 *
 * Always true:
 *  - Events are written in the order they come in, at their time_ns, which never
 *    goes back: an earlier one is written at the time of the one before it.
 *  - EVENT_ALIVE and EVENT_NONE are left out. EVENT_LOST with a count becomes
 *    the packet's discarded events or packets; one of no thread (pid 0) gets a
 *    packet over just its stretch of time, one of a thread is told in place by
 *    that thread's sequence numbers. One without a count is left out.
 *  - The folder must not exist; after a failure it is not whole, and the
 *    caller removes it.
 *
 * Ownership: events and strings are copied by ctf_writer_add(). Threads: one at
 * a time. Errors: false, and ctf_writer_close() says why; the trace's files stay
 * open then (see ctf_writer.c): cut them off before removing them. Cost: about
 * 0.5 us an event.
 */
#ifndef PROBES_SESSION_CTF_WRITER_H
#define PROBES_SESSION_CTF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct ctf_writer;

struct ctf_writer_options {
	const char *path;		/* folder of the trace, made with its parents */
	const char *host;		/* name of the host, "" unknown */
	int64_t offset_ns;		/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	unsigned int streams;		/* of each channel, 0: 1; a thread keeps to one */
};

#define CTF_STREAMS_MAX 64u

/* NULL: error says why. */
struct ctf_writer *ctf_writer_new(const struct ctf_writer_options *options, char *error,
				  size_t size);
/* false: failed, now or before. */
bool ctf_writer_add(struct ctf_writer *writer, const struct event *events, size_t count);
/* Events written so far. */
uint64_t ctf_writer_events(const struct ctf_writer *writer);
/* Writes the rest, frees. false: the trace is not whole; error says why. */
bool ctf_writer_close(struct ctf_writer *writer, char *error, size_t size);

#endif
