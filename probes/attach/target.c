/* SPDX-License-Identifier: MIT */
/* See target.h. */
#include "probes/attach/target.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/attach/elf.h"
#include "probes/process/executable.h"
#include "probes/process/process.h"

#define OLDEST_LIBC "GLIBC_2.28"
#define LIBC_TEXT_MAX (8u << 20)
/* RTLD_NOW, and what __libc_dlopen_mode() wants besides (glibc's include/dlfcn.h). */
#define LIBC_DLOPEN_MODE (RTLD_NOW | 0x80000000u)

__attribute__((format(printf, 3, 4)))
static bool refuse_target(char *why, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return false;
}

/* ---- /proc ---- */

FILE *target_file(pid_t pid, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

bool mapping_next(FILE *maps, struct target_mapping *m)
{
	char line[1024], rights[5];
	int used = 0, c;
	size_t length;

	if (!fgets(line, sizeof(line), maps))
		return false;
	length = strlen(line);
	if (length && line[length - 1] == '\n')
		line[length - 1] = '\0';
	else
		while ((c = fgetc(maps)) != EOF && c != '\n')
			;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &m->start,
		   &m->end, rights, &m->offset, &m->inode, &used) < 5)
		return false;
	m->readable = rights[0] == 'r';
	m->executable = rights[2] == 'x';
	snprintf(m->path, sizeof(m->path), "%s", line + used);
	return true;
}

void status_field(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	char file[64], line[256];
	size_t length = strlen(name);
	FILE *f;

	text[0] = '\0';
	snprintf(file, sizeof(file), "task/%d/status", (int)tid);
	if (!(f = target_file(pid, file)))
		return;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, length) != 0 || line[length] != ':')
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(text, size, "%s", line + length + 1 + strspn(line + length + 1, " \t"));
		break;
	}
	fclose(f);
}

bool range_has(const struct address_ranges *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (address >= ranges->at[i].start && address < ranges->at[i].end)
			return true;
	return false;
}

static bool range_add(struct address_ranges *ranges, uint64_t start, uint64_t end)
{
	if (ranges->count == TARGET_RANGES_MAX)
		return false;
	ranges->at[ranges->count++] = (struct address_range){ start, end };
	return true;
}

bool target_read(const struct target *t, uint64_t from, void *to, size_t size)
{
	return pread(t->memory, to, size, (off_t)from) == (ssize_t)size;
}

bool target_write(const struct target *t, uint64_t to, const void *from, size_t size)
{
	return pwrite(t->memory, from, size, (off_t)to) == (ssize_t)size;
}

/* ---- whether an injection is possible ---- */

static void name_of(pid_t pid, char *name, size_t size)
{
	status_field(pid, pid, "Name", name, size);
}

static bool target_possible(pid_t pid, char *why, size_t size)
{
	char path[64], text[256], name[64];
	struct stat st;
	pid_t other;

	if (pid <= 0)
		return refuse_target(why, size, "'%d' is not a PID: a PID is a positive number",
				     (int)pid);
	if (pid == getpid())
		return refuse_target(why, size, "'%d' is tftop itself: choose another process",
				     (int)pid);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) != 0)
		return refuse_target(why, size, "there is no process '%d'", (int)pid);
	/* /proc/TID exists for threads too; Tgid tells the process. */
	status_field(pid, pid, "Tgid", text, sizeof(text));
	other = (pid_t)atoi(text);
	if (other && other != pid)
		return refuse_target(why, size, "'%d' is a thread of process %d: attach to that "
			      "process instead", (int)pid, (int)other);
	name_of(pid, name, sizeof(name));
	status_field(pid, pid, "State", text, sizeof(text));
	if (text[0] == 'Z' || text[0] == 'X')
		return refuse_target(why, size, "'%d' (%s) has already ended (zombie)", (int)pid,
				     name);
	status_field(pid, pid, "VmSize", path, sizeof(path));
	if (!path[0])
		return refuse_target(why, size,
				     "'%d' (%s) has no memory of its own: it is a kernel thread, "
				     "or it is ending",
				     (int)pid, name);
	status_field(pid, pid, "TracerPid", path, sizeof(path));
	if ((other = (pid_t)atoi(path)) != 0) {
		name_of(other, path, sizeof(path));
		return refuse_target(why, size,
				     "'%d' (%s) is already traced by process %d (%s), and only one "
				     "tracer is possible: detach that one first",
				     (int)pid, name, (int)other, path);
	}
	if (text[0] == 'T' || text[0] == 't')
		return refuse_target(why, size,
				     "'%d' (%s) is stopped: continue it first (kill -CONT %d)",
				     (int)pid, name, (int)pid);
	status_field(pid, pid, "x86_Thread_features", text, sizeof(text));
	if (strstr(text, "shstk"))
		return refuse_target(why, size,
				     "'%d' (%s) runs with a shadow stack (CET), which prevents "
				     "calls from outside: start the program without it, or with "
				     "tftop",
				     (int)pid, name);
	return true;
}

