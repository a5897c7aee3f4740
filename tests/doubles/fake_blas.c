/* SPDX-License-Identifier: MIT */
/*
 * A library that looks like BLAS: each function stores its arguments, changes errno and returns a
 * value that can be recognised. Built with names of 32-bit integers, of 64-bit ones (-DWIDE), and
 * as another library with the same names (-DWHO=2).
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef WHO
#define WHO 1
#endif
#ifdef WIDE
typedef int64_t integer;
#define F(name) name##_64_
#define C(name) scipy_cblas_##name##64_
#else
typedef int32_t integer;
#define F(name) name##_
#define C(name) cblas_##name
#endif
#define EXPORT __attribute__((visibility("default")))

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* ---- Fortran's convention; flags' lengths behind the arguments ---- */

#define GEMM(letter, type) \
EXPORT uintptr_t F(letter##gemm)(const char *ta, const char *tb, const integer *m, \
		const integer *n, const integer *k, const type *alpha, const type *a, \
		const integer *lda, const type *b, const integer *ldb, const type *beta, \
		type *c, const integer *ldc, size_t la, size_t lb) \
{ \
	printf("%d " #letter "gemm %c%c %lld %lld %lld %g %lld %lld %g %lld %zu %zu\n", WHO, *ta, \
	       *tb, (long long)*m, (long long)*n, (long long)*k, (double)*alpha, (long long)*lda, \
	       (long long)*ldb, (double)*beta, (long long)*ldc, la, lb); \
	c[0] += *alpha * a[0] * b[0]; \
	errno = 33; \
	return 0x123456789abcdefu; \
}
GEMM(s, float)
GEMM(d, double)
GEMM(c, float)

/* A function that is left without returning: by longjmp with n = -1, by the end of the thread with
 * n = -2. */
EXPORT void F(strmm)(const char *side, const char *uplo, const char *trans, const char *diag,
		     const integer *m, const integer *n, const float *alpha, void *leave)
{
	printf("%d strmm %c%c%c%c %lld %lld %g\n", WHO, *side, *uplo, *trans, *diag,
	       (long long)*m, (long long)*n, (double)*alpha);
	if (*n == -1)
		longjmp(*(jmp_buf *)leave, 1);
	if (*n == -2)
		pthread_exit((void *)(uintptr_t)5);
}

EXPORT void F(dgemv)(const char *trans, const integer *m, const integer *n)
{
	printf("%d dgemv %c %lld %lld\n", WHO, *trans, (long long)*m, (long long)*n);
}

/* ---- C's ---- */

EXPORT void C(dgemm)(int layout, int ta, int tb, integer m, integer n, integer k, double alpha,
		     const double *a, integer lda, const double *b, integer ldb, double beta,
		     double *c, integer ldc)
{
	printf("%d cblas dgemm %d %d %d\n", WHO, layout, ta, tb);
	F(dgemm)(ta == 111 ? "N" : "T", tb == 111 ? "N" : "T", &m, &n, &k, &alpha, a, &lda, b,
		 &ldb, &beta, c, &ldc, 1, 1);
}

EXPORT void C(ssyrk)(int layout, int uplo, int trans, integer n, integer k, float alpha,
		     const float *a, integer lda, float beta, float *c, integer ldc)
{
	printf("%d cblas ssyrk %d %d %d %lld %lld %g %lld %g %lld %g\n", WHO, layout, uplo, trans,
	       (long long)n, (long long)k, (double)alpha, (long long)lda, (double)beta,
	       (long long)ldc, (double)a[0]);
	c[0] = alpha;
}

EXPORT void C(sgemm_batch)(int layout, const int *ta, const int *tb, const integer *m,
			   const integer *n, const integer *k, const float *alpha,
			   const float **a, const integer *lda, const float **b,
			   const integer *ldb, const float *beta, float **c, const integer *ldc,
			   integer groups, const integer *sizes)
{
	printf("%d cblas sgemm_batch %d %d %d %g %g %lld %lld %lld %p %p %p\n", WHO, layout,
	       ta[0], tb[0], (double)alpha[0], (double)beta[0], (long long)groups,
	       (long long)(groups ? sizes[0] : 0), (long long)(m[0] * n[0] * k[0]), (void *)a,
	       (void *)b, (void *)c);
	(void)lda;
	(void)ldb;
	(void)ldc;
}

EXPORT void C(zgemm_batch_strided)(int layout, int ta, int tb, integer m, integer n, integer k,
				   const double *alpha, const double *a, integer lda, integer sa,
				   const double *b, integer ldb, integer sb, const double *beta,
				   double *c, integer ldc, integer sc, integer count)
{
	printf("%d cblas zgemm_batch_strided %d %d %d %lld %lld %lld %g %lld %lld %lld %lld %g "
	       "%lld "
	       "%lld %lld\n", WHO, layout, ta, tb, (long long)m, (long long)n, (long long)k,
	       alpha[1], (long long)lda, (long long)sa, (long long)ldb, (long long)sb, beta[0],
	       (long long)ldc, (long long)sc, (long long)count);
	c[0] = a[0] + b[0];
}

/* ---- who is asked after it ---- */

EXPORT int fake_next(void)
{
	int (*next)(void);

	*(void **)&next = dlsym(RTLD_NEXT, "fake_next");
	return next ? WHO * 10 + next() : WHO;
}
