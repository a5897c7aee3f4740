/* SPDX-License-Identifier: MIT */
/*
 * Files that are written as a whole or not at all: the text goes into a new, temporary file in the
 * same folder, which is renamed to the wanted name once all of it is on disk. A path that is not a
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
	FILE *out;			/* the stream to write to */
	const char *path;		/* borrowed from atomic_file_open() on */
	char *temporary;		/* owned; NULL: written directly */
};

/* Whether atomic_file_open() would succeed now. Leaves nothing behind, and does not open a path
 * that is not a regular file, because the other end of a pipe would notice. */
int atomic_file_check(const char *path, char *error, size_t size);
int atomic_file_open(struct atomic_file *file, const char *path, char *error, size_t size);
/* Closes and removes the temporary file; what was written directly stays. */
void atomic_file_discard(struct atomic_file *file);
/* Flushes the file to disk, renames and closes it. */
int atomic_file_commit(struct atomic_file *file, char *error, size_t size);

/* Makes a new temporary folder for `path`, which must be absent or empty. */
char *atomic_folder_open(const char *path, char *error, size_t size);
/* Flushes all files in it to disk, renames it to `path`, frees temporary. */
int atomic_folder_commit(char *temporary, const char *path, char *error, size_t size);
/* Removes the folder with all of its files, and frees temporary. */
void atomic_folder_discard(char *temporary);

#endif
