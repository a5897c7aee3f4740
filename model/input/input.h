/* SPDX-License-Identifier: MIT */
/* The stages of input pipelines in the model, see model/query/input.h. */
#ifndef MODEL_INPUT_H
#define MODEL_INPUT_H

#include "model/core/store.h"
#include "model/query/input.h"

struct arrival;

struct input_stage {
	uint32_t process, id;
	uint32_t parent;		/* id; 0: none; always lower than its own id */
	uint32_t path, what;		/* names; path 0: not defined yet */
	int32_t parallelism_set, buffer;
	int32_t parallelism, buffered;	/* -1: unknown */
	uint64_t calls, bytes;
	int64_t total_ns, self_ns, wait_ns, busy_ns, max_ns;
	int64_t begin_ns, end_ns;
};

struct inputs {
	struct store stages;
	struct map by_id;		/* process << 32 | id */
};

void inputs_new(struct model *model);
void inputs_free(struct model *model);
size_t inputs_bytes(const struct model *model);
void apply_stage(struct model *model, const struct arrival *in);
void apply_stages(struct model *model, const struct arrival *in);

/* What a process (NONE: any process) waits for: the outermost stage, and the stage below it that
 * holds most of that time. false: there is none. */
struct input_hold {
	struct input_row root, most;
	bool prefetched;		/* `most` or a stage above it works ahead */
};
bool input_holder(struct model *model, uint32_t process, struct input_hold *hold);

#endif
