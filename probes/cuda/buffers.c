/* SPDX-License-Identifier: MIT */
/*
 * Buffers of records.
 *
 * CUPTI asks for buffers and returns them on any thread; both only move a number between two
 * stacks (Treiber 1986, the free one with a counter against reuse). All buffers lie in one piece
 * of address space; memory is taken when a buffer is first used. When none is left CUPTI gets
 * NULL and drops its records; before 12.9, where NULL ends the program, it gets a buffer that is
 * thrown away unread.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/cuda/probe.h"

/*
 * Small, because CUPTI returns only buffers in which everything has ended. While the host is ahead
 * of the device, that is never true of the buffer that is being written, so what runs becomes
 * visible only when that buffer is full, after 140 kernels. The vendor's sample of a tracer uses
 * this size, too. If few records arrive, as with large kernels, a buffer should be full sooner: the
 * first buffers that are requested between two flushes hold FEW_RECORDS, unless many are in use.
 */
#define FEW_RECORDS 4u
#define FEW_ROUND 128u		/* in buffers: up to 10 000 records per second */
#define FEW_OUT 512u
#define BUFFER_BYTES (32u << 10)
#define BUFFERS 2048u	/* 64 MiB; from 13.0 on each thread that makes calls holds one or two */
#define THROWN_HEAD 4096u	/* before a buffer that is thrown away: which one it is */

static uint8_t *base;
static struct {
	_Atomic uint32_t next;	/* index + 1 */
	size_t valid;
} buffers[BUFFERS];
static _Atomic uint64_t free_stack;	/* counter << 32 | index + 1 */
static _Atomic uint32_t full_stack;	/* index + 1; taken as a whole */
static _Atomic uint32_t fresh;		/* how many buffers were ever given out */
static _Atomic uint64_t thrown;		/* in bytes */
static _Atomic uint32_t thrown_out;	/* buffers that CUPTI holds and that are thrown away */
static _Atomic uint32_t out;		/* buffers that CUPTI holds or that are on the full stack */
static _Atomic uint32_t asked;		/* requests for buffers since the last flush */

bool buffers_start(void)
{
	void *p = mmap(NULL, (size_t)BUFFERS * BUFFER_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	base = p;
	return true;
}

static bool take_free(uint32_t *index)
{
	uint64_t head = atomic_load_explicit(&free_stack, memory_order_acquire), next;

	do {
		if (!(uint32_t)head) {
			*index = atomic_fetch_add(&fresh, 1);
			if (*index < BUFFERS)
				return true;
			atomic_store(&fresh, BUFFERS);
			return false;
		}
		*index = (uint32_t)head - 1;
		next = ((head >> 32) + 1) << 32 |
		       atomic_load_explicit(&buffers[*index].next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&free_stack, &head, next,
							memory_order_acquire,
							memory_order_acquire));
	return true;
}

static void give_free(uint32_t index)
{
	uint64_t head = atomic_load_explicit(&free_stack, memory_order_relaxed);

	atomic_fetch_sub(&out, 1);
	do
		atomic_store_explicit(&buffers[index].next, (uint32_t)head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&free_stack, &head,
						      ((head >> 32) + 1) << 32 | (index + 1),
						      memory_order_release, memory_order_relaxed));
}

/* Not of the pool, so its address before it tells it from a client's. */
static uint8_t *thrown_new(void)
{
	uint8_t *p = mmap(NULL, THROWN_HEAD + BUFFER_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t self;

	if (p == MAP_FAILED)
		return NULL;
	self = (uintptr_t)p;
	memcpy(p, &self, sizeof(self));
	atomic_fetch_add(&thrown_out, 1);
	return p + THROWN_HEAD;
}

static bool thrown_is(const uint8_t *buffer)
{
	const uint8_t *head = buffer - THROWN_HEAD;
	uintptr_t said = 0;

	return atomic_load(&thrown_out) && rt_peek(&said, head, sizeof(said)) == sizeof(said) &&
	       said == (uintptr_t)head;
}

static bool in_pool(const uint8_t *buffer)
{
	return buffer >= base && buffer < base + (size_t)BUFFERS * BUFFER_BYTES;
}

bool buffers_are_ours(const uint8_t *buffer)
{
	return in_pool(buffer) || thrown_is(buffer);
}

void buffers_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	int saved = errno;
	uint32_t index;
	uint8_t *p;

	*max_records = 0;
	*size = BUFFER_BYTES;
	if (likely(take_free(&index))) {
		uint32_t n = atomic_fetch_add(&out, 1);

		*buffer = base + (size_t)index * BUFFER_BYTES;
		if (atomic_fetch_add(&asked, 1) < FEW_ROUND && n < FEW_OUT)
			*max_records = FEW_RECORDS;
		/* threads start and end, or there is a burst: do not wait for the next round */
		if (n % (BUFFERS / 4) == BUFFERS / 4 - 1)
			collect_wake();
		errno = saved;
		return;
	}
	*buffer = NULL;
	*size = 0;
	if (!cupti_null_buffer(cupti) && (p = thrown_new())) {
		*buffer = p;
		*size = BUFFER_BYTES;
	}
	cuda_say(SAID_BUFFERS, 1, "records come faster than they are read, or %u threads launch: "
				  "all "
		 "%u buffers are in use, and what does not fit is lost", BUFFERS / 2, BUFFERS);
	errno = saved;
}

void buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint32_t index, head;

	(void)context;
	(void)stream;
	if (!buffer)
		return;
	if (unlikely(!in_pool(buffer))) {
		atomic_fetch_add(&thrown, valid);
		atomic_fetch_sub(&thrown_out, 1);
		munmap(buffer - THROWN_HEAD, THROWN_HEAD + BUFFER_BYTES);
		return;
	}
	index = (uint32_t)((size_t)(buffer - base) / BUFFER_BYTES);
	buffers[index].valid = valid <= size && size <= BUFFER_BYTES ? valid : 0;
	head = atomic_load_explicit(&full_stack, memory_order_relaxed);
	do
		atomic_store_explicit(&buffers[index].next, head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&full_stack, &head, index + 1,
						      memory_order_release, memory_order_relaxed));
}

/* Oldest first; the stack has them in reverse order. */
uint64_t buffers_drain(uint64_t (*each)(uint8_t *data, size_t valid))
{
	uint32_t at = atomic_exchange_explicit(&full_stack, 0, memory_order_acquire);
	uint32_t next, turned = 0;
	uint64_t n = 0;

	for (; at; at = next) {
		next = atomic_load_explicit(&buffers[at - 1].next, memory_order_relaxed);
		atomic_store_explicit(&buffers[at - 1].next, turned, memory_order_relaxed);
		turned = at;
	}
	for (at = turned; at; at = next) {
		next = atomic_load_explicit(&buffers[at - 1].next, memory_order_relaxed);
		n += each(base + (size_t)(at - 1) * BUFFER_BYTES, buffers[at - 1].valid);
		give_free(at - 1);
	}
	return n;
}

uint64_t buffers_thrown(void)
{
	return atomic_exchange(&thrown, 0);
}

uint32_t buffers_out(void)
{
	return atomic_load(&out);
}

void buffers_flushed(void)
{
	atomic_store(&asked, 0);
}
