/* SPDX-License-Identifier: MIT */
/*
 * Opens files that a user names to be read: configuration, scripts, sources, reports. Only regular
 * files are opened, so that tftop neither waits for the other end of a pipe nor reads a device for
 * ever.
 *
 * Threads: no state, any thread.
 */
#ifndef KEYMAP_FILE_H
#define KEYMAP_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Never waits. NULL: *why is part of a sentence ("it is a pipe, not a file"), and errno is set
 * (EINVAL: it exists and is not a regular file). The caller closes. */
FILE *file_open(const char *path, const char **why);

/* Reads a text of at most `most` bytes and adds a NUL. what: the word for such a file in errors
 * ("script"). NULL: `error` is a sentence. The caller frees. */
char *file_text(const char *path, const char *what, size_t most, size_t *size, char *error,
		size_t error_size);

#endif
