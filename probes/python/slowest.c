/* SPDX-License-Identifier: MIT */
/*
 * Whole stacks of the slowest runs of each op, see python.h.
 *
 * What is expected of n runs in no order: 4 ln n + 4 stacks of a name, so that they cost
 * nothing. Where each run is slower than the one before, the rate is what bounds them.
 */
#include "probes/python/python.h"

#include <stdatomic.h>
#include <stddef.h>

#include "probes/runtime/runtime.h"

#define NAMES 4096u		/* a power of two; names beyond have no stacks */
#define PROBES 8u
#define EVERY_NS 5000000	/* a stack, in the long run */
#define BURST 512		/* and so many at once, as at the start all are slowest */

static struct py_slowest slowest[NAMES];
static atomic_flag telling = ATOMIC_FLAG_INIT;
static _Atomic int64_t due_ns;		/* of the next one, were there no burst */

struct py_slowest *py_slowest(uint32_t name)
{
	uint32_t at = name * 2654435761u >> 20;

	for (uint32_t i = 0; name && i < PROBES; i++) {
		struct py_slowest *s = &slowest[(at + i) & (NAMES - 1)];
		uint32_t have = atomic_load_explicit(&s->name, memory_order_relaxed);

		if (have == name)
			return s;
		if (!have && (atomic_compare_exchange_strong(&s->name, &have, name) || have == name))
			return s;
	}
	return NULL;
}

static bool may_tell(void)
{
	int64_t now = rt_now_ns(), due = atomic_load(&due_ns);

	if (due < now)
		due = now;
	if (due - now > (int64_t)BURST * EVERY_NS)
		return false;
	atomic_store(&due_ns, due + EVERY_NS);
	return true;
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
	if (dur_ns > py_slow_ns(s) && may_tell())
		stack = py_stack(where);
	if (stack)
		keep(s, dur_ns);
	atomic_flag_clear(&telling);
	return stack;
}

void py_slow_anew(void)
{
	for (uint32_t i = 0; i < NAMES; i++) {
		if (!atomic_load(&slowest[i].name) || atomic_flag_test_and_set(&telling))
			continue;
		for (int k = 0; k < PY_SLOWEST; k++)
			slowest[i].ns[k] = 0;
		atomic_store(&slowest[i].least_ns, 0);
		atomic_flag_clear(&telling);
	}
}
