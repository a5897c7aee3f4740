/* SPDX-License-Identifier: MIT */
/* Commands of queues, from the record to the timeline; see commands.c. */
#ifndef MODEL_COMMANDS_H
#define MODEL_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/pending.h"
#include "model/event.h"

struct arrival;
struct model;
struct process;

void apply_command(struct model *model, const struct arrival *in);
/* The same of one that was written at that time, 0 not known; node_op: as event_run's op_name. */
void command_in(struct model *model, struct process *process, const struct event_command *command,
		uint32_t node_op, int64_t written_ns);
/* ---- done.c: which commands of a process have finished lately, by correlation ---- */
void done_set(struct process *process, uint32_t correlation);
bool done_get(const struct process *process, uint32_t correlation);
void done_release(struct process *process);
size_t done_bytes(const struct process *process);
/* What a process announced will not be heard of any more. */
void command_forget(struct model *model, struct process *process, uint32_t correlation);
/* Takes in what waited; force: with a clock anchored by its launch if need be. */
void commands_drain(struct model *model, struct pendings *pending, bool force);
/* The same of what waited for the clock of a view. */
void commands_clock_known(struct model *model, uint32_t view);
/* What has waited for too long by now_ns. */
void commands_alive(struct model *model, int64_t now_ns);
void commands_finish(struct model *model);

#endif
