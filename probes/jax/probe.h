/* SPDX-License-Identifier: MIT */
/*
 * What the files of the JAX probe share.
 *
 * XLA says what it does as trace events (probes/traceme/traceme.h), each when it has
 * ended; record.c takes the function that records them. Two things begin where we
 * see it: a call of a jitted function, in Python's thread (call.c), and a run of a
 * program, which gets its number there (runs.c). Kernels ("thunks") name the run that
 * they are of. Sources: XLA's xla/pjrt/cpu/cpu_client.cc,
 * xla/backends/cpu/runtime/thunk.cc, thunk_executor.cc; jaxlib/pjit.cc.
 *
 * All but jax_*_start() runs in the program's path, on any thread of it: short, without
 * locks around calls of the program, and without the GIL but for calls.
 */
#ifndef PROBES_JAX_PROBE_H
#define PROBES_JAX_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/jax/patch.h"
#include "probes/jax/symbols.h"
#include "probes/runtime/runtime.h"
#include "probes/traceme/traceme.h"

#define JAX_TEXT_BYTES 256

/* ---- jax.c ---- */

/* Something cannot be seen: a message, and a part of what the probe says of itself.
 * `text` is a literal, one clause. While the probe is loaded only. */
void jax_blind(const char *text);

/* A name of the text's length; longer than JAX_TEXT_BYTES is cut. */
uint32_t jax_name(enum tft_name_kind kind, const char *text, size_t length);

/* ---- record.c: where events come from ---- */

/* symbols: as jax.c has them, found or not. False: no events. */
bool jax_record_start(const struct patch_symbol *symbols);
void jax_record_level(enum tft_level level);
void jax_record_tick(void);

/* ---- call.c ---- */

void jax_call_start(const struct patch_symbol *vectorcall);
/* "PjitFunction(step)": the call that is about to end is of that function. */
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
/* A part of a run on one thread. */
void jax_executed(const struct traceme *t);
/* "...(wait for completion)#run_id=7,...#": a run is done. */
void jax_run_done(const struct traceme *t);
/* Begin of the oldest run that is not done, INT64_MAX none. */
int64_t jax_runs_pending_ns(void);
void jax_runs_fork_child(void);

/* ---- compile.c ---- */

/* "CpuCompiler::RunBackend#name=jit_step#", and what came before it on its thread. */
void jax_built(const struct traceme *t);
void jax_pass(const struct traceme *t);
/* The function was traced for the so-manieth time. */
void jax_retraced(uint32_t name, const char *text, size_t length, int64_t start_ns,
		  int64_t dur_ns);

/* ---- waits.c ---- */

/* The program waits for results. */
void jax_awaited(const struct traceme *t);

/* symbols that jax.c looks for */
enum jax_symbol {
	JAX_RECORD, JAX_START, JAX_STOP, JAX_CLEAR, JAX_CONSUME,
	JAX_LEVEL, JAX_FILTER, JAX_LOCATIONS,
	JAX_VECTORCALL, JAX_NEXT_ID,
	JAX_SYMBOLS
};

#endif
