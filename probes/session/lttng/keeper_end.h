/* SPDX-License-Identifier: MIT */
/*
 * How the keeper ends the session's processes and then removes its files. This takes 2 s at most.
 */
#ifndef PROBES_SESSION_KEEPER_END_H
#define PROBES_SESSION_KEEPER_END_H

#include <stdbool.h>
#include <sys/types.h>

#include "probes/session/lttng/daemons.h"

/* Ends every child of the caller, and every process that becomes one meanwhile. at_once: no data is
 * in transit any more, so sessiond is not asked to end, which would take half a second. */
void keeper_end_daemons(struct daemons *daemons, bool at_once);

/* Gives the recording, which was written under a throw-away uid, to its user. */
void keeper_end_recording(const char *trace, uid_t uid, gid_t gid);

/*
 * Resets LTTng's word in /dev/shm by which programs of this uid learn about a daemon: a killed
 * sessiond leaves it set, and later programs would look for a daemon only every 5 s. The file of a
 * throw-away uid is removed.
 */
void keeper_end_wait_word(uid_t uid);

/* Removes the private folder ("": none) and its second name (NULL: none). */
void keeper_end_folder(const char *dir, const char *known);

#endif
