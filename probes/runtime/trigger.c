/* SPDX-License-Identifier: MIT */
/*
 * What in the program raises the level and lowers it again: cudaProfilerStart() and
 * cudaProfilerStop(), or a range with a given name (schema/control.h).
 *
 * A thread that begins or ends such a range waits until the runtime's thread has told the probes,
 * so that exactly what the program does in between is recorded; it waits 100 ms at most, in case
 * that thread does not get to run. Ranges are counted: the level is lowered when the last one has
 * ended.
 *
 * A range on a thread's stack is recognised by its depth, not by the runtime's own stack of ops,
 * which is emptied whenever the level is off.
 */
#include <errno.h>
#include <stdio.h>

#include "probes/runtime/internal.h"

#define WAIT_NS 100000000
#define ASYNC_MAX 64

volatile uint32_t tft_rt_trigger_now;

static _Atomic uint32_t open;		/* how many are open */
static atomic_bool raised;		/* the level is raised, and the probes know it */
/* number of the trigger: what began under another one is forgotten */
static _Atomic uint32_t turn;
static _Atomic uint32_t begun;
static atomic_bool profiles;		/* starts are not counted: the first stop stops */
static _Atomic uint64_t async[ASYNC_MAX];	/* open ranges that are not on a stack */

/* The previous one stays unchanged, because a thread may just be comparing with it. */
static struct want {
	struct tft_trigger_range range;
	_Atomic uint32_t as_range, as_op, in_domain;	/* their ids, once they were needed */
} wants[2];
static struct want *_Atomic want;	/* NULL: no range is wanted */

/* The value that was sent; used by the runtime's thread. */
static uint32_t told;

/* ---- the level ---- */

/* Either the thread that begins a range sees that it must wait, or this function sees that one
 * began. */
bool rt_trigger_lowers(void)
{
	if (rt_trigger() == TFT_TRIGGER_NONE || atomic_load(&open))
		return false;
	atomic_store(&raised, false);
	return !atomic_load(&open);
}

void rt_trigger_told(void)
{
	if (rt_trigger() != TFT_TRIGGER_NONE && rt_level() != TFT_LEVEL_OFF)
		atomic_store(&raised, true);
}

static void begin(void)
{
	int saved = errno;

	atomic_fetch_add(&begun, 1);
	atomic_fetch_add(&open, 1);
	if (!atomic_load(&raised))
		rt_loop_apply(WAIT_NS);
	errno = saved;
}

static void end(void)
{
	uint32_t n = atomic_load(&open);
	int saved = errno;

	while (n && !atomic_compare_exchange_weak(&open, &n, n - 1))
		;
	if (n == 1)
		rt_loop_apply(WAIT_NS);
	errno = saved;
}

void rt_trigger_profiler(bool start)
{
	if (rt_trigger() != TFT_TRIGGER_PROFILER || atomic_exchange(&profiles, start) == start)
		return;
	if (start)
		begin();
	else
		end();
}

/* ---- ranges ---- */

/* The id of a text, which is sent when a range may be the wanted one. */
static uint32_t id_of(_Atomic uint32_t *id, enum tft_name_kind kind, const char *text)
{
	uint32_t have = GET(*id);

	if (!have) {
		have = rt_name(kind, text);
		SET(*id, have);
	}
	return have;
}

static bool wanted(const struct rt_op_args *args)
{
	struct want *w = GET_ACQ(want);

	if (!w || !args->name ||
	    (args->name != id_of(&w->as_range, TFT_NAME_RANGE, w->range.name) &&
	     args->name != id_of(&w->as_op, TFT_NAME_OP, w->range.name)))
		return false;
	return !*w->range.domain ||
	       args->domain == id_of(&w->in_domain, TFT_NAME_DOMAIN, w->range.domain);
}

static bool is_open(const struct rt_thread *th)
{
	return th && th->trigger.depth && th->trigger.turn == GET(turn);
}

