/* SPDX-License-Identifier: MIT */
/*
 * The names of BLAS's functions: sgemm_, cblas_dgemm, their variants with 64-bit integers
 * (sgemm_64_, cblas_dgemm64_), and those in NumPy's and SciPy's wheels (scipy_cblas_dgemm64_).
 * libtftop-start.so looks for these names among the functions that a library calls.
 */
#ifndef PROBES_BLAS_SYMBOLS_H
#define PROBES_BLAS_SYMBOLS_H

#include <stdbool.h>

#define TFT_BLAS_ENV "TFTOP_BLAS"
#define TFT_BLAS_ENTRY "tft_blas_start"

/* The routines of level 3, then those of level 2. work.c knows which arguments are their sizes. */
enum blas_routine {
	BLAS_GEMM, BLAS_GEMM_BATCH, BLAS_GEMM_BATCH_STRIDED, BLAS_GEMMT, BLAS_SYMM, BLAS_SYRK,
	BLAS_SYR2K, BLAS_TRMM, BLAS_TRSM,
	BLAS_GEMV, BLAS_SYMV, BLAS_TRMV, BLAS_TRSV, BLAS_GER, BLAS_SYR, BLAS_SYR2,
	BLAS_ROUTINES
};

struct blas_name {
	enum blas_routine routine;
	char text[24];		/* such as "sgemm" */
	bool complex;
	/* C's convention: sizes are passed by value, after the layout; otherwise all arguments are
	 * passed by address */
	bool cblas;
	bool wide;		/* integers have 64 bits */
};

/* false: it is not such a name. */
bool blas_name(const char *symbol, struct blas_name *out);
bool blas_is_name(const char *symbol);

#endif
