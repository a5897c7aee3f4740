/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's best-fit allocator with coalescing (BFCAllocator): the chunks that it allocates, the
 * regions they come from, and its own statistics.
 *
 * A chunk is recorded with its rounded size, which the allocator is asked for after it has
 * allocated the chunk. Regions are recorded when the allocator takes them over. From both, tftop
 * computes the free chunks (tft_region), because the allocator merges neighbouring free ones; the
 * probe keeps no list. Once a second and after a new region, the allocator is asked for its
 * statistics, inside of a call of a thread that is using it, so that it cannot be destroyed
 * meanwhile. They go into counters; if its regions are not those that were recorded, these are
 * taken back.
 *
 * Only on x86-64: two of its functions return objects. Layout of AllocatorStats:
 * xla/tsl/framework/allocator.h, the same from 2.12 to 2.21 (checked there).
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "probes/runtime/blocks.h"
#include "probes/runtime/cpu.h"
#include "probes/tensorflow/memory.h"
#include "probes/tensorflow/probe.h"

#define NAME_BYTES 64
#define ALLOCATORS 31
#define TELL_NS 1000000000

#define NAME TFT_TF_BFC "4NameB5cxx11Ev"
#define GET_STATS TFT_TF_BFC "8GetStatsEv"
#define ALLOCATED_SIZE "_ZNK3tsl12BFCAllocator13AllocatedSizeEPKv"

/* std::optional<tsl::AllocatorStats> of libstdc++; optionals: value, then whether. */
struct bfc_stats {
	int64_t allocations, in_use, peak, largest;
	int64_t limit, has_limit;
	int64_t reserved, peak_reserved, reservable, has_reservable, largest_free;
	int64_t pool, has_pool, peak_pool, has_peak_pool;
	int64_t there;
	int64_t behind[8];		/* room, in case the struct has grown */
};

/* An allocator; its name is never freed. */
struct bfc {
	_Atomic uintptr_t object;	/* 0: it was destroyed */
	char text[NAME_BYTES];
	uint32_t name, device, in_use, reserved;	/* name id; series */
	unsigned owner;			/* rt_block_owner() */
	_Atomic uint64_t pool;		/* total size of the regions that were sent */
	_Atomic int64_t told_ns;
	_Atomic int64_t limit;
	_Atomic bool blind;		/* some of its regions or chunks were not sent */
};

static struct bfc list[ALLOCATORS];
static _Atomic uint32_t count;
static atomic_flag busy = ATOMIC_FLAG_INIT;

_Thread_local bool tf_in_allocator;
static _Thread_local struct bfc *current;

/* Looks up a function that is called, not hooked; NULL: it is not there. */
static void *asked(_Atomic(void *) *slot, const char *symbol)
{
	void *address = atomic_load_explicit(slot, memory_order_relaxed);

	if (!address) {
		address = tf_lib->find(symbol);
		atomic_store_explicit(slot, address, memory_order_relaxed);
	}
	return address;
}

/* ---- allocators ---- */

static void bfc_define_series(const struct bfc *b)
{
	char text[NAME_BYTES + 16], limit[32];
	struct tft_series s = { .device = b->device, .name = text, .unit = "bytes" };
	int64_t bytes = atomic_load_explicit(&b->limit, memory_order_relaxed);

	s.id = b->in_use;
	snprintf(text, sizeof(text), "%s in use", b->text);
	rt_emit_series(&s);
	s.id = b->reserved;
	snprintf(text, sizeof(text), "%s reserved", b->text);
	rt_emit_series(&s);
	if (bytes <= 0)
		return;
	snprintf(text, sizeof(text), "%s limit", b->text);
	snprintf(limit, sizeof(limit), "%lld bytes", (long long)bytes);
	rt_emit_info("tensorflow", text, limit);
}

static bool bfc_name_of(void *object, char text[NAME_BYTES])
{
	static _Atomic(void *) slot;
	void *name = asked(&slot, NAME);
	struct tf_string s = { .text = NULL };

	if (!name)
		return false;
	((void *(*)(struct tf_string *, void *))name)(&s, object);
	snprintf(text, NAME_BYTES, "%.*s", s.length < NAME_BYTES ? (int)s.length : NAME_BYTES - 1,
		 s.text ? s.text : "");
	tf_string_free(&s);
	return *text;
}

