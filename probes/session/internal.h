/* SPDX-License-Identifier: MIT */
/*
 * Shared by session.c (the start and control), session_events.c (what happens) and session_end.c
 * (the end). Main thread only.
 */
#ifndef PROBES_SESSION_INTERNAL_H
#define PROBES_SESSION_INTERNAL_H

#include "probes/session/core/core.h"

/* Continues a keeper that was stopped, and reports that. */
void session_look_at_keeper(struct session *session);
/* Undoes what was done to tell programs about new daemons (wake.h). */
void session_stop_waking(struct session *session);

/* ---- session_left.c ---- */

/* PROGRAM has ended; program_ended() was called. Returns whether *event is reported now. */
bool session_tell_end(struct session *session, const struct session_event *event);
/* Looks at what PROGRAM left running, while SESSION_EXITED is held back. */
void session_look_at_left(struct session *session);
/* Reports SESSION_EXITED now, if it is held back. */
void session_release_end(struct session *session);

#endif
