/* SPDX-License-Identifier: MIT */
/*
 * Links each node of the backward pass to the forward op that made it. The node carries the forward
 * op's sequence number and PyTorch's number of its thread. The last ops of each thread are kept
 * by their sequence numbers. If several ops have one number, the last one that began, which is the
 * innermost, is the one that asked autograd for it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "probes/pytorch/probe.h"

#define THREADS_MAX 256		/* of threads, by PyTorch's number */
#define RING (1u << 16)		/* how many forward ops of a thread a backward pass can refer to */

struct torch_ring {
	struct {
		_Atomic uint64_t sequence;	/* number plus one; 0: unused, or being written */
		_Atomic uint64_t instance;
	} at[RING];
};

static _Atomic(struct torch_ring *) rings[THREADS_MAX];

static struct torch_ring *ring_of(uint64_t thread, bool make)
{
	struct torch_ring *ring, *none = NULL;
	int saved = errno;

	if (!thread || thread >= THREADS_MAX)
		return NULL;
	ring = atomic_load_explicit(&rings[thread], memory_order_acquire);
	if (ring || !make)
		return ring;
	ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	errno = saved;
	if (ring == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(&rings[thread], &none, ring))
		return ring;
	munmap(ring, sizeof(*ring));
	return none;
}

void torch_remember(struct torch_thread *t, uint64_t sequence, uint64_t instance)
{
	uint64_t i = sequence & (RING - 1);
	struct torch_ring *ring = t->ring;

	if (!ring) {
		if (!torch_api.thread || !(ring = ring_of(torch_api.thread(), true)))
			return;
		t->ring = ring;
	}
	atomic_store_explicit(&ring->at[i].sequence, 0, memory_order_relaxed);
	rt_fence(memory_order_release);
	atomic_store_explicit(&ring->at[i].instance, instance, memory_order_relaxed);
	atomic_store_explicit(&ring->at[i].sequence, sequence + 1, memory_order_release);
}

uint64_t torch_forward_of(uint64_t thread, uint64_t sequence)
{
	struct torch_ring *ring = ring_of(thread, false);
	uint64_t i = sequence & (RING - 1), instance;

	if (!ring ||
	    atomic_load_explicit(&ring->at[i].sequence, memory_order_acquire) != sequence + 1)
		return 0;
	instance = atomic_load_explicit(&ring->at[i].instance, memory_order_relaxed);
	rt_fence(memory_order_acquire);
	return atomic_load_explicit(&ring->at[i].sequence, memory_order_relaxed) == sequence + 1 ?
	       instance : 0;
}
