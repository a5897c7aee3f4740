/* SPDX-License-Identifier: MIT */
/*
 * A thread that is held, and calls made on it. Internal to the injector.
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
#define AREA_MAX (XSTATE_MAX + 4096 + 2048)	/* what a call writes below the stack pointer */

struct tracee {
	const struct target *target;
	pid_t tid;
	bool taken;		/* seized */
	bool stopped;
	bool away;		/* its registers are ours */
	bool returned;		/* the last call has, so it can be given back */
	int pending;		/* the signal it was stopped to get, 0: none */
	struct user_regs_struct regs;	/* where it was stopped */
	uint8_t xstate[XSTATE_MAX];
	size_t xstate_size;
	uint64_t mask;		/* blocked signals */
	int marker;		/* the signal that says that a call has returned */
	int64_t since_ns;	/* when it was stopped */
};

enum hold {
	HOLD_DONE,
	HOLD_GONE,		/* the thread is no more, or is another program's */
	HOLD_LATE,		/* not within the time */
	HOLD_DENIED,		/* not allowed; errno */
};

/* Runs work on a thread of its own, signals blocked, to its end: a thread that traces lets go,
 * with its end, of whatever it holds. errno's number, 0: it ran. */
int tracee_thread(void *(*work)(void *), void *data);

enum hold tracee_take(struct tracee *e, const struct target *t, pid_t tid);

/* Stops it, at the latest until deadline, and reads where it is. A call that failed only because
 * of the stop will be made again, also when the thread is just let go. */
enum hold tracee_stop(struct tracee *e, int64_t deadline_ns);
void tracee_moment(const struct tracee *e, struct moment *m);
/* In a section that the kernel restarts when it is left (rseq(2)). */
bool tracee_restartable(const struct tracee *e);
void tracee_continue(struct tracee *e);
/* e->regs as they were changed; for a thread on which no call is made. */
bool tracee_change(struct tracee *e);
/* Bytes below the stack pointer that the calls of one stop may need. */
size_t tracee_room(void);

/*
 * Calls function(text, second) there (text NULL: function()); the first call saves
 * everything and lays the way back. Two at most. HOLD_DENIED: nothing was done.
 */
enum hold tracee_call(struct tracee *e, uint64_t function, const char *text, uint64_t second,
		      int64_t deadline_ns, uint64_t *result);

/* Gives everything back if a call was made, and lets go of it. A thread that is away still
 * (HOLD_LATE) comes back by itself. */
void tracee_release(struct tracee *e);

#endif
#endif
