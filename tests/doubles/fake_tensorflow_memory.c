/* SPDX-License-Identifier: MIT */
/*
 * A best-fit allocator and a oneDNN that look like those in TensorFlow's library; used with
 * fake_tensorflow.c. The allocator hands out consecutive pieces; oneDNN keeps its output in a
 * variable that is local to this file (none with -DOTHER_FLAG). With -DUNTOLD_REGIONS, the
 * allocator's regions can be seen only where it gets them from the system.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define NAMED(symbol) __asm__(symbol)
#define BFC "_ZN3tsl12BFCAllocator"
#ifdef UNTOLD_REGIONS	/* as up to 2.13, which has no function of that name */
#define REGIONS "fake"
#else
#define REGIONS BFC "13RegionManager"
#endif
#define PIECES 64

struct string {
	char *text;
	size_t length;
	char inside[16];
};
struct optional {
	int64_t value;
	bool there;
};
struct stats {
	int64_t allocations, in_use, peak, largest;
	struct optional limit;
	int64_t reserved, peak_reserved;
	struct optional reservable;
	int64_t largest_free;
	struct optional pool, peak_pool;
};
struct optional_stats {
	struct stats value;
	bool there;
};
struct bfc {
	const char *name;
	char *region[4], *at;
	int n_regions;
	bool hides;		/* regions are added without a visible call */
	size_t left;
	struct { void *memory; size_t bytes; } pieces[PIECES];
	struct stats stats;
};

API void *aligned_malloc(size_t bytes, size_t alignment)
	NAMED("_ZN3tsl4port13AlignedMallocEmSt11align_val_t");
API void aligned_free(void *memory) NAMED("_ZN3tsl4port11AlignedFreeEPv");
API struct string *bfc_name(struct string *s, struct bfc *b) NAMED(BFC "4NameB5cxx11Ev");
API struct optional_stats *bfc_stats(struct optional_stats *s, struct bfc *b)
	NAMED(BFC "8GetStatsEv");
API size_t bfc_size(const struct bfc *b, const void *memory)
	NAMED("_ZNK3tsl12BFCAllocator13AllocatedSizeEPKv");
API void *bfc_allocate(struct bfc *b, size_t alignment, size_t bytes, const void *attributes)
	NAMED(BFC "11AllocateRawEmmRKNS_20AllocationAttributesE");
API void bfc_free(struct bfc *b, void *memory) NAMED(BFC "13DeallocateRawEPv");
API void bfc_gone(struct bfc *b) NAMED(BFC "D2Ev");
API void add_region(struct bfc *regions, void *memory, size_t bytes)
	NAMED(REGIONS "19AddAllocationRegionEPvm");
API void *extend_region(struct bfc *regions, void *memory, size_t bytes)
	NAMED(REGIONS "27AddOrExtendAllocationRegionEPvm");
API void *const fake_bfc_vtable[] = {
	(void *)bfc_name, (void *)bfc_allocate, (void *)bfc_free, (void *)bfc_stats,
	(void *)bfc_size, (void *)bfc_gone,
};

struct string *bfc_name(struct string *s, struct bfc *b)
{
	s->length = strlen(b->name);
	s->text = s->length < sizeof(s->inside) ? s->inside : malloc(s->length + 1);
	memcpy(s->text, b->name, s->length + 1);
	return s;
}

struct optional_stats *bfc_stats(struct optional_stats *s, struct bfc *b)
{
	s->value = b->stats;
	s->there = true;
	return s;
}

size_t bfc_size(const struct bfc *b, const void *memory)
{
	for (int i = 0; i < PIECES; i++)
		if (b->pieces[i].memory == memory)
			return b->pieces[i].bytes;
	return 0;
}

static void keep(struct bfc *b, void *memory, size_t bytes)
{
	b->region[b->n_regions++] = memory;
	b->stats.pool.value += (int64_t)bytes;
}

void add_region(struct bfc *regions, void *memory, size_t bytes)
{
	keep(regions, memory, bytes);
}

/* As far as callers can see, the second region directly follows the first. */
void *extend_region(struct bfc *regions, void *memory, size_t bytes)
{
	keep(regions, memory, bytes);
	return regions->n_regions > 1 ? regions : NULL;
}

static void more(struct bfc *b, size_t bytes)
{
	b->at = aligned_malloc(bytes, 64);
	b->left = bytes;
	if (b->hides)
		keep(b, b->at, bytes);
	else if (!b->n_regions)
		add_region(b, b->at, bytes);
	else
		extend_region(b, b->at, bytes);
}

