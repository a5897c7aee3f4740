/* SPDX-License-Identifier: MIT */
/*
 * Function pointers of the program that a probe took over (NVTX's and ITT's
 * dispatch slots): at level off the runtime puts back what was there, so that
 * nothing of ours is in the path, and takes them over again afterwards. Not so while
 * ranges are watched, as they come in by them.
 *
 * A slot lies in a module that may be unloaded at any time. So a slot is
 * touched only while the loader's lock is held, only when the module that had
 * it is still at its place, and only when it still holds one of the two values.
 * A slot outside of every module (heap) is left as the probe set it.
 */
#ifndef PROBES_RUNTIME_SLOTS_H
#define PROBES_RUNTIME_SLOTS_H

#include "probes/runtime/runtime.h"

struct rt_slot {
	void **at;	/* *borrowed while its module is loaded* */
	void *ours;
	void *off;	/* what is there at level off; may be NULL */
};

/* Stores `ours` into each slot, or `off` at level off, and remembers them.
 * Copies the array. Slots beyond the table's room stay taken over. */
RT_API void rt_slots_add(const struct rt_slot *slots, int count);
/* The module itself has put something else there for good. */
RT_API void rt_slots_drop(void *const *at);

#endif
