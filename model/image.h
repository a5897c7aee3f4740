/* SPDX-License-Identifier: MIT */
/*
 * A finished model in a file: the cache of a recording.
 *
 * Idea: the model lives in a heap of its own at an address of its own (heap.h);
 * the file is that heap, and opening it is mapping it. So whatever the model
 * consists of is in it, with nothing to keep in step by hand.
 *
 * What is believed: a file that belongs to this user and that nobody else may
 * write, made by this very executable (a hash of its file) for this very
 * recording (the key: names, sizes, times, inodes of its files, and the options
 * that shape the model), in which every megabyte has the checksum that the
 * header tells, and the header its own. Anything else is not, and nothing of it
 * is looked at. A copied recording has other inodes and times: its cache is
 * made anew, so nobody can slip in a prepared one with a recording.
 *
 * tftop is linked without PIE, so that pointers from the model to constants of
 * the program stay right.
 *
 * Threads: image_write() any but the feeder; the others before any question.
 */
#ifndef MODEL_IMAGE_H
#define MODEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/query.h"

enum image_problem {
	IMAGE_GOOD,
	IMAGE_NONE,			/* there is no such file */
	IMAGE_FOREIGN,			/* another user's, or open to others */
	IMAGE_STALE,			/* of another version, recording or options */
	IMAGE_DAMAGED,
	IMAGE_NO_ROOM,			/* this system has no place for it */
};

/* The next model_new() makes a model that can be written. False: it cannot. */
bool image_prepare(void);

/* The model that was written for this key; NULL and why not. Owned. */
struct model *image_open(const char *path, uint64_t key, enum image_problem *problem);

/*
 * Writes the model to path (beside it, then renamed) in a child process, which
 * has it as it is now; its pid, or -1 with errno. The caller waits for it. The
 * model must have been finished.
 */
pid_t image_write(struct model *model, const char *path, uint64_t key);

/* Adds to a key. */
uint64_t image_hash(uint64_t hash, const void *data, size_t size);

#endif
