/* SPDX-License-Identifier: MIT */
/* The first probe of a process, what is sent about the process, and forks. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <lttng/ust-fork.h>

#include "probes/runtime/internal.h"

#define ARM_WAIT_NS 1000000000
#define REACH_WAIT_NS 6000000000	/* LTTng may look for its daemon only every 5 s */
#define FORK_LIBRARY "liblttng-ust-fork.so"

_Atomic uint32_t rt_child_pending;

static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;
static bool life_held;			/* held during a fork */
_Atomic uint32_t rt_started;
static const struct rt_probe *probes[RT_PROBES_MAX];
static _Atomic int probe_count;
static bool ust_fork;			/* liblttng-ust-fork handles LTTng's part */
static __thread sigset_t fork_signals;

const struct rt_probe *const *rt_probes(int *n)
{
	*n = GET_ACQ(probe_count);
	return probes;
}

void rt_dump_all(bool probes_too)
{
	int n;
	const struct rt_probe *const *probe = rt_probes(&n);

	for (int i = 0; i < n; i++) {
		struct tft_probe r = {
			.name = probe[i]->name ? probe[i]->name : "",
			.version = probe[i]->version ? probe[i]->version : "",
			.blind = probe[i]->blind ? probe[i]->blind : "",
		};

		rt_emit_probe(&r);
	}
	rt_threads_dump();
	rt_names_dump();
	rt_cpu_dump();
	rt_host_dump();
	for (int i = 0; i < n; i++)
		if (probes_too && probe[i]->dump)
			probe[i]->dump();
}

/* ---- fork ---- */

static void fork_locks(enum rt_fork stage)
{
	rt_modules_fork(stage);
	rt_fork_lock(&life_lock, &life_held, stage);
	rt_async_fork(stage);
	rt_slots_fork(stage);
	rt_names_fork(stage);
	rt_threads_fork(stage);
}

static void before_fork(void)
{
	fork_locks(RT_FORK_BEFORE);
	if (!ust_fork)
		lttng_ust_before_fork(&fork_signals);
}

static void parent_after_fork(void)
{
	if (!ust_fork)
		lttng_ust_after_fork_parent(&fork_signals);
	fork_locks(RT_FORK_PARENT);
}

static void child_after_fork(void)
{
	int n;
	const struct rt_probe *const *probe = rt_probes(&n);

	if (!ust_fork)
		lttng_ust_after_fork_child(&fork_signals);
	/* while the only thread of the child still has its state */
	rt_trigger_fork_child();
	fork_locks(RT_FORK_CHILD);
	rt_loop_fork_child();
	rt_host_fork_child();
	rt_calls_fork_child();
	rt_cpu_fork_child();
	rt_blocks_fork_child();
	rt_control_fork_child();
	SET(rt_totals.dropped, 0);
	SET(rt_totals.vendor_dropped, 0);
	SET(rt_totals.own_ns, 0);
	SET(rt_totals.instances, 0);
	SET(rt_totals.correlations, 0);
	SET(rt_totals.devices, 0);
	SET(rt_totals.queues, 0);
	rt_exit_fork_child();
	SET(rt_child_pending, GET(rt_started));
	for (int i = 0; i < n; i++)
		if (probe[i]->fork_child)
			probe[i]->fork_child();
	/* no probe calls the runtime at level off, so only its own thread would notice a change */
	if (GET(rt_armed) && rt_level() == TFT_LEVEL_OFF)
		rt_loop_start();
}

/* On the child's first event: it introduces itself and gets a runtime thread of its own. */
void rt_child_start(void)
{
	int cancel;

	if (!rt_lock(&life_lock))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (GET(rt_child_pending)) {
		SET(rt_child_pending, 0);
		rt_control_introduce();
		rt_dump_all(false);
		rt_loop_start();
	}
	pthread_setcancelstate(cancel, NULL);
	rt_unlock(&life_lock);
}

/* ---- start ---- */

static bool wait_for(bool (*there)(void), int64_t wait_ns)
{
	int64_t until = rt_now_ns() + wait_ns;
	struct timespec ms = { 0, 1000000 };

	while (!there() && rt_now_ns() < until)
		nanosleep(&ms, NULL);
	return there();
}

/* late: whoever attaches waits for LTTng itself, without our lock. */
static void rt_start(bool late)
{
	void *h = dlopen(FORK_LIBRARY ".1", RTLD_LAZY | RTLD_NOLOAD);

	if (!h)
		h = dlopen(FORK_LIBRARY ".0", RTLD_LAZY | RTLD_NOLOAD);
	ust_fork = h != NULL;
	rt_barrier_init();
	SET(rt_started, 1);
	SET(rt_armed, 1);	/* for our own events below */
	if (rt_control_there() && !late && !wait_for(rt_control_introduced, ARM_WAIT_NS))
		rt_control_unheard();
	rt_control_start();
	rt_loop_level(rt_level());
	pthread_atfork(before_fork, parent_after_fork, child_after_fork);
	rt_exit_start();
}

