/* SPDX-License-Identifier: MIT */
/*
 * What the files of the runtime share. Not for probes.
 *
 * Always true:
 *  - A struct rt_thread is written by its owner only, except for the fields marked "runtime
 *    thread". Everything that another thread reads is a relaxed atomic. Where order matters, it is
 *    established by release stores and, where the reader must not miss what is still in a store
 *    buffer, by rt_barrier_heavy() on the side that runs rarely.
 *  - Thread states are mapped once and never unmapped: the state of a thread that has ended goes to
 *    a free list, with its counters, and is used for the next new thread.
 *  - Locks are held only while the runtime's own tables are accessed, and waited for at most 1 s.
 *
 * Order of locks: rt_life_lock, then any one of the others, never two others.
 */
#ifndef PROBES_RUNTIME_INTERNAL_H
#define PROBES_RUNTIME_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "probes/runtime/blocks.h"
#include "probes/runtime/cpu.h"
#include "probes/runtime/pack.h"
#include "probes/runtime/quick.h"
#include "probes/runtime/runtime.h"
#include "probes/start/start.h"

#define RT_HIDDEN __attribute__((visibility("hidden")))

#define RT_DEPTH_MAX 512
#define RT_CALLS_MAX 512	/* functions counted per thread; a power of two */
#define RT_PROBES_MAX 16
#define RT_OPEN_NS 10000000	/* an op that is open for longer is announced */
#define RT_TICK_NS 25000000	/* half of a live timer's period, and half of SETTLED_NS */
#define RT_THREAD_NAME 64

#define GET(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define SET(x, v) atomic_store_explicit(&(x), (v), memory_order_relaxed)
#define GET_ACQ(x) atomic_load_explicit(&(x), memory_order_acquire)
#define SET_REL(x, v) atomic_store_explicit(&(x), (v), memory_order_release)
/* Changes a counter of the owner: nobody else writes it, so no locked instruction is needed. */
#define ADD(x, n) SET(x, GET(x) + (n))

/*
 * One open op. `instance` is also its version: it is 0 while the owner writes the other fields or
 * while the slot is unused, and never has the same value twice. So a reader that sees the same
 * non-zero value before and after has a consistent copy.
 */
struct rt_frame {
	_Atomic uint64_t instance;
	_Atomic uint64_t announced;	/* runtime thread: the instance that it announced */
	_Atomic uint64_t cut;		/* runtime thread: the instance that it ended */
	_Atomic uint64_t parent, payload, forward, handed;
	_Atomic int64_t start_ns, step;
	_Atomic uint32_t name, type, domain, argb, source, shapes;
	_Atomic uint16_t depth;
	_Atomic uint8_t framework, flags;
	uint8_t open;			/* owner: it has not been popped */
};

/*
 * Finished ops and kernels of a thread that have not been written yet. The owner fills and writes
 * the batch; when the owner is quiet, the runtime's thread writes it. Each of them raises its flag
 * and then looks at the other's. If the owner sees `taking`, it writes the new op alone. If the
 * runtime's thread, behind the heavy barrier, sees `gathering`, it tries again later.
 */
struct rt_batch {
	_Atomic uint32_t gathering;	/* owner: is working on the batch */
	_Atomic uint32_t taking;	/* runtime thread: is working on it, or about to */
	_Atomic uint32_t count;		/* number of all entries */
	uint32_t tid;
	_Atomic int64_t oldest_ns;	/* start of the oldest entry; 0: none */
	_Atomic int64_t since_ns;	/* when the first entry was gathered */
	_Atomic int64_t written_ns;
	struct rt_pack pack;
};

/* Calls of one function on one thread that had no event of their own. */
struct rt_calls {
	_Atomic uint32_t fn;		/* 0: unused */
	_Atomic uint32_t errors;
	_Atomic uint64_t count;
	_Atomic int64_t total_ns;
	_Atomic int64_t max_ns[2];	/* maxima of the even and of the odd beats */
	_Atomic uint32_t timed;
	uint32_t sent_errors;		/* runtime thread: as of the last beat */
	uint64_t sent_count;
	int64_t sent_ns;
};

