/* SPDX-License-Identifier: MIT */
/*
 * What the files of the BLAS probe share: blas.c is the probe, calls.c has the functions that are
 * called instead of BLAS's, and work.c computes how many operations a call performs.
 *
 * A replacement calls the function that the library would have called, with every word that may be
 * an argument, and returns its result. When BLAS calls BLAS on the same thread, the inner call is
 * part of the outer one.
 */
#ifndef PROBES_BLAS_PROBE_H
#define PROBES_BLAS_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/blas/symbols.h"
#include "probes/start/libraries.h"

/* ---- work.c ---- */

/* The longest argument lists: that of Fortran's gemm_batch_strided with two hidden lengths, and
 * those of C for complex numbers. */
#define BLAS_WORDS 20

/* What a call computes. */
struct blas_work {
	uint64_t m, n, k;	/* 0: the routine has no such size */
	uint64_t batch;		/* number of products: 1, or those of the whole batch */
	uint64_t flop;
	uint8_t flags[4];	/* 'N', 'T', 'L', ..., as many as the routine has */
	bool mixed;		/* a batch of several sizes, so that m, n and k are not reported */
};

/* false: the arguments are not valid. */
bool blas_read(const struct blas_name *name, const uintptr_t *words, struct blas_work *out);

/* Writes the sizes as text, such as "m=512 n=10 k=784 NT". */
void blas_text(const struct blas_work *work, char *text, size_t size);

/* ---- calls.c ---- */

/* The function of the probe that replaces this one; NULL: no more replacements are left, or the
 * function already is one. */
void *blas_call(const struct blas_name *name, const struct tft_import *import);

/* Whether no more replacements are left. */
bool blas_full(void);

#endif
