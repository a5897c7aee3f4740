/* SPDX-License-Identifier: MIT */
/*
 * A heap at an address of its own, so that what is in it can be kept in a file
 * and be mapped again, pointers and all (image.h).
 *
 * Idea: while a thread is inside (heap_enter), the x functions of util.h take
 * memory from there: size classes of four to the power of two, freed blocks in
 * a list per class, new ones from the top. free() knows the heap's blocks by
 * their address (the program is linked with --wrap=free; without that there is
 * no heap). The same idea as Emacs' dumped images and Smalltalk's.
 *
 * Always true: there is at most one; a block never moves and is 16-aligned; all
 * that the heap knows of itself is inside it. Freed memory is kept, so that the
 * heap is at most about a quarter larger than what it once held.
 *
 * Threads: any; heap_enter() and heap_leave() are for the calling thread.
 */
#ifndef MODEL_HEAP_H
#define MODEL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_BASE ((char *)0x200000000000)
#define HEAP_ROOM ((size_t)64 << 30)	/* of addresses; memory only as it is used */

/* False: this program or system has no room for one, or there is one already. */
bool heap_new(void);
/* All of it; nothing inside may be used any more. */
void heap_free_all(void);

/* Maps `bytes` of fd from offset as the heap's content, changes stay private.
 * Nothing of it is looked at before heap_adopt(). False: no room. */
bool heap_map(int fd, size_t offset, size_t bytes);
/* What was mapped is a heap of `bytes`: take it over. */
bool heap_adopt(size_t bytes);

/* From here on this thread's memory comes from the heap; returns whether it did
 * before, for heap_leave(). Nothing happens when there is no heap. */
bool heap_enter(void);
void heap_leave(bool before);

/* What is in use, from HEAP_BASE on; 0: there is no heap. */
size_t heap_bytes(void);
/* A pointer that survives in an image. */
void heap_set_root(void *root);
void *heap_root(void);
/* Nobody allocates or frees between the two. */
void heap_hold(void);
void heap_release(void);

/* ---- for util.c ---- */
extern _Thread_local bool heap_here;	/* this thread is inside */
void *heap_alloc(size_t size);		/* NULL: full */
void *heap_realloc(void *block, size_t size);

static inline bool heap_has(const void *block)
{
	return (size_t)((const char *)block - HEAP_BASE) < HEAP_ROOM;
}

#endif
