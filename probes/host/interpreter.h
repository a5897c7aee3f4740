/* SPDX-License-Identifier: MIT */
/*
 * What the interpreter of CPython does as a whole, read from beside like its frames (frames.h): who
 * holds its lock (GIL), and whether it collects garbage.
 *
 * Always true:
 *  - There is no table of versions. The lock is found from the futex that a thread waits for. That
 *    garbage is collected is read where Python says (from 3.13 on), and up to 3.12 beside a pointer
 *    of the collector's own that leads back to itself. What was found so is believed only if what
 *    lies around it has the form that it should have; else the answer is "unknown".
 *  - Nothing is followed but by `read` of struct host_python.
 *  - Needs libc only, so that its tests can read made-up memory.
 *
 * Sources: CPython's Include/internal/pycore_gil.h and pycore_gc.h (3.8: pycore_pymem.h; struct
 * _gil_runtime_state, struct _gc_runtime_state), which are alike from 3.8 on, the latter to 3.12.
 */
#ifndef PROBES_HOST_INTERPRETER_H
#define PROBES_HOST_INTERPRETER_H

#include "probes/host/frames.h"

struct host_interpreter {
	uintptr_t at;			/* of its structure; 0: nothing was looked for yet */
	uintptr_t generations;		/* the collector's; 0: none were found */
	uintptr_t gil;			/* 0: no thread was seen to wait for it */
};

/* Whether it collects garbage now, on whatever thread. interpreter: the main one. */
bool host_collects(struct host_python *py, struct host_interpreter *known, uintptr_t interpreter);

/* The state of the thread that holds the lock, for which another thread waits at this futex; 0:
 * nobody does, or it is unknown. py->first_state is up to date. */
uintptr_t host_gil_holder(struct host_python *py, struct host_interpreter *known, uintptr_t futex);

/* Whether that thread holds the lock: it does, or there is no other one that could. head: the first
 * one of the list of states. */
bool host_holds_gil(struct host_python *py, const struct host_interpreter *known, uintptr_t state,
		    uintptr_t head);

#endif
