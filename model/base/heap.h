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
/* size of the address range; memory is taken only as it is used */
#define HEAP_ROOM ((size_t)64 << 30)

/* false: there is no address range for a heap on this system, or there already is a heap. */
bool heap_new(void);
/* Frees the whole heap; nothing in it may be used any more. */
void heap_free_all(void);

/* Maps `bytes` of fd from offset on as the heap's content; changes stay private. The content is not
 * examined before heap_adopt(). false: there is no address range for it. */
bool heap_map(int fd, size_t offset, size_t bytes);
/* Takes over the mapped content as a heap of `bytes`; false: it is not one. */
bool heap_adopt(size_t bytes);

/* From here on this thread's memory comes from the heap; returns whether it already did, for
 * heap_leave(). Does nothing if there is no heap. */
bool heap_enter(void);
void heap_leave(bool before);

/* How many bytes are in use, from HEAP_BASE on; 0: there is no heap. */
size_t heap_bytes(void);
/* Remembers a pointer in the heap, so that it can be found in an image. */
void heap_set_root(void *root);
void *heap_root(void);
/* From heap_hold() to heap_release() no thread allocates or frees. */
void heap_hold(void);
void heap_release(void);

/* ---- for util.c ---- */
extern _Thread_local bool heap_here;	/* this thread is between heap_enter() and heap_leave() */
void *heap_alloc(size_t size);		/* NULL: the heap is full */
void *heap_realloc(void *block, size_t size);

static inline bool heap_has(const void *block)
{
	return (size_t)((const char *)block - HEAP_BASE) < HEAP_ROOM;
}

#endif
