/* SPDX-License-Identifier: MIT */
/* See patch.h. Sources: the System V ABI's ELF; Intel's manual, volume 2. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/imports/file.h"
#include "probes/jax/branches.h"
#include "probes/jax/patch.h"

#define PATH_BYTES 4096
#define SEGMENTS_MAX 16

/* ---- the library ---- */

struct patch_library {
	const char *word;
	char path[PATH_BYTES];
	uintptr_t base;
	struct {
		uintptr_t from, to;
		bool code;
	} segment[SEGMENTS_MAX];
	int segments;
};

static int patch_find_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct patch_library *l = arg;
	size_t length = info->dlpi_name ? strlen(info->dlpi_name) : 0;

	(void)size;
	if (!length || length >= sizeof(l->path) || !strstr(info->dlpi_name, l->word))
		return 0;
	memcpy(l->path, info->dlpi_name, length + 1);
	l->base = info->dlpi_addr;
	l->segments = 0;
	for (int i = 0; i < info->dlpi_phnum && l->segments < SEGMENTS_MAX; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		l->segment[l->segments].from = l->base + p->p_vaddr;
		l->segment[l->segments].to = l->base + p->p_vaddr + p->p_memsz;
		l->segment[l->segments++].code = p->p_flags & PF_X;
	}
	return 1;
}

struct patch_look {
	const char *word;
	bool begun;
};

/* Names are searched only if libraries were loaded since the last time. */
static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	static unsigned long long adds;
	struct patch_look *l = arg;

	(void)size;
	if (!l->begun && info->dlpi_adds == adds)
		return -1;
	l->begun = true;
	adds = info->dlpi_adds;
	return info->dlpi_name && strstr(info->dlpi_name, l->word);
}

bool patch_loaded(const char *word)
{
	struct patch_look l = { .word = word };

	return dl_iterate_phdr(look, &l) == 1;
}

static bool within(const struct patch_library *l, uintptr_t at, size_t size, bool code)
{
	for (int i = 0; i < l->segments; i++)
		if (at >= l->segment[i].from && at < l->segment[i].to &&
		    size <= l->segment[i].to - at)
			return l->segment[i].code == code;
	return false;
}

/* ---- its file ---- */

/* The whole function in memory must equal that of the file; code has no relocations. */
static bool same_code(const struct elf_file *f, const Elf64_Sym *s, const void *at)
{
	const Elf64_Shdr *section = s->st_shndx < f->count ? &f->sections[s->st_shndx] : NULL;
	uint64_t offset;

	if (!section || section->sh_type != SHT_PROGBITS ||
	    !(section->sh_flags & SHF_EXECINSTR) || s->st_value < section->sh_addr)
		return false;
	offset = section->sh_offset + (s->st_value - section->sh_addr);
	return elf_file_has(f, offset, s->st_size) && !memcmp(f->bytes + offset, at, s->st_size);
}

/* If two symbols have the same name, neither is taken. */
static void take(const struct patch_library *l, const struct elf_file *f, const Elf64_Sym *s,
		 struct patch_symbol *symbol)
{
	uintptr_t at = l->base + s->st_value;
	bool good = ELF64_ST_TYPE(s->st_info) == (symbol->data ? STT_OBJECT : STT_FUNC) &&
		    s->st_shndx != SHN_UNDEF && s->st_size &&
		    within(l, at, s->st_size, !symbol->data) &&
		    (symbol->data || (s->st_size >= PATCH_BYTES && same_code(f, s, (void *)at)));

	symbol->at = good && !symbol->size ? (void *)at : NULL;
	symbol->size = s->st_size ? s->st_size : 1;
}

/* The first bytes of a name as one number, because few of a million names start like those
 * wanted. */
static uint64_t begin_of(const char *name)
{
	uint64_t begin;

	memcpy(&begin, name, sizeof(begin));
	return begin;
}

static void patch_search_table(const struct patch_library *l, const struct elf_file *f,
			       const Elf64_Shdr *table,
			       struct patch_symbol *symbols, int count)
{
	const Elf64_Shdr *strings = elf_file_strings(f, table);
	const Elf64_Sym *s = (const Elf64_Sym *)(f->bytes + table->sh_offset);
	const char *all;
	size_t room;

	if (!strings || strings->sh_size < 8)
		return;
	all = f->bytes + strings->sh_offset;
	for (size_t n = table->sh_size / sizeof(*s); n--; s++) {
		uint64_t begin;

		if (s->st_name > strings->sh_size - 8)
			continue;
		begin = begin_of(all + s->st_name);
		room = strings->sh_size - s->st_name;
		for (int i = 0; i < count; i++)
			if (begin == begin_of(symbols[i].name) &&
			    strlen(symbols[i].name) < room &&
			    !strcmp(all + s->st_name, symbols[i].name))
				take(l, f, s, &symbols[i]);
	}
}

int patch_find(const char *word, struct patch_symbol *symbols, int count)
{
	static struct patch_library l;	/* used by one thread at a time */
	int found = 0, tables = 0;
	struct elf_file f;

	l.word = word;
	for (int i = 0; i < count; i++) {
		symbols[i].at = NULL;
		symbols[i].size = 0;
	}
	if (!dl_iterate_phdr(patch_find_library, &l) ||
	    !dlopen(l.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) || !elf_file_map(&f, l.path))
		return -1;
	for (int i = 0; i < f.count; i++) {
		if (f.sections[i].sh_type != SHT_SYMTAB)
			continue;
		patch_search_table(&l, &f, &f.sections[i], symbols, count);
		tables++;
	}
	elf_file_unmap(&f);
	for (int i = 0; i < count; i++)
		found += symbols[i].at != NULL;
	return tables ? found : -1;
}

