/* SPDX-License-Identifier: MIT */
/*
 * A region's function is local to its file, so that only the symbols that were left in
 * the library's file name it.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/omp/probe.h"

#define PATH_BYTES 4096

struct omp_library {
	uintptr_t address, base;
	char path[PATH_BYTES];
};

static int omp_library_has(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct omp_library *l = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD ||
		    l->address - (info->dlpi_addr + p->p_vaddr) >= p->p_memsz)
			continue;
		l->base = info->dlpi_addr;
		if (info->dlpi_name)
			snprintf(l->path, sizeof(l->path), "%s", info->dlpi_name);
		return 1;
	}
	return 0;
}

struct omp_file {
	const char *bytes;
	size_t size;
};

static bool inside(const struct omp_file *f, uint64_t offset, uint64_t size)
{
	return offset <= f->size && size <= f->size - offset;
}

static bool omp_map_file(struct omp_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	f->bytes = MAP_FAILED;
	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof(Elf64_Ehdr)) {
		f->size = (size_t)status.st_size;
		f->bytes = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	return f->bytes != MAP_FAILED;
}

static const Elf64_Shdr *omp_find_section(const struct omp_file *f, uint32_t type, uint32_t link)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)f->bytes;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(f->bytes + header->e_shoff);

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_shoff % 8 || header->e_shentsize != sizeof(*s) ||
	    !inside(f, header->e_shoff, (uint64_t)header->e_shnum * sizeof(*s)))
		return NULL;
	for (uint32_t i = 0; i < header->e_shnum; i++)
		if (type == SHT_NULL ? i == link : s[i].sh_type == type)
			return inside(f, s[i].sh_offset, s[i].sh_size) ? &s[i] : NULL;
	return NULL;
}

static bool omp_find_symbol(const struct omp_file *f, uint64_t address, char *text, size_t size)
{
	const Elf64_Shdr *table = omp_find_section(f, SHT_SYMTAB, 0);
	const Elf64_Shdr *names = table ? omp_find_section(f, SHT_NULL, table->sh_link) : NULL;
	const Elf64_Sym *s;

	if (!names || table->sh_offset % 8)
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
	struct omp_library l = { .address = (uintptr_t)function };	/* its path is all zero */
	struct omp_file f;
	const char *slash;
	bool found = false;

	if (!dl_iterate_phdr(omp_library_has, &l)) {
		snprintf(text, size, "%p", function);
		return;
	}
	if (!l.path[0] && readlink("/proc/self/exe", l.path, sizeof(l.path) - 1) < 0)
		l.path[0] = '\0';
	if (omp_map_file(&f, l.path)) {
		found = omp_find_symbol(&f, l.address - l.base, text, size);
		munmap((void *)f.bytes, f.size);
	}
	slash = strrchr(l.path, '/');
	if (!found)
		snprintf(text, size, "%.100s+0x%llx", slash ? slash + 1 : l.path,
			 (unsigned long long)(l.address - l.base));
}
