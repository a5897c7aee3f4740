/* SPDX-License-Identifier: MIT */
/*
 * The unit tests' frame. A case is
 *
 *	TEST(name_of_the_case)
 *	{
 *		CHECK(1 + 1 == 2);
 *	}
 *
 * in any file under tests/unit/; it registers itself. Each case runs in a
 * process of its own, at most TEST_SECONDS long, and ends at its first failed
 * check. Random tests take their numbers from test_random(), whose seed is
 * printed with a failure and set with TEST_SEED=N.
 *
 * Files of a case go to test_folder(). All folders of a run lie in one, in
 * $TMPDIR, which goes when the run ends, however a case ended.
 *
 * build/tests/unit [-l] [-n] [PART...]: cases whose name contains PART; -l
 * lists, -n does not fork (for a debugger). CASE=PART does the same, and
 * CASE==NAME runs the case of that name.
 */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_SECONDS 60
#define TEST_PATH_MAX 480		/* test_folder()'s and a name in it */

struct test_case {
	const char *name;
	void (*run)(void);
	struct test_case *next;
};

void test_register(struct test_case *test);

#define TEST(id) \
	static void test_##id(void); \
	static struct test_case test_case_##id = { #id, test_##id, NULL }; \
	__attribute__((constructor)) static void test_add_##id(void) \
	{ \
		test_register(&test_case_##id); \
	} \
	static void test_##id(void)

/* Prints a message and ends the case; format as for printf. */
void test_fail(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void test_check_int(const char *file, int line, const char *what, int64_t got, int64_t want);
void test_check_str(const char *file, int line, const char *what, const char *got,
		    const char *want);
/* Ends the case as skipped; missing: what it needs and is not there. */
void test_skip(const char *missing) __attribute__((noreturn));

#define CHECK(condition) do { \
	if (!(condition)) \
		test_fail(__FILE__, __LINE__, "%s", #condition); \
} while (0)
#define CHECK_INT(got, want) \
	test_check_int(__FILE__, __LINE__, #got, (int64_t)(got), (int64_t)(want))
#define CHECK_STR(got, want) test_check_str(__FILE__, __LINE__, #got, got, want)

/* The case's own folder, made at the first call; the path stays valid until the end. */
const char *test_folder(void);

/* ---- random numbers: the same seed gives the same numbers everywhere ---- */

uint64_t test_random(void);
/* 0 ... n - 1 */
uint64_t test_below(uint64_t n);

#endif
