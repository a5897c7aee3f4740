/* SPDX-License-Identifier: MIT */
/*
 * The reader's thread: runs babeltrace2's graph, decodes events, and hands batches on.
 *
 * A live graph that has nothing returns AGAIN. The thread then sleeps for 2 ms in the first seconds
 * until there are streams, because the viewer must be attached before the first buffers are full.
 * Afterwards it sleeps as rhythm.h says: the live timer dominates the latency, and each look costs
 * the relay daemon an answer.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/base/util.h"
#include "probes/session/decode/decode.h"
#include "probes/session/decode/graph.h"
#include "probes/session/decode/guard.h"
#include "probes/session/recording/offline.h"
#include "probes/process/process.h"
#include "probes/session/live/reader_internal.h"

#define POLL_EARLY_NS 2000000
#define PERIOD_NS 50000000		/* period of the live timer, if it is not given */
#define POLLS 2				/* minimum number of looks per period */
#define POLL_STREAM_NS 200000
#define EARLY_NS 3000000000		/* how long to look that often for the first stream */
#define LAST_LOOKS 25			/* looks of a drain that found no stream: 50 ms */
#define FREE_WAIT_NS 6000000000	/* more than options.connect may take */
#define FREE_FILES_NS 400000000
/* How often to attach again without an event in between. The pauses before that double: a session
 * that has just begun may have no metadata yet. */
#define REATTACH_MAX 16
#define REATTACH_NS 20000000
#define REATTACH_MOST_NS 1000000000
/* in periods of the live timer: how long to wait for what is still to be read */
#define ANEW_PERIODS 4
/* how long to wait for new daemons when those that were read have died */
#define RENEW_WAIT_NS 20000000000
#define LOOK_NS 20000000		/* how often to check for a thread that was abandoned */

static atomic_bool left_behind;

/* ---- the sink ---- */

/* A thread that sets `stop` and then finds the reader's thread outside the sink can rely on
 * that. */
static void call_sink(void *arg, const struct event *events, size_t count)
{
	struct reader *reader = arg;

	guard_back(NULL);		/* must not be left half-way */
	atomic_store(&reader->in_sink, true);
	if (!atomic_load(&reader->stop))
		reader->options.sink(reader->options.sink_arg, events, count);
	atomic_store(&reader->in_sink, false);
	guard_back(reader->path ? NULL : &reader->back);
}

static void look_at_gap(struct reader *reader)
{
	int64_t begin_ns, end_ns;

	if (!reader->gap_open || !decode_gap(reader->decode, &begin_ns, &end_ns))
		return;
	reader->gap_open = false;
	pthread_mutex_lock(&reader->lock);
	reader->gaps++;
	reader->gap_begin_ns = begin_ns;
	reader->gap_end_ns = end_ns;
	pthread_mutex_unlock(&reader->lock);
}

static void hand_on(struct reader *reader)
{
	size_t count;
	const struct event *events = decode_batch(reader->decode, &count);
	const struct decode_counts *counts = decode_counts(reader->decode);

	look_at_gap(reader);
	atomic_store(&reader->events, counts->events);
	atomic_store(&reader->streams, counts->streams_begun);
	if (count)
		call_sink(reader, events, count);
	decode_reset(reader->decode);
}

static void take_message(void *arg, const bt_message *message)
{
	struct reader *reader = arg;

	guard_back(NULL);
	reader->brought = true;
	if (!decode_message(reader->decode, message))
		hand_on(reader);
	guard_back(&reader->back);
}

static graph_status consume(bt_message_iterator *iterator, void *arg)
{
	return graph_each(iterator, take_message, arg);
}

/* ---- the thread ---- */

static void set_state(struct reader *reader, enum reader_state state)
{
	pthread_mutex_lock(&reader->lock);
	reader->state = state;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
}

