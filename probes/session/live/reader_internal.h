/* SPDX-License-Identifier: MIT */
/*
 * Inside a reader, shared by reader.c (its thread and its life) and reader_ask.c (what others ask
 * and tell it meanwhile).
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
	pthread_mutex_t lock;		/* state, error */
	pthread_cond_t changed;		/* CLOCK_MONOTONIC */
	enum reader_state state;
	char error[READER_ERROR_MAX];	/* written before state is READER_FAILED */
	char why[READER_ERROR_MAX];	/* of attaching anew [lock] */
	struct relay relay;
	sigjmp_buf back;		/* the way out of a graph that aborts; the thread's */
	bool abandoned;			/* reader_free() gave up: the thread frees */
	bool exited;			/* the thread has ended its loop */
	atomic_bool stop, in_sink;
	atomic_bool anew;		/* see reader_attach_anew() */
	_Atomic int64_t anew_ns;	/* when that was first requested */
	atomic_bool attaching;		/* anew; nothing has arrived yet */
	atomic_bool complete;		/* see reader_complete() */
	atomic_bool gave_up;		/* babeltrace aborted: the thread was given up */
	_Atomic int64_t drain_ns;	/* 0: not draining */
	int64_t stop_ns;		/* the caller's: reader_stop() */
	_Atomic uint64_t events, streams;
	_Atomic uint64_t bytes_done, bytes_all;	/* of a recording */
	_Atomic int64_t last_message_ns;
	atomic_uint reattached;		/* see reader_reattached() */
	atomic_uint renewals;		/* reader_renew() calls */
	atomic_bool given_up;		/* see reader_give_up() */
	unsigned int gaps;		/* see reader_gaps() [lock] */
	int64_t gap_begin_ns, gap_end_ns;
	/* the thread's own */
	struct decode *decode;
	bool brought;			/* this run of the graph has brought messages */
	int64_t begun_ns;		/* when the first graph was built */
	int64_t begin_ns, period_ns;	/* begin: when this graph started */
	struct rhythm rhythm;
	unsigned int graphs;		/* built so far */
	unsigned int attached_anew;	/* of these, within the same session */
	unsigned int renewed;		/* sessions that replaced one whose daemons died */
	bool was_attached;		/* to any session */
	bool gap_open;			/* the last one has no end yet */
};

#endif
