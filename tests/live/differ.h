/* SPDX-License-Identifier: MIT */
/*
 * What the programs share that compare a report with the truth. If a file is not a report, they say
 * so on stderr and exit with status 2. One thread.
 */
#ifndef TESTS_LIVE_DIFFER_H
#define TESTS_LIVE_DIFFER_H

#include <jansson.h>

#define DIFFERENCES_TOLD 20u

extern unsigned int differences;

/* Prints a line on stdout, for the first DIFFERENCES_TOLD; the others are only counted. */
void differ(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The object in the file, which the caller releases. Does not return if there is none. */
json_t *load(const char *path);

/* The value of a key; "" and 0 if there is none. */
const char *text(const json_t *object, const char *key);
long long number(const json_t *object, const char *key);

#endif
