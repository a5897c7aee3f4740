/* SPDX-License-Identifier: MIT */
/*
 * The runtime's own thread: reads the control page, announces what has been open for long, sends
 * the time up to which this process is settled, and sends beats.
 *
 * It sleeps on a futex until an absolute time, so ticks do not drift and it can be stopped at once.
 * A busy program has a tick every 25 ms (a process sends its data every 50 ms at the earliest, and
 * waking up costs more than the tick itself), an idle one every 50 ms, one at level off every 100
 * ms, and one whose tftop gives no sign of life every second. After a detach the thread sleeps for
 * good, until the end or until another tftop wakes it. In a program that was started under tftop
 * it checks once a second whether another tftop has joined: one look at a name that does not exist.
 */
#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/runtime/internal.h"

#define STACK_BYTES (256u << 10)
#define IDLE_TICK_NS 50000000
#define ARRIVE_TICK_NS 5000000	/* while a session begins */
#define OFF_TICK_NS 100000000
#define DEAD_TICK_NS 1000000000
#define IDLE_AFTER_NS 500000000
#define SETTLED_NS 50000000
#define BEAT_NS 1000000000
#define STOP_WAIT_NS 200000000
#define HOST_WAIT_NS 20000000
#define NO_BARRIER_SLACK_NS 1000000

enum { NONE, RUNNING, STOPPING, STOPPED };

static _Atomic uint32_t state;
static _Atomic uint32_t wakes;		/* a futex: raised to wake the thread */
static _Atomic uint32_t flush_want, flush_done;	/* flush_done is a futex */
static _Atomic uint32_t apply_want, apply_done;	/* the same */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t settled_sent_ns;		/* value of the last ev_settled */
static int64_t settled_at_ns, beat_at_ns, scan_ns, active_ns;
static uint64_t events_seen;
static uint64_t events_before;		/* number of events before this tftop came */
static enum tft_level level_seen;
static enum tft_trigger trigger_seen;