void rt_trigger_push(const struct rt_op_args *args)
{
	struct rt_thread *th = rt_self();

	if (is_open(th)) {
		th->trigger.depth += args->domain == th->trigger.domain;
	} else if (th && wanted(args)) {
		th->trigger.turn = GET(turn);
		th->trigger.depth = 1;
		th->trigger.domain = args->domain;
		begin();
	}
}

void rt_trigger_pop(uint32_t domain)
{
	struct rt_thread *th = rt_tls;

	if (is_open(th) && domain == th->trigger.domain && --th->trigger.depth == 0)
		end();
}

bool rt_trigger_async(const struct rt_op_args *args)
{
	if (!wanted(args))
		return false;
	begin();
	return true;
}

void rt_trigger_async_is(uint64_t instance)
{
	uint64_t none = 0;

	for (int i = 0; instance && i < ASYNC_MAX; i++, none = 0)
		if (atomic_compare_exchange_strong(&async[i], &none, instance))
			return;
	if (instance)
		rt_dropped(1);
	end();
}

void rt_trigger_async_end(uint64_t instance)
{
	for (int i = 0; i < ASYNC_MAX; i++) {
		uint64_t have = instance;

		if (atomic_compare_exchange_strong(&async[i], &have, 0)) {
			end();
			return;
		}
	}
}

void rt_trigger_thread_ends(struct rt_thread *th)
{
	if (is_open(th))
		end();
	th->trigger.depth = 0;
}

/* ---- changing the trigger ---- */

static void forget(void)
{
	atomic_fetch_add(&turn, 1);
	for (int i = 0; i < ASYNC_MAX; i++)
		atomic_store(&async[i], 0);
	atomic_store(&open, 0);
	atomic_store(&raised, false);
	atomic_store(&begun, 0);
	atomic_store(&profiles, false);
	told = 0;
}

static void copy(char to[TFT_TRIGGER_TEXT], const char *from)
{
	/* the page may be anybody's */
	snprintf(to, TFT_TRIGGER_TEXT, "%.*s", TFT_TRIGGER_TEXT - 1, from);
}

void rt_trigger_take(const struct tft_control *page)
{
	static const struct tft_control *taken;
	static bool other;
	uint32_t kind = page ? __atomic_load_n(&page->trigger, __ATOMIC_RELAXED) : TFT_TRIGGER_NONE;

	if (kind > TFT_TRIGGER_RANGE)
		kind = TFT_TRIGGER_NONE;
	if (page == taken && kind == rt_trigger())
		return;
	rt_trigger_tell();
	taken = page;
	SET_REL(want, NULL);
	__atomic_store_n(&tft_rt_trigger_now, TFT_TRIGGER_NONE, __ATOMIC_RELAXED);
	forget();
	if (kind == TFT_TRIGGER_RANGE) {
		other = !other;
		copy(wants[other].range.name, page->range.name);
		copy(wants[other].range.domain, page->range.domain);
		SET(wants[other].as_range, 0);
		SET(wants[other].as_op, 0);
		SET(wants[other].in_domain, 0);
	}
	SET_REL(want, kind == TFT_TRIGGER_RANGE ? &wants[other] : NULL);
	__atomic_store_n(&tft_rt_trigger_now, kind, __ATOMIC_RELAXED);
}

void rt_trigger_tell(void)
{
	uint32_t n = GET(begun);
	char text[16];

	if (n == told || rt_trigger() == TFT_TRIGGER_NONE)
		return;
	told = n;
	snprintf(text, sizeof(text), "%u", n);
	rt_emit_info(TFT_TRIGGER_SCOPE, TFT_TRIGGER_BEGUN, text);
}

void rt_trigger_fork_child(void)
{
	struct rt_thread *th = rt_tls;
	bool goes_on = is_open(th);
	uint32_t depth = goes_on ? th->trigger.depth : 0;

	forget();
	if (!goes_on)
		return;
	/* the only thread of the child is within the range */
	th->trigger.turn = GET(turn);
	th->trigger.depth = depth;
	atomic_store(&open, 1);
}
