/* SPDX-License-Identifier: MIT */
#include "probes/imports/elf_index.h"

#include <string.h>
#include <sys/mman.h>

#define PER_PART 8u			/* symbols, on the average */

/* The range of addresses of code. false: there is none. */
static bool elf_index_range(const struct elf_file *file, uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (int i = 0; i < file->count; i++) {
		const Elf64_Shdr *s = &file->sections[i];

		if (!(s->sh_flags & SHF_EXECINSTR))
			continue;
		*low = s->sh_addr < *low ? s->sh_addr : *low;
		*high = s->sh_addr + s->sh_size > *high ? s->sh_addr + s->sh_size : *high;
	}
	return *low < *high;
}

/* In which part a function begins; one that begins outside of the code is in none. */
static bool part_of(const struct elf_index *index, const Elf64_Sym *symbol, uint64_t *part)
{
	*part = (symbol->st_value - index->low) >> index->shift;
	return elf_symbol_is_function(symbol) && *part < index->parts;
}

/* Counting sort: `first` counts, then says where each part begins, and while the symbols are put
 * in their places where the next one goes. */
static void sort_symbols(struct elf_index *index, const struct elf_symbols *symbols)
{
	uint32_t *next = index->first + 1, sum = 0;
	uint64_t part;

	for (size_t i = 0; i < symbols->n; i++)
		if (part_of(index, &symbols->at[i], &part))
			next[part]++;
	for (uint32_t i = 0; i < index->parts; i++) {
		uint32_t count = next[i];

		next[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < symbols->n; i++)
		if (part_of(index, &symbols->at[i], &part))
			index->symbol[next[part]++] = (uint32_t)i;
}

bool elf_index_make(struct elf_index *index, const struct elf_file *file)
{
	struct elf_symbols symbols;
	uint64_t high;
	void *memory;

	*index = (struct elf_index) { .shift = 0 };
	if (!elf_file_symbols(file, &symbols) || symbols.n > UINT32_MAX ||
	    !elf_index_range(file, &index->low, &high))
		return false;
	while ((high - index->low) >> index->shift > symbols.n / PER_PART)
		index->shift++;
	index->parts = (uint32_t)((high - index->low) >> index->shift) + 1;
	index->bytes = ((size_t)index->parts + 1 + symbols.n) * sizeof(uint32_t);
	memory = mmap(NULL, index->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return false;
	index->first = memory;
	index->symbol = index->first + index->parts + 1;
	sort_symbols(index, &symbols);
	return true;
}

void elf_index_release(struct elf_index *index)
{
	if (index->first)
		munmap(index->first, index->bytes);
	index->first = NULL;
}

/* Looks through a part. *any: it has functions. */
static bool part_has(const struct elf_index *index, const struct elf_symbols *symbols,
		     uint32_t part, uint64_t address, struct elf_function *out, bool *any)
{
	*any = index->first[part] < index->first[part + 1];
	for (uint32_t i = index->first[part]; i < index->first[part + 1]; i++)
		if (index->symbol[i] < symbols->n &&
		    elf_symbol_has(symbols, index->symbol[i], address, out))
			return true;
	return false;
}

bool elf_index_function(const struct elf_index *index, const struct elf_file *file,
			uint64_t address, struct elf_function *out)
{
	struct elf_symbols symbols;
	uint32_t part, at;
	bool any;

	if (!elf_file_symbols(file, &symbols))
		return false;
	*out = (struct elf_function) { .end = UINT64_MAX };
	part = address < index->low ? 0 :
	       (address - index->low) >> index->shift >= index->parts ? index->parts - 1 :
	       (uint32_t)((address - index->low) >> index->shift);
	if (part_has(index, &symbols, part, address, out, &any))
		return true;
	/* or in the last function before this part, which is long */
	for (at = part, any = false; at && !any;)
		if (part_has(index, &symbols, --at, address, out, &any))
			return true;
	for (at = part + 1, any = false; at < index->parts && !any; at++)
		part_has(index, &symbols, at, address, out, &any);
	return true;
}
