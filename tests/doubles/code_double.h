/* SPDX-License-Identifier: MIT */
/*
 * The functions of libcode_double.so, which stands for a framework's library: symbols of its file
 * name them, and no dynamic symbol does. Each returns code_result() of its argument.
 */
#ifndef TESTS_DOUBLES_CODE_DOUBLE_H
#define TESTS_DOUBLES_CODE_DOUBLE_H

#include <stdint.h>

/* Those that may be replaced, then those that must be left alone. */
#define CODE_GOOD(X) X(plain) X(endbr) X(exact) X(loop) X(tail)
#define CODE_BAD(X) X(small) X(branch) X(far) X(table) X(rip) X(vector) X(page) X(unknown)

enum code_function {
#define X(name) CODE_##name,
	CODE_GOOD(X) CODE_BAD(X)
#undef X
	CODE_idle,		/* no thread may be in it when it is replaced */
	CODE_FUNCTIONS
};

typedef uint64_t code_shape(uint64_t x);

/* What the library exports besides: code_functions, and
 *   code_hook    code_idle() calls it, unless it is NULL
 *   code_spins   code_idle() stays in its own code while this is not 0
 *   code_used    -1: the code may be replaced
 */
typedef void code_called(void);

/* Bit 62 makes some shapes jump back to their first instructions. */
static inline uint64_t code_result(uint64_t x)
{
	return (x & 0xffffffff) * 3 + 1;
}

#endif
