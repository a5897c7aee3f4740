/* SPDX-License-Identifier: MIT */
/*
 * What the files of the JAX probe share.
 *
 * XLA reports what it does as trace events (probes/traceme/traceme.h), each at the end of the
 * work; record.c replaces the function that records them. The probe itself sees the begin of two
 * things: a call of a jitted function, in Python's thread (call.c), and a run of a program, which
 * gets its number there (runs.c). Kernels ("thunks") carry the number of their run; kernels that
 * are already known are timed without an event (thunks.c).
 * Sources: XLA's xla/pjrt/cpu/cpu_client.cc, xla/backends/cpu/runtime/thunk.cc,
 * thunk_executor.cc; jaxlib/pjit.cc.
 *
 * Everything except jax_*_start() runs inside of the program's calls, on any of its threads. So
 * it is short, holds no lock around calls of the program, and has no GIL except in calls.
 */
#ifndef PROBES_JAX_PROBE_H
#define PROBES_JAX_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/jax/patch.h"
#include "probes/jax/symbols.h"
#include "probes/python/python.h"
#include "probes/runtime/quick.h"
#include "probes/runtime/runtime.h"
#include "probes/traceme/traceme.h"

#define JAX_TEXT_BYTES 256
#define JAX_DEPTH_MAX 64
#define JAX_KNOWN 1024u		/* kernels of a thread, by their text; a power of two */
#define JAX_RUNNING_MAX 16

/* ---- of each thread ---- */

struct jax_call {
	struct py_where where;
	uint32_t name;
	int64_t traced_ns, trace_end_ns;	/* 0: it was not traced */
	/* 0: it was not compiled, or by an XLA whose own events tell of it */
	int64_t compile_ns, compile_end_ns;
	bool compiled;
};

struct jax_kernel {
	uint32_t name, shape, module;
};

/* A running kernel that XLA will report by an event when it has returned. */
struct jax_running {
	const void *thunk, *params;
	uint32_t before;	/* value of `kernels` when it started */
	bool known;
};

struct jax_thread {
	/* Used for each kernel. thunks.c: */
	struct rt_quick *clock;	/* also the clock of the thread's ops */
	uint32_t next;		/* the entry that followed the last kernel when that was learnt */
	/* runs.c: */
	uint32_t number;	/* of this thread, as in ids of kernels; 0: unknown */
	uint64_t ended;		/* the last kernel of this thread that was reported as done */
	int64_t executed_ns;	/* start of the last part of a run on this thread */
	int64_t kernel_ns;	/* start of the last kernel on this thread */
	uint32_t kernels;	/* how many kernels were recorded on this thread */
	uint64_t blocks;	/* memory.c: blocks whose owner is not known yet */
	uint64_t in_run, in_op;	/* the run of the last kernel, and its op; 0: none */
	uint64_t in_call;	/* the call that requested this run ... */
	uint32_t in_call_name;	/* ... and its name; for a call that has a line of Python */
	/* call.c */
	struct jax_call call[JAX_DEPTH_MAX];
	int depth;		/* depth of the calls; may exceed the size of the array */
	char text[JAX_TEXT_BYTES];
	size_t length;		/* of the last name ... */
	uint32_t name;		/* ... and its id */
	/* compile.c: the thread's compilation since the last program was ready */
	int64_t compile_ns;	/* start of the first pipeline of passes; 0: none */
	uint32_t passes;
	/* waits.c */
	int64_t await_ns, awaited_ns;
	/* thunks.c */
	struct jax_running run[JAX_RUNNING_MAX];
	int running;		/* how many are running; may exceed the size of the array */
	struct jax_known {	/* runs.c */
		uint64_t hash;
		struct jax_kernel kernel;
	} known[JAX_KNOWN];
};

extern _Thread_local void *jax_thread_own __attribute__((tls_model("initial-exec")));

/* NULL: memory is short. */
struct jax_thread *jax_self_new(void);
static inline struct jax_thread *jax_self(void)
{
	struct jax_thread *t = jax_thread_own;

	return __builtin_expect(t != NULL, 1) ? t : jax_self_new();
}

/* ---- jax.c ---- */

/* The probe cannot record something: sends a message, and adds it to what the probe says about
 * itself. `text` is a literal, one clause. */
void jax_blind(const char *text);
/* Whether XLA's library for GPUs has been loaded; known within 100 ms. */
bool jax_on_gpu(void);

/* The id of a name of this length; names longer than JAX_TEXT_BYTES are cut. */
uint32_t jax_name(enum tft_name_kind kind, const char *text, size_t length);

/* ---- record.c: where events come from ---- */

/* symbols: as jax.c found them, or not. false: there will be no events. */
bool jax_record_start(const struct patch_symbol *symbols);
/* All hooks are in place: events come from now on. */
void jax_record_begin(void);
#define JAX_LEVEL_NONE (-1)	/* XLA's level when nobody wants events */
void jax_record_level(enum tft_level level);
void jax_record_tick(void);
/* The level of the program's own profiler session. */
#define JAX_NO_SESSION (-1)
extern _Atomic int jax_session_level;
static inline bool jax_session(void)
{
	return atomic_load_explicit(&jax_session_level, memory_order_relaxed) != JAX_NO_SESSION;
}

/* ---- call.c ---- */