void rt_futex_wait_until(_Atomic uint32_t *word, uint32_t value, int64_t until_ns)
{
	struct timespec t = { until_ns / 1000000000, until_ns % 1000000000 };

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, &t, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

void rt_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void rt_loop_wake(void)
{
	atomic_fetch_add(&wakes, 1);
	rt_futex_wake(&wakes);
}

static uint64_t total(bool calls)
{
	uint64_t n = 0;

	for (struct rt_thread *th = rt_threads(); th; th = th->next)
		n += calls ? GET(th->calls) : GET(th->events);
	return n;
}

static int64_t probes_pending(void)
{
	int n;
	const struct rt_probe *const *probe = rt_probes(&n);
	int64_t oldest = INT64_MAX;

	for (int i = 0; i < n; i++) {
		int64_t t = probe[i]->pending_ns ? probe[i]->pending_ns() : INT64_MAX;

		if (t < oldest)
			oldest = t;
	}
	return oldest;
}

/* A thread inside a section holds a time that is not visible: it is not older than the last scan
 * that saw the thread outside. */
static int64_t section_scan(struct rt_thread *th, int64_t now_ns)
{
	if (!(GET_ACQ(th->section) & 1)) {
		th->even_ns = now_ns;
		return INT64_MAX;
	}
	return th->even_ns ? th->even_ns : scan_ns;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Announces what has been open for long; returns the start of the oldest op that is open and was
 * not announced, or INT64_MAX. */
static int64_t scan_open(int64_t now_ns, bool announce)
{
	int64_t oldest = rt_async_scan(now_ns, announce);

	for (struct rt_thread *th = rt_threads(); th; th = th->next)
		oldest = earlier(oldest, rt_stack_scan(th, now_ns, announce));
	return earlier(oldest, probes_pending());
}

/*
 * Up to when this process has settled. now_ns was read before the barrier. So if a thread took an
 * earlier time, either its section is visible as odd, or what it took the time for is visible. The
 * barrier interrupts every processor that runs the program, so it is not used in each tick.
 */
static int64_t settled_time(int64_t now_ns)
{
	int64_t oldest = now_ns;

	rt_barrier_heavy();
	for (struct rt_thread *th = rt_threads(); th; th = th->next)
		oldest = earlier(oldest, section_scan(th, now_ns));
	oldest = earlier(oldest, scan_open(now_ns, false));
	oldest = earlier(oldest, rt_host_pending());
	scan_ns = now_ns;
	return oldest - (rt_have_membarrier ? RT_QUICK_OFF_NS : NO_BARRIER_SLACK_NS);
}

static void send_settled(int64_t settled_ns)
{
	struct tft_settled r = { .settled_ns = settled_ns };

	if (settled_ns < settled_sent_ns)
		return;
	settled_sent_ns = settled_ns;
	rt_emit_settled(&r);
}

static void send_beat(void)
{
	struct tft_beat r;

	rt_calls_beat();
	r.events = total(false) - events_before;
	r.calls = total(true);
	r.dropped = GET(rt_totals.dropped);
	r.vendor_dropped = GET(rt_totals.vendor_dropped);
	r.own_ns = GET(rt_totals.own_ns);
	r.mono_ns = rt_now_ns();
	r.real_ns = rt_clock_ns(CLOCK_REALTIME);
	r.raw_ns = rt_clock_ns(CLOCK_MONOTONIC_RAW);
	rt_emit_beat(&r);
}

static void rt_loop_tell_level(void)
{
	enum tft_level level = rt_level(), old = level_seen;
	enum tft_trigger trigger = rt_trigger();
	bool same = level == old && (level != TFT_LEVEL_OFF || trigger == trigger_seen);
	int n;
	const struct rt_probe *const *probe = rt_probes(&n);

	trigger_seen = trigger;
	if (same)
		return;
	level_seen = level;
	if (level == TFT_LEVEL_OFF || old == TFT_LEVEL_OFF)
		rt_slots_level(!rt_ranges_off());
	rt_blocks_level(old, level);
	for (int i = 0; i < n; i++)
		if (probe[i]->level)
			probe[i]->level(old, level);
}

void rt_loop_cut(void)
{
	int64_t now = rt_now_ns();

	rt_batch_write_all(now, true);
	for (struct rt_thread *th = rt_threads(); th; th = th->next)
		rt_stack_cut(th, now);
	rt_async_cut(now);
}

void rt_loop_level(enum tft_level level)
{
	level_seen = level;
	trigger_seen = rt_trigger();
}

static void probes_tick(int64_t now_ns)
{
	int n;
	const struct rt_probe *const *probe = rt_probes(&n);

	for (int i = 0; i < n; i++)
		if (probe[i]->tick)
			probe[i]->tick(now_ns);
}

static void probes_leave(void)
{
	int n;
	const struct rt_probe *const *probe = rt_probes(&n);

	for (int i = 0; i < n; i++)
		if (probe[i]->leave)
			probe[i]->leave();
}

void rt_loop_harvest(int64_t now_ns)
{
	probes_leave();
	probes_tick(now_ns);
}

/* Makes one tick; returns when the next one is due. */
static int64_t rt_loop_tick(int64_t now_ns)
{
	uint64_t events;
	uint32_t apply;
	bool beat;

	/* before a killed tftop counts as dead: its level is not that of the next one */
	if (rt_control_silent(now_ns) && !rt_control_arrived())
		rt_join();
	apply = GET_ACQ(apply_want);
	rt_control_refresh(now_ns);
	rt_loop_tell_level();
	rt_trigger_told();
	if (apply != GET(apply_done)) {
		SET_REL(apply_done, apply);
		rt_futex_wake(&apply_done);
	}
	rt_trigger_tell();
	if (rt_control_arrived())
		return now_ns + ARRIVE_TICK_NS;
	if (rt_control_away())
		return now_ns + (rt_enabled() ? ARRIVE_TICK_NS : OFF_TICK_NS);
	if (!GET(rt_armed)) {
		rt_home_leave();
		/* a tftop that detached does not come back; one that was stopped may */
		return rt_control_let_go() && !rt_may_be_joined() ? INT64_MAX :
								    now_ns + DEAD_TICK_NS;
	}
	if (rt_enabled())
		rt_home_reached();
	rt_quick_tick();
	rt_host_tick();
	probes_tick(now_ns);
	rt_batch_write_all(rt_now_ns(), rt_level() < TFT_LEVEL_DEFAULT);
	events = total(false);
	if (scan_open(now_ns, true) != INT64_MAX || events != events_seen)
		active_ns = now_ns;
	beat = now_ns - beat_at_ns >= BEAT_NS;
	/* one more after the last event, so that an idle program settles */
	if (beat || (now_ns - settled_at_ns >= SETTLED_NS && settled_sent_ns <= active_ns)) {
		send_settled(settled_time(rt_now_ns()));
		settled_at_ns = now_ns;
	}
	if (beat) {
		send_beat();
		beat_at_ns = beat_at_ns && now_ns - beat_at_ns < 2 * BEAT_NS ?
			     beat_at_ns + BEAT_NS : now_ns;
	}
	events_seen = total(false);
	if (rt_level() == TFT_LEVEL_OFF)
		return now_ns + OFF_TICK_NS;
	return now_ns + (now_ns - active_ns > IDLE_AFTER_NS ? IDLE_TICK_NS : RT_TICK_NS);
}

/* Waits until the time is due, or the thread has been woken since `seen`. */
static void wait_due(int64_t due, uint32_t seen)
{
	while (GET_ACQ(state) == RUNNING && atomic_load(&wakes) == seen && rt_now_ns() < due)
		rt_futex_wait_until(&wakes, seen, due);
}

static void *rt_loop_thread(void *arg)
{
	int64_t due = rt_now_ns(), now;

	(void)arg;
	prctl(PR_SET_NAME, "tftop-runtime");
	while (GET_ACQ(state) == RUNNING) {
		uint32_t seen = atomic_load(&wakes), flush = GET_ACQ(flush_want);
		bool flushing = flush != GET(flush_done);
		int64_t next;

		if (flushing)
			probes_leave();
		now = rt_now_ns();
		/* woken early, or as planned */
		next = rt_loop_tick(now < due ? now : due);
		if (flushing) {
			rt_loop_last_beat();
			SET_REL(flush_done, flush);
			rt_futex_wake(&flush_done);
		}
		now = rt_now_ns();
		/* late by more than a tick (stopped, or without a processor): start afresh */
		due = next > now ? next : now + RT_TICK_NS;
		wait_due(due, seen);
	}
	SET_REL(state, STOPPED);
	rt_futex_wake(&state);
	return NULL;
}

bool rt_thread_start(void *(*run)(void *arg))
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	if (pthread_attr_init(&attr) != 0)
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, &attr, run, NULL);
	if (err == EINVAL) {
		/* the static TLS of a large program does not fit into a small stack */
		pthread_attr_destroy(&attr);
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		err = pthread_create(&thread, &attr, run, NULL);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return err == 0;
}

bool rt_loop_start(void)
{
	int saved = errno;
	bool ok = false;

	if (!rt_lock(&start_lock))
		return false;
	if (GET(state) == RUNNING) {
		ok = true;
	} else if (GET(state) == NONE) {
		SET_REL(state, RUNNING);
		ok = rt_thread_start(rt_loop_thread);
		if (!ok) {
			SET_REL(state, NONE);
			rt_dropped(1);
		}
	}
	rt_unlock(&start_lock);
	errno = saved;
	return ok;
}

bool rt_loop_stop(void)
{
	int64_t until = rt_now_ns() + STOP_WAIT_NS;
	uint32_t want = RUNNING;

	rt_host_stop(HOST_WAIT_NS);
	if (!atomic_compare_exchange_strong(&state, &want, STOPPING))
		return want != STOPPING;
	rt_loop_wake();
	while (GET_ACQ(state) == STOPPING && rt_now_ns() < until)
		rt_futex_wait_until(&state, STOPPING, until);
	return GET_ACQ(state) == STOPPED;
}

/* Asks the thread for one more, and waits until it is done. */
static void ask(_Atomic uint32_t *wanted, _Atomic uint32_t *done, int64_t wait_ns)
{
	int64_t until = rt_now_ns() + wait_ns;
	uint32_t want, have;

	if (GET_ACQ(state) != RUNNING)
		return;
	want = atomic_fetch_add(wanted, 1) + 1;
	rt_loop_wake();
	while ((int32_t)((have = GET_ACQ(*done)) - want) < 0 && rt_now_ns() < until)
		rt_futex_wait_until(done, have, until);
}

void rt_loop_flush(int64_t wait_ns)
{
	ask(&flush_want, &flush_done, wait_ns);
}

void rt_loop_apply(int64_t wait_ns)
{
	ask(&apply_want, &apply_done, wait_ns);
}

void rt_loop_arrive(void)
{
	events_before = total(false);
}

void rt_loop_last_beat(void)
{
	rt_host_flush(HOST_WAIT_NS);
	rt_batch_write_all(rt_now_ns(), true);
	send_settled(settled_time(rt_now_ns()));
	rt_trigger_tell();
	send_beat();
}

void rt_loop_fork_child(void)
{
	pthread_mutex_init(&start_lock, NULL);
	SET(state, NONE);
	SET(wakes, 0);
	SET(flush_want, 0);
	SET(flush_done, 0);
	SET(apply_want, 0);
	SET(apply_done, 0);
	settled_sent_ns = settled_at_ns = beat_at_ns = scan_ns = active_ns = 0;
	events_seen = events_before = 0;
}
