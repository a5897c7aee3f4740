/* SPDX-License-Identifier: MIT */
/*
 * The injector: loads one library into a running program. One of the program's own threads does
 * it, and is stopped for about a millisecond.
 *
 * Always true:
 * - One thread is stopped, never the whole program, and only at a safe moment: it waits in a
 *   system call around which no lock is held, or it computes outside libc, the dynamic linker and
 *   allocators.
 * - Afterwards the thread has its registers (vector registers too), its signal mask and its
 *   system call back. Signals that arrived meanwhile are delivered then.
 * - The way back lies on the thread's own stack before the first foreign instruction runs. So the
 *   thread finds it without tftop, which may die at any moment (a relative sleep or poll that was
 *   interrupted then starts again, see call.c).
 * - The target executes nothing but code of its own files and of the library.
 *
 * It works for x86-64 programs with glibc 2.28 or newer; everything else is refused with the
 * reason.
 *
 * Threads: any. The work is done on a thread of its own, because ptrace belongs to a thread; no
 * other thread may wait for any child (waitpid(-1)) meanwhile.
 */
#ifndef PROBES_ATTACH_INJECT_H
#define PROBES_ATTACH_INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The function that the library must export: int tftop_injected(const char *argument). It is
 * called on the stopped thread after the library's constructors, at every injection (a library
 * that is already loaded is not loaded twice). It copies what it needs of the argument, which is
 * gone when it returns, and returns at once: 0, or a positive errno; EBUSY while it is at work for
 * an earlier injection.
 */
#define INJECT_ENTRY "tftop_injected"

#define INJECT_ARGUMENT_MAX 4096	/* bytes, with the NUL */
#define INJECT_PATH_MAX 4096

enum inject_outcome {
	INJECT_DONE,		/* loaded, and the entry returned 0 */
	INJECT_REFUSED,		/* not possible; nothing was touched */
	INJECT_NO_MOMENT,	/* no safe moment within find_ms; nothing was changed */
	INJECT_FAILED,		/* dlopen or the entry failed; the program continues as before */
	INJECT_BUSY,		/* the entry returned EBUSY; the program continues as before */
	INJECT_GONE,		/* the target ended or called exec meanwhile */
	INJECT_LEFT,		/* the call took longer than call_ms: tftop detached, the thread
				 * finishes the call and then continues its own work */
};

struct inject_request {
	pid_t pid;		/* in tftop's PID namespace */
	const char *library;	/* not NULL; absolute, as the target sees it */
	const char *argument;	/* NULL: "" */
	int find_ms;		/* how long to search for a safe moment */
	int call_ms;		/* how long the calls may take; 0 of both: 2000, and up to 6000
				 * where many tasks want the processors */
};

struct inject_result {
	enum inject_outcome outcome;
	char why[640];		/* a sentence for the user; "" when done */
	int64_t stopped_ns;	/* how long a thread was stopped, at most */
	unsigned tries;		/* how often a thread was stopped */
	pid_t tid;		/* the thread that loaded the library; 0: none */
};

/* Returns whether the outcome is INJECT_DONE; *result is set in any case. Blocks for find_ms +
 * call_ms at most. */
bool inject_load(const struct inject_request *request, struct inject_result *result);

#endif
