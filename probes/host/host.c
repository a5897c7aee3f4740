/* SPDX-License-Identifier: MIT */
/*
 * The sampler's thread. See host.h.
 *
 * How long a thread was in a state is not estimated from the number of looks alone. If none of its
 * counters in the runtime moved between two looks, then it ran no op, made no call and launched
 * nothing in between, and its processor time says how much of that time it ran: a thread that did
 * not run was in the same call all along, and one that was woken up ran at the end. Between looks
 * without such a neighbour a look stands for the moment at which it was made, weighted with half of
 * the time to its neighbours (at_ns); the model takes those that fall into idle time of cause host.
 */
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/host/host.h"
#include "probes/host/limit.h"
#include "probes/host/usage.h"
#include "probes/runtime/internal.h"

#define CHOOSE_NS 50000000
#define SECOND_NS 1000000000
#define RETIRED_NS 2000000000	/* not watched: was active so much earlier than another thread */
#define SPLIT_NS 5000000	/* a state that lasts this long is not mixed with the next one */
#define CUT_NS 100000000	/* quiet times are written in parts, so that they are seen live */
/* a thread may have run for 1 / so much of a stop: afterwards, before the sampler did, and between
 * two of them */
#define STOP_RAN 16
#define FAILURES 50
#define LIMITS_NS 10000000000		/* limits are looked for so often */

enum { NONE, RUNNING, STOPPING, STOPPED };

static _Atomic uint32_t state;
static _Atomic uint32_t wakes;		/* a futex */
static _Atomic uint32_t flush_want, flush_done;	/* flush_done is a futex */
static _Atomic bool silent;		/* what the kernel says of threads cannot be read */
/* start of the oldest time that is not written; INT64_MAX: none */
static _Atomic int64_t pending_ns = INT64_MAX;

/* Everything below belongs to the sampler's thread. */

static struct watched {
	struct rt_thread *thread;	/* NULL: unused */
	uint64_t active;		/* its counters */
	int64_t cpu_ns, look_ns;	/* at the last look */
	int64_t seen_cpu_ns;		/* likewise, also at looks that were held (host_holds) */
	bool held;			/* one was, after it had run */
	int64_t delay_ns;		/* at the last look at which it had run; -1: unknown */
	int64_t throttled_ns;	/* total of the limits then */
	/* of 1024 parts of its time since then: without processor; of that, because of a limit */
	int64_t lacked, throttled;
	struct host_python_thread python;
	uint32_t looks;			/* since its counters moved; with them: */
	bool waits;			/* it was blocked at the last look */
	struct host_doing now;		/* what it was doing then */
	struct host_window window;
} watched[HOST_WATCHED];

static uint32_t skipped;
static int64_t chosen_ns;		/* when the watched threads were chosen */
static int failures;			/* looks in a row at which the kernel said nothing */
static struct limits limits;

/* ---- a look ---- */

/* On some machines it costs as much as the rest of a look to ask a thread for its function: where
 * looks cannot be made rarer, only every fourth time. */
static bool may_ask(void)
{
	return host_pace_keeps() || ++skipped % 4 == 0;
}

/* Asks a thread that runs for its function, if it is below its line of Python or may be. */
static void host_see_running(struct watched *w, uint32_t tid, int64_t now_ns,
			     struct host_doing *doing)
{
	uint32_t what;

	if ((doing->doing != TFT_DOING_NATIVE && !doing->unsure) || !may_ask())
		return;
	what = host_native_function((uint32_t)(w - watched), tid, now_ns);
	if (!what || !host_python_still(&w->python))
		return;
	if (doing->doing == TFT_DOING_PYTHON && host_native_outside())
		doing->doing = TFT_DOING_NATIVE;
	if (doing->doing != TFT_DOING_NATIVE)
		return;
	doing->what = what;
	host_native_calls(doing);
}

static struct host_doing host_see(struct watched *w, uint32_t tid, int64_t now_ns)
{
	struct host_doing doing;

	if (!host_state_look(tid, &doing)) {
		doing.doing = TFT_DOING_OTHER;
		/* not only a thread that is just ending */
		SET(silent, ++failures >= FAILURES);
		return doing;
	}
	failures = 0;
	w->waits = doing.doing != TFT_DOING_NATIVE;
	host_python_see(&w->python, tid, now_ns, &doing);
	if (!w->waits)
		host_see_running(w, tid, now_ns, &doing);
	else if (host_native_waiting(tid, &doing, now_ns) && host_python_still(&w->python))
		host_native_calls(&doing);
	return doing;
}

