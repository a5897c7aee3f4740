/* SPDX-License-Identifier: MIT */
/*
 * The stages of input pipelines (tf.data): what each does, and which of them
 * holds the time that the program waits for its batches. Beside query.h, by the
 * same rules. Sums are exact for the whole run.
 *
 * Idea: the program waits for the outermost stage. A stage's wait is handed down
 * to what it was made of: its own work, and its calls of the stages below. Where a
 * stage works ahead, its own work is that of its threads and functions, by how many
 * of them run at once; else it is its own time. So held_ns of all stages adds up to
 * the program's wait. It is a split by shares of the whole run, not by cause.
 */
#ifndef MODEL_QUERY_INPUT_H
#define MODEL_QUERY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;

struct input_row {
	uint32_t id;			/* stable for the model's life, from 1 */
	/* parent: row id of who takes its elements, 0 the program */
	uint32_t parent, depth;
	uint16_t host;
	uint32_t pid;
	const char *path, *what;	/* "Prefetch::Map"; what: NULL none */
	const char *name;		/* the last part of the path */
	uint64_t calls, bytes;		/* bytes 0: not known */
	int64_t total_ns, self_ns, wait_ns, busy_ns, max_ns;	/* as in struct tft_stages */
	/* its own: of its threads where it works ahead, else self */
	int64_t work_ns;
	int64_t held_ns;		/* of the program's wait */
	bool ahead;			/* it works ahead of who takes its elements */
	/* In force, -1 not known; of the outermost: calls that there are threads for. */
	int32_t parallelism;
	int32_t parallelism_set;	/* as configured: 0 not parallel, -1 chosen at run time */
	/* elements: room (0 none, -1 chosen at run time); now, -1 */
	int32_t buffer, buffered;
};

/* By process, each tree from its outermost stage down, stages of one in the order
 * they were defined. *out owned by the caller. [locked] */
size_t model_input_stages(struct model *model, struct input_row **out);

#endif
