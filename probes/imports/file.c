/* SPDX-License-Identifier: MIT */
/* See file.h. Source: the System V ABI's ELF. */
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/imports/file.h"

struct module_search {
	uintptr_t address;
	struct address_module *found;
};

/* A segment leaves less room around an address that is not in it. */
static void module_narrow_gap(struct module_search *s, uintptr_t start, uintptr_t end)
{
	if (start > s->address && start < s->found->end)
		s->found->end = start;
	if (end <= s->address && end > s->found->start)
		s->found->start = end;
}

static int module_has_address(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module_search *s = arg;
	uintptr_t unwind = 0, start;
	bool found = false;
	size_t length;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		start = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_GNU_EH_FRAME)
			unwind = start;
		if (p->p_type != PT_LOAD)
			continue;
		if (s->address - start < p->p_memsz) {
			s->found->start = start;
			s->found->end = start + p->p_memsz;
			found = true;
		} else if (!found) {
			module_narrow_gap(s, start, start + p->p_memsz);
		}
	}
	if (!found)
		return 0;
	s->found->base = info->dlpi_addr;
	s->found->unwind = unwind;
	length = info->dlpi_name ? strlen(info->dlpi_name) : 0;
	if (length && length < MODULE_PATH_BYTES)
		memcpy(s->found->path, info->dlpi_name, length + 1);
	return 1;
}

bool module_of_address(const void *address, struct address_module *module)
{
	struct module_search s = { .address = (uintptr_t)address, .found = module };

	module->path[0] = '\0';
	module->start = 0;
	module->end = UINTPTR_MAX;
	return dl_iterate_phdr(module_has_address, &s) != 0;
}

bool elf_file_has(const struct elf_file *file, uint64_t offset, uint64_t size)
{
	return offset <= file->size && size <= file->size - offset;
}

bool elf_file_map(struct elf_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Ehdr *header;
	struct stat status;

	if (fd < 0)
		return false;
	file->bytes = MAP_FAILED;
	if (fstat(fd, &status) == 0 && status.st_size > (off_t)sizeof(*header)) {
		file->size = (size_t)status.st_size;
		file->bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	if (file->bytes == MAP_FAILED)
		return false;
	header = (const Elf64_Ehdr *)file->bytes;
	file->sections = (const Elf64_Shdr *)(file->bytes + header->e_shoff);
	file->count = header->e_shnum;
	if (!memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	    header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_shoff % 8 == 0 &&
	    header->e_shentsize == sizeof(Elf64_Shdr) &&
	    elf_file_has(file, header->e_shoff, (uint64_t)file->count * sizeof(Elf64_Shdr)))
		return true;
	elf_file_unmap(file);
	return false;
}

void elf_file_unmap(struct elf_file *file)
{
	munmap((void *)file->bytes, file->size);
}

const Elf64_Shdr *elf_file_strings(const struct elf_file *file, const Elf64_Shdr *table)
{
	const Elf64_Shdr *strings = table->sh_link < (uint32_t)file->count ?
				    &file->sections[table->sh_link] : NULL;

	return strings && table->sh_offset % 8 == 0 &&
	       elf_file_has(file, table->sh_offset, table->sh_size) &&
	       elf_file_has(file, strings->sh_offset, strings->sh_size) ? strings : NULL;
}

static const Elf64_Shdr *elf_file_table(const struct elf_file *file, uint32_t type)
{
	for (int i = 0; i < file->count; i++)
		if (file->sections[i].sh_type == type && elf_file_strings(file, &file->sections[i]))
			return &file->sections[i];
	return NULL;
}

bool elf_file_symbols(const struct elf_file *file, struct elf_symbols *out)
{
	const Elf64_Shdr *table = elf_file_table(file, SHT_SYMTAB), *names;

	if (!table)
		table = elf_file_table(file, SHT_DYNSYM);
	if (!table)
		return false;
	names = elf_file_strings(file, table);
	*out = (struct elf_symbols) {
		.at = (const Elf64_Sym *)(file->bytes + table->sh_offset),
		.n = table->sh_size / sizeof(*out->at), .names = file->bytes + names->sh_offset,
		.names_size = names->sh_size,
	};
	return true;
}

bool elf_symbol_has(const struct elf_symbols *symbols, size_t i, uint64_t address,
		    struct elf_function *out)
{
	const Elf64_Sym *s = &symbols->at[i];

	if (!elf_symbol_is_function(s))
		return false;
	if (s->st_value > address) {
		if (s->st_value < out->end)
			out->end = s->st_value;
		return false;
	}
	if (address - s->st_value >= s->st_size) {
		if (s->st_value + s->st_size > out->start)
			out->start = s->st_value + s->st_size;
		return false;
	}
	if (s->st_name >= symbols->names_size)
		return false;
	out->start = s->st_value;
	out->end = s->st_value + s->st_size;
	out->name = symbols->names + s->st_name;
	out->length = symbols->names_size - s->st_name;
	return true;
}

bool elf_file_function(const struct elf_file *file, uint64_t address, struct elf_function *out)
{
	struct elf_symbols symbols;

	if (!elf_file_symbols(file, &symbols))
		return false;
	*out = (struct elf_function) { .end = UINT64_MAX };
	for (size_t i = 0; i < symbols.n; i++)
		if (elf_symbol_has(&symbols, i, address, out))
			break;
	return true;
}