/* A kernel of a library that is running on this thread; see cpu.h. */
#define RT_CPU_OPEN_MAX 4
struct rt_cpu_open {
	uint32_t name;
	int slot;			/* where its parts find it; -1: they cannot */
	bool told;			/* its event has been written */
	struct rt_top top;
	int64_t start_ns;
};

struct rt_thread {
	struct rt_thread *next;		/* list of all states; set once */
	struct rt_thread *next_free;	/* protected by the lock of threads.c */
	_Atomic uint32_t tid;		/* 0: no owner */
	_Atomic uintptr_t self;		/* its pthread_self(); set before tid */
	/* odd: the owner has read the clock for something that is not visible yet */
	_Atomic uint32_t section;
	_Atomic uint64_t closing;	/* the instance whose final event is being written */
	_Atomic uint64_t claim;		/* runtime thread: the instance that is being announced */
	_Atomic uint64_t events, calls;
	uint32_t seq, arrival;	/* arrival: value of rt_arrivals when seq was counted from 0 */
	bool emitting;			/* inside a tracepoint */
	uint32_t exits;			/* how often the key's destructor has run */
	_Atomic uint32_t epoch;		/* epoch of the frames, see rt_epoch */
	int top;			/* frames in use, including holes */
	int depth;			/* open frames */
	int over;			/* pushes that found the stack full */
	uint32_t push_sample, pop_sample;	/* calls until the next one is measured */
	_Atomic int visible;		/* `top`, for the runtime's thread */
	uint64_t instance_next, instance_end;
	uint64_t handed;		/* belongs to the next op: rt_op_handed() */
	struct {			/* the outermost range that is a trigger, see trigger.c */
		uint32_t turn, domain;
		uint32_t depth;	/* open ranges of its domain, from it inwards; 0: it is not open */
	} trigger;
	struct rt_quick clock;		/* clock of its ops and kernels */
	_Atomic bool own;		/* it is a thread of tftop's */
	struct {			/* the sampler's thread: when the counters last moved, */
		uint64_t active;
		int64_t active_ns;
		int64_t asked_ns;	/* and when it asked whether the thread runs Python */
	} host;
	int64_t even_ns;		/* runtime thread: the last scan that saw an even section */
	struct rt_batch batch;
	char name[RT_THREAD_NAME];	/* protected by the lock of threads.c */
	struct {
		/* depth also counts kernels for which there was no room */
		struct rt_cpu_thread self;
		uint32_t queue[RT_LIBRARY_COUNT];
		struct rt_cpu_open open[RT_CPU_OPEN_MAX];
	} cpu;
	struct rt_calls call[RT_CALLS_MAX];
	struct rt_frame frame[RT_DEPTH_MAX];
};

enum rt_fork { RT_FORK_BEFORE, RT_FORK_PARENT, RT_FORK_CHILD };

/* ---- threads.c ---- */

extern RT_HIDDEN _Thread_local struct rt_thread *rt_tls
	__attribute__((tls_model("initial-exec")));

/* The calling thread's state, made at its first use; NULL: memory is short. */
RT_HIDDEN struct rt_thread *rt_self_slow(void);
static inline struct rt_thread *rt_self(void)
{
	return __builtin_expect(rt_tls != NULL, 1) ? rt_tls : rt_self_slow();
}

/* Head of the list of all states; it can be walked without a lock. */
RT_HIDDEN struct rt_thread *rt_threads(void);
RT_HIDDEN void rt_threads_fork(enum rt_fork stage);
RT_HIDDEN void rt_threads_dump(void);

/* ---- names.c ---- */

/* The text or shape of an id; walks through all names. "" and false: there is none. */
RT_HIDDEN const char *rt_name_text(uint32_t id);
RT_HIDDEN bool rt_shape_of(uint32_t id, struct tft_shape *out);
RT_HIDDEN void rt_names_dump(void);
RT_HIDDEN void rt_names_fork(enum rt_fork stage);

/* ---- stack.c ---- */

/* Raised when the level leaves off, which makes what is on the stacks stale. */
extern RT_HIDDEN _Atomic uint32_t rt_epoch;

