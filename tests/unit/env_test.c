/* SPDX-License-Identifier: MIT */
/* The environment, read while other threads change it: probes/runtime/env.c. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/runtime/runtime.h"
#include "tests/unit/test.h"

TEST(env_values)
{
	char text[8];

	setenv("TFTOP_TEST_ENV", "1234567", 1);
	CHECK_STR(rt_env("TFTOP_TEST_ENV", text, sizeof(text)), "1234567");
	setenv("TFTOP_TEST_ENV", "12345678", 1);
	CHECK(!rt_env("TFTOP_TEST_ENV", text, sizeof(text)));
	setenv("TFTOP_TEST_ENV", "", 1);
	CHECK_STR(rt_env("TFTOP_TEST_ENV", text, sizeof(text)), "");
	CHECK(!rt_env("TFTOP_TEST_EN", text, sizeof(text)));
	CHECK(!rt_env("TFTOP_TEST_ENVY", text, sizeof(text)));
	unsetenv("TFTOP_TEST_ENV");
	CHECK(!rt_env("TFTOP_TEST_ENV", text, sizeof(text)));
}

static atomic_bool stop;

static void *change(void *unused)
{
	char name[32];

	(void)unused;
	while (!atomic_load(&stop)) {
		/* the list grows, moves and shrinks */
		for (int i = 0; i < 300; i++) {
			snprintf(name, sizeof(name), "TFTOP_CHANGES_%d", i);
			setenv(name, "some value", 1);
		}
		for (int i = 0; i < 300; i++) {
			snprintf(name, sizeof(name), "TFTOP_CHANGES_%d", i);
			unsetenv(name);
		}
	}
	return NULL;
}

TEST(env_changes_meanwhile)
{
	pthread_t thread;
	char text[32];
	unsigned found = 0;

	setenv("TFTOP_STAYS", "the value", 1);
	atomic_store(&stop, false);
	pthread_create(&thread, NULL, change, NULL);
	for (int i = 0; i < 3000; i++) {
		const char *value = rt_env("TFTOP_STAYS", text, sizeof(text));

		if (value)
			CHECK_STR(value, "the value");
		found += value != NULL;
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	CHECK(found > 0);
	unsetenv("TFTOP_STAYS");
}
