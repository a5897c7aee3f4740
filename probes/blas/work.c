/* SPDX-License-Identifier: MIT */
/*
 * Computes how many operations a call of BLAS performs, from its arguments. A multiplication and an
 * addition are two operations, for complex numbers eight. alpha and beta are not counted. For a
 * triangular matrix only the triangle counts (LAPACK working note 41, without its lower terms).
 */
#include <stdio.h>
#include <string.h>

#include "probes/blas/probe.h"

/* Where the arguments are: counted from 0 in Fortran's order; C has the layout before them. */
static const struct {
	/* the number of letters, which come first; -1: there is no such argument */
	int8_t flags, m, n, k;
} where[BLAS_ROUTINES] = {
	[BLAS_GEMM] = { 2, 2, 3, 4 },
	[BLAS_GEMM_BATCH] = { 2, 2, 3, 4 },
	[BLAS_GEMM_BATCH_STRIDED] = { 2, 2, 3, 4 },
	[BLAS_GEMMT] = { 3, -1, 3, 4 },
	[BLAS_SYMM] = { 2, 2, 3, -1 },
	[BLAS_SYRK] = { 2, -1, 2, 3 },
	[BLAS_SYR2K] = { 2, -1, 2, 3 },
	[BLAS_TRMM] = { 4, 4, 5, -1 },
	[BLAS_TRSM] = { 4, 4, 5, -1 },
	[BLAS_GEMV] = { 1, 1, 2, -1 },
	[BLAS_SYMV] = { 1, -1, 1, -1 },
	[BLAS_TRMV] = { 3, -1, 3, -1 },
	[BLAS_TRSV] = { 3, -1, 3, -1 },
	[BLAS_GER] = { 0, 0, 1, -1 },
	[BLAS_SYR] = { 1, -1, 1, -1 },
	[BLAS_SYR2] = { 1, -1, 1, -1 },
};

/* cblas argument order: alpha, A, lda, B, ldb, beta, C, ldc. In C's convention, real alpha and beta
 * are passed in registers of their own. */
#define BATCH_GROUPS 13
#define BATCH_SIZES 14
#define STRIDED_COUNT 16

/* Reads a size. The callee complains about an invalid one. */
static bool number(const struct blas_name *name, uintptr_t word, size_t i, bool by_value,
		   uint64_t *out)
{
	int64_t value;

	if (by_value)
		value = name->wide ? (int64_t)word : (int32_t)word;
	else if (!word)
		return false;
	else
		value = name->wide ? ((const int64_t *)word)[i] : ((const int32_t *)word)[i];
	*out = value > 0 ? (uint64_t)value : 0;
	return value >= 0;
}

/* The letter for a flag of C's convention; the numbers start at 111. */
static uint8_t letter(const struct blas_name *name, uintptr_t word, bool by_value)
{
	static const char known[] = "NTC       ULNU       LR";
	uint32_t at;

	if (!name->cblas)
		return word ? *(const uint8_t *)word & 0xdf : '?';
	at = (by_value ? (uint32_t)word : word ? *(const uint32_t *)word : 0) - 111;
	return at < sizeof(known) - 1 && known[at] != ' ' ? (uint8_t)known[at] : '?';
}

static uint64_t blas_operations(const struct blas_name *name, const struct blas_work *w)
{
	uint64_t m = w->m, n = w->n, k = w->k, flop = 0;

	switch (name->routine) {
	case BLAS_GEMM: case BLAS_GEMM_BATCH: case BLAS_GEMM_BATCH_STRIDED:
		flop = 2 * m * n * k;
		break;
	case BLAS_GEMMT: case BLAS_SYRK:
		flop = k * n * (n + 1);
		break;
	case BLAS_SYR2K:
		flop = 2 * k * n * (n + 1);
		break;
	case BLAS_SYMM:
		flop = 2 * m * n * (w->flags[0] == 'R' ? n : m);
		break;
	case BLAS_TRMM: case BLAS_TRSM:
		flop = m * n * (w->flags[0] == 'R' ? n : m);
		break;
	case BLAS_GEMV: case BLAS_GER:
		flop = 2 * m * n;
		break;
	case BLAS_SYMV:
		flop = 2 * n * n;
		break;
	case BLAS_TRMV: case BLAS_TRSV:
		flop = n * n;
		break;
	case BLAS_SYR:
		flop = n * (n + 1);
		break;
	case BLAS_SYR2:
		flop = 2 * n * (n + 1);
		break;
	case BLAS_ROUTINES:
		break;
	}
	return name->complex ? flop * 4 : flop;
}