RT_HIDDEN uint64_t rt_instance(struct rt_thread *th);
/* An op with what its arguments tell, apart from the flags. */
static inline struct tft_op rt_op_of(const struct rt_op_args *args)
{
	return (struct tft_op) {
		.name = args->name, .type = args->type, .domain = args->domain, .argb = args->argb,
		.step = args->step, .payload = args->payload, .frame = args->source,
		.shapes = args->shapes, .forward = args->forward, .framework = args->framework,
	};
}
/* Closes what is left open on a thread that ends. */
RT_HIDDEN void rt_stack_end(struct rt_thread *th);
RT_HIDDEN void rt_stack_fork_child(struct rt_thread *th);
/* Announces what has been open for RT_OPEN_NS. Returns the start of the thread's oldest op that is
 * open and not announced; INT64_MAX: none. */
RT_HIDDEN int64_t rt_stack_scan(struct rt_thread *th, int64_t now_ns, bool announce);
/* The level goes off: ends what was announced. */
RT_HIDDEN void rt_stack_cut(struct rt_thread *th, int64_t now_ns);

/* ---- batch.c ---- */

/* Owner: adds a finished op, which ended or was marked at end_ns. It is written at once, or later
 * together with others. */
RT_HIDDEN void rt_batch_add(struct rt_thread *th, struct tft_op *op, int64_t end_ns);
/* Owner: adds a kernel that the processor ran on this thread. */
RT_HIDDEN void rt_batch_kernel(struct rt_thread *th, const struct rt_kernel *kernel);
/* Owner: writes its batch. */
RT_HIDDEN void rt_batch_end(struct rt_thread *th);
/* Writes what threads have gathered for long, or everything. Called on the runtime's thread or, if
 * that has ended, on the thread that ends the process. */
RT_HIDDEN void rt_batch_write_all(int64_t now_ns, bool young_too);
/* From now on ops are written at once, because the process may end. */
RT_HIDDEN void rt_batch_at_once(bool at_once);
RT_HIDDEN void rt_batch_fork_child(struct rt_thread *th);

/* ---- async.c ---- */

RT_HIDDEN int64_t rt_async_scan(int64_t now_ns, bool announce);
/* The level goes off: drops all entries, and ends what was announced. */
RT_HIDDEN void rt_async_cut(int64_t now_ns);
RT_HIDDEN void rt_async_fork(enum rt_fork stage);

/* ---- cpu.c ---- */

RT_HIDDEN void rt_cpu_dump(void);
RT_HIDDEN void rt_cpu_fork_child(void);

/* ---- tap.c ---- */

/* Not 0: a tap is open (tap.h). */
extern RT_HIDDEN _Atomic uint32_t rt_tap_now;
/* An op with this name and type starts. */
RT_HIDDEN void rt_tap_op(uint32_t name, uint32_t type);
RT_HIDDEN void rt_tap_add(const struct tft_command *command);
RT_HIDDEN void rt_tap_device(const struct tft_device *device);
RT_HIDDEN void rt_tap_queue(const struct tft_queue *queue);
RT_HIDDEN void rt_tap_clock(const struct tft_clock *clock);

/* ---- quick.c ---- */

/* Runtime thread. */
RT_HIDDEN void rt_quick_tick(void);

/* ---- calls.c ---- */

/* Sends ev_calls with what was counted since the last beat. */
RT_HIDDEN void rt_calls_beat(void);
RT_HIDDEN void rt_calls_fork_child(void);

/* ---- emit.c ---- */

