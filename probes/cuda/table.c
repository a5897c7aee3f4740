/* SPDX-License-Identifier: MIT */
/*
 * Calls whose records have yet to come.
 *
 * The table is indexed directly by the correlation id. An entry has a word with the correlation id
 * above and its state below. While a thread fills in an entry nobody reads it; a reader compares
 * the word again after reading. The words lie close together, because scans walk through them.
 * Correlation ids count all calls of the process. The table holds the last 262144 of them, and a
 * launch that is overwritten before its record came is counted. Ids wrap after 2^32, so which of
 * two is later is decided by their difference.
 */
#include <string.h>
#include <sys/mman.h>

#include "probes/cuda/probe.h"

#define NEWEST 64u

static struct cuda_call (*table)[CALLS];
static _Atomic uint64_t (*words)[CALLS];
/* The latest correlation of each thread (0: none), and the latest of all when last determined. */
static struct {
	_Alignas(64) _Atomic uint32_t at;
} newest[NEWEST];
static _Atomic uint32_t latest, low;
static _Atomic uint64_t overwritten;

void table_start(void)
{
	void *p = mmap(NULL, sizeof(*table) + sizeof(*words), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		rt_dropped(1);
		return;
	}
	words = (void *)((char *)p + sizeof(*table));
	table = p;
}

bool table_there(void)
{
	return table != NULL;
}

void table_forget(void)
{
	for (unsigned i = 0; i < NEWEST; i++)
		atomic_store_explicit(&newest[i].at, 0, memory_order_relaxed);
	atomic_store_explicit(&latest, 0, memory_order_relaxed);
}

uint64_t calls_overwritten(void)
{
	return atomic_load(&overwritten);
}

static inline _Atomic uint64_t *word_of(uint32_t correlation)
{
	return &(*words)[correlation & (CALLS - 1)];
}

static inline struct cuda_call *entry_of(uint32_t correlation)
{
	return &(*table)[correlation & (CALLS - 1)];
}

uint64_t calls_state(uint32_t correlation)
{
	uint64_t word = table ? atomic_load_explicit(word_of(correlation),
						     memory_order_acquire) : 0;

	return word >> 32 == correlation ? (uint32_t)word : 0;
}

/* Copies an entry while others may write it: the word tells whether the copy is valid. */
typedef uint64_t __attribute__((may_alias)) part;
_Static_assert(sizeof(struct cuda_call) == 64, "a line of the cache");

