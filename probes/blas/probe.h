/* SPDX-License-Identifier: MIT */
/*
 * What the files of the BLAS probe share: blas.c is the probe, calls.c has the functions that are
 * called instead of BLAS's, work.c computes how many operations a call has to do.
 *
 * A replacement calls the function that the library would have called, with every word that may
 * be an argument, and returns its result. When BLAS calls BLAS on the same thread, the inner call
 * is part of the outer one.
 */
#ifndef PROBES_BLAS_PROBE_H
#define PROBES_BLAS_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/blas/symbols.h"
#include "probes/start/libraries.h"

/* ---- work.c ---- */

/* The longest argument lists: Fortran's gemm_batch_strided with two hidden lengths,
 * C's of complex numbers. */
#define BLAS_WORDS 20

/* What a call has to do. */
struct blas_work {
	uint64_t m, n, k;	/* 0: the routine has none such */
	uint64_t batch;		/* products; 1, or of a batch all */
	uint64_t flop;
	uint8_t flags[4];	/* 'N', 'T', 'L', ... as far as there are */
	bool mixed;		/* a batch of several sizes: m, n and k are not told */
};

/* False: the arguments make no sense. */
bool blas_read(const struct blas_name *name, const uintptr_t *words, struct blas_work *out);

/* "m=512 n=10 k=784 NT" */
void blas_text(const struct blas_work *work, char *text, size_t size);

/* ---- calls.c ---- */

/* A function of ours for this place; NULL: there are no more, or it is ours already. */
void *blas_call(const struct blas_name *name, const struct tft_import *import);

/* Whether there were no more. */
bool blas_full(void);

#endif
