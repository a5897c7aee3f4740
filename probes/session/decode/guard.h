/* SPDX-License-Identifier: MIT */
/*
 * Gives a thread up instead of the whole program when a library aborts on it.
 *
 * Why: distributions build babeltrace with its assertions, and a damaged trace
 * (an index that points behind its file, a file that shrinks while it is
 * mapped) then ends in abort() or SIGBUS, not in an error; one that announces what no memory
 * has room for, in a NULL that is used. The thread stops
 * where it is and never runs again; what it had handed on stays good.
 *
 * Threads: guard_begin() and guard_end() on the guarded thread. Elsewhere the
 * signals do what they did before. A later abort() of another thread may wait
 * for the C library's lock that the first one holds: abort() is for bugs only.
 * A thread that is lost within malloc() keeps an arena's lock: who frees what
 * came from there waits for ever, so nobody may wait for that thread unbounded.
 */
#ifndef PROBES_SESSION_GUARD_H
#define PROBES_SESSION_GUARD_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Before any other handler of these signals, else guard_begin() does it. */
void guard_install(void);
/* From now on this thread's abort sets *gave_up, which outlives the thread. */
void guard_begin(atomic_bool *gave_up);
void guard_end(void);
/* Where this thread's next abort() leads instead (sigsetjmp, with the mask), once; NULL: nowhere.
 * Of an assertion that failed, where nothing of ours is half done: what the library has made
 * is forgotten, never freed. Other signals may come from within malloc(). */
void guard_back(sigjmp_buf *back);

/* For a handler of these signals that stands before ours: does not return on a
 * guarded thread. */
void guard_caught(int number);
/* Has any thread been given up? exit() may then wait for what it holds. */
bool guard_lost_any(void);

/*
 * One thread at a time, guarded or not, in what the library shares between its
 * threads. A thread that is given up in there lets the next one in.
 */
void guard_lock(void);
void guard_unlock(void);

#endif
