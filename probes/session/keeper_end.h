/* SPDX-License-Identifier: MIT */
/*
 * How the keeper clears away: processes first, then files. Bounded: 2 s.
 */
#ifndef PROBES_SESSION_KEEPER_END_H
#define PROBES_SESSION_KEEPER_END_H

#include <sys/types.h>

#include "probes/session/daemons.h"

/* Ends every child of the caller and what becomes its child meanwhile. */
void keeper_end_daemons(struct daemons *daemons);

/* Gives the recording, written under a throw-away uid, to its user. */
void keeper_end_recording(const char *trace, uid_t uid, gid_t gid);

/* LTTng's 4 KiB wait file of a throw-away uid in /dev/shm. */
void keeper_end_wait_file(uid_t uid);

#endif
