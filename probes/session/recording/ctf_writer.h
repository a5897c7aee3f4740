/* SPDX-License-Identifier: MIT */
/*
 * Writes the model's events as a CTF trace in the probes' own schema, so that tftop reads it like
 * a trace of LTTng, and babeltrace2 reads it too: channels "meta" and "events", packets, losses,
 * vpid and vtid.
 *
 * babeltrace2's own sink.ctf.fs writes the bytes; a source component of tftop feeds it. Events
 * are collected, and every few thousand of them all streams get one packet each over the same
 * span of time, so that all messages are in the order of time, and a loss lies in the packet that
 * it belongs to.
 *
 * Always true:
 * - Events are written in the order in which they come, at their time_ns, which never goes back:
 *   an earlier one is written at the time of the one before.
 * - EVENT_ALIVE and EVENT_NONE are skipped. EVENT_LOST with a count becomes the packet's
 *   discarded events or packets. One without a thread (pid 0) gets a packet over just its span of
 *   time; one of a thread is also shown in place by that thread's sequence numbers. One without a
 *   count is skipped.
 * - The folder must not exist. After a failure it is incomplete, and the caller removes it.
 *
 * Ownership: ctf_writer_add() copies events and strings. Threads: one at a time. Errors: false,
 * and ctf_writer_close() gives the reason; the trace's files stay open then (see ctf_writer.c),
 * so truncate them before removing them. Cost: about 0.5 us for each event.
 */
#ifndef PROBES_SESSION_CTF_WRITER_H
#define PROBES_SESSION_CTF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct ctf_writer;

struct ctf_writer_options {
	const char *path;		/* the trace's folder, created with its parents */
	const char *host;		/* name of the host; "": unknown */
	int64_t offset_ns;		/* CLOCK_REALTIME - CLOCK_MONOTONIC */
	/* streams in each channel, 0: 1; a thread always uses the same one */
	unsigned int streams;
};

#define CTF_STREAMS_MAX 64u

/* NULL: `error` says why. */
struct ctf_writer *ctf_writer_new(const struct ctf_writer_options *options, char *error,
				  size_t size);
/* false: writing has failed, now or before. */
bool ctf_writer_add(struct ctf_writer *writer, const struct event *events, size_t count);
/* Writes the rest and frees. false: the trace is incomplete, and `error` says why. */
bool ctf_writer_close(struct ctf_writer *writer, char *error, size_t size);

#endif
