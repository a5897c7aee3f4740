/* SPDX-License-Identifier: MIT */
/*
 * A command in flight: private to record.c (who may do what when) and
 * enqueue.c (what it is and how it is written).
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
	/* Written by the enqueuing thread after the call, before it lets go. */
	uint32_t late_name, late_shape;
	uint64_t late_bytes;
	int64_t return_ns;
	bool holds;			/* a reference of the event is ours */
	bool at_return;			/* it ran within its call */
	/* Anyone. */
	atomic_bool announced;
	_Atomic int64_t running_ns;	/* host time of CL_RUNNING, 0 unknown */
	int16_t status;			/* of a command whose event is not to be asked */
	atomic_uint correlation;	/* as in cmd, for who waits for its event */
	uint32_t index, generation;
	atomic_uint next;		/* free stack */
	struct ocl_queue *queue;		/* set at the opening, until closed */
};

/* A record held by CALL, NULL when the pool is full (counted). */
struct ocl_record *record_open(struct ocl_queue *queue);
/* No callback will come: the tick has to ask. */
void record_silent(struct ocl_record *record);
/* The call failed: nothing is in flight. Written only if it was announced. */
void record_abandon(struct ocl_record *record, int16_t status);
/* The record says what the command is: the call begins. */
void record_filled(struct ocl_record *record, int64_t call_ns);
/* The enqueuing thread is done with it; the event is stored and held. */
void record_returned(struct ocl_record *record);
/* The same for a command known to be complete (status <= 0). The event is the
 * program's (alive until the wrapper returns) or, with `own`, ours to release;
 * NULL for a command that has none. */
void record_done(struct ocl_record *record, cl_event event, bool own, cl_int status);
void record_event(struct ocl_record *record, cl_event event);
/* What to give clSetEventCallback with the two callbacks. */
void *record_id(const struct ocl_record *record);
void CL_CALLBACK record_complete(cl_event event, cl_int status, void *data);
void CL_CALLBACK record_running(cl_event event, cl_int status, void *data);

/* enqueue.c: completes a copy with what was learned after the call. */
void record_late(const struct ocl_record *record, struct tft_command *cmd);
/* enqueue.c: writes the event. `event` NULL: no times. */
void record_write(struct ocl_record *record, cl_event event, cl_int status);

#endif
