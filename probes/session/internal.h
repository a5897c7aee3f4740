/* SPDX-License-Identifier: MIT */
/*
 * Shared by session.c (the beginning and steering), session_events.c (what happens) and
 * session_end.c (the end). Main thread only.
 */
#ifndef PROBES_SESSION_INTERNAL_H
#define PROBES_SESSION_INTERNAL_H

#include "probes/session/core/core.h"

/* Continues a keeper that somebody has stopped, and reports that. */
void session_look_at_keeper(struct session *session);
/* Takes back what was done to tell programs of fresh daemons (wake.h). */
void session_stop_waking(struct session *session);

#endif