void *bfc_allocate(struct bfc *b, size_t alignment, size_t bytes, const void *attributes)
{
	size_t rounded = (bytes + 255) / 256 * 256;
	void *memory;
	int i = 0;

	if (alignment != 64 || attributes != (void *)6)
		return NULL;
	if (b->left < rounded)
		more(b, rounded > 1 << 20 ? 2 << 20 : 1 << 20);
	memory = b->at;
	b->at += rounded;
	b->left -= rounded;
	while (b->pieces[i].memory)
		i++;
	b->pieces[i].memory = memory;
	b->pieces[i].bytes = rounded;
	b->stats.allocations++;
	b->stats.in_use += (int64_t)rounded;
	if (b->stats.in_use > b->stats.peak)
		b->stats.peak = b->stats.in_use;
	return memory;
}

void bfc_free(struct bfc *b, void *memory)
{
	for (int i = 0; i < PIECES; i++)
		if (b->pieces[i].memory == memory) {
			b->stats.in_use -= (int64_t)b->pieces[i].bytes;
			b->pieces[i].memory = NULL;
			return;
		}
}

void bfc_gone(struct bfc *b)
{
	for (int i = 0; i < b->n_regions; i++)
		aligned_free(b->region[i]);
	memset(b, 0, sizeof(*b));
}

API void *fake_bfc(const char *name, bool hides);
void *fake_bfc(const char *name, bool hides)
{
	struct bfc *b = calloc(1, sizeof(*b));

	b->name = name;
	b->hides = hides;
	b->stats.pool.there = b->stats.limit.there = true;
	b->stats.limit.value = 1 << 30;
	return b;
}

API void *fake_bfc_allocate(struct bfc *b, size_t bytes);
void *fake_bfc_allocate(struct bfc *b, size_t bytes)
{
	void *memory = ((void *(*)(struct bfc *, size_t, size_t, const void *))fake_bfc_vtable[1])(
		b, 64, bytes, (void *)6);

	return memset(memory, 1, bytes);
}

API long fake_bfc_free(struct bfc *b, void *memory);
long fake_bfc_free(struct bfc *b, void *memory)
{
	((void (*)(struct bfc *, void *))fake_bfc_vtable[2])(b, memory);
	return (long)b->stats.in_use;
}

API void fake_bfc_gone(struct bfc *b);
void fake_bfc_gone(struct bfc *b)
{
	((void (*)(struct bfc *))fake_bfc_vtable[5])(b);
	free(b);
}

/* ---- oneDNN ---- */

struct verbose {
	uint32_t flags;
	bool looked;
};
#ifdef OTHER_FLAG
static volatile struct verbose verbose;
#else
static volatile struct verbose verbose NAMED("_ZN4dnnl4implL7verboseE");
#endif

API void sink(const char *text, int flag)
	NAMED("_ZN4dnnl4impl19verbose_printf_implEPKcNS0_9verbose_t9flag_kindE");
void sink(const char *text, int flag)
{
	(void)flag;
	fputs(text, stdout);
}

static void look(void)
{
	const char *words = getenv("ONEDNN_VERBOSE");

	verbose.flags = 4;
	if (words && strstr(words, "profile_create"))
		verbose.flags |= 0x20;
	if (words && strstr(words, "profile_exec"))
		verbose.flags |= 0x80;
	verbose.looked = true;
	if (verbose.flags != 4)
		printf("onednn_verbose,v1,info,oneDNN v3.%d\n", 7);
}

#define FAKE "cpu,convolution,jit:fake,forward_training,src:f32,,alg:direct,mb32_ic1oc16"

/* As in oneDNN: formatted once for the length and once for the text. */
#define WRITE(what, how, primitive, ms) do { \
	int length_ = snprintf(NULL, 0, "%sprimitive," what "%s,%s,%g\n", "", how, primitive, ms); \
	char *text_ = malloc((size_t)length_ + 1); \
	snprintf(text_, (size_t)length_ + 1, "%sprimitive," what "%s,%s,%g\n", "", how, primitive, \
		 ms); \
	sink(text_, 0x80); \
	free(text_); \
} while (0)

/* Runs primitives; returns how many of them printed a line, some in the format of other
 * versions. */
API int fake_primitives(int n);
int fake_primitives(int n)
{
	int wrote = 0;

	if (!verbose.looked)
		look();
	for (int i = 0; i < n; i++)
		if (verbose.flags & 0x80) {
			if (i % 2) {
				WRITE("create", ":cache_hit", FAKE, 0.01);
				WRITE("exec", "", FAKE, 0.02);
			} else {
				sink("primitive,exec," FAKE ",0.02\n", 0x80);
			}
			wrote++;
		}
	return wrote;
}
