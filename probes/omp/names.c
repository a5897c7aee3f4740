/* SPDX-License-Identifier: MIT */
/*
 * Names of regions. The function of a region is local to its source file, so only the symbols in
 * the library's file can name it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probes/imports/file.h"
#include "probes/omp/probe.h"

static bool omp_find_symbol(const struct elf_file *f, uint64_t address, char *text, size_t size)
{
	const Elf64_Shdr *table = NULL, *names;
	const Elf64_Sym *s;

	for (int i = 0; i < f->count && !table; i++)
		if (f->sections[i].sh_type == SHT_SYMTAB)
			table = &f->sections[i];
	names = table ? elf_file_strings(f, table) : NULL;
	if (!names)
		return false;
	s = (const Elf64_Sym *)(f->bytes + table->sh_offset);
	for (size_t n = table->sh_size / sizeof(*s); n; n--, s++) {
		if (s->st_value != address || ELF64_ST_TYPE(s->st_info) != STT_FUNC ||
		    s->st_name >= names->sh_size)
			continue;
		snprintf(text, size, "%.*s", (int)(names->sh_size - s->st_name < size ?
			 names->sh_size - s->st_name : size),
			 f->bytes + names->sh_offset + s->st_name);
		return *text;
	}
	return false;
}

void omp_function_name(const void *function, char *text, size_t size)
{
	/* all zero, because readlink() writes no NUL */
	struct address_module l = { .base = 0 };
	uintptr_t at = (uintptr_t)function;
	struct elf_file f;
	const char *slash;
	bool found = false;

	if (!module_of_address(function, &l)) {
		snprintf(text, size, "%p", function);
		return;
	}
	if (!l.path[0] && readlink("/proc/self/exe", l.path, sizeof(l.path) - 1) < 0)
		l.path[0] = '\0';
	if (elf_file_map(&f, l.path)) {
		found = omp_find_symbol(&f, at - l.base, text, size);
		elf_file_unmap(&f);
	}
	slash = strrchr(l.path, '/');
	if (!found)
		snprintf(text, size, "%.100s+0x%llx", slash ? slash + 1 : l.path,
			 (unsigned long long)(at - l.base));
}
