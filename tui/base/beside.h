/* SPDX-License-Identifier: MIT */
/*
 * Writing a file so that its name always stands for a whole one: the text goes
 * into a new file beside it, which takes the name when all of it is on disk.
 * A path that is no regular file (a pipe, /dev/stdout) is written directly.
 * The same for a folder that was absent or empty.
 *
 * Errors: -1 with a sentence in error; nothing is left beside the file then.
 * Threads: any, no state.
 */
#ifndef TUI_BESIDE_H
#define TUI_BESIDE_H

#include <stddef.h>
#include <stdio.h>

struct beside {
	FILE *out;			/* write here */
	const char *path;		/* borrowed from beside_open() on */
	char *temporary;		/* owned; NULL: written directly */
};

/* Whether beside_open() would succeed now; leaves nothing behind and does not
 * open what is no regular file (the other end of a pipe would notice). */
int beside_check(const char *path, char *error, size_t size);
int beside_open(struct beside *file, const char *path, char *error, size_t size);
/* Closes; nothing is left of it, unless it was written directly. */
void beside_discard(struct beside *file);
/* Flushes, renames, closes. */
int beside_commit(struct beside *file, char *error, size_t size);

/* A new empty folder beside `path`, which must be absent or empty. NULL: error. */
char *beside_folder(const char *path, char *error, size_t size);
/* All that is in it reaches the disk, then it is renamed; frees temporary. */
int beside_folder_commit(char *temporary, const char *path, char *error, size_t size);
/* Removes it with all that is in it; frees temporary. */
void beside_folder_discard(char *temporary);

#endif
