/* SPDX-License-Identifier: MIT */
/* BLAS's names, and what its calls have to do. */
#include "tests/unit/test.h"

#include "probes/blas/probe.h"

TEST(blas_names)
{
	static const struct {
		const char *symbol, *text;
		enum blas_routine routine;
		bool complex, cblas, wide;
	} names[] = {
		{ "sgemm_", "sgemm", BLAS_GEMM, false, false, false },
		{ "dgemm_64_", "dgemm", BLAS_GEMM, false, false, true },
		{ "scipy_zgemm_64_", "zgemm", BLAS_GEMM, true, false, true },
		{ "cblas_cgemm3m", "cgemm3m", BLAS_GEMM, true, true, false },
		{ "cblas_dgemm_64", "dgemm", BLAS_GEMM, false, true, true },
		{ "scipy_cblas_sgemm64_", "sgemm", BLAS_GEMM, false, true, true },
		{ "scipy_dgemmt_", "dgemmt", BLAS_GEMMT, false, false, false },
		{ "cblas_sgemm_batch_strided", "sgemm_batch_strided", BLAS_GEMM_BATCH_STRIDED,
		  false, true, false },
		{ "sgemm_batch_", "sgemm_batch", BLAS_GEMM_BATCH, false, false, false },
		{ "cblas_gemm_bf16bf16f32", "gemm_bf16bf16f32", BLAS_GEMM, false, true, false },
		{ "sbgemm_", "sbgemm", BLAS_GEMM, false, false, false },
		{ "sbgemv_", "sbgemv", BLAS_GEMV, false, false, false },
		{ "zher2k_", "zher2k", BLAS_SYR2K, true, false, false },
		{ "zher2_", "zher2", BLAS_SYR2, true, false, false },
		{ "ssyr_", "ssyr", BLAS_SYR, false, false, false },
		{ "dger_", "dger", BLAS_GER, false, false, false },
		{ "cgeru_", "cgeru", BLAS_GER, true, false, false },
	};
	static const char *const others[] = {
		"", "s", "sgemm", "cblas_sgemm_", "sgemm__", "sgemmx_", "scipy_", "cblas_", "ddot_",
		"daxpy_", "cger_", "dgemm3m_", "dherk_", "dgetrf_", "gemm_", "mkl_blas_sgemm",
		"sgemm_kernel", "sbgemm", "_Z5sgemm", "dsgemm_",
	};
	struct blas_name name;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK(blas_name(names[i].symbol, &name));
		CHECK_STR(name.text, names[i].text);
		CHECK(name.routine == names[i].routine && name.complex == names[i].complex &&
		      name.cblas == names[i].cblas && name.wide == names[i].wide);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CHECK(!blas_is_name(others[i]));
}

/* What a call of Fortran's convention has to do, with sizes 2, 3, 5 in their order. */
static const char *work(const char *symbol, const char *flags, uint64_t *flop)
{
	static char text[128];
	static const int32_t sizes[] = { 2, 3, 5 };
	uintptr_t words[BLAS_WORDS] = { 0 };
	struct blas_name name;
	struct blas_work w;
	size_t n = 0;

	for (; flags[n]; n++)
		words[n] = (uintptr_t)&flags[n];
	for (size_t i = 0; i < 3; i++)
		words[n + i] = (uintptr_t)&sizes[i];
	CHECK(blas_name(symbol, &name) && blas_read(&name, words, &w));
	*flop = w.flop;
	blas_text(&w, text, sizeof(text));
	return text;
}

TEST(blas_work)
{
	static const struct {
		const char *symbol, *flags, *text;
		uint64_t flop;
	} calls[] = {
		{ "sgemm_", "NT", "m=2 n=3 k=5 NT", 60 },
		{ "zgemm_", "nc", "m=2 n=3 k=5 NC", 240 },
		{ "sgemmt_", "UNT", "n=2 k=3 UNT", 18 },
		{ "dsymm_", "LU", "m=2 n=3 LU", 24 },
		{ "dsymm_", "RU", "m=2 n=3 RU", 36 },
		{ "zhemm_", "LU", "m=2 n=3 LU", 96 },
		{ "ssyrk_", "UN", "n=2 k=3 UN", 18 },
		{ "ssyr2k_", "UN", "n=2 k=3 UN", 36 },
		{ "strmm_", "LUNN", "m=2 n=3 LUNN", 12 },
		{ "strsm_", "RUNN", "m=2 n=3 RUNN", 18 },
		{ "sgemv_", "T", "m=2 n=3 T", 12 },
		{ "dsymv_", "U", "n=2 U", 8 },
		{ "strmv_", "UNN", "n=2 UNN", 4 },
		{ "strsv_", "UNN", "n=2 UNN", 4 },
		{ "sger_", "", "m=2 n=3", 12 },
		{ "cgerc_", "", "m=2 n=3", 48 },
		{ "ssyr_", "U", "n=2 U", 6 },
		{ "ssyr2_", "U", "n=2 U", 12 },
	};
	uint64_t flop;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		CHECK_STR(work(calls[i].symbol, calls[i].flags, &flop), calls[i].text);
		CHECK(flop == calls[i].flop);
	}
}

/* Sizes that make no sense, and addresses that are none: nothing is told of them. */
TEST(blas_work_odd)
{
	const int32_t sizes[] = { -2, 3, 0x7fffffff };
	uintptr_t words[BLAS_WORDS] = { (uintptr_t)"N", (uintptr_t)"N" };
	struct blas_name name;
	struct blas_work w;

	CHECK(blas_name("sgemm_", &name));
	CHECK(!blas_read(&name, words, &w));
	words[2] = words[3] = words[4] = (uintptr_t)&sizes[1];
	CHECK(blas_read(&name, words, &w) && w.flop == 54);
	words[3] = (uintptr_t)&sizes[0];
	CHECK(!blas_read(&name, words, &w));
	CHECK(blas_name("cblas_sgemm64_", &name));
	for (size_t i = 0; i < BLAS_WORDS; i++)
		words[i] = UINT64_MAX;
	CHECK(!blas_read(&name, words, &w));
	/* the upper half of a 32-bit argument is anyone's */
	CHECK(blas_name("cblas_sgemm", &name));
	words[1] = words[2] = 0xffffffff00000070u;
	words[3] = words[4] = words[5] = 0xdead000000000003u;
	CHECK(blas_read(&name, words, &w) && w.flop == 54 && w.flags[0] == 'T');
}
