/* SPDX-License-Identifier: MIT */
/*
 * Which thread, and when. Internal to the injector.
 *
 * Threads: those of struct target.
 */
#ifndef PROBES_ATTACH_THREAD_H
#define PROBES_ATTACH_THREAD_H

#include "probes/attach/target.h"

struct thread_candidate {
	pid_t tid;
	int rank;		/* 0: waits in a call that is restarted as it was, …, RANK_RUNNING */
	uint64_t sp;		/* where it waits; 0: unknown */
	struct address_range stack;	/* the mapping its stack pointer was last seen in */
	bool main_stack;	/* the kernel's one, which grows */
};

#define RANK_RUNNING 3
#define CANDIDATES_MAX 32

/* What a stopped thread is at. */
struct moment {
	int64_t call;		/* the system call it is in; negative: none */
	uint64_t arguments[6], sp, pc, thread;	/* thread: glibc's (fs base), 0: unknown */
};

/* The best first. 0: none that lives. Reads /proc only. */
size_t candidates_find(const struct target *t, struct thread_candidate list[CANDIDATES_MAX]);

/* Looks up the mapping of sp; false when there is none. */
bool candidate_stack(const struct target *t, struct thread_candidate *c, uint64_t sp);

/*
 * Why nothing can be called at this moment; NULL: it can. room: bytes that are
 * to be had below the stack pointer.
 */
const char *moment_unsafe(const struct target *t, const struct thread_candidate *c,
			  const struct moment *m, uint64_t room);

/* A call that ends with EINTR when its thread is stopped and that nobody else
 * interrupted: as if nothing had been, it is to be made again. */
bool call_breaks(int64_t call);

#endif
