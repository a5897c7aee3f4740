/* SPDX-License-Identifier: MIT */
/*
 * The frame of the C programs that a suite runs under a probe: EXPECT(condition) ends the program
 * with a line on standard error, and SIGABRT, if the condition does not hold. Unit tests have a
 * frame of their own (tests/unit/test.h), in which a failure ends only the case.
 */
#ifndef TESTS_EXPECT_H
#define TESTS_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition) do { \
	if (!(condition)) { \
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
		fflush(NULL); \
		abort(); \
	} \
} while (0)

#endif
