/* SPDX-License-Identifier: MIT */
#include "tui/base/turns.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "model/base/util.h"
#include "model/query/query.h"

struct turns {
	void (*work)(struct turns *turns, void *arg);
	void *arg;			/* borrowed */
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t turn;
	bool its_turn;	/* the worker has the turn; protected by mutex, as are the next two */
	bool over;
	bool ends;			/* the worker is asked to end */
	int64_t until_ns;		/* the worker need not pause before this time */
	unsigned permille;
};

/* Hands the turn to the other side and waits until it comes back. The caller holds the mutex. */
static void hand_over(struct turns *turns, bool to_work)
{
	turns->its_turn = to_work;
	pthread_cond_broadcast(&turns->turn);
	while (turns->its_turn == to_work && !turns->over)
		pthread_cond_wait(&turns->turn, &turns->mutex);
}

static bool rest(void *arg)
{
	struct turns *turns = arg;

	return turns_rest(turns, turns->permille);
}

static void *turns_run(void *arg)
{
	struct turns *turns = arg;

	model_rest_with(rest, turns);
	pthread_mutex_lock(&turns->mutex);
	while (!turns->its_turn)
		pthread_cond_wait(&turns->turn, &turns->mutex);
	pthread_mutex_unlock(&turns->mutex);
	if (!turns->ends)
		turns->work(turns, turns->arg);
	pthread_mutex_lock(&turns->mutex);
	turns->over = true;
	pthread_cond_broadcast(&turns->turn);
	pthread_mutex_unlock(&turns->mutex);
	return NULL;
}

struct turns *turns_new(void (*work)(struct turns *turns, void *arg), void *arg)
{
	struct turns *turns = xcalloc(1, sizeof(*turns));
	sigset_t all, before;
	int code;

	turns->work = work;
	turns->arg = arg;
	pthread_mutex_init(&turns->mutex, NULL);
	pthread_cond_init(&turns->turn, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&turns->thread, NULL, turns_run, turns);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!code)
		return turns;
	pthread_cond_destroy(&turns->turn);
	pthread_mutex_destroy(&turns->mutex);
	free(turns);
	return NULL;
}

void turns_free(struct turns *turns)
{
	if (!turns)
		return;
	turns->ends = true;
	turns_go(turns, INT64_MAX);
	pthread_join(turns->thread, NULL);
	pthread_cond_destroy(&turns->turn);
	pthread_mutex_destroy(&turns->mutex);
	free(turns);
}

bool turns_go(struct turns *turns, int64_t for_ns)
{
	bool over;

	pthread_mutex_lock(&turns->mutex);
	turns->until_ns = for_ns == INT64_MAX ? for_ns : monotonic_ns() + for_ns;
	if (!turns->over)
		hand_over(turns, true);
	over = turns->over;
	pthread_mutex_unlock(&turns->mutex);
	return over;
}

unsigned turns_permille(const struct turns *turns)
{
	return turns->permille;
}

bool turns_rest(struct turns *turns, unsigned permille)
{
	turns->permille = permille;
	if (!turns->ends && monotonic_ns() >= turns->until_ns) {
		pthread_mutex_lock(&turns->mutex);
		hand_over(turns, false);
		pthread_mutex_unlock(&turns->mutex);
	}
	return !turns->ends;
}
