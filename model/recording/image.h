/* SPDX-License-Identifier: MIT */
/*
 * A finished model in a file: the cache of a recording.
 *
 * Idea: the model lives in a heap of its own at an address of its own (heap.h); the file is that
 * heap, and opening it means mapping it. So everything that the model consists of is in the file,
 * and nothing needs to be kept in sync by hand.
 *
 * Which files are trusted: a file that belongs to this user and that nobody else may write, that
 * was made by this very executable (a hash of its file) for this very recording (the key: names,
 * sizes, times and inodes of its files, and the options that shape the model), and in which every
 * megabyte, and the header itself, have the checksum that the header states. Nothing in any other
 * file is used. A copied recording has other inodes and times, so its cache is made again: nobody
 * can pass on a prepared cache together with a recording.
 *
 * Checking half a gigabyte takes longer than the first screen may take. So if nobody has written to
 * the file since it was made (its inode, time and boot are those in its header), it is opened after
 * only the header was checked. The rest is checked in the background; image_is_damaged() tells
 * whether this check has failed.
 *
 * Always true: no pointer in the heap leads out of it, so the program may be loaded at any address.
 * A test looks for such pointers.
 *
 * Threads: image_write() may be called on any thread except the feeding one; the other functions
 * must be called before the first query.
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
	IMAGE_FOREIGN,			/* it belongs to another user, or others may write to it */
	IMAGE_STALE,			/* made for another version, recording or options */
	IMAGE_DAMAGED,
	IMAGE_NO_ROOM,			/* this system has no free address range for it */
};

/* Makes the next model_new() create a model that can be written. false: that is impossible. */
bool image_prepare(void);

/* The model that was written for this key, owned by the caller; NULL: there is none, and *problem
 * says why. whole: checks the whole file first. */
struct model *image_open(const char *path, uint64_t key, bool whole,
			 enum image_problem *problem);
/* Whether the file that was opened has turned out to be damaged. Then the model must be freed. From
 * then on, image_open() checks whole files in this process. */
bool image_is_damaged(void);
/* Ends the check in the background, if one is running. To be called before the model is freed. */
void image_check_end(void);

/*
 * Writes the model, as it is now, to path (under another name first, then renamed) in a child
 * process. Returns the pid of this child, which the caller must wait for, or -1 with errno. The
 * model must have been finished.
 */
pid_t image_write(struct model *model, const char *path, uint64_t key);

/* Adds data to a key. */
uint64_t image_hash(uint64_t hash, const void *data, size_t size);

#endif
