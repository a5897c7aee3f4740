/* SPDX-License-Identifier: MIT */
/*
 * A heap at an address of its own, so that its content can be kept in a file and mapped again,
 * with all pointers valid (image.h).
 *
 * Idea: while a thread is inside (heap_enter), the x functions of util.h take memory from the
 * heap: size classes in steps of a quarter of a power of two, freed blocks in a list for each
 * class, new ones from the top. free() recognises the heap's blocks by their address (the
 * program is linked with --wrap=free; without that there is no heap). Emacs' dumped images and
 * Smalltalk's images use the same idea.
 *
 * Always true: there is at most one heap; a block never moves and is aligned to 16 bytes; the
 * heap keeps everything that it knows of itself inside. Freed memory stays in the heap, so it
 * is at most about a quarter larger than the most that it ever held.
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
