/* SPDX-License-Identifier: MIT */
/*
 * ENTRY(cbid, name, (type, argument), ...) { body } defines a function of the driver whose calls a
 * tool can see, with its number in CUPTI and its arguments as a struct. LAUNCH does the same for
 * the launch of a kernel; the expression before the arguments gives the kernel's name.
 */
#ifndef TESTS_DOUBLES_CUDA_ENTRY_H
#define TESTS_DOUBLES_CUDA_ENTRY_H

#include "tests/doubles/cuda/sim.h"

typedef void (*sim_host)(void *);	/* of launches on the host */

#define E_COUNT(...) E_COUNT_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1)
#define E_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, n, ...) n
#define E_CAT(a, b) E_CAT_(a, b)
#define E_CAT_(a, b) a##b
#define E_1(f, s, x) f x
#define E_2(f, s, x, ...) f x s() E_1(f, s, __VA_ARGS__)
#define E_3(f, s, x, ...) f x s() E_2(f, s, __VA_ARGS__)
#define E_4(f, s, x, ...) f x s() E_3(f, s, __VA_ARGS__)
#define E_5(f, s, x, ...) f x s() E_4(f, s, __VA_ARGS__)
#define E_6(f, s, x, ...) f x s() E_5(f, s, __VA_ARGS__)
#define E_7(f, s, x, ...) f x s() E_6(f, s, __VA_ARGS__)
#define E_8(f, s, x, ...) f x s() E_7(f, s, __VA_ARGS__)
#define E_9(f, s, x, ...) f x s() E_8(f, s, __VA_ARGS__)
#define E_10(f, s, x, ...) f x s() E_9(f, s, __VA_ARGS__)
#define E_11(f, s, x, ...) f x s() E_10(f, s, __VA_ARGS__)
#define E_12(f, s, x, ...) f x s() E_11(f, s, __VA_ARGS__)
#define E_COMMA() ,
#define E_SEMI() ;
#define E_BOTH(t, a) t a
#define E_NAME(t, a) a
#define E_ARGS(...) E_CAT(E_, E_COUNT(__VA_ARGS__))(E_BOTH, E_COMMA, __VA_ARGS__)
#define E_FIELDS(...) E_CAT(E_, E_COUNT(__VA_ARGS__))(E_BOTH, E_SEMI, __VA_ARGS__);
#define E_NAMES(...) E_CAT(E_, E_COUNT(__VA_ARGS__))(E_NAME, E_COMMA, __VA_ARGS__)

#define E_CALL(domain_, id, fn, symbol_, ...) \
	static int do_##fn(E_ARGS(__VA_ARGS__)); \
	SIM_API int fn(E_ARGS(__VA_ARGS__)); \
	SIM_API int fn(E_ARGS(__VA_ARGS__)) \
	{ \
		struct { E_FIELDS(__VA_ARGS__) } params = { E_NAMES(__VA_ARGS__) }; \
		struct sim_call call_ = { .domain = domain_, .cbid = id, .name = #fn, \
					  .params = &params, .symbol = symbol_ }; \
		int result_ = sim_enter(&call_); \
		return sim_leave(&call_, result_ ? result_ : do_##fn(E_NAMES(__VA_ARGS__))); \
	} \
	static int do_##fn(E_ARGS(__VA_ARGS__))
#define LAUNCH(id, fn, symbol, ...) E_CALL(SIM_DRIVER, id, fn, symbol, __VA_ARGS__)
#define ENTRY(id, fn, ...) E_CALL(SIM_DRIVER, id, fn, NULL, __VA_ARGS__)
/* The same for the runtime. */
#define RUNTIME_LAUNCH(id, fn, symbol, ...) E_CALL(SIM_RUNTIME, id, fn, symbol, __VA_ARGS__)
#define RUNTIME(id, fn, ...) E_CALL(SIM_RUNTIME, id, fn, NULL, __VA_ARGS__)
#define ENTRY0(id, fn) \
	static int do_##fn(void); \
	SIM_API int fn(void); \
	SIM_API int fn(void) \
	{ \
		struct sim_call call_ = { .domain = SIM_DRIVER, .cbid = id, .name = #fn }; \
		int result_ = sim_enter(&call_); \
		return sim_leave(&call_, result_ ? result_ : do_##fn()); \
	} \
	static int do_##fn(void)

#endif
