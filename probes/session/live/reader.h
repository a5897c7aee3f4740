/* SPDX-License-Identifier: MIT */
/*
 * Reads LTTng's events with libbabeltrace2, from a live session or a recorded trace, on a thread of
 * its own, and hands them on as batches of the model's events. A recording is read by offline.h,
 * which also reports what is missing in it.
 *
 * Always true: the sink is called on the reader's thread only, with 1024 events at most, or with
 * what one run of the graph brought if that is less. The batch and its strings are borrowed until
 * the sink returns. Discarded events and packets become EVENT_LOST. Events of other providers, of
 * unknown versions and with broken fields are counted, reported once, and skipped.
 *
 * Streams of another user that start later make babeltrace 2.0.4 fail (they start in what it takes
 * for the past), or it never sees them. The reader then attaches again, a limited number of times,
 * and marks the place as a loss. When the daemons of a live session die, the reader waits, within
 * limits, for others, and continues with their session.
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
	const char *url;		/* live: "net://..."; NULL: for a recording */
	const char *path;		/* recording: a folder with CTF in or below it */
	uint16_t host;			/* host index of its events */
	/* How to reach the relay daemon (session_connect); NULL: plain connect. */
	int (*connect)(void *arg, uint16_t port);
	void *connect_arg;
	/* Translates a PID (session_pid); gets connect_arg. NULL: PIDs are left as they are in the
	 * event. */
	uint32_t (*pid)(void *arg, uint32_t inner);
	int64_t period_ns;		/* live: session_period_ns(); 0: the period for a screen */
	void (*sink)(void *arg, const struct event *events, size_t count);
	void *sink_arg;
};

enum reader_state {
	READER_STARTING = 0,		/* not attached yet */
	READER_ATTACHED,		/* live: attached, or waiting for a session */
	READER_ENDED,			/* nothing more will come */
	READER_FAILED,			/* reader_error() says why */
};

/* Whether there is any CTF in or below this folder. Any thread. */
bool reader_finds_trace(const char *path);
/* Calls fn for each such folder. */
void reader_trace_folders(const char *path, void (*fn)(void *arg, const char *folder), void *arg);

/* Starts the thread. NULL: failure, and error has the reason. */
struct reader *reader_start(const struct reader_options *options,
			    char error[READER_ERROR_MAX]);

/* Any thread may call this. */
enum reader_state reader_state(const struct reader *reader);
/*
 * Live: the session is stopped, and nothing of interest was written after until_ns
 * (CLOCK_MONOTONIC). The thread ends by itself when all streams have been read up to there or have
 * ended; if none ever began, after some more attempts. The caller limits the time:
 * reader_wait_end(), reader_free().
 */
void reader_drain(struct reader *reader, int64_t until_ns);
/* Waits until the reader is attached, has ended or has failed; false: time-out. */
bool reader_wait_attached(struct reader *reader, int timeout_ms);
/* Waits until the reader has ended or failed; false: time-out. */
bool reader_wait_end(struct reader *reader, int timeout_ms);
/* Events decoded so far, of all processes; any thread. */
uint64_t reader_events(const struct reader *reader);
/* How much of a recording has been read, in thousandths; -1: unknown. */
int reader_progress(const struct reader *reader);
/* How many streams have started; 0: no traced program has appeared yet. */
uint64_t reader_streams(const struct reader *reader);
/* When the relay daemon last sent something, CLOCK_MONOTONIC. */
int64_t reader_last_message_ns(const struct reader *reader);
/* Live: attach again, for streams that babeltrace does not see. */
void reader_attach_anew(struct reader *reader);
/* Live, after the daemons have died: a reader that fails waits until one of these is called. */
void reader_renew(struct reader *reader, const char *url);	/* other daemons are ready */
void reader_give_up(struct reader *reader);			/* there will be no others */
/* Returns how many such gaps have ended, with the times of the last one, CLOCK_MONOTONIC. */
unsigned int reader_gaps(const struct reader *reader, int64_t *begin_ns, int64_t *end_ns);
/* Whether it was asked to attach again, but the session was stopped before it could. */
bool reader_misses_streams(const struct reader *reader);
/* How often a live reader had to attach again and has continued. Where no sequence numbers tell
 * what it missed, that is unknown: ask the probes for their definitions. */
unsigned int reader_reattached(const struct reader *reader);
/* Why it last attached again. */
void reader_why_reattached(const struct reader *reader, char why[READER_ERROR_MAX]);
/* Stops reading soon; the sink is not called again. */
void reader_stop(struct reader *reader);
/* Whether the sink is being called now. After reader_stop(), once this is false, it stays false. */
bool reader_in_sink(const struct reader *reader);
/* Whether it has ended and everything up to the requested end has been read. */
bool reader_complete(const struct reader *reader);
/* The chain of causes as one sentence; "": none. Borrowed until reader_free(). */
const char *reader_error(const struct reader *reader);

/*
 * Asks the thread to end, waits for it (6 s at most; for a recording 0.4 s, from reader_stop() on)
 * and frees. false: the thread has not ended and may still be inside the sink, so that sink_arg
 * must stay valid.
 */
bool reader_free(struct reader *reader);

/* Whether a thread was abandoned. If so, end the program with _exit(), because exit() may wait for
 * what that thread holds. Any thread. */
bool reader_left_behind(void);

#endif
