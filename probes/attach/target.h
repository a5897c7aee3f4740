/* SPDX-License-Identifier: MIT */
/*
 * The target as seen from outside: its mappings, the functions that its loaded files define, and
 * the pieces of its libc that a call needs. Everything is read from its memory, so that mount
 * namespaces and files that were updated on disk make no difference. Internal to the injector.
 *
 * Threads: one at a time per struct target.
 */
#ifndef PROBES_ATTACH_TARGET_H
#define PROBES_ATTACH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct address_range {
	uint64_t start, end;	/* end: the first byte after it */
};

#define TARGET_RANGES_MAX 96

struct address_ranges {
	struct address_range at[TARGET_RANGES_MAX];
	size_t count;
};

/*
 * The pieces of libc's code by which the thread gets back by itself. `store` writes rax to
 * rbx + store_offset, pops store_words words and returns.
 */
struct way_back {
	uint64_t store, pop_rdi, sigreturn;
	int store_offset, store_words;
};

struct target {
	pid_t pid;
	int memory;		/* /proc/PID/mem; -1: closed */
	struct address_ranges linker;	/* code of ld.so */
	struct address_ranges libc;	/* code of libc and its parts */
	struct address_ranges heaps;	/* code of libraries that define malloc */
	struct address_ranges own_heap;	/* code of the program, if it defines malloc */
	uint64_t dlopen, dlerror, raise;	/* dlerror: 0 when libc has none */
	unsigned dlopen_mode;
	struct way_back back;
};

struct target_mapping {
	uint64_t start, end, offset, inode;
	bool readable, executable;
	char path[512];		/* may be cut; "" when anonymous */
};

/* The next line of /proc/PID/maps; false at the end. */
bool mapping_next(FILE *maps, struct target_mapping *m);
FILE *target_file(pid_t pid, const char *name);	/* /proc/PID/NAME for reading, or NULL */

bool range_has(const struct address_ranges *ranges, uint64_t address);

/* Reads all of the bytes, or returns false. */
bool target_read(const struct target *t, uint64_t from, void *to, size_t size);
bool target_write(const struct target *t, uint64_t to, const void *from, size_t size);

/* Opens and reads the target; false with a sentence in why. target_close in any case. */
bool target_open(struct target *t, pid_t pid, char *why, size_t size);
void target_close(struct target *t);

/* The address of a function that the loaded file with this link_map (the result of dlopen) defines;
 * 0: it defines none of that name. */
uint64_t target_symbol_of(const struct target *t, uint64_t link_map, const char *name);

/* A field of /proc/PID/status (or task/TID/status), without its name; "" when absent. */
void status_field(pid_t pid, pid_t tid, const char *name, char *text, size_t size);

/* The value of kernel.yama.ptrace_scope; 0 also if the kernel has no such setting. */
int target_yama_scope(void);

#endif