/* Whether the session has enabled the events of tftop. */
RT_HIDDEN bool rt_enabled(void);
/* false: no session recorded it. */
RT_HIDDEN bool rt_emit_process(const struct tft_process *r);
RT_HIDDEN void rt_emit_exit(const struct tft_exit *r);
RT_HIDDEN void rt_emit_probe(const struct tft_probe *r);
RT_HIDDEN void rt_emit_name(const struct tft_name *r);
RT_HIDDEN void rt_emit_thread(const struct tft_thread *r);
RT_HIDDEN void rt_emit_shape(const struct tft_shape *r);
RT_HIDDEN void rt_emit_frame(const struct tft_frame *r);
RT_HIDDEN void rt_emit_op(struct tft_op *r);
RT_HIDDEN void rt_emit_ops(struct tft_ops *r);
RT_HIDDEN void rt_emit_call(struct tft_call *r);
RT_HIDDEN void rt_emit_calls(const struct tft_calls *r);
RT_HIDDEN void rt_emit_settled(const struct tft_settled *r);
RT_HIDDEN void rt_emit_level(const struct tft_level_now *r);
RT_HIDDEN void rt_emit_doing(const struct tft_doing *r);
RT_HIDDEN void rt_emit_beat(const struct tft_beat *r);

/* ---- loop.c ---- */

/* Starts the runtime's thread if there is none; false: that is impossible. */
RT_HIDDEN bool rt_loop_start(void);
/* Stops the thread, and waits at most 200 ms; false: it is still running. */
RT_HIDDEN bool rt_loop_stop(void);
/* Makes the thread tick and beat now; waits at most wait_ns for that. */
RT_HIDDEN void rt_loop_flush(int64_t wait_ns);
/* Makes the thread apply the level now and tell the probes; waits likewise. */
RT_HIDDEN void rt_loop_apply(int64_t wait_ns);
RT_HIDDEN void rt_loop_fork_child(void);
/* The level goes off: ends what was announced as open. Runtime thread. */
RT_HIDDEN void rt_loop_cut(void);
/* Wakes the thread. */
RT_HIDDEN void rt_loop_wake(void);
/* tftop detaches: writes what is complete while that is possible. Runtime thread. */
RT_HIDDEN void rt_loop_harvest(int64_t now_ns);
/* Sets the level that the probes already know. */
RT_HIDDEN void rt_loop_level(enum tft_level level);
/* Sends the next beat; only while the thread is stopped. */
RT_HIDDEN void rt_loop_last_beat(void);
/* Another tftop has connected: beats count from now on. Runtime thread. */
RT_HIDDEN void rt_loop_arrive(void);

/* A word on which threads wait, until an absolute time. */
RT_HIDDEN void rt_futex_wait_until(_Atomic uint32_t *word, uint32_t value, int64_t until_ns);
RT_HIDDEN void rt_futex_wake(_Atomic uint32_t *word);
/* Starts a thread of the runtime with all signals blocked; false: that is impossible. */
RT_HIDDEN bool rt_thread_start(void *(*run)(void *arg));

/* ---- probes/host ---- */

/* Starts or stops the sampler of what threads do, by the level. Runtime thread. */
RT_HIDDEN void rt_host_tick(void);
/* The earliest time for which the sampler may still write something; INT64_MAX: none. To be called
 * after rt_barrier_heavy(), with a time that was read before. */
RT_HIDDEN int64_t rt_host_pending(void);
/* Makes the sampler write what it has; waits at most wait_ns. */
RT_HIDDEN void rt_host_flush(int64_t wait_ns);
/* Ends it, for the end of the process; waits at most wait_ns. */
RT_HIDDEN void rt_host_stop(int64_t wait_ns);
RT_HIDDEN void rt_host_fork_child(void);
/* The sampler sends its series again with their next values. Any thread. */
RT_HIDDEN void rt_host_dump(void);

/* ---- control.c ---- */

/* A tftop is there and wants definitions and beats, whatever the level. When it has gone, this is
 * 0 as soon as the last of them is written, for which tests wait. */
extern RT_API _Atomic uint32_t rt_armed;
/* Maps the page at the first call; false: there is no tftop, or no tftop any more. */
RT_HIDDEN bool rt_control_there(void);
/* Maps this page (NULL: none is named) if the previous page's tftop is dead, or if this page's
 * tftop has joined the process, which only one can do at a time. false: there is no page, or the
 * process belongs to another tftop, and rt_attach_why() was called. The lock of life.c must be
 * held. */
