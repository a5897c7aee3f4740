/* SPDX-License-Identifier: MIT */
/*
 * What one library finds through tables of its own: functions that it imports
 * through its procedure linkage table, and the places of variables, by name. Undefined symbols only are looked at, so that the names of a large
 * library's own hundred thousand functions stay untouched on disk.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/onednn/onednn.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT R_AARCH64_GLOB_DAT
#endif

struct module {
	uintptr_t base;
	uintptr_t relro, relro_end;	/* read-only since it was loaded */
	const char *strings;
	const ElfW(Sym) *symbols;
	const ElfW(Rela) *relocs, *data;
	size_t reloc_bytes, data_bytes;
};

static int find_relro(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *m = arg;

	(void)size;
	if (info->dlpi_addr != m->base)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
			m->relro = m->base + info->dlpi_phdr[i].p_vaddr;
			m->relro_end = m->relro + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

static bool find_module(const void *inside, struct module *m)
{
	struct link_map *map = NULL;
	bool rela = false;
	Dl_info info;

	memset(m, 0, sizeof(*m));
	if (!dladdr1(inside, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return false;
	m->base = map->l_addr;
	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			m->strings = (const char *)d->d_un.d_ptr;
		else if (d->d_tag == DT_SYMTAB)
			m->symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
		else if (d->d_tag == DT_JMPREL)
			m->relocs = (const ElfW(Rela) *)d->d_un.d_ptr;
		else if (d->d_tag == DT_PLTRELSZ)
			m->reloc_bytes = d->d_un.d_val;
		else if (d->d_tag == DT_RELA)
			m->data = (const ElfW(Rela) *)d->d_un.d_ptr;
		else if (d->d_tag == DT_RELASZ)
			m->data_bytes = d->d_un.d_val;
		else if (d->d_tag == DT_PLTREL)
			rela = d->d_un.d_val == DT_RELA;
	}
	dl_iterate_phdr(find_relro, m);
	return rela && m->strings && m->symbols && m->relocs;
}

static bool replace(const struct module *m, void **slot, void *ours)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot & ~(page - 1);
	bool read_only = (uintptr_t)slot >= m->relro && (uintptr_t)slot < m->relro_end;

	if (read_only && mprotect((void *)at, page, PROT_READ | PROT_WRITE) != 0)
		return false;
	__atomic_store_n(slot, ours, __ATOMIC_RELEASE);
	if (read_only)
		mprotect((void *)at, page, PROT_READ);
	return true;
}

void onednn_imports(const void *inside, struct onednn_import *imports, int count)
{
#ifdef JUMP_SLOT
	struct module m;

	if (!find_module(inside, &m))
		return;
	for (size_t i = 0; i < m.reloc_bytes / sizeof(*m.relocs); i++) {
		const ElfW(Rela) *r = &m.relocs[i];
		const ElfW(Sym) *symbol = &m.symbols[ELF64_R_SYM(r->r_info)];

		if (ELF64_R_TYPE(r->r_info) != JUMP_SLOT || symbol->st_shndx != SHN_UNDEF)
			continue;
		for (int k = 0; k < count; k++)
			if (!strcmp(m.strings + symbol->st_name, imports[k].name))
				imports[k].done = replace(&m, (void **)(m.base + r->r_offset),
							  imports[k].ours);
	}
#else
	(void)inside;
	(void)imports;
	(void)count;
#endif
}

void **onednn_variable(const void *inside, const char *name, const void *now)
{
#ifdef GLOB_DAT
	struct module m;

	if (!find_module(inside, &m) || !m.data)
		return NULL;
	for (size_t i = 0; i < m.data_bytes / sizeof(*m.data); i++) {
		const ElfW(Rela) *r = &m.data[i];
		void **slot = (void **)(m.base + r->r_offset);

		if (ELF64_R_TYPE(r->r_info) == GLOB_DAT && *slot == now &&
		    !strcmp(m.strings + m.symbols[ELF64_R_SYM(r->r_info)].st_name, name))
			return slot;
	}
#else
	(void)inside;
	(void)name;
	(void)now;
#endif
	return NULL;
}

bool onednn_variable_is(const void *inside, void **slot, void *place)
{
	struct module m;

	return find_module(inside, &m) && replace(&m, slot, place);
}
