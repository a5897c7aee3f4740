/* SPDX-License-Identifier: MIT */
/*
 * Looks after the processes of PROGRAM that tftop's variables do not reach (because of another
 * environment, or a shell that keeps its own). When one that an attached program started later has
 * loaded a framework, the probes are loaded into it as into the program itself (--children). Of one
 * that belongs to a program that tftop started, it only tells the user.
 *
 * Always true: a process that already has probes, by a fork or through its variables, is skipped,
 * and so is one that shares its parent's memory (vfork). Only one process is attached to at a time,
 * on a thread of follow's own. A look reads a limited number of files, however many processes start
 * and end. Each reason for which a process cannot be attached to is reported once. Threads: main
 * only.
 */
#ifndef PROBES_SESSION_FOLLOW_H
#define PROBES_SESSION_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "probes/session/program/children.h"
#include "probes/session/program/environ.h"

struct follow;

/* Receives reports: a level and a sentence, as for session_say(). */
typedef void follow_function(void *arg, int level, const char *text);

/* probes is borrowed until follow_free(). NULL: memory is short. */
struct follow *follow_new(const struct environ_choice *probes, bool lossless, uid_t uid,
			  gid_t gid);

/* The same, but only tells of such processes. */
struct follow *follow_new_to_tell(const struct environ_choice *probes);

/* Sets the session's folder, before the first follow_child(). */
void follow_begin(struct follow *follow, const char *dir);

/* Looks after PROGRAM itself too, which may replace its environment when it calls exec. */
void follow_program(struct follow *follow, pid_t pid);

/* A process has appeared, called exec, or ended. */
void follow_child(struct follow *follow, const struct child_event *child);

/* Looks at some of the processes, lets the thread attach to one, reports on the last one. */
void follow_look(struct follow *follow, follow_function *tell, void *arg);

/* Stops attaching to processes; an attempt that is under way ends soon. */
void follow_stop(struct follow *follow);

/* Waits for the thread: 2 s at most, while the injector searches for a safe moment. */
void follow_free(struct follow *follow);

#endif
