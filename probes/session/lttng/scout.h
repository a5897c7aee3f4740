/* SPDX-License-Identifier: MIT */
/*
 * The scout: a process of the keeper that registers with LTTng as the first program, with the
 * probes' tracepoints, while the session is created. After that
 *
 * - the relay daemon has the session, its streams and all of its metadata, so that the reader
 *   attaches to something complete before PROGRAM starts: babeltrace always seeks to the last
 *   packet, and version 2.0.4 crashes when the metadata of a stream that it reads grows;
 * - buffers that do not fit into /dev/shm have failed, which can be reported; LTTng itself says
 *   nothing.
 *
 * There is no scout if PROGRAM changes its user: the other uid gets streams of its own, whose first
 * packets start in what babeltrace 2.0.4 takes for the past, because the scout's idle streams have
 * advanced its time.
 */
#ifndef PROBES_SESSION_SCOUT_H
#define PROBES_SESSION_SCOUT_H

#include <sys/types.h>

/*
 * Forks the scout, with PROGRAM's uid and gid, LTTng in `dir`, and the tracepoints of the runtime
 * in `library_dir`. *fd becomes readable when the scout has registered (one byte) or cannot load
 * the library (end of file); the scout ends when the caller closes *fd. Returns its PID, or -1 and
 * errno.
 */
pid_t scout_start(const char *dir, const char *library_dir, uid_t uid, gid_t gid, int *fd);

#endif
