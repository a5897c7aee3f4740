/* SPDX-License-Identifier: MIT */
/* The model's lock: first come, first served. model_lock(), model_unlock() and
 * model_yield() are in query.h. */
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
	bool heap;			/* whoever holds the lock takes memory from heap.h */
};

void fair_lock_init(struct fair_lock *lock);
void fair_lock_release(struct fair_lock *lock);
/*
 * For work on an event that takes long: when this slice of time is used up, whoever
 * waits for the lock gets it for a moment. What others may ask for must be whole.
 */
void model_breathe(struct model *model);
/* For a model that comes out of a file: nobody holds its locks. */
void model_revive(struct model *model);

#endif