/* What moves when a thread runs ops or calls the API. A thread that only writes events, as those of
 * a driver do, is not looked at. */
static uint64_t activity(const struct rt_thread *th)
{
	return GET(th->calls) * 5 + GET(th->section) * 7u + GET(th->batch.count) * 11u +
	       (uint64_t)GET(th->visible) * 13;
}

static void begin_at(struct watched *w, uint32_t tid, int64_t at_ns)
{
	w->window = (struct host_window) { .tid = tid, .start_ns = at_ns, .end_ns = at_ns };
	w->looks = 0;
}

/* dur_ns since the last look, of which the thread ran ran_ns, are split into what it did then and
 * what it does now. */
static void host_split(struct watched *w, const struct host_doing *now, bool waited, int64_t dur_ns,
		  int64_t ran_ns)
{
	int64_t before_ns = dur_ns / 2;

	if (ran_ns > dur_ns)
		ran_ns = dur_ns;
	if (waited && !w->waits)
		before_ns = dur_ns - ran_ns;
	else if (!waited && w->waits)
		before_ns = ran_ns;
	host_window_add(&w->window, &w->now, before_ns);
	if (now->doing != w->now.doing && w->window.end_ns - w->window.start_ns >= SPLIT_NS)
		host_window_close(&w->window, 0);
	host_window_add(&w->window, now, dur_ns - before_ns);
}

/* How much of dur_ns since the last look the thread could have run, but had no processor; and how
 * much of that, at most, because a limit had stopped the process. */
struct host_delay { int64_t ns, throttled_ns; };

static struct host_delay host_delayed(struct watched *w, uint32_t tid, int64_t dur_ns,
				      int64_t ran_ns)
{
	int64_t before_ns = w->delay_ns;
	struct host_delay delay = { .throttled_ns = limits.total_ns - w->throttled_ns };

	if (dur_ns - ran_ns < dur_ns / 64)	/* it ran; what it lacked counts at the next look */
		return (struct host_delay) { .ns = 0 };
	w->throttled_ns = limits.total_ns;
	w->delay_ns = host_delay_ns(tid);
	if (before_ns >= 0 && w->delay_ns > before_ns)
		delay.ns = w->delay_ns - before_ns;
	if (delay.ns > dur_ns - ran_ns)
		delay.ns = dur_ns - ran_ns;
	if (delay.throttled_ns > delay.ns)
		delay.throttled_ns = delay.ns;
	return delay;
}

static void host_add_delay(struct watched *w, const struct host_doing *at, int64_t ns,
			   int64_t throttled_ns)
{
	struct host_doing lacking = { .frame = at->frame, .stack = at->stack };

	lacking.doing = TFT_DOING_THROTTLED;
	host_window_add(&w->window, &lacking, throttled_ns);
	lacking.doing = TFT_DOING_CPU;
	host_window_add(&w->window, &lacking, ns - throttled_ns);
}

/*
 * Whether a look has to wait for the next one. For how long a thread had no processor, and whether
 * that was because of a limit, the kernel counts when it runs again: a thread that could run at
 * both looks and did not in between waits now. One that ran, but whose time is neither processor
 * time nor counted as delay, may have begun to wait since, or was blocked for a while: the next
 * look tells.
 */
static bool host_holds(struct watched *w, uint32_t tid, int64_t dur_ns, int64_t cpu_ns)
{
	int64_t left_ns = dur_ns - (cpu_ns - w->cpu_ns), delay_ns;
	bool ran = cpu_ns != w->seen_cpu_ns;
	struct host_doing now;

	if (cpu_ns < 0 || dur_ns >= SECOND_NS || (ran && w->held))
		return false;
	if (ran) {
		delay_ns = left_ns < dur_ns / 64 ? -1 : host_delay_ns(tid);
		if (delay_ns < 0 || w->delay_ns < 0 ||
		    left_ns - (delay_ns - w->delay_ns) < dur_ns / 64)
			return false;
	}
	if (!host_state_look(tid, &now) || now.doing != TFT_DOING_NATIVE)
		return false;
	w->held |= ran;
	w->seen_cpu_ns = cpu_ns;
	return true;
}

/* Adds what it was doing at the last look. If it could run then, it may have had no processor: how
 * likely that is, the time around the look says. */
