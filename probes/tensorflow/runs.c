/* SPDX-License-Identifier: MIT */
/*
 * Determines to which graph an op belongs. Nodes of two functions may have the same name; the step
 * id tells them apart. TensorFlow makes one for each run of a function that is called, prepares the
 * run on the calling thread, and every op of the run carries it, on any thread. So the first run
 * that is prepared during a call is that of the called function. Runs of functions that it calls in
 * turn (those of tf.data, for example) have ids of their own or the same one.
 *
 * Eager ops run on the thread that requests them, before everything that they run in turn.
 */
#include <string.h>

#include "probes/tensorflow/graph.h"
#include "probes/tensorflow/probe.h"

/* For each current run: the upper bits of its mixed step id, and the name id of its graph. A set is
 * a cache line. Two steps are mistaken for each other in one of 2^43 cases. */
#define SETS 32u
#define WAYS 8u
#define ID_BITS 21		/* of rt_name() */
#define ID_MASK (((uint64_t)1 << ID_BITS) - 1)

static _Alignas(64) _Atomic uint64_t running[SETS][WAYS];	/* 0: unused */

static _Thread_local struct {
	struct tf_run *run;	/* the innermost function that this thread has called */
	uint32_t eager;		/* graph of the op whose kernel runs next */
} thread;

static inline uint64_t mix(int64_t step)
{
	uint64_t key = (uint64_t)step * 0x9e3779b97f4a7c15u;

	return key ^ key >> 32;
}

void tf_run_begin(struct tf_run *run, const char *function)
{
	static const char type[] = "function";
	uint32_t graph = tf_ids(function, strnlen(function, TF_GRAPH_NAME - 1), type,
				sizeof(type) - 1).name;

	*run = (struct tf_run){ .graph = graph <= ID_MASK ? graph : 0, .outer = thread.run };
	thread.run = run;
}

void tf_run_end(struct tf_run *run)
{
	thread.run = run->outer;
	if (run->place)
		atomic_store_explicit(run->place, 0, memory_order_relaxed);
}

void tf_run_eager(uint32_t graph)
{
	thread.eager = graph;
}

/* A place for the graph; NULL: there is none unused. */
static _Atomic uint64_t *take_place(int64_t step, uint32_t graph)
{
	uint64_t key = mix(step), word = (key & ~ID_MASK) | graph;

	for (uint32_t i = 0; i < WAYS; i++) {
		_Atomic uint64_t *place = &running[key % SETS][i];
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(place, &none, word))
			return place;
	}
	return NULL;
}

void *tf_prepare_run(void *status, const void *runtime, const void *options, uint64_t handle,
		     void *data)
{
	struct tf_run *run = thread.run;

	if (run && run->graph && !run->place)
		run->place = take_place(*(const int64_t *)options, run->graph);
	return ((void *(*)(void *, const void *, const void *, uint64_t, void *))
		tf_original(TFT_TF_PREPARE_RUN))(status, runtime, options, handle, data);
}

uint32_t tf_run_graph(int64_t step)
{
	uint64_t key = mix(step), word;
	uint32_t eager;

	for (uint32_t i = 0; i < WAYS; i++) {
		word = atomic_load_explicit(&running[key % SETS][i], memory_order_relaxed);
		if (!((word ^ key) & ~ID_MASK))
			return word & ID_MASK;
	}
	eager = thread.eager;
	thread.eager = 0;
	return eager;
}

/* What the parent's other threads were running never ends here. */
void tf_runs_fork_child(void)
{
	for (struct tf_run *run = thread.run; run; run = run->outer)
		run->place = NULL;
	memset(running, 0, sizeof(running));
}