RT_HIDDEN bool rt_control_renew(const char *path, bool joined);
/* Whether there is a new page that the runtime's thread has not seen yet. */
RT_HIDDEN bool rt_control_arrived(void);
/* A number that is different for each tftop that connects to this process. */
RT_HIDDEN uint32_t rt_control_number(void);
/* tftop is alive but its daemons have died: there is nothing to do until new ones are ready.
 * Runtime thread. */
RT_HIDDEN bool rt_control_away(void);
/* There was no tftop at the start, or it may be dead: it is stopped, or it was killed. */
RT_HIDDEN bool rt_control_silent(int64_t now_ns);
/* tftop has detached for good. */
RT_HIDDEN bool rt_control_let_go(void);
/* Raised when another tftop comes: events are numbered from 1 for each. */
extern RT_HIDDEN _Atomic uint32_t rt_arrivals;
RT_HIDDEN void rt_control_fork_child(void);
/* Applies the level, off without a tftop; to be called after rt_control_there(). */
RT_HIDDEN void rt_control_start(void);
/* Introduces the process to the session, if it has begun and that was not done; true: that is done.
 * Before the runtime's thread exists, as for the next one. */
RT_HIDDEN bool rt_control_introduced(void);
/* The same; if the session has not begun, the runtime's thread will do it with a dump. */
RT_HIDDEN void rt_control_introduce(void);
/* The session has begun and knows this process. Any thread. */
RT_HIDDEN bool rt_control_heard(void);
/* LTTng did not answer in time; a message will say so once it answers. */
RT_HIDDEN void rt_control_unheard(void);
/* Sets rt_armed and tft_rt_level_now, and sends a dump if one is due. Runtime thread. */
RT_HIDDEN void rt_control_refresh(int64_t now_ns);

/* ---- trigger.c ---- */

/* Whether there is a trigger whose range is not open, so that the level is off. */
RT_HIDDEN bool rt_trigger_lowers(void);
/* The probes have been told the level that is in force. Runtime thread. */
RT_HIDDEN void rt_trigger_told(void);
/* Applies the page's trigger; NULL: there is none. Runtime thread, or before there is one. */
RT_HIDDEN void rt_trigger_take(const struct tft_control *page);
/* Sends how often the trigger has begun, if that has changed since the last call. On the runtime's
 * thread, or after that has ended. */
RT_HIDDEN void rt_trigger_tell(void);
/* Called while ranges are watched: before a push and after a pop. rt_trigger_async() says whether a
 * range by id is the wanted one, rt_trigger_async_is() which instance it got, and
 * rt_trigger_async_end() that this instance has ended. */
RT_HIDDEN void rt_trigger_push(const struct rt_op_args *args);
RT_HIDDEN void rt_trigger_pop(uint32_t domain);
RT_HIDDEN bool rt_trigger_async(const struct rt_op_args *args);
RT_HIDDEN void rt_trigger_async_is(uint64_t instance);
RT_HIDDEN void rt_trigger_async_end(uint64_t instance);
/* The calling thread ends; th is its state. */
RT_HIDDEN void rt_trigger_thread_ends(struct rt_thread *th);
RT_HIDDEN void rt_trigger_fork_child(void);

/* ---- life.c ---- */

extern RT_HIDDEN _Atomic uint32_t rt_started;
/* After a fork: the child has not sent its definitions yet. */
extern RT_HIDDEN _Atomic uint32_t rt_child_pending;
RT_HIDDEN void rt_child_start(void);
/* Whether a tftop can return to a program that was left running, without entering it, and whether
 * one has returned: then its page is in use now. Runtime thread, while no tftop gives a sign of
 * life. */
RT_HIDDEN bool rt_may_be_joined(void);
RT_HIDDEN bool rt_join(void);
/* Sends every definition except that of the process; those of the probes only on the runtime's
 * thread. */
RT_HIDDEN void rt_dump_all(bool probes_too);
/* The probes, *borrowed*; there are n. Entries below n never change. */
RT_HIDDEN const struct rt_probe *const *rt_probes(int *n);

/* ---- home.c ---- */

/* Makes LTTng reach the daemon in LTTNG_HOME although it uses another home. false: that is
 * impossible, and rt_attach_why() was called. rt_home_reached() ends the waiting. */
