/* SPDX-License-Identifier: MIT */
#include "probes/host/interpreter.h"

/* ---- the collector of garbage ---- */

/* pages that are searched of the interpreter's structure, and of that of the runtime, where the
 * collector is in 3.8 */
#define GC_PAGES 4u
/* members, counted from the first of three generations of 24 bytes each */
#define GC_FIRST 72			/* a pointer to the first generation */
#define GC_COLLECTING 176		/* an int */
#define GC_BYTES 180u

/* Whether they are the generations: the pointer behind them leads to them. */
static bool host_is_collector(const char *copy, uintptr_t at)
{
	return py_word(copy, GC_FIRST) == at && (unsigned)py_int(copy, GC_COLLECTING) <= 1;
}

/* The collector's generations within so many bytes; 0: there are none. */
static uintptr_t host_find_collector(struct host_python *py, uintptr_t at, size_t bytes)
{
	static char copy[GC_PAGES * HOST_BLOCK];

	if (bytes > sizeof(copy))
		bytes = sizeof(copy);
	while (bytes >= GC_BYTES && !host_copy(py, copy, at, bytes))
		bytes /= 2;
	for (size_t i = 0; i + GC_BYTES <= bytes; i += sizeof(uintptr_t))
		if (host_is_collector(copy + i, at + i))
			return at + i;
	return 0;
}

bool host_collects(struct host_python *py, struct host_interpreter *known, uintptr_t interpreter)
{
	char copy[GC_BYTES];
	int32_t collecting;

	if (py->layout->collecting >= 0)
		return host_copy(py, &collecting, interpreter + (uintptr_t)py->layout->collecting,
				 sizeof(collecting)) && collecting == 1;
	if (known->at != interpreter) {
		*known = (struct host_interpreter) { .at = interpreter };
		known->generations = host_find_collector(py, interpreter, GC_PAGES * HOST_BLOCK);
		if (!known->generations)
			known->generations = host_find_collector(py, py->runtime, py->runtime_size);
	}
	return known->generations && host_copy(py, copy, known->generations, sizeof(copy)) &&
	       host_is_collector(copy, known->generations) && py_int(copy, GC_COLLECTING);
}

/* ---- the lock ---- */

/* members */
#define GIL_INTERVAL 0			/* microseconds, an unsigned long */
#define GIL_HOLDER 8			/* the thread that has it, or had it last */
#define GIL_LOCKED 16			/* an int: 0, 1, or -1 before the first time */
#define GIL_CONDITION 32		/* what threads wait for follows from here on */
/* all of it: two conditions of 48 bytes, each followed by a mutex of 40 */
#define GIL_BYTES 208u
#define INTERVAL_MAX 1000000000u

/* Who holds it, if a lock lies there; 0: it is free. false: it is none. */
static bool host_read_gil(struct host_python *py, uintptr_t gil, uintptr_t *holder)
{
	char copy[GIL_LOCKED + 8];
	uintptr_t interval;
	int32_t locked;

	if (!host_copy(py, copy, gil, sizeof(copy)))
		return false;
	interval = py_word(copy, GIL_INTERVAL);
	locked = py_int(copy, GIL_LOCKED);
	*holder = locked ? py_word(copy, GIL_HOLDER) : 0;
	return interval && interval <= INTERVAL_MAX && (unsigned)locked <= 1;
}

/* The lock is that around the futex of which the holder is a thread of Python. */
static uintptr_t host_find_gil(struct host_python *py, uintptr_t futex)
{
	uintptr_t holder;

	for (uintptr_t at = (futex & ~(uintptr_t)7) - GIL_CONDITION;
	     at > futex - GIL_BYTES; at -= 8)
		if (host_read_gil(py, at, &holder) && holder && host_state_listed(py, holder))
			return at;
	return 0;
}

uintptr_t host_gil_holder(struct host_python *py, struct host_interpreter *known, uintptr_t futex)
{
	uintptr_t holder;

	if (!known->gil)
		known->gil = host_find_gil(py, futex);
	return known->gil && host_read_gil(py, known->gil, &holder) ? holder : 0;
}

bool host_holds_gil(struct host_python *py, const struct host_interpreter *known, uintptr_t state,
		    uintptr_t head)
{
	uintptr_t holder;

	if (known->gil && host_read_gil(py, known->gil, &holder))
		return holder == state;
	return head == state && !host_state_next(py, state);
}
