/* SPDX-License-Identifier: MIT */
/* Hand-made slices, for the analyses of launches, kernels and copies. */
#ifndef TESTS_UNIT_ANALYSES_WORK_H
#define TESTS_UNIT_ANALYSES_WORK_H

#include "model/analyses/analyses.h"

/* Acts that are collected and then handed to one analysis as a slice. */
struct bench {
	struct model *model;		/* owned; with one device and two queues */
	const struct analysis *analysis;
	void *state;			/* owned */
	struct act *acts;		/* owned */
	size_t n, cap;
	int64_t next_number;
	bool bare;			/* the next steps are bare: ops are missing */
};

void bench_init(struct bench *bench, const struct analysis *analysis);
void bench_release(struct bench *bench);
/* Adds an act; members that are not set are 0 or NONE. The model has no threads: if an act sets
 * one, thread_label() must not be called with its number. */
struct act *bench_act(struct bench *bench, enum act_kind kind, int64_t start_ns, int64_t end_ns);
struct act *bench_kernel(struct bench *bench, uint32_t name, int64_t start_ns, int64_t end_ns);
struct act *bench_copy(struct bench *bench, enum direction direction, uint64_t bytes,
		       uint32_t object, int64_t start_ns, int64_t end_ns);
/* Hands out the collected acts, sorted, as the step [t0, t1), and clears them. */
void bench_step(struct bench *bench, int64_t t0, int64_t t1);
/* The same as a time that is not in a step. */
void bench_between(struct bench *bench, int64_t t0, int64_t t1);
/* A name of the model, made if it is new. */
uint32_t bench_name(struct bench *bench, const char *text);
/* One review: returns how many findings have that id (NULL: any); *out is the first one. */
size_t bench_review(struct bench *bench, const char *id, struct finding *out);

#endif