/* Sleeps; reader_free() and reader_drain() wake it. */
static void sleep_until_woken(struct reader *reader, int64_t duration_ns)
{
	int64_t until_ns = monotonic_ns() + duration_ns;
	struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };

	pthread_mutex_lock(&reader->lock);
	if (!atomic_load(&reader->stop))
		pthread_cond_timedwait(&reader->changed, &reader->lock, &until);
	pthread_mutex_unlock(&reader->lock);
}

/*
 * A drained reader is done when nothing can follow: the muxer, which merges all streams in order of
 * time, is past the end; or every stream has ended (if before the end, the daemons gave up and
 * the rest is missing); or no stream has appeared in a number of last looks.
 */
static bool has_drained(struct reader *reader, int *looks)
{
	const struct decode_counts *counts = decode_counts(reader->decode);
	int64_t until_ns = atomic_load(&reader->drain_ns);

	if (!until_ns)
		return false;
	if (counts->streams_begun) {
		atomic_store(&reader->complete, decode_time_ns(reader->decode) >= until_ns);
		return atomic_load(&reader->complete) ||
		       counts->streams_begun == counts->streams_ended;
	}
	if (counts->messages)
		return false;		/* attached, the first data is on its way */
	/* a reader that attached again after bad data, and got nothing since, lacks the rest */
	atomic_store(&reader->complete,
		     reader->attached_anew == atomic_load(&reader->reattached));
	return ++*looks >= LAST_LOOKS;
}

/* How long to sleep when there is nothing. */
static int64_t poll_ns(struct reader *reader)
{
	int64_t now = monotonic_ns();
	int64_t streams = (int64_t)decode_counts(reader->decode)->streams_begun;

	if (atomic_load(&reader->drain_ns) || (!streams && now - reader->begin_ns < EARLY_NS))
		return POLL_EARLY_NS;
	/* Each look asks about every stream, and there are two per CPU. */
	return rhythm_wait_ns(&reader->rhythm, now, reader->period_ns,
			      reader->period_ns / POLLS + streams * POLL_STREAM_NS);
}

/* Whether to try another graph; not during a drain, because a session that is being destroyed
 * cannot be attached to. */
static bool reattaches(struct reader *reader)
{
	return !reader->path && reader->attached_anew < REATTACH_MAX &&
	       !atomic_load(&reader->stop) && !atomic_load(&reader->drain_ns);
}

/* Why the data stopped, from graph_take_error()'s text. Time that runs backwards means streams of
 * another user; data that is no longer available was overwritten before it was read. */
static void attach_anew(struct reader *reader, const char *error)
{
	static const char later[] = "a process of another user started, or data came too late";
	const char *why = relay_broken(&reader->relay);

	if (!why)
		why = !error || strstr(error, "timestamp is less") ||
		      strstr(error, "get_data_packet") ? later : error;
	pthread_mutex_lock(&reader->lock);
	snprintf(reader->why, sizeof(reader->why), "%s", why);
	pthread_mutex_unlock(&reader->lock);
	reader->attached_anew++;
}

static bool is_renewed(struct reader *reader)
{
	return atomic_load(&reader->renewals) != reader->renewed;
}

/* If its daemons may have died (they were reached before, or do not answer): waits until others are
 * ready, or until it is told that there will be none. */
static bool waits_for_others(struct reader *reader)
{
	int64_t until_ns = monotonic_ns() + RENEW_WAIT_NS;

	if (!reader->was_attached && (!reader->relay.asked || reader->relay.answered))
		return false;
	set_state(reader, READER_ATTACHED);
	while (!is_renewed(reader) && !atomic_load(&reader->stop) &&
	       !atomic_load(&reader->drain_ns) && !atomic_load(&reader->given_up) &&
	       monotonic_ns() < until_ns)
		sleep_until_woken(reader, LOOK_NS);
	return is_renewed(reader) && !atomic_load(&reader->stop);
}

/* A new graph starts with later events only. So this graph first reads what the streams hold now,
 * which may belong to a process that has ended. */
