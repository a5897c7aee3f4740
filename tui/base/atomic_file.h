/* SPDX-License-Identifier: MIT */
/*
 * Files that are written as a whole or not at all: the text goes into a new, temporary file in
 * the same folder, which takes the wanted name once all of it is on disk. A path that is no
 * regular file (a pipe, /dev/stdout) is written directly. The same for whole folders.
 *
 * Errors: -1 or NULL, with a sentence in error; then no temporary file is left behind.
 * Threads: any; no state.
 */
#ifndef TUI_ATOMIC_FILE_H
#define TUI_ATOMIC_FILE_H

#include <stddef.h>
#include <stdio.h>

struct atomic_file {
	FILE *out;			/* write here */
	const char *path;		/* borrowed from atomic_file_open() on */
	char *temporary;		/* owned; NULL: written directly */
};

/* Whether atomic_file_open() would succeed now. Leaves nothing behind, and does not open what is
 * no regular file, as the other end of a pipe would notice. */
int atomic_file_check(const char *path, char *error, size_t size);
int atomic_file_open(struct atomic_file *file, const char *path, char *error, size_t size);
/* Closes and removes the temporary file; what was written directly stays. */
void atomic_file_discard(struct atomic_file *file);
/* Flushes to disk, renames, closes. */
int atomic_file_commit(struct atomic_file *file, char *error, size_t size);

/* A new temporary folder for `path`, which must be absent or empty. */
char *atomic_folder_open(const char *path, char *error, size_t size);
/* Flushes all files in it to disk, renames it to `path`, frees temporary. */
int atomic_folder_commit(char *temporary, const char *path, char *error, size_t size);
/* Removes it with all of its files, frees temporary. */
void atomic_folder_discard(char *temporary);

#endif
