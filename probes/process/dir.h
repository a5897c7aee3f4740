/* SPDX-License-Identifier: MIT */
/*
 * The private folder of one tftop: LTTng's sockets, the control page, the
 * daemons' logs, the ring of trace files. Named BASE/tftop-XXXXXX.
 *
 * Always true: who owns a folder holds a lock on it; a folder without a lock
 * is a dead tftop's and is swept by the next start. Nothing outside such a
 * folder is ever removed, and no symbolic link is followed.
 *
 * BASE: for root a folder that only root can write (/run), because the swept
 * folders belong to throw-away uids; for others XDG_RUNTIME_DIR or
 * /run/user/UID, where only they can make anything, else /tmp/tftop.UID, which is made for that
 * and stays, and where another has taken that name /tmp itself.
 */
#ifndef PROBES_SESSION_DIR_H
#define PROBES_SESSION_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DIR_PATH_MAX 128	/* sun_path holds 108 */

/*
 * Creates and locks a folder that `uid` owns. Writes its path; returns the
 * lock's descriptor (close-on-exec, keep it open), or -1 and a sentence.
 */
int dir_create(uid_t uid, char path[DIR_PATH_MAX], char *error, size_t size);

/* The folder below which dir_create() makes one, by now; NULL: none. Static or of the
 * environment. */
const char *dir_base(void);

/* Whether this is the name of a private folder, wherever it is. */
bool dir_is_name(const char *path);

/* A second name of the folder, at a path that is free; false: error. And its end. */
bool dir_link(const char *path, const char *dir, char *error, size_t size);
void dir_unlink(const char *path, const char *dir);

/* Tells the probes that its tftop is dead, at once and not 5 s after its last sign of life: else
 * they introduce themselves to LTTng's next daemon in its name. folder: descriptor of a private folder. */
void dir_let_go(int folder);

/* Removes what dead tftops left; false: something resists, or was made anew meanwhile. */
bool dir_sweep(void);

/* Removes path and all below it; true when it is gone. */
bool dir_remove(const char *path);

/* How many entries there are exactly `depth` folders below path. */
size_t dir_count(const char *path, int depth);

/* Room for an ordinary user on path's file system, in bytes; 0 unknown. */
unsigned long long dir_free_bytes(const char *path);

#endif
