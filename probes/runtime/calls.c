/* SPDX-License-Identifier: MIT */
/*
 * API calls: an event for long ones (at level full for all), a counter per thread and function for
 * the others. The runtime's thread adds up the threads once per beat and sends what has changed.
 *
 * Counters only grow, so a beat sends a difference. The maximum is kept twice, for even and for odd
 * beats: the owner writes that of the current beat, the runtime's thread reads and clears the
 * other.
 */
#include <string.h>

#include "probes/runtime/internal.h"

#define LONG_NS 10000

static _Atomic uint32_t beat;

struct call_sum {
	uint32_t fn, errors;
	uint64_t count;
	int64_t total_ns, max_ns;
	bool timed;
};

/* used by the runtime's thread, or by the exiting one */
static struct call_sum sums[RT_CALLS_MAX];

static inline struct rt_calls *rt_calls_slot_of(struct rt_thread *th, uint32_t fn)
{
	uint32_t i = fn & (RT_CALLS_MAX - 1);

	for (int n = 0; n < RT_CALLS_MAX; n++, i = (i + 1) & (RT_CALLS_MAX - 1)) {
		uint32_t have = GET(th->call[i].fn);

		if (have == fn)
			return &th->call[i];
		if (!have) {
			SET(th->call[i].fn, fn);
			return &th->call[i];
		}
	}
	return NULL;
}

static inline void rt_calls_count(struct rt_thread *th, uint32_t fn, int64_t dur_ns, int32_t result)
{
	struct rt_calls *c = rt_calls_slot_of(th, fn);

	if (!c) {
		rt_dropped(1);
		return;
	}
	ADD(c->count, 1);
	if (result)
		ADD(c->errors, 1);
	if (dur_ns >= 0) {
		_Atomic int64_t *max = &c->max_ns[GET(beat) & 1];

		SET(c->timed, 1);
		ADD(c->total_ns, dur_ns);
		if (dur_ns > GET(*max))
			SET(*max, dur_ns);
	}
}

static void call_event(uint32_t fn, int64_t start_ns, int64_t dur_ns,
		       uint32_t correlation, int32_t result)
{
	struct tft_call r = {
		.name = fn, .start_ns = start_ns, .dur_ns = dur_ns,
		.correlation = correlation, .result = result,
	};

	rt_emit_call(&r);
}

void rt_call(uint32_t fn, int64_t start_ns, int64_t end_ns,
	     uint32_t correlation, int32_t result)
{
	enum tft_level level = rt_level();
	struct rt_thread *th;

	if (level < TFT_LEVEL_DEFAULT || !(th = rt_self()))
		return;
	ADD(th->calls, 1);
	if (level >= TFT_LEVEL_FULL || end_ns - start_ns >= LONG_NS)
		call_event(fn, start_ns, end_ns - start_ns, correlation, result);
	else
		rt_calls_count(th, fn, end_ns - start_ns, result);
}

void rt_count(uint32_t fn, int32_t result)
{
	enum tft_level level = rt_level();
	struct rt_thread *th;

	if (level < TFT_LEVEL_DEFAULT || !(th = rt_self()))
		return;
	ADD(th->calls, 1);
	if (__builtin_expect(level >= TFT_LEVEL_FULL, 0))
		call_event(fn, rt_now_ns(), 0, 0, result);
	else
		rt_calls_count(th, fn, -1, result);
}

static struct call_sum *sum_of(uint32_t fn)
{
	uint32_t i = fn & (RT_CALLS_MAX - 1);

	for (int n = 0; n < RT_CALLS_MAX; n++, i = (i + 1) & (RT_CALLS_MAX - 1)) {
		if (!sums[i].fn)
			sums[i].fn = fn;
		if (sums[i].fn == fn)
			return &sums[i];
	}
	return NULL;
}

static void rt_calls_add_up(struct rt_calls *c, uint32_t old_half)
{
	uint64_t n = GET(c->count);
	uint32_t errors = GET(c->errors);
	int64_t total = GET(c->total_ns), max = GET(c->max_ns[old_half]);
	struct call_sum *s;

	if (n == c->sent_count || !(s = sum_of(GET(c->fn))))
		return;
	s->count += n - c->sent_count;
	s->errors += errors - c->sent_errors;
	s->total_ns += total - c->sent_ns;
	s->timed |= GET(c->timed) != 0;
	if (max > s->max_ns)
		s->max_ns = max;
	SET(c->max_ns[old_half], 0);
	c->sent_count = n;
	c->sent_errors = errors;
	c->sent_ns = total;
}

/* The runtime thread may have been in the middle of a beat. */
void rt_calls_fork_child(void)
{
	memset(sums, 0, sizeof(sums));
}

void rt_calls_beat(void)
{
	uint32_t old_half = atomic_fetch_add_explicit(&beat, 1, memory_order_relaxed) & 1;

	for (struct rt_thread *th = rt_threads(); th; th = th->next)
		for (int i = 0; GET(th->calls) && i < RT_CALLS_MAX; i++)
			if (GET(th->call[i].fn))
				rt_calls_add_up(&th->call[i], old_half);
	for (int i = 0; i < RT_CALLS_MAX; i++) {
		struct call_sum *s = &sums[i];
		struct tft_calls r = {
			.name = s->fn, .errors = s->errors, .count = s->count,
			.total_ns = s->timed ? s->total_ns : -1,
			.max_ns = s->timed ? s->max_ns : -1,
		};

		if (s->fn && s->count)
			rt_emit_calls(&r);
		*s = (struct call_sum){ 0 };
	}
}
