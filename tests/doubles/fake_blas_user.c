/* SPDX-License-Identifier: MIT */
/*
 * Known calls of fake_blas.c, which print their results: part of a program, or a library of its own
 * (Python modules are loaded like that).
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef WIDE
typedef int64_t integer;
#define F(name) name##_64_
#define C(name) scipy_cblas_##name##64_
#else
typedef int32_t integer;
#define F(name) name##_
#define C(name) cblas_##name
#endif

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

uintptr_t F(sgemm)(const char *, const char *, const integer *, const integer *, const integer *,
		   const float *, const float *, const integer *, const float *, const integer *,
		   const float *, float *, const integer *, size_t, size_t);
uintptr_t F(cgemm)(const char *, const char *, const integer *, const integer *, const integer *,
		   const float *, const float *, const integer *, const float *, const integer *,
		   const float *, float *, const integer *, size_t, size_t);
void F(strmm)(const char *, const char *, const char *, const char *, const integer *,
	      const integer *, const float *, void *);
void F(dgemv)(const char *, const integer *, const integer *);
void C(dgemm)(int, int, int, integer, integer, integer, double, const double *, integer,
	      const double *, integer, double, double *, integer);
void C(ssyrk)(int, int, int, integer, integer, float, const float *, integer, float, float *,
	      integer);
void C(sgemm_batch)(int, const int *, const int *, const integer *, const integer *,
		    const integer *, const float *, const float **, const integer *,
		    const float **, const integer *, const float *, float **, const integer *,
		    integer, const integer *);
void C(zgemm_batch_strided)(int, int, int, integer, integer, integer, const double *,
			    const double *, integer, integer, const double *, integer, integer,
			    const double *, double *, integer, integer, integer);

static const integer two = 2, three = 3, four = 4;
static const float half = 0.5f, one = 1, many[4] = { 3, 1, 2, 1 };

/* A table of functions, as F2PY generates it. */
static uintptr_t (*volatile const table[])(const char *, const char *, const integer *,
	const integer *, const integer *, const float *, const float *, const integer *,
	const float *, const integer *, const float *, float *, const integer *, size_t,
	size_t) = { F(cgemm) };

static void call_c(void)
{
	const int n[2] = { 111, 112 };
	const integer m[2] = { 2, 5 }, k[2] = { 7, 1 }, sizes[2] = { 3, 2 };
	const float alpha[2] = { 1.5f, 2 }, beta[2] = { 0.25f, 1 };
	const double d[2] = { 1.5, 2.5 };
	double c[2] = { 0, 0 };
	float s[2] = { 0, 0 };

	C(dgemm)(101, 111, 112, 5, 6, 7, 1.25, d, 8, d, 9, 0.75, c, 10);
	printf("c %g\n", c[0]);
	C(ssyrk)(102, 122, 111, 4, 3, 0.125f, many, 5, 0.5f, s, 6);
	printf("s %g\n", (double)s[0]);
	C(sgemm_batch)(102, n, n, m, m, k, alpha, NULL, m, NULL, m, beta, NULL, m, 2, sizes);
	C(sgemm_batch)(102, n, n, m, m, k, alpha, NULL, m, NULL, m, beta, NULL, m, 1, sizes);
	C(zgemm_batch_strided)(101, 112, 113, 2, 3, 4, d, d, 11, 12, d, 13, 14, d, c, 15, 16, 17);
	printf("z %g\n", c[0]);
}

/* Overwrites the values that earlier calls left on the stack. */
static __attribute__((noinline)) void use_stack(void)
{
	volatile char bytes[4096];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 1;
}

void blas_calls(void)
{
	float c[2] = { 1, 1 };
	jmp_buf back;
	uintptr_t result;

	errno = 7;
	result = F(sgemm)("N", "t", &two, &three, &four, &half, many, &two, many, &three, &one, c,
			  &two, 1, 1);
	printf("result %llx errno %d c %g\n", (unsigned long long)result, errno, (double)c[0]);
	table[0]("C", "N", &two, &two, &three, &half, many, &two, many, &three, &one, c, &two, 1,
		 1);
	F(dgemv)("T", &three, &four);
	F(strmm)("R", "U", "N", "N", &two, &three, &one, &back);
	if (!setjmp(back)) {
		const integer leave = -1;

		F(strmm)("L", "U", "N", "N", &two, &leave, &one, &back);
	}
	use_stack();
	call_c();
}

void *blas_ends_thread(void *arg)
{
	const integer leave = -2;

	F(strmm)("L", "L", "T", "U", &two, &leave, &one, arg);
	return NULL;
}

void blas_many(int count)
{
	float c[2] = { 1, 1 };

	for (int i = 0; i < count; i++)
		F(sgemm)("N", "N", &two, &two, &two, &half, many, &two, many, &two, &one, c, &two,
			 1, 1);
}
