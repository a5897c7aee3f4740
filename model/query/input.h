/* SPDX-License-Identifier: MIT */
/*
 * The stages of input pipelines (tf.data): what each of them does, and how much of the time that
 * the program waits for its batches each holds. The rules of query.h apply. Sums are exact for
 * the whole run.
 *
 * Idea: the program waits for the outermost stage. The wait for a stage is distributed to what
 * the stage's time consisted of: its own work, and its calls of the stages below. If a stage
 * works ahead, its own work is the work of its threads and functions, divided by how many of them
 * run at once; otherwise it is its own time. So held_ns of all stages adds up to the program's
 * wait. The split is by shares of the whole run, not by cause.
 */
#ifndef MODEL_QUERY_INPUT_H
#define MODEL_QUERY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

struct input_row {
	uint32_t id;			/* stable for the model's life, from 1 */
	/* parent: row id of the stage that takes its elements; 0: the program takes them */
	uint32_t parent, depth;
	uint16_t host;
	uint32_t pid;
	/* path: such as "Prefetch::Map"; what: a description, NULL: none */
	const char *path, *what;
	const char *name;		/* the last part of the path */
	uint64_t calls, bytes;		/* bytes 0: unknown */
	int64_t total_ns, self_ns, wait_ns, busy_ns, max_ns;	/* as in struct tft_stages */
	/* the stage's own work: that of its threads if it works ahead, else self_ns */
	int64_t work_ns;
	int64_t held_ns;		/* its share of the time that the program waits */
	bool ahead;			/* it works ahead of its consumer */
	/* The value in force, -1: unknown. For the outermost stage: how many of its calls have a
	 * thread. */
	int32_t parallelism;
	/* as configured; 0: not parallel, -1: chosen at run time */
	int32_t parallelism_set;
	/* Elements: how many the buffer can hold (0: no buffer, -1: chosen at run time), and how
	 * many are in it (-1: unknown). */
	int32_t buffer, buffered;
};

/* The stages by process; each tree from its outermost stage down, siblings in the order of
 * definition. The caller owns *out. [locked] */
size_t model_input_stages(struct model *model, struct input_row **out);

#endif
