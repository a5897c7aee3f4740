/* SPDX-License-Identifier: MIT */
/*
 * Definitions of functions that this library defines as well, which are never what is found.
 * A framework's libraries are those with its word in their paths. Any thread, the loader's
 * lock not held.
 */
#ifndef PROBES_START_ORIGINALS_H
#define PROBES_START_ORIGINALS_H

#include <stdbool.h>

/* Behind ours, where the caller (NULL: unknown) is, or in the framework's libraries; its
 * library is kept loaded from then on. NULL: there is none. */
void *originals_find(const char *word, const char *symbol, const void *caller);

/* In any library of the framework's. */
void *originals_in(const char *word, const char *symbol);

/* Whether this code is the framework's. NULL: it is not. */
bool originals_is_in(const char *word, const void *address);

#endif
