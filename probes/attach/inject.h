/* SPDX-License-Identifier: MIT */
/*
 * The injector: loads one library into a program that runs, by one of its own
 * threads, which stands still for it for about a millisecond.
 *
 * Always true:
 * - One thread is stopped, never the whole program, and only at a safe moment: it
 *   waits in a system call that no lock is held around, or it computes outside
 *   of libc, the dynamic linker and allocators.
 * - Afterwards the thread has its registers (vectors too), its signal mask and
 *   its system call back; signals that came meanwhile are delivered then, as if
 *   they had come then.
 * - The way back lies on the thread's own stack from before the first foreign
 *   instruction on. So the thread finds it without us: tftop may die at any moment
 *   (then a relative sleep or poll that was interrupted begins anew, see call.c).
 * - Nothing is executed in the target but what its files hold and the library.
 *
 * x86-64 programs of glibc 2.28 and newer; everything else is refused by name.
 *
 * Threads: any. The work is done on a thread of its own, as ptrace belongs to a
 * thread; no other thread may wait for any child (waitpid(-1)) meanwhile.
 */
#ifndef PROBES_ATTACH_INJECT_H
#define PROBES_ATTACH_INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What the library must export: int tftop_injected(const char *argument). It is
 * called on the stopped thread, after the library's constructors, each time anew
 * (a library that is there already is not loaded twice). It copies what it needs of
 * the argument, which is gone when it returns, and comes back at once: 0, or a
 * positive errno.
 */
#define INJECT_ENTRY "tftop_injected"

#define INJECT_ARGUMENT_MAX 4096	/* bytes, with the NUL */
#define INJECT_PATH_MAX 4096

enum inject_outcome {
	INJECT_DONE,		/* loaded, the entry returned 0 */
	INJECT_REFUSED,		/* cannot be, found out without touching anything */
	INJECT_NO_MOMENT,	/* no safe moment within find_ms; nothing was changed */
	INJECT_FAILED,		/* dlopen or the entry said no; the program goes on as before */
	INJECT_GONE,		/* the target ended or replaced itself (exec) meanwhile */
	INJECT_LEFT,		/* the call was not over after call_ms: the thread was let go in
				 * it, finishes it by itself and then goes on where it was */
};

struct inject_request {
	pid_t pid;		/* as tftop's pid namespace has it */
	const char *library;	/* never NULL; absolute, as the *target* sees it */
	const char *argument;	/* NULL: "" */
	int find_ms;		/* how long to look for a safe moment; 0: 2000 */
	int call_ms;		/* how long the calls may take; 0: 2000 */
};

struct inject_result {
	enum inject_outcome outcome;
	char why[640];		/* a sentence for the user, "" when done */
	int64_t stopped_ns;	/* how long the thread was kept from its own work, at most */
	unsigned tries;		/* stops, of any thread */
	pid_t tid;		/* the thread that did it; 0: none */
};

/* Blocks for find_ms + call_ms at most. Whether the outcome is INJECT_DONE; *result is
 * set in any case. */
bool inject_load(const struct inject_request *request, struct inject_result *result);

#endif
