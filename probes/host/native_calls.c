/* SPDX-License-Identifier: MIT */
/*
 * Which functions of native code called the one that a thread is in: from its registers and its
 * stack outwards, up to where the thread began or to the loop of Python that runs the innermost
 * function of Python. That function and its callers are known from Python's own frames (python.c).
 *
 * Of a thread that waits in the kernel only its instruction and its stack pointer are known. The
 * functions of the C library keep the other registers on the stack, so that most of its callers are
 * found as well; the frame of a function whose frame pointer is not known is measured
 * (unwind_below.c).
 */
#include <stdio.h>
#include <string.h>

#include "probes/host/native.h"
#include "probes/runtime/internal.h"

#define CALLS_MAX 128u			/* of more the outer ones are unknown */
#define NAMING_NS 3000000		/* so long a look begins to read symbols of files */
#define MUTEX_CALLS 3u			/* so near to the kernel a mutex is waited for */
#define STACK_LEAST 1024u		/* bytes of a stack that are read at first */

enum calls_end {
	CALLS_UNTOLD,			/* nothing can be said */
	CALLS_WHOLE,			/* the thread began there */
	CALLS_PYTHON,			/* a function of Python called the outermost one */
	CALLS_LOST			/* who called the outermost one is not known */
};

/* The calls of the thread that is looked at, innermost first. */
static struct {
	struct native_call {
		uint32_t function, library;
		bool python, libc, mutex, begins;
	} call[CALLS_MAX];
	uint32_t n, name;		/* name: of the innermost one */
	uint32_t sure;			/* so many were found without unwind_measure() */
	enum calls_end end;
	char stack[NATIVE_STACK];
} calls;

void host_native_begin(void)
{
	native_events_begin();
	native_functions_begin();
}

/* Reads more of the stack of a thread that waits; false: it is not mapped, or all has been read. */
static bool stack_grow(struct unwind_stack *stack)
{
	size_t more = stack->n ? stack->n : STACK_LEAST;
	struct iovec to = { calls.stack + stack->n, more };
	struct iovec from = { (void *)(stack->at + stack->n), more };

	if (stack->bytes != calls.stack || stack->n + more > NATIVE_STACK)
		return false;
	if (!host_read_all(&to, &from, 1)) {
		/* as far as its page, which a stack may end with */
		to.iov_len = from.iov_len = -(uintptr_t)from.iov_base % STACK_LEAST;
		if (!to.iov_len || !host_read_all(&to, &from, 1))
			return false;
	}
	stack->n += to.iov_len;
	return true;
}

/* unwind_step(), with as much of the stack as it takes. */
static enum unwind_step native_step(const struct unwind_row *row, struct native_moment *moment,
				    struct unwind_registers *registers)
{
	struct unwind_registers before = *registers;
	enum unwind_step step;

	for (;;) {
		step = unwind_step(host_read_all, row, &moment->stack, registers);
		if (step != UNWIND_LOST || !stack_grow(&moment->stack))
			return step;
		*registers = before;
	}
}

static enum calls_end native_walk(struct native_moment *moment)
{
	struct unwind_registers registers = moment->registers;
	int64_t until_ns = rt_now_ns() + NAMING_NS;
	bool exact = true;		/* not the instruction behind a call */

	while (calls.n < CALLS_MAX) {
		bool measured = registers.measured || !(registers.known >> UNWIND_BP & 1);
		const struct native_place *place =
			native_place_at(registers.value[UNWIND_IP] - !exact, until_ns, measured);
		enum unwind_step step;

		if (!place || place->doubtful)
			return registers.measured ? CALLS_LOST : CALLS_UNTOLD;
		if (!calls.n)
			calls.name = place->name;
		if (place->loop)
			return CALLS_PYTHON;
		calls.call[calls.n++] = (struct native_call) {
			place->function, place->library, place->python, place->libc,
			place->mutex, place->begins,
		};
		if (!registers.measured)
			calls.sure = calls.n;
		if (!place->has_row)
			return CALLS_LOST;
		exact = place->row.signal;
		step = native_step(&place->row, moment, &registers);
		if (step != UNWIND_CALLER)
			return step == UNWIND_OUTERMOST ? CALLS_WHOLE : CALLS_LOST;
	}
	return CALLS_LOST;
}

static bool is_beginning(uint32_t i)
{
	return calls.call[i].libc || calls.call[i].begins;
}

