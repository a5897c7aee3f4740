/* SPDX-License-Identifier: MIT */
/*
 * Finds the original definition of a function that this library interposes; the definition in this
 * library is never the answer. A framework's libraries are those with its word in their paths. Any
 * thread, without the loader's lock.
 */
#ifndef PROBES_START_ORIGINALS_H
#define PROBES_START_ORIGINALS_H

#include <stdbool.h>

/* Looks in the libraries after this one in the loader's order, in the caller's library (NULL:
 * unknown), then in the framework's. The library found is kept loaded from then on. NULL: there is
 * no definition. */
void *originals_find(const char *word, const char *symbol, const void *caller);

/* Looks in all libraries of the framework. */
void *originals_in(const char *word, const char *symbol);

/* Whether this address is in a library of the framework; false for NULL. */
bool originals_is_in(const char *word, const void *address);

#endif
