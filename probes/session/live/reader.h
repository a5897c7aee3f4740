/* SPDX-License-Identifier: MIT */
/*
 * Reads LTTng's events with libbabeltrace2 (a live session or a recorded
 * trace) on a thread of its own and hands them on as batches of model events.
 *
 * A recording is read by offline.h, which also says what is missing of it.
 *
 * Always true: the sink is called on the reader's thread only, with at most
 * 1024 events or what one run of the graph brought, whichever is less; the
 * batch and its strings are borrowed until the sink returns. Discarded events
 * and packets become EVENT_LOST. Streams of another user that come later end
 * babeltrace 2.0.4's reading (they begin in what it takes for the past) or are
 * never seen by it: the reader then attaches anew, a bounded number of times,
 * and marks the place as a loss. A live reader whose daemons die waits, bounded, for others,
 * and reads their session on. Events of other providers, unknown versions
 * and broken fields are counted, said once, and skipped.
 */
#ifndef PROBES_SESSION_READER_H
#define PROBES_SESSION_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct reader;

#define READER_ERROR_MAX 512

struct reader_options {
	const char *url;		/* live: "net://..."; NULL: a recording */
	const char *path;		/* recording: a folder with CTF in or below it */
	uint16_t host;			/* index for its events */
	/* How to reach the relay daemon (session_connect); NULL: plain connect. */
	int (*connect)(void *arg, uint16_t port);
	void *connect_arg;
	/* What a process is called here (session_pid); NULL: as in the event. Takes connect_arg. */
	uint32_t (*pid)(void *arg, uint32_t inner);
	int64_t period_ns;		/* live: session_period_ns(), 0: as for a screen */
	void (*sink)(void *arg, const struct event *events, size_t count);
	void *sink_arg;
};

enum reader_state {
	READER_STARTING = 0,		/* not attached yet */
	READER_ATTACHED,		/* live: attached or polling for the session */
	READER_ENDED,			/* nothing more will come */
	READER_FAILED,			/* reader_error() says why */
};

/* Is there any CTF in or below this folder? Any thread. */
bool reader_finds_trace(const char *path);

/* Starts the thread. NULL and a reason in error on failure. */
struct reader *reader_start(const struct reader_options *options,
			    char error[READER_ERROR_MAX]);

/* Any thread. */
enum reader_state reader_state(const struct reader *reader);
/*
 * Live: the session is stopped, and nothing that matters was written after
 * until_ns (CLOCK_MONOTONIC). The thread ends by itself when all streams have
 * been read up to there or have ended; when none has ever begun, after some
 * last looks. The caller bounds it: reader_wait_end(), reader_free().
 */
void reader_drain(struct reader *reader, int64_t until_ns);
/* Waits until attached, ended or failed; false on time-out. */
bool reader_wait_attached(struct reader *reader, int timeout_ms);
/* Waits until ended or failed; false on time-out. */
bool reader_wait_end(struct reader *reader, int timeout_ms);
/* Events decoded so far, of all processes; any thread. */
uint64_t reader_events(const struct reader *reader);
/* How much of a recording has been read, in thousandths; -1: not known. */
int reader_progress(const struct reader *reader);
/* Streams that have begun: 0 as long as no traced program was there. */
uint64_t reader_streams(const struct reader *reader);
/* Monotonic host time of the last sign of life from the relay daemon. */
int64_t reader_last_message_ns(const struct reader *reader);
/* Live: attaches anew, for streams that babeltrace does not see. */
void reader_attach_anew(struct reader *reader);
/* Live: the daemons have died and others are started: a reader that fails waits for
 * reader_renew(), or for reader_give_up(). */
void reader_renew(struct reader *reader, const char *url);	/* they stand */
void reader_give_up(struct reader *reader);			/* none will come */
/* The last such gap: from when to when nothing was read, ns of CLOCK_MONOTONIC; how many there
 * were until now that have an end. */
unsigned int reader_gaps(const struct reader *reader, int64_t *begin_ns, int64_t *end_ns);
/* It was asked to and could not any more: the session was stopped before. */
bool reader_misses_streams(const struct reader *reader);
/* How often a live reader had to attach anew, and has read on. Where no sequence
 * number tells, it is not known what was missed: ask the probes for a dump. */
unsigned int reader_reattached(const struct reader *reader);
/* Why it did, the last time. */
void reader_why_reattached(const struct reader *reader, char why[READER_ERROR_MAX]);
/* Reads no further than it is, soon; the sink is not called again. */
void reader_stop(struct reader *reader);
/* It is called now. After reader_stop() false stays so. */
bool reader_in_sink(const struct reader *reader);
/* Ended, and everything up to the end that was asked for has been read. */
bool reader_complete(const struct reader *reader);
/* The cause chain as one sentence, "" when none. Borrowed until free. */
const char *reader_error(const struct reader *reader);

/*
 * Asks the thread to end, waits for it (at most 6 s; a recording's 0.4 s, from
 * reader_stop() on), frees. False: it does not come back now, and may still be
 * within the sink: what sink_arg is must stay.
 */
bool reader_free(struct reader *reader);

/* A thread is left behind: leave with _exit(), as exit() may wait for what it
 * holds. Any thread. */
bool reader_left_behind(void);

#endif
