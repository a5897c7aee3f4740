/* SPDX-License-Identifier: MIT */
/*
 * How often the sampler looks, so that it costs no more than its budget; and whether it was stopped
 * in between.
 *
 * The sampler is stopped together with the rest of the process, by a signal or by a debugger, in
 * its sleep or in the middle of a look, and afterwards is late by that time. It is also late when
 * it has no processor, which the kernel counts, and when a page comes from a disk, which it counts
 * as well.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/host/host.h"
#include "probes/runtime/internal.h"

#define BUDGET_PPM 2800		/* of a processor; to begin and to end are not in it */
#define PERIOD_NS 1000000
#define PERIOD_MAX_NS 200000000	/* however much a look costs */
#define PERIOD_EARLY_NS 100000000	/* likewise, to begin with: for programs that are short */
#define EARLY_NS 10000000000
#define SECOND_NS 1000000000
#define COST_LOOKS 32		/* the mean cost of a look is that of about so many */
#define COST_FIRST_NS 30000	/* to begin with: 100 looks a second, for programs that are short */
#define REPAY_LOOKS 32		/* what the first second took too much, as many later looks save */
#define ONCE_LOOKS 512		/* likewise, of what is done once for each function */
#define STOPPED_NS 100000000	/* the process is taken for stopped when it was for this long */

/* Everything here belongs to the sampler's thread. */

/* what a look costs; the sampler may begin anew */
static int64_t mean_ns = COST_FIRST_NS;
static int64_t owed_ns;			/* how much more than the budget it has taken so far */
static int64_t once_ns;			/* done once for all, and in no look's cost so far */

static struct {
	int64_t begin_ns;		/* when the sampler began */
	int64_t at_ns, cpu_ns;		/* the times of its last look */
	int64_t alive_ns;		/* until then it was not stopped, or wanted to sleep */
	long disk;			/* how often it had waited for a disk until then */
	/* how long the thread had had no processor when it was asked last; -1: unknown. What is
	 * added until now may all belong to the time since alive_ns. */
	int64_t delay_ns;
} pace;

static uint32_t pace_seed = 2463534242;

static long disk_waits(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_majflt + usage.ru_inblock;
}

void host_pace_begin(void)
{
	pace.begin_ns = pace.at_ns = pace.alive_ns = rt_now_ns();
	pace.cpu_ns = rt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	pace.delay_ns = -1;
	pace.disk = disk_waits();
}

void host_pace_second(void)
{
	pace.delay_ns = host_delay_ns((uint32_t)syscall(SYS_gettid));
}

static int64_t pace_period_max(int64_t now_ns)
{
	return now_ns - pace.begin_ns < EARLY_NS ? PERIOD_EARLY_NS : PERIOD_MAX_NS;
}

bool host_pace_keeps(void)
{
	return mean_ns * 1000000 / BUDGET_PPM < pace_period_max(pace.at_ns);
}

int64_t host_pace_period(void)
{
	int64_t cpu_ns = rt_clock_ns(CLOCK_THREAD_CPUTIME_ID), cost_ns = cpu_ns - pace.cpu_ns;
	int64_t now_ns = rt_now_ns(), max_ns = pace_period_max(now_ns), ns;

	rt_own_time(cost_ns);
	ns = host_native_once_ns();
	once_ns += ns;
	cost_ns += once_ns / ONCE_LOOKS - ns;
	once_ns -= once_ns / ONCE_LOOKS;
	owed_ns += cost_ns - (now_ns - pace.at_ns) / 1000 * BUDGET_PPM / 1000;
	owed_ns = owed_ns > 0 ? owed_ns : 0;
	pace.cpu_ns = cpu_ns;
	pace.at_ns = now_ns;
	mean_ns += (cost_ns - mean_ns) / COST_LOOKS;
	ns = mean_ns + (now_ns - pace.begin_ns > SECOND_NS ? owed_ns / REPAY_LOOKS : 0);
	ns = ns * 1000000 / BUDGET_PPM * host_window_spread();
	return host_pace_vary(ns < PERIOD_NS ? PERIOD_NS : ns > max_ns ? max_ns : ns, &pace_seed);
}

void host_pace_sleep(int64_t until_ns)
{
	pace.alive_ns = until_ns;
	pace.disk = disk_waits();
}

int64_t host_pace_stopped(void)
{
	int64_t now_ns = rt_now_ns(), late_ns = now_ns - pace.alive_ns;
	int64_t before_ns = pace.delay_ns;
	long disk = pace.disk;

	pace.alive_ns = now_ns;
	pace.disk = disk_waits();
	if (late_ns < STOPPED_NS)
		return 0;
	host_pace_second();
	late_ns -= pace.delay_ns - before_ns;
	if (before_ns < 0 || pace.delay_ns < before_ns || pace.disk != disk || late_ns < STOPPED_NS)
		return 0;
	return now_ns - late_ns;
}