/* ---- replacing ---- */

#if defined(__x86_64__)

/* Length of an instruction that means the same at any address and with which compilers start
 * functions; 0: it is not one of these. */
static size_t patch_movable_bytes(const uint8_t *p)
{
	bool wide = (p[0] & 0xf8) == 0x48;	/* REX.W */

	if ((p[0] & 0xf8) == 0x50)
		return 1;			/* push */
	if (p[0] == 0x41 && (p[1] & 0xf8) == 0x50)
		return 2;
	if (wide && (p[1] == 0x89 || p[1] == 0x8b) && p[2] >= 0xc0)
		return 3;			/* mov between registers */
	if (wide && p[1] == 0x8b && p[2] >> 6 == 1 && (p[2] & 7) != 4)
		return 4;			/* mov 8 bits(register), register */
	if (p[0] == 0x89 && p[1] >= 0xc0)
		return 2;
	if (p[0] == 0x48 && p[1] == 0x83 && p[2] == 0xec)
		return 4;			/* sub $8 bits, %rsp */
	if (p[0] == 0x48 && p[1] == 0x81 && p[2] == 0xec)
		return 7;
	if (!memcmp(p, "\xf3\x0f\x1e\xfa", 4))
		return 4;			/* endbr64 */
	return 0;
}

static void jump(uint8_t *at, const void *to)
{
	memcpy(at, "\xff\x25\0\0\0\0", 6);
	memcpy(at + 6, &to, sizeof(to));
}

void *patch_original(const struct patch_symbol *function)
{
	size_t n = 0, page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *code = function->at, *copy;

	while (n < PATCH_BYTES) {
		size_t one = n + 8 <= function->size ? patch_movable_bytes(code + n) : 0;

		if (!one)
			return NULL;
		n += one;
	}
	if (!branches_avoid(code, function->size, n))
		return NULL;
	copy = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return NULL;
	memcpy(copy, code, n);
	jump(copy + n, code + n);
	if (mprotect(copy, page, PROT_READ | PROT_EXEC) == 0)
		return copy;
	munmap(copy, page);
	return NULL;
}

static bool gathers;
static struct tft_code gathered[TFT_CODES_MAX];
static size_t gathered_count;
static struct tft_code_if condition;

static bool patch_gather_code(const struct patch_symbol *function, const void *ours)
{
	struct tft_code *c = &gathered[gathered_count];
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	if (gathered_count == TFT_CODES_MAX || (uintptr_t)function->at % page + PATCH_BYTES > page)
		return false;
	c->at = (uintptr_t)function->at;
	c->length = PATCH_BYTES;
	c->idle = function->idle ? (uint32_t)function->size : PATCH_BYTES;
	memcpy(c->before, function->at, PATCH_BYTES);
	jump(c->after, ours);
	gathered_count++;
	return true;
}

void patch_gather(void)
{
	gathers = true;
	gathered_count = 0;
}

void patch_drop(void)
{
	gathers = false;
	gathered_count = 0;
}

const char *patch_gathered(tft_replace_code *replace, const struct patch_symbol *only, int value)
{
	gathers = false;
	condition = (struct tft_code_if){ .at = (uintptr_t)only->at, .value = value };
	return replace(gathered, gathered_count, &condition);
}

const char *patch_again(tft_replace_code *replace)
{
	return gathered_count ? replace(gathered, gathered_count, &condition) : NULL;
}

/* tftop changes the code, while all threads are stopped. If it is killed within that moment, only
 * the first pieces are replaced. */
bool patch_is_in(void)
{
	for (size_t i = 0; i < gathered_count; i++)
		if (memcmp((const void *)(uintptr_t)gathered[i].at, gathered[i].after,
			   PATCH_BYTES) != 0)
			return false;
	return true;
}

/* The code stays executable all the time, because other functions in the page may run; a system
 * that forbids changed code to run says so before it is changed. */
bool patch_replace(const struct patch_symbol *function, const void *ours)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)function->at;
	uintptr_t from = at & ~(page - 1), to = (at + PATCH_BYTES + page - 1) & ~(page - 1);
	int saved = errno;
	bool done;

	if (gathers)
		return patch_gather_code(function, ours);
	done = mprotect((void *)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
	if (done) {
		jump(function->at, ours);
		mprotect((void *)from, to - from, PROT_READ | PROT_EXEC);
	}
	errno = saved;
	return done;
}

#else

void *patch_original(const struct patch_symbol *function)
{
	(void)function;
	return NULL;
}

bool patch_replace(const struct patch_symbol *function, const void *ours)
{
	(void)function;
	(void)ours;
	return false;
}

void patch_gather(void)
{
}

void patch_drop(void)
{
}

const char *patch_gathered(tft_replace_code *replace, const struct patch_symbol *only, int value)
{
	(void)replace;
	(void)only;
	(void)value;
	return "not on this machine";
}

const char *patch_again(tft_replace_code *replace)
{
	(void)replace;
	return NULL;
}

bool patch_is_in(void)
{
	return true;
}

#endif