static void calls_of(struct native_moment *moment)
{
	calls.n = calls.name = calls.sure = 0;
	calls.end = native_walk(moment);
	/* one that was measured is right if it led to where all of them lead */
	if (calls.end == CALLS_LOST)
		calls.n = calls.sure;
	/* how Python calls a function of its own library says nothing */
	while (calls.end == CALLS_PYTHON && calls.n && calls.call[calls.n - 1].python)
		calls.n--;
	/* neither does how the C library calls main(), or what a thread is to do */
	while (calls.end == CALLS_WHOLE && calls.n > 1 && is_beginning(calls.n - 1))
		calls.n--;
}

uint32_t host_native_function(uint32_t slot, uint32_t tid, int64_t now_ns)
{
	struct native_moment moment;

	calls.n = 0;
	native_functions_renew(now_ns);
	if (!native_take(slot, tid, &moment))
		return 0;
	calls_of(&moment);
	return calls.name;
}

bool host_native_outside(void)
{
	/* the callers of some are not known */
	uint32_t n = calls.end == CALLS_UNTOLD ? calls.n > 0 : calls.n;

	for (uint32_t i = 0; i < n; i++)
		if (!calls.call[i].python && !calls.call[i].libc)
			return true;
	return false;
}

/* ---- threads that wait ---- */

/*
 * Who holds the mutex at which a thread waits: "1234 loader", with its line of Python, if it has
 * one. 0: unknown. The C library writes the owner behind the futex (pthread_mutex_t of glibc); that
 * there is a mutex at all, the function that waits says.
 */
static uint32_t mutex_holder(uint32_t tid, uintptr_t futex)
{
	struct { uint32_t lock, count, owner; } mutex;
	struct iovec here = { &mutex, sizeof(mutex) }, there = { (void *)futex, sizeof(mutex) };
	char name[16] = "", place[HOST_TEXT * 2], text[HOST_TEXT * 2 + 48];
	bool at;

	if (!host_read_all(&here, &there, 1) || !mutex.owner || mutex.owner == tid ||
	    host_cpu_ns(mutex.owner) < 0)
		return 0;
	host_thread_name(mutex.owner, name, sizeof(name));
	at = host_python_place(mutex.owner, place, sizeof(place));
	snprintf(text, sizeof(text), "thread %u%s%s%s%s", mutex.owner, *name ? " " : "", name,
		 at ? " at " : "", at ? place : "");
	return rt_name(TFT_NAME_OTHER, text);
}

/* Whether one of the functions that are nearest to the kernel locks a mutex. */
static bool is_at_mutex(void)
{
	for (uint32_t i = 0; i < calls.n && i < MUTEX_CALLS; i++)
		if (calls.call[i].mutex)
			return true;
	return false;
}

bool host_native_waiting(uint32_t tid, struct host_doing *doing, int64_t now_ns)
{
	struct native_moment moment = { .registers.known = 1u << UNWIND_IP | 1u << UNWIND_SP };
	struct host_doing again;

	calls.n = 0;
	if (!doing->ip)
		return false;
	native_functions_renew(now_ns);
	moment.registers.value[UNWIND_IP] = doing->ip;
	moment.registers.value[UNWIND_SP] = doing->sp;
	moment.stack = (struct unwind_stack) { .at = doing->sp, .bytes = calls.stack };
	calls_of(&moment);
	if (!host_state_look(tid, &again) || again.ip != doing->ip || again.sp != doing->sp) {
		calls.n = 0;
		return false;
	}
	if (doing->doing == TFT_DOING_LOCK && is_at_mutex())
		doing->what = mutex_holder(tid, doing->futex);
	/* below a line of Python, the C library's functions say no more than the state does */
	return host_native_outside() || calls.end != CALLS_PYTHON;
}

/* ---- stacks ---- */

void host_native_calls(struct host_doing *doing)
{
	struct tft_frame frame = { .parent = doing->stack };

	if (!calls.n || calls.end == CALLS_UNTOLD || !host_stacks_room() ||
	    (doing->frame && !doing->stack) || (doing->stack && calls.end == CALLS_WHOLE))
		return;
	if (calls.end == CALLS_LOST || (calls.end == CALLS_PYTHON && !doing->stack)) {
		frame.file = frame.function = rt_name(TFT_NAME_SOURCE, TFT_FRAME_CHANGED);
		frame.parent = host_stack_frame(&frame);
	}
	for (uint32_t i = calls.n; i-- > 0;) {
		frame.file = calls.call[i].library;
		frame.function = calls.call[i].function;
		frame.parent = host_stack_frame(&frame);
		if (!frame.parent)
			return;
	}
	doing->stack = frame.parent;
}