static void host_add_now(struct watched *w, int64_t ns)
{
	bool runs = w->now.doing == TFT_DOING_PYTHON || w->now.doing == TFT_DOING_NATIVE ||
		    w->now.doing == TFT_DOING_GC ||
		    ((w->now.doing == TFT_DOING_IMPORT || w->now.doing == TFT_DOING_COMPILE) &&
		     !w->waits);
	int64_t lacked_ns = runs ? ns * w->lacked / 1024 : 0;

	host_window_add(&w->window, &w->now, ns - lacked_ns);
	host_add_delay(w, &w->now, lacked_ns, lacked_ns * w->throttled / 1024);
}

/* The thread did something that the runtime knows of, at some time since the last look. */
static void host_part(struct watched *w, uint32_t tid, int64_t dur_ns, int64_t ran_ns,
		      int64_t now_ns)
{
	struct host_delay delay;

	if (w->looks)
		host_add_now(w, dur_ns / 2);
	host_window_close(&w->window, w->looks == 1 ? now_ns - dur_ns : 0);
	begin_at(w, w->window.tid, now_ns - dur_ns / 2);
	w->now = host_see(w, tid, now_ns);
	delay = host_delayed(w, tid, dur_ns, ran_ns);
	w->lacked = delay.ns + ran_ns > 0 ? delay.ns * 1024 / (delay.ns + ran_ns) : 0;
	w->throttled = delay.ns ? delay.throttled_ns * 1024 / delay.ns : 0;
	host_add_now(w, dur_ns / 2);
	w->looks = 1;
}

static void host_look_at(struct watched *w)
{
	int64_t now_ns = rt_now_ns();	/* the looks at other threads took time */
	uint32_t tid = GET(w->thread->tid);
	uint64_t active = activity(w->thread);
	int64_t cpu_ns = tid == w->window.tid ? host_cpu_ns(tid) : -1;
	int64_t dur_ns = now_ns - w->look_ns, ran_ns = cpu_ns - w->cpu_ns;
	bool same = active == w->active, waited = w->waits;
	struct host_delay delay = { .ns = 0 };
	struct host_doing now;

	if (dur_ns <= 0)
		return;			/* it is watched since this moment */
	/* a thread whose counters move often waits for a device: most of its looks would be held */
	if ((same ? w->looks && !waited : limits.n > 0) && host_holds(w, tid, dur_ns, cpu_ns))
		return;
	w->active = active;
	w->cpu_ns = w->seen_cpu_ns = cpu_ns;
	w->look_ns = now_ns;
	w->held = false;
	if (cpu_ns < 0) {
		host_window_close(&w->window, 0);
		w->thread = NULL;
	} else if (!same || !w->looks) {
		host_part(w, tid, dur_ns, ran_ns, now_ns);
	} else {
		now = w->now;
		if (!waited || ran_ns) {
			now = host_see(w, tid, now_ns);
			delay = host_delayed(w, tid, dur_ns, ran_ns);
		} else {
			w->throttled_ns = limits.total_ns;	/* it was blocked all along */
		}
		host_split(w, &now, waited, dur_ns - delay.ns, ran_ns);
		host_add_delay(w, &now, delay.ns, delay.throttled_ns);
		w->now = now;
		w->lacked = 0;
		w->looks++;
		if (w->window.end_ns - w->window.start_ns >= CUT_NS)
			host_window_close(&w->window, 0);
	}
}

/* ---- a process that is stopped ---- */

/* It was stopped from then until now. A thread that ran meanwhile was not; nor was one that has
 * been looked at since then. */
static void host_was_stopped(int64_t begin_ns)
{
	static const struct host_doing stopped = { .doing = TFT_DOING_STOPPED };
	int64_t now_ns = rt_now_ns();

	for (int i = 0; i < (int)HOST_WATCHED; i++) {
		struct watched *w = &watched[i];
		int64_t cpu_ns = w->thread ? host_cpu_ns(w->window.tid) : -1;
		/* of what it ran, so much was within the stop, or behind it */
		int64_t ran_ns = cpu_ns - w->cpu_ns, within_ns = ran_ns - (begin_ns - w->look_ns);
		int64_t from_ns = begin_ns + (within_ns > 0 ? within_ns : 0);

		if (cpu_ns < 0 || now_ns - w->look_ns < (now_ns - begin_ns) / 2 ||
		    within_ns > (now_ns - begin_ns) / STOP_RAN)
			continue;
		/* one that ran was stopped when it ran no more; of one that waited it is unknown */
		if (!w->waits)
			from_ns = w->look_ns + ran_ns;
		if (w->looks)
			host_add_now(w, (from_ns - w->look_ns) / 2);
		host_window_close(&w->window, w->looks == 1 ? w->look_ns : 0);
		begin_at(w, w->window.tid, from_ns);
		host_window_add(&w->window, &stopped, now_ns - from_ns);
		host_window_close(&w->window, 0);
		w->look_ns = now_ns;
		w->cpu_ns = w->seen_cpu_ns = cpu_ns;
		w->active = activity(w->thread);
	}
}

