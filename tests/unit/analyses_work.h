/* SPDX-License-Identifier: MIT */
/* Slices made by hand, for the analyses over launches, kernels and copies. */
#ifndef TESTS_UNIT_ANALYSES_WORK_H
#define TESTS_UNIT_ANALYSES_WORK_H

#include "model/analyses/analyses.h"

/* Acts put together, then handed to one analysis as a slice. */
struct bench {
	struct model *model;		/* owned; with one device and two queues */
	const struct analysis *analysis;
	void *state;			/* owned */
	struct act *acts;		/* owned */
	size_t n, cap;
	int64_t next_number;
};

void bench_init(struct bench *bench, const struct analysis *analysis);
void bench_release(struct bench *bench);
/* The next act; what is not set is 0 or NONE. The model has no thread: an act that sets one has a
 * number that thread_label() must not be asked for. */
struct act *bench_act(struct bench *bench, enum act_kind kind, int64_t start_ns, int64_t end_ns);
struct act *bench_kernel(struct bench *bench, uint32_t name, int64_t start_ns, int64_t end_ns);
struct act *bench_copy(struct bench *bench, enum direction direction, uint64_t bytes,
		       uint32_t object, int64_t start_ns, int64_t end_ns);
/* Hands out what was put in as the step [t0, t1), sorted, and forgets it. */
void bench_step(struct bench *bench, int64_t t0, int64_t t1);
/* The same as a time that is in no step. */
void bench_between(struct bench *bench, int64_t t0, int64_t t1);
/* A name of the model, made if need be. */
uint32_t bench_name(struct bench *bench, const char *text);
/* One review: how many findings of that id (NULL: all); the first in *out. */
size_t bench_review(struct bench *bench, const char *id, struct finding *out);

#endif
