/* SPDX-License-Identifier: MIT */
/*
 * Files that a user names to be read: configuration, scripts, sources, reports. Only regular
 * ones are, so that nobody waits for the other end of a pipe or reads a device for ever.
 *
 * Threads: no state, any thread.
 */
#ifndef KEYMAP_FILE_H
#define KEYMAP_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Never waits. NULL: *why is part of a sentence ("it is a pipe, not a file"), errno is set
 * (EINVAL: it is there and no regular file). The caller closes. */
FILE *file_open(const char *path, const char **why);

/* All of a text of at most `most` bytes, with a zero behind them; what: the word for such a
 * file in errors ("script"). NULL: a sentence in error. The caller frees. */
char *file_text(const char *path, const char *what, size_t most, size_t *size, char *error,
		size_t error_size);

#endif
