/* SPDX-License-Identifier: MIT */
/* One thread's abort() is not the program's. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "probes/session/guard.h"

static _Thread_local atomic_bool *guarded;
static struct sigaction before_abort, before_bus;

static void caught(int number)
{
	if (guarded) {
		atomic_store(guarded, true);
		for (;;)
			pause();
	}
	/* Another thread: as if we were not here. */
	sigaction(number, number == SIGABRT ? &before_abort : &before_bus, NULL);
	raise(number);
}

static void install(void)
{
	struct sigaction action = { .sa_handler = caught };

	sigemptyset(&action.sa_mask);
	sigaction(SIGABRT, &action, &before_abort);
	sigaction(SIGBUS, &action, &before_bus);
}

void guard_begin(atomic_bool *gave_up)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
	guarded = gave_up;
}

void guard_end(void)
{
	guarded = NULL;
}
