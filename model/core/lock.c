/* SPDX-License-Identifier: MIT */
/* The lock, which is given out in the order of requests. */
#include "model/core/lock.h"

#include <string.h>

#include "model/base/heap.h"
#include "model/base/util.h"
#include "model/core/model.h"

#define LOCK_NS 500000			/* how long the feeding thread may hold the lock */

void fair_lock_init(struct fair_lock *lock)
{
	bool heap = lock->heap;

	memset(lock, 0, sizeof(*lock));
	pthread_mutex_init(&lock->mutex, NULL);
	pthread_cond_init(&lock->turn, NULL);
	lock->heap = heap;
}

void fair_lock_release(struct fair_lock *lock)
{
	pthread_cond_destroy(&lock->turn);
	pthread_mutex_destroy(&lock->mutex);
}

void model_revive(struct model *model)
{
	fair_lock_init(&model->lock);
	pthread_mutex_init(&model->feeding, NULL);
}

static void fair_lock(struct fair_lock *lock)
{
	uint64_t mine;

	pthread_mutex_lock(&lock->mutex);
	mine = lock->next++;
	while (lock->serving != mine)
		pthread_cond_wait(&lock->turn, &lock->mutex);
	pthread_mutex_unlock(&lock->mutex);
	if (lock->heap)
		heap_enter();
}

static void fair_unlock(struct fair_lock *lock)
{
	heap_leave(false);
	pthread_mutex_lock(&lock->mutex);
	lock->serving++;
	if (lock->serving != lock->next)
		pthread_cond_broadcast(&lock->turn);
	pthread_mutex_unlock(&lock->mutex);
}

void model_lock(struct model *model)
{
	fair_lock(&model->lock);
}

void model_unlock(struct model *model)
{
	fair_unlock(&model->lock);
}

static _Thread_local struct {
	bool (*rest)(void *arg);	/* NULL: none */
	void *arg;
} resting;

void model_rest_with(bool (*rest)(void *arg), void *arg)
{
	resting.rest = rest;
	resting.arg = arg;
}

bool model_rest(void)
{
	return !resting.rest || resting.rest(resting.arg);
}

bool model_yield(struct model *model)
{
	struct fair_lock *lock = &model->lock;
	bool waits, wanted;

	if (resting.rest) {
		fair_unlock(lock);
		wanted = model_rest();
		fair_lock(lock);
		return wanted;
	}
	pthread_mutex_lock(&lock->mutex);
	waits = lock->next - lock->serving > 1;
	pthread_mutex_unlock(&lock->mutex);
	if (!waits)
		return true;
	fair_unlock(lock);
	fair_lock(lock);
	return true;
}

void model_breathe(struct model *model)
{
	int64_t now = monotonic_ns();

	if (now < model->slice_ns || now - model->slice_ns <= LOCK_NS)
		return;
	/* The lock is fair: the next thread that waits gets it. */
	model_yield(model);
	model->slice_ns = monotonic_ns();
}

uint64_t model_generation(const struct model *model)
{
	return atomic_load_explicit(&model->generation, memory_order_relaxed);
}
