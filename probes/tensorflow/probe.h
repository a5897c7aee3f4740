/* SPDX-License-Identifier: MIT */
/*
 * What the files of the TensorFlow probe share.
 *
 * Every hook is called in place of a function of TensorFlow, with its arguments, and calls the
 * original: tf_original(). It is in the path only while the level is not off
 * (probes/runtime/slots.h). Hooks preserve errno if they do more than call the original and the
 * runtime.
 *
 * To add a hook: a row in probes/tensorflow/symbols.h if the symbol is new, the function in a file
 * of your own, its prototype here and a row in the table of tensorflow.c.
 */
#ifndef PROBES_TENSORFLOW_PROBE_H
#define PROBES_TENSORFLOW_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/runtime/runtime.h"
#include "probes/tensorflow/symbols.h"

/* ---- tensorflow.c ---- */

extern const struct tft_interposed *tf_lib;	/* set before any hook is in the path */
/* A function of TensorFlow's by its symbol, looked up once; NULL: this version has none. */
#define TF_FIND(type, pointer, symbol) do { \
	static void *found_; \
	void *have_ = __atomic_load_n(&found_, __ATOMIC_RELAXED); \
	if (!have_) { \
		have_ = tf_lib->find(symbol); \
		__atomic_store_n(&found_, have_, __ATOMIC_RELAXED); \
	} \
	(pointer) = (type)have_; \
} while (0)

/* The originals of hooked functions; never NULL inside their hooks. */
extern void *tf_originals[TFT_TF_COUNT];
static inline void *tf_original(enum tft_tf_function function)
{
	return __atomic_load_n(&tf_originals[function], __ATOMIC_RELAXED);
}

/* The probe cannot record something: sends a message, and from the next dump on adds it to what the
 * probe says about itself. `text` is a literal, one clause. */
void tf_blind(const char *text);

/* ---- find.c ---- */

/* Name ids of an op's name and type, by their bytes; found without a lock. */
struct tf_ids {
	uint32_t name, type;
};
struct tf_ids tf_ids(const char *name, size_t name_length, const char *type, size_t type_length);
void tf_ids_fork_child(void);
/* Never 0; find.c says how unlikely collisions are. */
uint64_t tf_hash(const char *text, size_t length);

/* ---- device.c ---- */

/* std::string of libstdc++ */
struct tf_string {
	char *text;
	size_t length;
	char inside[16];
};
void tf_string_free(struct tf_string *s);

void tf_device_fork_child(void);
void tf_cpu_compute(void *device, void *kernel, void *context);
void tf_gpu_compute(void *device, void *kernel, void *context);
void tf_cpu_compute_async(void *device, void *kernel, void *context, void *done);
void tf_gpu_compute_async(void *device, void *kernel, void *context, void *done);
void tf_kernel_gone(void *kernel);

/* ---- runs.c: to which graph an op belongs ---- */

/* A called function, while it runs. */
struct tf_run {
	uint32_t graph;			/* name id of its graph */
	_Atomic uint64_t *place;	/* NULL: its step id is unknown so far */
	struct tf_run *outer;		/* the enclosing call on the same thread */
};
void tf_run_begin(struct tf_run *run, const char *function);
void tf_run_end(struct tf_run *run);
/* An eager op is about to run on this thread; 0: it has run. */
void tf_run_eager(uint32_t graph);
/* The graph of the op that starts now in that step: a name id; 0: unknown. */
uint32_t tf_run_graph(int64_t step);
void *tf_prepare_run(void *status, const void *runtime, const void *options, uint64_t handle,
		     void *data);
void tf_runs_fork_child(void);

/* ---- kernels.c ---- */

/* Kernels on the CPU: requests oneDNN's lines, where that is possible. */
void tf_kernels_start(void);
void tf_kernels_tick(int64_t now_ns, enum tft_level level);
void tf_onednn_verbose(const char *text, int flag);

/* ---- executor.c: thread pools ---- */

void tf_pools_start(void);
/* tf_pools_level() is called at each change of the level; tf_pools_tell() sends about once a
 * second, or now. */
void tf_pools_level(enum tft_level level);
void tf_pools_tell(bool now);
void tf_pools_fork_child(void);

void *tf_pools_profiler_start(void *status, void *profiler);
void *tf_pools_profiler_stop(void *status, void *profiler);

/* ---- flow.c: tensors that go to other processes ---- */

/* An asynchronous op that may receive a tensor. */
struct tf_recv {
	int64_t step, asked_ns;
	uint64_t key;			/* 0: it receives none */
	uint32_t name;
	bool remote;
};
/* The op that is being started on this thread; NULL: none. */
extern _Thread_local struct tf_recv *tf_recv_now;
/* The op has received its tensor. */
void tf_received(const struct tf_recv *recv, uint64_t instance);
/* Called every 25 ms. */
void tf_flow_tick(void);

void *tf_send(void *status, void *rendezvous, const void *key, void *args, const void *tensor,
	      uintptr_t dead);
void *tf_encode(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e);
void *tf_parse(void *status, void *response, void *source);
void tf_recv_async(void *rendezvous, const void *key, void *args, void *done);

/* ---- calls.c: functions as the C API declares them ---- */

void tf_execute(void *op, void **results, int *count, void *status);
void tf_session_run(void *session, const void *options, const void *inputs, void *const *values,
		    int n_inputs, const void *outputs, void **results, int n_outputs,
		    const void *const *targets, int n_targets, void *metadata, void *status);

#endif
