/* SPDX-License-Identifier: MIT */
/* Commands of queues, from the record to the timeline; see commands.c for the rules. */
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
/* Takes in a command that was written at written_ns (0: not known); node_op: as op_name of
 * event_run. */
void command_in(struct model *model, struct process *process, const struct event_command *command,
		uint32_t node_op, int64_t written_ns);
/* ---- done.c: which commands of a process have finished lately, by correlation ---- */
void done_set(struct process *process, uint32_t correlation);
bool done_get(const struct process *process, uint32_t correlation);
void done_release(struct process *process);
size_t done_bytes(const struct process *process);
/* Forgets an announced command whose end will not arrive any more. */
void command_forget(struct model *model, struct process *process, uint32_t correlation);
/* Takes in the commands that waited; force: anchors the clock by a launch where it has no map. */
void commands_drain(struct model *model, struct pendings *pending, bool force);
/* Takes in the commands that waited for the clock of a view. */
void commands_clock_known(struct model *model, uint32_t view);
/* Takes in the commands that have waited for too long by now_ns. */
void commands_alive(struct model *model, int64_t now_ns);
void commands_finish(struct model *model);

#endif