int target_yama_scope(void)
{
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	char text[16] = "";

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 1)
		text[0] = '\0';
	close(fd);
	return atoi(text);
}

/* ---- reading the target ---- */

/* NAME.so…, NAME-2.31.so */
static bool is_part(const char *base, const char *name)
{
	size_t length = strlen(name);

	return strncmp(base, name, length) == 0 &&
	       (strncmp(base + length, ".so", 3) == 0 || strncmp(base + length, "-2.", 3) == 0);
}

static bool is_libc_part(const char *base)
{
	static const char *const parts[] = { "libc", "libpthread", "libdl", "librt" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (is_part(base, parts[i]))
			return true;
	return false;
}

struct reading {
	struct target *t;
	uint64_t libc;		/* address of its header; 0: not seen */
	bool musl, heap;	/* heap: the current file defines malloc */
	bool full;
	char path[512];		/* path of the current file */
	char exe[512];
};

static void read_mapping(struct reading *r, const struct target_mapping *m)
{
	const char *base = basename(m->path);
	struct address_ranges *where = NULL;
	struct elf elf;

	if (strncmp(base, "ld-musl", 7) == 0 || strncmp(base, "libc.musl", 9) == 0)
		r->musl = true;
	if (m->path[0] != '/')
		return;
	if (strcmp(m->path, r->path) != 0 || m->offset == 0) {
		snprintf(r->path, sizeof(r->path), "%s", m->path);
		r->heap = m->readable && !is_libc_part(base) && strncmp(base, "ld-", 3) != 0 &&
			  elf_open(&elf, r->t, m->start) && elf_function(&elf, "malloc");
		if (m->offset == 0 && is_part(base, "libc") && !r->libc)
			r->libc = m->start;
	}
	if (!m->executable)
		return;
	if (strncmp(base, "ld-", 3) == 0 || is_part(base, "ld"))
		where = &r->t->linker;
	else if (is_libc_part(base))
		where = &r->t->libc;
	else if (r->heap)
		where = strcmp(m->path, r->exe) == 0 ? &r->t->own_heap : &r->t->heaps;
	if (where && !range_add(where, m->start, m->end))
		r->full = true;
}

/* How many words this code pops off the stack before it returns, without any other effect that
 * matters; -1: it does something else. */
static int words_popped(const uint8_t *c, const uint8_t *end)
{
	int words = 0;

	while (c + 4 <= end) {
		if (c[0] == 0xc3)
			return words;
		if (c[0] >= 0x58 && c[0] <= 0x5f && c[0] != 0x5c) {	/* pop */
			words++;
			c += 1;
		} else if (c[0] == 0x41 && c[1] >= 0x58 && c[1] <= 0x5f) {	/* pop r8… */
			words++;
			c += 2;
		} else if (c[0] == 0x48 && c[1] == 0x83 && c[2] == 0xc4 && c[3] < 0x40 &&
			   c[3] % 8 == 0) {	/* add $…, %rsp */
			words += c[3] / 8;
			c += 4;
		} else if (c[0] == 0x31 && c[1] == 0xc0) {	/* xor %eax, %eax */
			c += 2;
		} else {
			return -1;
		}
	}
	return -1;
}

static void find_pieces(struct way_back *back, const uint8_t *text, size_t size, uint64_t at)
{
	static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const uint8_t *end = text + size;

	for (const uint8_t *c = text; c + sizeof(sigreturn) <= end; c++) {
		int offset = 0, words = -1;

		if (!back->pop_rdi && c[0] == 0x5f && c[1] == 0xc3)
			back->pop_rdi = at + (uint64_t)(c - text);
		if (!back->sigreturn && memcmp(c, sigreturn, sizeof(sigreturn)) == 0)
			back->sigreturn = at + (uint64_t)(c - text);
		if (c[0] != 0x48 || c[1] != 0x89 || back->store)
			continue;
		if (c[2] == 0x03) {		/* mov %rax, (%rbx) */
			words = words_popped(c + 3, end);
		} else if (c[2] == 0x43 && c[3] < 0x80) {	/* mov %rax, …(%rbx) */
			offset = c[3];
			words = words_popped(c + 4, end);
		}
		if (words >= 0) {
			back->store = at + (uint64_t)(c - text);
			back->store_offset = offset;
			back->store_words = words;
		}
	}
}

static bool find_way_back(struct target *t)
{
	for (size_t i = 0; i < t->libc.count; i++) {
		const struct address_range *range = &t->libc.at[i];
		size_t size = (size_t)(range->end - range->start);
		uint8_t *text = size <= LIBC_TEXT_MAX ? malloc(size) : NULL;

		if (text && target_read(t, range->start, text, size))
			find_pieces(&t->back, text, size, range->start);
		free(text);
	}
	return t->back.store && t->back.pop_rdi && t->back.sigreturn;
}

static bool find_functions(struct target *t, uint64_t header, char *why, size_t size)
{
	struct elf libc;

	if (!elf_open(&libc, t, header))
		return refuse_target(why, size,
				     "the libc of '%d' cannot be read: it is not one for 64-bit "
				     "x86",
				     (int)t->pid);
	if (!elf_has_string(&libc, OLDEST_LIBC))
		return refuse_target(why, size, "'%d' runs with a glibc older than 2.28: start the "
			      "program with tftop instead", (int)t->pid);
	t->dlopen = elf_function(&libc, "dlopen");
	t->dlopen_mode = RTLD_NOW;
	if (!t->dlopen) {	/* before 2.34 */
		t->dlopen = elf_function(&libc, "__libc_dlopen_mode");
		t->dlopen_mode = LIBC_DLOPEN_MODE;
	}
	t->dlerror = elf_function(&libc, "dlerror");
	t->raise = elf_function(&libc, "raise");
	if (!t->dlopen || !t->raise || !find_way_back(t))
		return refuse_target(why, size,
				     "the libc of '%d' is built in an unknown way: %s was not "
				     "found; start the program with tftop instead",
				     (int)t->pid,
				     !t->dlopen ? "dlopen" :
				     !t->raise	? "raise" :
						  "a sequence of instructions to return by");
	return true;
}

static bool open_memory(struct target *t, char *why, size_t size)
{
	char uid[64];
	int scope;

	t->memory = process_open_file(t->pid, "mem", O_RDWR);
	if (t->memory >= 0)
		return true;
	if (errno != EACCES && errno != EPERM)
		return refuse_target(why, size, "cannot open the memory of '%d': %s", (int)t->pid,
			      strerror(errno));
	status_field(t->pid, t->pid, "Uid", uid, sizeof(uid));
	if (geteuid() != 0 && (uid_t)atoi(uid) != geteuid())
		return refuse_target(why, size,
				     "'%d' belongs to uid %d, and tftop runs as uid %d: run tftop "
				     "as the program's user or as root",
				     (int)t->pid, atoi(uid), (int)geteuid());
	scope = target_yama_scope();
	if (scope > 0)
		return refuse_target(why, size, "this system does not allow attaching to '%d' "
			      "(kernel.yama.ptrace_scope is %d): run tftop as root%s", (int)t->pid,
			      scope, scope >= 3 ? " does not help either; start the program with "
			      "tftop" : ", or start the program with tftop");
	return refuse_target(why, size,
			     "tftop has no access to '%d' (it is not dumpable, has more rights "
			     "than tftop, or is in another user namespace): run tftop as root with "
			     "CAP_SYS_PTRACE",
			     (int)t->pid);
}

static bool is_32_bit(pid_t pid)
{
	FILE *exe = target_file(pid, "exe");
	unsigned int bits = 64;
	uint16_t machine = EM_X86_64;

	if (exe) {
		executable_kind(fileno(exe), &bits, &machine);
		fclose(exe);
	}
	return bits == 32 || machine != EM_X86_64;
}

bool target_open(struct target *t, pid_t pid, char *why, size_t size)
{
	struct reading r = { .t = t };
	struct target_mapping m;
	FILE *maps;

	*t = (struct target){ .pid = pid, .memory = -1 };
#ifndef __x86_64__
	return refuse_target(why, size,
			     "attaching works on x86-64 only: start the program with tftop "
			     "instead");
#endif
	if (!target_possible(pid, why, size) || !open_memory(t, why, size))
		return false;
	if (is_32_bit(pid))
		return refuse_target(why, size,
				     "'%d' is not a 64-bit x86 program (it has 32 bits, or is "
				     "emulated): tftop's probes cannot be loaded into it",
				     (int)pid);
	snprintf(r.path, sizeof(r.path), "/proc/%d/exe", (int)pid);
	if (readlink(r.path, r.exe, sizeof(r.exe) - 1) < 0)
		r.exe[0] = '\0';
	maps = target_file(pid, "maps");
	while (maps && mapping_next(maps, &m))
		read_mapping(&r, &m);
	if (maps)
		fclose(maps);
	if (r.musl)
		return refuse_target(why, size, "'%d' runs with musl, and LTTng needs glibc",
				     (int)pid);
	if (!r.libc)
		return refuse_target(why, size,
				     "'%d' has no libc.so.6 (it is a static program): no library "
				     "can be loaded into it",
				     (int)pid);
	if (r.full)
		return refuse_target(why, size, "'%d' has more than %d mappings of allocators or C "
			      "libraries", (int)pid,
			      TARGET_RANGES_MAX);
	return find_functions(t, r.libc, why, size);
}

void target_close(struct target *t)
{
	if (t->memory >= 0)
		close(t->memory);
	t->memory = -1;
}

uint64_t target_symbol_of(const struct target *t, uint64_t link_map, const char *name)
{
	uint64_t map[3];	/* l_addr, l_name, l_ld: <link.h> */
	struct elf elf;

	if (!target_read(t, link_map, map, sizeof(map)) ||
	    !elf_open_dynamic(&elf, t, map[0], map[2]))
		return 0;
	return elf_function(&elf, name);
}