static void host_look_for_stop(void)
{
	int64_t begin_ns = host_pace_stopped();

	if (begin_ns)
		host_was_stopped(begin_ns);
}

static void pause_until(int64_t until_ns, uint32_t seen)
{
	while (GET_ACQ(state) == RUNNING && atomic_load(&wakes) == seen && rt_now_ns() < until_ns)
		rt_futex_wait_until(&wakes, seen, until_ns);
}

/* ---- which threads ---- */

/* Of these places one that is unused, or whose thread was active earlier than th; NULL: none. */
static struct watched *place_for(const struct rt_thread *th, unsigned from, unsigned to)
{
	struct watched *w = &watched[from];

	for (unsigned i = from + 1; i < to && w->thread; i++)
		if (!watched[i].thread ||
		    watched[i].thread->host.active_ns < w->thread->host.active_ns)
			w = &watched[i];
	return !w->thread || w->thread->host.active_ns < th->host.active_ns ? w : NULL;
}

static void host_watch(struct rt_thread *th, int64_t now_ns)
{
	struct host_python_thread python = { .self = GET(th->self) };
	struct watched *w;

	for (int i = 0; i < (int)HOST_WATCHED; i++)
		if (watched[i].thread == th)
			return;
	w = place_for(th, 0, HOST_ACTIVE);
	if (!w && now_ns - th->host.asked_ns >= SECOND_NS) {
		th->host.asked_ns = now_ns;
		if (host_python_runs(&python, GET(th->tid), now_ns))
			w = place_for(th, HOST_ACTIVE, HOST_WATCHED);
	}
	if (!w)
		return;
	host_window_close(&w->window, 0);
	*w = (struct watched) { .thread = th, .active = activity(th), .look_ns = now_ns,
				.python = python };
	begin_at(w, GET(th->tid), now_ns);
	w->cpu_ns = w->seen_cpu_ns = host_cpu_ns(w->window.tid);
	w->delay_ns = host_delay_ns(w->window.tid);
	w->throttled_ns = limits.total_ns;
}

/* Watches those that were active last, except for the runtime's own. */
static void host_choose(void)
{
	int64_t now_ns = rt_now_ns(), last_ns = 0;

	chosen_ns = now_ns;
	for (struct rt_thread *th = rt_threads(); th; th = th->next) {
		uint64_t active = activity(th);

		if (active != th->host.active) {
			th->host.active = active;
			th->host.active_ns = now_ns;
		}
		if (GET(th->tid) && !GET(th->own) && th->host.active_ns > last_ns)
			last_ns = th->host.active_ns;
	}
	for (int i = 0; i < (int)HOST_WATCHED; i++) {
		struct watched *w = &watched[i];

		if (!w->thread || w->thread->host.active_ns >= last_ns - RETIRED_NS)
			continue;
		host_window_close(&w->window, 0);
		w->thread = NULL;
	}
	for (struct rt_thread *th = rt_threads(); th; th = th->next)
		if (GET(th->tid) && !GET(th->own) && th->host.active_ns &&
		    th->host.active_ns >= last_ns - RETIRED_NS)
			host_watch(th, now_ns);
}

/* ---- the thread ---- */

static int64_t oldest_pending(void)
{
	int64_t oldest = INT64_MAX;

	for (int i = 0; i < (int)HOST_WATCHED; i++)
		if (watched[i].thread && watched[i].window.start_ns < oldest)
			oldest = watched[i].window.start_ns;
	return oldest;
}

/* Looks at all watched threads. */
static void host_look(void)
{
	/* whoever does not see this yet has read the clock before us */
	if (GET(pending_ns) == INT64_MAX) {
		SET(pending_ns, rt_now_ns());
		rt_fence(memory_order_seq_cst);
	}
	limits_look(&limits);
	if (rt_now_ns() - chosen_ns >= CHOOSE_NS)
		host_choose();
	for (int i = 0; i < (int)HOST_WATCHED; i++)
		if (watched[i].thread) {
			host_look_for_stop();
			host_look_at(&watched[i]);
		}
	SET_REL(pending_ns, oldest_pending());
}

