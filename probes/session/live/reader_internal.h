/* SPDX-License-Identifier: MIT */
/*
 * Inside a reader, shared by reader.c (its thread and its life) and reader_ask.c (what other
 * threads ask and tell it meanwhile).
 */
#ifndef PROBES_SESSION_READER_INTERNAL_H
#define PROBES_SESSION_READER_INTERNAL_H

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#include "probes/session/live/reader.h"
#include "probes/session/live/relay.h"
#include "probes/session/live/rhythm.h"

struct reader {
	char *url, *path;		/* owned; the url is read and changed under the lock */
	struct reader_options options;
	pthread_t thread;
	pthread_mutex_t lock;		/* protects state and error */
	pthread_cond_t changed;		/* CLOCK_MONOTONIC */
	enum reader_state state;
	char error[READER_ERROR_MAX];	/* written before state is READER_FAILED */
	char why[READER_ERROR_MAX];	/* why it attached again [lock] */
	struct relay relay;
	sigjmp_buf back;		/* for its thread: where it continues when a graph aborts */
	bool abandoned;			/* reader_free() gave up, so the thread frees */
	bool exited;			/* the thread has ended its loop */
	atomic_bool stop, in_sink;
	atomic_bool anew;		/* see reader_attach_anew() */
	_Atomic int64_t anew_ns;	/* when that was first requested */
	atomic_bool attaching;		/* it has attached again, and nothing has arrived yet */
	atomic_bool complete;		/* see reader_complete() */
	atomic_bool gave_up;		/* babeltrace aborted, and the thread was abandoned */
	_Atomic int64_t drain_ns;	/* 0: not draining */
	int64_t stop_ns;		/* for the caller: when reader_stop() was called */
	_Atomic uint64_t events, streams;
	_Atomic uint64_t bytes_done, bytes_all;	/* for a recording */
	_Atomic int64_t last_message_ns;
	atomic_uint reattached;		/* see reader_reattached() */
	atomic_uint renewals;		/* how often reader_renew() was called */
	atomic_bool given_up;		/* see reader_give_up() */
	unsigned int gaps;		/* see reader_gaps() [lock] */
	int64_t gap_begin_ns, gap_end_ns;
	/* Members that only its thread uses. */
	struct decode *decode;
	bool brought;			/* this run of the graph has brought messages */
	int64_t begun_ns;		/* when the first graph was made */
	int64_t begin_ns, period_ns;	/* begin: when this graph was started */
	struct rhythm rhythm;
	unsigned int graphs;		/* how many were made */
	unsigned int attached_anew;	/* how many of these within the same session */
	unsigned int renewed;		/* how many sessions replaced one whose daemons had died */
	bool was_attached;		/* it was attached to some session */
	bool gap_open;			/* the last gap has no end yet */
};

#endif
