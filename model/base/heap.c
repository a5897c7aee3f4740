/* SPDX-License-Identifier: MIT */
#include "model/base/heap.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define MAGIC 0x7061656870746674u	/* "tftpheap" */
#define CLASSES 160u
#define SMALL_CLASSES 64u		/* in steps of 16 bytes, up to 1 KiB */
#define SMALL_MAX (SMALL_CLASSES * 16u)
#define BLOCK_MAX ((size_t)1 << 34)

/* The header of each block; its 16 bytes keep the block aligned. */
struct heap_block {
	uint64_t class;
	struct heap_block *next;		/* used while the block is free */
};

/* Located at HEAP_BASE. */
struct heap {
	uint64_t magic;
	size_t top;			/* bytes in use, including this struct */
	void *root;
	struct heap_block *unused[CLASSES];
};

_Thread_local bool heap_here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool reserved, alive;

/* The C library's functions, while calls of free() come here. */
extern void __real_free(void *block) __attribute__((weak));
void __wrap_free(void *block);

static struct heap *the_heap(void)
{
	return (struct heap *)HEAP_BASE;
}

/* ---- life ---- */

static bool heap_reserve(void)
{
#if defined(__SANITIZE_THREAD__)
	return false;			/* another heap uses the addresses */
#else
	void *at;

	if (!__real_free || reserved)
		return false;
	at = mmap(HEAP_BASE, HEAP_ROOM, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (at != HEAP_BASE) {
		if (at != MAP_FAILED)
			munmap(at, HEAP_ROOM);
		return false;
	}
	madvise(HEAP_BASE, HEAP_ROOM, MADV_HUGEPAGE);
	reserved = true;
	return true;
#endif
}

bool heap_new(void)
{
	struct heap *heap = the_heap();

	if (!heap_reserve())
		return false;
	heap->magic = MAGIC;
	heap->top = (sizeof(*heap) + 15) / 16 * 16;
	alive = true;
	return true;
}

void heap_free_all(void)
{
	if (reserved)
		munmap(HEAP_BASE, HEAP_ROOM);
	reserved = alive = false;
}

bool heap_map(int fd, size_t offset, size_t bytes)
{
	if (bytes > HEAP_ROOM || !heap_reserve())
		return false;
	if (mmap(HEAP_BASE, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd,
		 (off_t)offset) == HEAP_BASE)
		return true;
	heap_free_all();
	return false;
}

bool heap_adopt(size_t bytes)
{
	const struct heap *heap = the_heap();

	if (bytes < sizeof(*heap) || heap->magic != MAGIC || heap->top > bytes ||
	    !heap_has(heap->root))
		return false;
	alive = true;
	return true;
}

/* ---- which threads are inside ---- */

bool heap_enter(void)
{
	bool before = heap_here;

	heap_here = alive;
	return before;
}

void heap_leave(bool before)
{
	heap_here = before;
}

size_t heap_bytes(void)
{
	return alive ? the_heap()->top : 0;
}

void heap_set_root(void *root)
{
	if (alive)
		the_heap()->root = root;
}

void *heap_root(void)
{
	return alive ? the_heap()->root : NULL;
}

void heap_hold(void)
{
	pthread_mutex_lock(&lock);
}

void heap_release(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- blocks ---- */

/* The size class: steps of 16 bytes up to 1 KiB, then four steps per power of two. */
static uint64_t class_of(size_t size)
{
	unsigned int bits, step;

	if (size <= SMALL_MAX)
		return (size + 15) / 16 - (size > 0);
	bits = 63 - (unsigned int)__builtin_clzll(size - 1);
	step = (unsigned int)((size - 1) >> (bits - 2)) & 3;
	return SMALL_CLASSES + (bits - 10) * 4 + step;
}

static size_t class_size(uint64_t class)
{
	unsigned int bits, step;

	if (class < SMALL_CLASSES)
		return (class + 1) * 16;
	bits = (unsigned int)(class - SMALL_CLASSES) / 4 + 10;
	step = (unsigned int)(class - SMALL_CLASSES) % 4;
	return ((size_t)1 << bits) + ((size_t)(step + 1) << (bits - 2));
}

void *heap_alloc(size_t size)
{
	struct heap *heap = the_heap();
	struct heap_block *block;
	uint64_t class;
	size_t bytes;

	if (size > BLOCK_MAX)
		return NULL;
	class = class_of(size);
	bytes = sizeof(*block) + class_size(class);
	pthread_mutex_lock(&lock);
	block = heap->unused[class];
	if (block) {
		heap->unused[class] = block->next;
	} else if (heap->top + bytes <= HEAP_ROOM) {
		block = (struct heap_block *)(HEAP_BASE + heap->top);
		heap->top += bytes;
	}
	pthread_mutex_unlock(&lock);
	if (!block)
		return NULL;
	block->class = class;
	block->next = NULL;
	return block + 1;
}

static void give_back(void *memory)
{
	struct heap_block *block = (struct heap_block *)memory - 1;
	struct heap *heap = the_heap();

	pthread_mutex_lock(&lock);
	block->next = heap->unused[block->class];
	heap->unused[block->class] = block;
	pthread_mutex_unlock(&lock);
}

void *heap_realloc(void *memory, size_t size)
{
	size_t had = class_size(((struct heap_block *)memory - 1)->class);
	void *new;

	if (size <= had && class_of(size) == ((struct heap_block *)memory - 1)->class)
		return memory;
	new = heap_alloc(size);
	if (!new)
		return NULL;
	memcpy(new, memory, size < had ? size : had);
	give_back(memory);
	return new;
}

void __wrap_free(void *block)
{
	if (!heap_has(block))
		__real_free(block);
	else if (alive)
		give_back(block);
}