static void host_close_all(void)
{
	for (int i = 0; i < (int)HOST_WATCHED; i++) {
		host_window_close(&watched[i].window, 0);
		watched[i].thread = NULL;
	}
	chosen_ns = 0;
	SET_REL(pending_ns, INT64_MAX);
}

static void *host_run(void *arg)
{
	int64_t second_ns = rt_now_ns(), limits_ns = second_ns, until_ns;

	(void)arg;
	prctl(PR_SET_NAME, "tftop-host");
	/* after a fork these are the parent's, maybe in the middle of a change */
	memset(watched, 0, sizeof(watched));
	failures = 0;
	chosen_ns = 0;
	if (!host_own_descriptors())
		SET(silent, true);
	host_pace_begin();
	host_python_begin();
	host_native_begin();
	host_window_begin();
	limits_begin(&limits);
	limits_find(&limits, "");
	host_usage_begin();
	while (GET_ACQ(state) == RUNNING && rt_level() >= TFT_LEVEL_DEFAULT && !GET(silent)) {
		uint32_t seen = atomic_load(&wakes), flush = GET_ACQ(flush_want);

		host_look();
		if (flush != GET(flush_done)) {
			host_close_all();
			SET_REL(flush_done, flush);
			rt_futex_wake(&flush_done);
		}
		if (rt_now_ns() - second_ns >= SECOND_NS) {
			second_ns = rt_now_ns();
			host_pace_second();
			host_window_rate();
		}
		if (rt_now_ns() - limits_ns >= LIMITS_NS) {
			limits_ns = rt_now_ns();
			limits_find(&limits, "");
		}
		host_usage_look(rt_now_ns(), &limits);
		host_look_for_stop();
		until_ns = rt_now_ns() + host_pace_period();
		host_pace_sleep(until_ns);
		pause_until(until_ns, seen);
		host_look_for_stop();
	}
	if (GET(silent))
		rt_emit_message(1, "the system does not let tftop see what the threads of this "
				   "process wait for: idle time of cause host is not divided "
				   "further");
	else
		host_close_all();
	host_native_end();
	host_usage_end(&limits);
	SET_REL(pending_ns, INT64_MAX);
	SET_REL(flush_done, GET(flush_want));
	rt_futex_wake(&flush_done);
	SET_REL(state, STOPPED);
	rt_futex_wake(&state);
	return NULL;
}

/* ---- the runtime's side ---- */

void rt_host_tick(void)
{
	uint32_t now = GET_ACQ(state);

	if (rt_level() < TFT_LEVEL_DEFAULT || GET(silent) || (now != NONE && now != STOPPED))
		return;
	SET_REL(state, RUNNING);
	if (!rt_thread_start(host_run)) {
		SET_REL(state, NONE);
		rt_dropped(1);
	}
}

int64_t rt_host_pending(void)
{
	return GET_ACQ(pending_ns);
}

static void wake(void)
{
	atomic_fetch_add(&wakes, 1);
	rt_futex_wake(&wakes);
}

void rt_host_flush(int64_t wait_ns)
{
	int64_t until_ns = rt_now_ns() + wait_ns;
	uint32_t want, have;

	if (GET_ACQ(state) != RUNNING)
		return;
	want = atomic_fetch_add(&flush_want, 1) + 1;
	wake();
	while ((int32_t)((have = GET_ACQ(flush_done)) - want) < 0 && rt_now_ns() < until_ns)
		rt_futex_wait_until(&flush_done, have, until_ns);
}

void rt_host_stop(int64_t wait_ns)
{
	int64_t until_ns = rt_now_ns() + wait_ns;
	uint32_t want = RUNNING;

	if (!atomic_compare_exchange_strong(&state, &want, STOPPING))
		return;
	wake();
	while (GET_ACQ(state) == STOPPING && rt_now_ns() < until_ns)
		rt_futex_wait_until(&state, STOPPING, until_ns);
}

void rt_host_fork_child(void)
{
	host_native_fork_child();
	SET(state, NONE);
	SET(wakes, 0);
	SET(flush_want, 0);
	SET(flush_done, 0);
	SET(pending_ns, INT64_MAX);
	SET(silent, false);
}
