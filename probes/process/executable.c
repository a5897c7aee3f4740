/* SPDX-License-Identifier: MIT */
#include "probes/process/executable.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define SEGMENTS_MAX 256u

#if __SIZEOF_POINTER__ == 8
#define NATIVE_CLASS ELFCLASS64
typedef Elf64_Ehdr native_header;
typedef Elf64_Phdr native_segment;
#else
#define NATIVE_CLASS ELFCLASS32
typedef Elf32_Ehdr native_header;
typedef Elf32_Phdr native_segment;
#endif

/* By the path of the dynamic linker that the file names. */
static enum executable_kind kind_by_linker(int fd, const native_header *head)
{
	for (unsigned int i = 0; i < head->e_phnum && i < SEGMENTS_MAX; i++) {
		off_t at = (off_t)(head->e_phoff + i * (size_t)head->e_phentsize);
		char name[256] = "";
		native_segment s;
		size_t length;

		if (pread(fd, &s, sizeof(s), at) != (ssize_t)sizeof(s))
			return EXECUTABLE_UNKNOWN;
		if (s.p_type != PT_INTERP)
			continue;
		length = s.p_filesz < sizeof(name) - 1 ? s.p_filesz : sizeof(name) - 1;
		if (pread(fd, name, length, (off_t)s.p_offset) < 0)
			return EXECUTABLE_UNKNOWN;
		return strstr(name, "musl") ? EXECUTABLE_MUSL : EXECUTABLE_DYNAMIC;
	}
	return EXECUTABLE_STATIC;
}

enum executable_kind executable_kind(int fd, unsigned int *bits, uint16_t *machine)
{
	native_header head;

	/* Both classes have their machine at the same place. */
	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return EXECUTABLE_NONE;
	if (bits)
		*bits = head.e_ident[EI_CLASS] == ELFCLASS32 ? 32 :
			head.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 0;
	if (machine)
		*machine = head.e_machine;
	if (head.e_ident[EI_CLASS] != NATIVE_CLASS)
		return EXECUTABLE_FOREIGN;
	return kind_by_linker(fd, &head);
}
