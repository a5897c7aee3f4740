/* SPDX-License-Identifier: MIT */
/*
 * Abandons a thread instead of the whole program when a library aborts on that thread.
 *
 * Why: distributions build babeltrace with its assertions. A damaged trace (an index that points
 * beyond its file, a file that shrinks while it is mapped) then ends in abort() or SIGBUS, not in
 * an error; a trace that announces more than memory can hold ends in the use of a NULL. The thread
 * stops where it is and never runs again; what it had handed on stays valid. docs/architecture.md
 * explains why this is needed.
 *
 * Threads: guard_begin() and guard_end() are called on the guarded thread. On other threads the
 * signals have their previous effect. A later abort() on another thread may wait for the C
 * library's lock that the first one holds. A thread that is abandoned inside malloc() keeps the
 * lock of an arena: whoever frees memory of that arena waits for ever, so no thread may wait for
 * such a thread without a time limit.
 */
#ifndef PROBES_SESSION_GUARD_H
#define PROBES_SESSION_GUARD_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>

/* To be called before any other handler of these signals is installed; otherwise guard_begin() does
 * it. */
void guard_install(void);
/* From now on an abort on this thread sets *gave_up, which must outlive the thread. */
void guard_begin(atomic_bool *gave_up);
void guard_end(void);
/* Where this thread continues after its next abort() (sigsetjmp, with the mask), once; NULL:
 * nowhere. For an assertion that fails while no work of tftop is half done: what the library has
 * allocated is abandoned, never freed. Other signals never lead there, because they may come from
 * within malloc(). */
void guard_back(sigjmp_buf *back);

/* For another handler of these signals that runs first: does not return on a guarded thread. */
void guard_caught(int number);
/* Whether any thread has been abandoned. exit() may then wait for a lock that it holds. */
bool guard_lost_any(void);

/*
 * What the library shares between threads may be used by one thread at a time, guarded or not. A
 * thread that is abandoned meanwhile releases the lock.
 */
void guard_lock(void);
void guard_unlock(void);

#endif
