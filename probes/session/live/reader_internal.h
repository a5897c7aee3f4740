/* SPDX-License-Identifier: MIT */
/*
 * The inside of a reader, shared by reader.c (its thread and its life) and reader_ask.c (what
 * others ask of it and tell it meanwhile).
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
	char why[READER_ERROR_MAX];	/* it attached anew [lock] */
	struct relay relay;
	sigjmp_buf back;		/* out of a graph that aborts; its thread's own */
	bool abandoned;			/* reader_free() gave up: the thread frees */
	bool exited;			/* the thread has left its loop */
	atomic_bool stop, in_sink;
	atomic_bool anew;		/* see reader_attach_anew() */
	_Atomic int64_t anew_ns;	/* when it was asked for first */
	atomic_bool attaching;		/* anew, and nothing came yet */
	atomic_bool complete;		/* see reader_complete() */
	atomic_bool gave_up;		/* babeltrace aborted: the thread is lost */
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
	bool brought;			/* this run of the graph brought messages */
	int64_t begun_ns;		/* the first graph was */
	int64_t begin_ns, period_ns;	/* begin: of this graph */
	struct rhythm rhythm;
	unsigned int graphs;		/* built so far */
	unsigned int attached_anew;	/* of these, without a renewal */
	unsigned int renewed;		/* renewals that were followed */
	bool was_attached;		/* to any */
	bool gap_open;			/* the last one has no end yet */
};

#endif