/* Reads the sizes of group g of a batch, or of the only group. */
static bool read_sizes(const struct blas_name *name, const uintptr_t *words, size_t g,
		       struct blas_work *w)
{
	bool by_value = name->cblas && name->routine != BLAS_GEMM_BATCH;
	const uintptr_t *first = name->cblas ? words + 1 : words;
	int8_t m = where[name->routine].m, n = where[name->routine].n, k = where[name->routine].k;

	w->m = w->k = 0;
	return (m < 0 || number(name, first[m], g, by_value, &w->m)) &&
	       number(name, first[n], g, by_value, &w->n) &&
	       (k < 0 || number(name, first[k], g, by_value, &w->k));
}

static bool read_batch(const struct blas_name *name, const uintptr_t *words, struct blas_work *out)
{
	const uintptr_t *first = name->cblas ? words + 1 : words;
	struct blas_work w;
	uint64_t groups, size;

	if (!number(name, first[BATCH_GROUPS], 0, name->cblas, &groups))
		return false;
	out->batch = out->flop = 0;
	for (size_t g = 0; g < groups; g++) {
		if (!read_sizes(name, words, g, &w) ||
		    !number(name, first[BATCH_SIZES], g, false, &size))
			return false;
		out->mixed = out->mixed || (g && (w.m != out->m || w.n != out->n || w.k != out->k));
		out->m = w.m;
		out->n = w.n;
		out->k = w.k;
		out->batch += size;
		out->flop += size * blas_operations(name, &w);
	}
	if (out->mixed)
		out->m = out->n = out->k = 0;
	return true;
}

bool blas_read(const struct blas_name *name, const uintptr_t *words, struct blas_work *out)
{
	const uintptr_t *first = name->cblas ? words + 1 : words;
	bool batch = name->routine == BLAS_GEMM_BATCH, by_value = name->cblas && !batch;
	/* real alpha and beta of C's convention take no words */
	int last = STRIDED_COUNT - (name->cblas && !name->complex ? 2 : 0);

	*out = (struct blas_work){ .batch = 1 };
	for (int i = 0; i < where[name->routine].flags; i++)
		out->flags[i] = letter(name, first[i], by_value);
	if (batch)
		return read_batch(name, words, out);
	if (!read_sizes(name, words, 0, out))
		return false;
	if (name->routine == BLAS_GEMM_BATCH_STRIDED &&
	    !number(name, first[last], 0, by_value, &out->batch))
		return false;
	out->flop = out->batch * blas_operations(name, out);
	return true;
}

void blas_text(const struct blas_work *w, char *text, size_t size)
{
	size_t used = 0;
	const struct {
		const char *name;
		uint64_t value;
	} sizes[] = { { "batch", w->batch == 1 ? 0 : w->batch }, { "m", w->m }, { "n", w->n },
		      { "k", w->k } };

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && used < size; i++)
		if (sizes[i].value)
			used += (size_t)snprintf(text + used, size - used, "%s%s=%llu",
						 used ? " " : "", sizes[i].name,
						 (unsigned long long)sizes[i].value);
	if (used < size && w->flags[0])
		snprintf(text + used, size - used, "%s%.4s", used ? " " : "",
			 (const char *)w->flags);
}
