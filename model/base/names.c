/* SPDX-License-Identifier: MIT */
#include "model/base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/hash.h"
#include "model/base/kernel_class.h"
#include "model/base/util.h"

#define ARENA_BLOCK 65536u
#define TEXT_MAX 4096u

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	char data[];
};

static const char *arena_copy(struct names *names, const char *text, size_t length)
{
	struct arena_block *block = names->arena;
	char *copy;

	if (!block || block->size - block->used < length + 1) {
		size_t size = length + 1 > ARENA_BLOCK ? length + 1 : ARENA_BLOCK;

		block = xmalloc(sizeof(*block) + size);
		block->next = names->arena;
		block->used = 0;
		block->size = size;
		names->arena = block;
		names->bytes += sizeof(*block) + size;
	}
	copy = block->data + block->used;
	memcpy(copy, text, length);
	copy[length] = '\0';
	block->used += length + 1;
	return copy;
}

void names_init(struct names *names)
{
	memset(names, 0, sizeof(*names));
	names->pages = xcalloc(NAMES_MAX / NAMES_PAGE, sizeof(*names->pages));
	names->pages[0] = xcalloc(NAMES_PAGE, sizeof(**names->pages));
	names->n = 1;
	names->n_buckets = 1024;
	names->buckets = xcalloc(names->n_buckets, sizeof(*names->buckets));
	names->bytes = NAMES_PAGE * sizeof(struct name);
}

void names_release(struct names *names)
{
	for (uint32_t i = 0; i < NAMES_MAX / NAMES_PAGE && names->pages; i++)
		free(names->pages[i]);
	free(names->pages);
	free(names->buckets);
	free(names->kernels);
	map_release(&names->texts);
	while (names->arena) {
		struct arena_block *next = names->arena->next;

		free(names->arena);
		names->arena = next;
	}
	memset(names, 0, sizeof(*names));
}

