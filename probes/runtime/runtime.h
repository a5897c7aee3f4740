/* SPDX-License-Identifier: MIT */
/*
 * What every probe library in a profiled process shares: names, the op stack, levels, counters, the
 * tracepoint provider and the runtime's own thread. Built as libtftop-runtime.so; a probe links
 * with it (run path $ORIGIN).
 *
 * Always true:
 *  - No function prints, exits, or blocks on a lock that is held around a call of the program. What
 *    cannot be done is dropped and counted (tft_beat.dropped), without an error.
 *  - errno is preserved by every function.
 *  - Without a control page (no tftop), or after tft_control.closed, the level is off, and every
 *    function returns at once.
 *
 * Threads: any thread of the program, also from constructors and atexit handlers, and also after a
 * fork (the child gets new ids and a new runtime thread, created at its first event). Not from
 * signal handlers.
 */
#ifndef PROBES_RUNTIME_RUNTIME_H
#define PROBES_RUNTIME_RUNTIME_H

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "probes/schema/attach.h"
#include "probes/schema/control.h"
#include "probes/schema/records.h"

#define RT_API __attribute__((visibility("default")))

/* gcc and clang say this in different ways. */
#if defined(__SANITIZE_THREAD__)
#define RT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RT_TSAN 1
#endif
#endif
#ifndef RT_TSAN
#define RT_TSAN 0
#endif

/* ThreadSanitizer does not understand fences; what they order here is atomic anyway. */
static inline void rt_fence(memory_order order)
{
#if RT_TSAN
	atomic_signal_fence(order);
#else
	atomic_thread_fence(order);
#endif
}

/* ---- levels ---- */

/* The level in force; written by the runtime, read by everyone. */
extern RT_API volatile uint32_t tft_rt_level_now;

static inline enum tft_level rt_level(void)
{
	return (enum tft_level)__atomic_load_n(&tft_rt_level_now, __ATOMIC_RELAXED);
}

/*
 * What raises the level from off (schema/control.h). While ranges are watched, the hooks that
 * report ranges to the runtime stay in place at level off, and report each one.
 */
extern RT_API volatile uint32_t tft_rt_trigger_now;

static inline enum tft_trigger rt_trigger(void)
{
	return (enum tft_trigger)__atomic_load_n(&tft_rt_trigger_now, __ATOMIC_RELAXED);
}

static inline bool rt_watching(void)
{
	return __builtin_expect(rt_trigger() == TFT_TRIGGER_RANGE, 0);
}

/* Whether ranges are neither recorded nor watched: a probe need not even look up their names. */
static inline bool rt_ranges_off(void)
{
	return rt_level() == TFT_LEVEL_OFF && !rt_watching();
}

/* cudaProfilerStart() or cudaProfilerStop() has returned. Returns when the probes know, after 100
 * ms at the latest. */
RT_API void rt_trigger_profiler(bool start);

static inline int64_t rt_clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t rt_now_ns(void)
{
	return rt_clock_ns(CLOCK_MONOTONIC);
}

/* ---- a probe joins ---- */

/*
 * Callbacks of a probe, all optional, all called on the runtime thread except
 * fork_child (on the forking thread, in the child) and fini (on the exiting
 * thread, at most once). *borrowed for the life of the process*.
 */
struct rt_probe {
	const char *name, *version, *blind;	/* as struct tft_probe */
	/* Every 25 ms: announce what has been open for long, collect what is complete. */
	void (*tick)(int64_t now_ns);
	/* Returns the start of the oldest command or op that is not written yet, or INT64_MAX. */
	int64_t (*pending_ns)(void);
	/* Sends all definitions (devices, queues, ...) again. */
	void (*dump)(void);
	/* The level has changed. If it stays off and only the trigger has changed, both arguments
	 * are off. */
	void (*level)(enum tft_level old_level, enum tft_level new_level);
	/* The child drops the parent's commands and ids; no lock may be taken. Names and shapes
	 * keep their ids, and the runtime sends them again. */
	void (*fork_child)(void);
	/* The process may end or exec within 100 ms: collect what is complete, within 60 ms. A tick
	 * follows. */
	void (*leave)(void);
	/* The process exits: collect for the last time. The runtime must not be called
	 * afterwards. */
	void (*fini)(void);
	char said[2][512];			/* used by rt_blind() only */
};