RT_HIDDEN bool rt_home_follow(void);
RT_HIDDEN void rt_home_reached(void);
/* Makes LTTng's thread look for its daemon now, if it waits for one; until rt_home_reached(). */
RT_HIDDEN void rt_home_wake(void);
/* Whether LTTng's home is a folder of tftop's; writes the page of the tftop that is there now. */
RT_HIDDEN bool rt_home_joinable(void);
RT_HIDDEN bool rt_home_page(char *path, size_t size);
/* Removes what tftop has left in the file system, if tftop has ended and is not merely stopped. */
RT_HIDDEN void rt_home_leave(void);

/* ---- modules.c ---- */

RT_HIDDEN void rt_modules_fork(enum rt_fork stage);
/* A symbol of the process and, if size is not NULL, how long it is. NULL: there is none. For the
 * runtime's own threads. */
RT_HIDDEN void *rt_symbol(const char *name, size_t *size);
static inline bool rt_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}
/* Whether libraries were loaded since rt_modules_seen() or the last rt_modules_came(). */
RT_HIDDEN bool rt_modules_differ(const struct rt_modules_watch *watch);
struct address_module;
/* As module_of_address(), safe for a fork. *found: its answer; false: not at this moment. */
RT_HIDDEN bool rt_module_of(const void *address, struct address_module *module, bool *found);
/* The first library whose file's name begins so; only its base and its path. false: none, or this
 * cannot be said at this moment. */
RT_HIDDEN bool rt_module_named(const char *begins, struct address_module *module);

/* ---- process.c ---- */

RT_HIDDEN bool rt_process_introduce(void);	/* see rt_emit_process() */

/* ---- slots.c ---- */

RT_HIDDEN void rt_slots_level(bool on);
RT_HIDDEN void rt_slots_fork(enum rt_fork stage);

/* ---- exit.c ---- */

RT_HIDDEN void rt_exit_start(void);
RT_HIDDEN void rt_exit_fork_child(void);

/* ---- fd.c ---- */

RT_HIDDEN void rt_fd_start(void);
RT_HIDDEN bool rt_fd_owned(int fd);
RT_HIDDEN enum tft_close rt_fd_close(int fd);
RT_HIDDEN void rt_fd_yield(int fd);

/* ---- common.c ---- */

struct rt_totals {
	_Atomic uint64_t dropped, vendor_dropped;
	_Atomic int64_t own_ns;
	_Atomic uint64_t instances;	/* the last one given out, in blocks */
	_Atomic uint32_t correlations, devices, queues;	/* the last ones given out */
};
extern RT_HIDDEN struct rt_totals rt_totals;

/* Locks with a time limit: false after 1 s (a thread died or was stopped inside). */
RT_HIDDEN bool rt_lock(pthread_mutex_t *lock);
RT_HIDDEN void rt_unlock(pthread_mutex_t *lock);
/* Holds a lock during a fork; *held tells the caller whether it does. */
RT_HIDDEN void rt_fork_lock(pthread_mutex_t *lock, bool *held, enum rt_fork stage);
/* Zeroed memory that is never freed; NULL: memory is short. */
RT_HIDDEN void *rt_pages(size_t bytes);

/*
 * An asymmetric pair of barriers: the light one costs the side that runs often nothing if the
 * kernel has membarrier(2); otherwise both are full fences.
 */
extern RT_HIDDEN bool rt_have_membarrier;
RT_HIDDEN void rt_barrier_init(void);
RT_HIDDEN void rt_barrier_heavy(void);
static inline void rt_barrier_light(void)
{
	if (__builtin_expect(rt_have_membarrier, 1))
		atomic_signal_fence(memory_order_seq_cst);
	else
		rt_fence(memory_order_seq_cst);
}

/* Owner: between rt_section_enter() and its counterpart it may hold a time that no other thread can
 * see yet. */
static inline void rt_section_enter(struct rt_thread *th)
{
	SET(th->section, GET(th->section) + 1);
	rt_barrier_light();
}

static inline void rt_section_leave(struct rt_thread *th)
{
	SET_REL(th->section, GET(th->section) + 1);
}

#endif
