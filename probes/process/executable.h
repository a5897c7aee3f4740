/* SPDX-License-Identifier: MIT */
/*
 * What kind of ELF executable a file is, as far as loading a library into it goes.
 *
 * No state; any thread.
 */
#ifndef PROBES_PROCESS_EXECUTABLE_H
#define PROBES_PROCESS_EXECUTABLE_H

#include <stdint.h>

enum executable_kind {
	EXECUTABLE_NONE = 0,	/* it is not an ELF file */
	EXECUTABLE_UNKNOWN,	/* an ELF file that cannot be read further */
	EXECUTABLE_FOREIGN,	/* its word size is not tftop's */
	EXECUTABLE_STATIC,	/* it has no dynamic linker */
	EXECUTABLE_MUSL,	/* its dynamic linker is musl's */
	EXECUTABLE_DYNAMIC,
};

/* fd: the file, open for reading. bits: 32 or 64, 0 unknown; machine: EM_... of <elf.h>. Both
 * may be NULL, and are set for every ELF file. */
enum executable_kind executable_kind(int fd, unsigned int *bits, uint16_t *machine);

#endif
