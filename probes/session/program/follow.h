/* SPDX-License-Identifier: MIT */
/*
 * What an attached program starts later and its variables do not reach (another environment,
 * a shell that keeps its own): once a framework is loaded there, the probes are brought into it
 * as into the program itself.
 *
 * Always true: a process that has probes, by a fork or by its variables, is left alone, and so
 * is one that shares its parent's memory (vfork). One is entered at a time, on a thread of
 * follow's own; a look reads a bounded number of files, however many processes come and go.
 * What cannot be entered is told once for each cause. Threads: main only.
 */
#ifndef PROBES_SESSION_FOLLOW_H
#define PROBES_SESSION_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "probes/session/program/children.h"
#include "probes/session/program/environ.h"

struct follow;

/* What is told: level and a sentence, as session_say(). */
typedef void follow_function(void *arg, int level, const char *text);

/* probes is borrowed as long as follow lives. NULL when memory is short. */
struct follow *follow_new(const struct environ_choice *probes, bool lossless, uid_t uid,
			  gid_t gid);

/* The session's folder, before any process is told of. */
void follow_begin(struct follow *follow, const char *dir);

/* It appeared, began to run something else, or has gone. */
void follow_child(struct follow *follow, const struct child_event *child);

/* Looks at some of them, has one entered, tells what became of the last one. */
void follow_look(struct follow *follow, follow_function *tell, void *arg);

/* No further process is entered; what is at work ends soon. */
void follow_stop(struct follow *follow);

/* Waits for its thread: 2 s at most, where the injector looks for a safe moment. */
void follow_free(struct follow *follow);

#endif