/*
 * Registers a probe. The first one maps the control page, waits (1 s at most) until the session has
 * armed the tracepoints and recorded tft_process, and starts the runtime's thread. The same probe
 * may be registered twice. Returns false if there is no tftop: the probe should then do nothing.
 */
RT_API bool rt_probe_register(const struct rt_probe *probe);
/*
 * The same in a running program, on a thread of tftop's own: waits, 6 s at most, until what is
 * written is recorded. Nothing of the program is to be hooked before: what shows it that it is
 * observed has to be true.
 */
RT_API bool rt_probe_register_late(const struct rt_probe *probe);

/*
 * Registers a probe in a running program (tftop_probe_attach, schema/attach.h). If the runtime is
 * already there and its tftop has gone, it connects to the tftop that TFTOP_CONTROL and LTTNG_HOME
 * name now. Waits for LTTng, 6 s at most. False: tftop will receive nothing of this process, and
 * rt_attach_why() says why.
 */
RT_API bool rt_probe_attach(const struct rt_probe *probe);
/* Sets the result of tftop_attach_why(); text is *borrowed until return*. */
RT_API void rt_attach_why(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The probe cannot record something: sends a message, and adds the text to what the probe says
 * about itself (blind, which is not NULL). text: one clause. */
RT_API void rt_blind(struct rt_probe *probe, const char *text);

/* ---- names: string -> id of this process, sent once ---- */

/* Interns a name; 0: text is NULL, or memory is short. Hashes the text, so the id of a text that
 * occurs often should be cached. The lock is held only while the table is accessed. */
RT_API uint32_t rt_name(enum tft_name_kind kind, const char *text);

/* The id of a shape; shape->id is ignored. */
RT_API uint32_t rt_shape(const struct tft_shape *shape);

/* The id of a line of source and its callers (tft_frame); frame->id is ignored. 0: there is no
 * room. */
RT_API uint32_t rt_source(const struct tft_frame *frame);

/* Next unused ids of the process, from 1. Probes share them, so that no two define the same id. A
 * forked child counts from 1 again, before any probe's fork_child. */
RT_API uint32_t rt_correlation(void);
RT_API uint32_t rt_device_id(void);
RT_API uint32_t rt_queue_id(void);
/* The same for a series of counters, except that a forked child continues counting. Whoever makes a
 * series sends it (rt_emit_series) at once and at each dump. */
RT_API uint32_t rt_series_id(void);

/* ---- lines of source that a compiler knows of its instructions ---- */

/* The instruction `op` of the compiled program `module` (both name ids) was written on that line
 * (rt_source()). A program that is compiled again under the same name replaces its lines. 65 536
 * are kept; more replace older ones. Any thread. */
RT_API void rt_line_define(uint32_t module, uint32_t op, uint32_t source);
/* 0: unknown. */
RT_API uint32_t rt_line_of(uint32_t module, uint32_t op);

/* ---- the stack of open ops and ranges, per thread ---- */

struct rt_op_args {
	uint32_t name, type, domain;	/* name ids */
	uint32_t argb;
	uint32_t source, shapes;	/* rt_source(), rt_name(TFT_NAME_SHAPES); 0: none */
	uint64_t payload;
	uint64_t forward;		/* the instance whose gradient this is; 0: none */
	int64_t step;			/* -1: none */
	uint8_t framework, flags;	/* TFT_OP_RANGE, TFT_OP_COLOUR */
};

/* Opens an op on the calling thread; returns its instance (0: dropped). Every push needs one pop,
 * even if it was dropped. */
RT_API uint64_t rt_op_push(const struct rt_op_args *args);

/* The next op that starts on this thread came through a thread pool: it has waited wait_ns (> 0)
 * for a thread since the thread `waker` handed it over. With 0, the next op did not wait. Returns
 * whether an op has used the values of the previous call; also true if there was none. */
RT_API bool rt_op_handed(int64_t wait_ns, uint32_t waker);

/* Closes the innermost open op whose domain is `domain` (0: no domain) and writes its event.
 * Returns the depth that is left; -1: none was open. */
RT_API int rt_op_pop(uint32_t domain);

/* The same. For an op that took longer than longer_ns, `source` is called and may return a more
 * detailed place of the call: rt_source(), or 0. */
struct rt_ask {
	int64_t longer_ns;
	uint32_t (*source)(int64_t dur_ns, const void *arg);
	const void *arg;
};
RT_API int rt_op_pop_asking(uint32_t domain, const struct rt_ask *ask);

/* Renames the innermost open op of the calling thread, for names that were not known at the
 * start. */
RT_API void rt_op_rename(uint32_t name);

/*
 * An op that is reported when it has ended, on the thread on which it ended. Its instance may have
 * been requested before, so that whatever ran in it could refer to it. parent 0: the op on top of
 * the calling thread's stack. Otherwise any op of any thread; then this op is outermost on its own
 * thread.
 */
struct rt_ran {
	uint64_t instance;	/* from rt_op_instance(); 0: a new one */
	uint64_t parent;
	int64_t start_ns, dur_ns;
};
RT_API uint64_t rt_op_instance(void);	/* 0: the level is off */
RT_API void rt_op_ran(const struct rt_op_args *args, const struct rt_ran *ran);

/* How many ops of this domain are open on the calling thread. */
RT_API int rt_op_depth(uint32_t domain);

/* Ranges that may start and end on any thread (nvtxRangeStart/End): they are not on a stack and
 * never on top. rt_async_end(0) and unknown ids are ignored. */
RT_API uint64_t rt_async_start(const struct rt_op_args *args);
RT_API void rt_async_end(uint64_t instance);

/* An instant (nvtxMark). */
RT_API void rt_mark(const struct rt_op_args *args);

/* The op on top of the calling thread's stack. Marks it and, when they are popped, its parents as
 * TFT_OP_INNER. To be called once per launch. */
struct rt_top {
	uint64_t instance;	/* 0: none is open */
	uint32_t name, type, source;
	int64_t step;		/* -1: none */
};
/* The type of an op that launches a graph of XLA, which is named by XLA's own numbers; and of the
 * run of a program, which has the program's name. */
#define RT_XLA_COMMAND_BUFFER "XLA command buffer"
#define RT_XLA_RUN "XLA run"
RT_API struct rt_top rt_op_launch(void);
/* The same, without marking: to which op an allocation belongs. */
RT_API struct rt_top rt_op_current(void);
/* The name of the innermost open op of that type; 0: there is none. */
RT_API uint32_t rt_op_of_type(uint32_t type);

/* The kernel's id of the thread, cached. */
RT_API uint32_t rt_tid(void);

/* The user has named a thread. */
RT_API void rt_thread_name(uint32_t tid, const char *name);

/*
 * Names that one probe receives for objects of another probe: CUDA streams are named through NVTX.
 * handle: that of the program. A new name replaces the old one, NULL removes it. 1024 names of up
 * to 63 bytes are kept; more are dropped and counted.
 */
enum rt_thing { RT_THING_NONE, RT_THING_CUDA_STREAM, RT_THING_CUDA_DEVICE };
RT_API void rt_thing_name(enum rt_thing what, uint64_t handle, const char *name);
RT_API bool rt_thing_named(enum rt_thing what, uint64_t handle, char *name, size_t size);
/* Changes whenever an object is named. */
RT_API uint32_t rt_things(void);

/* ---- calls ---- */

/*
 * A timed call of an API ended. At level full it becomes an event; at level default it does so if
 * it took 10 us or more, and is counted otherwise. fn is a name id (TFT_NAME_CALL). Has no effect
 * below default.
 */
RT_API void rt_call(uint32_t fn, int64_t start_ns, int64_t end_ns,
		    uint32_t correlation, int32_t result);

/* A very frequent call: counted at level default (<= 15 ns), an event without times at full. */
RT_API void rt_count(uint32_t fn, int32_t result);

/* How much of the program's time the ops of a framework may cost, in percent; 0: any (--budget). */
RT_API uint32_t rt_budget(void);

/* ---- emit: fills seq, counts, drops the event without an error when not armed ---- Every struct
 * is *borrowed until return*. */
RT_API void rt_emit_device(const struct tft_device *device);
RT_API void rt_emit_queue(const struct tft_queue *queue);
RT_API void rt_emit_node(const struct tft_node *node);
RT_API void rt_emit_stage(const struct tft_stage *stage);
RT_API void rt_emit_series(const struct tft_series *series);
RT_API void rt_emit_info(const char *scope, const char *key, const char *value);
RT_API void rt_emit_message(uint8_t level, const char *text);
RT_API void rt_emit_step(struct tft_step *step);
RT_API void rt_emit_request(struct tft_request *request);
/* These three are sent at any level: the probe knows at which level they began. */
RT_API void rt_emit_command(struct tft_command *command);
RT_API void rt_emit_launch(struct tft_launch *launch);
RT_API void rt_emit_run(struct tft_run *run);
RT_API void rt_emit_alloc(struct tft_alloc *alloc);
RT_API void rt_emit_free(struct tft_free *free);
RT_API void rt_emit_region(struct tft_region *region);
RT_API void rt_emit_wait(struct tft_wait *wait);
RT_API void rt_emit_compile(struct tft_compile *compile);
RT_API void rt_emit_flow(struct tft_flow *flow);
RT_API void rt_emit_stages(struct tft_stages *stages);
RT_API void rt_emit_pool(struct tft_pool *pool);
RT_API void rt_emit_counter(struct tft_counter *counter);
RT_API void rt_emit_clock(const struct tft_clock *clock);
RT_API void rt_emit_taken(const struct tft_taken *taken);
RT_API void rt_emit_bare(const struct tft_bare *bare);
RT_API void rt_emit_cost(const struct tft_cost *cost);

/* Zeroed memory of the calling thread's own, aligned to 64 bytes. *slot is a thread-local pointer,
 * which is set to the memory, and to NULL when the thread ends. NULL: memory is short, which is
 * counted. An initial-exec pointer costs one load, but then all thread-local data of its library
 * must fit into the few words that the loader has left. */
RT_API void *rt_room(void **slot, size_t bytes);

/* dlopen() for the probes' own threads. A fork of the program waits for it, 1 s at most, so that no
 * child gets a library that is only half loaded. Also NULL if another such call takes that long. */
RT_API void *rt_dlopen(const char *file, int flags);

/* Calls `each` for every library of the process, which stays loaded during the call. name: its
 * path, "" for the program itself. For the probes' own threads. */
RT_API void rt_modules(void (*each)(void *handle, const char *name, void *arg), void *arg);
/* Whether this probe must not come into the running process, because XLA computes on a GPU there
 * (schema/attach.h). Any thread. */
RT_API bool rt_late_xla(const char *probe);
/* The library's own definition of a symbol, not that of a dependency. NULL: it has none. */
RT_API void *rt_module_symbol(void *handle, const char *symbol);
/* The library's program headers, *borrowed* while it stays loaded, and where it was loaded; NULL:
 * not found. */
RT_API const ElfW(Phdr) *rt_module_phdr(void *handle, uintptr_t *base, int *count);
/*
 * A watch for libraries that are loaded later. Any thread calls rt_modules_seen() when it is about
 * to look at all of them. From then on rt_modules_came(), on the runtime's thread (now_ns: its
 * time), answers at most ten times a second whether libraries were loaded since. A watch that is
 * all zero never answers yes.
 */
struct rt_modules_watch {
	_Atomic uint64_t loaded;
	atomic_bool on;
	int64_t looked_ns;		/* used by the runtime's thread */
};
RT_API void rt_modules_seen(struct rt_modules_watch *watch);
RT_API bool rt_modules_came(struct rt_modules_watch *watch, int64_t now_ns);

/* Copies memory of our own process that may not be mapped. Returns how many bytes were copied. */
RT_API size_t rt_peek(void *to, const void *from, size_t bytes);
/* getenv() for threads beside the program's, see env.c. Returns text, which has the value, or NULL:
 * there is none, or it does not fit into size bytes. */
RT_API const char *rt_env(const char *name, char *text, size_t size);

/* Adds to the number of dropped events in the beat. */
RT_API void rt_dropped(uint64_t n);
RT_API void rt_vendor_dropped(uint64_t n);
/* Time this probe spent in its own code, from sampled measurements. */
RT_API void rt_own_time(int64_t ns);

#endif
