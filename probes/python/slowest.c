/* SPDX-License-Identifier: MIT */
/*
 * Whole stacks for the slowest runs of each op, see python.h.
 *
 * For n runs in random order, about 4 ln n + 4 stacks of a name are expected, which cost almost
 * nothing. If each run is slower than the previous one, the time for stacks is limited.
 */
#include "probes/python/python.h"

#include <stdatomic.h>
#include <stddef.h>

#include "probes/runtime/runtime.h"

#define NAMES 4096u		/* a power of two; further names get no stacks */
#define PROBES 8u
/* time that may be spent on stacks at once, because at the start all runs are the slowest */
#define BURST_NS 20000000
#define SHARE 500	/* in the long run, a stack may be made once per this many times its cost */

static struct py_slowest slowest[NAMES];
static atomic_flag telling = ATOMIC_FLAG_INIT;
static int64_t paid_ns;	/* when the time that was spent will have been made up for */

struct py_slowest *py_slowest(uint32_t name)
{
	uint32_t at = name * 2654435761u >> 20;

	for (uint32_t i = 0; name && i < PROBES; i++) {
		struct py_slowest *s = &slowest[(at + i) & (NAMES - 1)];
		uint32_t have = atomic_load_explicit(&s->name, memory_order_relaxed);

		if (have == name)
			return s;
		if (!have &&
		    (atomic_compare_exchange_strong(&s->name, &have, name) || have == name))
			return s;
	}
	return NULL;
}

/* `telling` must be held; 0: too much time has been spent already. */
static uint32_t stack_of(const struct py_where *where)
{
	int64_t now = rt_now_ns(), paid = paid_ns < now ? now : paid_ns;
	uint32_t stack;

	if (paid - now > (int64_t)BURST_NS * SHARE)
		return 0;
	stack = py_stack(where);
	paid_ns = paid + (rt_now_ns() - now) * SHARE;
	return stack;
}

static void keep(struct py_slowest *s, int64_t dur_ns)
{
	int least = 0;

	for (int i = 1; i < PY_SLOWEST; i++)
		if (s->ns[i] < s->ns[least])
			least = i;
	s->ns[least] = dur_ns;
	for (int i = 0; i < PY_SLOWEST; i++)
		if (s->ns[i] < s->ns[least])
			least = i;
	atomic_store_explicit(&s->least_ns, s->ns[least], memory_order_relaxed);
}

uint32_t py_slow_stack(struct py_slowest *s, int64_t dur_ns, const struct py_where *where)
{
	uint32_t stack = 0;

	if (!s || !where->source || atomic_flag_test_and_set(&telling))
		return 0;
	if (dur_ns > py_slow_ns(s))
		stack = stack_of(where);
	if (stack)
		keep(s, dur_ns);
	atomic_flag_clear(&telling);
	return stack;
}
