/* SPDX-License-Identifier: MIT */
/*
 * The private folder of one tftop, BASE/tftop-XXXXXX: LTTng's sockets, the control page, the
 * daemons' logs, the ring of trace files.
 *
 * Always true: the owner of a folder holds a lock on it. A folder without a lock belongs to a
 * tftop that died, and the next start removes it. Nothing outside such a folder is ever removed,
 * and no symbolic link is followed.
 *
 * BASE is, for root, a folder that only root can write to (/run), because the folders to be
 * removed belong to throw-away uids. For others it is XDG_RUNTIME_DIR or /run/user/UID, where
 * only they can create anything; else /tmp/tftop.UID, which is created for this purpose and
 * stays; and where another user has taken that name, /tmp itself.
 */
#ifndef PROBES_PROCESS_DIR_H
#define PROBES_PROCESS_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DIR_PATH_MAX 128	/* sun_path holds 108 */

/*
 * Creates and locks a folder that `uid` owns, and writes its path. Returns the descriptor of the
 * lock (close-on-exec; keep it open), or -1 and a sentence.
 */
int dir_create(uid_t uid, char path[DIR_PATH_MAX], char *error, size_t size);

/* The folder in which dir_create() would create a private folder now; NULL: there is none. The text
 * is static or belongs to the environment. */
const char *dir_base(void);

/* Whether a path has the form of a private folder's, in whatever folder it lies. */
bool dir_is_name(const char *path);

/* Makes a link to the folder at an unused path, as a second name (false: error), and removes it
 * again. */
bool dir_link(const char *path, const char *dir, char *error, size_t size);
void dir_unlink(const char *path, const char *dir);

/* Tells the probes at once that the folder's tftop has died, which they would notice after 5 s
 * without a sign of life, and until then would register with the next daemon on its behalf. */
void dir_let_go(int folder);

/* Removes what tftops that died left; false: something could not be removed. */
bool dir_sweep(void);

/* Removes path and everything below it; true when it is gone. */
bool dir_remove(const char *path);

/* The number of entries exactly `depth` folders below path. */
size_t dir_count(const char *path, int depth);

/* Free bytes for an ordinary user on path's file system; 0: unknown. */
unsigned long long dir_free_bytes(const char *path);

#endif