static bool attaches_anew(struct reader *reader)
{
	int64_t asked_ns = atomic_load(&reader->anew_ns);

	if (!reattaches(reader) || !atomic_load(&reader->anew))
		return false;
	if (decode_time_ns(reader->decode) < asked_ns &&
	    monotonic_ns() < asked_ns + ANEW_PERIODS * reader->period_ns)
		return false;
	if (!atomic_exchange(&reader->anew, false))
		return false;
	atomic_store(&reader->attaching, true);
	return true;
}

/* Notes that this run of the graph has brought messages. */
static void note_messages(struct reader *reader)
{
	atomic_store(&reader->last_message_ns, monotonic_ns());
	atomic_store(&reader->reattached, reader->attached_anew);
	atomic_store(&reader->attaching, false);
}

/* Waits before another graph is tried, longer each time; not after one that read something, or
 * that got no answer. */
static void pause_before_graph(struct reader *reader)
{
	uint32_t failed = reader->attached_anew - atomic_load(&reader->reattached);
	int64_t ns = REATTACH_NS;

	for (uint32_t i = 1; i < failed && ns < REATTACH_MOST_NS; i++)
		ns *= 2;
	if (failed && reader->relay.answered && !is_renewed(reader))
		sleep_until_woken(reader, ns < REATTACH_MOST_NS ? ns : REATTACH_MOST_NS);
}

/* The graph has failed: whether a new one should continue. */
static bool is_replaced_after_error(struct reader *reader)
{
	graph_take_error(reader->error, sizeof(reader->error),
			 "the LTTng relay daemon sends no more data");
	if (is_renewed(reader))
		return true;
	/* If a later graph gets no answer at all, there is no daemon any more. */
	if ((reader->relay.answered || !reader->was_attached) && reattaches(reader)) {
		pause_before_graph(reader);
		attach_anew(reader, reader->error);
		return true;
	}
	return waits_for_others(reader);
}

/* true: a new graph should continue. */
static bool run_live_graph(struct reader *reader, bt_graph *graph)
{
	bool attached = false;
	int looks = 0;
	int64_t found_ns = 0;		/* when this look found data; 0: nothing yet */

	reader->begin_ns = monotonic_ns();
	while (!atomic_load(&reader->stop)) {
		bt_graph_run_once_status status;

		reader->brought = false;
		/* 2.0.4 may return "again" with an error pending, and would then abort. */
		bt_current_thread_clear_error();
		status = bt_graph_run_once(graph);
		if (reader->brought) {
			note_messages(reader);
			found_ns = found_ns ? found_ns : reader->last_message_ns;
		}
		if (!attached && status >= 0) {
			attached = reader->was_attached = true;
			set_state(reader, READER_ATTACHED);
		}
		if (status == BT_GRAPH_RUN_ONCE_STATUS_OK)
			continue;
		hand_on(reader);
		if (status == BT_GRAPH_RUN_ONCE_STATUS_END) {
			set_state(reader, READER_ENDED);
			return false;
		}
		if (status != BT_GRAPH_RUN_ONCE_STATUS_AGAIN) {
			if (is_replaced_after_error(reader))
				return true;
			set_state(reader, READER_FAILED);
			return false;
		}
		if (is_renewed(reader))
			return true;
		if (attaches_anew(reader)) {
			attach_anew(reader, NULL);
			return true;
		}
		if (has_drained(reader, &looks)) {
			set_state(reader, READER_ENDED);
			return false;
		}
		if (found_ns)
			rhythm_found(&reader->rhythm, found_ns, reader->period_ns);
		found_ns = 0;
		sleep_until_woken(reader, poll_ns(reader));
	}
	set_state(reader, READER_ENDED);
	return false;
}

/* Builds a graph and runs it; true: do it once more. If a later graph cannot be built because the
 * relay daemon is gone, the first one's error stays. */
