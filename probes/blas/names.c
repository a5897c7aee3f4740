/* SPDX-License-Identifier: MIT */
/* See symbols.h. Also part of libtftop-start.so: libc only. */
#include <stddef.h>
#include <string.h>

#include "probes/blas/symbols.h"

#define REAL 1u
#define COMPLEX 2u

static const struct {
	const char *name;
	enum blas_routine routine;
	unsigned int of;	/* which letters are possible */
} routines[] = {
	/* a name comes before names that are a prefix of it */
	{ "gemm_batch_strided", BLAS_GEMM_BATCH_STRIDED, REAL | COMPLEX },
	{ "gemm_batch", BLAS_GEMM_BATCH, REAL | COMPLEX },
	{ "gemm3m", BLAS_GEMM, COMPLEX },
	{ "gemmt", BLAS_GEMMT, REAL | COMPLEX },
	{ "gemm", BLAS_GEMM, REAL | COMPLEX },
	{ "symm", BLAS_SYMM, REAL | COMPLEX },
	{ "hemm", BLAS_SYMM, COMPLEX },
	{ "syrk", BLAS_SYRK, REAL | COMPLEX },
	{ "herk", BLAS_SYRK, COMPLEX },
	{ "syr2k", BLAS_SYR2K, REAL | COMPLEX },
	{ "her2k", BLAS_SYR2K, COMPLEX },
	{ "trmm", BLAS_TRMM, REAL | COMPLEX },
	{ "trsm", BLAS_TRSM, REAL | COMPLEX },
	{ "gemv", BLAS_GEMV, REAL | COMPLEX },
	{ "symv", BLAS_SYMV, REAL | COMPLEX },
	{ "hemv", BLAS_SYMV, COMPLEX },
	{ "trmv", BLAS_TRMV, REAL | COMPLEX },
	{ "trsv", BLAS_TRSV, REAL | COMPLEX },
	{ "geru", BLAS_GER, COMPLEX },
	{ "gerc", BLAS_GER, COMPLEX },
	{ "ger", BLAS_GER, REAL },
	{ "syr2", BLAS_SYR2, REAL | COMPLEX },
	{ "her2", BLAS_SYR2, COMPLEX },
	{ "syr", BLAS_SYR, REAL | COMPLEX },
	{ "her", BLAS_SYR, COMPLEX },
};

/* Products of short numbers, named after the types: in MKL, and in OpenBLAS. */
static const char *const shorts[] = {
	"gemm_bf16bf16f32", "gemm_f16f16f32", "sbgemm", "shgemm", "sbgemv",
};

/* Reads what follows the routine's name. */
static bool read_tail(const char *tail, struct blas_name *out)
{
	static const struct {
		const char *text;
		bool cblas, wide;
	} tails[] = {
		{ "_", false, false }, { "_64_", false, true }, { "_64", false, true },
		{ "64_", false, true },
		{ "", true, false }, { "64_", true, true }, { "_64", true, true },
	};

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
		if (tails[i].cblas == out->cblas && !strcmp(tails[i].text, tail)) {
			out->wide = tails[i].wide;
			return true;
		}
	return false;
}

static bool take(struct blas_name *out, enum blas_routine routine, const char *text, size_t length)
{
	if (!read_tail(text + length, out))
		return false;
	out->routine = routine;
	memcpy(out->text, text, length);
	out->text[length] = '\0';
	return true;
}

bool blas_name(const char *symbol, struct blas_name *out)
{
	const char *s = symbol;
	unsigned int of;

	memset(out, 0, sizeof(*out));	/* names are compared as a whole */
	if (!strncmp(s, "scipy_", 6))
		s += 6;
	out->cblas = !strncmp(s, "cblas_", 6);
	if (out->cblas)
		s += 6;
	for (size_t i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++)
		if (!strncmp(s, shorts[i], strlen(shorts[i])))
			return take(out, s[5] == 'v' ? BLAS_GEMV : BLAS_GEMM, s, strlen(shorts[i]));
	if (*s != 's' && *s != 'd' && *s != 'c' && *s != 'z')
		return false;
	out->complex = *s == 'c' || *s == 'z';
	of = out->complex ? COMPLEX : REAL;
	for (size_t i = 0; i < sizeof(routines) / sizeof(routines[0]); i++)
		if (routines[i].of & of &&
		    !strncmp(s + 1, routines[i].name, strlen(routines[i].name)) &&
		    take(out, routines[i].routine, s, 1 + strlen(routines[i].name)))
			return true;
	return false;
}

bool blas_is_name(const char *symbol)
{
	struct blas_name name;

	/* nearly all names are those of C++ */
	return *symbol != '_' && blas_name(symbol, &name);
}
