/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's own trace events, TraceMe: which of them the probe uses.
 *
 * An event arrives when it has ended, on the thread on which it ran, with its start and end; events
 * inside it have arrived before. The level (1 to 3), which the probe sets, decides which events are
 * recorded: 2 includes steps, functions, tf.data, Send/Recv, compilers.
 *
 * To receive events of some name, add a row to the table in traceme.c (in any order): the first
 * bytes of the name, and a function. The function gets each event once, on the thread that recorded
 * it, inside the program's calls: it must be short, and neither allocate nor lock.
 *
 * Always true:
 *  - The program's own profiler gets the same events as without tftop, and while it is on, the
 *    probe gets those of its level.
 *  - At level off no event is recorded.
 */
#ifndef PROBES_TENSORFLOW_TRACEME_H
#define PROBES_TENSORFLOW_TRACEME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/runtime/runtime.h"
#include "probes/traceme/traceme.h"

typedef void tf_trace_take(const struct traceme *t);

/* Called before the first hook, at each change of the level, every 10 ms, and in the child of a
 * fork. */
void tf_trace_start(void);
void tf_trace_level(enum tft_level level);
void tf_trace_tick(void);
/* Whether the program's own profiler is on. */
bool tf_trace_session(void);
/* Whether the executor's library does not report what level 2 includes, see traceme.c. */
bool tf_trace_apart(void);
/* Iterators run functions in parallel: keeps their events recorded for a while. */
void tf_trace_functions(void);

/* ---- gate.c: marks that are made in Python ---- */

void tf_gate_start(void);
void tf_gate_level(enum tft_level level);
void tf_gate_tick(int64_t now_ns);
/* A session of the program's own profiler ends on the calling thread. */
void tf_gate_session_ended(void);
void tf_gate_fork_child(void);
/* To be called on any thread of the program, inside a call of the program. */
extern atomic_bool tf_gate_due;
void tf_gate_ask(void);
static inline void tf_gate_poll(void)
{
	if (atomic_load_explicit(&tf_gate_due, memory_order_relaxed))
		tf_gate_ask();
}

/* ---- functions that receive events ---- */

/* calls.c: a session's run that did not go through the C API is a step, too. */
tf_trace_take tf_session_traced;
/* compile.c: `call` is the value of "tf_function_call". */
void tf_function_traced(const struct traceme *t, const char *call, size_t length);
tf_trace_take tf_xla_traced, tf_building_traced;
/* kernels.c: a parallel loop of Eigen's; a piece of a compiled graph, by the
 * value of "hlo_op". */
tf_trace_take tf_loop_traced;
void tf_thunk_traced(const struct traceme *t, const char *op, size_t length);

/* tfdata.c: a stage's call, work of its own threads, its function's start, any
 * function's end, and an element that came to the program. */
tf_trace_take tf_stage_called, tf_stage_worked, tf_stage_function, tf_function_done;
tf_trace_take tf_stage_fetched;
/* Once, before the first; false: iterators have no names. */
bool tf_stages_start(void);
/* About once a second, or now. */
void tf_stages_tell(bool now);
void tf_stages_dump(void);
void tf_stages_fork_child(void);

/* ---- hooks ---- */

struct tf_string;
struct tf_string *tf_trace_string(struct tf_string *s, const void *kernel, const void *context,
				  bool verbose);
struct tf_events {	/* std::vector: bytes that we hand through */
	void *part[3];
};
void *tf_get_next(void *status, void *iterator, void *context, void *tensors, void *end);
void tf_record_tsl(struct traceme_event *e);
void tf_record_tf(struct traceme_event *e);
bool tf_start_tsl(int level);
bool tf_start_filter_tsl(int level, uint64_t filter);
bool tf_start_filter_bool_tsl(int level, uint64_t filter, bool more);
bool tf_start_tf(int level);
struct tf_events tf_stop_tsl(void);
struct tf_events tf_stop_tf(void);
bool tf_start_recording_tsl(void *recorder, int level);
bool tf_start_recording_tf(void *recorder, int level);
struct tf_events tf_stop_recording_tsl(void *recorder);
struct tf_events tf_stop_recording_tf(void *recorder);

#endif
