/* SPDX-License-Identifier: MIT */
/*
 * Which thread of the target does the work, and at which moment. Internal to the injector.
 *
 * Threads: those of struct target.
 */
#ifndef PROBES_ATTACH_THREAD_H
#define PROBES_ATTACH_THREAD_H

#include "probes/attach/target.h"

struct thread_candidate {
	pid_t tid;
	int rank;		/* the lower the better: 0 waits in a call that the
				 * kernel restarts unchanged; RANK_RUNNING computes */
	uint64_t sp;		/* its stack pointer; 0: unknown */
	struct address_range stack;	/* the mapping its stack pointer was last seen in */
	bool main_stack;	/* the stack of the main thread, which grows */
};

#define RANK_RUNNING 3
#define CANDIDATES_MAX 32

/* What a thread was doing when it was stopped. */
struct moment {
	int64_t call;		/* the system call that it is in; negative: none */
	uint64_t arguments[6], sp, pc, thread;	/* thread: glibc's (fs base), 0: unknown */
};

/* Returns how many were found, the best first; 0: no thread is alive. Reads /proc only. */
size_t candidates_find(const struct target *t, struct thread_candidate list[CANDIDATES_MAX]);

/* Looks up the mapping that contains sp; false: there is none. */
bool candidate_stack(const struct target *t, struct thread_candidate *c, uint64_t sp);

/*
 * Why nothing can be called at this moment; NULL: it is safe. room: how many bytes are needed
 * below the stack pointer.
 */
const char *moment_unsafe(const struct target *t, const struct thread_candidate *c,
			  const struct moment *m, uint64_t room);

/* Whether a system call returns EINTR when its thread is stopped, although no signal arrived. It
 * has to be repeated then. */
bool call_breaks(int64_t call);

#endif
