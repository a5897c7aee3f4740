/* SPDX-License-Identifier: MIT */
/* Symbols by the GNU hash table, as the dynamic linker finds them. See elf.h. */
#include "probes/attach/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX 64
#define DYNAMIC_MAX 256
#define CHAIN_MAX 100000
#define STRINGS_MAX (1 << 20)

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		h = h * 33 + *c;
	return h;
}

/* The dynamic linker puts addresses into the section, but not into read-only ones. */
static uint64_t absolute(const struct elf *elf, uint64_t value)
{
	return value < elf->bias ? value + elf->bias : value;
}

bool elf_open_dynamic(struct elf *elf, const struct target *t, uint64_t bias,
			uint64_t dynamic)
{
	Elf64_Dyn d;

	*elf = (struct elf){ .target = t, .bias = bias };
	for (int i = 0; i < DYNAMIC_MAX; i++) {
		if (!target_read(t, dynamic + (uint64_t)i * sizeof(d), &d, sizeof(d)))
			return false;
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_SYMTAB)
			elf->symbols = absolute(elf, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRTAB)
			elf->strings = absolute(elf, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRSZ)
			elf->strings_size = d.d_un.d_val;
		else if (d.d_tag == DT_GNU_HASH)
			elf->gnu_hash = absolute(elf, d.d_un.d_ptr);
	}
	return elf->symbols && elf->strings && elf->gnu_hash;
}

bool elf_open(struct elf *elf, const struct target *t, uint64_t header)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;
	uint64_t dynamic = 0, first = UINT64_MAX;

	if (!target_read(t, header, &e, sizeof(e)) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phentsize != sizeof(p) ||
	    e.e_phnum > HEADERS_MAX)
		return false;
	for (int i = 0; i < e.e_phnum; i++) {
		if (!target_read(t, header + e.e_phoff + (uint64_t)i * sizeof(p), &p, sizeof(p)))
			return false;
		if (p.p_type == PT_LOAD && p.p_offset == 0)
			first = p.p_vaddr;
		else if (p.p_type == PT_DYNAMIC)
			dynamic = p.p_vaddr;
	}
	if (first == UINT64_MAX || !dynamic)
		return false;
	return elf_open_dynamic(elf, t, header - first, header - first + dynamic);
}

static bool name_is(const struct elf *elf, uint32_t offset, const char *name)
{
	char text[64];
	size_t length = strlen(name) + 1;

	return length <= sizeof(text) && offset + length <= elf->strings_size &&
	       target_read(elf->target, elf->strings + offset, text, length) &&
	       memcmp(text, name, length) == 0;
}

uint64_t elf_function(const struct elf *elf, const char *name)
{
	uint32_t head[4], i, h, hash = gnu_hash(name);	/* buckets, first, bloom words, shift */
	uint64_t buckets, chains;
	Elf64_Sym s;

	if (!target_read(elf->target, elf->gnu_hash, head, sizeof(head)) || !head[0])
		return 0;
	buckets = elf->gnu_hash + sizeof(head) + 8ull * head[2];
	chains = buckets + 4ull * head[0];
	if (!target_read(elf->target, buckets + 4ull * (hash % head[0]), &i, sizeof(i)) ||
	    i < head[1])
		return 0;
	for (uint32_t end = i + CHAIN_MAX; i < end; i++) {
		if (!target_read(elf->target, chains + 4ull * (i - head[1]), &h, sizeof(h)))
			return 0;
		if ((h | 1) == (hash | 1) &&
		    target_read(elf->target, elf->symbols + (uint64_t)i * sizeof(s), &s,
				sizeof(s)) &&
		    s.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s.st_info) == STT_FUNC &&
		    name_is(elf, s.st_name, name))
			return elf->bias + s.st_value;
		if (h & 1)
			return 0;
	}
	return 0;
}

bool elf_has_string(const struct elf *elf, const char *string)
{
	size_t size = elf->strings_size;
	char *all;
	bool found;

	if (size > STRINGS_MAX || !(all = malloc(size + 1)))
		return false;
	found = target_read(elf->target, elf->strings, all, size) &&
		memmem(all, size, string, strlen(string) + 1);
	free(all);
	return found;
}
