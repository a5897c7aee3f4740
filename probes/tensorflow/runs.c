/* SPDX-License-Identifier: MIT */
/*
 * To which graph an op belongs. Nodes of two functions may have the same name; the step id tells
 * them apart. TensorFlow makes one for each run of a function that is called, prepares the run on
 * the calling thread, and every op of the run carries it, on whatever thread. So the first run that
 * is prepared during a call is that of the called function. Runs of functions that it calls in turn
 * (tf.data's, for example) have ids of their own or the same one.
 *
 * Eager ops run on the thread that asks for them, before all that they run in turn.
 */
#include <string.h>

#include "probes/tensorflow/graph.h"
#include "probes/tensorflow/probe.h"

/* Of each run that is on: the upper bits of its mixed step id, and the name id of
 * its graph. A set is a cache line. Two steps are taken for one another in one of
 * 2^43 cases. */
#define SETS 32u
#define WAYS 8u
#define ID_BITS 21		/* of rt_name() */
#define ID_MASK (((uint64_t)1 << ID_BITS) - 1)

static _Alignas(64) _Atomic uint64_t running[SETS][WAYS];	/* 0: free */

static _Thread_local struct {
	struct tf_run *run;	/* of the function that this thread has called, innermost */
	uint32_t eager;		/* graph of the op whose kernel is to run next */
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

/* Its graph's place; NULL: there is none free. */
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

/* What the parent's other threads ran ends nowhere here. */
void tf_runs_fork_child(void)
{
	for (struct tf_run *run = thread.run; run; run = run->outer)
		run->place = NULL;
	memset(running, 0, sizeof(running));
}
