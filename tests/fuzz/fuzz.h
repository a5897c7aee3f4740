/* SPDX-License-Identifier: MIT */
/*
 * Fuzz targets: functions that take arbitrary bytes and must neither crash, hang nor break a
 * promise that they check themselves (they abort if it is broken).
 *
 * A target is a file of this folder with one FUZZ_TARGET line; its corpus is corpus/NAME/. The
 * driver (main.c) replays the corpus, then mutates it with a seeded generator. Each target runs in
 * a process of its own; the input that broke it is kept and named.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_INPUT_MAX 4096

struct fuzz_target {
	const char *name;
	void (*run)(const uint8_t *data, size_t size);	/* data is not NUL-terminated */
	struct fuzz_target *next;
};

void fuzz_register(struct fuzz_target *target);

/* Ends the process if a promise is broken. */
#define FUZZ_CHECK(good) do { \
	if (!(good)) \
		fuzz_broken(__FILE__, __LINE__, #good); \
} while (0)
void fuzz_broken(const char *file, int line, const char *what) __attribute__((noreturn));

#define FUZZ_TARGET(label, function) \
	static struct fuzz_target fuzz_target_ = { .name = label, .run = function }; \
	__attribute__((constructor)) static void fuzz_add_(void) \
	{ \
		fuzz_register(&fuzz_target_); \
	} \
	struct fuzz_target

#endif
