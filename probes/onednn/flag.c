/* SPDX-License-Identifier: MIT */
/*
 * Finds the variable that holds what oneDNN writes. It is set only when oneDNN first reads the
 * environment. Wheels have their symbol tables, including symbols that are local to a source file,
 * and the variable is among them: its address is exact, or unknown. It is changed only if it holds
 * exactly what the probe requested, in the bits of oneDNN 3.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "probes/imports/file.h"
#include "probes/onednn/onednn.h"

#define NAME "_ZN4dnnl4implL7verboseE"

/* Whether the symbol is the whole variable, or its value if the compiler has split it. */
static bool is_name(const struct elf_file *f, const Elf64_Shdr *names, uint32_t name)
{
	const char *text = f->bytes + names->sh_offset + name;

	if (name >= names->sh_size || names->sh_size - name < sizeof(NAME) + 2)
		return false;
	return !memcmp(text, NAME, sizeof(NAME)) || !memcmp(text, NAME ".0", sizeof(NAME) + 2);
}

/* The variable's address as in the file; 0: it is not there. */
static uint64_t flag_find_symbol(const struct elf_file *f, const Elf64_Shdr *table)
{
	const Elf64_Shdr *names = elf_file_strings(f, table);
	const Elf64_Sym *s = (const Elf64_Sym *)(f->bytes + table->sh_offset);

	if (!names || table->sh_info > table->sh_size / sizeof(*s))
		return 0;
	for (uint32_t n = table->sh_info; n; n--, s++)	/* local symbols come first */
		if (ELF64_ST_TYPE(s->st_info) == STT_OBJECT &&
		    (s->st_size == 4 || s->st_size == 8) && is_name(f, names, s->st_name))
			return s->st_value;
	return 0;
}

static uint64_t flag_look_in_file(const char *path)
{
	uint64_t address = 0;
	struct elf_file f;

	if (!elf_file_map(&f, path))
		return 0;
	for (int i = 0; i < f.count; i++)
		if (f.sections[i].sh_type == SHT_SYMTAB) {
			address = flag_find_symbol(&f, &f.sections[i]);
			break;
		}
	elf_file_unmap(&f);
	return address;
}

/* Whether the address is in a writable part of the library. */
static bool writable(const struct dl_phdr_info *info, uint64_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_W && address >= p->p_vaddr &&
		    address + 8 <= p->p_vaddr + p->p_memsz)
			return true;
	}
	return false;
}

struct flag_place {
	uintptr_t base;
	uint64_t address;
	bool ok;
};

static int check(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct flag_place *p = arg;

	(void)size;
	if (info->dlpi_addr != p->base)
		return 0;
	p->ok = writable(info, p->address);
	return 1;
}

_Atomic uint32_t *onednn_flag(const void *inside, uint32_t expected)
{
	struct flag_place p = { .ok = false };
	struct link_map *map = NULL;
	_Atomic uint32_t *flag;
	Dl_info info;

	if (!dladdr1(inside, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !info.dli_fname)
		return NULL;
	p.base = map->l_addr;
	p.address = flag_look_in_file(info.dli_fname);
	if (p.address && p.address % 4 == 0)
		dl_iterate_phdr(check, &p);
	if (!p.ok)
		return NULL;
	flag = (_Atomic uint32_t *)(p.base + p.address);
	/* the byte after it says that it is set */
	return *flag == expected && ((const unsigned char *)flag)[4] == 1 ? flag : NULL;
}
