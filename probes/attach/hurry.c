/* SPDX-License-Identifier: MIT */
#include "probes/attach/hurry.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "model/base/util.h"
#include "probes/process/process.h"

#define LOCK_PI2 13			/* FUTEX_LOCK_PI2, since Linux 5.14: CLOCK_MONOTONIC */
#define LOOK_NS 5000000			/* how often to check whether it is over */

static void *wait_for_it(void *data)
{
	struct hurry *hurry = data;
	long code;

	do {
		int64_t until = monotonic_ns() + LOOK_NS;
		struct timespec at = { until / 1000000000, until % 1000000000 };

		code = syscall(SYS_futex, &hurry->futex, LOCK_PI2, 0, &at, NULL, 0);
	} while (code != 0 && (errno == ETIMEDOUT || errno == EINTR || errno == EAGAIN) &&
		 !atomic_load(&hurry->over));
	return NULL;
}

/*
 * Whether the waiting thread can run beside the program's thread. If tftop is killed, the loan ends
 * when the waiting thread runs once more to exit. Both have the same priority, so on a single
 * processor a program that never sleeps would keep it out, and the loan with it, forever.
 */
static bool two_processors(void)
{
	cpu_set_t allowed;

	return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

/* The waiting thread has the lowest of these priorities; the tracing thread has one more. */
static bool may_go_first(pthread_attr_t *attributes)
{
	struct sched_param own = { .sched_priority = sched_get_priority_min(SCHED_FIFO) + 1 };
	struct sched_param lent = { .sched_priority = own.sched_priority - 1 };

	return sched_setscheduler(0, SCHED_FIFO, &own) == 0 && pthread_attr_init(attributes) == 0 &&
	       pthread_attr_setschedpolicy(attributes, SCHED_FIFO) == 0 &&
	       pthread_attr_setschedparam(attributes, &lent) == 0 &&
	       pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED) == 0;
}

void hurry_begin(struct hurry *hurry, pid_t tid)
{
	sigset_t all, before;
	pthread_attr_t attributes;

	*hurry = (struct hurry){ .futex = (uint32_t)tid };
	prctl(PR_SET_TIMERSLACK, 1);
	process_hurry();		/* if real-time priorities are not available */
	if (!two_processors() || !may_go_first(&attributes))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	hurry->runs = pthread_create(&hurry->thread, &attributes, wait_for_it, hurry) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

void hurry_end(struct hurry *hurry)
{
	static const struct sched_param none = { .sched_priority = 0 };

	if (!hurry->runs)
		return;
	atomic_store(&hurry->over, true);
	pthread_setschedparam(hurry->thread, SCHED_OTHER, &none);
	pthread_join(hurry->thread, NULL);
	hurry->runs = false;
}
