/* SPDX-License-Identifier: MIT */
/*
 * How the keeper clears away: processes first, then files. Bounded: 2 s.
 */
#ifndef PROBES_SESSION_KEEPER_END_H
#define PROBES_SESSION_KEEPER_END_H

#include <stdbool.h>
#include <sys/types.h>

#include "probes/session/lttng/daemons.h"

/* Ends every child of the caller and what becomes its child meanwhile. At once: nothing is
 * under way any more; asking sessiond takes it half a second. */
void keeper_end_daemons(struct daemons *daemons, bool at_once);

/* Gives the recording, written under a throw-away uid, to its user. */
void keeper_end_recording(const char *trace, uid_t uid, gid_t gid);

/*
 * LTTng's word in /dev/shm by which programs of this uid hear of a daemon: a killed
 * sessiond leaves it set, and later programs would look for one only each 5 s. A
 * throw-away uid's file goes.
 */
void keeper_end_wait_word(uid_t uid);

/* The private folder, "": none, and the second name that it has, NULL: none. */
void keeper_end_folder(const char *dir, const char *known);

#endif
