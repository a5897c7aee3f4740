/* SPDX-License-Identifier: MIT */
/*
 * Turns babeltrace2's messages into model events: the other end of
 * probes/schema. One decoder per graph.
 *
 * Always true:
 *  - The fields of an event class are looked up by name and checked (kind,
 *    sign, size) once; every event of the class is then read by index.
 *  - A class that does not fit the schema, or is of another provider, is
 *    skipped, counted, and said once as EVENT_MESSAGE (pid 0).
 *  - A loss is counted once: what babeltrace reports as discarded and what the
 *    sequence numbers of a thread show is the same loss. Where a sequence gap
 *    gives the place, EVENT_LOST carries pid and tid; its count is what had
 *    not been reported before (0: the place of a loss already counted).
 *  - An event that has been decoded before is not given out again.
 *  - A batch ends with one EVENT_ALIVE when the messages brought time on.
 *
 * Ownership: events and their strings are the decoder's and valid until
 * decode_reset(). Threads: the reader's only. Times: raw values of the
 * tracer's clock, which LTTng takes from CLOCK_MONOTONIC, in nanoseconds.
 */
#ifndef PROBES_SESSION_DECODE_H
#define PROBES_SESSION_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>

#include "model/event.h"

#define DECODE_BATCH_MAX 1024
#define DECODE_BATCH_SLACK 2		/* of room for events: a loss, a sign of life */

struct decode;
struct decode_chunk;

/* Events and the strings they point to. */
struct decode_batch {
	struct decode_batch *next;	/* whose it is may chain it */
	struct decode_chunk *chunks;	/* owned; the first is the one in use */
	size_t count, room, capacity;	/* full at room; capacity is what there is memory for */
	struct event events[];
};

struct decode_counts {
	uint64_t messages;		/* of any kind */
	uint64_t events;		/* decoded */
	uint64_t skipped;		/* other providers, unknown or misfitting classes */
	uint64_t streams_begun, streams_ended, packets_begun;
};

/* Short of memory: NULL. */
struct decode *decode_new(uint16_t host);
/* For one of several streams, in batches of `room` events: what its numbers
 * say about losses is left to whoever brings the streams together. */
struct decode *decode_new_stream(uint16_t host, size_t room);
void decode_free(struct decode *decode);
/* Before the first message: what the process of an event is called outside of its namespace. */
void decode_set_pids(struct decode *decode, uint32_t (*outer)(void *arg, uint32_t inner),
		     void *arg);

/* Likewise: what is written now is read; times after now are not believed, and that is said. */
void decode_set_live(struct decode *decode, int64_t (*now_ns)(void));

struct decode_batch *decode_batch_new(size_t room);	/* short of memory: NULL */
void decode_batch_free(struct decode_batch *batch);
void decode_batch_reset(struct decode_batch *batch);
/* A copy that lives until the batch is reset; short of memory: "". */
const char *decode_batch_keep(struct decode_batch *batch, const char *text, size_t length);

/* Takes one message in (borrowed). false: the batch is full, hand it on and
 * reset before the next one. */
bool decode_message(struct decode *decode, const bt_message *message);

/* Another graph reads the same session on (the batch is empty): its streams
 * begin anew, with packets that may have been read already; what lies between
 * is a loss of unknown size. */
void decode_reattached(struct decode *decode);

/* Likewise of another session, as the daemons of the one before have died: from what was read
 * last, or begun_ns when nothing was, to the first event of this one that is no definition is a
 * loss of unknown size. */
void decode_renewed(struct decode *decode, int64_t begun_ns);

/* Of the last such loss: begin and end; false: there was none, or it has no end yet. */
bool decode_gap(const struct decode *decode, int64_t *begin_ns, int64_t *end_ns);

/* Closes the batch and gives it out; *count may be 0. */
const struct event *decode_batch(struct decode *decode, size_t *count);
void decode_reset(struct decode *decode);
/* A loss that only the file shows. */
void decode_lost(struct decode *decode, int64_t begin_ns, int64_t end_ns, uint64_t count,
		 bool packets);
size_t decode_count(const struct decode *decode);	/* events in the batch */
/* Calls fn for each event class that was skipped, with how many events. */
void decode_unknown(const struct decode *decode,
		    void (*fn)(void *arg, const char *name, uint64_t count), void *arg);
/* Gives the batch out as it is; the decoder goes on with a fresh one. */
struct decode_batch *decode_swap(struct decode *decode, struct decode_batch *fresh);

/* Everything before it has been read. */
int64_t decode_time_ns(const struct decode *decode);
const struct decode_counts *decode_counts(const struct decode *decode);

#endif
