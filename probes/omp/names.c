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

static bool omp_find_symbol(const struct elf_file *file, uint64_t address, char *text,
			    size_t size)
{
	struct elf_function function;

	if (!elf_file_function(file, address, &function) || !function.name)
		return false;
	snprintf(text, size, "%.*s", (int)(function.length < size ? function.length : size),
		 function.name);
	return *text;
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