static struct bfc *find(void *object)
{
	uint32_t n = atomic_load_explicit(&count, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		if (atomic_load_explicit(&list[i].object, memory_order_acquire) ==
		    (uintptr_t)object)
			return &list[i];
	return NULL;
}

/* The entry for an allocator with that name: its own previous one, or a new one. */
static struct bfc *bfc_place_for(const char *text)
{
	uint32_t n = atomic_load_explicit(&count, memory_order_relaxed);
	struct bfc *b;

	for (uint32_t i = 0; i < n; i++)
		if (!atomic_load(&list[i].object) && strcmp(list[i].text, text) == 0)
			return &list[i];
	if (n >= ALLOCATORS)
		return NULL;
	b = &list[n];
	snprintf(b->text, sizeof(b->text), "%s", text);
	b->name = rt_name(TFT_NAME_ALLOCATOR, text);
	/* the ids of other devices are those of their own probes */
	b->device = strstr(text, "cpu") ? rt_cpu_device() : 0;
	b->in_use = rt_series_id();
	b->reserved = rt_series_id();
	b->owner = rt_block_owner(b->name);
	bfc_define_series(b);
	return b;
}

/* NULL: there are too many, or it has no name. */
static struct bfc *find_or_make(void *object)
{
	struct bfc *b = find(object);
	char text[NAME_BYTES];

