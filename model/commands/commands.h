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
/* Applies a command that was written at written_ns (0: unknown). */
void command_in(struct model *model, struct process *process, const struct event_command *command,
		struct command_node node, int64_t written_ns);
/* ---- done.c: which commands of a process have finished lately, by correlation ---- */
void done_set(struct process *process, uint32_t correlation);
bool done_get(const struct process *process, uint32_t correlation);
void done_release(struct process *process);
size_t done_bytes(const struct process *process);
/* Forgets an announced command whose end will not arrive any more. */
void command_forget(struct model *model, struct process *process, uint32_t correlation);
/* Applies the commands that waited; force: where a clock has no map, it is anchored by a launch. */
void commands_drain(struct model *model, struct pendings *pending, bool force);
/* Applies the commands that waited for the clock of a view. */
void commands_clock_known(struct model *model, uint32_t view);
/* Applies the commands that have waited for too long at now_ns. */
void commands_alive(struct model *model, int64_t now_ns);
void commands_finish(struct model *model);

#endif