static bool run_graph(struct reader *reader)
{
	char error[READER_ERROR_MAX], *url;
	unsigned int renewals = atomic_load(&reader->renewals);
	bt_graph *graph;
	bool again;

	pthread_mutex_lock(&reader->lock);
	url = strdup(reader->url);
	pthread_mutex_unlock(&reader->lock);
	graph = url ? graph_build(url, consume, reader, error, sizeof(error)) : NULL;
	free(url);
	if (!graph) {
		if (waits_for_others(reader))
			return true;
		if (!reader->graphs)
			memcpy(reader->error, error, sizeof(error));
		set_state(reader, READER_FAILED);
		return false;
	}
	if (renewals != reader->renewed) {
		/* The attempts in between read nothing. */
		reader->attached_anew = atomic_load(&reader->reattached);
		decode_renewed(reader->decode, reader->begun_ns);
		reader->gap_open = true;
		reader->renewed = renewals;
	} else if (reader->graphs) {
		decode_reattached(reader->decode);
	}
	reader->graphs++;
	again = run_live_graph(reader, graph);
	graph_free(graph);
	return again;
}

/* Reads a recording. */
static void read_files(struct reader *reader)
{
	struct offline_options options = {
		.path = reader->path, .host = reader->options.host, .stop = &reader->stop,
		.sink = call_sink, .sink_arg = reader,
		.events = &reader->events, .bytes_done = &reader->bytes_done,
		.bytes_all = &reader->bytes_all,
	};
	char error[READER_ERROR_MAX];
	enum offline_end end;

	set_state(reader, READER_ATTACHED);
	end = offline_read(&options, error, sizeof(error));
	if (end == OFFLINE_FAILED)
		memcpy(reader->error, error, sizeof(error));
	atomic_store(&reader->complete, end == OFFLINE_WHOLE);
	set_state(reader, end == OFFLINE_FAILED ? READER_FAILED : READER_ENDED);
}

static void release_reader(struct reader *reader)
{
	decode_free(reader->decode);
	relay_release(&reader->relay);
	pthread_cond_destroy(&reader->changed);
	pthread_mutex_destroy(&reader->lock);
	free(reader->url);
	free(reader->path);
	free(reader);
}

/* Babeltrace failed an assertion: another graph continues reading, as after bad data, if one may
 * be tried. */
static void after_abort(struct reader *reader)
{
	if (!reattaches(reader))
		guard_caught(SIGABRT);		/* this does not return */
	relay_hang_up(&reader->relay);		/* the daemon serves one reader at a time */
	hand_on(reader);
	attach_anew(reader, "babeltrace could not read the data");
}

static void *reader_main(void *arg)
{
	struct reader *reader = arg;
	bool abandoned;

	reader->begun_ns = monotonic_ns();
	if (reader->url) {
		process_give_way();
		relay_use(&reader->relay);
		guard_begin(&reader->gave_up);
		if (sigsetjmp(reader->back, 1))
			after_abort(reader);
		guard_back(&reader->back);
		while (run_graph(reader))
			;
		relay_use(NULL);
		guard_end();
	} else {
		read_files(reader);
	}
	pthread_mutex_lock(&reader->lock);
	reader->exited = true;
	abandoned = reader->abandoned;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
	if (abandoned)
		release_reader(reader);
	return NULL;
}

/* ---- called by other threads ---- */

static struct reader *new_reader(const struct reader_options *options)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	pthread_condattr_t attributes;

	if (!reader)
		return NULL;
	reader->options = *options;
	reader->period_ns = options->period_ns > 0 ? options->period_ns : PERIOD_NS;
	relay_init(&reader->relay);
	reader->relay.connect = options->connect;
	reader->relay.connect_arg = options->connect_arg;
	reader->last_message_ns = monotonic_ns();
	pthread_mutex_init(&reader->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&reader->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	reader->url = options->url ? strdup(options->url) : NULL;
	reader->path = options->path ? strdup(options->path) : NULL;
	reader->decode = decode_new(options->host);
	if (reader->decode && options->url)
		decode_set_live(reader->decode, monotonic_ns);
	if (reader->decode && options->pid)
		decode_set_pids(reader->decode, options->pid, options->connect_arg);
	if (!reader->decode || (!reader->url && !reader->path)) {
		release_reader(reader);
		return NULL;
	}
	return reader;
}