static bool rt_add_probe(const struct rt_probe *probe)
{
	int n = GET(probe_count);

	for (int i = 0; i < n; i++)
		if (probes[i] == probe)
			return false;
	if (n == RT_PROBES_MAX) {
		rt_dropped(1);
		return false;
	}
	probes[n] = probe;
	SET_REL(probe_count, n + 1);
	return true;
}

static bool rt_register(const struct rt_probe *probe, bool late)
{
	int saved = errno, cancel;
	bool ok = false;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (GET(rt_child_pending))
		rt_self();	/* introduces the child, outside our lock */
	if (!rt_lock(&life_lock))
		goto out;
	/* When tftop has gone before the program loads its framework, the probes stay at level off
	 * until another tftop joins the program. */
	if (GET(rt_started) || rt_control_there() || rt_home_joinable()) {
		if (!GET(rt_started))
			rt_start(late);
		if (rt_add_probe(probe)) {
			struct tft_probe r = {
				.name = probe->name ? probe->name : "",
				.version = probe->version ? probe->version : "",
				.blind = probe->blind ? probe->blind : "",
			};

			rt_emit_probe(&r);
		}
		rt_loop_start();
		ok = true;
	}
	rt_unlock(&life_lock);
out:
	pthread_setcancelstate(cancel, NULL);
	errno = saved;
	return ok;
}

bool rt_probe_register(const struct rt_probe *probe)
{
	return rt_register(probe, false);
}

/* ---- attaching ---- */

static char why[512];
static _Atomic bool came_late;		/* the probes were attached, not loaded at the start */

void rt_attach_why(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
}

const char *tftop_attach_why(void)
{
	return why;
}

/* Whether the session has our events, and the runtime's thread knows this tftop. */
static bool reached(void)
{
	return rt_enabled() && GET(rt_armed) && !rt_control_arrived() && rt_control_heard();
}

static bool renew(const char *page, bool joined)
{
	bool ok;

	if (!rt_lock(&life_lock)) {
		rt_attach_why("the runtime in this process does not answer");
		return false;
	}
	ok = rt_control_renew(page, joined);
	rt_unlock(&life_lock);
	return ok;
}

/* Connects to the tftop that is named now; waits for LTTng. If that failed for one probe, the next
 * ones do not wait: tftop waits for all of them together, and is told why. */
static bool rt_reach_tftop(void)
{
	static int64_t given_up = -1;	/* number of the tftop for which waiting was given up */
	bool ok;

	if (reached())
		return true;
	rt_loop_wake();
	ok = rt_enabled() || rt_home_follow();
	if (ok && !wait_for(reached, given_up == rt_control_number() ? 0 : REACH_WAIT_NS)) {
		rt_attach_why("LTTng in this process does not reach tftop's daemon");
		given_up = rt_control_number();
		ok = false;
	}
	rt_home_reached();
	return ok;
}

bool rt_probe_attach(const struct rt_probe *probe)
{
	int saved = errno;
	char page[PATH_MAX];
	bool ok;

	rt_attach_why("%s", "");
	if (!GET(rt_started))
		SET(came_late, true);
	ok = renew(rt_env(TFT_CONTROL_ENV, page, sizeof(page)), false) &&
	     rt_register(probe, true) && rt_reach_tftop();
	errno = saved;
	return ok;
}

bool rt_probe_register_late(const struct rt_probe *probe)
{
	int saved = errno;
	bool ok = rt_register(probe, true);

	if (ok && !rt_reach_tftop())
		rt_control_unheard();
	errno = saved;
	return ok;
}

/* A tftop that has attached brings the probes again itself, so nothing needs to be looked for. */
bool rt_may_be_joined(void)
{
	return !GET(came_late) && rt_home_joinable();
}

bool rt_join(void)
{
	char page[PATH_MAX];
	int saved = errno;
	bool ok;

	ok = rt_may_be_joined() && rt_home_page(page, sizeof(page)) && renew(page, true);
	if (ok)
		rt_home_wake();
	errno = saved;
	return ok;
}

int tftop_runtime_attach(void)
{
	int saved = errno;
	char page[PATH_MAX];
	bool ok;

	rt_attach_why("%s", "");
	if (!GET(rt_started)) {
		rt_attach_why("no probe was ever in use in this process");
		return TFT_ATTACH_UNUSED;
	}
	ok = renew(rt_env(TFT_CONTROL_ENV, page, sizeof(page)), false) && rt_reach_tftop();
	errno = saved;
	return ok ? TFT_ATTACHED : TFT_ATTACH_FAILED;
}
