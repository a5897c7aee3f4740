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
	/* of the segment that the address is in, or of the gap between segments */
	uintptr_t start, end;
	uintptr_t unwind;		/* where PT_GNU_EH_FRAME is; 0: there is none */
	char path[MODULE_PATH_BYTES];
};

/* Which library an address is in. dladdr() would compare the address with each symbol of the
 * library, a million in a framework's. false: the address is in no library; only start and end are
 * set. */
bool module_of_address(const void *address, struct address_module *module);

/* A 64-bit ELF file that is mapped for reading. Its section headers lie inside the file; whether a
 * section does must be checked with elf_file_has(). */
struct elf_file {
	const char *bytes;
	size_t size;
	const Elf64_Shdr *sections;
	int count;
};

/* false: there is no such file, or it is damaged or of another kind. */
bool elf_file_map(struct elf_file *file, const char *path);
void elf_file_unmap(struct elf_file *file);
bool elf_file_has(const struct elf_file *file, uint64_t offset, uint64_t size);

/* The strings of a symbol table for which elf_file_has() is true. NULL: the table or the strings
 * are damaged. */
const Elf64_Shdr *elf_file_strings(const struct elf_file *file, const Elf64_Shdr *table);

/* A function, or what lies between two functions, at addresses of the file. */
struct elf_function {
	uint64_t start, end;
	const char *name;	/* in the file, may lack its NUL; NULL: between two functions */
	size_t length;		/* how long the name can be at most */
};

/* All functions if the file tells them, or else those that other libraries can call. */
struct elf_symbols {
	const Elf64_Sym *at;
	size_t n;
	const char *names;
	size_t names_size;
};

/* false: the file names no functions. */
bool elf_file_symbols(const struct elf_file *file, struct elf_symbols *out);
static inline bool elf_symbol_is_function(const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
}
/* Whether the function of symbol i has that address, which then is written to *out. Otherwise the
 * part of *out in which there is none becomes smaller. */
bool elf_symbol_has(const struct elf_symbols *symbols, size_t i, uint64_t address,
		    struct elf_function *out);

/* Looks for what holds that address, among all functions if the file tells them, or else among
 * those that other libraries can call. false: the file names no functions. */
bool elf_file_function(const struct elf_file *file, uint64_t address, struct elf_function *out);

#endif
