/* SPDX-License-Identifier: MIT */
/*
 * The scout: a process of the keeper's that registers with LTTng as the first
 * program, with the probes' tracepoints, while the session is created. After it
 *
 *  - the relay daemon has the session, its streams and all of its metadata, so
 *    that the reader attaches to something whole before PROGRAM starts:
 *    babeltrace always seeks to the last packet, and its 2.0.4 crashes when
 *    metadata grows under a stream that it reads;
 *  - buffers that /dev/shm cannot hold have failed, and can be told: LTTng
 *    itself says nothing.
 *
 * Not where PROGRAM changes its user: the other uid gets streams of its own,
 * whose first packets begin in what babeltrace 2.0.4 takes for the past, since
 * the scout's idle streams have told it that time went on.
 */
#ifndef PROBES_SESSION_SCOUT_H
#define PROBES_SESSION_SCOUT_H

#include <sys/types.h>

/*
 * Forks it: PROGRAM's uid and gid, LTTng in `dir`, the
 * tracepoints of the runtime in `library_dir`. *fd becomes readable when it has registered (one
 * byte) or cannot load the library (end of file); the scout ends when the
 * caller closes it. Its pid, or -1 and errno.
 */
pid_t scout_start(const char *dir, const char *library_dir, uid_t uid, gid_t gid, int *fd);

#endif
