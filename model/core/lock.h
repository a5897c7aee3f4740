/* SPDX-License-Identifier: MIT */
/* The model's lock, first come, first served. model_lock(), model_unlock() and model_yield() are
 * in query.h. */
#ifndef MODEL_CORE_LOCK_H
#define MODEL_CORE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct model;

struct fair_lock {
	pthread_mutex_t mutex;
	pthread_cond_t turn;
	uint64_t next, serving;
	/* whoever holds the lock allocates from the model's own heap (base/heap.h) */
	bool heap;
};

void fair_lock_init(struct fair_lock *lock);
void fair_lock_release(struct fair_lock *lock);
/*
 * For long work on an event: when the current slice of time is used up, whoever waits for the
 * lock gets it for a moment. Everything that others may ask for must be consistent at that point.
 */
void model_breathe(struct model *model);
/* For a model that was loaded from a file: resets its locks, which nobody holds. */
void model_revive(struct model *model);

#endif
