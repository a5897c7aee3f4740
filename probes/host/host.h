/* SPDX-License-Identifier: MIT */
/*
 * What the program's threads do while they run no op and launch nothing: a thread of the runtime
 * looks at them now and then (docs/host.md). A part of libtftop-runtime.so; the runtime's side is
 * in probes/runtime/internal.h (rt_host_...).
 *
 * Always true:
 *  - The threads that are looked at are never stopped, get no signal and hold nothing up. The only
 *    lock that is taken is that of the runtime's tables.
 *  - The program's descriptors are not touched: the thread has a table of its own, or ends.
 *  - Only at levels default and full. The sampler's own time stays below BUDGET of a processor, by
 *    its own measurement: it looks less often when a look costs more.
 */
#ifndef PROBES_HOST_HOST_H
#define PROBES_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/host/frames.h"
#include "probes/schema/records.h"

/* ---- state.c: what the kernel says of a thread ---- */

struct host_doing {
	uint8_t doing;			/* enum tft_doing_kind; TFT_DOING_NATIVE: it runs */
	/* called Python, but it did not run meanwhile: it might be in native code below its line */
	bool unsure;
	uint32_t what, frame, stack;	/* as in ev_doing */
	uintptr_t futex;		/* that a thread in TFT_DOING_GIL or _LOCK waits for */
	uintptr_t ip, sp;		/* instruction and stack of one that waits; 0: unknown */
};

/* Gives the calling thread a table of descriptors of its own, which is empty. false: the system
 * cannot, or forbids it. */
bool host_own_descriptors(void);
/* Where Python keeps its lock, so that a wait for it is told from others. */
void host_state_locks(uintptr_t runtime, size_t size);
/* What the thread is in now. false: the kernel does not say. */
bool host_state_look(uint32_t tid, struct host_doing *out);
/* The processor time of a thread; -1: it has ended. */
int64_t host_cpu_ns(uint32_t tid);
/* How long the thread could have run so far, but had no processor; -1: the kernel does not say. */
int64_t host_delay_ns(uint32_t tid);
/* What the program called the thread; "": unknown. */
void host_thread_name(uint32_t tid, char *name, size_t size);
/* Copies memory of this process that may not be mapped, in this order; counts nothing and says
 * nothing. false: not all of it is. n: at most IOV_MAX. */
bool host_read_all(const struct iovec *to, const struct iovec *from, size_t n);
/* Whether the kernel forbids that. */
bool host_read_forbidden(void);

/* ---- pace.c: how often the sampler looks, and whether it was stopped ---- */

/* Half as long to half as long again, in the mean as long: at equal distances a loop would be seen
 * at few places of its turns. *seed: not 0. Source: Marsaglia, Xorshift RNGs, 2003. */
static inline int64_t host_pace_vary(int64_t ns, uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return ns / 2 + (int64_t)((uint64_t)ns * (*seed >> 12) >> 20);
}

void host_pace_begin(void);
/* To be called once a second. */
void host_pace_second(void);
/* Whether looks can be made so rare that they cost no more than the budget. */
bool host_pace_keeps(void);
/* After a look: so long until the next one that they cost no more than the budget, and write few
 * records. They cost more until it is known what one costs here; after the first second that is
 * saved again. */
int64_t host_pace_period(void);
/* The sampler is about to sleep until then, or less long. */
void host_pace_sleep(int64_t until_ns);
/* Since when the process was stopped until now, if it was since the last call; 0: it was not, or
 * for less than 0.1 s, or it is not certain. */
int64_t host_pace_stopped(void);

/* ---- python.c: what Python says of it ---- */

struct host_python_thread {
	uintptr_t self;			/* what pthread_self() is in it; set by the sampler */
	uintptr_t state;		/* its state in Python; 0: none was found */
	uintptr_t frame, instr;		/* at the last look, innermost; frame 0: it had none */
	int64_t searched_ns;		/* when its state was looked for */
	/* it had one: a thread of a pool may get a new one for each call of Python */
	bool had;
};

/* The sampler begins. */
void host_python_begin(void);
/* Adds line, stack and what only Python knows of the state to what the kernel said. */
void host_python_see(struct host_python_thread *thread, uint32_t tid, int64_t now_ns,
		     struct host_doing *doing);
/* "worker.py:12 in spin": where that thread is; false: it has no line, or Python does not know it
 * by its number (before 3.11). */
bool host_python_place(uint32_t tid, char *text, size_t size);
/* Whether the thread runs Python at all, as far as that has been asked in this second. */
bool host_python_runs(struct host_python_thread *thread, uint32_t tid, int64_t now_ns);
/* Whether the thread still is in the same instruction of Python, or has no line. */
bool host_python_still(const struct host_python_thread *thread);

/* ---- asyncio.c: what its tasks are called ---- */

/* Python was found: looks for its tasks from now on. */
void host_asyncio_begin(struct host_python *py);
/* Libraries came, which may be asyncio's. */
void host_asyncio_look(struct host_python *py);

/* ---- python.c and the stacks of native code ---- */

/* Whether frames of native code may still be told; if not, says so once. */
bool host_stacks_room(void);
/* The id of a frame of a stack; 0: it cannot be told. */
uint32_t host_stack_frame(const struct tft_frame *frame);

/* ---- native.c, functions.c, native_calls.c: in which function it is, and who called that ---- */

/* Threads that are looked at: those that were last active; behind them, threads that run Python and
 * that more active ones, as those of a pool, would keep out. */
#define HOST_ACTIVE 4u
#define HOST_WATCHED 6u

/* The sampler begins, and ends. */
void host_native_begin(void);
void host_native_end(void);
void host_native_fork_child(void);
/* Asks a thread that runs where it is: "dgemm_ in libopenblas.so.0", a name; 0: unknown. Waits for
 * the answer for at most 0.3 ms. slot: below HOST_WATCHED, always the same of a thread. */
uint32_t host_native_function(uint32_t slot, uint32_t tid, int64_t now_ns);
/* Whether the last one was in a function that is neither Python's nor the C library's, or that such
 * a function called below its line of Python. */
bool host_native_outside(void);
/* Looks where a thread is that waits as `doing` says. Adds to it which thread holds the mutex that
 * it waits for. false: where it is is not known, or says nothing. */
bool host_native_waiting(uint32_t tid, struct host_doing *doing, int64_t now_ns);
/* Adds the calls that the last of these two has found to the stack of Python in doing. */
void host_native_calls(struct host_doing *doing);
/* How much processor time was spent since the last call to learn the names of functions, which is
 * done once for each. */
int64_t host_native_once_ns(void);

/* ---- window.c: from looks to records ---- */

#define HOST_ENTRIES 32		/* states and stacks of one time; more are not told apart */

struct host_window {
	uint32_t tid;
	int64_t start_ns, end_ns;
	uint32_t n;
	struct host_entry {
		struct host_doing doing;
		uint32_t looks;
		int64_t ns;
	} entry[HOST_ENTRIES];
};

/* Adds time at the end of the window. */
void host_window_add(struct host_window *window, const struct host_doing *doing, int64_t ns);
/* Writes the window and begins a new one at its end. at_ns: as in ev_doing. */
void host_window_close(struct host_window *window, int64_t at_ns);
/* Once a second: decides how many times longer than the budget asks the sampler has to wait between
 * two looks. */
void host_window_rate(void);
int64_t host_window_spread(void);
/* The sampler begins. */
void host_window_begin(void);

#endif