static inline void read_entry(uint32_t correlation, struct cuda_call *out)
{
	const part *from = (const part *)entry_of(correlation);

	for (unsigned i = 0; i < sizeof(*out) / sizeof(part); i++)
		((part *)out)[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

static inline void write_entry(uint32_t correlation, const struct cuda_call *call)
{
	part *to = (part *)entry_of(correlation);

#pragma GCC unroll 8
	for (unsigned i = 0; i < sizeof(*call) / sizeof(part); i++)
		__atomic_store_n(&to[i], ((const part *)call)[i], __ATOMIC_RELAXED);
}

void call_write(uint32_t correlation, const struct cuda_call *call)
{
	if (calls_state(correlation))
		write_entry(correlation, call);
}

enum call_found call_find(uint32_t correlation, struct cuda_call *out, uint64_t *state)
{
	uint64_t before = calls_state(correlation);

	if (!correlation || !before)
		return CALL_NONE;
	*state = before;
	if (before & CALL_FILLING)
		return CALL_BUSY;
	read_entry(correlation, out);
	rt_fence(memory_order_acquire);
	*state = calls_state(correlation);
	if (!*state)
		return CALL_NONE;
	/* members that are set at the end of the call may have been read before */
	return (before | *state) & (CALL_FILLING | CALL_RUNNING) ? CALL_BUSY : CALL_THERE;
}

uint32_t call_kernel(const struct cuda_call *call)
{
	char text[TFT_TEXT_MAX + 1] = "";
	size_t n = call->symbol ? rt_peek(text, call->symbol, TFT_TEXT_MAX) : 0;
	const char *end = memchr(text, '\0', n + 1);

	for (const char *at = text; at < end; at++)
		if ((unsigned char)*at < ' ')
			return 0;
	/* text without an end was cut at the end of the readable memory */
	if (end == text || (end == text + n && n < TFT_TEXT_MAX))
		return 0;
	return rt_name(TFT_NAME_KERNEL, text);
}

void call_mark(uint32_t correlation, uint32_t clear, uint32_t set)
{
	_Atomic uint64_t *at = word_of(correlation);
	uint64_t word = atomic_load_explicit(at, memory_order_relaxed);

	while (word >> 32 == correlation &&
	       !atomic_compare_exchange_weak_explicit(at, &word, (word & ~(uint64_t)clear) | set,
						      memory_order_acq_rel, memory_order_relaxed))
		;
}

void call_end(uint32_t correlation, const struct cuda_call *call, uint32_t clear, uint32_t set)
{
	struct cuda_call *entry = entry_of(correlation);

	__atomic_store_n(&entry->call_dur_ns, call->call_dur_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->queue, call->queue, __ATOMIC_RELAXED);
	call_mark(correlation, clear, set);
}

void call_seen(uint32_t correlation, const struct cuda_call *call)
{
	call_mark(correlation, CALL_AWAITED | CALL_GIVEN_UP, CALL_SEEN);
	if (call->twin)
		call_mark(call->twin, CALL_AWAITED | CALL_GIVEN_UP, CALL_SEEN);
}

static inline bool later(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

void calls_range(uint32_t *oldest, uint32_t *last)
{
	uint32_t end = atomic_load_explicit(&latest, memory_order_acquire);
	uint32_t begin = atomic_load_explicit(&low, memory_order_relaxed);
	uint32_t at;

	for (unsigned i = 0; i < NEWEST; i++) {
		at = atomic_load_explicit(&newest[i].at, memory_order_acquire);
		if (at && (!end || later(at, end)))
			end = at;
	}
	/* the entry of a thread that makes no more calls would seem to be ahead in 2^31 calls */
	for (unsigned i = 0; i < NEWEST; i++) {
		at = atomic_load_explicit(&newest[i].at, memory_order_relaxed);
		if (at && end - at >= CALLS && later(end, at))
			atomic_compare_exchange_strong(&newest[i].at, &at, 0);
	}
	atomic_store_explicit(&latest, end, memory_order_release);
	if (!table || !end)
		begin = 1, end = 0;
	else if (end - begin >= CALLS)
		begin = end - CALLS + 1;
	*oldest = begin;
	*last = end;
}

void calls_low(uint32_t oldest)
{
	atomic_store_explicit(&low, oldest, memory_order_relaxed);
}

/* Stores a call that is running; its time is taken last. */
int64_t call_file(uint32_t correlation, struct cuda_call *call)
{
	_Atomic uint64_t *word = word_of(correlation);
	_Atomic uint32_t *last = &newest[call->tid % NEWEST].at;
	uint64_t id = (uint64_t)correlation << 32;

	if (unlikely(atomic_load_explicit(word, memory_order_relaxed) & CALL_AWAITED))
		atomic_fetch_add(&overwritten, 1);
	atomic_store_explicit(word, id | CALL_FILLING | CALL_RUNNING, memory_order_relaxed);
	rt_fence(memory_order_release);
	/* an id that is ahead by more than the table holds is from before the ids wrapped */
	if (atomic_load_explicit(last, memory_order_relaxed) - correlation >= CALLS)
		atomic_store_explicit(last, correlation, memory_order_release);
	if (!call->call_ns)
		call->call_ns = rt_now_ns();
	write_entry(correlation, call);
	atomic_store_explicit(word, id | CALL_RUNNING | CALL_AWAITED, memory_order_release);
	return call->call_ns;
}
