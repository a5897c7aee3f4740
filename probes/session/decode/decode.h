/* SPDX-License-Identifier: MIT */
/*
 * Turns babeltrace2's messages into the model's events: the receiving end of probes/schema. Each
 * graph has one decoder.
 *
 * Always true:
 * - The fields of an event class are looked up by name and checked (kind, sign, size) once; every
 *   event of the class is then read by index.
 * - A class that does not fit the schema, or belongs to another provider, is skipped and counted,
 *   and reported once as EVENT_MESSAGE (pid 0).
 * - A loss is counted once. What babeltrace reports as discarded and what the sequence numbers of a
 *   thread show is the same loss. Where a gap in the numbers gives the place, EVENT_LOST carries
 *   pid and tid, and as its count what had not been reported before (0: the place of a loss that
 *   was counted already).
 * - No event is given out twice.
 * - A batch ends with one EVENT_ALIVE when its messages advanced the time.
 *
 * Ownership: events and their strings belong to the decoder and are valid until decode_reset().
 * Threads: the reader's only. Times: raw values of the tracer's clock in nanoseconds, which LTTng
 * takes from CLOCK_MONOTONIC.
 */
#ifndef PROBES_SESSION_DECODE_H
#define PROBES_SESSION_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>

#include "model/event.h"

#define DECODE_BATCH_MAX 1024
#define DECODE_BATCH_SLACK 2		/* spare room: for a loss, and for a sign of life */

struct decode;
struct decode_chunk;

/* Events and the strings they point to. */
struct decode_batch {
	struct decode_batch *next;	/* for a list that its owner makes */
	struct decode_chunk *chunks;	/* owned; the first chunk is the one in use */
	size_t count, room, capacity;	/* it is full at `room`; there is memory for `capacity` */
	struct event events[];
};

struct decode_counts {
	uint64_t messages;		/* messages of any kind */
	uint64_t events;		/* events that were decoded */
	uint64_t skipped;	/* of other providers, or of unknown or unsuitable classes */
	uint64_t streams_begun, streams_ended, packets_begun;
};

/* NULL: memory is short. */
struct decode *decode_new(uint16_t host);
/* For one of several streams, in batches of `room` events. Sequence numbers are left to whoever
 * merges the streams. */
struct decode *decode_new_stream(uint16_t host, size_t room);
void decode_free(struct decode *decode);
/* To be called before the first message: how to translate a PID of an inner namespace (pids.h). */
void decode_set_pids(struct decode *decode, uint32_t (*outer)(void *arg, uint32_t inner),
		     void *arg);

/* To be called before the first message: events are read while they are written. Times after
 * now_ns() are replaced, and this is reported. */
void decode_set_live(struct decode *decode, int64_t (*now_ns)(void));

struct decode_batch *decode_batch_new(size_t room);	/* NULL: memory is short */
void decode_batch_free(struct decode_batch *batch);
void decode_batch_reset(struct decode_batch *batch);
/* A copy that lives until the batch is reset; "" if memory is short. */
const char *decode_batch_keep(struct decode_batch *batch, const char *text, size_t length);

/* Decodes one message (borrowed). false: the batch is full; hand it on and reset it before the
 * next message. */
bool decode_message(struct decode *decode, const bt_message *message);

/* Another graph continues with the same session (the batch is empty). Its streams start again, with
 * packets that may have been read already; what lies between is a loss of unknown size. */
void decode_reattached(struct decode *decode);

/* The same with another session, because the daemons of the previous one died. A loss of unknown
 * size lies between the last event read (begun_ns: there was none) and the first event of the new
 * session that is not a definition. */
void decode_renewed(struct decode *decode, int64_t begun_ns);

/* The times of the last such loss; false: there was none, or its end is unknown so far. */
bool decode_gap(const struct decode *decode, int64_t *begin_ns, int64_t *end_ns);

/* Ends the batch and returns it; *count may be 0. */
const struct event *decode_batch(struct decode *decode, size_t *count);
void decode_reset(struct decode *decode);
/* Adds a loss that is visible in the file only. */
void decode_lost(struct decode *decode, int64_t begin_ns, int64_t end_ns, uint64_t count,
		 bool packets);
size_t decode_count(const struct decode *decode);	/* how many events are in the batch */
/* Calls fn for each event class that was skipped, with the number of its events. */
void decode_unknown(const struct decode *decode,
		    void (*fn)(void *arg, const char *name, uint64_t count), void *arg);
/* Returns the batch; the decoder continues with an empty one. */
struct decode_batch *decode_swap(struct decode *decode, struct decode_batch *fresh);

/* Everything before this time has been read. */
int64_t decode_time_ns(const struct decode *decode);
const struct decode_counts *decode_counts(const struct decode *decode);

#endif
