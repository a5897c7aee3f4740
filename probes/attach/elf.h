/* SPDX-License-Identifier: MIT */
/*
 * A 64-bit ELF file that is loaded in another process, read from that process's memory. Internal
 * to the injector.
 */
#ifndef PROBES_ATTACH_ELF_H
#define PROBES_ATTACH_ELF_H

#include "probes/attach/target.h"

struct elf {
	const struct target *target;
	uint64_t bias;		/* what is added to the file's addresses */
	uint64_t symbols, strings, strings_size, gnu_hash;
};

/* Opens the file whose ELF header is at this address; false: there is none, or it is for another
 * machine. */
bool elf_open(struct elf *elf, const struct target *t, uint64_t header);

/* The same, given the address of its dynamic section. */
bool elf_open_dynamic(struct elf *elf, const struct target *t, uint64_t bias,
			uint64_t dynamic);

/* The address of a function that the file defines; 0: it defines none of that name. */
uint64_t elf_function(const struct elf *elf, const char *name);

/* Whether its string table holds this string (names of versions are there). */
bool elf_has_string(const struct elf *elf, const char *string);

#endif
