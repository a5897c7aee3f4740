/* SPDX-License-Identifier: MIT */
/*
 * Gives up a thread instead of the whole program when a library aborts on that thread.
 *
 * Why: distributions build babeltrace with its assertions. A damaged trace (an index that points
 * beyond its file, a file that shrinks while it is mapped) then ends in abort() or SIGBUS, not in
 * an error; one that announces more than memory can hold ends in the use of a NULL. The thread
 * stops where it is and never runs again; what it had handed on stays valid. docs/architecture.md
 * tells why this is needed.
 *
 * Threads: guard_begin() and guard_end() on the guarded thread. On other threads the signals do
 * what they did before. A later abort() of another thread may wait for the C library's lock that
 * the first one holds. A thread that is given up inside malloc() keeps the lock of an arena:
 * whoever frees memory of that arena waits for ever, so nobody may wait for that thread without a
 * limit.
 */
#ifndef PROBES_SESSION_GUARD_H
#define PROBES_SESSION_GUARD_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Before any other handler of these signals, else guard_begin() does it. */
void guard_install(void);
/* From now on an abort of this thread sets *gave_up, which outlives the thread. */
void guard_begin(atomic_bool *gave_up);
void guard_end(void);
/* Where this thread continues after its next abort() (sigsetjmp, with the mask), once; NULL:
 * nowhere. For an assertion that fails while nothing of tftop's is half done: what the library has
 * allocated is abandoned, never freed. Other signals never lead there, as they may come from
 * within malloc(). */
void guard_back(sigjmp_buf *back);

/* For another handler of these signals that runs first: does not return on a guarded thread. */
void guard_caught(int number);
/* Has any thread been given up? exit() may then wait for what it holds. */
bool guard_lost_any(void);

/*
 * One thread at a time, guarded or not, uses what the library shares between threads. A thread that
 * is given up meanwhile releases the lock.
 */
void guard_lock(void);
void guard_unlock(void);

#endif