void jax_call_start(const struct patch_symbol *vectorcall, const struct patch_symbol *dealloc);
/* "PjitFunction(step)": names the function of the call that is about to end. */
void jax_call_named(const struct traceme *t);
/* Tracing and compiling are parts of the innermost call of this thread. */
void jax_call_traced(const struct traceme *t);
void jax_call_compiled(const struct traceme *t);

/* ---- runs.c ---- */

void jax_runs_start(const struct patch_symbol *next_id);
/* A kernel: "dot#hlo_op=dot,hlo_module=jit_step,program_id=14,run_id=7,...,_p=3#" */
void jax_thunk(const struct traceme *t);
/* "end: dot#_ct=0,_c=3#": the kernel with that _p is done. */
void jax_thunk_done(const struct traceme *t);
/* The part of a run on one thread has ended. */
void jax_executed(const struct traceme *t);
/* "...(wait for completion)#run_id=7,...#": a run is done. */
void jax_run_done(const struct traceme *t);
/* Start of the oldest run that is not done; INT64_MAX: none. */
int64_t jax_runs_pending_ns(void);
void jax_runs_fork_child(void);
/* A kernel of run number `run` has returned on this thread, and is done; outer: other kernels ran
 * within it. */
void jax_thunk_ran(struct jax_thread *t, const struct jax_kernel *k, uint64_t run,
		   int64_t start_ns, int64_t end_ns, bool outer);

/* ---- thunks.c ---- */

/* What an event says about the kernel that returns now on this thread. */
struct jax_told {
	struct jax_kernel kernel;
	const char *name, *module;	/* borrowed */
	size_t name_length, module_length;
	uint64_t program, run;
	bool later;			/* it continues on other threads */
};

/* symbols: as jax.c has them. */
void jax_thunks_start(const struct patch_symbol *symbols);
/* The kernel that returns now on this thread, if it is not known yet; else NULL. */
const struct jax_running *jax_thunk_running(const struct jax_thread *t);
/* Whether other kernels ran within the one that returns now, which began at start_ns by XLA's
 * clock. */
bool jax_thunk_outer(const struct jax_thread *t, int64_t start_ns);
void jax_thunk_told(const struct jax_told *told);

/* ---- copies.c ---- */

void jax_copies_start(const struct patch_symbol *linearize);
/* "H2D Dispatch": a thread of XLA has copied. */
void jax_copy_done(const struct traceme *t);
/* Start of the oldest copy that has not been written; INT64_MAX: none. */
int64_t jax_copies_pending_ns(void);
void jax_copies_off(void);
void jax_copies_fork_child(void);

/* ---- between.c ---- */

/* symbols: as jax.c has them. */
void jax_between_start(const struct patch_symbol *symbols);
/* As jax_copies_pending_ns(). */
int64_t jax_between_pending_ns(void);
void jax_between_fork_child(void);

/* ---- memory.c ---- */

/* symbols: as jax.c has them. */
void jax_memory_start(const struct patch_symbol *symbols);
/* Attributes the waiting blocks of this thread to that op (0: to no known op). To be called if
 * t->blocks is not 0. */
void jax_memory_for(struct jax_thread *t, uint64_t op, uint32_t op_name);
void jax_memory_tick(int64_t now_ns);
void jax_memory_fork_child(void);

/* ---- compile.c ---- */

/* A compilation, "CpuCompiler::RunBackend#name=jit_step#", or a pass before it, ended on a thread
 * of XLA. */
void jax_built(const struct traceme *t);
void jax_pass(const struct traceme *t);
/* The Python thread has received what was compiled for it. false: no event of XLA told of it. */
bool jax_compiled(const struct traceme *t);
/* An XLA whose events are not seen has compiled the function, for the call that now ends. */
void jax_built_unseen(const char *function, size_t length, int64_t start_ns, int64_t end_ns);
/* Writes the compilations that no thread has claimed, or all. */
void jax_compile_tick(int64_t now_ns, bool all);
/* The function was traced once more. */
void jax_retraced(uint32_t name, const char *text, size_t length, int64_t start_ns,
		  int64_t dur_ns);

/* ---- pjrt.c ---- */

/* The library with that address inside gets XLA's plugins from now on through the probe. Before it
 * has got one. */
void jax_pjrt_start(const void *inside);

/* ---- waits.c ---- */

void jax_waits_start(void);
/* The program waits for results. */
void jax_awaited(const struct traceme *t);

/* The symbols that jax.c looks for. */
enum jax_symbol {
	JAX_RECORD, JAX_START, JAX_STOP, JAX_CLEAR, JAX_CONSUME,
	JAX_LEVEL, JAX_FILTER, JAX_LOCATIONS,
	JAX_VECTORCALL, JAX_DEALLOC, JAX_NEXT_ID, JAX_LINEARIZE,
	JAX_TRACED, JAX_AND_THEN, JAX_CALL_TABLE, JAX_CALL_EXECUTE, JAX_WHILE_TABLE,
	JAX_WHILE_EXECUTE, JAX_ALLOCATE, JAX_MEMORY_TABLE, JAX_MEMORY_GONE,
	JAX_SCHEDULE_COPY, JAX_RAW_COPY,
	JAX_LINEARIZE_0_12, JAX_SCHEDULE_0_12, JAX_RAW_COPY_0_12,
	JAX_SYMBOLS
};

#endif
