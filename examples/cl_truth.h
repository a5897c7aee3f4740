/* SPDX-License-Identifier: MIT */
/*
 * What train_opencl did itself, counted by itself: the yardstick for what a
 * profiler says that it did. Written as JSON in the form of tftop's report.
 *
 * Always true: a command counts once, as done or as failed (one that was
 * enqueued and never ran, because what it waited for failed). Sizes in bytes.
 * Only the main thread may call these; memory that runs out ends the program.
 * Names are borrowed for the program's whole life, except ops, which are
 * copied.
 */
#ifndef EXAMPLES_CL_TRUTH_H
#define EXAMPLES_CL_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

enum truth_direction {
	TRUTH_H2D,
	TRUTH_D2H,
	TRUTH_D2D,
	TRUTH_FILL,
	TRUTH_MAP,
	TRUTH_UNMAP,
	TRUTH_DIRECTIONS
};

/* A queue was created; ids count up from 0 in that order. */
void truth_queue(const char *name, bool in_order);

/* op: the innermost range open on the launching thread, or NULL. */
void truth_kernel(const char *name, int queue, const char *op, bool failed);
void truth_copy(enum truth_direction direction, int queue, uint64_t bytes, bool failed);

/* A buffer was made, or given up. op: as above. */
void truth_alloc(uint64_t bytes, const char *op);
void truth_free(uint64_t bytes);

/* An API call returned an error. */
void truth_error(const char *call);

/* So long the main thread waited for a batch, or made it. */
void truth_input(int64_t dur_ns);

/* A range named as a step was closed; how long it was open. What was counted
 * since the one before is of this step. */
void truth_step(int64_t dur_ns);

/* The device in use; kind as in the report: "cpu", "gpu", "accelerator". */
void truth_device(const char *name, const char *kind);

/*
 * Writes path beside itself and renames it, so that a reader sees all of it
 * or nothing. Returns 0, or -1 with errno set and nothing left behind.
 */
int truth_write(const char *path, int argc, char **argv, int exit_status, int signal,
		int64_t wall_ns);

void truth_release(void);

#endif