static uint32_t hash_text(const char *text, size_t length)
{
	uint64_t hash = hash_bytes(HASH_SEED, text, length);

	return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t name_new(struct names *names)
{
	uint32_t id = names->n;

	if (id >= NAMES_MAX)
		return 0;
	if (!names->pages[id / NAMES_PAGE]) {
		names->pages[id / NAMES_PAGE] = xcalloc(NAMES_PAGE, sizeof(**names->pages));
		names->bytes += NAMES_PAGE * sizeof(struct name);
	}
	names->n++;
	return id;
}

static void names_rehash(struct names *names)
{
	names->n_buckets *= 2;
	free(names->buckets);
	names->buckets = xcalloc(names->n_buckets, sizeof(*names->buckets));
	for (uint32_t id = 1; id < names->n; id++) {
		struct name *name = name_at(names, id);
		uint32_t *bucket = &names->buckets[name->hash & (names->n_buckets - 1)];

		if (!name->raw)
			continue;
		name->next = *bucket;
		*bucket = id;
	}
}

uint32_t names_intern(struct names *names, const char *text)
{
	char clean[TEXT_MAX];
	size_t length;
	uint32_t hash, id;
	struct name *name;

	if (!text || !*text)
		return 0;
	length = name_clean(text, clean, sizeof(clean));
	hash = hash_text(clean, length);
	for (id = names->buckets[hash & (names->n_buckets - 1)]; id; id = name->next) {
		name = name_at(names, id);
		if (name->hash == hash && strcmp(name->raw, clean) == 0)
			return id;
	}
	id = name_new(names);
	if (!id)
		return 0;
	name = name_at(names, id);
	name->raw = arena_copy(names, clean, length);
	name->hash = hash;
	if (names->n > names->n_buckets) {
		names_rehash(names);		/* this also links the new name */
	} else {
		name->next = names->buckets[hash & (names->n_buckets - 1)];
		names->buckets[hash & (names->n_buckets - 1)] = id;
	}
	return id;
}

uint32_t names_placeholder(struct names *names)
{
	return name_new(names);
}

void names_alias(struct names *names, uint32_t placeholder, uint32_t real)
{
	real = names_resolve(names, real);
	if (placeholder && placeholder < names->n && placeholder != real &&
	    !name_at(names, placeholder)->raw)
		name_at(names, placeholder)->alias = real;
}

bool names_defined(const struct names *names, uint32_t id)
{
	id = names_resolve(names, id);
	return id && name_at(names, id)->raw;
}

static void names_set_text(struct names *names, struct name *name, const char *text)
{
	if (strcmp(text, name->full) == 0)
		name->text = name->full;
	else if (strcmp(text, name->text) != 0)
		name->text = arena_copy(names, text, strlen(text));
}

/* Makes the derived texts when they are first needed, which is for few names. */
static struct name *names_prepared_text(struct names *names, uint32_t id)
{
	struct name *name = name_at(names, names_resolve(names, id));
	char *full = NULL, text[NAME_SHORT_MAX];

	if (name->prepared || !name->raw)
		return name;
	name->prepared = true;
	name->full = name->text = name->raw;
	if (name_demangle(name->raw, &full)) {
		char clean[TEXT_MAX];
		size_t length = name_clean(full, clean, sizeof(clean));

		name->full = arena_copy(names, clean, length);
		free(full);
	}
	name_shorten(name->full, text, sizeof(text));
	names_set_text(names, name, text);
	return name;
}

/* Shows a kernel's name with as much detail as no other kernel's name has. */
static void names_show(struct names *names, const struct name_texts *kernel)
{
	struct name *name = name_at(names, kernel->id);
	char text[NAME_SHORT_MAX], more[NAME_SHORT_MAX + 16];
	unsigned detail = NAME_SHORT;

	while (detail < NAME_DETAILS && (kernel->shared >> detail & 1))
		detail++;
	if (detail < NAME_DETAILS) {
		name_shorten_to(name->full, (enum name_detail)detail, text, sizeof(text));
		names_set_text(names, name, text);
		return;
	}
	/* Their texts are longer than what is shown, or one is the mangled form of the other. */
	name_shorten_to(name->full, NAME_SHORT, text, sizeof(text) - 12);
	snprintf(more, sizeof(more), "%s #%08x", text, name->hash);
	names_set_text(names, name, more);
}

/* Two kernels would have the same text: with that much detail neither is shown. */
static void names_share(struct names *names, uint32_t other, struct name_texts *kernel,
			unsigned detail)
{
	struct name_texts *first = &names->kernels[other];
	uint8_t before = first->shared;

	kernel->shared |= (uint8_t)(1u << detail);
	for (unsigned i = 0; i < NAME_DETAILS; i++)
		if (first->hashes[i] == kernel->hashes[detail])
			first->shared |= (uint8_t)(1u << i);
	if (first->shared != before)
		names_show(names, first);
}

/* Tells the name of a kernel apart from those of all kernels that were there before. */
static void names_tell_apart(struct names *names, uint32_t id)
{
	uint32_t at = names->n_kernels;
	struct name_texts *kernel;
	char text[NAME_SHORT_MAX];

	if (at == names->max_kernels) {
		names->max_kernels = at ? 2 * at : 64;
		names->kernels = xreallocarray(names->kernels, names->max_kernels,
					       sizeof(*names->kernels));
	}
	kernel = &names->kernels[names->n_kernels++];
	*kernel = (struct name_texts){ .id = id };
	for (unsigned detail = 0; detail < NAME_DETAILS; detail++) {
		uint32_t other;

		name_shorten_to(name_at(names, id)->full, (enum name_detail)detail, text,
				sizeof(text));
		kernel->hashes[detail] = hash_string(HASH_SEED, text);
		other = map_get(&names->texts, kernel->hashes[detail]);
		if (other == MAP_NONE)
			map_set(&names->texts, kernel->hashes[detail], at);
		else if (other != at)
			names_share(names, other, kernel, detail);
	}
	if (kernel->shared)
		names_show(names, kernel);
}

static const struct name *classified(struct names *names, uint32_t id)
{
	struct name *name = names_prepared_text(names, id);

	if (name->classified || !name->raw)
		return name;
	name->classified = true;
	names_tell_apart(names, names_resolve(names, id));
	name->class = kernel_class_of(name->full);
	name->work = (uint8_t)kernel_kind_work((enum kernel_kind)name->class.kind);
	return name;
}

const char *names_raw(struct names *names, uint32_t id)
{
	const char *raw;

	if (!names_resolve(names, id))
		return NULL;
	raw = name_at(names, names_resolve(names, id))->raw;
	return raw ? raw : "?";
}

const char *names_short(struct names *names, uint32_t id)
{
	const struct name *name;

	if (!names_resolve(names, id))
		return NULL;
	name = names_prepared_text(names, id);
	return name->raw ? name->text : "?";
}

struct kernel_class names_class(struct names *names, uint32_t id)
{
	return names_resolve(names, id) ? classified(names, id)->class :
	       (struct kernel_class){ .kind = KERNEL_OTHER };
}

enum work names_find_work(struct names *names, uint32_t id)
{
	const struct name *name = classified(names, id);

	return name->raw ? (enum work)name->work : WORK_OTHER;
}
