/* SPDX-License-Identifier: MIT */
/*
 * Memory blocks of the CPU client, for arrays, results and intermediate values of programs.
 * AlignedAllocator::Allocate() allocates them, the destructor of AlignedMemory frees them. Small
 * ones are not recorded (probes/runtime/blocks.h).
 *
 * Who a block is for becomes known a little later, on the same thread: a thread of XLA gets the
 * blocks of a run before its first kernel, a Python thread gets the block of a copy before the
 * copy begins. Until then the block waits here. One that is freed before that is not recorded; one
 * that nobody has claimed by the next tick is recorded without an op.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "probes/jax/probe.h"
#include "probes/runtime/blocks.h"
#include "probes/runtime/cpu.h"

#define WAITING 64u		/* as many as jax_thread.blocks has bits */
#define WAIT_NS 20000000

/* CpuDeviceMemory::Allocator and AlignedMemory */
typedef void *allocate(void *result, const void *allocator, size_t bytes, size_t alignment);
struct jax_memory {
	const void *table;
	void *base;
	size_t bytes;
};

static allocate *original;
static void (*destroy)(struct jax_memory *m);
static const char *table;
static unsigned owner;

static _Atomic uint32_t count;		/* number of blocks that wait */
static struct memory_waiting {
	_Atomic(void *) base;		/* NULL: it was sent, or freed */
	_Atomic size_t bytes;
	_Atomic int64_t since_ns;
	_Atomic uint32_t taken;		/* the entry is in use, whether base is set or not */
	_Atomic uint32_t told;
} waiting[WAITING];

/* ---- waiting blocks ---- */

static bool jax_memory_put(struct jax_thread *t, const struct jax_memory *m)
{
	for (uint32_t i = 0; i < WAITING; i++) {
		struct memory_waiting *w = &waiting[i];
		uint32_t none = 0;

		if (atomic_load_explicit(&w->taken, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&w->taken, &none, 1))
			continue;
		atomic_store(&w->told, 0);
		atomic_store(&w->bytes, m->bytes);
		atomic_store(&w->since_ns, rt_now_ns());
		atomic_fetch_add(&count, 1);
		atomic_store(&w->base, m->base);
		t->blocks |= UINT64_C(1) << i;
		return true;
	}
	return false;
}

/* Removes the block if the entry still belongs to it. */
static bool take(struct memory_waiting *w, void *base)
{
	if (!base || !atomic_compare_exchange_strong(&w->base, &base, NULL))
		return false;
	atomic_fetch_sub(&count, 1);
	return true;
}

/* Called by its thread or by the tick; another thread may free the block meanwhile. */
static void tell(struct memory_waiting *w, struct rt_top top)
{
	void *base = atomic_load(&w->base);
	size_t bytes = atomic_load(&w->bytes);

	if (!base || atomic_exchange(&w->told, 1))
		return;
	rt_block_given_in(owner, rt_cpu_device(), base, bytes, top);
	if (!take(w, base))
		rt_block_freed(base);
}

void jax_memory_for(struct jax_thread *t, uint64_t op, uint32_t op_name)
{
	struct rt_top top = { .instance = op, .name = op ? op_name : 0, .step = -1 };

	while (t->blocks) {
		struct memory_waiting *w = &waiting[__builtin_ctzll(t->blocks)];

		t->blocks &= t->blocks - 1;
		tell(w, top);
		atomic_store(&w->taken, 0);
	}
}

/* The entry stays with its thread, which may be about to clear it. */
void jax_memory_tick(int64_t now_ns)
{
	for (uint32_t i = 0; i < WAITING && atomic_load(&count); i++)
		if (now_ns - atomic_load(&waiting[i].since_ns) > WAIT_NS)
			tell(&waiting[i], (struct rt_top){ .step = -1 });
}

void jax_memory_fork_child(void)
{
	struct jax_thread *own = jax_thread_own;

	memset(waiting, 0, sizeof(waiting));
	atomic_store(&count, 0);
	if (own)
		own->blocks = 0;
}

/* ---- allocated and freed ---- */

static void given(const struct jax_memory *m)
{
	struct jax_thread *t = jax_self();
	struct rt_top top = rt_op_current();

	if (top.instance || !t || !jax_memory_put(t, m))
		rt_block_given_in(owner, rt_cpu_device(), m->base, m->bytes, top);
}

/* StatusOr<std::unique_ptr<RawMemory>> *(result, this, bytes, alignment) */
static void *on_allocate(void *result, const void *allocator, size_t bytes, size_t alignment)
{
	const struct jax_memory *m;
	const uint64_t *words = result;
	int saved;

	original(result, allocator, bytes, alignment);
	if (bytes < RT_BLOCK_BYTES || rt_level() < TFT_LEVEL_DEFAULT || words[0] != 1)
		return result;
	saved = errno;
	m = (const struct jax_memory *)(uintptr_t)words[1];
	if (m->table == table && m->bytes == bytes)
		given(m);
	errno = saved;
	return result;
}

/* This destructor also frees the object. */
static void on_destroy(struct jax_memory *m)
{
	int saved = errno;

	if (m->bytes >= RT_BLOCK_BYTES && rt_level() >= TFT_LEVEL_DEFAULT) {
		for (uint32_t i = 0; i < WAITING && atomic_load(&count); i++)
			if (atomic_load(&waiting[i].base) == m->base)
				take(&waiting[i], m->base);
		rt_block_freed(m->base);
	}
	errno = saved;
	destroy(m);
}

void jax_memory_start(const struct patch_symbol *s)
{
	owner = rt_block_owner(rt_name(TFT_NAME_ALLOCATOR, "cpu"));
	table = s[JAX_MEMORY_TABLE].at;
	if (table && s[JAX_ALLOCATE].at && s[JAX_MEMORY_GONE].at) {
		table += 2 * sizeof(void *);
		*(void **)&original = patch_original(&s[JAX_ALLOCATE]);
		*(void **)&destroy = patch_original(&s[JAX_MEMORY_GONE]);
	}
	if (!original || !destroy || !patch_replace(&s[JAX_MEMORY_GONE], (void *)on_destroy) ||
	    !patch_replace(&s[JAX_ALLOCATE], (void *)on_allocate))
		jax_blind("blocks of memory: how this jaxlib allocates them is unknown");
}
