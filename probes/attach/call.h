/* SPDX-License-Identifier: MIT */
/*
 * A thread of the target that is stopped, and the function calls that it is made to do. Internal to
 * the injector.
 *
 * Threads: all functions on the thread that called tracee_take().
 */
#ifndef PROBES_ATTACH_CALL_H
#define PROBES_ATTACH_CALL_H

#include "probes/attach/thread.h"
#include "probes/process/wire.h"

#ifdef __x86_64__

#include <sys/user.h>

#define XSTATE_MAX (24 << 10)
/* how much a call may write below the stack pointer */
#define AREA_MAX (XSTATE_MAX + 4096 + 2048)

struct tracee {
	const struct target *target;
	pid_t tid;
	bool taken;		/* tftop traces it (PTRACE_SEIZE) */
	bool stopped;
	bool away;		/* it is running a call for tftop */
	bool returned;		/* the last call has returned: it can be restored */
	int pending;		/* a signal to deliver when it continues; 0: none */
	struct user_regs_struct regs;	/* where it was stopped */
	uint8_t xstate[XSTATE_MAX];
	size_t xstate_size;
	uint64_t mask;		/* blocked signals */
	int marker;		/* the signal that shows that a call has returned */
	int64_t since_ns;	/* when it was stopped */
};

enum hold {
	HOLD_DONE,
	HOLD_GONE,		/* the thread has ended, or runs another program now */
	HOLD_LATE,		/* the thread did not stop, or the call did not return, in time */
	HOLD_DENIED,		/* not permitted; errno */
};

/* Runs work on its own thread, with signals blocked, and waits for its end: when a tracing thread
 * ends, the kernel releases everything that it traces. Returns 0, or an errno. */
int tracee_thread(void *(*work)(void *), void *data);

enum hold tracee_take(struct tracee *e, const struct target *t, pid_t tid);

/* Stops the thread until the deadline, and reads where it is. A system call that failed only
 * because of the stop will be repeated, also when the thread is only released. */
enum hold tracee_stop(struct tracee *e, int64_t deadline_ns);
void tracee_moment(const struct tracee *e, struct moment *m);
/* Whether the thread is inside a restartable sequence (rseq(2)). */
bool tracee_restartable(const struct tracee *e);
void tracee_continue(struct tracee *e);
/* Writes the changed e->regs; for a thread on which no call is made. */
bool tracee_change(struct tracee *e);
/* How many bytes below the stack pointer the calls of one stop may need. */
size_t tracee_room(void);

/*
 * Calls function(text, second) on the thread (text NULL: function()), twice per stop at most. The
 * first call saves everything and prepares the way back. HOLD_DENIED: nothing was done.
 */
enum hold tracee_call(struct tracee *e, uint64_t function, const char *text, uint64_t second,
		      int64_t deadline_ns, uint64_t *result);

/* Restores everything if a call was made, and releases the thread. A thread that still runs a call
 * (HOLD_LATE) returns by itself. */
void tracee_release(struct tracee *e);

#endif
#endif
