/* SPDX-License-Identifier: MIT */
/* Commands of queues, from the record to the timeline; see commands.c. */
#ifndef MODEL_COMMANDS_H
#define MODEL_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct model;

struct pending {
	struct event_command command;
	int64_t time_ns;
	uint32_t process;
	uint32_t node_op;		/* a graph's node: the op that it was captured in, 0 none */
	bool again;			/* its correlation has finished before */
	bool observed;			/* the clock knows of it */
};

struct pendings {
	struct pending *list;		/* owned */
	size_t n, cap;
};

void apply_command(struct model *model, const struct event_command *command);
/* The same of one that was written at that time, 0 not known; node_op: as event_run's op_name. */
void command_in(struct model *model, const struct event_command *command, uint32_t node_op,
		int64_t written_ns);
/* Was a command of the current process with that correlation finished lately? */
bool command_is_done(const struct model *model, uint32_t correlation);
struct process;
void done_set(struct process *process, uint32_t correlation);
bool done_get(const struct process *process, uint32_t correlation);
void done_release(struct process *process);
size_t done_bytes(const struct process *process);
/* What was announced of the current process will not be heard of any more. */
void command_forget(struct model *model, uint32_t correlation);
/* until_ns, or earlier: the launch, most_ns before it at most, of the oldest that was announced and
 * has not been heard of since. O(queues and those). */
int64_t commands_heard_until(const struct model *model, int64_t until_ns, int64_t most_ns);
/* Takes in what waited; force: with a clock anchored by its launch if need be. */
void commands_drain(struct model *model, struct pendings *pending, bool force);
/* What has waited for too long by now_ns. */
void commands_alive(struct model *model, int64_t now_ns);
void commands_finish(struct model *model);
int64_t unpack_delta(uint32_t packed);

#endif
