/* SPDX-License-Identifier: MIT */
/*
 * A command in flight: private to record.c (who may access it when) and enqueue.c (what it is and
 * how it is written).
 */
#ifndef PROBES_OPENCL_RECORD_H
#define PROBES_OPENCL_RECORD_H

#include "probes/opencl/probe.h"

#define STATE_BITS 8
#define STATE_MASK 0xffull
#define STATE_USED 1ull
#define STATE_CALL 2ull
#define STATE_LOOK 4ull
#define STATE_DONE 8ull
#define STATE_FILL 16ull
#define STATE_WRITE 32ull

struct ocl_record {
	/* Known before the call; a scan may copy it while the call runs. */
	struct tft_command cmd;
	/* Written by the enqueueing thread after the call, before it releases the record. */
	uint32_t late_name, late_shape;
	uint64_t late_bytes;
	int64_t return_ns;
	bool holds;			/* the probe holds a reference to its event */
	bool at_return;			/* it ran within its call */
	/* Accessed by any thread. */
	atomic_bool announced;
	_Atomic int64_t running_ns;	/* host time of CL_RUNNING; 0: unknown */
	int16_t status;			/* of a command whose event must not be queried */
	atomic_uint correlation;	/* as in cmd, for threads that wait for its event */
	uint32_t index, generation;
	atomic_uint next;		/* next record of the free stack */
	struct ocl_queue *queue;	/* set when the record is opened, until it is closed */
};

/* Opens a record, which the call holds; NULL: the pool is full, which is counted. */
struct ocl_record *record_open(struct ocl_queue *queue);
/* No callback will come for the record, so the tick has to query it. */
void record_silent(struct ocl_record *record);
/* The call failed, so that nothing is in flight. An event is written only if the command was
 * announced. */
void record_abandon(struct ocl_record *record, int16_t status);
/* The record describes the command, and the call starts. */
void record_filled(struct ocl_record *record, int64_t call_ns);
/* The enqueueing thread is done with the record; its event is stored and held. */
void record_returned(struct ocl_record *record);
/* The same for a command that is known to be complete (status <= 0). The event is the program's
 * (valid until the wrapper returns) or, with `own`, the probe's to release; NULL: the command has
 * no event. */
void record_done(struct ocl_record *record, cl_event event, bool own, cl_int status);
void record_event(struct ocl_record *record, cl_event event);
/* The user data that clSetEventCallback gets, together with one of the two callbacks. */
void *record_id(const struct ocl_record *record);
void CL_CALLBACK record_complete(cl_event event, cl_int status, void *data);
void CL_CALLBACK record_running(cl_event event, cl_int status, void *data);

/* enqueue.c: completes a copy with what was learnt after the call. */
void record_late(const struct ocl_record *record, struct tft_command *cmd);
/* enqueue.c: writes the event. `event` NULL: without times. */
void record_write(struct ocl_record *record, cl_event event, cl_int status);

#endif