bool reader_finds_trace(const char *path)
{
	return graph_finds_trace(path);
}

void reader_trace_folders(const char *path, void (*fn)(void *arg, const char *folder), void *arg)
{
	graph_folders(path, fn, arg);
}

struct reader *reader_start(const struct reader_options *options, char error[READER_ERROR_MAX])
{
	struct reader *reader = new_reader(options);
	int failed;

	error[0] = '\0';
	if (!reader) {
		snprintf(error, READER_ERROR_MAX, "out of memory for the reader");
		return NULL;
	}
	failed = pthread_create(&reader->thread, NULL, reader_main, reader);
	if (failed) {
		snprintf(error, READER_ERROR_MAX, "cannot start the reader's thread: %s",
			 strerror(failed));
		release_reader(reader);
		return NULL;
	}
	pthread_setname_np(reader->thread, "reader");
	return reader;
}

/* A time not later than until_ns, for a timed wait. */
static struct timespec soon(int64_t until_ns)
{
	int64_t at_ns = monotonic_ns() + LOOK_NS;

	if (at_ns > until_ns)
		at_ns = until_ns;
	return (struct timespec){ at_ns / 1000000000, at_ns % 1000000000 };
}

/* Waits until the state is at least `state`, or the thread is lost. */
static bool wait_for_state(struct reader *reader, enum reader_state state, int timeout_ms)
{
	int64_t until_ns = monotonic_ns() + (int64_t)timeout_ms * 1000000;
	bool reached;

	pthread_mutex_lock(&reader->lock);
	while (reader->state < state && !atomic_load(&reader->gave_up) &&
	       monotonic_ns() < until_ns) {
		struct timespec until = soon(until_ns);

		pthread_cond_timedwait(&reader->changed, &reader->lock, &until);
	}
	reached = reader->state >= state || atomic_load(&reader->gave_up);
	pthread_mutex_unlock(&reader->lock);
	return reached;
}

bool reader_wait_attached(struct reader *reader, int timeout_ms)
{
	return wait_for_state(reader, READER_ATTACHED, timeout_ms);
}

bool reader_wait_end(struct reader *reader, int timeout_ms)
{
	return wait_for_state(reader, READER_ENDED, timeout_ms);
}

/*
 * The thread may be waiting in recv() for a relay daemon that does not answer: shutting the socket
 * down wakes it. If it hangs elsewhere, it is abandoned, and frees itself when it returns, without
 * calling the sink again.
 */
bool reader_free(struct reader *reader)
{
	int64_t until_ns = monotonic_ns();
	bool exited;

	if (!reader)
		return true;
	if (reader->url)
		until_ns += FREE_WAIT_NS;
	else
		until_ns = (reader->stop_ns ? reader->stop_ns : until_ns) + FREE_FILES_NS;
	atomic_store(&reader->stop, true);
	relay_hang_up(&reader->relay);
	pthread_mutex_lock(&reader->lock);
	pthread_cond_broadcast(&reader->changed);
	while (!reader->exited && !atomic_load(&reader->gave_up) && monotonic_ns() < until_ns) {
		struct timespec until = soon(until_ns);

		pthread_cond_timedwait(&reader->changed, &reader->lock, &until);
	}
	exited = reader->exited;
	reader->abandoned = !exited;
	pthread_mutex_unlock(&reader->lock);
	if (!exited) {
		atomic_store(&left_behind, true);
		pthread_detach(reader->thread);
		return false;
	}
	pthread_join(reader->thread, NULL);
	release_reader(reader);
	return true;
}

bool reader_left_behind(void)
{
	return atomic_load(&left_behind) || guard_lost_any();
}
