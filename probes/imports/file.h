/* SPDX-License-Identifier: MIT */
/*
 * The files of loaded libraries: which library an address is in, and the sections of an ELF file,
 * for what its dynamic symbols do not name. Part of libtftop-start.so and of probes; libc only.
 * Any thread; module_of_address() takes the loader's lock for a moment.
 */
#ifndef PROBES_IMPORTS_FILE_H
#define PROBES_IMPORTS_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_PATH_BYTES 4096

/* A loaded library, or the program itself, whose path is "". */
struct address_module {
	uintptr_t base;
	char path[MODULE_PATH_BYTES];
};

/* dladdr() would look at each symbol of the library for the nearest one: of a framework's at a
 * million. False: the address is in no library. */
bool module_of_address(const void *address, struct address_module *module);

/* An ELF file of 64 bits, mapped for reading. Its section headers lie inside of it; where a
 * section is, elf_file_has() must be asked. */
struct elf_file {
	const char *bytes;
	size_t size;
	const Elf64_Shdr *sections;
	int count;
};

/* False: there is no such file, or it is damaged or of another kind. */
bool elf_file_map(struct elf_file *file, const char *path);
void elf_file_unmap(struct elf_file *file);
bool elf_file_has(const struct elf_file *file, uint64_t offset, uint64_t size);

/* The strings of a symbol table that elf_file_has(). NULL: the table or they are damaged. */
const Elf64_Shdr *elf_file_strings(const struct elf_file *file, const Elf64_Shdr *table);

#endif
