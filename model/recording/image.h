/* SPDX-License-Identifier: MIT */
/*
 * A finished model in a file: the cache of a recording.
 *
 * Idea: the model lives in a heap of its own at an address of its own (heap.h); the file is
 * that heap, and opening it means mapping it. So everything that the model consists of is in
 * the file, and nothing has to be kept in step by hand.
 *
 * Which files are trusted: a file that belongs to this user and that nobody else may write,
 * that this very executable made (a hash of its file) for this very recording (the key: names,
 * sizes, times and inodes of its files, and the options that shape the model), and in which
 * every megabyte has the checksum that the header says, as has the header itself. Of any other
 * file, nothing is looked at. A copied recording has other inodes and times, so its cache is
 * made again: nobody can pass on a prepared cache together with a recording.
 *
 * Checking half a gigabyte takes longer than a first screen may take. So if nobody wrote to the
 * file since it was made (its inode, time and boot are those in its header), it is opened after
 * only the header was checked. The rest is checked in the background, and if that fails,
 * whoever asks is told (image_is_damaged()).
 *
 * Always true: no pointer in the heap leads out of it, so the program may be loaded at any
 * address. A test looks for such pointers.
 *
 * Threads: image_write() may be called on any thread but the feeder; the other functions before
 * the first question.
 */
#ifndef MODEL_IMAGE_H
#define MODEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/query/query.h"

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

/* The model that was written for this key, owned by the caller; NULL and *problem: there is
 * none. whole: checks all of the file first. */
struct model *image_open(const char *path, uint64_t key, bool whole,
			 enum image_problem *problem);
/* Has the file that was opened turned out to be damaged? Then the model must be freed. From
 * then on, image_open() checks whole files in this process. */
bool image_is_damaged(void);
/* Ends the check in the background, if one is running. Call it before the model is freed. */
void image_check_end(void);

/*
 * Writes the model, as it is now, to path (under another name first, then renamed) in a
 * child process. Returns its pid, which the caller waits for, or -1 with errno. The model
 * must have been finished.
 */
pid_t image_write(struct model *model, const char *path, uint64_t key);

/* Adds to a key. */
uint64_t image_hash(uint64_t hash, const void *data, size_t size);

#endif
