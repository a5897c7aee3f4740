/* SPDX-License-Identifier: MIT */
/* See imports.h. Source: the System V ABI's ELF, x86-64's and AArch64's supplements. */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/imports/imports.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT R_X86_64_GLOB_DAT
#define ABSOLUTE R_X86_64_64
#define RELATIVE R_X86_64_RELATIVE
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT R_AARCH64_GLOB_DAT
#define ABSOLUTE R_AARCH64_ABS64
#define RELATIVE R_AARCH64_RELATIVE
#endif

#define ALIGNED(t) ((t) % sizeof(void *) == 0)

/* An entry of the dynamic section; some loaders leave it as it is in the file. */
static const void *at(const struct imports_library *l, uintptr_t value)
{
	return (const void *)(value < l->base ? l->base + value : value);
}

static bool read_dynamic(struct imports_library *l, const ElfW(Dyn) *d)
{
	bool rela = false;

	for (; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			l->strings = at(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_SYMTAB)
			l->symbols = at(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_JMPREL)
			l->calls = at(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_PLTRELSZ)
			l->n_calls = d->d_un.d_val / sizeof(*l->calls);
		else if (d->d_tag == DT_RELA)
			l->data = at(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			l->n_data = d->d_un.d_val / sizeof(*l->data);
		else if (d->d_tag == DT_PLTREL)
			rela = d->d_un.d_val == DT_RELA;
	}
	if (!l->calls || !rela)
		l->n_calls = 0;
	if (!l->data)
		l->n_data = 0;
	return l->strings && l->symbols && (l->n_calls || l->n_data);
}

bool imports_library(const struct dl_phdr_info *info, struct imports_library *l)
{
	const ElfW(Dyn) *dynamic = NULL;

	*l = (struct imports_library){ .base = info->dlpi_addr,
				       .path = info->dlpi_name ? info->dlpi_name : "" };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = l->base + p->p_vaddr, to = from + p->p_memsz;

		if (p->p_type == PT_LOAD && to > l->end)
			l->end = to;
		if (p->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)from;
		if (p->p_type == PT_GNU_RELRO) {
			l->relro = from;
			l->relro_end = to;
		}
	}
	return dynamic && read_dynamic(l, dynamic);
}

bool imports_put(const struct imports_library *l, void **slot, void *to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)slot & ~(page - 1);
	bool read_only = (uintptr_t)slot >= l->relro && (uintptr_t)slot < l->relro_end;

	if (read_only && mprotect((void *)from, page, PROT_READ | PROT_WRITE) != 0)
		return false;
	__atomic_store_n(slot, to, __ATOMIC_RELEASE);
	if (read_only)
		mprotect((void *)from, page, PROT_READ);
	return true;
}

#ifdef JUMP_SLOT

static bool has_function(const struct imports_library *l, const ElfW(Rela) *r)
{
	uint32_t type = ELF64_R_TYPE(r->r_info);
	const ElfW(Sym) *s;

	if ((type != JUMP_SLOT && type != GLOB_DAT && (type != ABSOLUTE || r->r_addend)) ||
	    !ALIGNED(r->r_offset))
		return false;
	s = &l->symbols[ELF64_R_SYM(r->r_info)];
	return ELF64_ST_TYPE(s->st_info) == STT_FUNC || ELF64_ST_TYPE(s->st_info) == STT_NOTYPE;
}

/* Before the first call the place holds an address within the library's own table. */
static bool is_unbound(const struct imports_library *l, const ElfW(Rela) *r, const void *held)
{
	const ElfW(Sym) *s = &l->symbols[ELF64_R_SYM(r->r_info)];
	uintptr_t now = (uintptr_t)held;

	return ELF64_R_TYPE(r->r_info) == JUMP_SLOT && now >= l->base && now < l->end &&
	       (s->st_shndx == SHN_UNDEF || now != l->base + s->st_value);
}

static void imports_walk_relocs(const struct imports_library *l, const ElfW(Rela) *relocs,
				size_t count,
				imports_each *each, void *arg)
{
	struct imports_place place;

	for (size_t i = 0; i < count; i++) {
		const ElfW(Rela) *r = &relocs[i];

		if (ELF64_R_TYPE(r->r_info) == RELATIVE || !has_function(l, r))
			continue;
		place.name = l->strings + l->symbols[ELF64_R_SYM(r->r_info)].st_name;
		place.at = (void **)(l->base + r->r_offset);
		place.unbound = is_unbound(l, r, __atomic_load_n(place.at, __ATOMIC_ACQUIRE));
		each(l, &place, arg);
	}
}

void imports_walk(const struct imports_library *l, imports_each *each, void *arg)
{
	imports_walk_relocs(l, l->calls, l->n_calls, each, arg);
	imports_walk_relocs(l, l->data, l->n_data, each, arg);
}

/* ---- of one library ---- */

struct imports_search {
	uintptr_t address;
	struct imports_library library;
	bool found;
};

static int is_inside(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct imports_search *s = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD ||
		    s->address - (info->dlpi_addr + p->p_vaddr) >= p->p_memsz)
			continue;
		s->found = imports_library(info, &s->library);
		return 1;
	}
	return 0;
}

static bool find_library(const void *inside, struct imports_library *out)
{
	struct imports_search s = { .address = (uintptr_t)inside };

	dl_iterate_phdr(is_inside, &s);
	*out = s.library;
	return s.found;
}

/* Looks only at undefined symbols, so that the names of a large library's own hundred thousand
 * functions need not be read from disk. */
void imports_change(const void *inside, struct imports_change *changes, int count)
{
	struct imports_library l;

	if (!find_library(inside, &l))
		return;
	for (size_t i = 0; i < l.n_calls; i++) {
		const ElfW(Rela) *r = &l.calls[i];
		const ElfW(Sym) *symbol = &l.symbols[ELF64_R_SYM(r->r_info)];

		if (ELF64_R_TYPE(r->r_info) != JUMP_SLOT || symbol->st_shndx != SHN_UNDEF)
			continue;
		for (int k = 0; k < count; k++)
			if (!strcmp(l.strings + symbol->st_name, changes[k].name))
				changes[k].done = imports_put(&l, (void **)(l.base + r->r_offset),
							      changes[k].ours);
	}
}

void **imports_variable(const void *inside, const char *name, const void *now)
{
	struct imports_library l;

	if (!find_library(inside, &l))
		return NULL;
	for (size_t i = 0; i < l.n_data; i++) {
		const ElfW(Rela) *r = &l.data[i];
		void **slot = (void **)(l.base + r->r_offset);

		if (ELF64_R_TYPE(r->r_info) == GLOB_DAT && *slot == now &&
		    !strcmp(l.strings + l.symbols[ELF64_R_SYM(r->r_info)].st_name, name))
			return slot;
	}
	return NULL;
}

bool imports_variable_is(const void *inside, void **slot, void *place)
{
	struct imports_library l;

	return find_library(inside, &l) && imports_put(&l, slot, place);
}

#else	/* there are no such probes on this machine */

void imports_walk(const struct imports_library *l, imports_each *each, void *arg)
{
	(void)l;
	(void)each;
	(void)arg;
}

void imports_change(const void *inside, struct imports_change *changes, int count)
{
	(void)inside;
	(void)changes;
	(void)count;
}

void **imports_variable(const void *inside, const char *name, const void *now)
{
	(void)inside;
	(void)name;
	(void)now;
	return NULL;
}

bool imports_variable_is(const void *inside, void **slot, void *place)
{
	(void)inside;
	(void)slot;
	(void)place;
	return false;
}

#endif
