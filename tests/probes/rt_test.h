/* SPDX-License-Identifier: MIT */
/*
 * What the test programs of the runtime share. A program runs one case, named by its first
 * argument, checks what is visible from inside (tests/expect.h), and prints what run.sh then looks
 * for in the trace.
 */
#ifndef TESTS_PROBES_RT_TEST_H
#define TESTS_PROBES_RT_TEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "probes/runtime/runtime.h"
#include "tests/expect.h"

struct test_case {
	const char *name;
	void (*run)(void);
};

/* The control page, mapped for reading and writing. */
struct tft_control *test_control(void);
/* Creates a page at path with this level. */
void test_control_new(const char *path, uint32_t level);

/* The runtime's own, see probes/runtime/internal.h. */
extern _Atomic uint32_t rt_armed;
/* Registers the probe "test"; dumps and level changes are counted. */
bool test_join(void);
extern atomic_int test_dumps, test_levels, test_ticks;

/* Waits until the condition holds, 30 s at most, and EXPECTs it. */
#define WAIT_FOR(cond) do { \
	int64_t until_ = rt_now_ns() + 30000000000; \
	while (!(cond) && rt_now_ns() < until_) \
		test_pause(); \
	EXPECT(cond); \
} while (0)
void test_pause(void);
/* Lets this much time pass, for ops that must last. */
void test_last(int64_t ns);

uint64_t test_push(const char *name, uint8_t flags, uint32_t domain);

extern const struct test_case test_ops[], test_process[], test_trigger[];

#endif