	if (b || !bfc_name_of(object, text) || atomic_flag_test_and_set(&busy))
		return b;
	b = find(object);
	if (!b)
		b = bfc_place_for(text);
	if (b && !atomic_load(&b->object)) {
		atomic_store(&b->pool, 0);
		atomic_store(&b->told_ns, 0);
		atomic_store(&b->blind, false);
		atomic_store_explicit(&b->object, (uintptr_t)object, memory_order_release);
		if ((uint32_t)(b - list) >= atomic_load(&count))
			atomic_store_explicit(&count, (uint32_t)(b - list) + 1,
					      memory_order_release);
	}
	atomic_flag_clear(&busy);
	return b;
}

static void go_blind(struct bfc *b)
{
	struct tft_region r = { .allocator = b->name, .device = b->device };

	if (!atomic_exchange(&b->blind, true))
		rt_emit_region(&r);
}

/* ---- the allocator's own statistics ---- */

static void tell(uint32_t series, int64_t now_ns, int64_t value)
{
	struct tft_counter c = { .series = series, .at_ns = now_ns, .value = value };

	rt_emit_counter(&c);
}

/* Whether the numbers are possible, so that the object has the expected layout. */
static bool plausible(const struct bfc_stats *s)
{
	return (s->there & 0xff) == 1 && s->in_use >= 0 && s->in_use <= s->peak &&
	       (s->has_pool & 0xff) == 1 && s->pool >= s->in_use && s->allocations >= 0;
}

/* Sends, once, that this version does not report regions. */
static void say_regions(void)
{
	static atomic_bool said;

	if (!tf_original(TFT_TF_BFC_REGION) && !atomic_exchange(&said, true))
		tf_blind("the chunks of an allocator are unknown: TensorFlow reports all regions "
			 "from 2.14 on");
}

/* At most once per second, or after a new region; `object` is in use by this thread. */
static void bfc_ask(struct bfc *b, void *object)
{
	static _Atomic(void *) slot;
	int64_t now = rt_now_ns(), told = atomic_load_explicit(&b->told_ns, memory_order_relaxed);
	uint64_t pool = atomic_load(&b->pool);
	struct bfc_stats s = { .there = 0 };
	void *get;

	if (now - told < TELL_NS || !atomic_compare_exchange_strong(&b->told_ns, &told, now))
		return;
	get = asked(&slot, GET_STATS);
	if (get)
		((void *(*)(struct bfc_stats *, void *))get)(&s, object);
	if (!get || !plausible(&s)) {
		go_blind(b);
		return;
	}
	/* unless a region has just been added */
	if (pool != (uint64_t)s.pool && pool == atomic_load(&b->pool)) {
		go_blind(b);
		say_regions();
	}
	if ((s.has_limit & 0xff) == 1 && !atomic_load(&b->limit)) {
		atomic_store(&b->limit, s.limit);
		bfc_define_series(b);
	}
	now = rt_now_ns();
	tell(b->in_use, now, s.in_use);
	tell(b->reserved, now, s.pool);
}

static void handed_out(struct bfc *b, void *object, void *memory, size_t bytes)
{
	static _Atomic(void *) slot;
	void *size = asked(&slot, ALLOCATED_SIZE);

	if (size)
		bytes = ((size_t (*)(const void *, const void *))size)(object, memory);
	else
		go_blind(b);
	/* without it the free memory would be computed wrongly */
	if (!rt_block_given(b->owner, b->device, memory, bytes))
		go_blind(b);
	bfc_ask(b, object);
}

/* ---- hooks ---- */

void *tf_bfc_allocate(void *object, size_t alignment, size_t bytes, const void *attributes)
{
	void *(*original)(void *, size_t, size_t, const void *) =
		(void *(*)(void *, size_t, size_t, const void *))tf_original(TFT_TF_BFC_ALLOCATE);
	int saved = errno;
	struct bfc *b;
	void *memory;

	if (rt_level() < TFT_LEVEL_DEFAULT || tf_in_allocator)
		return original(object, alignment, bytes, attributes);
	b = find_or_make(object);
	errno = saved;
	tf_in_allocator = true;
	current = b;
	memory = original(object, alignment, bytes, attributes);
	current = NULL;
	tf_in_allocator = false;
	saved = errno;
	if (b && memory)
		handed_out(b, object, memory, bytes);
	errno = saved;
	return memory;
}

void tf_bfc_free(void *object, void *memory)
{
	int saved = errno;
	struct bfc *b = rt_level() >= TFT_LEVEL_DEFAULT ? find(object) : NULL;

	if (b && memory)
		rt_block_freed(memory);
	errno = saved;
	((void (*)(void *, void *))tf_original(TFT_TF_BFC_FREE))(object, memory);
	saved = errno;
	if (b)
		bfc_ask(b, object);
	errno = saved;
}

static void bfc_region(void *memory, size_t bytes, bool joined)
{
	struct bfc *b = current;
	struct tft_region r = {
		.address = (uintptr_t)memory, .bytes = bytes, .joined = joined,
	};

	if (!b)
		return;
	r.allocator = b->name;
	r.device = b->device;
	atomic_fetch_add(&b->pool, bytes);
	atomic_store_explicit(&b->told_ns, 0, memory_order_relaxed);
	if (!atomic_load(&b->blind))
		rt_emit_region(&r);
}

/* Called by the allocator with its lock held: what is written here takes none of the program's
 * locks. */
void tf_bfc_region(void *regions, void *memory, size_t bytes)
{
	int saved = errno;

	bfc_region(memory, bytes, false);
	errno = saved;
	((void (*)(void *, void *, size_t))tf_original(TFT_TF_BFC_REGION))(regions, memory, bytes);
}

void *tf_bfc_region_joined(void *regions, void *memory, size_t bytes)
{
	void *joined = ((void *(*)(void *, void *, size_t))tf_original(TFT_TF_BFC_REGION_JOINED))(
		regions, memory, bytes);
	int saved = errno;

	bfc_region(memory, bytes, joined != NULL);
	errno = saved;
	return joined;
}

/* Up to 2.13 no function is called with a region. For the processor a region is then what the
 * allocator gets from the system, each separately. */
void tf_bfc_got(void *memory, size_t bytes)
{
	if (memory && !tf_original(TFT_TF_BFC_REGION))
		bfc_region(memory, bytes, false);
}

static void gone(void *object)
{
	int saved = errno;
	struct bfc *b = find(object);

	if (b) {
		go_blind(b);
		atomic_store_explicit(&b->object, 0, memory_order_release);
	}
	errno = saved;
}

#define GONE(n) \
void tf_bfc_gone_##n(void *object) \
{ \
	gone(object); \
	((void (*)(void *))tf_original(TFT_TF_BFC_GONE_##n))(object); \
}
GONE(0)
GONE(1)
GONE(2)

/* ---- levels and forks ---- */

void tf_bfc_level(enum tft_level old_level, enum tft_level new_level)
{
	/* what was allocated meanwhile is unknown */
	if (old_level >= TFT_LEVEL_DEFAULT || new_level < TFT_LEVEL_DEFAULT)
		return;
	for (uint32_t i = 0; i < atomic_load(&count); i++)
		if (atomic_load(&list[i].object))
			go_blind(&list[i]);
}

void tf_bfc_dump(void)
{
	for (uint32_t i = 0; i < atomic_load(&count); i++)
		bfc_define_series(&list[i]);
}

void tf_bfc_fork_child(void)
{
	atomic_flag_clear(&busy);
	for (uint32_t i = 0; i < atomic_load(&count); i++)
		atomic_store(&list[i].blind, true);
}
