/* SPDX-License-Identifier: MIT */
/*
 * Function pointers of the program that a probe replaced (NVTX's and ITT's dispatch slots). At
 * level off the runtime restores them, so that nothing of ours is in the path, and replaces them
 * again afterwards. While ranges are watched they stay replaced, because ranges come through them.
 *
 * A slot lies in a module that may be unloaded at any time. So a slot is touched only while the
 * loader's lock is held, only if its module is still at its place, and only if it still holds one
 * of the two values. A slot outside of every module (on the heap) stays as the probe set it.
 */
#ifndef PROBES_RUNTIME_SLOTS_H
#define PROBES_RUNTIME_SLOTS_H

#include "probes/runtime/runtime.h"

struct rt_slot {
	void **at;	/* *borrowed while its module is loaded* */
	void *ours;
	void *off;	/* its value at level off; may be NULL */
};

/* Stores `ours` into each slot, or `off` at level off, and remembers the slots. Copies the array.
 * Slots for which the table has no room stay replaced. */
RT_API void rt_slots_add(const struct rt_slot *slots, int count);
/* The module itself has put another value there for good. */
RT_API void rt_slots_drop(void *const *at);

#endif
