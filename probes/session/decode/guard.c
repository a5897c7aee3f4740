/* SPDX-License-Identifier: MIT */
/* See guard.h. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "probes/session/decode/guard.h"

static _Thread_local atomic_bool *guarded;
static _Thread_local volatile sig_atomic_t holds;
static _Thread_local sigjmp_buf *volatile way_back;

/* A sanitizer reports bad accesses itself. */
#ifdef __SANITIZE_ADDRESS__
static const int caught_signals[] = { SIGABRT, SIGBUS };
#else
static const int caught_signals[] = { SIGABRT, SIGBUS, SIGSEGV, SIGFPE };
#endif
#define CAUGHT (sizeof(caught_signals) / sizeof(*caught_signals))

static struct sigaction before[CAUGHT];
static atomic_bool lost_any;
static sem_t alone;			/* not a mutex, because the handler may post it */

void guard_caught(int number)
{
	sigjmp_buf *back = way_back;

	if (!guarded)
		return;
	if (holds)
		sem_post(&alone);
	holds = false;
	way_back = NULL;
	if (back && number == SIGABRT)
		siglongjmp(*back, 1);
	atomic_store(&lost_any, true);
	atomic_store(guarded, true);
	for (;;)
		pause();
}

bool guard_lost_any(void)
{
	return atomic_load(&lost_any);
}

static void caught(int number)
{
	guard_caught(number);
	/* On another thread: behave as if there were no guard. */
	for (size_t i = 0; i < CAUGHT; i++)
		if (caught_signals[i] == number)
			sigaction(number, &before[i], NULL);
	raise(number);
}

static void install_once(void)
{
	struct sigaction action = { .sa_handler = caught };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < CAUGHT; i++)
		sigaction(caught_signals[i], &action, &before[i]);
}

void guard_install(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install_once);
}

void guard_begin(atomic_bool *gave_up)
{
	guard_install();
	guarded = gave_up;
}

void guard_back(sigjmp_buf *back)
{
	way_back = back;
}

void guard_end(void)
{
	guarded = NULL;
	way_back = NULL;
}

static void make_lock(void)
{
	sem_init(&alone, 0, 1);
}

void guard_lock(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_lock);
	while (sem_wait(&alone) && errno == EINTR)
		;
	holds = true;
}

void guard_unlock(void)
{
	holds = false;
	sem_post(&alone);
}
