/* SPDX-License-Identifier: MIT */
/*
 * What the programs share that hold a report against the truth. Not found: the
 * file is no report, said on stderr, status 2. One thread.
 */
#ifndef TESTS_LIVE_DIFFER_H
#define TESTS_LIVE_DIFFER_H

#include <jansson.h>

#define DIFFERENCES_TOLD 20u

extern unsigned int differences;

/* One line on stdout, of the first DIFFERENCES_TOLD; counted in any case. */
void differ(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The object in the file; the caller lets go of it. Does not return without. */
json_t *load(const char *path);

/* The value of a key; "" and 0 where there is none. */
const char *text(const json_t *object, const char *key);
long long number(const json_t *object, const char *key);

#endif
