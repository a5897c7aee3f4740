/* SPDX-License-Identifier: MIT */
/* Which function of a file holds an address: on this program's own file, and on damaged ones. */
#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include "model/base/util.h"
#include "probes/imports/elf_index.h"
#include "tests/unit/test.h"

/* Static, and not inlined: only the file's full table of symbols has it. */
__attribute__((noinline)) static int elf_function_sought(int a)
{
	return test_below(2) ? a * 3 : a;
}

static bool is_named(const struct elf_function *function, const char *name)
{
	return function->name && function->length > strlen(name) &&
	       !strcmp(function->name, name);
}

TEST(elf_function_of_an_address)
{
	const char *at = (const char *)elf_function_sought;
	struct address_module module;
	struct elf_function found, beside;
	struct elf_file file;
	uint64_t address;

	CHECK(elf_function_sought(0) == 0);
	CHECK(module_of_address(at, &module));
	CHECK(elf_file_map(&file, "/proc/self/exe"));
	address = (uintptr_t)at - module.base;
	CHECK(elf_file_function(&file, address, &found) && is_named(&found, "elf_function_sought"));
	CHECK_INT(found.start, address);
	CHECK(found.end > address);
	/* anywhere in it, and not behind it */
	CHECK(elf_file_function(&file, found.end - 1, &beside));
	CHECK(is_named(&beside, "elf_function_sought"));
	CHECK(elf_file_function(&file, found.end, &beside));
	CHECK(!is_named(&beside, "elf_function_sought"));
	/* before the first function there is a gap, and behind the last one a gap without an end */
	CHECK(elf_file_function(&file, 1, &beside) && !beside.name);
	CHECK_INT(beside.start, 0);
	CHECK(beside.end > 1 && beside.end < UINT64_MAX);
	CHECK(elf_file_function(&file, UINT64_MAX - 1, &beside) && !beside.name);
	CHECK_INT(beside.end, UINT64_MAX);
	elf_file_unmap(&file);
}

/* Of an address in no library: the room between the libraries around it. */
TEST(elf_gap_of_an_address)
{
	struct address_module gap, other;
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	CHECK(!module_of_address(page, &gap) && !gap.path[0]);
	CHECK(gap.start <= (uintptr_t)page && (uintptr_t)page + 4096 <= gap.end);
	/* it ends where a library begins, and begins where one ends */
	CHECK(gap.end == UINTPTR_MAX ||
	      (module_of_address((void *)gap.end, &other) && other.start == gap.end));
	CHECK(!gap.start ||
	      (module_of_address((void *)(gap.start - 1), &other) && other.end == gap.start));
	CHECK(!module_of_address((void *)(gap.end - 1), &other) && other.start == gap.start);
	munmap(page, 4096);
}

/* An index says what the whole table does; of a file that has become another one it says nothing
 * wrong. */
TEST(elf_function_by_index)
{
	struct elf_function one, other;
	struct elf_symbols symbols;
	struct elf_index index;
	struct elf_file file, whole;
	uint64_t address;
	int named = 0;

	CHECK(elf_file_map(&file, "/proc/self/exe"));
	CHECK(elf_file_symbols(&file, &symbols));
	CHECK(elf_index_make(&index, &file));
	for (int i = 0; i < 5000; i++) {
		const Elf64_Sym *s = &symbols.at[test_below(symbols.n)];

		address = test_below(3) ? s->st_value + test_below(s->st_size + 40) :
					  index.low + test_below(1 << 20);
		one.name = other.name = NULL;
		CHECK(elf_file_function(&file, address, &one));
		CHECK(elf_index_function(&index, &file, address, &other));
		CHECK(one.start == other.start && one.end == other.end && one.name == other.name);
		named += one.name != NULL;
	}
	CHECK(named > 1000);
	CHECK(elf_index_function(&index, &file, 0, &other) && !other.name);
	CHECK(elf_index_function(&index, &file, UINT64_MAX - 1, &other) && !other.name);
	whole = file;
	file.count = 0;
	CHECK(!elf_index_function(&index, &file, address, &other));
	elf_index_release(&index);
	CHECK(!elf_index_make(&index, &file));
	elf_file_unmap(&whole);
}

/* Tables that lead out of the file name nothing. */
TEST(elf_function_damaged)
{
	static Elf64_Shdr sections[3];
	static Elf64_Sym symbols[2];
	static char bytes[4096];
	struct elf_file file = { bytes, sizeof(bytes), sections, 3 };
	struct elf_function found;

	CHECK(!elf_file_function(&file, 0x1010, &found));	/* no table at all */
	sections[1] = (Elf64_Shdr) {
		.sh_type = SHT_DYNSYM, .sh_offset = 512, .sh_size = sizeof(symbols), .sh_link = 2,
	};
	sections[2] = (Elf64_Shdr) { .sh_type = SHT_STRTAB, .sh_offset = 1024, .sh_size = 8 };
	symbols[0] = (Elf64_Sym) {
		.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1000,
		.st_size = 0x20,
	};
	symbols[1] = symbols[0];
	symbols[1].st_value = 0x1030;
	memcpy(bytes + 512, symbols, sizeof(symbols));
	memcpy(bytes + 1025, "spin", 5);
	CHECK(elf_file_function(&file, 0x101f, &found) && is_named(&found, "spin"));
	CHECK(elf_file_function(&file, 0x1020, &found) && !found.name);
	CHECK_INT(found.start, 0x1020);
	CHECK_INT(found.end, 0x1030);
	/* a name behind the strings; an undefined symbol; strings behind the file */
	symbols[0].st_name = 8;
	memcpy(bytes + 512, symbols, sizeof(symbols));
	CHECK(elf_file_function(&file, 0x101f, &found) && !found.name);
	symbols[0].st_name = 1;
	symbols[0].st_shndx = SHN_UNDEF;
	memcpy(bytes + 512, symbols, sizeof(symbols));
	CHECK(elf_file_function(&file, 0x101f, &found) && !found.name);
	sections[2].sh_size = sizeof(bytes);
	CHECK(!elf_file_function(&file, 0x101f, &found));
	sections[2] = (Elf64_Shdr) { .sh_type = SHT_STRTAB, .sh_offset = 1024, .sh_size = 8 };
	sections[1].sh_link = 3;
	CHECK(!elf_file_function(&file, 0x101f, &found));
	for (int i = 0; i < 100000; i++) {
		for (size_t k = 0; k < sizeof(symbols); k++)
			bytes[512 + k] = (char)test_below(256);
		if (elf_file_function(&file, (uint64_t)test_below(1 << 16), &found) && found.name)
			CHECK(found.length && found.length <= 8);
	}
}
