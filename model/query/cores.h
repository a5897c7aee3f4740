/* SPDX-License-Identifier: MIT */
/*
 * How busy the processor is with a framework's ops and kernels, for the header
 * and the report of programs that have no other device: model/analyses/cores.c.
 * Settled time only; rules as in model/query/query.h.
 */
#ifndef MODEL_QUERY_CORES_H
#define MODEL_QUERY_CORES_H

#include <stdbool.h>
#include <stdint.h>

struct model;

#define CORES_LIBRARIES 5u

struct cores_use {
	int64_t span_ns;	/* the part of the window about which anything is known */
	int64_t busy_ns;	/* sum over all threads */
	int64_t any_ns;		/* at least one thread was busy */
	int64_t input_ns;	/* an op fetched a batch or waited for it */
	const char *top;	/* the library whose kernels take most time; NULL: none */
	int64_t top_ns;		/* time of its kernels on all threads, included in busy_ns */
	int64_t library_ns[CORES_LIBRARIES];
};

/* The use of the processor in [t0, t1). Detail that is too old to be kept is not included. false:
 * nothing is known. [locked] */
bool model_cores(struct model *model, int64_t t0, int64_t t1, struct cores_use *out);

#endif
