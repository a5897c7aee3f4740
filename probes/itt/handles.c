/* SPDX-License-Identifier: MIT */
/*
 * See handles.h. The runtime's name table already recognises equal texts, so a struct is stored at
 * the index of its name's id, in pages of 1024 that are mapped when they are first needed.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/itt/handles.h"
#include "probes/runtime/runtime.h"

#define PAGE_IDS 1024u
#define PAGES 1024u

struct handle {
	_Atomic(char *) text;	/* owned; set once, then the struct is complete */
	union {
		struct itt_domain domain;
		struct itt_string string;
	} u;
};

static _Atomic(struct handle *) domain_pages[PAGES], string_pages[PAGES];

static struct handle *handle_at(_Atomic(struct handle *) *pages, uint32_t id)
{
	_Atomic(struct handle *) *page;
	struct handle *have, *fresh;

	if (id / PAGE_IDS >= PAGES)
		return NULL;
	page = &pages[id / PAGE_IDS];
	have = atomic_load_explicit(page, memory_order_acquire);
	if (!have) {
		int saved = errno;

		fresh = mmap(NULL, PAGE_IDS * sizeof(*fresh), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		errno = saved;
		if (fresh == MAP_FAILED)
			return NULL;
		if (atomic_compare_exchange_strong(page, &have, fresh))
			have = fresh;
		else
			munmap(fresh, PAGE_IDS * sizeof(*fresh));
	}
	return &have[id % PAGE_IDS];
}

/* Sets the text of a handle, which the first thread copies; NULL: no memory. */
static char *claim_text(struct handle *h, const char *text)
{
	char *have = atomic_load_explicit(&h->text, memory_order_acquire), *copy;
	int saved = errno;

	if (have)
		return have;
	copy = strdup(text);
	errno = saved;
	if (!copy)
		return NULL;
	if (atomic_compare_exchange_strong(&h->text, &have, copy))
		return copy;
	free(copy);
	return have;
}

static struct handle *make(_Atomic(struct handle *) *pages, uint32_t id, const char *text,
			   char **kept)
{
	struct handle *h = id ? handle_at(pages, id) : NULL;

	*kept = h ? claim_text(h, text) : NULL;
	if (!*kept) {
		rt_dropped(1);
		return NULL;
	}
	return h;
}

/* All threads that get here write the same values. */
struct itt_domain *handles_domain(const char *text)
{
	uint32_t id = rt_name(TFT_NAME_DOMAIN, text);
	struct handle *h;
	char *kept;

	if (!text || !(h = make(domain_pages, id, text, &kept)))
		return NULL;
	if (!__atomic_load_n(&h->u.domain.name, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&h->u.domain.extra1, (int)id, __ATOMIC_RELAXED);
		__atomic_store_n(&h->u.domain.flags, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&h->u.domain.name, kept, __ATOMIC_RELEASE);
	}
	return &h->u.domain;
}

struct itt_string *handles_string(const char *text)
{
	uint32_t id = rt_name(TFT_NAME_RANGE, text);
	struct handle *h;
	char *kept;

	if (!text || !(h = make(string_pages, id, text, &kept)))
		return NULL;
	if (!__atomic_load_n(&h->u.string.text, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&h->u.string.extra1, (int)id, __ATOMIC_RELAXED);
		__atomic_store_n(&h->u.string.text, kept, __ATOMIC_RELEASE);
	}
	return &h->u.string;
}

/* The static part makes such structs, too, and leaves this member to the tool. */
static uint32_t name_of(const int *extra1, enum tft_name_kind kind, const char *text)
{
	int id = __atomic_load_n(extra1, __ATOMIC_RELAXED);

	if (!id) {
		id = (int)rt_name(kind, text);
		__atomic_store_n((int *)(uintptr_t)extra1, id, __ATOMIC_RELAXED);
	}
	return (uint32_t)id;
}

uint32_t handles_domain_name(const struct itt_domain *domain)
{
	return domain ? name_of(&domain->extra1, TFT_NAME_DOMAIN, domain->name) : 0;
}

uint32_t handles_string_name(const struct itt_string *string)
{
	return string ? name_of(&string->extra1, TFT_NAME_RANGE, string->text) : 0;
}
