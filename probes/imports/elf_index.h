/* SPDX-License-Identifier: MIT */
/*
 * The functions of an ELF file by address, for many questions of the same file: the symbols of a
 * framework are half a million. Part of libtftop-runtime.so; libc only. The caller's thread only.
 */
#ifndef PROBES_IMPORTS_ELF_INDEX_H
#define PROBES_IMPORTS_ELF_INDEX_H

#include "probes/imports/file.h"

/* Symbols by the part of the addresses in which they begin, parts being of equal size. */
struct elf_index {
	uint64_t low;			/* the lowest address */
	uint32_t *first;		/* owned; of each part and the end: an index of `symbol` */
	uint32_t *symbol;		/* in the same memory; in the order of the file's table */
	size_t bytes;			/* of that memory */
	uint32_t parts;
	unsigned shift;			/* a part has so many bits of an address */
};

/* Two passes over the table of symbols; 4 bytes for each function. false: the file names none, or
 * there is no memory. */
bool elf_index_make(struct elf_index *index, const struct elf_file *file);
void elf_index_release(struct elf_index *index);
/* As elf_file_function(), of the file of which the index was made: but a function in which another
 * one begins may not be found behind that. */
bool elf_index_function(const struct elf_index *index, const struct elf_file *file,
			uint64_t address, struct elf_function *out);

#endif
