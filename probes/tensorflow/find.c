/* SPDX-License-Identifier: MIT */
/* Finds names by their bytes. */
#include <stdatomic.h>
#include <string.h>

#include "probes/tensorflow/probe.h"

/*
 * The ids of an op are needed at every run, so they are cached by a hash of all its bytes, not by
 * the address of the kernel, which another kernel may have later. Two texts of one length that
 * differ in one word never have the same hash (its factor is odd); otherwise the probability is
 * 2^-64.
 */
#define CACHE_SLOTS 16384u	/* a power of two */
#define CACHE_PROBES 4u
#define NAME_BYTES 1024

static struct {
	_Atomic uint64_t hash;	/* 0: unused, or being written */
	_Atomic uint64_t ids;
} cache[CACHE_SLOTS];
static atomic_flag cache_busy = ATOMIC_FLAG_INIT;

static inline uint64_t eight(const char *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	return w;
}

/* Fewer than eight bytes: their value, together with their number. */
static inline uint64_t few(const char *p, size_t n)
{
	uint32_t a, b;

	if (n >= 4) {
		memcpy(&a, p, 4);
		memcpy(&b, p + n - 4, 4);
		return (uint64_t)a << 32 | b;
	}
	return n ? (uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[n / 2] << 8 |
		   (unsigned char)p[n - 1] : 0;
}

static inline uint64_t hash_more(uint64_t h, const char *p, size_t n)
{
	uint64_t odd = 0x9e3779b97f4a7c15u;

	if (n < 8)
		return h + (few(p, n) ^ 0xff51afd7ed558ccdu) * odd;
	/* no iteration waits for the previous one; the last one may overlap */
	for (size_t i = 0; i + 8 < n; i += 8) {
		h += (eight(p + i) ^ 0xc4ceb9fe1a85ec53u) * odd;
		odd += 0x3c6ef372fe94f82au;
	}
	return h + (eight(p + n - 8) ^ 0xff51afd7ed558ccdu) * odd;
}

static inline uint64_t hash_end(uint64_t h)
{
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	h ^= h >> 29;
	return h ? h : 1;
}

uint64_t tf_hash(const char *text, size_t length)
{
	return hash_end(hash_more(length * 0xd6e8feb86659fd93u, text, length));
}

static uint64_t hash_of(const char *name, size_t name_length, const char *type,
			size_t type_length)
{
	uint64_t h = hash_more(name_length * 0xd6e8feb86659fd93u, name, name_length);

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return hash_end(hash_more(h + type_length, type, type_length));
}

static uint32_t intern(enum tft_name_kind kind, const char *text, size_t length)
{
	char buf[NAME_BYTES];

	if (length >= sizeof(buf))
		length = sizeof(buf) - 1;
	memcpy(buf, text, length);
	buf[length] = '\0';
	return rt_name(kind, buf);
}

/* Stores into an unused place, or else into one of its places; not at all if another thread is
 * doing so. */
static void tf_cache_keep(uint64_t hash, uint64_t ids)
{
	uint32_t at = (uint32_t)hash & (CACHE_SLOTS - 1), best = at;

	if (atomic_flag_test_and_set(&cache_busy))
		return;
	for (uint32_t i = 0; i < CACHE_PROBES; i++) {
		best = (at + i) & (CACHE_SLOTS - 1);
		if (!atomic_load_explicit(&cache[best].hash, memory_order_relaxed))
			break;
		if (i == CACHE_PROBES - 1)
			best = (at + (uint32_t)(hash >> 60) % CACHE_PROBES) & (CACHE_SLOTS - 1);
	}
	atomic_store_explicit(&cache[best].hash, 0, memory_order_relaxed);
	rt_fence(memory_order_release);
	atomic_store_explicit(&cache[best].ids, ids, memory_order_relaxed);
	atomic_store_explicit(&cache[best].hash, hash, memory_order_release);
	atomic_flag_clear(&cache_busy);
}

struct tf_ids tf_ids(const char *name, size_t name_length, const char *type, size_t type_length)
{
	uint64_t hash = hash_of(name, name_length, type, type_length), ids;
	uint32_t at = (uint32_t)hash & (CACHE_SLOTS - 1);
	struct tf_ids found;

	for (uint32_t i = 0; i < CACHE_PROBES; i++) {
		uint32_t k = (at + i) & (CACHE_SLOTS - 1);

		if (atomic_load_explicit(&cache[k].hash, memory_order_acquire) != hash)
			continue;
		ids = atomic_load_explicit(&cache[k].ids, memory_order_relaxed);
		rt_fence(memory_order_acquire);
		if (atomic_load_explicit(&cache[k].hash, memory_order_relaxed) == hash)
			return (struct tf_ids){ (uint32_t)(ids >> 32), (uint32_t)ids };
	}
	found.name = intern(TFT_NAME_OP, name, name_length);
	found.type = intern(TFT_NAME_OP_TYPE, type, type_length);
	if (found.name && found.type)
		tf_cache_keep(hash, (uint64_t)found.name << 32 | found.type);
	return found;
}

void tf_ids_fork_child(void)
{
	atomic_flag_clear(&cache_busy);
}
